internal import MatterModel
public import MatterProtocol

// A report that does not come need not mean that the device is away. It is away when it can't be reached by the deadline.
extension ControllerEngine {
  /// A report is overdue. The device may have been away for a moment, and have ended the subscription because of a report
  /// that we did not hear; or it was started again, and knows neither subscription nor session.
  mutating func renewIfOverdue(_ handle: SubscriptionHandle, at now: Instant) {
    guard subscriptions[handle]?.overdueAt.map({ $0 <= now }) == true else { return }
    subscriptions[handle]?.overdueAt = nil
    schedule(subscriptions[handle]?.deadline)
    askForAnother(handle, at: now)
  }

  /// Asks for a subscription anew that may be gone, over a new session; where that was under way, from the beginning. It stands
  /// until its own deadline, so that nothing is lost if the device grants another one by then, nor if a report shows that it
  /// stood all the time.
  public mutating func renewBesideTheOld(_ handle: SubscriptionHandle, at now: Instant) {
    guard case .established(let key, let old, _)? = subscriptions[handle]?.state else { return }
    if isRenewing(handle) {
      stopRenewing(handle, at: now)
      // The session that was opened for it belongs to what may be gone.
      if let new = peers[key.node]?.session, new != old {
        peers[key.node]?.session = old
        leave(new, at: now)
      }
    }
    askForAnother(handle, at: now)
    settle(at: now)
  }

  /// Whether a subscription that stands is asked for anew.
  public func isRenewing(_ handle: SubscriptionHandle) -> Bool { subscriptions[handle]?.isRenewing == true }

  /// When the device was heard last over the session that reports come on; nil if there is none.
  public func lastHeard(_ handle: SubscriptionHandle) -> Instant? {
    subscriptions[handle]?.session.flatMap { core.session($0)?.lastHeard }
  }

  private mutating func askForAnother(_ handle: SubscriptionHandle, at now: Instant) {
    guard subscriptions[handle]?.isRenewing == false else { return }
    subscriptions[handle]?.isRenewing = true
    operations[handle]?.wasRepeated = false
    guard let node = subscriptions[handle]?.node else { return }
    peers[node]?.waiting.append(handle)
    openSession(with: node, at: now)
  }

  /// A report came over the session of the old subscription: it was only late. The session that was opened to ask is given
  /// up. (After a mere refusal it stays until then: nobody knows yet which of the two is alive.)
  mutating func stayOnTheOld(_ handle: SubscriptionHandle, _ old: SessionID, at now: Instant) {
    guard let node = subscriptions[handle]?.node, subscriptions[handle]?.isOn(old) == true else { return }
    stopRenewing(handle, at: now)
    guard let new = peers[node]?.session, new != old else { return }
    peers[node]?.session = old
    leave(new, at: now)
  }

  /// Gives up one of two sessions with a node, unless subscriptions need it. Whoever is still to be answered over it is waited
  /// for: what was asked and gets lost with its session may or may not have been carried out.
  mutating func leave(_ session: SessionID?, at now: Instant) {
    guard let session, !subscriptions.values.contains(where: { $0.isOn(session) }) else { return }
    guard !transactions.keys.contains(where: { $0.session == session }) else {
      leaving.insert(session)
      return
    }
    core.close(session, notifyingPeer: true, at: now)
  }

  /// Goes on with the sessions that others were still to be answered over.
  /// - Returns: whether one of them could be given up.
  mutating func finishLeaving(at now: Instant) -> Bool {
    let done = leaving.filter { session in !transactions.keys.contains { $0.session == session } }
    leaving.subtract(done)
    for session in done.sorted() { leave(session, at: now) }
    return !done.isEmpty
  }

  /// Gives up what ``renewBesideTheOld(_:at:)`` began, or a report that is overdue.
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
