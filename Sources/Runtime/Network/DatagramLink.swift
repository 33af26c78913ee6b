internal import MatterCrypto
package import MatterProtocol

/// One direction of a simulated link on the host's real network.
package struct DatagramLink: Sendable {
  /// When the transmission queue is empty, if the link has a limited bandwidth.
  private var busyUntil: Instant?
  private var random = SystemRandomSource()

  package init() {}

  /// Returns the delays after which the copies of a datagram arrive; empty if it is lost.
  /// - Parameters:
  ///   - size: the size in bytes.
  ///   - conditions: the present conditions of the link.
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

  /// Returns the time in the transmission queue.
  private mutating func queue(_ size: Int, _ conditions: LinkConditions, at now: Instant) -> Duration {
    guard conditions.bytesPerSecond > 0 else { return .zero }
    let end =
      max(now, busyUntil ?? now) + .nanoseconds(Int64(size) * 1_000_000_000 / Int64(conditions.bytesPerSecond))
    busyUntil = end
    return end - now
  }
}

extension LinkConditions {
  /// Draws the latency and jitter of one datagram.
  package func delay(_ random: inout some RandomNumberGenerator) -> Duration {
    latency + .nanoseconds(Int64.random(in: 0...max(0, jitter.nanoseconds), using: &random))
  }
}
