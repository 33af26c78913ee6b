internal import MatterClusters
internal import MatterProtocol

/// The time of day, as far as somebody told the node. Matter Core § 11.17.
struct UTCClock: Sendable {
  /// 2000-01-01T00:00:00Z in seconds of Unix time. Matter Core § 7.19.2.
  static let matterEpoch: UInt64 = 946_684_800

  /// Microseconds since 2000 at the zero of the engine's clock.
  private var zero: Int64

  init(microseconds: UInt64, at now: Instant) {
    zero = Int64(clamping: microseconds) &- now.nanoseconds / 1000
  }

  /// - Parameter epoch: milliseconds of Unix time at the zero of the engine's clock. Before 2000 there is no time.
  init?(epoch: UInt64) {
    let (milliseconds, overflow) = epoch.subtractingReportingOverflow(Self.matterEpoch * 1000)
    guard !overflow, milliseconds <= .max / 1000 else { return nil }
    self.init(microseconds: milliseconds * 1000, at: .zero)
  }

  /// Somebody puts the clock forward, or back.
  mutating func move(milliseconds: Int64) { zero = zero.addingReportingOverflow(milliseconds &* 1000).partialValue }

  /// Milliseconds of Unix time.
  func unixMilliseconds(at now: Instant) -> UInt64 { microseconds(at: now) / 1000 + Self.matterEpoch * 1000 }

  func microseconds(at now: Instant) -> UInt64 { UInt64(clamping: zero &+ now.nanoseconds / 1000) }

  /// When the clock will show that time.
  func instant(of microseconds: UInt64) -> Instant? {
    let (difference, overflow) = Int64(clamping: microseconds).subtractingReportingOverflow(zero)
    guard !overflow, difference < .max / 1000 else { return nil }
    return Instant(nanoseconds: difference &* 1000)
  }
}
