internal import MatterCrypto

/// Identifies an exchange within a node. Matter Core § 4.10.
public struct ExchangeID: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let session: SessionID
  /// The exchange id on the wire, chosen by the initiator. Unique only together with the other two properties.
  public let number: UInt16
  /// Whether this node opened the exchange.
  public let isInitiator: Bool

  /// Hashes a single word, which is faster than hashing the three properties.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(UInt64(session.rawValue) << 32 | UInt64(number) << 1 | (isInitiator ? 1 : 0))
  }

  public static func < (left: Self, right: Self) -> Bool {
    (left.session, left.number, left.isInitiator ? 1 : 0) < (right.session, right.number, right.isInitiator ? 1 : 0)
  }
  public var description: String { "\(session)/\(number)\(isInitiator ? "i" : "r")" }
}

/// The state of an exchange after a message has been sent on it.
public enum AfterSending: Sendable {
  /// Closes the exchange: it is kept only until the message is acknowledged.
  case close
  /// Waits for a response. The timeout is `within`, the peer's processing time, plus the time for retransmissions.
  case expectResponse(within: Duration)
  case keepOpen
}

/// The reason why an exchange ended before its owner closed it.
public enum ExchangeFailure: Hashable, Sendable {
  /// The maximum number of transmissions was reached without an acknowledgment.
  case noAcknowledgment
  /// The peer acknowledged the message, but did not respond within the timeout.
  case noResponse
  case sessionClosed
}

/// The reliability state of an exchange: the pending acknowledgment, the unacknowledged message and the response
/// timeout.
struct Exchange: Sendable {
  /// A reliable message, retransmitted byte for byte until it is acknowledged.
  struct Unacknowledged: Sendable {
    let counter: UInt32
    let bytes: [UInt8]
    /// The number of transmissions so far.
    var transmissions: Int
    var deadline: Instant

    /// Records a retransmission, and determines the deadline of the next one.
    fileprivate mutating func recordRetransmission(
      to peer: PeerState, at now: Instant, jitter: inout SeededRandomSource
    ) {
      deadline =
        now
        + Retransmission.backoff(peer.interval, attempt: transmissions, jitter: Retransmission.jitter(&jitter))
      transmissions += 1
    }
  }

  /// The effects of the deadlines that have passed.
  struct Due {
    /// The counter of the received message to acknowledge.
    var acknowledgment: UInt32?
    /// The message to send again.
    var retransmission: Unacknowledged?
    var failure: ExchangeFailure?
  }

  /// The counter of a received message that is not acknowledged yet, and the deadline for its acknowledgment.
  var owedAck: (counter: UInt32, deadline: Instant)?
  var unacknowledged: Unacknowledged?
  var responseDeadline: Instant?
  /// Whether the owner has closed the exchange.
  var isClosing = false

  var isFinished: Bool { isClosing && unacknowledged == nil && owedAck == nil }

  var deadline: Instant? {
    .earlier(.earlier(owedAck?.deadline, unacknowledged?.deadline), responseDeadline)
  }

  /// Records a message that was sent on the exchange with the pending acknowledgment.
  mutating func recordSending(
    _ sent: Transmission, isReliable: Bool, then next: AfterSending, at now: Instant,
    jitter: inout SeededRandomSource
  ) {
    owedAck = nil
    if isReliable {
      let deadline =
        now + Retransmission.backoff(sent.peer.interval, attempt: 0, jitter: Retransmission.jitter(&jitter))
      unacknowledged = Unacknowledged(
        counter: sent.counter, bytes: sent.bytes, transmissions: 1, deadline: deadline)
    }
    responseDeadline = nil
    switch next {
    case .close: isClosing = true
    case .expectResponse(let time):
      responseDeadline = now + time + Retransmission.longest(sent.peer.parameters, isActive: sent.peer.isActive)
    case .keepOpen: break
    }
  }

  /// Determines the effects of the deadlines that have passed. After a failure, the exchange must be removed.
  /// - Parameter peer: nil if the session does not exist.
  mutating func advance(
    to now: Instant, peer: PeerState?, maximumTransmissions: Int = Retransmission.maximumTransmissions,
    jitter: inout SeededRandomSource
  ) -> Due {
    var due = Due()
    if let owed = owedAck, owed.deadline <= now {
      owedAck = nil
      due.acknowledgment = owed.counter
    }
    if let message = unacknowledged, message.deadline <= now {
      guard message.transmissions < maximumTransmissions, let peer else {
        due.failure = .noAcknowledgment
        return due
      }
      due.retransmission = message
      unacknowledged?.recordRetransmission(to: peer, at: now, jitter: &jitter)
    }
    if let responseDeadline, responseDeadline <= now { due.failure = .noResponse }
    return due
  }
}
