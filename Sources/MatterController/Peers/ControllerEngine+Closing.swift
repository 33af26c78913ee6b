public import MatterModel
public import MatterProtocol

extension ControllerEngine {
  /// Tells all nodes that there is a session with that it is over, for a controller that is about to end. A node that is told
  /// need not keep the session, or a subscription on it, until it finds out.
  public mutating func closeSessions(at now: Instant) {
    for session in core.sessions { core.close(session.id, notifyingPeer: true, at: now) }
    settle(at: now)
  }

  /// Ends the sessions with a node, and tells it so, unless something is under way with it or it is subscribed to.
  public mutating func closeSessions(with node: NodeID, at now: Instant) {
    guard !isSubscribed(to: node), !operations.values.contains(where: { $0.node == node }) else { return }
    for session in core.sessions where session.kind == .case && session.peerNodeID == node {
      core.close(session.id, notifyingPeer: true, at: now)
    }
    settle(at: now)
  }
}
