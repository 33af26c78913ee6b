public import MatterProtocol

extension ControllerEngine {
  /// Tells all nodes that there is a session with that it is over, for a controller that is about to end. A node that is told
  /// need not keep the session, or a subscription on it, until it finds out.
  public mutating func closeSessions(at now: Instant) {
    for session in core.sessions { core.close(session.id, notifyingPeer: true, at: now) }
    settle(at: now)
  }
}
