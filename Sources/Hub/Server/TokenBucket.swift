internal import NIOCore

/// Limits the average rate of a client's requests.
///
/// A request may cost more tokens than there are; further requests are then read after a delay.
struct TokenBucket {
  /// The number of tokens added in a second, and the maximum number of tokens.
  struct Limit {
    let rate: Int64, burst: Int64

    /// For clients with an invitation.
    static let invited = Limit(rate: 200, burst: 1000)
    /// For processes of the hub's own user and clients on loopback.
    static let local = Limit(rate: 50_000, burst: 250_000)

    fileprivate var tokenTime: TimeAmount { .nanoseconds(1_000_000_000 / rate) }
  }

  /// The maximum delay. It is shorter than the time in which a client has to answer pings, which are delayed as well.
  static let longestDelay = TimeAmount.seconds(30)

  private let tokenTime: TimeAmount, burstTime: TimeAmount
  /// The time at which the bucket is full.
  private var full = NIODeadline.uptimeNanoseconds(0)

  init(_ limit: Limit) { (tokenTime, burstTime) = (limit.tokenTime, limit.tokenTime * limit.burst) }

  /// Takes tokens for a message.
  mutating func consume(_ cost: Int64, at now: NIODeadline) {
    full = min(max(full, now) + tokenTime * cost, now + burstTime + Self.longestDelay)
  }

  /// Returns the time until there are tokens again; nil if there are some.
  func delay(at now: NIODeadline) -> TimeAmount? {
    let delay = full - now - burstTime
    return delay > .zero ? delay : nil
  }
}
