internal import MatterClusters
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol

// The lifecycle of an operation, from its call to its single completed event.
extension ControllerEngine {
  mutating func start(_ task: Operation.Task, _ node: NodeID, _ timeout: Duration?, at now: Instant) -> OperationID {
    guard peers[node]?.isStored == true else { return refuse(.unknownNode(node)) }
    let id = newOperationID()
    let deadline = timeout.map { now + $0 }
    operations[id] = Operation(id: id, task: task, node: node, deadline: deadline)
    schedule(deadline)
    run(id, at: now)
    settle(at: now)
    return id
  }

  /// Returns an operation that fails at once.
  mutating func refuse(_ error: ControllerError) -> OperationID {
    let id = newOperationID()
    emit(.completed(id, .failure(error)))
    return id
  }

  /// Sends the operation's next request over the node's session; opens the session first if needed.
  mutating func run(_ id: OperationID, at now: Instant) {
    guard let node = operations[id]?.node, !mustWaitForGroupChange(id) else { return }
    if let session = peers[node]?.session {
      if proceed(id, on: session, isOld: true, at: now) { return }
      peers[node]?.session = nil
    }
    peers[node]?.waiting.append(id)
    openSession(with: node, at: now)
  }

  /// - Returns: false if the session cannot be used any longer.
  mutating func proceed(_ id: OperationID, on session: SessionID, isOld: Bool, at now: Instant) -> Bool {
    guard let operation = operations[id], let node = operation.node else { return true }
    switch operation.task {
    case .request(let request):
      return begin(request, for: id, on: session, isOld: isOld, at: now)
    case .connect:
      guard let info = core.session(session) else { return false }
      complete(id, .success(.connected(info.peerAddress)), at: now)
      return true
    case .subscribe:
      guard let request = subscriptionRequest(id) else { return true }
      return begin(.subscribe(request), for: id, on: session, isOld: isOld, at: now)
    case .remove(_, nil):
      let path = AttributePath(OperationalCredentials.currentFabricIndex.path(on: .root))
      return begin(.read(ReadRequest(attributePaths: [path])), for: id, on: session, isOld: isOld, at: now)
    case .remove(_, let index?):
      let fields = OperationalCredentials.RemoveFabricRequest(fabricIndex: index)
      let command = CommandData(OperationalCredentials.removeFabric.path(on: .root), fields: fields.tlv)
      return begin(.invoke([command], timed: nil), for: id, on: session, isOld: isOld, at: now)
    case .openWindow(_, let command):
      return begin(.invoke([command], timed: .seconds(10)), for: id, on: session, isOld: isOld, at: now)
    case .commission:
      connectedOperationally(id, node, session, at: now)
      return true
    case .changeGroup(let change):
      let epochKey = change.step == .replaceKeys ? random.bytes(16) : groupEpochKeys[change.keySet] ?? []
      guard let request = change.request(epochKey: epochKey) else {
        fail(id, .invalidRequest("group change: too long for one message"), at: now)
        return true
      }
      var change = change
      change.hasSent = change.step != .probe
      operations[id]?.task = .changeGroup(change)
      return begin(request, for: id, on: session, isOld: isOld, at: now)
    case .discover: return true
    }
  }

  // MARK: Answers

  /// Handles the outcome of an operation's exchange.
  mutating func resolve(
    _ transaction: Transaction, _ result: Result<Reply, ControllerError>, at now: Instant
  ) {
    let id = transaction.operation
    guard let operation = operations[id] else { return }
    if case .commission = operation.task { return resolveCommissioning(id, result, at: now) }
    switch result {
    case .failure(.status(let status)) where status.isTransient && transaction.results.isEmpty:
      retryBusy(id, status, at: now)
    case .success(.invoked(let results)) where results.transientRefusal != nil:
      retryBusy(id, results.transientRefusal ?? Status(.busy), at: now)
    case .failure(let error):
      fail(id, error, at: now)
    case .success(let reply):
      if let node = operation.node { noteAddress(of: node, on: transaction.exchange.session) }
      resolve(id, operation, reply, on: transaction.exchange.session, at: now)
    }
  }

  private mutating func resolve(
    _ id: OperationID, _ operation: Operation, _ reply: Reply, on session: SessionID, at now: Instant
  ) {
    switch (operation.task, reply) {
    case (.request, .report(let report)):
      if let node = operation.node { cache(report.attributes, of: node) }
      complete(id, .success(.report(report)), at: now)
    case (.request, .written(let statuses)):
      complete(id, .success(.written(statuses)), at: now)
    case (.request, .invoked(let results)):
      complete(id, .success(.invoked(results)), at: now)
    case (.subscribe, .subscribed(let response)):
      subscribed(id, response, on: session, at: now)
    case (.remove(let isForced, nil), .report(let report)):
      let path = OperationalCredentials.currentFabricIndex.path(on: .root)
      guard let value = report[path]?.value, let index = try? FabricIndex(tlv: value), index != .none else {
        return fail(id, .unexpectedResponse("no current fabric index"), at: now)
      }
      operations[id]?.task = .remove(isForced: isForced, index: index)
      run(id, at: now)
    case (.remove, .invoked(let results)):
      do throws(ControllerError) {
        let response = try results.response(as: OperationalCredentials.NOCResponse.self)
        guard response.statusCode == .ok else {
          throw ControllerError.operationalCredentials(response.statusCode, response.debugText ?? "")
        }
        finishRemoval(id, .confirmed, at: now)
      } catch {
        fail(id, error, at: now)
      }
    case (.openWindow(let window, _), .invoked(let results)):
      do {
        try results.checkStatus()
        complete(id, .success(.windowOpened(window)), at: now)
      } catch {
        fail(id, error, at: now)
      }
    case (.changeGroup(let change), _):
      resolveGroupChange(id, change, reply, at: now)
    default:
      fail(id, .unexpectedResponse("an answer to another kind of request"), at: now)
    }
  }

  /// Handles a failure: completes the operation, or retries if its task allows it.
  mutating func fail(_ id: OperationID, _ error: ControllerError, at now: Instant) {
    switch operations[id]?.task {
    case .subscribe: failSubscription(id, error, at: now)
    case .commission: failCommissioning(id, error, at: now)
    case .remove(isForced: true, _): finishRemoval(id, error.isForgotten ? .notMember : .unconfirmed, at: now)
    case .remove(_, .some) where error == .connectionLost:
      // A node that removes the fabric may close the session before its answer arrives.
      finishRemoval(id, .confirmed, at: now)
    case nil: break
    default: complete(id, .failure(error), at: now)
    }
  }

  private mutating func finishRemoval(_ id: OperationID, _ removal: Removal, at now: Instant) {
    guard let node = operations[id]?.node else { return }
    complete(
      id, .success(.removed(node, removal)), at: now,
      before: { $0.forget(node, fabricRemoved: removal != .unconfirmed, at: now) })
  }

  private mutating func retryBusy(_ id: OperationID, _ status: Status, at now: Instant) {
    guard waitForBusy(id, at: now) else {
      return fail(id, status.code == .busy ? .busy : .status(status), at: now)
    }
  }

  /// Schedules a retry after a busy answer, with exponential back-off.
  /// - Returns: false if the retries are used up.
  mutating func waitForBusy(_ id: OperationID, at now: Instant) -> Bool {
    guard let count = operations[id]?.busyRetries, count < configuration.maximumBusyRetries else { return false }
    let retryAt = now + .milliseconds(500 << Int64(count))
    operations[id]?.busyRetries = count + 1
    operations[id]?.retryAt = retryAt
    schedule(retryAt)
    return true
  }

  // MARK: Completion

  /// Removes an operation with its exchanges and emits its result.
  mutating func complete(
    _ id: OperationID, _ result: Result<OperationOutcome, ControllerError>, at now: Instant,
    before: (inout Self) -> Void = { _ in }
  ) {
    guard let operation = operations.removeValue(forKey: id) else { return }
    if let node = operation.node {
      peers[node]?.waiting.removeAll { $0 == id }
      removeFromBacklog(id, of: node)
    }
    dropTransactions(of: id, at: now)
    if let node = operation.node { stopConnectingIfIdle(node, at: now) }
    switch operation.task {
    case .subscribe: removeSubscription(id)
    case .discover(let query): stopBrowsing(query)
    case .commission: commissionings[id] = nil
    default: break
    }
    before(&self)
    emit(.completed(id, result))
    if case .changeGroup(let change) = operation.task {
      if case .failure(let error) = result { failedGroupChange(change, error) }
      runNextGroupChange(change.node, at: now)
    }
  }

  mutating func dropTransactions(of id: OperationID, at now: Instant) {
    if let node = operations[id]?.node { removeFromBacklog(id, of: node) }
    guard transactions.values.contains(where: { $0.operation == id }) else { return }
    for exchange in transactions.keys.sorted() where transactions[exchange]?.operation == id {
      transactions[exchange] = nil
      core.close(exchange, at: now)
    }
  }

  /// Returns the last refusal by a node without a root certificate of the fabric; nil if there is none. Further
  /// addresses of the node are tried until the timeout even after a refusal.
  private func refusal(of operation: Operation) -> ControllerError? {
    guard commissionings[operation.id] == nil, let node = operation.node,
      let error = peers[node]?.connecting?.lastError
    else { return nil }
    let refusal = ControllerError.handshake(error)
    return refusal.isForgotten ? refusal : nil
  }

  mutating func advanceOperation(_ id: OperationID, at now: Instant) {
    guard let operation = operations[id] else { return }
    if let deadline = operation.deadline, deadline <= now {
      if case .discover = operation.task { return complete(id, .success(.discovered), at: now) }
      dropTransactions(of: id, at: now)
      return fail(id, refusal(of: operation) ?? .timedOut, at: now)
    }
    if let retryAt = operation.retryAt, retryAt <= now {
      operations[id]?.retryAt = nil
      if commissionings[id] != nil { repeatStep(id, at: now) } else { run(id, at: now) }
    }
  }
}

extension Status {
  /// Whether a retry may soon succeed: the node did not carry out any part of the request.
  var isTransient: Bool { code == .busy || code == .resourceExhausted }
}

extension [CommandResult] {
  /// The status of a single command that was refused as busy.
  fileprivate var transientRefusal: Status? {
    guard count == 1, case .status(let status)? = first, status.status.code == .busy else { return nil }
    return status.status
  }
}
