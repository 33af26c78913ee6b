/// A packet that was sent, received or dropped; its description is a single line for logs.
public struct PacketTrace: Sendable, CustomStringConvertible {
  /// The direction of the packet; `sentAgain` is a retransmission.
  public enum Direction: String, Sendable {
    case sent = "<", sentAgain = "<<", received = ">", dropped = "x"
  }

  public var direction: Direction
  public var session: SessionID?
  /// The exchange id; nil if it could not be read.
  public var exchange: UInt16?
  /// The message counter.
  public var counter: UInt32
  /// The counter of the acknowledged message; nil if it acknowledges none.
  public var acknowledged: UInt32?
  /// The destination or source address.
  public var peer: SocketAddress
  public var protocolID: ProtocolID?
  /// The opcode within the protocol; nil if it could not be read.
  public var opcode: UInt8?
  /// The size of the datagram in bytes.
  public var size: Int
  public var reason: DropReason?

  public var description: String {
    let session = session.map { "\($0)" } ?? "-"
    let exchange = exchange.map { "\($0)" } ?? "-"
    let ack = acknowledged.map { " a:\($0)" } ?? ""
    let kind = protocolID.flatMap { id in opcode.map { " \(id.number):\(String($0, radix: 16))" } } ?? ""
    let reason = reason.map { " \($0)" } ?? ""
    return "\(direction.rawValue) s:\(session) e:\(exchange) c:\(counter)\(ack) \(peer)\(kind) \(size) B\(reason)"
  }
}

extension PacketTrace {
  private init(
    _ direction: Direction, session: SessionID?, counter: UInt32, payload: PayloadHeader? = nil, peer: SocketAddress,
    size: Int, reason: DropReason? = nil
  ) {
    self.direction = direction
    self.session = session
    self.counter = counter
    self.peer = peer
    self.size = size
    self.reason = reason
    exchange = payload?.exchange
    acknowledged = payload?.acknowledged
    protocolID = payload?.protocolID
    opcode = payload?.opcode
  }

  init(sending message: Transmission, _ payload: PayloadHeader, on session: SessionID) {
    self.init(
      .sent, session: session, counter: message.counter, payload: payload, peer: message.peer.address,
      size: message.bytes.count)
  }

  init(sending message: GroupMessaging.Sealed) {
    self.init(
      .sent, session: SessionID(local: message.header.sessionID), counter: message.header.counter,
      payload: message.payload, peer: message.address, size: message.bytes.count)
  }

  init(
    receiving header: MessageHeader, _ payload: PayloadHeader, on session: SessionID, from peer: SocketAddress,
    size: Int, reason: DropReason? = nil
  ) {
    self.init(
      .received, session: session, counter: header.counter, payload: payload, peer: peer, size: size, reason: reason)
  }

  init(resending message: Exchange.Unacknowledged, to peer: PeerState, on id: ExchangeID) {
    self.init(
      .sentAgain, session: id.session, counter: message.counter, peer: peer.address, size: message.bytes.count)
    exchange = id.number
  }

  /// - Parameter header: nil if it could not be decoded.
  init(dropping reason: DropReason, _ header: MessageHeader?, from peer: SocketAddress, size: Int) {
    self.init(
      .dropped, session: header.map { SessionID(local: $0.sessionID) }, counter: header?.counter ?? 0, peer: peer,
      size: size, reason: reason)
  }
}
