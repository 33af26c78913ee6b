/// Why a message was not taken in. Each message that is dropped counts once; one that is answered with a status is not dropped,
/// but for those that wanted a handshake that could not be had.
public enum DropReason: String, CaseIterable, Codable, Sendable {
  case oversized, malformedHeader, unknownVersion, unknownSession, decryptionFailed, malformedPayloadHeader
  case duplicate, unknownExchange, exchangesExhausted, unexpectedOpcode, unsecuredMessage, handshakesExhausted
  /// From an address that began too many handshakes in this second.
  case tooManyStarts
  /// To a group, under no key of ours.
  case unknownGroupKey
  /// To a group, but not as such a message may be: a control message, or one that wants an acknowledgement.
  case improperGroupMessage
  /// As many nodes send to groups of the fabric already as can be kept track of.
  case groupPeersExhausted
  /// Somebody wanted to commission us while nobody may.
  case notCommissionable
  /// A status report in a handshake that ends too early: there is no answer to one.
  case malformedMessage
  /// A message on an open exchange that nobody waited for, or of a protocol that is not spoken.
  case unexpectedMessage
}

/// Counts of messages that were not taken in.
public struct DropCounts: Hashable, Sendable {
  private var counts = [Int](repeating: 0, count: DropReason.allCases.count)

  /// How many there were for this reason.
  public subscript(_ reason: DropReason) -> Int { counts[index(reason)] }
  /// How many there were for any reason.
  public var total: Int { counts.reduce(0, +) }
  /// Those that are not zero, in the order of the reasons' declaration.
  public var all: [(reason: DropReason, count: Int)] {
    zip(DropReason.allCases, counts).filter { $0.1 > 0 }.map { ($0.0, $0.1) }
  }

  mutating func count(_ reason: DropReason) { counts[index(reason)] += 1 }
  private func index(_ reason: DropReason) -> Int { DropReason.allCases.firstIndex(of: reason) ?? 0 }
}

/// One packet, in one line that can be searched.
public struct PacketTrace: Sendable, CustomStringConvertible {
  /// Which way it went: out, out again, in, or in and not taken.
  public enum Direction: String, Sendable {
    case sent = "<", sentAgain = "<<", received = ">", dropped = "x"
  }

  public var direction: Direction
  public var session: SessionID?
  /// Its number; nil where it could not be read.
  public var exchange: UInt16?
  /// The message counter.
  public var counter: UInt32
  /// The counter of the message that it acknowledges; nil: of none.
  public var acknowledged: UInt32?
  /// Where it went to, or came from.
  public var peer: SocketAddress
  public var protocolID: ProtocolID?
  /// Of the protocol; nil where it could not be read.
  public var opcode: UInt8?
  /// Of the whole datagram, in bytes.
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
