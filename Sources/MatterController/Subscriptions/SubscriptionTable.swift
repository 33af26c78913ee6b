internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol

/// Identifies a subscription on a device.
struct SubscriptionKey: Hashable, Sendable {
  let node: NodeID
  let id: UInt32
}

/// The subscriptions of the controller, the index of their ids on the devices, and the reports with more messages to
/// follow.
struct SubscriptionTable: Sendable {
  private var subscriptions: [SubscriptionHandle: Subscription] = [:]
  private(set) var handlesByKey: [SubscriptionKey: SubscriptionHandle] = [:]
  private var reports: [ExchangeID: (handle: SubscriptionHandle, report: ReassembledReport)] = [:]

  /// The ids of the established subscriptions, unordered.
  var establishedIDs: [UInt32] {
    subscriptions.values.compactMap { if case .established(let key, _, _) = $0.state { key.id } else { nil } }
  }
  /// The earliest deadline of a subscription.
  var nextDeadline: Instant? { subscriptions.values.reduce(nil) { .earlier($0, $1.wakeUp) } }

  /// A subscription. Its ids must be changed by the methods of the table only.
  subscript(_ handle: SubscriptionHandle) -> Subscription? {
    get { subscriptions[handle] }
    _modify { yield &subscriptions[handle] }
  }

  /// The handles of all subscriptions, in order.
  var handles: [SubscriptionHandle] { subscriptions.keys.sorted() }

  func handles(with node: NodeID) -> [SubscriptionHandle] {
    subscriptions.lazy.filter { $0.value.node == node }.map(\.key).sorted()
  }

  /// Returns the established subscriptions on a session, in order.
  func handles(on session: SessionID) -> [SubscriptionHandle] {
    subscriptions.lazy.filter { $0.value.session == session }.map(\.key).sorted()
  }

  func isSubscribed(to node: NodeID) -> Bool { subscriptions.values.contains { $0.node == node } }

  /// Whether reports are expected on a session.
  func isUsed(_ session: SessionID) -> Bool { subscriptions.values.contains { $0.session == session } }

  mutating func add(_ subscription: Subscription, _ handle: SubscriptionHandle) { subscriptions[handle] = subscription }

  mutating func remove(_ handle: SubscriptionHandle) {
    guard let subscription = subscriptions.removeValue(forKey: handle) else { return }
    for key in subscription.keys { handlesByKey[key] = nil }
    reports = reports.filter { $0.value.handle != handle }
  }

  // MARK: Requests

  /// Adds the id in the first report of a granted request: the next report may arrive before the response.
  /// - Parameter time: see ``Subscription/expect(_:until:)``.
  mutating func expect(_ id: UInt32, for handle: SubscriptionHandle, until time: Instant) {
    guard let subscription = subscriptions[handle] else { return }
    let key = SubscriptionKey(node: subscription.node, id: id)
    if let old = subscription.pending, old != key { handlesByKey[old] = nil }
    handlesByKey[key] = handle
    subscriptions[handle]?.expect(key, until: time)
  }

  /// Establishes a subscription, or its replacement.
  /// - Throws: an error if the response is for another subscription than the first reports.
  mutating func establish(
    _ handle: SubscriptionHandle, _ response: SubscribeResponse, on session: SessionID
  ) throws(ControllerError) {
    guard let subscription = subscriptions[handle], let key = subscription.pending, key.id == response.subscriptionID
    else { throw .unexpectedResponse("another subscription id") }
    for old in subscription.keys where old != key { handlesByKey[old] = nil }
    subscriptions[handle]?.establish(key, on: session, maxInterval: .seconds(Int64(response.maxInterval)))
  }

  /// Cancels the request for a replacement.
  /// - Returns: false if there is none.
  mutating func stopRenewing(_ handle: SubscriptionHandle) -> Bool {
    guard let subscription = subscriptions[handle], subscription.isRenewing else { return false }
    if let pending = subscription.pending { handlesByKey[pending] = nil }
    subscriptions[handle]?.stopRenewing()
    return true
  }

  /// Ends a lost subscription until the next attempt.
  /// - Returns: the delay before the attempt, and the exchanges of incomplete reports, which must be closed.
  mutating func scheduleRetry(
    _ handle: SubscriptionHandle, _ policy: RenewalPolicy, random: inout any RandomSource, at now: Instant
  ) -> (delay: Duration, exchanges: [ExchangeID])? {
    for key in subscriptions[handle]?.keys ?? [] { handlesByKey[key] = nil }
    let exchanges = reports.filter { $0.value.handle == handle }.keys.sorted()
    for exchange in exchanges { reports[exchange] = nil }
    guard let delay = subscriptions[handle]?.wait(policy, random: &random, at: now) else { return nil }
    return (delay, exchanges)
  }

  // MARK: Reports

  /// Appends a message to the report on its exchange.
  /// - Returns: the subscription, and the whole report if this was its last message.
  /// - Throws: `invalidSubscription` for an unknown id, or an error of the report. The report is then dropped.
  mutating func receive(
    _ data: ReportData, _ key: SubscriptionKey, on exchange: ExchangeID
  ) throws(InteractionError) -> (handle: SubscriptionHandle, report: ReassembledReport?) {
    guard let handle = handlesByKey[key] else {
      reports[exchange] = nil
      throw .status(Status(.invalidSubscription))
    }
    // Moved out of the table, so that it is changed in place.
    var pending = reports.removeValue(forKey: exchange) ?? (handle, ReassembledReport())
    guard pending.handle == handle else { throw .unexpected(.reportData) }
    try pending.report.append(data)
    if pending.report.isComplete { return (handle, pending.report) }
    reports[exchange] = pending
    return (handle, nil)
  }

  mutating func dropReport(on exchange: ExchangeID) { reports[exchange] = nil }

  mutating func dropReports(on session: SessionID) {
    for exchange in reports.keys where exchange.session == session { reports[exchange] = nil }
  }

  // MARK: Resumption

  /// Moves the subscriptions of a session to the one that the device opened after a restart.
  /// - Parameters:
  ///   - resumed: the subscription that the device reported.
  ///   - time: when the others are renewed unless they are reported.
  /// - Returns: whether there are others.
  mutating func move(
    from old: SessionID, to new: SessionID, resumed: SubscriptionHandle, others time: Instant
  ) -> Bool {
    let moved = handles(on: old)
    for handle in moved {
      subscriptions[handle]?.move(to: new)
      if handle != resumed { subscriptions[handle]?.expectReport(by: time) }
    }
    return moved.contains { $0 != resumed }
  }
}
