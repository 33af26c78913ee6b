import MatterCrypto
import MatterModel
public import MatterTLV

extension NodeCore {
  // MARK: Opening and closing

  /// Opens an exchange; returns nil if the session does not exist or is expiring.
  public mutating func openExchange(on session: SessionID, at now: Instant) -> ExchangeID? {
    guard
      session.isUnsecured
        ? unsecured[session] != nil
        : secured.position(of: UInt16(session.rawValue)).map({ !secured.row[$0].isExpiring }) == true
    else { return nil }
    var id: ExchangeID
    repeat {
      nextExchangeNumber &+= 1
      id = ExchangeID(session: session, number: nextExchangeNumber, isInitiator: true)
    } while exchanges[id] != nil
    exchanges[id] = Exchange()
    return id
  }

  /// Closes an exchange. Sends a pending acknowledgement at once and keeps retransmitting an unacknowledged message.
  public mutating func close(_ id: ExchangeID, at now: Instant) {
    guard var exchange = exchanges[id] else { return }
    if let owed = exchange.owedAck {
      sendAck(of: owed.counter, on: id, at: now)
      // A session that has exhausted its counters is removed with its exchanges.
      guard exchanges[id] != nil else { return }
    }
    exchange.owedAck = nil
    exchange.isClosing = true
    exchange.responseDeadline = nil
    put(exchange, id)
  }

  /// Stores the state of an exchange, or removes the exchange if it is finished.
  ///
  /// Entries are read and written as a whole, because changing one in place through a dictionary allocates several
  /// times.
  mutating func put(_ exchange: Exchange, _ id: ExchangeID) {
    guard exchange.isFinished else {
      exchanges[id] = exchange
      return
    }
    exchanges[id] = nil
    if !id.session.isUnsecured, let position = secured.position(of: UInt16(id.session.rawValue)),
      secured.row[position].isExpiring,
      !exchanges.keys.contains(where: { $0.session == id.session })
    {
      removeSession(id.session, .fabricRemoved)
    }
  }

  // MARK: Sending

  /// Sends a message with the payload written by `body`. It is encoded and encrypted once; a retransmission sends the
  /// same bytes.
  /// - Returns: false if the exchange is closed, or its session does not exist.
  @discardableResult
  public mutating func send(
    _ opcode: UInt8, protocolID: ProtocolID = .interactionModel, on id: ExchangeID, isReliable: Bool = true,
    then: AfterSending, at now: Instant, capacity: Int = 128, _ body: (inout TLVWriter) -> Void
  ) -> Bool {
    guard var exchange = exchanges[id], !exchange.isClosing else { return false }
    let owed = exchange.owedAck?.counter
    exchange.owedAck = nil
    let header = PayloadHeader(
      isFromInitiator: id.isInitiator, needsAck: isReliable, opcode: opcode, exchange: id.number,
      protocolID: protocolID, acknowledged: owed)
    guard let sent = transmit(header, on: id.session, at: now, capacity: capacity, body) else { return false }
    if isReliable {
      let deadline =
        now + Retransmission.backoff(sent.interval, attempt: 0, jitter: Retransmission.jitter(&jitterSource))
      exchange.unacknowledged = .init(counter: sent.counter, bytes: sent.bytes, transmissions: 1, deadline: deadline)
    }
    switch then {
    case .close:
      exchange.isClosing = true
      exchange.responseDeadline = nil
    case .expectResponse(let time):
      exchange.responseDeadline = now + time + Retransmission.longest(sent.parameters, isActive: sent.isActive)
    case .keepOpen:
      exchange.responseDeadline = nil
    }
    schedule(exchange.deadline)
    put(exchange, id)
    return true
  }

  /// Sends a message with an encoded payload.
  @discardableResult
  public mutating func send(
    _ opcode: UInt8, protocolID: ProtocolID = .interactionModel, payload: [UInt8], on id: ExchangeID,
    isReliable: Bool = true, then: AfterSending, at now: Instant
  ) -> Bool {
    send(
      opcode, protocolID: protocolID, on: id, isReliable: isReliable, then: then, at: now, capacity: payload.count + 48
    ) { $0.append(raw: payload) }
  }

  struct Transmission {
    var counter: UInt32
    var bytes: [UInt8]
    /// The peer's current retransmission interval.
    var interval: Duration
    var isActive: Bool
    var parameters: SessionParameters
  }

  /// Encodes a message, encrypts it if the session is secured, and sends it once.
  mutating func transmit(
    _ payloadHeader: PayloadHeader, on session: SessionID, at now: Instant, capacity: Int = 64,
    _ body: (inout TLVWriter) -> Void
  ) -> Transmission? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(capacity + 48)
    let result: Transmission
    let address: SocketAddress
    let counter: UInt32
    if session.isUnsecured {
      guard var context = unsecured[session] else { return nil }
      counter = unsecuredCounter
      unsecuredCounter &+= 1
      MessageHeader(
        sessionID: 0, counter: counter, source: context.isInitiator ? context.ephemeralID : nil,
        destination: context.isInitiator ? .none : .node(context.ephemeralID)
      ).encode(to: &bytes)
      payloadHeader.encode(to: &bytes)
      var writer = TLVWriter(appendingTo: bytes)
      bytes = []
      body(&writer)
      bytes = (consume writer).finish()
      context.lastUsed = now
      unsecured[session] = context
      address = context.peerAddress
      let isActive = context.isPeerActive(at: now)
      result = Transmission(
        counter: counter, bytes: bytes,
        interval: isActive ? context.parameters.activeInterval : context.parameters.idleInterval, isActive: isActive,
        parameters: context.parameters)
    } else {
      guard let position = secured.position(of: UInt16(session.rawValue)) else { return nil }
      counter = secured.row[position].counter
      // Counters of a session never wrap (§ 4.6.5.1): a session that has exhausted them is closed.
      guard counter < .max else {
        removeSession(session, .byUs)
        return nil
      }
      secured.row[position].counter += 1
      secured.row[position].info.lastUsed = now
      let header = MessageHeader(sessionID: secured.row[position].peerSessionID, counter: counter)
      header.encode(to: &bytes)
      let clear = bytes.count
      payloadHeader.encode(to: &bytes)
      var writer = TLVWriter(appendingTo: bytes)
      bytes = []
      body(&writer)
      bytes = (consume writer).finish()
      let nonce = Nonce(
        securityFlags: header.securityFlags, messageCounter: counter,
        sourceNodeID: secured.row[position].info.localNodeID.rawValue)
      let cipher = secured.row[position].encryption
      guard (try? cipher.seal(&bytes, from: clear, nonce: nonce, aad: 0..<clear)) != nil else { return nil }
      address = secured.row[position].info.peerAddress
      let isActive = secured.row[position].isPeerActive(at: now)
      let parameters = secured.row[position].info.parameters
      result = Transmission(
        counter: counter, bytes: bytes, interval: isActive ? parameters.activeInterval : parameters.idleInterval,
        isActive: isActive, parameters: parameters)
    }
    emit(.send(result.bytes, to: address))
    if let tracer {
      tracer(
        PacketTrace(
          direction: .sent, session: session, exchange: payloadHeader.exchange, counter: counter,
          acknowledged: payloadHeader.acknowledged, peer: address, protocolID: payloadHeader.protocolID,
          opcode: payloadHeader.opcode, size: result.bytes.count))
    }
    return result
  }

  // MARK: Acknowledging

  /// Sends a standalone acknowledgement.
  mutating func sendAck(of counter: UInt32, on id: ExchangeID, at now: Instant) {
    let header = PayloadHeader(
      isFromInitiator: id.isInitiator, needsAck: false, opcode: SecureChannelOpcode.standaloneAck, exchange: id.number,
      protocolID: .secureChannel, acknowledged: counter)
    _ = transmit(header, on: id.session, at: now, capacity: 0) { _ in }
  }

  // MARK: Time

  /// Retransmits messages, sends standalone acknowledgements and times out exchanges and handshakes that are due.
  public mutating func advance(to now: Instant) {
    guard let earliest = earliestDeadline, earliest <= now else { return }
    earliestDeadline = nil
    let due = exchanges.compactMap { id, exchange in (exchange.deadline.map { $0 <= now } ?? false) ? id : nil }
      .sorted()
    for id in due { advance(id, to: now) }
    for id in handshakes.keys.sorted() where (handshakes[id]?.deadline).map({ $0 <= now }) ?? false {
      abandonHandshake(id, at: now)
    }
    for exchange in exchanges.values { schedule(exchange.deadline) }
    for handshake in handshakes.values { schedule(handshake.deadline) }
  }

  private mutating func advance(_ id: ExchangeID, to now: Instant) {
    guard var exchange = exchanges[id] else { return }
    if let owed = exchange.owedAck, owed.deadline <= now {
      exchange.owedAck = nil
      sendAck(of: owed.counter, on: id, at: now)
    }
    if var message = exchange.unacknowledged, message.deadline <= now {
      guard message.transmissions < configuration.hooks.maximumTransmissions,
        let peer = peer(of: id.session, at: now)
      else {
        return fail(id, .noAcknowledgement)
      }
      emit(.send(message.bytes, to: peer.address))
      tracer?(
        PacketTrace(
          direction: .sentAgain, session: id.session, exchange: id.number, counter: message.counter,
          peer: peer.address, size: message.bytes.count))
      message.deadline =
        now
        + Retransmission.backoff(
          peer.interval, attempt: message.transmissions, jitter: Retransmission.jitter(&jitterSource))
      message.transmissions += 1
      exchange.unacknowledged = message
    }
    if let deadline = exchange.responseDeadline, deadline <= now { return fail(id, .noResponse) }
    put(exchange, id)
  }

  private func peer(of session: SessionID, at now: Instant) -> (address: SocketAddress, interval: Duration)? {
    if session.isUnsecured {
      guard let context = unsecured[session] else { return nil }
      let isActive = context.isPeerActive(at: now)
      return (context.peerAddress, isActive ? context.parameters.activeInterval : context.parameters.idleInterval)
    }
    guard let position = secured.position(of: UInt16(session.rawValue)) else { return nil }
    let isActive = secured.row[position].isPeerActive(at: now)
    let parameters = secured.row[position].info.parameters
    return (secured.row[position].info.peerAddress, isActive ? parameters.activeInterval : parameters.idleInterval)
  }

  private mutating func fail(_ id: ExchangeID, _ failure: ExchangeFailure) {
    guard var exchange = exchanges[id] else { return }
    let wasClosing = exchange.isClosing
    exchange.unacknowledged = nil
    exchange.owedAck = nil
    exchange.isClosing = true
    put(exchange, id)
    if handshakes[id] != nil {
      failHandshake(id, .timedOut)
    } else if !wasClosing {
      emit(.exchangeFailed(id, failure))
    }
  }
}
