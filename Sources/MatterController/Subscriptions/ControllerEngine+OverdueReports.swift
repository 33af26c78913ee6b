internal import MatterModel
public import MatterProtocol

// A missing report does not imply that the device is unreachable. It is unreachable if no session opens by the
// deadline.
extension ControllerEngine {
  /// Renews a subscription whose report is overdue. The device may have ended the subscription after a lost report, or
  /// it may have been restarted and know neither subscription nor session.
  mutating func renewIfOverdue(_ handle: SubscriptionHandle, at now: Instant) {
    guard subscriptions[handle]?.overdueAt.map({ $0 <= now }) == true else { return }
    subscriptions[handle]?.overdueAt = nil
    schedule(subscriptions[handle]?.deadline)
    requestReplacement(handle, at: now)
  }

  /// Requests a replacement for a subscription that may be dead, over a new session; restarts a request in progress.
  /// The current subscription stays valid until its own deadline, so that nothing is lost if the device grants the
  /// replacement by then, or if a report shows that it is alive.
  public mutating func renewInParallel(_ handle: SubscriptionHandle, at now: Instant) {
    guard case .established(let key, let old, _)? = subscriptions[handle]?.state else { return }
    if isRenewing(handle) {
      stopRenewing(handle, at: now)
      // The session opened for the replacement may also be dead.
      if let new = peers[key.node]?.session, new != old {
        peers[key.node]?.session = old
        retire(new, at: now)
      }
    }
    requestReplacement(handle, at: now)
    settle(at: now)
  }

  /// Whether a replacement for an established subscription is being requested.
  public func isRenewing(_ handle: SubscriptionHandle) -> Bool { subscriptions[handle]?.isRenewing == true }

  /// When the last message was received on the subscription's session; nil if it has none.
  public func lastHeard(_ handle: SubscriptionHandle) -> Instant? {
    subscriptions[handle]?.session.flatMap { core.session($0)?.lastHeard }
  }

  private mutating func requestReplacement(_ handle: SubscriptionHandle, at now: Instant) {
    guard subscriptions[handle]?.isRenewing == false else { return }
    subscriptions[handle]?.isRenewing = true
    operations[handle]?.wasRepeated = false
    guard let node = subscriptions[handle]?.node else { return }
    peers[node]?.waiting.append(handle)
    openSession(with: node, at: now)
  }

  /// Ends a renewal because a report arrived on the current session: it was only late. Also closes the session that was
  /// opened for the renewal. (After a refused renewal that session stays open, as either session may be the live one.)
  mutating func keepCurrentSession(_ handle: SubscriptionHandle, _ old: SessionID, at now: Instant) {
    guard let node = subscriptions[handle]?.node, subscriptions[handle]?.isOn(old) == true else { return }
    stopRenewing(handle, at: now)
    guard let new = peers[node]?.session, new != old else { return }
    peers[node]?.session = old
    retire(new, at: now)
  }

  /// Closes one of two sessions with a node, unless subscriptions use it. Waits for its exchanges: a request whose
  /// session closes may or may not have been carried out.
  mutating func retire(_ session: SessionID?, at now: Instant) {
    guard let session, !subscriptions.values.contains(where: { $0.isOn(session) }) else { return }
    guard !transactions.keys.contains(where: { $0.session == session }) else {
      retiring.insert(session)
      return
    }
    core.close(session, notifyingPeer: true, at: now)
  }

  /// Closes the retired sessions whose exchanges have ended.
  /// - Returns: whether any was closed.
  mutating func closeRetired(at now: Instant) -> Bool {
    let done = retiring.filter { session in !transactions.keys.contains { $0.session == session } }
    retiring.subtract(done)
    for session in done.sorted() { retire(session, at: now) }
    return !done.isEmpty
  }

  /// Cancels the renewal of an established subscription.
  mutating func stopRenewing(_ handle: SubscriptionHandle, at now: Instant) {
    guard let subscription = subscriptions[handle], subscription.isRenewing else { return }
    subscriptions[handle]?.isRenewing = false
    if let pending = subscription.pending { subscriptionHandles[pending] = nil }
    subscriptions[handle]?.pending = nil
    operations[handle]?.retryAt = nil
    operations[handle]?.busyRetries = 0
    dropTransactions(of: handle, at: now)
    peers[subscription.node]?.waiting.removeAll { $0 == handle }
    stopConnectingIfIdle(subscription.node, at: now)
  }
}
