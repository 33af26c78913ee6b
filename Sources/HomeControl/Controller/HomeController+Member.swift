package import HomeModel
internal import MatterController
package import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

// The controller of an invited client, which is a member of the home's fabric.
extension HomeController {
  /// Opens a session with a node, unless one is established.
  package func connect(_ node: NodeID, within timeout: Duration) async throws(HomeError) {
    _ = try await run("a new session", node) { engine, _, now in engine.connect(node, timeout: timeout, at: now) }
  }

  /// Closes the sessions with a node, unless a request is in progress: a device has few for each fabric.
  package nonisolated func closeIdleSessions(with node: NodeID) {
    eventLoop.execute { [dispatcher] in
      guard !dispatcher.value.host.isStopped else { return }
      dispatcher.value.perform { engine, now in engine.closeSessions(with: node, at: now) }
    }
  }
}
