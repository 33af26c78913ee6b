internal import MatterModel
internal import MatterProtocol

// Devices that resume their subscriptions after a restart: they open a session to us and report under the old number.
extension ControllerEngine {
  /// How long a node that opened a session has to report what it resumes, before what stood on its old session is asked for anew.
  private static let resumptionTime: Duration = .seconds(2)

  /// A session that was opened so short a while ago is most likely one with the node as it runs now: both sides opened one.
  private func isNew(_ session: SessionID, at now: Instant) -> Bool {
    core.session(session).map { now < $0.establishedAt + .seconds(5) } ?? false
  }

  /// A node opened a session: it is there, and was most likely started again.
  mutating func opened(by node: NodeID, _ session: SessionID, at now: Instant) {
    for handle in subscriptions.keys.sorted() where subscriptions[handle]?.node == node {
      switch subscriptions[handle]?.state {
      case .established(_, let old, _)? where old != session && !isNew(old, at: now): expectReport(handle, at: now)
      case .waiting?: advanceSubscription(handle, at: now)
      default: break
      }
    }
  }

  /// The node reports a subscription over another session than the one that granted it. Only a restart leads to that: nothing
  /// comes over the old session any more, and requests on it are made again.
  mutating func follow(_ handle: SubscriptionHandle, _ key: SubscriptionKey, to session: SessionID, at now: Instant) {
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
