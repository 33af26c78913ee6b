package import HomeControl
package import HomeModel
internal import HomeStore
internal import Runtime

/// A home whose files this process owns, and which it serves to other processes of the same user on the socket in its state
/// directory.
package final class HomeOwner: Sendable {
  package let controller: HomeController
  /// Nil if no other process can use the files of the home.
  private let server: HubServer?

  private init(_ controller: HomeController, _ server: HubServer?) {
    (self.controller, self.server) = (controller, server)
  }

  /// Opens the home and starts to serve it. Must be closed with ``close()``.
  /// - Returns: nil if another owner holds the lock of the home.
  package static func open(_ options: HomeController.Options) async throws(HomeError) -> HomeOwner? {
    guard let lock = try HomeController.lock(options) else { return nil }
    return try await open(options, lock)
  }

  static func open(_ options: HomeController.Options, _ lock: OwnerLock) async throws(HomeError) -> HomeOwner {
    let controller = try await HomeController.open(options, lock)
    guard options.machine.sharesFiles else { return HomeOwner(controller, nil) }
    do throws(HomeError) {
      var server = HubServer.Options(logger: options.logger)
      server.isHub = false
      return HomeOwner(controller, try await HubServer.open(controller, server))
    } catch {
      await controller.close()
      throw error
    }
  }

  /// Stops serving the home, for a server with other options.
  package func stopServing() async { await server?.close() }

  /// Waits for running requests of other processes, and closes the home.
  package func close() async {
    await server?.close()
    await controller.close()
  }
}
