internal import MatterModel

extension NodeCore {
  /// Handles a received datagram. Datagrams that can't be processed are counted in ``drops`` and discarded.
  public mutating func receive(_ datagram: consuming [UInt8], from address: SocketAddress, at now: Instant) {
    guard datagram.count <= Self.largestDatagram else { return drop(.oversized, nil, address, datagram.count) }
    var bytes = datagram
    var header: MessageHeader
    let end: Int
    do {
      (header, end) = try MessageHeader.decode(bytes)
    } catch {
      return drop(DropReason(error), nil, address, bytes.count)
    }
    do throws(DropReason) {
      if header.sessionKind == .group {
        try receiveGroup(&bytes, &header, end, from: address)
      } else if header.isUnsecured {
        try receiveUnsecured(bytes, header, end, from: address, at: now)
      } else {
        try receiveSecured(&bytes, header, end, from: address, at: now)
      }
    } catch {
      drop(error, header, address, bytes.count)
    }
  }

  private mutating func receiveGroup(
    _ bytes: inout [UInt8], _ header: inout MessageHeader, _ end: Int, from address: SocketAddress
  ) throws(DropReason) {
    let (message, payload) = try groups.open(&bytes, &header, from: end)
    let session = SessionID(local: header.sessionID)
    tracer?(PacketTrace(receiving: header, payload, on: session, from: address, size: bytes.count))
    emit(.groupMessage(message))
  }

  private mutating func receiveSecured(
    _ bytes: inout [UInt8], _ header: MessageHeader, _ end: Int, from address: SocketAddress, at now: Instant
  ) throws(DropReason) {
    let position = try secured.open(&bytes, header, from: end)
    guard let (payload, offset) = try? PayloadHeader.decode(bytes, at: end) else { throw .malformedPayloadHeader }
    let id = SessionID(local: header.sessionID)
    guard exchanges.hasCapacity(for: payload, on: id, among: secured) else { throw .exchangesExhausted }
    let isNew = secured.accept(header.counter, at: position, from: address, at: now)
    let isExpiring = secured.row[position].info.isExpiring
    process(bytes, header, payload, offset, on: id, isNew: isNew, isExpiring: isExpiring, from: address, at: now)
  }

  private mutating func receiveUnsecured(
    _ bytes: [UInt8], _ header: MessageHeader, _ end: Int, from address: SocketAddress, at now: Instant
  ) throws(DropReason) {
    guard let (payload, offset) = try? PayloadHeader.decode(bytes, at: end) else { throw .malformedPayloadHeader }
    guard payload.protocolID == .secureChannel else { throw .unsecuredMessage }
    if payload.opcode == SecureChannelOpcode.checkIn, payload.isFromInitiator {
      return try receiveCheckIn(bytes, header, payload, from: offset, address, at: now)
    }
    let id: SessionID
    if let known = unsecured.context(of: header) {
      id = known
    } else {
      guard let source = header.source else { throw .unknownSession }
      // Only the first message of a handshake creates a context.
      guard payload.isFromInitiator, !payload.isStandaloneAck else { throw .unknownExchange }
      guard handshakes.allowsStart(from: address, at: now) else { throw .tooManyStarts }
      id = addUnsecured(ephemeralID: source, isInitiator: false, peer: address, parameters: .init(), at: now)
    }
    guard exchanges.hasCapacity(for: payload, on: id, among: secured) else { throw .exchangesExhausted }
    let isNew = unsecured.accept(header.counter, on: id, at: now)
    process(bytes, header, payload, offset, on: id, isNew: isNew, isExpiring: false, from: address, at: now)
  }

  /// Processes a message after decryption: duplicates, acknowledgments, exchanges. Matter Core § 4.7.2 and § 4.12.5.
  private mutating func process(
    _ bytes: [UInt8], _ header: MessageHeader, _ payload: PayloadHeader, _ offset: Int, on session: SessionID,
    isNew: Bool, isExpiring: Bool, from address: SocketAddress, at now: Instant
  ) {
    let id = ExchangeID(session: session, number: payload.exchange, isInitiator: !payload.isFromInitiator)
    let reason: DropReason? = isNew ? nil : .duplicate
    tracer?(PacketTrace(receiving: header, payload, on: session, from: address, size: bytes.count, reason: reason))
    guard isNew else {
      // The acknowledgment was lost: repeat it, even if the exchange no longer exists.
      if payload.needsAck { sendAck(of: header.counter, on: id, at: now) }
      drops.count(.duplicate)
      return
    }
    switch exchanges.receive(payload, counter: header.counter, on: id, isExpiring: isExpiring, at: now) {
    case .message(let isFirst, let displacedAck):
      if let displacedAck {
        sendAck(of: displacedAck, on: id, at: now)
        // A session that has exhausted its counters is removed with its exchanges.
        guard exchanges[id] != nil else { return }
      }
      if payload.protocolID == .secureChannel, !isReport(ofLayerAbove: payload, bytes, offset, on: session) {
        receiveSecureChannel(payload.opcode, Array(bytes[offset...]), on: id, from: address, at: now)
      } else {
        emit(
          .message(
            InboundMessage(
              exchange: id, opcode: payload.opcode, protocolID: payload.protocolID, bytes: bytes,
              payload: offset..<bytes.count, isFirst: isFirst)))
      }
    case .acknowledgment(let isFinished):
      if isFinished { closeIfExpired(session) }
    case .unknownExchange(let isFinished):
      if isFinished { closeIfExpired(session) }
      if payload.needsAck, !payload.isStandaloneAck { sendAck(of: header.counter, on: id, at: now) }
      drops.count(.unknownExchange)
    }
  }

  /// Returns whether a message is the status report of a protocol of the layer above, such as one that ends a transfer.
  private func isReport(
    ofLayerAbove payload: PayloadHeader, _ bytes: [UInt8], _ offset: Int, on session: SessionID
  ) -> Bool {
    !session.isUnsecured && payload.opcode == SecureChannelOpcode.statusReport
      && StatusReport(decoding: bytes, at: offset)?.protocolID == .bulkData
  }

  private mutating func receiveSecureChannel(
    _ opcode: UInt8, _ payload: [UInt8], on id: ExchangeID, from address: SocketAddress, at now: Instant
  ) {
    if id.session.isUnsecured {
      receiveHandshake(opcode, payload, on: id, from: address, at: now)
    } else if opcode == SecureChannelOpcode.statusReport, let report = StatusReport(decoding: payload),
      report.code == .closeSession
    {
      removeSession(id.session, .byPeer)
    } else {
      drops.count(.unexpectedOpcode)
      close(id, at: now)
    }
  }

  private mutating func drop(_ reason: DropReason, _ header: MessageHeader?, _ address: SocketAddress, _ size: Int) {
    drops.count(reason)
    tracer?(PacketTrace(dropping: reason, header, from: address, size: size))
  }
}
