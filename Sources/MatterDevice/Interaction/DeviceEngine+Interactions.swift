internal import MatterModel
internal import MatterProtocol

/// The state of an exchange of more than one message.
enum Interaction: Sendable {
  /// A timed write or invoke was announced, and must follow before the deadline.
  case timed(until: Instant)
  case reporting(ReportJob)
  case writing(WriteJob)
  /// The response messages that have not been sent.
  case invoking(ArraySlice<[UInt8]>)
  /// The device sent a command to another node and waits for the response.
  case controlling(BoundCommand)
  /// The device receives a file.
  case downloading(BulkDownload)
  /// The device sends a file.
  case uploading(BulkSender)
}

extension DeviceEngine {
  /// The timeout for a response of the peer.
  private static let timeout = Duration.seconds(30)
  /// The maximum timeout of a timed interaction, in milliseconds.
  private static let longestTimeout: UInt16 = 60_000

  mutating func receive(_ message: InboundMessage) {
    let exchange = message.exchange
    let state = interactions.isEmpty ? nil : interactions.removeValue(forKey: exchange)
    guard let session = core.session(exchange.session) else { return drop(exchange) }
    if message.protocolID == .bulkData || message.protocolID == .secureChannel {
      return receiveBulkData(message, state, Subject(session))
    }
    guard message.protocolID == .interactionModel else { return drop(exchange) }
    if case .controlling(let command)? = state {
      answered(command, message.opcode, Array(message.bytes[message.payload]))
      return core.close(exchange, at: now)
    }
    // A session of a removed fabric may receive the rest of a response, but send no requests, even on an old exchange.
    if session.isExpiring {
      guard message.opcode == InteractionOpcode.statusResponse.rawValue, case .invoking? = state else {
        return drop(exchange)
      }
    }
    let subject = Subject(session)
    context.node.session = session
    defer { context.node.session = nil }
    do throws(StatusError) {
      if context.node.hooks.isBusy, message.opcode != InteractionOpcode.statusResponse.rawValue {
        throw StatusError(.busy)
      }
      try receive(message, state, subject)
    } catch {
      refuse(error.status.code, on: exchange)
      // After the status response, because this closes the exchange.
      if case .reporting(let job) = state, let id = job.subscription { end(id) }
    }
  }

  private mutating func receive(
    _ message: InboundMessage, _ state: Interaction?, _ subject: Subject
  ) throws(StatusError) {
    let exchange = message.exchange
    let opcode = InteractionOpcode(message.opcode)
    let bytes = message.bytes[message.payload]
    switch (opcode, state) {
    case (.invokeRequest, nil), (.invokeRequest, .timed): try invoke(message, state, subject)
    case (.readRequest, nil):
      let request: ReadRequest = try decode(bytes)
      try read(request, subject, on: exchange)
    case (.subscribeRequest, nil):
      let request: SubscribeRequest = try decode(bytes)
      try subscribe(request, subject, on: exchange)
    case (.writeRequest, nil), (.writeRequest, .timed), (.writeRequest, .writing):
      try write(try decode(bytes), state, subject, message)
    case (.timedRequest, nil):
      let request: TimedRequest = try decode(bytes)
      let timeout = Duration.milliseconds(Int64(min(request.timeoutMilliseconds, Self.longestTimeout)))
      interactions[exchange] = .timed(until: now + timeout)
      let response = StatusResponse(.success)
      core.send(StatusResponse.opcode.rawValue, on: exchange, then: .expectResponse(within: timeout), at: now) {
        response.encode(to: &$0)
      }
    case (.statusResponse, .reporting(let job)):
      let response: StatusResponse = try decode(bytes)
      try confirm(job, response, on: exchange)
    case (.statusResponse, .invoking(let rest)):
      let response: StatusResponse = try decode(bytes)
      guard response.status == .success else { return core.close(exchange, at: now) }
      guard let next = rest.first else { return core.close(exchange, at: now) }
      send(next, then: rest.dropFirst(), on: exchange)
    // An unexpected status is not answered, lest two nodes answer each other endlessly.
    case (.statusResponse, _): drop(exchange)
    default: throw StatusError(.invalidAction)
    }
  }

  private func decode<Message: InteractionMessage>(_ bytes: ArraySlice<UInt8>) throws(StatusError) -> Message {
    do { return try Message(decoding: bytes) } catch { throw StatusError(.invalidAction) }
  }

  /// Ends an exchange without an answer to its last message.
  private mutating func drop(_ exchange: ExchangeID) {
    core.countDrop(.unexpectedMessage)
    core.close(exchange, at: now)
  }

  /// Ends an exchange with a status.
  mutating func refuse(_ code: StatusCode, on exchange: ExchangeID) {
    let response = StatusResponse(code)
    core.send(StatusResponse.opcode.rawValue, on: exchange, then: .close, at: now) { response.encode(to: &$0) }
  }

  /// Throws unless the request matches the preceding TimedRequest, if any. Matter Core § 8.7.3, § 8.8.3.
  private func checkTimed(_ isTimed: Bool, _ state: Interaction?) throws(StatusError) {
    guard case .timed(let deadline) = state else {
      guard !isTimed else { throw StatusError(.timedRequestMismatch) }
      return
    }
    guard now <= deadline else { throw StatusError(.timeout) }
    guard isTimed else { throw StatusError(.timedRequestMismatch) }
  }

  // MARK: Read

  private mutating func read(_ request: ReadRequest, _ subject: Subject, on exchange: ExchangeID) throws(StatusError) {
    context.subject = subject
    defer { context.subject = .device }
    var job = ReportJob(subject: subject, isFabricFiltered: request.isFabricFiltered)
    job.items = try context.select(request.attributePaths, filters: request.dataVersionFilters)
    (job.events, job.eventStatuses) = context.select(request.eventPaths, from: Self.minimum(request.eventFilters))
    proceed(job, on: exchange)
  }

  /// Sends the next message of a report.
  mutating func proceed(_ job: ReportJob, on exchange: ExchangeID) {
    var job = job
    let (message, more) = job.next(&context)
    let isAnswered = more || job.subscription != nil
    if isAnswered { interactions[exchange] = .reporting(job) }
    let isSent = core.send(
      ReportData.opcode.rawValue, payload: message, on: exchange,
      then: isAnswered ? .expectResponse(within: Self.timeout) : .close, at: now)
    if !isSent {
      interactions[exchange] = nil
      if let id = job.subscription { end(id) }
    }
  }

  /// Handles the peer's status response to a report message.
  private mutating func confirm(
    _ job: ReportJob, _ response: StatusResponse, on exchange: ExchangeID
  ) throws(StatusError) {
    guard response.status == .success else {
      if let id = job.subscription { end(id) }
      return core.close(exchange, at: now)
    }
    guard job.isDone else { return proceed(job, on: exchange) }
    guard let id = job.subscription else { return core.close(exchange, at: now) }
    if job.primes { return activate(id, on: exchange) }
    core.close(exchange, at: now)
    guard let index = subscriptions.firstIndex(where: { $0.id == id }) else { return }
    subscriptions[index].exchange = nil
    // A resumed subscription becomes active when its subscriber confirms a report.
    subscriptions[index].isActive = true
    store(index)
  }

  // MARK: Write

  private mutating func write(
    _ request: WriteRequest, _ state: Interaction?, _ subject: Subject, _ message: InboundMessage
  ) throws(StatusError) {
    var job: WriteJob
    if case .writing(let begun) = state {
      guard !request.isTimed else { throw StatusError(.invalidAction) }
      job = begun
    } else {
      try checkTimed(request.isTimed, state)
      job = WriteJob(isTimed: request.isTimed)
    }
    guard !request.moreChunkedMessages || !(request.isTimed || request.suppressResponse) else {
      throw StatusError(.invalidAction)
    }
    context.subject = subject
    defer { context.subject = .device }
    guard request.suppressResponse || WriteJob.isAnswerable(request.writes, context) else {
      throw StatusError(.resourceExhausted)
    }
    let response = WriteResponse(job.run(request.writes, &context))
    context.subject = .device
    // Set before the changes are committed: lists with further messages are not stored yet.
    if request.moreChunkedMessages { interactions[message.exchange] = .writing(job) }
    applyRequests(current: message.exchange.session)
    if request.suppressResponse { return core.close(message.exchange, at: now) }
    core.send(
      WriteResponse.opcode.rawValue, on: message.exchange,
      then: request.moreChunkedMessages ? .expectResponse(within: Self.timeout) : .close, at: now
    ) { response.encode(to: &$0) }
  }

  // MARK: Invoke

  private mutating func invoke(
    _ message: InboundMessage, _ state: Interaction?, _ subject: Subject
  ) throws(StatusError) {
    let bytes = message.bytes.span.bytes.extracting(message.payload)
    let request: InvokeRequestReader
    do { request = try InvokeRequestReader(bytes) } catch { throw StatusError(.invalidAction) }
    try checkTimed(request.isTimed, state)
    context.subject = subject
    defer { context.subject = .device }
    var job = try InvokeJob(
      request, bytes, isGroup: false, limit: Int(configuration.parameters.maximumPathsPerInvoke))
    job.run(bytes, &context)
    applyRequests(current: message.exchange.session)
    // A plain success is not sent if the client suppressed the response.
    guard let response = job.message, job.requiresResponse || !request.suppressResponse else {
      return core.close(message.exchange, at: now)
    }
    send(response, then: job.furtherMessages[...], on: message.exchange)
  }

  private mutating func send(_ message: [UInt8], then rest: ArraySlice<[UInt8]>, on exchange: ExchangeID) {
    if !rest.isEmpty { interactions[exchange] = .invoking(rest) }
    core.send(
      InvokeResponse.opcode.rawValue, payload: message, on: exchange,
      then: rest.isEmpty ? .close : .expectResponse(within: Self.timeout), at: now)
  }
}

extension Subject {
  init(_ session: SessionInfo) {
    self.init(
      session.kind == .pase ? .pase : .case, fabric: session.fabric, node: session.peerNodeID, tags: session.tags,
      session: session.id)
  }
}
