/// A point in time on the driver's clock: the host's monotonic clock, or the simulation's virtual clock.
public struct Instant: Hashable, Comparable, Sendable {
  /// Nanoseconds since the origin of the clock, which is arbitrary.
  public var nanoseconds: Int64

  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The origin of the clock.
  public static let zero = Instant(nanoseconds: 0)

  public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
  /// Saturates, so that a deadline beyond the range of the clock never wraps into the past.
  public static func + (instant: Self, duration: Duration) -> Self {
    Self(nanoseconds: instant.nanoseconds.saturatingAdd(duration.nanoseconds))
  }
  /// Saturates at 292 years.
  public static func - (later: Self, earlier: Self) -> Duration {
    .nanoseconds(later.nanoseconds.saturatingSubtract(earlier.nanoseconds))
  }
  public static func += (instant: inout Self, duration: Duration) { instant = instant + duration }
}

extension Duration {
  /// The duration in whole nanoseconds, clamped to the range of `Int64` (292 years).
  public var nanoseconds: Int64 {
    // Fast path: durations up to nine seconds need no division of 128 bits.
    if let small = Int64(exactly: attoseconds) { return small / 1_000_000_000 }
    return Int64(clamping: attoseconds / 1_000_000_000)
  }
  /// The duration in whole milliseconds, rounded toward zero.
  public var milliseconds: Int64 { nanoseconds / 1_000_000 }
}

extension Optional where Wrapped == Instant {
  /// Returns the earlier of two deadlines; nil means no deadline.
  public static func earlier(_ left: Instant?, _ right: Instant?) -> Instant? {
    guard let left else { return right }
    guard let right else { return left }
    return left < right ? left : right
  }
}
