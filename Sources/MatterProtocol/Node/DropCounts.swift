/// The reason why a message was dropped. Each dropped message counts once. A message that is answered with a status
/// does not count, except for a refused handshake.
public enum DropReason: String, Error, CaseIterable, Codable, Sendable {
  case oversized, malformedHeader, unknownVersion, unknownSession, decryptionFailed, malformedPayloadHeader
  case duplicate, unknownExchange, exchangesExhausted, unexpectedOpcode, unsecuredMessage, handshakesExhausted
  /// The address started too many handshakes in this second.
  case tooManyStarts
  /// A group message under an unknown key.
  case unknownGroupKey
  /// A group message that is invalid as such: a control message, or one that requests an acknowledgment.
  case improperGroupMessage
  /// The maximum number of tracked group senders of the fabric is reached.
  case groupPeersExhausted
  /// A PASE request while no commissioning window is open.
  case notCommissionable
  /// A truncated status report in a handshake; status reports are not answered.
  case malformedMessage
  /// An unexpected message on an open exchange, or an unsupported protocol.
  case unexpectedMessage

  /// The reason for a header that can't be decoded.
  init(_ error: MessageError) {
    if case .unknownVersion = error { self = .unknownVersion } else { self = .malformedHeader }
  }
}

/// Counts of dropped messages by reason.
public struct DropCounts: Hashable, Sendable {
  /// By reason, in declaration order; empty until a message is dropped.
  private var counts: [Int] = []

  /// The number of messages dropped for a reason.
  package subscript(_ reason: DropReason) -> Int { counts.isEmpty ? 0 : counts[index(reason)] }
  /// The number of all dropped messages.
  public var total: Int { counts.reduce(0, +) }
  /// The counts that are not zero, in the declaration order of the reasons.
  public var all: [(reason: DropReason, count: Int)] {
    zip(DropReason.allCases, counts).filter { $0.1 > 0 }.map { ($0.0, $0.1) }
  }

  mutating func count(_ reason: DropReason) {
    if counts.isEmpty { counts = Array(repeating: 0, count: DropReason.allCases.count) }
    counts[index(reason)] += 1
  }
  private func index(_ reason: DropReason) -> Int { DropReason.allCases.firstIndex(of: reason) ?? 0 }
}
