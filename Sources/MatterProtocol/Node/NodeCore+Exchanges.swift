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
        : secured.position(of: session).map({ !secured.row[$0].info.isExpiring }) == true
    else { return nil }
    return exchanges.open(on: session)
  }

  /// Closes an exchange. Sends a pending acknowledgment at once and keeps retransmitting an unacknowledged message.
  public mutating func close(_ id: ExchangeID, at now: Instant) {
    guard let (owedAck, isFinished) = exchanges.close(id) else { return }
    if let owedAck { sendAck(of: owedAck, on: id, at: now) }
    if isFinished { closeIfExpired(id.session) }
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
    guard let position = exchanges.position(of: id) else { return false }
    var exchange = exchanges[position]
    guard !exchange.isClosing else { return false }
    let header = PayloadHeader(
      isFromInitiator: id.isInitiator, needsAck: isReliable, opcode: opcode, exchange: id.number,
      protocolID: protocolID, acknowledged: exchange.owedAck?.counter)
    guard let sent = transmit(header, on: id.session, at: now, capacity: capacity, body) else { return false }
    exchange.recordSending(sent, isReliable: isReliable, then: then, at: now, jitter: &jitterSource)
    if exchanges.store(exchange, id, at: position) { closeIfExpired(id.session) }
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

  /// Sends a status report, the last message of the exchange.
  mutating func send(_ report: StatusReport, on id: ExchangeID, isReliable: Bool = true, at now: Instant) {
    send(
      SecureChannelOpcode.statusReport, protocolID: .secureChannel, payload: report.encoded, on: id,
      isReliable: isReliable, then: .close, at: now)
  }

  /// Encodes a message, encrypts it if the session is secured, and sends it once.
  @discardableResult
  mutating func transmit(
    _ header: PayloadHeader, on session: SessionID, at now: Instant, capacity: Int, _ body: (inout TLVWriter) -> Void
  ) -> Transmission? {
    let sent: Transmission
    do {
      sent =
        session.isUnsecured
        ? try unsecured.encode(header, on: session, at: now, capacity: capacity, body)
        : try secured.seal(header, on: session, at: now, capacity: capacity, body)
    } catch {
      if error == .countersExhausted { removeSession(session, .byUs) }
      return nil
    }
    emit(.send(sent.bytes, to: sent.peer.address))
    tracer?(PacketTrace(sending: sent, header, on: session))
    return sent
  }

  /// Sends a standalone acknowledgment.
  mutating func sendAck(of counter: UInt32, on id: ExchangeID, at now: Instant) {
    _ = transmit(PayloadHeader(acknowledging: counter, on: id), on: id.session, at: now, capacity: 0) { _ in }
  }

  // MARK: Time

  /// Retransmits messages, sends standalone acknowledgments and times out exchanges and handshakes that are due.
  public mutating func advance(to now: Instant) {
    guard let nextDeadline, nextDeadline <= now else { return }
    for id in exchanges.due(at: now) { advance(id, to: now) }
    for id in handshakes.due(at: now) { abandonHandshake(id) }
    exchanges.updateEarliestDeadline()
    handshakes.updateEarliestDeadline()
    handshakes.releaseMemory(at: now)
    unsecured.removeIdle(at: now, except: exchanges)
  }

  private mutating func advance(_ id: ExchangeID, to now: Instant) {
    guard var exchange = exchanges[id] else { return }
    let peer = peer(of: id.session, at: now)
    let due = exchange.advance(
      to: now, peer: peer, maximumTransmissions: configuration.hooks.maximumTransmissions, jitter: &jitterSource)
    if let counter = due.acknowledgment {
      sendAck(of: counter, on: id, at: now)
      // A session that has exhausted its counters is removed with its exchanges.
      guard exchanges[id] != nil else { return }
    }
    if let message = due.retransmission, let peer {
      emit(.send(message.bytes, to: peer.address))
      tracer?(PacketTrace(resending: message, to: peer, on: id))
    }
    if let failure = due.failure { return fail(id, failure) }
    if exchanges.store(exchange, id) { closeIfExpired(id.session) }
  }

  private func peer(of session: SessionID, at now: Instant) -> PeerState? {
    session.isUnsecured ? unsecured.peer(of: session, at: now) : secured.peer(of: session, at: now)
  }

  private mutating func fail(_ id: ExchangeID, _ failure: ExchangeFailure) {
    guard let exchange = exchanges[id] else { return }
    exchanges.remove(id)
    closeIfExpired(id.session)
    if handshakes.contains(id) {
      failHandshake(id, .timedOut)
    } else if !exchange.isClosing {
      emit(.exchangeFailed(id, failure))
    }
  }
}
