import MatterCrypto
public import MatterModel

/// A handshake in progress.
struct Handshake: Sendable {
  enum Kind: Sendable {
    case paseInitiator(PASEInitiator), paseResponder(PASEResponder)
    case caseInitiator(CASEInitiator), caseResponder(CASEResponder)
  }

  var kind: Kind
  /// Set if this node initiated the handshake.
  let id: HandshakeID?
  /// The local session id, which the handshake offers to the peer.
  let sessionNumber: UInt16
  /// The deadline of the whole handshake.
  let deadline: Instant

  /// The parameters that the peer declared; defaults until it has.
  var peerParameters: SessionParameters {
    switch kind {
    case .paseInitiator(let state): state.peer
    case .paseResponder(let state): state.peer
    case .caseInitiator(let state): state.peer
    case .caseResponder(let state): state.peer
    }
  }

  /// The fabric of a CASE handshake; nil while it is not determined yet.
  var fabric: FabricIndex? {
    switch kind {
    case .paseInitiator, .paseResponder: nil
    case .caseInitiator(let state): state.fabricIndex
    case .caseResponder(let state): state.fabricIndex
    }
  }

  /// Whether the fabric of a finished CASE handshake still exists; it may have been removed during the handshake.
  func mayEstablish(_ keys: EstablishedKeys, in fabrics: [FabricIndex: Fabric]) -> Bool {
    switch kind {
    case .paseInitiator, .paseResponder: true
    case .caseInitiator, .caseResponder: fabrics[keys.fabric] != nil
    }
  }

  /// The timeout of a whole handshake. Matter Core § 4.14.1.1 specifies 60 s for PASE.
  static let timeLimit: Duration = .seconds(60)
  /// The age at which the slot of an inbound handshake may be evicted. See ``HandshakeSlots``.
  static let slotTimeout: Duration = .seconds(5)
  /// The peer's processing time between two messages.
  static let timeout: Duration = .seconds(10)
}

extension NodeCore {
  // MARK: Starting

  /// Starts a PASE handshake. Emits `sessionEstablished` or `handshakeFailed` when it ends.
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

  /// Starts a CASE handshake. Emits `sessionEstablished` or `handshakeFailed` when it ends.
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

  /// Whether the next CASE handshake with the peer can resume an earlier session.
  public func canResume(fabric: FabricIndex, peer: NodeID) -> Bool {
    resumption.contains { $0.fabric == fabric && $0.peer == peer }
  }

  /// Removes the resumption record of a peer, so that the next CASE handshake uses certificates.
  public mutating func forgetResumption(fabric: FabricIndex, peer: NodeID) {
    resumption.removeAll { $0.fabric == fabric && $0.peer == peer }
  }

  /// Whether the peer of an outbound handshake has sent any message yet, including a standalone acknowledgement.
  public func hasReceivedResponse(_ id: HandshakeID) -> Bool {
    for (exchange, handshake) in handshakes where handshake.id == id {
      return unsecured[exchange.session]?.lastHeard != nil
    }
    return false
  }

  /// Cancels an outbound handshake without notifying the peer and without emitting an output.
  public mutating func cancel(_ id: HandshakeID, at now: Instant) {
    for exchange in handshakes.keys.sorted() where handshakes[exchange]?.id == id {
      handshakes[exchange] = nil
      exchanges.remove(exchange)
      unsecured.remove(exchange.session)
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
      unsecured.remove(session)
      emit(.handshakeFailed(id, .noResources))
      return id
    }
    let deadline = now + Handshake.timeLimit
    handshakes[exchange] = Handshake(kind: kind, id: id, sessionNumber: number, deadline: deadline)
    unsecured.setHandshake(true, on: session)
    schedule(deadline)
    perform(action, on: exchange, at: now)
    return id
  }

  // MARK: Receiving

  mutating func receiveHandshake(
    _ opcode: UInt8, _ payload: [UInt8], on id: ExchangeID, from address: SocketAddress, at now: Instant
  ) {
    if handshakes[id] == nil {
      guard admitHandshake(opcode, payload, on: id, from: address, at: now) else { return }
    } else if handshakes[id]?.id == nil {
      admission.passcode.confirm(id)
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
    unsecured.setParameters(handshake.peerParameters, of: id.session)
    // A malformed status report is not answered, so it counts as dropped.
    if case .fail(.invalidMessage) = action { drops.count(.malformedMessage) }
    perform(action, on: id, at: now)
  }

  /// The kind of handshake that a valid first message requests.
  private enum HandshakeRequest {
    case passcode(PASEParameters)
    /// With the first 8 bytes of the initiator random.
    case certificates(UInt64)
    case resumption(UInt64)
  }

  /// Sets up a handshake for a first message, or refuses it.
  private mutating func admitHandshake(
    _ opcode: UInt8, _ payload: [UInt8], on id: ExchangeID, from address: SocketAddress, at now: Instant
  ) -> Bool {
    guard let request = classify(opcode, payload, on: id, at: now) else { return false }
    guard let number = reserveSessionNumber(), acquireSlot(request, id, from: address, at: now) else {
      let wait = [UInt8](littleEndian: UInt16(500))
      refuse(StatusReport(.busy, .busy, data: wait), on: id, at: now)
      drops.count(.handshakesExhausted)
      return false
    }
    let kind: Handshake.Kind
    switch request {
    case .passcode(let pase):
      kind = .paseResponder(PASEResponder(parameters: pase, sessionID: number, own: configuration.parameters))
    case .certificates(let random), .resumption(let random):
      admission.answered.insert(random, at: now)
      kind = .caseResponder(CASEResponder(sessionID: number, own: configuration.parameters))
    }
    let deadline = now + Handshake.timeLimit
    handshakes[id] = Handshake(kind: kind, id: nil, sessionNumber: number, deadline: deadline)
    unsecured.setHandshake(true, on: id.session)
    schedule(deadline)
    return true
  }

  /// Validates a first message and refuses it if it can't lead to a session, before it can evict another handshake.
  private mutating func classify(
    _ opcode: UInt8, _ payload: [UInt8], on id: ExchangeID, at now: Instant
  ) -> HandshakeRequest? {
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
    case .malformed: refuse(.invalidParameter, on: id, at: now)
    case .unknownFabric: refuse(.noSharedTrustRoots, on: id, at: now)
    case .member(let random), .peer(let random):
      if admission.answered[random] == nil {
        if case .peer = claim { return .resumption(random) }
        return .certificates(random)
      }
      drops.count(.duplicate)
      exchanges.remove(id)
    }
    return nil
  }

  /// Acquires a slot. Each kind of handshake has its own slots; a resumption also uses those for certificates if its
  /// own are taken.
  private mutating func acquireSlot(
    _ request: HandshakeRequest, _ id: ExchangeID, from address: SocketAddress, at now: Instant
  ) -> Bool {
    var result: HandshakeSlots.Admission
    switch request {
    case .passcode:
      result = admission.passcode.acquire(
        id, from: address, capacity: configuration.maximumInboundPASEHandshakes, at: now)
    case .certificates:
      result = admission.certificates.acquire(
        id, from: address, capacity: configuration.maximumInboundHandshakes, at: now)
    case .resumption:
      result = admission.resumption.acquire(
        id, from: address, capacity: configuration.maximumInboundResumptions, at: now)
      if result == .full {
        result = admission.certificates.acquire(
          id, from: address, capacity: configuration.maximumInboundHandshakes, at: now)
      }
    }
    guard case .admitted(let evicted) = result else { return false }
    if let evicted { abandonHandshake(evicted, at: now) }
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
    unsecured.setHandshake(false, on: id.session)
    if handshake.id == nil { admission.release(id) }
    return handshake
  }

  mutating func failHandshake(_ id: ExchangeID, _ error: HandshakeError) {
    guard let handshake = removeHandshake(id) else { return }
    if case .paseResponder(let state) = handshake.kind, state.isAwaitingProof, pase != nil { emit(.paseAttemptFailed) }
    if let handshakeID = handshake.id { emit(.handshakeFailed(handshakeID, error)) }
  }

  /// Ends the handshakes in progress on a fabric. The peers are not notified; their handshakes time out.
  mutating func abandonHandshakes(of fabric: FabricIndex) {
    for id in handshakes.keys.sorted() where handshakes[id]?.fabric == fabric {
      exchanges.remove(id)
      failHandshake(id, .untrusted("the fabric was changed or removed"))
    }
  }

  /// Ends a handshake that timed out, was evicted, or is obsolete.
  mutating func abandonHandshake(_ id: ExchangeID, at now: Instant) {
    exchanges.remove(id)
    failHandshake(id, .timedOut)
  }
}
