internal import NIOCore

/// Limits the average rate of a client's requests.
///
/// A request may cost more tokens than there are; further requests are then read after a delay.
struct TokenBucket {
  /// The number of tokens added in a second, and the maximum number of tokens.
  static let rate: Int64 = 200, burst: Int64 = 1000
  /// The maximum delay. It is shorter than the time in which a client has to answer pings, which are delayed as well.
  static let longestDelay = TimeAmount.seconds(30)
  private static let tokenTime = TimeAmount.nanoseconds(1_000_000_000 / rate)
  private static let burstTime = tokenTime * burst

  /// The time at which the bucket is full.
  private var full = NIODeadline.uptimeNanoseconds(0)

  /// Takes tokens for a message.
  mutating func consume(_ cost: Int64, at now: NIODeadline) {
    full = min(max(full, now) + Self.tokenTime * cost, now + Self.burstTime + Self.longestDelay)
  }

  /// Returns the time until there are tokens again; nil if there are some.
  func delay(at now: NIODeadline) -> TimeAmount? {
    let delay = full - now - Self.burstTime
    return delay > .zero ? delay : nil
  }
}
