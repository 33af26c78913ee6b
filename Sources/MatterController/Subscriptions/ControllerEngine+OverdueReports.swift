internal import MatterModel
internal import MatterProtocol

// A report that does not come need not mean that the device is away. It is away when it can't be reached by the deadline.
extension ControllerEngine {
  /// A report is overdue. The device may have been away for a moment, and have ended the subscription because of a report
  /// that we did not hear; or it was started again, and knows neither subscription nor session. If it grants a new one over a
  /// new session before the deadline, nothing was lost.
  mutating func renewBesideTheOld(_ handle: SubscriptionHandle, at now: Instant) {
    guard subscriptions[handle]?.overdueAt.map({ $0 <= now }) == true else { return }
    subscriptions[handle]?.overdueAt = nil
    schedule(subscriptions[handle]?.deadline)
    guard subscriptions[handle]?.isRenewing == false else { return }
    subscriptions[handle]?.isRenewing = true
    operations[handle]?.wasRepeated = false
    guard let node = subscriptions[handle]?.node else { return }
    peers[node]?.waiting.append(handle)
    openSession(with: node, at: now)
  }

  /// The new subscription stands: the session of the old one is given up, unless others need it.
  mutating func leave(_ old: SessionID?, at now: Instant) {
    guard let old, !subscriptions.values.contains(where: { $0.isOn(old) }) else { return }
    core.close(old, notifyingPeer: true, at: now)
  }

  /// A report came over the session of the old subscription: it was only late. The session that was opened to ask is given
  /// up, unless others use it. (After a mere refusal it stays until then: nobody knows yet which of the two is alive.)
  mutating func stayOnTheOld(_ handle: SubscriptionHandle, _ old: SessionID, at now: Instant) {
    guard let node = subscriptions[handle]?.node, subscriptions[handle]?.isOn(old) == true else { return }
    stopRenewing(handle, at: now)
    guard let new = peers[node]?.session, new != old, !transactions.keys.contains(where: { $0.session == new })
    else { return }
    leave(new, at: now)
  }

  /// Gives up what ``renewBesideTheOld(_:at:)`` began.
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
