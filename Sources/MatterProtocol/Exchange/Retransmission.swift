internal import MatterCrypto

/// The timing of the message reliability protocol. Matter Core § 4.12.
public enum Retransmission {
  /// How often a message is sent at the most, the first time included.
  public static let maximumTransmissions = 5
  /// How long an acknowledgement may wait for a message to ride on.
  public static let standaloneAckDelay: Duration = .milliseconds(200)

  /// How long to wait after a transmission before the next one.
  /// - Parameters:
  ///   - interval: the peer's, idle or active.
  ///   - attempt: how often the message had been sent before this transmission.
  ///   - jitter: 0 to 1023, a random draw.
  public static func backoff(_ interval: Duration, attempt: Int, jitter: Int64) -> Duration {
    .milliseconds(backoff(milliseconds: interval.milliseconds, attempt: attempt, jitter: jitter))
  }

  private static func backoff(milliseconds interval: Int64, attempt: Int, jitter: Int64) -> Int64 {
    // Milliseconds and integer ratios: margin 1.1, base 1.6 beyond the first two waits, jitter up to a quarter.
    var wait = interval * 11 / 10
    for _ in 0..<max(0, min(attempt, maximumTransmissions) - 1) { wait = wait * 16 / 10 }
    return wait + wait * jitter / 4096
  }

  static func jitter(_ random: inout SeededRandomSource) -> Int64 { Int64(random.next() & 1023) }

  /// How long until a message that nobody answers is given up, at the latest.
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
