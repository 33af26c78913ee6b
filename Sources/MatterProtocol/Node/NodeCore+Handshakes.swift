import MatterCrypto
public import MatterModel

extension NodeCore {
  // MARK: Starting

  /// Starts a PASE handshake. Emits `sessionEstablished` or `handshakeFailed` when it ends.
  public mutating func establishPASE(
    passcode: UInt32, to address: SocketAddress, parameters: SessionParameters, at now: Instant
  ) -> HandshakeID {
    begin(.passcode(passcode), to: address, parameters: parameters, at: now)
  }

  /// Starts a CASE handshake. Emits `sessionEstablished` or `handshakeFailed` when it ends.
  public mutating func establishCASE(
    fabric: FabricIndex, peer: NodeID, to address: SocketAddress, parameters: SessionParameters, at now: Instant
  ) -> HandshakeID {
    let credentials = fabricsByIndex[fabric].map {
      Handshake.Credentials.certificates($0, peer: peer, resumption.record(fabric: fabric, peer: peer))
    }
    return begin(credentials, to: address, parameters: parameters, at: now)
  }

  /// Whether the next CASE handshake with the peer can resume an earlier session.
  public func canResume(fabric: FabricIndex, peer: NodeID) -> Bool {
    resumption.record(fabric: fabric, peer: peer) != nil
  }

  /// Removes the resumption record of a peer, so that the next CASE handshake uses certificates.
  public mutating func forgetResumption(fabric: FabricIndex, peer: NodeID) {
    resumption.remove(fabric: fabric, peer: peer)
  }

  /// Whether the peer of an outbound handshake has sent any message yet, including a standalone acknowledgment.
  public func hasReceivedResponse(_ id: HandshakeID) -> Bool {
    handshakes.exchange(of: id).flatMap { unsecured[$0.session]?.lastHeard } != nil
  }

  /// Cancels an outbound handshake without notifying the peer and without emitting an output.
  public mutating func cancel(_ id: HandshakeID, at now: Instant) {
    guard let exchange = handshakes.exchange(of: id) else { return }
    _ = handshakes.remove(exchange)
    exchanges.remove(exchange)
    unsecured.remove(exchange.session)
  }

  /// - Parameter credentials: nil if the fabric is unknown.
  private mutating func begin(
    _ credentials: Handshake.Credentials?, to address: SocketAddress, parameters: SessionParameters, at now: Instant
  ) -> HandshakeID {
    let id = handshakes.takeID()
    let ephemeral = NodeID(random.next() & 0x0FFF_FFFF_FFFF_FFFF | 1)
    let session = addUnsecured(
      ephemeralID: ephemeral, isInitiator: true, peer: address, parameters: parameters, at: now)
    guard let number = secured.reserveNumber(except: handshakes.sessionNumbers), let credentials,
      let exchange = openExchange(on: session, at: now)
    else {
      unsecured.remove(session)
      emit(.handshakeFailed(id, .noResources))
      return id
    }
    let action = handshakes.start(
      credentials, id: id, sessionNumber: number, peer: parameters, on: exchange, at: now, random: &random)
    unsecured.setHandshake(true, on: session)
    perform(action, on: exchange, at: now)
    return id
  }

  // MARK: Receiving

  mutating func receiveHandshake(
    _ opcode: UInt8, _ payload: [UInt8], on id: ExchangeID, from address: SocketAddress, at now: Instant
  ) {
    if handshakes.contains(id) {
      handshakes.confirm(id)
    } else {
      guard admitHandshake(opcode, payload, on: id, from: address, at: now) else { return }
    }
    let environment = Handshake.Environment(
      fabrics: fabrics, resumption: acceptedResumption, signatures: signatures, trustedEpoch: trustedEpoch, now: now)
    guard let action = handshakes.receive(opcode, payload, on: id, environment, random: &random) else { return }
    if let handshake = handshakes[id] { unsecured.setParameters(handshake.peerParameters, of: id.session) }
    // A malformed status report is not answered, so it counts as dropped.
    if case .fail(.invalidMessage) = action { drops.count(.malformedMessage) }
    perform(action, on: id, at: now)
  }

  /// The records of sessions that peers can resume.
  private var acceptedResumption: ResumptionRecords {
    hooks.acceptsResumption ? resumption : ResumptionRecords(capacity: 0)
  }

  /// Sets up a handshake for a first message, or refuses it.
  private mutating func admitHandshake(
    _ opcode: UInt8, _ payload: [UInt8], on id: ExchangeID, from address: SocketAddress, at now: Instant
  ) -> Bool {
    switch handshakes.classify(opcode, payload, fabrics: fabrics, resumption: acceptedResumption) {
    case .refused(let report, let reason):
      if let reason { drops.count(reason) }
      send(report, on: id, at: now)
    case .replay:
      drops.count(.duplicate)
      exchanges.remove(id)
    case .request where hooks.busyWait != nil: send(.busy(wait: hooks.busyWait ?? .zero), on: id, at: now)
    case .request(let request):
      if let number = secured.reserveNumber(except: handshakes.sessionNumbers),
        case .admitted(let evicted) = handshakes.admit(
          request, sessionNumber: number, on: id, from: address, at: now)
      {
        if let evicted { abandonHandshake(evicted) }
        unsecured.setHandshake(true, on: id.session)
        return true
      }
      drops.count(.handshakesExhausted)
      send(.busy(wait: .milliseconds(500)), on: id, at: now)
    }
    return false
  }

  private mutating func perform(_ action: HandshakeAction, on id: ExchangeID, at now: Instant) {
    switch action {
    case .send(let opcode, let payload):
      send(
        opcode, protocolID: .secureChannel, payload: payload, on: id,
        then: .expectResponse(within: Handshake.timeout), at: now)
    case .establish(let keys):
      send(.established, on: id, at: now)
      finish(id, keys, at: now)
    case .established(let keys):
      close(id, at: now)
      finish(id, keys, at: now)
    case .refuse(let report, let error):
      send(report, on: id, at: now)
      failHandshake(id, error)
    case .fail(let error):
      close(id, at: now)
      failHandshake(id, error)
    }
  }

  // MARK: Ending

  private mutating func finish(_ id: ExchangeID, _ keys: EstablishedKeys, at now: Instant) {
    guard let handshake = removeHandshake(id), let context = unsecured[id.session] else { return }
    guard handshake.mayEstablish(keys, in: fabrics),
      let session = try? addSession(keys, of: handshake, peer: context.peerAddress, at: now)
    else {
      if let handshakeID = handshake.id { emit(.handshakeFailed(handshakeID, .noResources)) }
      return
    }
    emit(.sessionEstablished(session, handshake.id))
  }

  private mutating func removeHandshake(_ id: ExchangeID) -> Handshake? {
    guard let handshake = handshakes.remove(id) else { return nil }
    unsecured.setHandshake(false, on: id.session)
    return handshake
  }

  mutating func failHandshake(_ id: ExchangeID, _ error: HandshakeError) {
    guard let handshake = removeHandshake(id) else { return }
    if handshake.isAwaitingPasscodeProof, handshakes.pase != nil { emit(.paseAttemptFailed) }
    if let handshakeID = handshake.id { emit(.handshakeFailed(handshakeID, error)) }
  }

  /// Ends the handshakes in progress on a fabric. The peers are not notified; their handshakes time out.
  mutating func abandonHandshakes(of fabric: FabricIndex) {
    for id in handshakes.exchanges(of: fabric) {
      abandonHandshake(id, .untrusted("the fabric was changed or removed"))
    }
  }

  /// Ends a handshake that timed out, was evicted, or is obsolete, without notifying the peer.
  mutating func abandonHandshake(_ id: ExchangeID, _ error: HandshakeError = .timedOut) {
    exchanges.remove(id)
    failHandshake(id, error)
  }
}
