public import MatterModel
public import MatterProtocol

extension ControllerEngine {
  /// Closes all sessions and notifies their nodes, before the controller stops. Notified nodes need not keep the
  /// session, or a subscription on it, until a timeout.
  public mutating func closeSessions(at now: Instant) {
    for session in core.sessions { core.close(session.id, notifyingPeer: true, at: now) }
    settle(at: now)
  }

  /// Closes the sessions with a node and notifies it, unless an operation or subscription with the node is active.
  public mutating func closeSessions(with node: NodeID, at now: Instant) {
    guard !isSubscribed(to: node), !operations.values.contains(where: { $0.node == node }) else { return }
    for session in core.sessions where session.kind == .case && session.peerNodeID == node {
      core.close(session.id, notifyingPeer: true, at: now)
    }
    settle(at: now)
  }
}
