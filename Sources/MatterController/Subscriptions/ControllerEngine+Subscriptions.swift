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
    let subscription = Subscription(node, request, at: now)
    var message = subscription.nextRequest
    // The subscription limits the data version filters to the space that the paths leave.
    message.dataVersionFilters = []
    guard Self.fitsDatagram(message, parts: request.paths.count + request.events.count) else {
      return refuse(.tooManyPaths)
    }
    let handle = operations.add(.subscribe, node)
    subscriptions.add(subscription, handle)
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
    guard subscriptions[handle]?.isWaiting == true else { return }
    advanceSubscription(handle, at: now)
    settle(at: now)
  }

  /// Drops an established subscription and its session and renews it at once, for example when the node announced a
  /// shutdown or was probably restarted.
  public mutating func renew(_ handle: SubscriptionHandle, at now: Instant) {
    guard let session = subscriptions[handle]?.session else { return }
    core.close(session, notifyingPeer: false, at: now)
    settle(at: now)
    loseSubscription(handle, .connectionLost, at: now)
    settle(at: now)
  }

  /// Requests a replacement for a subscription that may be dead, over a new session; restarts a request in progress.
  /// The current subscription stays valid until its own deadline, so that nothing is lost if the device grants the
  /// replacement before the deadline, or if a report shows that the current one is alive.
  public mutating func renewInParallel(_ handle: SubscriptionHandle, at now: Instant) {
    guard let session = subscriptions[handle]?.session else { return }
    // The session opened for the replacement may also be dead.
    if isRenewing(handle) { keepCurrentSession(handle, session, at: now) }
    requestReplacement(handle, at: now)
    settle(at: now)
  }

  /// Subscription ids of the established subscriptions, unordered. Matter Core § 8.5.1.
  public var establishedSubscriptions: [UInt32] { subscriptions.establishedIDs }

  /// Whether there is a subscription with a node, established or not.
  func isSubscribed(to node: NodeID) -> Bool { subscriptions.isSubscribed(to: node) }

  /// Whether the subscription is established.
  public func isEstablished(_ handle: SubscriptionHandle) -> Bool { subscriptions[handle]?.session != nil }

  /// Whether a replacement for an established subscription is being requested.
  public func isRenewing(_ handle: SubscriptionHandle) -> Bool { subscriptions[handle]?.isRenewing == true }

  /// When the last message was received on the subscription's session; nil if it has none.
  public func lastHeard(_ handle: SubscriptionHandle) -> Instant? {
    subscriptions[handle]?.session.flatMap { core.session($0)?.lastHeard }
  }

  /// When the next message of an established subscription's device is due: one maximum interval after the last message,
  /// plus the time for retransmissions.
  public func reportDeadline(_ handle: SubscriptionHandle) -> Instant? {
    guard let subscription = subscriptions[handle], subscription.session != nil else { return nil }
    return subscription.deadline
  }
}

// The lifecycle of a subscription. Matter Core § 8.5.
extension ControllerEngine {
  /// Handles the response that ends the request of a subscription.
  mutating func subscribed(
    _ handle: SubscriptionHandle, _ response: SubscribeResponse, on session: SessionID, at now: Instant
  ) throws(ControllerError) {
    let old = subscriptions[handle]?.session
    try subscriptions.establish(handle, response, on: session)
    operations[handle]?.wasRepeated = false
    operations[handle]?.resetRetries()
    extendDeadline(handle, at: now)
    emit(.subscriptionEstablished(handle, maxInterval: .seconds(Int64(response.maxInterval))))
    if old != session { retire(old, at: now) }
  }

  private mutating func extendDeadline(_ handle: SubscriptionHandle, at now: Instant) {
    guard let session = subscriptions[handle]?.session else { return }
    subscriptions[handle]?.extendDeadline(core.session(session)?.parameters ?? SessionParameters(), at: now)
    schedule(subscriptions[handle]?.overdueAt)
  }

  // MARK: Reports

  /// Handles a message that opens an exchange.
  mutating func receiveUnsolicited(_ message: InboundMessage, at now: Instant) {
    guard message.protocolID == .interactionModel, !message.exchange.isInitiator else {
      core.countDrop(.unexpectedMessage)
      return core.close(message.exchange, at: now)
    }
    guard InteractionOpcode(message.opcode) == .reportData else {
      subscriptions.dropReport(on: message.exchange)
      // The controller serves no requests; a status needs no answer.
      if InteractionOpcode(message.opcode) == .statusResponse {
        core.countDrop(.unexpectedMessage)
      } else {
        core.sendStatus(.invalidAction, on: message.exchange, at: now)
      }
      return core.close(message.exchange, at: now)
    }
    do throws(InteractionError) {
      try handleReport(message, at: now)
    } catch {
      subscriptions.dropReport(on: message.exchange)
      core.sendStatus(error.answer, on: message.exchange, at: now)
    }
  }

  private mutating func handleReport(_ message: InboundMessage, at now: Instant) throws(InteractionError) {
    let data = try ReportData(decoding: message.bytes[message.payload])
    let (exchange, session) = (message.exchange, message.exchange.session)
    guard let node = core.peerNodeID(of: session), let id = data.subscriptionID else {
      throw .unexpected(.reportData)
    }
    noteAddress(of: node, on: session)
    let (handle, report) = try subscriptions.receive(data, SubscriptionKey(node: node, id: id), on: exchange)
    moveSubscription(handle, id, of: node, to: session, at: now)
    keepCurrentSession(handle, session, at: now)
    extendDeadline(handle, at: now)
    guard let report else {
      return core.sendStatus(on: exchange, then: responseTimeout, at: now)
    }
    if data.suppressResponse {
      core.close(exchange, at: now)
    } else {
      core.sendStatus(on: exchange, at: now)
    }
    apply(report, to: handle, at: now)
  }

  /// Emits a complete report, and keeps its values if the subscription is cached.
  mutating func apply(_ report: ReassembledReport, to handle: SubscriptionHandle, at now: Instant) {
    guard let node = subscriptions[handle]?.node else { return }
    // The reports of an idle device are empty.
    if !report.attributes.isEmpty || !report.events.isEmpty { subscriptions[handle]?.note(report) }
    noteMode(report, of: node)
    if subscriptions[handle]?.request.isCached == true { peers[node]?.store(report.attributes) }
    emit(.report(handle, report))
    if groupTable.mustLeave(node, at: now) { leaveDeletedGroups(node, at: now) }
    noteAccess(report, of: node)
    updateAccessIfNeeded(node, at: now)
  }

  // MARK: Loss and renewal

  mutating func advanceSubscription(_ handle: SubscriptionHandle, at now: Instant) {
    switch subscriptions[handle]?.advance(to: now) {
    case .request:
      operations[handle]?.wasRepeated = false
      run(handle, at: now)
    case .replace:
      // A missing report does not imply that the device is unreachable: it may have ended the subscription after a lost
      // report, or it may have been restarted and know neither subscription nor session.
      schedule(subscriptions[handle]?.deadline)
      requestReplacement(handle, at: now)
    case .lose(let session):
      // The session must not be used for the renewal.
      core.close(session, notifyingPeer: false, at: now)
      loseSubscription(handle, .unreachable, at: now)
    case .wait, nil: break
    }
  }

  mutating func requestReplacement(_ handle: SubscriptionHandle, at now: Instant) {
    guard let node = subscriptions[handle]?.node, subscriptions[handle]?.startRenewing() == true else { return }
    operations[handle]?.wasRepeated = false
    peers[node]?.waiting.append(handle)
    openSession(with: node, at: now)
  }

  mutating func loseSubscription(_ handle: SubscriptionHandle, _ error: ControllerError, at now: Instant) {
    guard isEstablished(handle) else { return }
    stopRenewing(handle, at: now)
    scheduleRetry(handle, error, at: now)
  }

  /// Handles a failed request of a subscription.
  mutating func failSubscription(_ handle: SubscriptionHandle, _ error: ControllerError, at now: Instant) {
    let policy = configuration.renewal
    switch subscriptions[handle]?.fail(error, policy, at: now) {
    case .stopRenewing: stopRenewing(handle, at: now)
    case .complete: complete(handle, .failure(error), at: now)
    case .retry: scheduleRetry(handle, error, at: now)
    case nil: break
    }
  }

  private mutating func scheduleRetry(_ handle: SubscriptionHandle, _ error: ControllerError, at now: Instant) {
    guard
      let (delay, exchanges) = subscriptions.scheduleRetry(handle, configuration.renewal, random: &random, at: now)
    else { return }
    for exchange in exchanges { core.close(exchange, at: now) }
    operations[handle]?.resetRetries()
    schedule(now + delay)
    emit(.subscriptionLost(handle, error, retryingIn: delay))
  }

  /// Cancels the request for a replacement of an established subscription.
  private mutating func stopRenewing(_ handle: SubscriptionHandle, at now: Instant) {
    guard subscriptions.stopRenewing(handle), let node = subscriptions[handle]?.node else { return }
    operations[handle]?.resetRetries()
    dropTransactions(of: handle, at: now)
    peers[node]?.waiting.removeAll { $0 == handle }
    stopConnectingIfIdle(node, at: now)
  }

  /// Ends a renewal because a report arrived on the current session: it was only late. Also closes the session that was
  /// opened for the renewal. (After a refused renewal that session stays open, as either session may be the live one.)
  private mutating func keepCurrentSession(_ handle: SubscriptionHandle, _ session: SessionID, at now: Instant) {
    guard let node = subscriptions[handle]?.node, subscriptions[handle]?.session == session else { return }
    if subscriptions[handle]?.isRenewing == true { stopRenewing(handle, at: now) }
    guard let new = peers[node]?.session, new != session else { return }
    peers[node]?.session = session
    retire(new, at: now)
  }

  /// Closes one of two sessions with a node when its exchanges end, unless subscriptions use it.
  mutating func retire(_ session: SessionID?, at now: Instant) {
    guard let session, !subscriptions.isUsed(session), transactions.retire(session) else { return }
    core.close(session, notifyingPeer: true, at: now)
  }

  /// Closes the retired sessions whose exchanges have ended.
  /// - Returns: whether any was closed.
  mutating func closeRetired(at now: Instant) -> Bool {
    let done = transactions.takeRetired()
    for session in done { retire(session, at: now) }
    return !done.isEmpty
  }

  // MARK: Resumption: after a restart, a device opens a session and reports under the old subscription id.

  /// How long a node that opened a session has to report its resumed subscriptions, before those on its old session are
  /// renewed.
  private static let resumptionTime: Duration = .seconds(2)
  /// How long a session is most likely with the restarted node: both sides opened one.
  private static let newSessionTime: Duration = .seconds(5)

  /// Handles a session opened by a node, which was most likely restarted.
  mutating func opened(by node: NodeID, _ session: SessionID, at now: Instant) {
    for handle in subscriptions.handles(with: node) {
      if subscriptions[handle]?.isWaiting == true {
        advanceSubscription(handle, at: now)
      } else if let old = subscriptions[handle]?.session, old != session,
        core.session(old).map({ now >= $0.establishedAt + Self.newSessionTime }) ?? true
      {
        subscriptions[handle]?.expectReport(by: now + Self.resumptionTime)
        schedule(now + Self.resumptionTime)
      }
    }
  }

  /// Moves a subscription to the session that its report arrived on. Only a restart changes the session: the old one is
  /// dead, and requests on it are repeated.
  private mutating func moveSubscription(
    _ handle: SubscriptionHandle, _ id: UInt32, of node: NodeID, to session: SessionID, at now: Instant
  ) {
    guard case .established(let key, let old, _)? = subscriptions[handle]?.state, key.id == id, old != session else {
      return
    }
    stopRenewing(handle, at: now)
    peers[node]?.session = session
    let time = now + Self.resumptionTime
    if subscriptions.move(from: old, to: session, resumed: handle, others: time) { schedule(time) }
    abandon(old, with: [], at: now)
  }
}
