extension Home {
  /// The settings of the home.
  public var settings: HomeSettings {
    get async throws(HomeError) { try await backend.request(.settings) { $0.settings } }
  }

  /// The time for which a device must be unreachable before its settled connectivity changes. See <doc:TheHomeModel>,
  /// “Connectivity and locality”.
  public var graceTime: Duration { get async throws(HomeError) { try await settings.graceTime } }

  /// Sets ``graceTime`` for the home, with immediate and lasting effect in all processes that have it open.
  /// - Throws: ``HomeError`` `badArguments` for a negative time or one longer than a day.
  public func setGraceTime(_ time: Duration) async throws(HomeError) { try await change(.init(graceTime: time)) }

  /// Changes settings.
  /// - Returns: the settings after the change.
  @discardableResult
  package func change(_ changes: HomeSettings.Changes) async throws(HomeError) -> HomeSettings {
    try await backend.request(.changeSettings(changes: changes)) { $0.settings }
  }
}

extension HomeReply {
  fileprivate var settings: HomeSettings? { if case .settings(let settings) = self { settings } else { nil } }
}
