import MatterController
import MatterModel
@testable import MatterProtocol

// Identifiers and messages for tests of single values, without a messaging core.

extension HandshakeID {
  static func number(_ number: UInt32) -> HandshakeID { HandshakeID(rawValue: number) }
}

extension SessionID {
  static func number(_ number: UInt16) -> SessionID { SessionID(local: number) }
}

extension ExchangeID {
  static func number(_ number: UInt16, on session: UInt16 = 1) -> ExchangeID {
    ExchangeID(session: .number(session), number: number, isInitiator: true)
  }
}

extension InboundMessage {
  init<Message: InteractionMessage>(
    _ message: Message, on exchange: ExchangeID = .number(1), protocolID: ProtocolID = .interactionModel
  ) {
    let bytes = message.encoded
    self.init(
      exchange: exchange, opcode: Message.opcode.rawValue, protocolID: protocolID, bytes: bytes,
      payload: 0..<bytes.count, isFirst: false)
  }
}

extension Instant {
  /// The instant with this number of seconds after the origin.
  static func at(_ seconds: Double) -> Instant { .zero + .seconds(seconds) }
}
