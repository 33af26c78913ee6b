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
        : secured.position(of: session).map({ !secured.row[$0].isExpiring }) == true
    else { return nil }
    return exchanges.open(on: session)
  }

  /// Closes an exchange. Sends a pending acknowledgement at once and keeps retransmitting an unacknowledged message.
  public mutating func close(_ id: ExchangeID, at now: Instant) {
    guard var exchange = exchanges[id] else { return }
    if let owed = exchange.owedAck {
      sendAck(of: owed.counter, on: id, at: now)
      // A session that has exhausted its counters is removed with its exchanges.
      guard exchanges[id] != nil else { return }
    }
    exchange.close()
    put(exchange, id)
  }

  /// Stores the state of an exchange, or removes the exchange if it is finished.
  private mutating func put(_ exchange: Exchange, _ id: ExchangeID) {
    if exchanges.store(exchange, id) { closeIfExpired(id.session) }
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
    exchange.recordSending(sent, isReliable: isReliable, then: then, at: now, jitter: &jitterSource)
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

  /// Encodes a message, encrypts it if the session is secured, and sends it once.
  private mutating func transmit(
    _ header: PayloadHeader, on session: SessionID, at now: Instant, capacity: Int, _ body: (inout TLVWriter) -> Void
  ) -> Transmission? {
    let sent: Transmission
    if session.isUnsecured {
      guard let message = unsecured.encode(header, on: session, at: now, capacity: capacity, body) else { return nil }
      sent = message
    } else {
      do {
        sent = try secured.seal(header, on: session, at: now, capacity: capacity, body)
      } catch {
        if error == .countersExhausted { removeSession(session, .byUs) }
        return nil
      }
    }
    emit(.send(sent.bytes, to: sent.peer.address))
    if let tracer {
      tracer(
        PacketTrace(
          direction: .sent, session: session, exchange: header.exchange, counter: sent.counter,
          acknowledged: header.acknowledged, peer: sent.peer.address, protocolID: header.protocolID,
          opcode: header.opcode, size: sent.bytes.count))
    }
    return sent
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
    guard let nextDeadline, nextDeadline <= now else { return }
    for id in exchanges.due(at: now) { advance(id, to: now) }
    for id in handshakes.keys.sorted() where (handshakes[id]?.deadline).map({ $0 <= now }) ?? false {
      abandonHandshake(id, at: now)
    }
    exchanges.updateEarliestDeadline()
    handshakeDeadline = nil
    for handshake in handshakes.values { schedule(handshake.deadline) }
  }

  private mutating func advance(_ id: ExchangeID, to now: Instant) {
    guard var exchange = exchanges[id] else { return }
    if let owed = exchange.owedAck, owed.deadline <= now {
      exchange.owedAck = nil
      sendAck(of: owed.counter, on: id, at: now)
      guard exchanges[id] != nil else { return }
    }
    if var message = exchange.unacknowledged, message.deadline <= now {
      guard message.transmissions < Retransmission.maximumTransmissions, configuration.defect != .sendsOnce,
        let peer = peer(of: id.session, at: now)
      else {
        return fail(id, .noAcknowledgement)
      }
      emit(.send(message.bytes, to: peer.address))
      tracer?(
        PacketTrace(
          direction: .sentAgain, session: id.session, exchange: id.number, counter: message.counter,
          peer: peer.address, size: message.bytes.count))
      message.recordRetransmission(to: peer, at: now, jitter: &jitterSource)
      exchange.unacknowledged = message
    }
    if let deadline = exchange.responseDeadline, deadline <= now { return fail(id, .noResponse) }
    put(exchange, id)
  }

  private func peer(of session: SessionID, at now: Instant) -> PeerState? {
    session.isUnsecured ? unsecured.peer(of: session, at: now) : secured.peer(of: session, at: now)
  }

  private mutating func fail(_ id: ExchangeID, _ failure: ExchangeFailure) {
    guard let exchange = exchanges[id] else { return }
    exchanges.remove(id)
    closeIfExpired(id.session)
    if handshakes[id] != nil {
      failHandshake(id, .timedOut)
    } else if !exchange.isClosing {
      emit(.exchangeFailed(id, failure))
    }
  }
}
