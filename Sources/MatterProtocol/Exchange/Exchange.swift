/// A conversation within a session. Matter Core § 4.10.
public struct ExchangeID: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let session: SessionID
  /// As who began it chose it; unique only together with the other two.
  public let number: UInt16
  /// Whether we began it.
  public let isInitiator: Bool

  /// All of it fits one word, which is hashed faster than three parts.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(UInt64(session.rawValue) << 32 | UInt64(number) << 1 | (isInitiator ? 1 : 0))
  }

  public static func < (left: Self, right: Self) -> Bool {
    (left.session, left.number, left.isInitiator ? 1 : 0) < (right.session, right.number, right.isInitiator ? 1 : 0)
  }
  public var description: String { "\(session)/\(number)\(isInitiator ? "i" : "r")" }
}

/// What becomes of an exchange after a message was sent on it.
public enum AfterSending: Sendable {
  /// We say no more: it is kept only until the message is acknowledged.
  case close
  /// The peer is to answer; `within` is its time to think, to which the time for retransmissions is added.
  case expectResponse(within: Duration)
  case keepOpen
}

/// Why an exchange ended before its owner closed it.
public enum ExchangeFailure: Hashable, Sendable {
  /// A message was sent as often as it may be, and never acknowledged.
  case noAcknowledgement
  /// The peer acknowledged, but did not answer in time.
  case noResponse
  case sessionClosed
}

/// An exchange's own state: what it owes and what it waits for.
struct Exchange: Sendable {
  /// A message that is sent again, the same bytes each time, until it is acknowledged.
  struct Unacknowledged: Sendable {
    let counter: UInt32
    let bytes: [UInt8]
    /// How often it was sent.
    var transmissions: Int
    var deadline: Instant
  }

  /// The counter of a message that we have yet to acknowledge, and until when at the latest.
  var owedAck: (counter: UInt32, deadline: Instant)?
  var unacknowledged: Unacknowledged?
  var responseDeadline: Instant?
  /// The owner is done with it.
  var isClosing = false

  /// Nothing is left to do.
  var isFinished: Bool { isClosing && unacknowledged == nil && owedAck == nil }

  var deadline: Instant? {
    .earlier(.earlier(owedAck?.deadline, unacknowledged?.deadline), responseDeadline)
  }
}
