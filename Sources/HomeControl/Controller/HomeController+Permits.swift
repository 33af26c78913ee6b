internal import HomeStore
internal import MatterController
package import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// The right of one process at a time to have a session with a node for a few requests.
struct SessionPermit {
  /// Nil: another process has it, or did not give it back in time.
  var lock: FollowerLock?
  /// Requests of this process that are under way to the node.
  var users = 0
}

// Devices keep few sessions with one peer, often three, and close the oldest with its subscriptions when there are more. All
// processes of a home are one peer. One that follows the home or subscribes has a session of its own; all others together have
// one, which is closed when their request is done.
extension HomeController {
  private static let permitInterval: Duration = .milliseconds(10)

  private func permitPath(_ node: NodeID) -> String {
    options.state.controller + "/sessions/" + String(node.rawValue, radix: 16)
  }

  /// Waits until no other process has a session with the node for its requests.
  /// - Returns: whether ``leave(_:)`` is to be called.
  func enter(_ node: NodeID?) async -> Bool {
    guard let node, options.machine.sharesFiles, follower == nil,
      !edge.value.perform({ engine, _ in engine.isSubscribed(to: node) })
    else { return false }
    permits[node, default: SessionPermit()].users += 1
    let path = permitPath(node)
    // Where there can be no files, there is no other process.
    guard (try? Files.makeDirectory(options.state.controller + "/sessions")) != nil else { return true }
    let deadline = eventLoop.now + .nanoseconds(options.permitTimeout.nanoseconds)
    while permits[node]?.lock == nil, eventLoop.now < deadline {
      guard let lock = try? FollowerLock.acquire(path) else {
        guard (try? await Task.sleep(for: Self.permitInterval)) != nil else { break }
        continue
      }
      permits[node]?.lock = lock
    }
    return true
  }

  /// A request is done: with the last one the session is closed, and other processes have their turn.
  package func leave(_ node: NodeID?) {
    guard let node, let users = permits[node]?.users else { return }
    permits[node]?.users = users - 1
    guard users == 1 else { return }
    if follower == nil { edge.value.perform { engine, now in engine.closeSessions(with: node, at: now) } }
    permits[node] = nil
  }
}
