internal import MatterModel
internal import MatterProtocol

// Subscription resumption: after a restart, a device opens a session and reports under the old subscription id.
extension ControllerEngine {
  /// How long a node that opened a session has to report its resumed subscriptions, before those on its old session are
  /// renewed.
  private static let resumptionTime: Duration = .seconds(2)

  /// Whether the session is so recent that it is most likely with the restarted node: both sides opened one.
  private func isNew(_ session: SessionID, at now: Instant) -> Bool {
    core.session(session).map { now < $0.establishedAt + .seconds(5) } ?? false
  }

  /// Handles a session opened by a node, which was most likely restarted.
  mutating func opened(by node: NodeID, _ session: SessionID, at now: Instant) {
    for handle in subscriptions.keys.sorted() where subscriptions[handle]?.node == node {
      switch subscriptions[handle]?.state {
      case .established(_, let old, _)? where old != session && !isNew(old, at: now): expectReport(handle, at: now)
      case .waiting?: advanceSubscription(handle, at: now)
      default: break
      }
    }
  }

  /// Moves a subscription to the session that its report arrived on. Only a restart changes the session: the old one is
  /// dead, and requests on it are repeated.
  mutating func moveSubscription(
    _ handle: SubscriptionHandle, _ key: SubscriptionKey, to session: SessionID, at now: Instant
  ) {
    guard case .established(key, let old, _)? = subscriptions[handle]?.state, old != session else { return }
    stopRenewing(handle, at: now)
    peers[key.node]?.session = session
    for other in subscriptions.keys.sorted() {
      guard case .established(let otherKey, old, let interval)? = subscriptions[other]?.state else { continue }
      subscriptions[other]?.state = .established(otherKey, session, maxInterval: interval)
      if other != handle { expectReport(other, at: now) }
    }
    abandon(old, with: [], at: now)
  }

  private mutating func expectReport(_ handle: SubscriptionHandle, at now: Instant) {
    let time = now + Self.resumptionTime
    let overdueAt = subscriptions[handle]?.overdueAt
    subscriptions[handle]?.overdueAt = .earlier(overdueAt, time)
    schedule(time)
  }
}
