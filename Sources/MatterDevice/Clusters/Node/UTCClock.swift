internal import MatterClusters
internal import MatterProtocol

/// The node's UTC time. Matter Core § 11.17.
struct UTCClock: Sendable {
  /// 2000-01-01T00:00:00Z in seconds of Unix time. Matter Core § 7.19.2.
  static let matterEpoch: UInt64 = 946_684_800

  /// Microseconds since 2000 at the zero of the engine's clock.
  private var zero: Int64

  /// The latest supported time, in microseconds since 2000: about the year 148,000. The sums below can't overflow.
  private static let latest: Int64 = .max / 2

  /// Returns nil for a time later than supported.
  init?(microseconds: UInt64, at now: Instant) {
    guard microseconds <= UInt64(Self.latest) else { return nil }
    zero = Int64(microseconds) - now.nanoseconds / 1000
  }

  /// Returns nil for a time before 2000 or later than supported.
  /// - Parameter epoch: Unix time at the zero of the engine's clock.
  init?(epoch: Duration, at now: Instant) {
    let unix = Self.milliseconds(epoch)
    let (milliseconds, overflow) = unix.subtractingReportingOverflow(Int64(Self.matterEpoch) * 1000)
    guard !overflow, milliseconds.magnitude <= UInt64(Self.latest) / 2000 else { return nil }
    zero = milliseconds * 1000
    guard isInRange(at: now) else { return nil }
  }

  /// Returns a time in milliseconds, clamped to about 292 million years.
  static func milliseconds(_ time: Duration) -> Int64 {
    Int64(clamping: time.attoseconds / 1_000_000_000_000_000)
  }

  /// Returns the clock moved forward or back; nil if the result is before 2000 or later than supported.
  func moved(milliseconds: Int64, at now: Instant) -> UTCClock? {
    guard milliseconds.magnitude <= UInt64(Self.latest) / 2000 else { return nil }
    var clock = self
    let (moved, overflow) = zero.addingReportingOverflow(milliseconds * 1000)
    clock.zero = moved
    return !overflow && clock.isInRange(at: now) ? clock : nil
  }

  /// Whole seconds since 2000 at the zero of the engine's clock.
  var epoch: Int64 { zero / 1_000_000 }

  private func isInRange(at now: Instant) -> Bool { zero <= Self.latest && zero >= -(now.nanoseconds / 1000) }

  /// Returns the Unix time in milliseconds.
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
