internal import MatterCrypto

/// The timing of the message reliability protocol. Matter Core § 4.12.
public enum Retransmission {
  /// The maximum number of transmissions of a message, including the first.
  package static let maximumTransmissions = 5
  /// The time that an acknowledgment may wait to be piggybacked on another message.
  static let standaloneAckDelay: Duration = .milliseconds(200)

  /// Returns the back-off between a transmission and the next one.
  /// - Parameters:
  ///   - interval: The idle or active interval of the peer.
  ///   - attempt: The number of transmissions before this one.
  ///   - jitter: A random number from 0 to 1023.
  static func backoff(_ interval: Duration, attempt: Int, jitter: Int64) -> Duration {
    .milliseconds(backoff(milliseconds: interval.milliseconds, attempt: attempt, jitter: jitter))
  }

  private static func backoff(milliseconds interval: Int64, attempt: Int, jitter: Int64) -> Int64 {
    // Integer ratios: margin 1.1, base 1.6 beyond the first two waits, jitter up to a quarter.
    var wait = interval * 11 / 10
    for _ in 0..<max(0, min(attempt, maximumTransmissions) - 1) { wait = wait * 16 / 10 }
    return wait + wait * jitter / 4096
  }

  static func jitter(_ random: inout SeededRandomSource) -> Int64 { Int64(random.next() & 1023) }

  /// Returns the longest time until an unacknowledged message is given up.
  public static func longest(_ parameters: SessionParameters, isActive: Bool) -> Duration {
    let interval = isActive ? parameters.activeInterval : parameters.idleInterval
    let milliseconds = interval.milliseconds
    var total: Int64 = 0
    for attempt in 0..<maximumTransmissions {
      total += backoff(milliseconds: milliseconds, attempt: attempt, jitter: 1024)
    }
    return .milliseconds(total)
  }
}
