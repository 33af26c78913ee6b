import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterController

/// Requests message by message, without a messaging core.
@Suite struct TransactionTests {
  private func transaction(_ request: NodeRequest, isOld: Bool = false) -> Transaction {
    Transaction(OperationID(1), request, on: .number(1), isOld: isOld)
  }

  private func command(_ endpoint: UInt16, bytes: Int? = nil) -> CommandData {
    let fields = bytes.map { TLVElement(.octets([UInt8](repeating: 0, count: $0))).encoded }
    return CommandData(OnOff.toggle.path(on: EndpointID(rawValue: endpoint)), fields: fields)
  }

  private func success(_ command: CommandData) -> CommandResult {
    .status(CommandStatus(command.path, status: .success, ref: command.ref))
  }

  private func receive(_ message: some InteractionMessage, _ transaction: inout Transaction) throws -> Transaction.Step
  {
    try transaction.handle(InboundMessage(message)) { _ in }
  }

  private func sent(_ transaction: inout Transaction, maximum: UInt16? = 2) throws -> InvokeRequest {
    guard case .invoke(let request)? = transaction.nextMessage(maximumCommands: maximum) else {
      throw ControllerError.notFound
    }
    return request
  }

  // MARK: Invoke

  @Test("sends commands in batches and returns their results in order") func batches() throws {
    let commands = (1...5).map { command($0) }
    var transaction = transaction(.invoke(commands, timed: nil))
    for size in [2, 2] {
      let request = try sent(&transaction)
      #expect(request.commands.map(\.ref) == [0, 1] && request.commands.count == size)
      // The node may answer in any order, and in several messages.
      let results = request.commands.map(success)
      guard case .acknowledge = try receive(InvokeResponse([results[1]], moreChunkedMessages: true), &transaction),
        case .sendOnNewExchange = try receive(InvokeResponse([results[0]]), &transaction)
      else { throw ControllerError.notFound }
      transaction = transaction.continued(on: .number(2))
      #expect(transaction.exchange == .number(2))
    }
    let last = try sent(&transaction)
    #expect(last.commands == [commands[4]], "a single command has no reference")
    guard
      case .finish(.invoked(let results), false) = try receive(InvokeResponse(last.commands.map(success)), &transaction)
    else { throw ControllerError.notFound }
    let paths = results.map { if case .status(let status) = $0 { status.path } else { toggleLamp.path } }
    #expect(paths == commands.map(\.path))
  }

  @Test("limits a batch to one message, and to one command unless the node declares more") func batchSize() throws {
    let limit = InteractionLimits.maximumPayload
    for (sizes, maximum, expected) in [
      ([limit / 2, limit / 2], 10, 1), ([limit / 4, limit / 4, limit / 4, limit / 4], 10, 3), ([limit, 1], 10, 1),
      ([1, 1, 1], 2, 2), ([1, 1], nil, 1), ([1, 1], 0, 1),
    ] as [([Int], UInt16?, Int)] {
      var transaction = transaction(.invoke(sizes.map { command(1, bytes: $0) }, timed: nil))
      let request = try sent(&transaction, maximum: maximum)
      #expect(request.commands.count == expected, "\(sizes)")
    }
  }

  @Test func sendsTimedRequestBeforeEachBatch() throws {
    let commands = (1...2).map { command($0) }
    var transaction = transaction(.invoke(commands, timed: .seconds(2)))
    for _ in commands {
      guard case .timed(let timed)? = transaction.nextMessage(maximumCommands: 1) else {
        throw ControllerError.notFound
      }
      #expect(timed.timeoutMilliseconds == 2000 && transaction.phase == .timed)
      guard case .send = try receive(StatusResponse(.success), &transaction) else { throw ControllerError.notFound }
      let request = try sent(&transaction, maximum: 1)
      #expect(request.isTimed)
      _ = try receive(InvokeResponse(request.commands.map(success)), &transaction)
      transaction = transaction.continued(on: .number(2))
    }
  }

  // MARK: Write

  private func write() throws -> (Transaction, AttributePath, parts: Int) {
    let path = ConcreteAttributePath(1, 0x001E, 0)
    let chunks = try WriteRequestChunks(
      [AttributeWrite(path, dataVersion: 7, value: (0..<200).map { UInt64($0) << 40 }.tlv)], isTimed: false)
    return (transaction(.write(chunks, timed: nil)), AttributePath(path), chunks.messages.count)
  }

  @Test func sendsAllPartsOfWrite() throws {
    var (transaction, path, parts) = try write()
    #expect(parts > 1)
    for part in 1...parts {
      guard case .write(let message)? = transaction.nextMessage(maximumCommands: nil) else {
        throw ControllerError.notFound
      }
      // Only the part that replaces the list is conditional on the version.
      for (index, write) in try WriteRequest(decoding: message).writes.enumerated() {
        let isFirst = part == 1 && index == 0
        #expect(write.dataVersion == (isFirst ? 7 : nil) && write.operation == (isFirst ? .replaceAll : .append))
      }
      let step = try receive(WriteResponse([AttributeStatus(path, status: .success)]), &transaction)
      switch step {
      case .send: #expect(part < parts)
      case .finish(.written(let statuses), false): #expect(part == parts && statuses.count == parts)
      default: Issue.record("\(step)")
      }
    }
    guard case nil = transaction.nextMessage(maximumCommands: nil) else { throw ControllerError.notFound }
  }

  @Test("sends no further part after a refused one, which would be appended to another administrator's list")
  func stopsWriteAfterRefusedPart() throws {
    var (transaction, path, _) = try write()
    _ = transaction.nextMessage(maximumCommands: nil)
    let refusal = WriteResponse([AttributeStatus(path, status: Status(.dataVersionMismatch))])
    guard case .finish(.written(let statuses), false) = try receive(refusal, &transaction) else {
      throw ControllerError.notFound
    }
    #expect(statuses.map(\.status.code) == [.dataVersionMismatch])
  }

  // MARK: Reports

  private func report(_ value: UInt64, more: Bool = false, subscription: UInt32? = nil, suppress: Bool = false)
    -> ReportData
  {
    ReportData(
      subscriptionID: subscription,
      attributeReports: [.data(AttributeData(ConcreteAttributePath(1, 6, 0), dataVersion: 1, value: value.tlv))],
      moreChunkedMessages: more, suppressResponse: suppress)
  }

  @Test("acknowledges the last report of a read unless the node suppresses it") func reads() throws {
    for isSuppressed in [true, false] {
      var transaction = transaction(.read(ReadRequest()))
      guard case .acknowledge = try receive(report(1, more: true), &transaction),
        case .finish(.report(let whole), let acknowledges) = try receive(
          report(2, suppress: isSuppressed), &transaction)
      else { throw ControllerError.notFound }
      #expect(acknowledges == !isSuppressed)
      #expect(whole.attributes.map(\.value) == [UInt64(2).tlv])
    }
  }

  @Test("reports the id of each first report, also of an invalid one") func subscribes() throws {
    let request = SubscribeRequest(keepSubscriptions: true, minIntervalFloor: 0, maxIntervalCeiling: 60)
    var transaction = transaction(.subscribe(request))
    var ids: [UInt32] = []
    func receive(_ message: some InteractionMessage) throws(InteractionError) -> Transaction.Step {
      try transaction.handle(InboundMessage(message)) { ids.append($0) }
    }
    #expect(throws: InteractionError.self, "no id") { try receive(report(1)) }
    #expect(throws: InteractionError.self, "not primed") {
      try receive(SubscribeResponse(subscriptionID: 7, maxInterval: 9))
    }
    guard case .acknowledge = try receive(report(1, more: true, subscription: 7)),
      case .primed(let whole) = try receive(report(2, subscription: 7))
    else { throw ControllerError.notFound }
    #expect(ids == [7, 7] && whole.isComplete && transaction.phase == .primed)
    #expect(throws: InteractionError.self, "already primed") { try receive(report(3, subscription: 7)) }
    guard
      case .finish(.subscribed(let response), false) = try receive(
        SubscribeResponse(subscriptionID: 7, maxInterval: 9))
    else { throw ControllerError.notFound }
    #expect(response.maxInterval == 9 && ids == [7, 7])

    var other = self.transaction(.subscribe(request))
    _ = try other.handle(InboundMessage(report(1, more: true, subscription: 7))) { ids.append($0) }
    #expect(throws: InteractionError.self, "another subscription") {
      try other.handle(InboundMessage(report(1, subscription: 8))) { ids.append($0) }
    }
    #expect(ids == [7, 7, 7, 8])
  }

  @Test func rejectsUnexpectedMessages() throws {
    var read = transaction(.read(ReadRequest()))
    #expect(throws: InteractionError.status(Status(.busy))) { try receive(StatusResponse(.busy), &read) }
    #expect(throws: InteractionError.unexpected(.statusResponse)) { try receive(StatusResponse(.success), &read) }
    #expect(throws: InteractionError.unexpected(.invokeResponse)) { try receive(InvokeResponse([]), &read) }
    #expect(throws: InteractionError.unexpected(.reportData)) {
      try read.handle(InboundMessage(report(1), protocolID: .secureChannel)) { _ in }
    }
  }

  // MARK: Repeating

  @Test("repeats a request unless the node may have carried it out") func repeats() throws {
    var timed = transaction(.invoke([toggleLamp], timed: .seconds(1)))
    #expect(transaction(.read(ReadRequest())).mayRepeat)
    #expect(!transaction(.invoke([toggleLamp], timed: nil)).mayRepeat)
    let on = CommandData(OnOff.on.path(on: 1))
    #expect(transaction(.invoke([on], timed: nil)).mayRepeat, "it names the final state")
    #expect(!transaction(.invoke([on, toggleLamp], timed: nil)).mayRepeat)
    #expect(timed.mayRepeat, "only the timed request was sent")
    _ = try receive(StatusResponse(.success), &timed)
    #expect(!timed.mayRepeat)
  }

  @Test("finds the status of a node that is busy and did nothing") func busyStatus() throws {
    var invoke = transaction(.invoke([toggleLamp, toggleLamp], timed: nil))
    func refusal(_ code: StatusCode, count: Int = 1) -> Result<Reply, ControllerError> {
      .success(.invoked(Array(repeating: .status(CommandStatus(toggleLamp.path, status: Status(code))), count: count)))
    }
    for code in [StatusCode.busy, .resourceExhausted] {
      #expect(invoke.busyStatus(.failure(.status(Status(code)))) == Status(code))
    }
    #expect(invoke.busyStatus(refusal(.busy)) == Status(.busy))
    #expect(invoke.busyStatus(refusal(.busy, count: 2)) == nil, "another command may have been carried out")
    #expect(invoke.busyStatus(refusal(.failure)) == nil)
    #expect(
      invoke.busyStatus(.failure(.status(Status(.failure)))) == nil && invoke.busyStatus(.failure(.timedOut)) == nil)
    let request = try sent(&invoke, maximum: 1)
    _ = try receive(InvokeResponse(request.commands.map(success)), &invoke)
    #expect(invoke.busyStatus(.failure(.status(Status(.busy)))) == nil, "the first command was carried out")
  }

  // MARK: Table

  private func table(_ exchanges: [(number: UInt16, session: UInt16, operation: UInt64)]) -> TransactionTable {
    var table = TransactionTable()
    for (number, session, operation) in exchanges {
      table.add(
        Transaction(
          OperationID(operation), .read(ReadRequest()), on: .number(number, on: session), isOld: false))
    }
    return table
  }

  @Test func limitsExchangesPerSession() {
    var table = table((1...5).map { ($0, 1, 1) })
    #expect(!table.hasCapacity(on: .number(1)) && table.hasCapacity(on: .number(2)))
    let removed = table.remove(.number(3))
    #expect(removed?.exchange == .number(3) && table.hasCapacity(on: .number(1)))
    let again = table.remove(.number(3))
    #expect(again == nil)
  }

  @Test func removesExchangesInOrder() {
    var table = table([(9, 1, 1), (2, 2, 1), (3, 1, 2), (1, 1, 1)])
    let ofOperation = table.removeAll(of: OperationID(1))
    #expect(ofOperation == [.number(1), .number(9), .number(2, on: 2)])
    let none = table.removeAll(of: OperationID(1))
    #expect(none.isEmpty && table.transactions.count == 1)
    var other = self.table([(9, 1, 1), (2, 2, 1), (3, 1, 2)])
    let onSession = other.removeAll(on: .number(1))
    #expect(onSession.map(\.exchange) == [.number(3), .number(9)] && other.isUsed(.number(2)))
  }

  @Test("retires a session when its last exchange ends") func retires() {
    var table = table([(1, 1, 1), (2, 2, 1), (3, 3, 1)])
    let isClosed = [4, 1, 2, 3].map { table.retire(.number($0)) }
    #expect(isClosed == [true, false, false, false], "a session without exchanges is closed at once")
    let early = table.takeRetired()
    #expect(early.isEmpty)
    table.keep(.number(3))
    for number in [2, 1, 3] as [UInt16] { _ = table.remove(.number(number, on: number)) }
    let done = table.takeRetired()
    #expect(done == [.number(1), .number(2)], "a session that is kept is not closed")
    #expect(table.retiring.isEmpty)
  }
}
