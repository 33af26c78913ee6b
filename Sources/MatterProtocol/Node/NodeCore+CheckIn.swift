internal import MatterCrypto
internal import MatterModel
internal import MatterTLV

extension NodeCore {
  /// Whether any exchange is open, including closing ones that wait for an acknowledgment.
  public var hasExchanges: Bool { !exchanges.isEmpty }

  /// Sends the payload of a ``CheckInMessage``. The message belongs to no session, opens no exchange, and is not
  /// acknowledged.
  public mutating func sendCheckIn(_ payload: [UInt8], to address: SocketAddress, at now: Instant) {
    let ephemeral = NodeID(random.next() & 0x0FFF_FFFF_FFFF_FFFF | 1)
    let session = addUnsecured(
      ephemeralID: ephemeral, isInitiator: true, peer: address, parameters: SessionParameters(), at: now)
    let header = PayloadHeader(
      isFromInitiator: true, needsAck: false, opcode: SecureChannelOpcode.checkIn, exchange: exchanges.takeNumber(),
      protocolID: .secureChannel)
    transmit(header, on: session, at: now, capacity: payload.count + 48) { $0.append(raw: payload) }
    unsecured.remove(session)
  }

  /// Passes a Check-In message to the owner, which has the keys.
  mutating func receiveCheckIn(
    _ bytes: [UInt8], _ header: MessageHeader, _ payload: PayloadHeader, from offset: Int, _ address: SocketAddress,
    at now: Instant
  ) throws(DropReason) {
    guard handshakes.allowsStart(from: address, at: now) else { throw .tooManyStarts }
    tracer?(PacketTrace(receiving: header, payload, on: SessionID(local: 0), from: address, size: bytes.count))
    emit(.checkIn(Array(bytes[offset...]), from: address))
  }
}
