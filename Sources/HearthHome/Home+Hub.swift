extension Home {
  /// Opens a home that is served by another process, on this machine or another one. It is used like any other home
  /// within the permissions of the role: other calls throw `HomeError` `accessDenied`.
  /// - Throws: `HomeError` `notRunning`, `unreachable`, `timedOut` or `accessDenied` if no route works.
  public convenience init(through options: HubClient.Options) async throws(HomeError) {
    self.init(try await HubClient.connected(options))
  }

  /// Waits until no route works because the last working one rejects this client, whose invitation was revoked. This
  /// state is final; observers of the home are notified only that the hub is unreachable.
  /// - Returns: the error of the hub; nil if the task was canceled, or the home closed.
  /// - Throws: `HomeError` `notRunning` if the home is not used through a hub.
  public func refusal() async throws(HomeError) -> HomeError? { await (try hub).refusal() }

  /// Whether the home is the one that an invited client has stored, because the hub can't be reached.
  package var isStored: Bool { get async { await (backend as? HubClient)?.usesStoredHome ?? false } }

  /// The role that the hub has given this client; nil if the home is not used through a hub.
  package var role: HomeRole? { get async { await (backend as? HubClient)?.role } }

  private var hub: HubClient {
    get throws(HomeError) {
      guard let client = backend as? HubClient else {
        throw HomeError(.notRunning, "the home is not opened through a hub")
      }
      return client
    }
  }
}

extension HubServer {
  /// Keeps a home up to date, and serves it. Must be closed with `close()` before the home.
  /// - Throws: `HomeError` `accessDenied` if another process owns the home; also if an address is not available.
  public static func open(_ home: Home, _ options: Options) async throws(HomeError) -> HubServer {
    let controller = try home.controller
    await controller.stopServing()
    do throws(HomeError) {
      try await controller.follow()
      return try await open(controller, options)
    } catch {
      // Other processes of this user still use the home.
      try? await controller.startServing()
      throw error
    }
  }
}
