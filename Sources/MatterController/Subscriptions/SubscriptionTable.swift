internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol

/// Identifies a subscription on a device.
struct SubscriptionKey: Hashable, Sendable {
  let node: NodeID
  let id: UInt32
}

/// The subscriptions of the controller, their indexes, and the reports with more messages to follow.
///
/// Every change of a subscription passes the subscript, which updates the indexes by node and session and the deadlines.
struct SubscriptionTable: Sendable {
  private var subscriptions = KeyedRow<SubscriptionHandle, Subscription>()
  private(set) var handlesByKey: [SubscriptionKey: SubscriptionHandle] = [:]
  private var handlesByNode = SortedGroups<NodeID, SubscriptionHandle>()
  /// The established subscriptions.
  private var handlesBySession = SortedGroups<SessionID, SubscriptionHandle>()
  private var deadlines = Deadlines<SubscriptionHandle>()
  /// At most one for each exchange that a node opened, the number of which is limited.
  private var reports: [ExchangeID: (handle: SubscriptionHandle, report: ReassembledReport)] = [:]

  /// The ids of the established subscriptions, unordered.
  var establishedIDs: [UInt32] {
    subscriptions.values.compactMap { if case .established(let key, _, _) = $0.state { key.id } else { nil } }
  }
  /// The earliest deadline of a subscription.
  var nextDeadline: Instant? { deadlines.first }

  /// A subscription. Its ids must be changed by the methods of the table only.
  subscript(_ handle: SubscriptionHandle) -> Subscription? {
    @inline(__always) get { subscriptions[handle] }
    _modify {
      let (node, session) = (self[handle]?.node, self[handle]?.session)
      defer {
        handlesByNode.move(handle, from: node, to: self[handle]?.node)
        handlesBySession.move(handle, from: session, to: self[handle]?.session)
        deadlines[handle] = self[handle]?.wakeUp
      }
      yield &subscriptions[handle]
    }
  }

  var count: Int { subscriptions.count }

  /// Returns the subscriptions with a node, in order.
  func handles(with node: NodeID) -> [SubscriptionHandle] { handlesByNode[node] }

  /// Returns the established subscriptions on a session, in order.
  func handles(on session: SessionID) -> [SubscriptionHandle] { handlesBySession[session] }

  /// Returns the subscriptions whose deadlines have passed, in order.
  func due(at now: Instant) -> [SubscriptionHandle] { deadlines.due(at: now) }

  func isSubscribed(to node: NodeID) -> Bool { handlesByNode.contains(node) }

  /// Whether reports are expected on a session.
  func isUsed(_ session: SessionID) -> Bool { handlesBySession.contains(session) }

  mutating func add(_ subscription: Subscription, _ handle: SubscriptionHandle) { self[handle] = subscription }

  mutating func remove(_ handle: SubscriptionHandle) {
    guard let subscription = self[handle] else { return }
    self[handle] = nil
    for key in subscription.keys { handlesByKey[key] = nil }
    for exchange in reportExchanges(of: handle) { reports[exchange] = nil }
  }

  // MARK: Requests

  /// Adds the id in the first report of a granted request: the next report may arrive before the response.
  /// - Parameter time: see ``Subscription/expect(_:until:)``.
  mutating func expect(_ id: UInt32, for handle: SubscriptionHandle, until time: Instant) {
    guard let subscription = self[handle] else { return }
    let key = SubscriptionKey(node: subscription.node, id: id)
    if let old = subscription.pending, old != key { handlesByKey[old] = nil }
    handlesByKey[key] = handle
    self[handle]?.expect(key, until: time)
  }

  /// Establishes a subscription, or its replacement.
  /// - Throws: an error if the response is for another subscription than the first reports.
  mutating func establish(
    _ handle: SubscriptionHandle, _ response: SubscribeResponse, on session: SessionID
  ) throws(ControllerError) {
    guard let subscription = self[handle], let key = subscription.pending, key.id == response.subscriptionID
    else { throw .unexpectedResponse("another subscription id") }
    for old in subscription.keys where old != key { handlesByKey[old] = nil }
    self[handle]?.establish(key, on: session, maxInterval: .seconds(Int64(response.maxInterval)))
  }

  /// Cancels the request for a replacement.
  /// - Returns: false if there is none.
  mutating func stopRenewing(_ handle: SubscriptionHandle) -> Bool {
    guard let subscription = self[handle], subscription.isRenewing else { return false }
    if let pending = subscription.pending { handlesByKey[pending] = nil }
    self[handle]?.stopRenewing()
    return true
  }

  /// Ends a lost subscription until the next attempt.
  /// - Returns: the delay before the attempt, and the exchanges of incomplete reports, which must be closed.
  mutating func scheduleRetry(
    _ handle: SubscriptionHandle, _ policy: RenewalPolicy, random: inout any RandomSource, at now: Instant
  ) -> (delay: Duration, exchanges: [ExchangeID])? {
    for key in self[handle]?.keys ?? [] { handlesByKey[key] = nil }
    let exchanges = reportExchanges(of: handle)
    for exchange in exchanges { reports[exchange] = nil }
    guard let delay = self[handle]?.wait(policy, random: &random, at: now) else { return nil }
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

  /// Returns the exchanges of incomplete reports, in order.
  private func reportExchanges(of handle: SubscriptionHandle) -> [ExchangeID] {
    reports.lazy.filter { $0.value.handle == handle }.map(\.key).sorted()
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
      self[handle]?.move(to: new)
      if handle != resumed { self[handle]?.expectReport(by: time) }
    }
    return moved.contains { $0 != resumed }
  }
}
