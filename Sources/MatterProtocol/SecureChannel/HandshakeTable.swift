internal import MatterCrypto
internal import MatterModel

/// The handshakes in progress by exchange, and the admission of inbound ones.
struct HandshakeTable: Sendable {
  /// The kind of handshake that a valid first message requests.
  enum Request: Sendable {
    case passcode(PASEParameters)
    /// With the first 8 bytes of the initiator random.
    case certificates(UInt64)
    case resumption(UInt64)
  }

  /// The assessment of a first message.
  enum Classification: Sendable {
    case request(Request)
    /// The message can't lead to a session. It counts as dropped if there is a reason.
    case refused(StatusReport, DropReason?)
    /// The message was answered before.
    case replay
  }

  private var handshakes: [ExchangeID: Handshake] = [:]
  private(set) var admission = HandshakeAdmission()
  private var starts: StartLimiter
  private var lastID: UInt32 = 0
  /// The parameters of this node as the responder of PASE; nil if it accepts no PASE handshakes.
  private(set) var pase: PASEParameters?
  @Boxed private var configuration: NodeConfiguration
  /// A lower bound of all deadlines; nil if there is none.
  private(set) var earliestDeadline: Instant?

  /// - Parameter key: The secret key for limiting the starts of an address.
  init(_ configuration: NodeConfiguration, key: UInt64) {
    self.configuration = configuration
    starts = StartLimiter(key: key)
  }

  // MARK: Finding

  var count: Int { handshakes.count }
  var isEmpty: Bool { handshakes.isEmpty }

  subscript(exchange: ExchangeID) -> Handshake? { handshakes[exchange] }

  func contains(_ exchange: ExchangeID) -> Bool { handshakes.keys.contains(exchange) }

  /// The exchanges of all handshakes, sorted.
  var exchanges: [ExchangeID] { handshakes.keys.sorted() }

  /// Returns the exchange of an outbound handshake, or nil if it has ended.
  func exchange(of id: HandshakeID) -> ExchangeID? { handshakes.first { $0.value.id == id }?.key }

  /// Returns the exchanges of the CASE handshakes on a fabric, sorted.
  func exchanges(of fabric: FabricIndex) -> [ExchangeID] { exchanges { $0.fabric == fabric } }

  /// The session numbers that the handshakes offer to their peers.
  var sessionNumbers: some Sequence<UInt16> { handshakes.values.lazy.map(\.sessionNumber) }

  private func exchanges(where predicate: (Handshake) -> Bool) -> [ExchangeID] {
    handshakes.compactMap { predicate($0.value) ? $0.key : nil }.sorted()
  }

  // MARK: Starting

  /// Returns the id for the next outbound handshake.
  mutating func takeID() -> HandshakeID {
    lastID &+= 1
    return HandshakeID(rawValue: lastID)
  }

  /// Starts an outbound handshake.
  /// - Parameter peer: The parameters of the peer, as far as known.
  /// - Returns: The action for the first message.
  mutating func start(
    _ credentials: Handshake.Credentials, id: HandshakeID, sessionNumber: UInt16, peer: SessionParameters,
    on exchange: ExchangeID, at now: Instant, random: inout any RandomSource
  ) -> HandshakeAction {
    let action: HandshakeAction
    let kind: Handshake.Kind
    switch credentials {
    case .passcode(let passcode):
      var state = PASEInitiator(
        passcode: passcode, sessionID: sessionNumber, own: configuration.parameters, peer: peer)
      action = state.start(&random)
      kind = .paseInitiator(state)
    case .certificates(let fabric, let target, let record):
      var state = CASEInitiator(
        fabric: fabric, target: target, sessionID: sessionNumber, own: configuration.parameters, peer: peer,
        resumption: record)
      action = state.start(&random)
      kind = .caseInitiator(state)
    }
    add(kind, id: id, sessionNumber: sessionNumber, on: exchange, at: now)
    return action
  }

  /// Adds a handshake, which ends after ``Handshake/timeLimit`` at the latest.
  /// - Parameter id: The id of an outbound handshake.
  private mutating func add(
    _ kind: Handshake.Kind, id: HandshakeID?, sessionNumber: UInt16, on exchange: ExchangeID, at now: Instant
  ) {
    let deadline = now + Handshake.timeLimit
    handshakes[exchange] = Handshake(kind: kind, id: id, sessionNumber: sessionNumber, deadline: deadline)
    earliestDeadline = .earlier(earliestDeadline, deadline)
  }

  // MARK: Admission

  mutating func openPASE(_ parameters: PASEParameters) { pase = parameters }

  /// Stops accepting PASE handshakes.
  /// - Returns: The exchanges of the inbound PASE handshakes in progress, sorted.
  mutating func closePASE() -> [ExchangeID] {
    pase = nil
    return exchanges { if case .paseResponder = $0.kind { true } else { false } }
  }

  /// Counts a start from an address, and returns whether it is within the limit for the current second.
  mutating func allowsStart(from address: SocketAddress, at now: Instant) -> Bool {
    starts.allows(address, limit: configuration.maximumStartsPerSecond, at: now)
  }

  /// Validates a first message. A message that can't lead to a session is refused here, before it can evict another
  /// handshake.
  func classify(
    _ opcode: UInt8, _ payload: [UInt8], fabrics: [Fabric], resumption: ResumptionRecords
  ) -> Classification {
    if opcode == SecureChannelOpcode.pbkdfParamRequest {
      guard let pase else { return .refused(.invalidParameter, .notCommissionable) }
      return PASEResponder.canAnswer(payload) ? .request(.passcode(pase)) : .refused(.invalidParameter, nil)
    }
    switch CASEResponder.claim(payload, fabrics: fabrics, resumption: resumption) {
    case .malformed: return .refused(.invalidParameter, nil)
    case .unknownFabric: return .refused(.noSharedTrustRoots, nil)
    case .member(let random): return admission.answered[random] == nil ? .request(.certificates(random)) : .replay
    case .peer(let random): return admission.answered[random] == nil ? .request(.resumption(random)) : .replay
    }
  }

  /// Adds an inbound handshake if there is a slot for it.
  ///
  /// Each kind of handshake has its own slots; a resumption also uses those for certificates if its own are taken.
  mutating func admit(
    _ request: Request, sessionNumber: UInt16, on exchange: ExchangeID, from address: SocketAddress, at now: Instant
  ) -> HandshakeSlots.Admission {
    var result: HandshakeSlots.Admission
    let kind: Handshake.Kind
    switch request {
    case .passcode(let pase):
      result = admission.passcode.acquire(
        exchange, from: address, capacity: configuration.maximumInboundPASEHandshakes, at: now)
      kind = .paseResponder(
        PASEResponder(parameters: pase, sessionID: sessionNumber, own: configuration.parameters))
    case .certificates(let random), .resumption(let random):
      result = .full
      if case .resumption = request {
        result = admission.resumption.acquire(
          exchange, from: address, capacity: configuration.maximumInboundResumptions, at: now)
      }
      if result == .full {
        result = admission.certificates.acquire(
          exchange, from: address, capacity: configuration.maximumInboundHandshakes, at: now)
      }
      if result != .full { admission.answered.insert(random, at: now) }
      kind = .caseResponder(CASEResponder(sessionID: sessionNumber, own: configuration.parameters))
    }
    if result != .full { add(kind, id: nil, sessionNumber: sessionNumber, on: exchange, at: now) }
    return result
  }

  /// Records that the peer of an inbound handshake has sent a second message.
  mutating func confirm(_ exchange: ExchangeID) { admission.passcode.confirm(exchange) }

  // MARK: Progress

  /// Passes a message to its handshake; returns nil if there is none.
  mutating func receive(
    _ opcode: UInt8, _ payload: [UInt8], on exchange: ExchangeID, _ environment: Handshake.Environment,
    random: inout any RandomSource
  ) -> HandshakeAction? {
    guard var handshake = handshakes[exchange] else { return nil }
    let action = handshake.receive(opcode, payload, environment, random: &random)
    handshakes[exchange] = handshake
    return action
  }

  /// Removes a handshake and releases its slot.
  mutating func remove(_ exchange: ExchangeID) -> Handshake? {
    guard let handshake = handshakes.removeValue(forKey: exchange) else { return nil }
    if handshake.id == nil { admission.release(exchange) }
    return handshake
  }

  /// Returns the exchanges of the handshakes whose deadline has passed, sorted.
  func due(at now: Instant) -> [ExchangeID] { exchanges { $0.deadline <= now } }

  /// Sets ``earliestDeadline`` to the earliest of all deadlines.
  mutating func updateEarliestDeadline() { earliestDeadline = handshakes.values.lazy.map(\.deadline).min() }

  /// Releases memory that is only used during handshakes. An empty dictionary would keep its capacity.
  mutating func releaseMemory(at now: Instant) {
    guard handshakes.isEmpty else { return }
    handshakes = [:]
    starts.releaseMemory(at: now)
  }
}
