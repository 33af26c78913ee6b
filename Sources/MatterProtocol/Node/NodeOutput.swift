/// A received message for the layer above.
public struct InboundMessage: Sendable {
  public let exchange: ExchangeID
  /// The message type within the protocol.
  public let opcode: UInt8
  public let protocolID: ProtocolID
  /// The whole decrypted datagram.
  public let bytes: [UInt8]
  /// The range of the application payload in `bytes`.
  public let payload: Range<Int>
  /// Whether the message opened the exchange.
  public let isFirst: Bool
}

/// An output of a ``NodeCore`` for the engine that owns it. Large rare ones are indirect, so that the others are small.
public enum NodeOutput: Sendable {
  /// Send a datagram.
  case send([UInt8], to: SocketAddress)
  /// A message for the protocols above; the core handles secure channel messages itself.
  case message(InboundMessage)
  /// The payload of a ``CheckInMessage``, and the address of its sender. Not authenticated until it is decrypted.
  case checkIn([UInt8], from: SocketAddress)
  /// A group message, which must not be answered.
  indirect case groupMessage(GroupMessage)
  /// Store the group message counter to continue with after a restart, before any further output is sent.
  case groupCounterReserved(UInt32)
  /// A session was established; the handshake id is set for an outbound handshake.
  case sessionEstablished(SessionID, HandshakeID?)
  /// An outbound handshake failed.
  case handshakeFailed(HandshakeID, HandshakeError)
  /// A peer did not prove knowledge of the passcode.
  case paseAttemptFailed
  /// An established session was closed; its last properties are included.
  indirect case sessionClosed(SessionID, SessionInfo, SessionCloseReason)
  /// An exchange of the layer above failed before it was closed.
  case exchangeFailed(ExchangeID, ExchangeFailure)
  /// Store the resumption record, replacing the one for the same fabric and peer.
  indirect case resumptionChanged(ResumptionRecord)
}
