internal import MatterClusters
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol

// The lifecycle of an operation, from its call to its single completed event.
extension ControllerEngine {
  mutating func start(_ task: Operation.Task, _ node: NodeID, _ timeout: Duration?, at now: Instant) -> OperationID {
    guard peers[node]?.isStored == true else { return refuse(.unknownNode(node)) }
    let deadline = timeout.map { now + $0 }
    let id = operations.add(task, node, deadline: deadline)
    schedule(deadline)
    run(id, at: now)
    settle(at: now)
    return id
  }

  /// Returns an operation that fails at once.
  mutating func refuse(_ error: ControllerError) -> OperationID {
    let id = operations.makeID()
    emit(.completed(id, .failure(error)))
    return id
  }

  /// Sends the operation's next request over the node's session; opens the session first if needed.
  mutating func run(_ id: OperationID, at now: Instant) {
    guard let operation = operations[id], let node = operation.node, !operations.mustWait(operation) else { return }
    guard !isAsleep(node, at: now) else { return hold(id, of: node, at: now) }
    if let session = peers[node]?.session {
      if proceed(operation, on: session, isOld: true, at: now) { return }
      peers[node]?.session = nil
    }
    peers[node]?.waiting.append(id)
    openSession(with: node, at: now)
  }

  /// - Returns: false if the session cannot be used any longer.
  mutating func proceed(_ id: OperationID, on session: SessionID, isOld: Bool, at now: Instant) -> Bool {
    guard let operation = operations[id], operation.node != nil else { return true }
    return proceed(operation, on: session, isOld: isOld, at: now)
  }

  private mutating func proceed(
    _ operation: Operation, on session: SessionID, isOld: Bool, at now: Instant
  ) -> Bool {
    let id = operation.id
    let request: NodeRequest?
    switch operation.task {
    case .connect:
      guard let info = core.session(session) else { return false }
      complete(id, .success(.connected(info.peerAddress)), at: now)
      return true
    case .commission:
      connectedOperationally(id, on: session, at: now)
      return true
    case .subscribe: request = subscriptions[id].map { .subscribe($0.nextRequest) }
    case .changeGroup(var change):
      let epochKey = change.step == .replaceKeys ? random.bytes(16) : groupTable.epochKey(change.keySet)
      request = change.request(epochKey: epochKey)
      guard request != nil else {
        fail(id, .invalidRequest("group change: too long for one message"), at: now)
        return true
      }
      change.hasSent = change.step != .probe
      operations[id]?.task = .changeGroup(change)
    case .register(let key, _):
      let fields = IcdManagement.RegisterClientRequest(
        checkInNodeID: fabric.nodeID, monitoredSubject: fabric.nodeID, key: OctetString(key), clientType: .permanent)
      request = .invoke([CommandData(IcdManagement.registerClient.path(on: .root), fields: fields.tlv)], timed: nil)
    case .changeAccess(let change):
      request = change.request
      guard request != nil else {
        fail(id, .invalidRequest("access control list: too long for one message"), at: now)
        return true
      }
    case .request, .remove, .openWindow, .discover: request = operation.request
    }
    return request.map { begin($0, for: id, on: session, isOld: isOld, at: now) } ?? true
  }

  /// Handles the outcome of an operation's exchange.
  private mutating func resolve(
    _ transaction: Transaction, _ result: Result<Reply, ControllerError>, at now: Instant
  ) {
    let id = transaction.operation
    guard var operation = operations[id] else { return }
    if case .commission = operation.task { return resolveCommissioning(id, result, at: now) }
    if let status = transaction.busyStatus(result) {
      if !waitForBusy(id, at: now) { fail(id, status.code == .busy ? .busy : .status(status), at: now) }
      return
    }
    do throws(ControllerError) {
      let (reply, session) = (try result.get(), transaction.exchange.session)
      if let node = operation.node { noteAddress(of: node, on: session) }
      // Changed as a copy: a change in place through the dictionary allocates several times.
      switch try operation.handle(reply) {
      case .complete(let outcome):
        if case .report(let report) = outcome, let node = operation.node {
          peers[node]?.store(report.attributes)
          noteAccess(report, of: node)
        }
        complete(id, .success(outcome), at: now)
      case .request:
        operations[id]?.task = operation.task
        run(id, at: now)
      case .removed: finishRemoval(id, .confirmed, at: now)
      case .subscribed(let response): try subscribed(id, response, on: session, at: now)
      case .registered(let key, let counter):
        if let node = operation.node { registered(node, key: key, counter: counter) }
        complete(id, .success(.registered), at: now)
      case .groupChanged(let change):
        let (record, changes) = try groupTable.complete(change)
        storeGroups(changes)
        complete(id, .success(.groupChanged(record)), at: now)
      case .accessChanged(let change):
        store(tagTable.complete(change))
        complete(id, .success(.accessChanged(change.node, isFull: !change.refused.isEmpty)), at: now)
      }
    } catch {
      fail(id, error, at: now)
    }
  }

  /// Handles a failure: completes the operation, or retries if its task allows it.
  mutating func fail(_ id: OperationID, _ error: ControllerError, at now: Instant) {
    guard let operation = operations[id] else { return }
    switch operation.task {
    case .subscribe: failSubscription(id, error, at: now)
    case .commission: failCommissioning(id, error, at: now)
    default:
      guard let removal = operation.removal(after: error) else { return complete(id, .failure(error), at: now) }
      finishRemoval(id, removal, at: now)
    }
  }

  private mutating func finishRemoval(_ id: OperationID, _ removal: Removal, at now: Instant) {
    guard let node = operations[id]?.node else { return }
    complete(id, .success(.removed(node, removal)), at: now) {
      $0.forget(node, fabricRemoved: removal != .unconfirmed, at: now)
    }
  }

  /// Schedules a retry after a busy answer.
  /// - Returns: false if the retries are used up.
  mutating func waitForBusy(_ id: OperationID, at now: Instant) -> Bool {
    let maximum = configuration.maximumBusyRetries
    guard let retryAt = operations[id]?.retryBusy(maximum: maximum, at: now) else { return false }
    schedule(retryAt)
    return true
  }

  mutating func advanceOperation(_ id: OperationID, at now: Instant) {
    guard let operation = operations[id] else { return }
    if let deadline = operation.deadline, deadline <= now {
      if case .discover = operation.task { return complete(id, .success(.discovered), at: now) }
      dropTransactions(of: id, at: now)
      // Further addresses of a node that refused a session are tried until the timeout, as is a busy device.
      let refusal =
        commissionings[id].map { $0.search?.refusal } ?? operation.node.flatMap { peers[$0]?.connecting?.refusal }
      return fail(id, refusal ?? sleepError(id) ?? .timedOut, at: now)
    }
    guard operations[id]?.takeRetry(at: now) == true else { return }
    if commissionings[id] != nil { repeatStep(id, at: now) } else { run(id, at: now) }
  }

  // MARK: Completion

  /// Removes an operation with its exchanges and emits its result.
  mutating func complete(
    _ id: OperationID, _ result: Result<OperationOutcome, ControllerError>, at now: Instant,
    before: (inout Self) -> Void = { _ in }
  ) {
    guard let operation = operations.remove(id) else { return }
    if let node = operation.node, peers[node]?.isWaiting(id) == true { peers[node]?.removeWaiting(id) }
    dropTransactions(of: id, at: now)
    if let node = operation.node { stopConnectingIfIdle(node, at: now) }
    switch operation.task {
    case .subscribe: subscriptions.remove(id)
    case .discover(let query): stopBrowsing(query)
    case .commission: commissionings[id] = nil
    default: break
    }
    before(&self)
    noteAccess(operation)
    emit(.completed(id, result))
    if case .changeGroup(let change) = operation.task {
      if case .failure(let error) = result { storeGroups(groupTable.fail(change, error)) }
      runNextGroupChange(change.node, at: now)
    }
    if case .changeAccess(let change) = operation.task { runNextAccessChange(change.node, after: id, at: now) }
    // The commissioning succeeds even if the device refuses the registration.
    if case .register(_, (let commissioning, let result)?) = operation.task {
      complete(commissioning, .success(.commissioned(result)), at: now)
    }
  }

  mutating func dropTransactions(of id: OperationID, at now: Instant) {
    operations.dequeue(id)
    for exchange in transactions.removeAll(of: id) { core.close(exchange, at: now) }
  }

  /// Starts queued operations in order, as far as the limit of exchanges allows.
  /// - Returns: whether any was started.
  mutating func runBacklog(at now: Instant) -> Bool {
    var ready: [NodeID] = []
    for node in operations.backlog.keys where hasCapacity(for: node) { ready.append(node) }
    for node in ready.sorted() {
      while let id = operations.backlog[node]?.first, hasCapacity(for: node) {
        operations.dequeue(id, of: node)
        run(id, at: now)
      }
    }
    return !ready.isEmpty
  }

  /// Whether another exchange may be opened with a node, or a session.
  private func hasCapacity(for node: NodeID) -> Bool {
    (peers[node]?.session).map { transactions.hasCapacity(on: $0) } ?? true
  }
}

// Exchanges that the controller initiates. Matter Core § 8.
extension ControllerEngine {
  var responseTimeout: AfterSending { .expectResponse(within: configuration.responseTime) }

  /// Opens an exchange for a request, or queues the operation if the session has too many.
  /// - Returns: false if the session cannot be used any longer.
  mutating func begin(
    _ request: NodeRequest, for operation: OperationID, on session: SessionID, isOld: Bool, at now: Instant
  ) -> Bool {
    guard transactions.hasCapacity(on: session) else {
      operations.enqueue(operation)
      return true
    }
    guard let exchange = core.openExchange(on: session, at: now) else { return false }
    var transaction = Transaction(operation, request, on: exchange, isOld: isOld)
    transaction.sendNext(over: &core, then: responseTimeout, at: now)
    transactions.add(consume transaction)
    return true
  }

  mutating func receive(_ message: InboundMessage, at now: Instant) {
    guard var transaction = transactions.remove(message.exchange) else { return receiveUnsolicited(message, at: now) }
    let (operation, time) = (transaction.operation, now + configuration.responseTime)
    let outcome = transaction.receive(message, over: &core, then: responseTimeout, at: now) {
      subscriptions.expect($0, for: operation, until: time)
    }
    switch outcome {
    case .waiting: transactions.add(transaction)
    case .primed(let report):
      apply(report, to: operation, at: now)
      transactions.add(transaction)
    case .finished(let result):
      core.close(message.exchange, at: now)
      resolve(transaction, result, at: now)
    }
  }

  /// Handles an exchange that ended without an answer.
  mutating func failed(_ exchange: ExchangeID, _ failure: ExchangeFailure, at now: Instant) {
    subscriptions.dropReport(on: exchange)
    guard let transaction = transactions.remove(exchange) else { return }
    switch failure {
    // Other exchanges on the session would also get no answer.
    case .noAcknowledgment: abandon(exchange.session, with: [transaction], at: now)
    case .noResponse: resolve(transaction, .failure(.noResponse), at: now)
    case .sessionClosed: resolve(transaction, .failure(.connectionLost), at: now)
    }
  }

  /// Lets the requests wait that a node with a long idle time did not acknowledge, because it fell asleep too early.
  /// - Returns: false for another node, or for requests that were repeated before.
  private mutating func holdUnacknowledged(
    _ transactions: [Transaction], on session: SessionID, at now: Instant
  ) -> Bool {
    guard let node = core.peerNodeID(of: session), operatesLong(node), peers[node]?.session == session,
      !transactions.isEmpty,
      transactions.allSatisfy({
        guard let operation = operations[$0.operation] else { return true }
        return !operation.wasRepeated && ($0.mayRepeat || operation.isIdempotent)
      })
    else { return false }
    for transaction in transactions where operations[transaction.operation] != nil {
      operations[transaction.operation]?.wasRepeated = true
      hold(transaction.operation, of: node, at: now)
    }
    return true
  }

  /// Closes a dead session and repeats over a new one the requests that may be repeated.
  /// - Parameter removed: requests on the session that are not in the table.
  mutating func abandon(_ session: SessionID, with removed: [Transaction], at now: Instant) {
    let affected = removed + transactions.removeAll(on: session)
    if holdUnacknowledged(affected, on: session, at: now) { return }
    core.close(session, notifyingPeer: false, at: now)
    for transaction in affected {
      guard let operation = operations[transaction.operation] else { continue }
      let mayRepeat = transaction.mayRepeat || operation.isIdempotent
      if operation.node != nil, !operation.wasRepeated, transaction.isOnOldSession, mayRepeat {
        operations[transaction.operation]?.wasRepeated = true
        run(transaction.operation, at: now)
      } else {
        resolve(transaction, .failure(mayRepeat ? .unreachable : .unacknowledged), at: now)
      }
    }
  }
}
