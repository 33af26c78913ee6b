internal import MatterCrypto
package import MatterProtocol

/// One direction of a link, on the host's own network: what becomes of the datagrams that are given to it.
package struct DatagramLink: Sendable {
  /// When it is done with what was given to it, where it is a slow one.
  private var busyUntil: Instant?
  private var random = SystemRandomSource()

  package init() {}

  /// - Parameters:
  ///   - size: in bytes.
  ///   - conditions: how the link is now.
  /// - Returns: in how much time the copies of a datagram are through that is given to it now; empty: it is lost.
  package mutating func carry(_ size: Int, _ conditions: LinkConditions, at now: Instant) -> [Duration] {
    if conditions.maximumDatagramSize > 0, size > conditions.maximumDatagramSize { return [] }
    if conditions.loss.happens(&random) { return [] }
    let isHeld = conditions.reordering.happens(&random)
    let copies = conditions.duplication.happens(&random) ? 2 : 1
    let queued = queue(size, conditions, at: now)
    return (0..<copies).map { copy in
      queued + conditions.delay(&random) + (isHeld && copy == 0 ? conditions.holding : .zero)
    }
  }

  /// How long it takes until it is done with a datagram that is given to it now.
  private mutating func queue(_ size: Int, _ conditions: LinkConditions, at now: Instant) -> Duration {
    guard conditions.bytesPerSecond > 0 else { return .zero }
    let end =
      max(now, busyUntil ?? now) + .nanoseconds(Int64(size) * 1_000_000_000 / Int64(conditions.bytesPerSecond))
    busyUntil = end
    return end - now
  }
}

extension LinkConditions {
  /// Latency and jitter of one datagram.
  package func delay(_ random: inout some RandomNumberGenerator) -> Duration {
    latency + .nanoseconds(Int64.random(in: 0...max(0, jitter.nanoseconds), using: &random))
  }
}
