package import HomeControl
package import HomeModel
internal import HomeStore
internal import Runtime

// The process that owns the files of a home serves it to other processes of the same user, on the socket in its state
// directory.
extension HomeController {
  /// Opens the home as its owner, and starts to serve it.
  /// - Returns: nil if another owner holds the lock of the home.
  package static func openOwned(_ options: Options) async throws(HomeError) -> HomeController? {
    guard let lock = try Self.lock(options) else { return nil }
    return try await openOwned(options, lock)
  }

  static func openOwned(_ options: Options, _ lock: OwnerLock) async throws(HomeError) -> HomeController {
    let controller = try await Self.open(options, lock)
    do throws(HomeError) {
      try await controller.startServing()
      return controller
    } catch {
      await controller.close()
      throw error
    }
  }

  /// Serves the home, unless no other process can use its files.
  package func startServing() async throws(HomeError) {
    guard options.machine.sharesFiles else { return }
    var serving = HubServer.Options(logger: options.logger)
    serving.isHub = false
    _ = try await HubServer.open(self, serving)
  }

  /// Stops serving the home, for a server with other options. A hub is not stopped.
  package func stopServing() async {
    if let server = server as? HubServer, !server.options.isHub { await server.close() }
  }
}
