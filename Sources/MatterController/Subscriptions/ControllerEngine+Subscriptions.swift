public import MatterModel
public import MatterProtocol

extension ControllerEngine {
  /// Subscribes to attributes and events of a node. The subscription lasts until it is ended, and is renewed after each
  /// loss.
  ///
  /// Reports are events with this handle. If the first attempt fails, the operation completes with the error, unless
  /// ``SubscriptionRequest/retriesFirstAttempt`` is set.
  public mutating func subscribe(
    _ node: NodeID, _ request: SubscriptionRequest, at now: Instant
  ) -> SubscriptionHandle {
    guard peers[node]?.isStored == true else { return refuse(.unknownNode(node)) }
    let handle = newOperationID()
    operations[handle] = Operation(id: handle, task: .subscribe, node: node)
    subscriptions[handle] = Subscription(node, request, at: now)
    run(handle, at: now)
    settle(at: now)
    return handle
  }

  /// Ends a subscription; the device is notified by the answer to its next report. Completes with
  /// ``OperationOutcome/unsubscribed``.
  public mutating func unsubscribe(_ handle: SubscriptionHandle, at now: Instant) {
    guard subscriptions[handle] != nil else { return }
    complete(handle, .success(.unsubscribed), at: now)
    settle(at: now)
  }

  /// Starts the next attempt of a lost subscription at once, for example when the node was announced again.
  public mutating func retryNow(_ handle: SubscriptionHandle, at now: Instant) {
    guard case .waiting? = subscriptions[handle]?.state else { return }
    advanceSubscription(handle, at: now)
    settle(at: now)
  }

  /// Drops an established subscription and its session and renews it at once, for example when the node announced a
  /// shutdown or was probably restarted.
  public mutating func renew(_ handle: SubscriptionHandle, at now: Instant) {
    guard case .established(_, let session, _)? = subscriptions[handle]?.state else { return }
    core.close(session, notifyingPeer: false, at: now)
    settle(at: now)
    loseSubscription(handle, .connectionLost, at: now)
    settle(at: now)
  }

  /// Subscription ids of the established subscriptions, unordered. Matter Core § 8.5.1.
  public var establishedSubscriptions: [UInt32] {
    subscriptions.values.compactMap { if case .established(let key, _, _) = $0.state { key.id } else { nil } }
  }

  /// Whether there is a subscription with a node, established or not.
  public func isSubscribed(to node: NodeID) -> Bool { subscriptions.values.contains { $0.node == node } }

  /// Whether the subscription is established.
  public func isEstablished(_ handle: SubscriptionHandle) -> Bool {
    if case .established? = subscriptions[handle]?.state { true } else { false }
  }
}

// The lifecycle of a subscription. Matter Core § 8.5.
extension ControllerEngine {
  /// The request for the first attempt or for a renewal.
  func subscriptionRequest(_ handle: SubscriptionHandle) -> SubscribeRequest? {
    guard let subscription = subscriptions[handle] else { return nil }
    let wanted = subscription.request
    // A renewal must not end subscriptions made in the meantime.
    let keeps = wanted.keepsOthers || subscription.wasEstablished || subscription.failures > 0
    var request = SubscribeRequest(
      keepSubscriptions: keeps, minIntervalFloor: UInt16(clamping: wanted.minInterval.components.seconds),
      maxIntervalCeiling: UInt16(clamping: wanted.maxInterval.components.seconds), attributePaths: wanted.paths,
      eventPaths: wanted.events, isFabricFiltered: wanted.isFabricFiltered)
    if !wanted.events.isEmpty, let number = subscription.nextEvent {
      request.eventFilters = [EventFilter(eventMin: number)]
    }
    // A filter takes up to 22 bytes, a path up to 24.
    let room = InteractionLimits.maximumPayload - 64 - 24 * (wanted.paths.count + wanted.events.count)
    request.dataVersionFilters = subscription.filters(room / 22)
    return request
  }

  /// Stores the subscription id of the first report; the next report may arrive before the response.
  mutating func expectSubscription(_ handle: SubscriptionHandle, _ id: UInt32, at now: Instant) {
    guard let node = subscriptions[handle]?.node else { return }
    let key = SubscriptionKey(node: node, id: id)
    if let old = subscriptions[handle]?.pending, old != key { subscriptionHandles[old] = nil }
    subscriptions[handle]?.pending = key
    subscriptionHandles[key] = handle
    guard subscriptions[handle]?.isRenewing == true, let deadline = subscriptions[handle]?.deadline else { return }
    // The device answers: sending its first reports may take longer than the deadline.
    let timeout = now + configuration.responseTime
    subscriptions[handle]?.deadline = max(deadline, timeout)
  }

  mutating func subscribed(
    _ handle: SubscriptionHandle, _ response: SubscribeResponse, on session: SessionID, at now: Instant
  ) {
    guard var subscription = subscriptions[handle] else { return }
    guard let key = subscription.pending, key.id == response.subscriptionID
    else { return fail(handle, .unexpectedResponse("another subscription id"), at: now) }
    let interval = Duration.seconds(Int64(response.maxInterval))
    for old in subscription.keys where old != key { subscriptionHandles[old] = nil }
    let oldSession = subscription.session
    subscription.state = .established(key, session, maxInterval: interval)
    subscription.pending = nil
    subscription.isRenewing = false
    subscription.wasEstablished = true
    subscription.failures = 0
    subscription.lostAt = nil
    subscriptions[handle] = subscription
    operations[handle]?.wasRepeated = false
    operations[handle]?.busyRetries = 0
    extendDeadline(handle, at: now)
    emit(.subscriptionEstablished(handle, maxInterval: interval))
    if oldSession != session { retire(oldSession, at: now) }
  }

  /// When the next message of an established subscription's device is due: one maximum interval after the last message,
  /// plus the time for retransmissions.
  public func reportDeadline(_ handle: SubscriptionHandle) -> Instant? {
    guard case .established? = subscriptions[handle]?.state else { return nil }
    return subscriptions[handle]?.deadline
  }

  /// Extends the deadline after a message of the device: one maximum interval plus the time for retransmissions.
  private mutating func extendDeadline(_ handle: SubscriptionHandle, at now: Instant) {
    guard let subscription = subscriptions[handle],
      case .established(_, let session, let interval) = subscription.state
    else { return }
    let parameters = core.session(session)?.parameters ?? SessionParameters()
    let allowance = Retransmission.longest(parameters, isActive: false)
    subscriptions[handle]?.deadline = now + interval + allowance
    let overdueAt = now + interval + allowance / 4
    subscriptions[handle]?.overdueAt = overdueAt
    schedule(overdueAt)
  }

  // MARK: Reports

  /// Handles a message that opens an exchange.
  mutating func receiveUnsolicited(_ message: InboundMessage, at now: Instant) {
    guard message.protocolID == .interactionModel, !message.exchange.isInitiator else {
      core.countDrop(.unexpectedMessage)
      return core.close(message.exchange, at: now)
    }
    guard InteractionOpcode(message.opcode) == .reportData else {
      pendingReports[message.exchange] = nil
      // The controller serves no requests; a status needs no answer.
      if InteractionOpcode(message.opcode) == .statusResponse {
        core.countDrop(.unexpectedMessage)
      } else {
        answer(message.exchange, .invalidAction, at: now)
      }
      return core.close(message.exchange, at: now)
    }
    do throws(InteractionError) {
      try handleReport(message, at: now)
    } catch {
      pendingReports[message.exchange] = nil
      answer(message.exchange, error.answer, at: now)
    }
  }

  private mutating func handleReport(_ message: InboundMessage, at now: Instant) throws(InteractionError) {
    let data = try ReportData(decoding: message.bytes[message.payload])
    guard let node = core.session(message.exchange.session)?.peerNodeID, let id = data.subscriptionID else {
      throw .unexpected(.reportData)
    }
    noteAddress(of: node, on: message.exchange.session)
    let key = SubscriptionKey(node: node, id: id)
    guard let handle = subscriptionHandles[key] else {
      pendingReports[message.exchange] = nil
      throw .status(Status(.invalidSubscription))
    }
    var pendingReport =
      pendingReports.removeValue(forKey: message.exchange) ?? PendingReport(node: node, handle: handle)
    guard pendingReport.handle == handle else { throw .unexpected(.reportData) }
    try pendingReport.report.append(data)
    moveSubscription(handle, key, to: message.exchange.session, at: now)
    keepCurrentSession(handle, message.exchange.session, at: now)
    extendDeadline(handle, at: now)
    guard pendingReport.report.isComplete else {
      pendingReports[message.exchange] = pendingReport
      let timeout = AfterSending.expectResponse(within: configuration.responseTime)
      answer(message.exchange, .success, then: timeout, at: now)
      return
    }
    if data.suppressResponse {
      core.close(message.exchange, at: now)
    } else {
      answer(message.exchange, .success, at: now)
    }
    apply(pendingReport.report, to: handle, at: now)
  }

  private mutating func answer(
    _ exchange: ExchangeID, _ status: StatusCode, then: AfterSending = .close, at now: Instant
  ) {
    let response = StatusResponse(status)
    core.send(StatusResponse.opcode.rawValue, on: exchange, then: then, at: now, capacity: 16) {
      response.encode(to: &$0)
    }
  }

  /// Emits the contents of a complete report, in the device's order.
  mutating func apply(_ report: ReassembledReport, to handle: SubscriptionHandle, at now: Instant) {
    guard let node = subscriptions[handle]?.node else { return }
    subscriptions[handle]?.note(report)
    if subscriptions[handle]?.request.isCached == true { cache(report.attributes, of: node) }
    for attribute in report.attributes {
      emit(
        .attributeReport(handle, attribute.path, value: attribute.value, dataVersion: attribute.dataVersion))
    }
    for status in report.statuses { emit(.attributeStatus(handle, status.path, status.status)) }
    for case .data(let event) in report.events { emit(.eventReport(handle, event)) }
    emit(.reportEnd(handle))
    leaveDeletedGroups(reporting: node, at: now)
  }

  // MARK: Loss and renewal

  mutating func advanceSubscription(_ handle: SubscriptionHandle, at now: Instant) {
    switch subscriptions[handle]?.state {
    case .established where subscriptions[handle]?.deadline.map({ $0 > now }) == true:
      renewIfOverdue(handle, at: now)
    case .established(_, let session, _):
      // The session is most likely dead as well and must not be used for the renewal.
      core.close(session, notifyingPeer: false, at: now)
      loseSubscription(handle, .unreachable, at: now)
    case .waiting:
      subscriptions[handle]?.state = .requesting
      subscriptions[handle]?.deadline = nil
      operations[handle]?.wasRepeated = false
      run(handle, at: now)
    case .requesting, nil:
      subscriptions[handle]?.deadline = nil
    }
  }

  mutating func loseSubscription(_ handle: SubscriptionHandle, _ error: ControllerError, at now: Instant) {
    guard case .established? = subscriptions[handle]?.state else { return }
    stopRenewing(handle, at: now)
    scheduleRenewal(handle, error, at: now)
  }

  /// Handles a failed attempt.
  mutating func failSubscription(_ handle: SubscriptionHandle, _ error: ControllerError, at now: Instant) {
    guard let subscription = subscriptions[handle] else { return }
    // The current subscription stays valid until its own deadline.
    if subscription.isRenewing { return stopRenewing(handle, at: now) }
    if !subscription.wasEstablished && !subscription.request.retriesFirstAttempt {
      complete(handle, .failure(error), at: now)
    } else {
      // The back-off starts after the eager phase.
      let isEager = subscription.failures > 0 && subscription.isEager(configuration.renewal, at: now)
      if !isEager { subscriptions[handle]?.failures += 1 }
      // A device that answers incorrectly with filters is asked for everything.
      if !error.isTransport {
        subscriptions[handle]?.versions = [:]
        subscriptions[handle]?.inconsistent = []
      }
      scheduleRenewal(handle, error, at: now)
    }
  }

  private mutating func scheduleRenewal(_ handle: SubscriptionHandle, _ error: ControllerError, at now: Instant) {
    guard let subscription = subscriptions[handle] else { return }
    for key in subscription.keys { subscriptionHandles[key] = nil }
    for exchange in pendingReports.keys.sorted() where pendingReports[exchange]?.handle == handle {
      pendingReports[exchange] = nil
      core.close(exchange, at: now)
    }
    let policy = configuration.renewal
    if subscription.lostAt == nil { subscriptions[handle]?.lostAt = now }
    let isEager = subscriptions[handle]?.isEager(policy, at: now) == true
    var delay = policy.delay(attempt: subscription.failures, isEager: isEager)
    if delay > .zero, policy.jitterDivisor > 0 {
      let bound = UInt64(delay.nanoseconds / policy.jitterDivisor) + 1
      delay += .nanoseconds(Int64(random.next() % bound))
    }
    subscriptions[handle]?.pending = nil
    subscriptions[handle]?.overdueAt = nil
    subscriptions[handle]?.state = .waiting
    subscriptions[handle]?.deadline = now + delay
    operations[handle]?.retryAt = nil
    operations[handle]?.busyRetries = 0
    schedule(now + delay)
    emit(.subscriptionLost(handle, error, retryingIn: delay))
  }

  mutating func removeSubscription(_ handle: SubscriptionHandle) {
    guard let subscription = subscriptions.removeValue(forKey: handle) else { return }
    for key in subscription.keys { subscriptionHandles[key] = nil }
    pendingReports = pendingReports.filter { $0.value.handle != handle }
  }
}
