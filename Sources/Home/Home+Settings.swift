internal import HomeControl
public import HomeModel

extension Home {
  /// The time for which a device must be unreachable before its settled connectivity changes. See <doc:TheHomeModel>,
  /// “Connectivity and locality”.
  /// - Throws: ``HomeError`` `accessDenied` if the home is used through a hub, which has its own.
  public var graceTime: Duration {
    get async throws(HomeError) { try await controller.grace }
  }

  /// Sets ``graceTime`` for the home, with immediate and lasting effect in all processes that have it open.
  /// - Throws: ``HomeError`` `badArguments` for a negative time or one longer than a day; `accessDenied` if the home is
  ///   used through a hub.
  public func setGraceTime(_ time: Duration) async throws(HomeError) { try await controller.setGrace(time) }
}
