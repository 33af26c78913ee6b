import MatterModel

@testable import MatterProtocol

/// Well-formed first messages of handshakes, as an attacker without credentials can send them.
enum FirstMessage {
  /// Returns the first message of a handshake, with source and counters derived from `number`.
  static func datagram(_ opcode: UInt8, _ number: Int, _ payload: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    MessageHeader(sessionID: 0, counter: UInt32(number), source: NodeID(UInt64(number) + 1)).encode(to: &bytes)
    PayloadHeader(
      isFromInitiator: true, needsAck: true, opcode: opcode, exchange: UInt16(truncatingIfNeeded: number),
      protocolID: .secureChannel
    ).encode(to: &bytes)
    return bytes + payload
  }

  /// Returns the payload of the first message that a core sends.
  static func payload(_ core: inout NodeCore, _ begin: (inout NodeCore) -> Void) throws -> [UInt8] {
    begin(&core)
    while let output = core.nextOutput() {
      if case .send(let bytes, _) = output { return try clearHeaders(bytes).content }
    }
    throw CorePair.Livelock()
  }
}
