internal import MatterClusters
internal import MatterProtocol

/// The time of day, as far as somebody told the node. Matter Core § 11.17.
struct UTCClock: Sendable {
  /// 2000-01-01T00:00:00Z in seconds of Unix time. Matter Core § 7.19.2.
  static let matterEpoch: UInt64 = 946_684_800

  /// Microseconds since 2000 at the zero of the engine's clock.
  private var zero: Int64

  /// The latest time that the clock shows, in microseconds since 2000: about the year 148,000. Leaves room for the sums below.
  private static let latest: Int64 = .max / 2

  /// Returns nil for a time later than the clock can show.
  init?(microseconds: UInt64, at now: Instant) {
    guard microseconds <= UInt64(Self.latest) else { return nil }
    zero = Int64(microseconds) - now.nanoseconds / 1000
  }

  /// - Parameter epoch: milliseconds of Unix time at the zero of the engine's clock. Before 2000 there is no time.
  init?(epoch: Int64, at now: Instant) {
    let (milliseconds, overflow) = epoch.subtractingReportingOverflow(Int64(Self.matterEpoch) * 1000)
    guard !overflow, milliseconds.magnitude <= UInt64(Self.latest) / 2000 else { return nil }
    zero = milliseconds * 1000
    guard isOfItsTime(at: now) else { return nil }
  }

  /// Somebody puts the clock forward, or back: so that it shows no time at all, if that is before 2000.
  func moved(milliseconds: Int64, at now: Instant) -> UTCClock? {
    guard milliseconds.magnitude <= UInt64(Self.latest) / 2000 else { return nil }
    var clock = self
    let (moved, overflow) = zero.addingReportingOverflow(milliseconds * 1000)
    clock.zero = moved
    return !overflow && clock.isOfItsTime(at: now) ? clock : nil
  }

  /// Whole seconds since 2000 at the zero of the engine's clock.
  var epoch: Int64 { zero / 1_000_000 }

  private func isOfItsTime(at now: Instant) -> Bool { zero <= Self.latest && zero >= -(now.nanoseconds / 1000) }

  /// Milliseconds of Unix time.
  func unixMilliseconds(at now: Instant) -> UInt64 { microseconds(at: now) / 1000 + Self.matterEpoch * 1000 }

  func microseconds(at now: Instant) -> UInt64 { UInt64(clamping: zero.saturatingAdd(now.nanoseconds / 1000)) }

  /// Returns when the clock will show that time, or nil if it never will.
  func instant(of microseconds: UInt64) -> Instant? {
    guard let microseconds = Int64(exactly: microseconds) else { return nil }
    let (difference, overflow) = microseconds.subtractingReportingOverflow(zero)
    guard !overflow, difference.magnitude < UInt64(Int64.max / 1000) else { return nil }
    return Instant(nanoseconds: difference * 1000)
  }
}
