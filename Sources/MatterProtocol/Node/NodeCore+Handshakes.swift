import MatterCrypto
public import MatterModel

/// A handshake under way, on its exchange.
struct Handshake: Sendable {
  enum Kind: Sendable {
    case paseInitiator(PASEInitiator), paseResponder(PASEResponder)
    case caseInitiator(CASEInitiator), caseResponder(CASEResponder)
  }

  var kind: Kind
  /// Set if it is ours.
  let id: HandshakeID?
  /// The session id that we offer.
  let sessionNumber: UInt16
  /// When to give up, whatever the peer does.
  let deadline: Instant

  /// What the peer said of its timing, or is taken for granted as long as it said nothing.
  var peerParameters: SessionParameters {
    switch kind {
    case .paseInitiator(let state): state.peer
    case .paseResponder(let state): state.peer
    case .caseInitiator(let state): state.peer
    case .caseResponder(let state): state.peer
    }
  }

  /// The fabric that a CASE goes on in, as far as that is settled.
  var fabric: FabricIndex? {
    switch kind {
    case .paseInitiator, .paseResponder: nil
    case .caseInitiator(let state): state.fabricIndex
    case .caseResponder(let state): state.fabricIndex
    }
  }

  /// The fabric of a finished CASE must still be there: it may have been removed while the handshake went on.
  func mayEstablish(_ keys: EstablishedKeys, in fabrics: [FabricIndex: Fabric]) -> Bool {
    switch kind {
    case .paseInitiator, .paseResponder: true
    case .caseInitiator, .caseResponder: fabrics[keys.fabric] != nil
    }
  }

  /// A whole handshake must be over in this time. Matter Core § 4.14.1.1 has 60 s for PASE.
  static let timeLimit: Duration = .seconds(60)
  /// How long a peer that went on with its handshake keeps its place while others want it.
  static let grace: Duration = .seconds(5)
  /// The peer's time to think between two messages.
  static let timeout: Duration = .seconds(10)
}

extension NodeCore {
  // MARK: Beginning

  /// Begins a session by passcode. Ends with `sessionEstablished` or `handshakeFailed`.
  public mutating func establishPASE(
    passcode: UInt32, to address: SocketAddress, parameters: SessionParameters, at now: Instant
  ) -> HandshakeID {
    begin(to: address, parameters: parameters, at: now) { core, number in
      var handshake = PASEInitiator(
        passcode: passcode, sessionID: number, own: core.configuration.parameters, peer: parameters)
      let action = handshake.start(&core.random)
      return (.paseInitiator(handshake), action)
    }
  }

  /// Begins an operational session. Ends with `sessionEstablished` or `handshakeFailed`.
  public mutating func establishCASE(
    fabric: FabricIndex, peer: NodeID, to address: SocketAddress, parameters: SessionParameters, at now: Instant
  ) -> HandshakeID {
    begin(to: address, parameters: parameters, at: now) { core, number in
      guard let membership = core.fabricsByIndex[fabric] else { return nil }
      var handshake = CASEInitiator(
        fabric: membership, target: peer, sessionID: number, own: core.configuration.parameters, peer: parameters,
        resumption: core.resumption.last { $0.fabric == fabric && $0.peer == peer })
      let action = handshake.start(&core.random)
      return (.caseInitiator(handshake), action)
    }
  }

  /// Whether the next session with a peer can be one that resumes an earlier one.
  public func canResume(fabric: FabricIndex, peer: NodeID) -> Bool {
    resumption.contains { $0.fabric == fabric && $0.peer == peer }
  }

  /// Forgets what is known for resuming a session with a peer: the next one begins with certificates.
  public mutating func forgetResumption(fabric: FabricIndex, peer: NodeID) {
    resumption.removeAll { $0.fabric == fabric && $0.peer == peer }
  }

  /// Whether the peer of a handshake of ours has sent anything yet, be it an acknowledgement alone.
  public func isHeard(_ id: HandshakeID) -> Bool {
    for (exchange, handshake) in handshakes where handshake.id == id {
      return unsecured[exchange.session]?.lastHeard != nil
    }
    return false
  }

  /// Gives up a handshake of ours without a word; nothing more is said of it.
  public mutating func cancel(_ id: HandshakeID, at now: Instant) {
    for exchange in handshakes.keys.sorted() where handshakes[exchange]?.id == id {
      handshakes[exchange] = nil
      exchanges[exchange] = nil
      removeUnsecured(exchange.session)
    }
  }

  private mutating func begin(
    to address: SocketAddress, parameters: SessionParameters, at now: Instant,
    _ make: (inout NodeCore, UInt16) -> (Handshake.Kind, HandshakeAction)?
  ) -> HandshakeID {
    nextHandshakeNumber &+= 1
    let id = HandshakeID(rawValue: nextHandshakeNumber)
    let ephemeral = NodeID(random.next() & 0x0FFF_FFFF_FFFF_FFFF | 1)
    let session = addUnsecured(
      ephemeralID: ephemeral, isInitiator: true, peer: address, parameters: parameters, at: now)
    guard let number = reserveSessionNumber(), let (kind, action) = make(&self, number),
      let exchange = openExchange(on: session, at: now)
    else {
      removeUnsecured(session)
      emit(.handshakeFailed(id, .noResources))
      return id
    }
    let deadline = now + Handshake.timeLimit
    handshakes[exchange] = Handshake(kind: kind, id: id, sessionNumber: number, deadline: deadline)
    unsecured[session]?.hasHandshake = true
    schedule(deadline)
    perform(action, on: exchange, at: now)
    return id
  }

  // MARK: Going on

  mutating func receiveHandshake(
    _ opcode: UInt8, _ payload: [UInt8], on id: ExchangeID, from address: SocketAddress, at now: Instant
  ) {
    if handshakes[id] == nil {
      guard admitHandshake(opcode, payload, on: id, from: address, at: now) else { return }
    } else if handshakes[id]?.id == nil {
      rooms.passcode.goOn(id)
    }
    guard var handshake = handshakes[id] else { return }
    let action: HandshakeAction
    switch handshake.kind {
    case .paseInitiator(var state):
      action = state.receive(opcode, payload, &random)
      handshake.kind = .paseInitiator(state)
    case .paseResponder(var state):
      action = state.receive(opcode, payload, &random)
      handshake.kind = .paseResponder(state)
    case .caseInitiator(var state):
      action = state.receive(opcode, payload, &random, signatures, at: certificateTime(at: now))
      handshake.kind = .caseInitiator(state)
    case .caseResponder(var state):
      let records = resumption
      action = state.receive(
        opcode, payload, fabrics: fabrics, resumption: { id in records.last { $0.resumptionID == id } }, &random,
        signatures, at: certificateTime(at: now))
      handshake.kind = .caseResponder(state)
    }
    handshakes[id] = handshake
    unsecured[id.session]?.parameters = handshake.peerParameters
    // There is nothing to answer to a status report that can't be read, so it is a message dropped.
    if case .fail(.invalidMessage) = action { drops.count(.malformedMessage) }
    perform(action, on: id, at: now)
  }

  /// What a peer asks for with the first message of a handshake that makes sense.
  private enum Wish {
    case passcode(PASEParameters)
    /// With the beginning of the message's random number.
    case certificates(UInt64)
    case resumption(UInt64)
  }

  /// Decides whether a peer may begin a handshake now, and sets it up.
  private mutating func admitHandshake(
    _ opcode: UInt8, _ payload: [UInt8], on id: ExchangeID, from address: SocketAddress, at now: Instant
  ) -> Bool {
    guard let wish = wish(opcode, payload, on: id, at: now) else { return false }
    guard let number = reserveSessionNumber(), enterRoom(wish, id, from: address, at: now) else {
      let wait = [UInt8](littleEndian: UInt16(500))
      refuse(StatusReport(.busy, .busy, data: wait), on: id, at: now)
      drops.count(.handshakesExhausted)
      return false
    }
    let kind: Handshake.Kind
    switch wish {
    case .passcode(let pase):
      kind = .paseResponder(PASEResponder(parameters: pase, sessionID: number, own: configuration.parameters))
    case .certificates(let random), .resumption(let random):
      rooms.answered.note(random, at: now)
      kind = .caseResponder(CASEResponder(sessionID: number, own: configuration.parameters))
    }
    let deadline = now + Handshake.timeLimit
    handshakes[id] = Handshake(kind: kind, id: nil, sessionNumber: number, deadline: deadline)
    unsecured[id.session]?.hasHandshake = true
    schedule(deadline)
    return true
  }

  /// Looks at a first message before it can take anybody's place: one that comes to nothing is refused here.
  private mutating func wish(_ opcode: UInt8, _ payload: [UInt8], on id: ExchangeID, at now: Instant) -> Wish? {
    if opcode == SecureChannelOpcode.pbkdfParamRequest {
      guard let pase else {
        drops.count(.notCommissionable)
        refuse(.invalidParameter, on: id, at: now)
        return nil
      }
      if PASEResponder.canAnswer(payload) { return .passcode(pase) }
      refuse(.invalidParameter, on: id, at: now)
      return nil
    }
    let records = resumption
    let claim = CASEResponder.claim(payload, fabrics: fabrics) { id in records.last { $0.resumptionID == id } }
    switch claim {
    case .nothing: refuse(.invalidParameter, on: id, at: now)
    case .stranger: refuse(.noSharedTrustRoots, on: id, at: now)
    case .member(let random), .peer(let random):
      if rooms.answered[random] == nil {
        if case .peer = claim { return .resumption(random) }
        return .certificates(random)
      }
      drops.count(.duplicate)
      exchanges[id] = nil
    }
    return nil
  }

  /// Handshakes of one kind keep nobody from one of another. Who resumes a session has places that nobody else can take, and
  /// those of all others if they are gone.
  private mutating func enterRoom(_ wish: Wish, _ id: ExchangeID, from address: SocketAddress, at now: Instant) -> Bool
  {
    var entry: HandshakeSlots.Entry
    switch wish {
    case .passcode:
      entry = rooms.passcode.enter(id, from: address, room: configuration.maximumInboundPASEHandshakes, at: now)
    case .certificates:
      entry = rooms.certificates.enter(id, from: address, room: configuration.maximumInboundHandshakes, at: now)
    case .resumption:
      entry = rooms.resumption.enter(id, from: address, room: configuration.maximumInboundResumptions, at: now)
      if entry == .full {
        entry = rooms.certificates.enter(id, from: address, room: configuration.maximumInboundHandshakes, at: now)
      }
    }
    guard case .admitted(let loser) = entry else { return false }
    if let loser { abandonHandshake(loser, at: now) }
    return true
  }

  private mutating func refuse(_ report: StatusReport, on id: ExchangeID, at now: Instant) {
    send(
      SecureChannelOpcode.statusReport, protocolID: .secureChannel, payload: report.encoded, on: id, then: .close,
      at: now)
  }

  private mutating func perform(_ action: HandshakeAction, on id: ExchangeID, at now: Instant) {
    switch action {
    case .send(let opcode, let payload):
      send(
        opcode, protocolID: .secureChannel, payload: payload, on: id,
        then: .expectResponse(within: Handshake.timeout), at: now)
    case .establish(let keys):
      guard handshakes[id]?.mayEstablish(keys, in: fabricsByIndex) == true else {
        return perform(.refuse(.noSharedTrustRoots, .untrusted("the fabric was removed")), on: id, at: now)
      }
      refuse(.established, on: id, at: now)
      finish(id, keys, at: now)
    case .established(let keys):
      close(id, at: now)
      finish(id, keys, at: now)
    case .refuse(let report, let error):
      refuse(report, on: id, at: now)
      failHandshake(id, error)
    case .fail(let error):
      close(id, at: now)
      failHandshake(id, error)
    }
  }

  // MARK: Ending

  private mutating func finish(_ id: ExchangeID, _ keys: EstablishedKeys, at now: Instant) {
    guard let handshake = removeHandshake(id), let context = unsecured[id.session] else { return }
    let kind: SessionKind
    switch handshake.kind {
    case .paseInitiator, .paseResponder: kind = .pase
    case .caseInitiator, .caseResponder: kind = .case
    }
    guard handshake.mayEstablish(keys, in: fabricsByIndex),
      let session = try? addSession(
        keys, number: handshake.sessionNumber, kind: kind, isInitiator: handshake.id != nil,
        peer: context.peerAddress, at: now)
    else {
      if let handshakeID = handshake.id { emit(.handshakeFailed(handshakeID, .noResources)) }
      return
    }
    emit(.sessionEstablished(session, handshake.id))
  }

  private mutating func removeHandshake(_ id: ExchangeID) -> Handshake? {
    guard let handshake = handshakes.removeValue(forKey: id) else { return nil }
    unsecured[id.session]?.hasHandshake = false
    if handshake.id == nil { rooms.leave(id) }
    return handshake
  }

  mutating func failHandshake(_ id: ExchangeID, _ error: HandshakeError) {
    guard let handshake = removeHandshake(id) else { return }
    if case .paseResponder(let state) = handshake.kind, state.isAwaitingProof, pase != nil { emit(.paseAttemptFailed) }
    if let handshakeID = handshake.id { emit(.handshakeFailed(handshakeID, error)) }
  }

  /// Ends the handshakes that go on in a fabric. Their peers are not told, they time out.
  mutating func abandonHandshakes(of fabric: FabricIndex) {
    for id in handshakes.keys.sorted() where handshakes[id]?.fabric == fabric {
      exchanges[id] = nil
      failHandshake(id, .untrusted("the fabric was changed or removed"))
    }
  }

  /// Ends a handshake that takes too long, or has become pointless.
  mutating func abandonHandshake(_ id: ExchangeID, at now: Instant) {
    exchanges[id] = nil
    failHandshake(id, .timedOut)
  }
}
