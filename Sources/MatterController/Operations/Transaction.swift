internal import MatterModel
internal import MatterProtocol

/// A request to a node over one exchange.
enum NodeRequest: Sendable {
  case read(ReadRequest)
  /// The messages are sent one after the other.
  case write(WriteRequestChunks, timed: Duration?)
  case invoke([CommandData], timed: Duration?)
  indirect case subscribe(SubscribeRequest)

  var timed: Duration? {
    switch self {
    case .read, .subscribe: nil
    case .write(_, let timed), .invoke(_, let timed): timed
    }
  }

  /// Whether repeating the request is safe.
  var isIdempotent: Bool {
    switch self {
    case .read, .subscribe: true
    case .write: false
    case .invoke(let commands, _): commands.allSatisfy(\.isIdempotent)
    }
  }
}

enum Reply: Sendable {
  case report(ReassembledReport)
  case written([AttributeStatus])
  case invoked([CommandResult])
  case subscribed(SubscribeResponse)
}

/// An exchange that the controller initiated, message by message, with the answer so far. Matter Core § 8.
struct Transaction: Sendable {
  enum Phase: Sendable {
    /// Waits for the answer to the timed request.
    case timed
    case main
    /// The first reports of the subscription have been received.
    case primed
  }

  /// A message to send.
  enum Message: Sendable {
    case timed(TimedRequest)
    case read(ReadRequest)
    indirect case subscribe(SubscribeRequest)
    /// The encoded message.
    case write([UInt8])
    case invoke(InvokeRequest)
  }

  /// What follows a received message.
  enum Step: Sendable {
    /// Send ``nextMessage(maximumCommands:)``.
    case send
    /// Send the remaining commands; see ``continued(on:)``.
    case sendOnNewExchange
    /// Acknowledge the message; the answer continues.
    case acknowledge
    /// Acknowledge the message; the first reports of the subscription are complete.
    case primed(ReassembledReport)
    case finish(Reply, acknowledges: Bool = false)
  }

  let operation: OperationID
  let request: NodeRequest
  let exchange: ExchangeID
  /// Whether the session was established before the operation needed one.
  let isOnOldSession: Bool
  private(set) var phase: Phase
  /// The report of a read or subscription, from its first message on.
  private var report: ReassembledReport?
  private var statuses: [AttributeStatus] = []
  /// Number of messages of a write, or of commands of an invoke, that were sent.
  private var sent = 0
  /// Results of the current batch of commands.
  private var batch: [CommandResult] = []
  private var results: [CommandResult] = []

  init(_ operation: OperationID, _ request: NodeRequest, on exchange: ExchangeID, isOld: Bool) {
    (self.operation, self.request, self.exchange, isOnOldSession) = (operation, request, exchange, isOld)
    phase = request.timed == nil ? .main : .timed
  }

  // MARK: Sending

  /// Returns the next message, or nil if all were sent.
  /// - Parameter maximumCommands: maximum number of commands that the node supports in one message.
  mutating func nextMessage(maximumCommands: @autoclosure () -> UInt16?) -> Message? {
    if phase == .timed, let timed = request.timed {
      return .timed(TimedRequest(timeoutMilliseconds: UInt16(clamping: timed.milliseconds)))
    }
    switch request {
    case .read(let request): return .read(request)
    case .subscribe(let request): return .subscribe(request)
    case .write(let chunks, _):
      guard sent < chunks.messages.count else { return nil }
      sent += 1
      return .write(chunks.messages[sent - 1])
    case .invoke(let commands, let timed):
      let batch = commands.count == 1 ? commands : nextBatch(commands, limit: Int(max(1, maximumCommands() ?? 1)))
      sent += batch.count
      return .invoke(InvokeRequest(batch, isTimed: timed != nil))
    }
  }

  /// Returns as many of the remaining commands as the node supports and one message holds.
  private func nextBatch(_ commands: [CommandData], limit: Int) -> [CommandData] {
    var batch: [CommandData] = []
    var size = 64
    for command in commands.dropFirst(sent).prefix(limit) {
      size += 32 + (command.fields?.count ?? 0)
      guard batch.isEmpty || size <= InteractionLimits.maximumPayload else { break }
      batch.append(command)
    }
    guard batch.count > 1 else { return batch }
    for index in batch.indices { batch[index].ref = UInt16(index) }
    return batch
  }

  /// Returns the transaction that sends the remaining commands.
  func continued(on exchange: ExchangeID) -> Transaction {
    var next = Transaction(operation, request, on: exchange, isOld: false)
    (next.sent, next.results) = (sent, results)
    return next
  }

  // MARK: Receiving

  /// Handles a message of the node.
  /// - Parameter granted: called with the subscription id in a first report.
  /// - Throws: the status of the node, or an error if the message is malformed or unexpected.
  mutating func handle(_ message: InboundMessage, granted: (UInt32) -> Void) throws(InteractionError) -> Step {
    let (opcode, payload) = (InteractionOpcode(message.opcode), message.bytes[message.payload])
    guard message.protocolID == .interactionModel else { throw .unexpected(opcode) }
    switch (request, phase, opcode) {
    case (_, _, .statusResponse):
      try StatusResponse(decoding: payload).check()
      guard phase == .timed else { throw .unexpected(opcode) }
      phase = .main
      return .send
    case (.read, .main, .reportData):
      let data = try ReportData(decoding: payload)
      guard let report = try assemble(data) else { return .acknowledge }
      return .finish(.report(report), acknowledges: !data.suppressResponse)
    case (.subscribe, .main, .reportData):
      let data = try ReportData(decoding: payload)
      guard let subscription = data.subscriptionID else { throw .malformed(.missingMember(0)) }
      granted(subscription)
      guard let report = try assemble(data) else { return .acknowledge }
      phase = .primed
      return .primed(report)
    case (.subscribe, .primed, .subscribeResponse):
      return .finish(.subscribed(try SubscribeResponse(decoding: payload)))
    case (.write, .main, .writeResponse):
      statuses += try WriteResponse(decoding: payload).statuses
      return isWriteFinished ? .finish(.written(statuses)) : .send
    case (.invoke(let commands, _), .main, .invokeResponse):
      return handle(try InvokeResponse(decoding: payload), to: commands)
    default: throw .unexpected(opcode)
    }
  }

  /// Adds a message to the report.
  /// - Returns: the report if it is complete.
  private mutating func assemble(_ data: ReportData) throws(InteractionError) -> ReassembledReport? {
    var assembled = report.take() ?? ReassembledReport()
    try assembled.append(data)
    guard !assembled.isComplete else { return assembled }
    report = assembled
    return nil
  }

  private var isWriteFinished: Bool {
    guard case .write(let chunks, _) = request, sent < chunks.messages.count else { return true }
    // After a refused first part, the remaining parts would be appended to the old list.
    guard let path = chunks.continued[sent] else { return false }
    return statuses.contains { $0.path == path && $0.status.code != .success }
  }

  private mutating func handle(_ response: InvokeResponse, to commands: [CommandData]) -> Step {
    if commands.count == 1 && !response.moreChunkedMessages && batch.isEmpty {
      return .finish(.invoked(response.responses))
    }
    batch += response.responses
    guard !response.moreChunkedMessages else { return .acknowledge }
    results += batch.sorted { ($0.ref ?? 0) < ($1.ref ?? 0) }
    batch = []
    return sent < commands.count ? .sendOnNewExchange : .finish(.invoked(results))
  }

  // MARK: Repeating

  /// Returns the status of a node that is busy and did not carry out any part of the request; nil for another result.
  func busyStatus(_ result: Result<Reply, ControllerError>) -> Status? {
    switch result {
    case .failure(.status(let status)): return status.isTransient && results.isEmpty ? status : nil
    case .success(.invoked(let results)):
      guard results.count == 1, case .status(let refusal)? = results.first, refusal.status.code == .busy else {
        return nil
      }
      return refusal.status
    default: return nil
    }
  }

  /// Whether the request may be sent again after its session died: it is idempotent, or only its timed request was sent.
  /// A missing acknowledgment does not imply that the node did not carry out a command.
  var mayRepeat: Bool { request.isIdempotent || phase == .timed && results.isEmpty }
}
