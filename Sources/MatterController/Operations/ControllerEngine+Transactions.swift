internal import MatterModel
internal import MatterProtocol
internal import MatterTLV

// Exchanges that the controller initiates, message by message. Matter Core § 8.
extension ControllerEngine {
  private var timeout: AfterSending { .expectResponse(within: configuration.responseTime) }

  /// Opens an exchange for a request, or queues the operation if the session has too many.
  /// - Returns: false if the session cannot be used any longer.
  mutating func begin(
    _ request: NodeRequest, for operation: OperationID, on session: SessionID, isOld: Bool, at now: Instant
  ) -> Bool {
    guard mayOpenExchange(on: session) else {
      enqueue(operation)
      return true
    }
    guard let exchange = core.openExchange(on: session, at: now) else { return false }
    var transaction = Transaction(
      operation: operation, request: request, exchange: exchange, sentAt: now, isOnOldSession: isOld)
    if let timed = request.timed {
      transaction.phase = .timed
      sendTimed(timed, on: exchange, at: now)
    } else {
      sendNext(&transaction, at: now)
    }
    transactions[exchange] = transaction
    return true
  }

  private mutating func sendTimed(_ timed: Duration, on exchange: ExchangeID, at now: Instant) {
    let request = TimedRequest(timeoutMilliseconds: UInt16(clamping: timed.milliseconds))
    core.send(TimedRequest.opcode.rawValue, on: exchange, then: timeout, at: now) { request.encode(to: &$0) }
  }

  /// Sends the request, or its next part.
  private mutating func sendNext(_ transaction: inout Transaction, at now: Instant) {
    let exchange = transaction.exchange
    switch transaction.request {
    case .read(let request):
      transaction.report = ReassembledReport()
      core.send(ReadRequest.opcode.rawValue, on: exchange, then: timeout, at: now) { request.encode(to: &$0) }
    case .subscribe(let request):
      transaction.report = ReassembledReport()
      core.send(SubscribeRequest.opcode.rawValue, on: exchange, then: timeout, at: now, capacity: 1280) {
        request.encode(to: &$0)
      }
    case .write(let chunks, _):
      guard transaction.sent < chunks.messages.count else { return }
      let message = chunks.messages[transaction.sent]
      transaction.sent += 1
      core.send(WriteRequest.opcode.rawValue, payload: message, on: exchange, then: timeout, at: now)
    case .invoke(let commands, let timed):
      let request = InvokeRequest(nextBatch(commands, transaction), isTimed: timed != nil)
      transaction.sent += request.commands.count
      core.send(InvokeRequest.opcode.rawValue, on: exchange, then: timeout, at: now) { request.encode(to: &$0) }
    }
  }

  /// Returns as many of the remaining commands as the peer supports and one message holds.
  private func nextBatch(_ commands: [CommandData], _ transaction: Transaction) -> [CommandData] {
    if commands.count == 1 { return commands }
    let limit = max(1, Int(core.session(transaction.exchange.session)?.parameters.maximumPathsPerInvoke ?? 1))
    var batch: [CommandData] = []
    var size = 64
    for command in commands[transaction.sent...].prefix(limit) {
      size += 32 + (command.fields?.count ?? 0)
      guard batch.isEmpty || size <= InteractionLimits.maximumPayload else { break }
      batch.append(command)
    }
    guard batch.count > 1 else { return batch }
    for index in batch.indices { batch[index].ref = UInt16(index) }
    return batch
  }

  private mutating func acknowledge(_ exchange: ExchangeID, then: AfterSending, at now: Instant) {
    let response = StatusResponse(.success)
    core.send(StatusResponse.opcode.rawValue, on: exchange, then: then, at: now, capacity: 16) {
      response.encode(to: &$0)
    }
  }

  // MARK: Receiving

  mutating func receive(_ message: InboundMessage, at now: Instant) {
    guard var transaction = transactions.removeValue(forKey: message.exchange) else {
      return receiveUnsolicited(message, at: now)
    }
    do throws(InteractionError) {
      guard message.protocolID == .interactionModel else { throw .unexpected(InteractionOpcode(message.opcode)) }
      if let reply = try handleMessage(message, &transaction, at: now) {
        core.close(message.exchange, at: now)
        resolve(transaction, .success(reply), at: now)
      } else {
        transactions[transaction.exchange] = transaction
      }
    } catch {
      core.close(message.exchange, at: now)
      if case .status(let status) = error {
        resolve(transaction, .failure(.status(status)), at: now)
      } else {
        resolve(transaction, .failure(.interaction(error)), at: now)
      }
    }
  }

  /// Handles the next message of an exchange and sends the response that it needs.
  /// - Returns: the complete reply, or nil if more messages follow.
  private mutating func handleMessage(
    _ message: InboundMessage, _ transaction: inout Transaction, at now: Instant
  ) throws(InteractionError) -> Reply? {
    let opcode = InteractionOpcode(message.opcode)
    let payload = message.bytes[message.payload]
    if opcode == .statusResponse {
      try StatusResponse(decoding: payload).check()
      guard transaction.phase == .timed else { throw .unexpected(opcode) }
      transaction.phase = .main
      sendNext(&transaction, at: now)
      return nil
    }
    switch (transaction.request, transaction.phase, opcode) {
    case (.invoke(let commands, let timed), .main, .invokeResponse):
      let response = try InvokeResponse(decoding: payload)
      if commands.count == 1 && !response.moreChunkedMessages && transaction.batch.isEmpty {
        return .invoked(response.responses)
      }
      transaction.batch += response.responses
      guard !response.moreChunkedMessages else {
        acknowledge(message.exchange, then: timeout, at: now)
        return nil
      }
      transaction.results += transaction.batch.sorted { ($0.ref ?? 0) < ($1.ref ?? 0) }
      transaction.batch = []
      guard transaction.sent < commands.count else { return .invoked(transaction.results) }
      return try continueInvoke(&transaction, timed, at: now)
    case (.write(let chunks, _), .main, .writeResponse):
      transaction.statuses += try WriteResponse(decoding: payload).statuses
      guard transaction.sent < chunks.messages.count else { return .written(transaction.statuses) }
      // After a refused first part, the remaining parts would be appended to the old list.
      if let path = chunks.continued[transaction.sent],
        transaction.statuses.contains(where: { $0.path == path && $0.status.code != .success })
      {
        return .written(transaction.statuses)
      }
      sendNext(&transaction, at: now)
      return nil
    case (.read, .main, .reportData), (.subscribe, .main, .reportData):
      return try handleReport(ReportData(decoding: payload), &transaction, at: now)
    case (.subscribe, .primed, .subscribeResponse):
      return .subscribed(try SubscribeResponse(decoding: payload))
    default:
      throw .unexpected(opcode)
    }
  }

  /// Sends the remaining commands on a new exchange.
  private mutating func continueInvoke(
    _ transaction: inout Transaction, _ timed: Duration?, at now: Instant
  ) throws(InteractionError) -> Reply? {
    core.close(transaction.exchange, at: now)
    guard let exchange = core.openExchange(on: transaction.exchange.session, at: now) else {
      throw .status(Status(.failure))
    }
    var next = Transaction(
      operation: transaction.operation, request: transaction.request, exchange: exchange, sentAt: now,
      isOnOldSession: false)
    next.sent = transaction.sent
    next.results = transaction.results
    if let timed {
      next.phase = .timed
      sendTimed(timed, on: exchange, at: now)
    } else {
      sendNext(&next, at: now)
    }
    transaction = next
    return nil
  }

  private mutating func handleReport(
    _ report: ReportData, _ transaction: inout Transaction, at now: Instant
  ) throws(InteractionError) -> Reply? {
    if case .subscribe = transaction.request {
      guard let subscriptionID = report.subscriptionID else { throw .malformed(.missingMember(0)) }
      expectSubscription(transaction.operation, subscriptionID, at: now)
    }
    try transaction.report?.append(report)
    guard let whole = transaction.report, whole.isComplete else {
      acknowledge(transaction.exchange, then: timeout, at: now)
      return nil
    }
    if case .subscribe = transaction.request {
      acknowledge(transaction.exchange, then: timeout, at: now)
      transaction.phase = .primed
      transaction.report = nil
      apply(whole, to: transaction.operation, at: now)
      return nil
    }
    if !report.suppressResponse { acknowledge(transaction.exchange, then: .close, at: now) }
    return .report(whole)
  }

  // MARK: Session loss

  /// Handles a message that was never acknowledged: other exchanges on the session would also get no answer.
  mutating func loseSession(_ session: SessionID, with first: Transaction, at now: Instant) {
    abandon(session, with: [first], at: now)
  }

  /// Closes a dead session and repeats over a new one the requests that may be repeated.
  /// - Parameter transactions: requests on the session that are not in the table.
  mutating func abandon(_ session: SessionID, with transactions: [Transaction], at now: Instant) {
    let lastHeard = core.session(session)?.lastHeard ?? .zero
    var affected = transactions
    for exchange in self.transactions.keys.sorted() where exchange.session == session {
      if let transaction = self.transactions.removeValue(forKey: exchange) { affected.append(transaction) }
    }
    core.close(session, notifyingPeer: false, at: now)
    for transaction in affected {
      guard let operation = operations[transaction.operation] else { continue }
      let isUnanswered = lastHeard <= transaction.sentAt && transaction.phase != .primed && transaction.results.isEmpty
      let isTimedOnly = transaction.phase == .timed
      let mayRepeat = transaction.request.isIdempotent || isUnanswered || isTimedOnly
      if operation.node != nil, !operation.wasRepeated, transaction.isOnOldSession, mayRepeat {
        operations[transaction.operation]?.wasRepeated = true
        run(transaction.operation, at: now)
      } else {
        resolve(transaction, .failure(mayRepeat ? .unreachable : .connectionLost), at: now)
      }
    }
  }
}
