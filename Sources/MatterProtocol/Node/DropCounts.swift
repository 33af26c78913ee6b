/// The reason why a message was dropped. Each dropped message counts once. A message that is answered with a status
/// does not count, except for a refused handshake.
public enum DropReason: String, Error, CaseIterable, Codable, Sendable {
  case oversized, malformedHeader, unknownVersion, unknownSession, decryptionFailed, malformedPayloadHeader
  case duplicate, unknownExchange, exchangesExhausted, unexpectedOpcode, unsecuredMessage, handshakesExhausted
  /// The address started too many handshakes in this second.
  case tooManyStarts
  /// A group message under an unknown key.
  case unknownGroupKey
  /// A group message that is invalid as such: a control message, or one that requests an acknowledgement.
  case improperGroupMessage
  /// The maximum number of tracked group senders of the fabric is reached.
  case groupPeersExhausted
  /// A PASE request while no commissioning window is open.
  case notCommissionable
  /// A truncated status report in a handshake; status reports are not answered.
  case malformedMessage
  /// An unexpected message on an open exchange, or an unsupported protocol.
  case unexpectedMessage
}

/// Counts of dropped messages by reason.
public struct DropCounts: Hashable, Sendable {
  private var counts = [Int](repeating: 0, count: DropReason.allCases.count)

  /// The number of messages dropped for a reason.
  public subscript(_ reason: DropReason) -> Int { counts[index(reason)] }
  /// The number of all dropped messages.
  public var total: Int { counts.reduce(0, +) }
  /// The counts that are not zero, in the declaration order of the reasons.
  public var all: [(reason: DropReason, count: Int)] {
    zip(DropReason.allCases, counts).filter { $0.1 > 0 }.map { ($0.0, $0.1) }
  }

  mutating func count(_ reason: DropReason) { counts[index(reason)] += 1 }
  private func index(_ reason: DropReason) -> Int { DropReason.allCases.firstIndex(of: reason) ?? 0 }
}

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
