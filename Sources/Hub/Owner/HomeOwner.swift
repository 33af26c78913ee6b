package import HomeControl
package import HomeModel
internal import HomeStore
internal import Runtime
internal import Synchronization

/// A home whose files this process owns, and which it serves to other processes of the same user on the socket in its state
/// directory.
package final class HomeOwner: Sendable {
  package let controller: HomeController
  /// Nil if no other process can use the files of the home, or another server serves it.
  private let server = Mutex<HubServer?>(nil)

  private init(_ controller: HomeController) { self.controller = controller }

  /// Opens the home and starts to serve it. Must be closed with ``close()``.
  /// - Returns: nil if another owner holds the lock of the home.
  package static func open(_ options: HomeController.Options) async throws(HomeError) -> HomeOwner? {
    guard let lock = try HomeController.lock(options) else { return nil }
    return try await open(options, lock)
  }

  static func open(_ options: HomeController.Options, _ lock: OwnerLock) async throws(HomeError) -> HomeOwner {
    let owner = HomeOwner(try await HomeController.open(options, lock))
    do throws(HomeError) {
      try await owner.startServing()
      return owner
    } catch {
      await owner.close()
      throw error
    }
  }

  /// Serves the home, unless no other process can use its files.
  package func startServing() async throws(HomeError) {
    guard controller.options.machine.sharesFiles else { return }
    var options = HubServer.Options(logger: controller.options.logger)
    options.isHub = false
    let new = try await HubServer.open(controller, options)
    server.withLock { $0 = new }
  }

  /// Stops serving the home, for a server with other options.
  package func stopServing() async { await server.withLock { $0.take() }?.close() }

  /// Waits for running requests of other processes, and closes the home.
  package func close() async {
    await stopServing()
    await controller.close()
  }
}
