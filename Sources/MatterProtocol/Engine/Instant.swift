/// A point on the clock of whoever drives the engine: the host's monotonic clock, or the simulation's virtual one.
public struct Instant: Hashable, Comparable, Sendable {
  /// Since the clock's own start, whatever that is.
  public var nanoseconds: Int64

  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Where the clock begins, whatever that means to whoever drives the engine.
  public static let zero = Instant(nanoseconds: 0)

  public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
  /// Saturates: a deadline beyond the clock's range is its end, and never in the past.
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
  /// The whole duration in nanoseconds, clamped to what fits (292 years).
  public var nanoseconds: Int64 {
    // Up to nine seconds, one division does.
    if let small = Int64(exactly: self.attoseconds) { return small / 1_000_000_000 }
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return seconds < 0 ? .min : .max }
    let (sum, overflow2) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflow2 ? (seconds < 0 ? .min : .max) : sum
  }
  /// The whole duration in milliseconds, rounded down.
  public var milliseconds: Int64 { nanoseconds / 1_000_000 }
}

extension Optional where Wrapped == Instant {
  /// The earlier of two deadlines, where nil is never.
  public static func earlier(_ left: Instant?, _ right: Instant?) -> Instant? {
    guard let left else { return right }
    guard let right else { return left }
    return left < right ? left : right
  }
}
