internal import MatterProtocol

/// How a machine's clocks go: the monotonic one may be fast or slow, the wall clock wrong besides.
public struct MachineClock: Hashable, Sendable {
  /// How much faster than time the clock goes, in millionths; negative: slower.
  public private(set) var drift: Int64
  /// What the wall clock shows at the beginning of the world, in microseconds since 1970.
  public var epoch: Int64
  /// When it got this drift, and what the monotonic clock showed then.
  private var origin = Instant.zero
  private var shown = Instant.zero

  /// 2026-01-01 00:00 UTC.
  public static let usualEpoch: Int64 = 1_767_225_600_000_000

  /// What a wall clock can show, in microseconds since 1970: until the end of the year 9999.
  static let range: ClosedRange<Int64> = 0...253_402_300_799_000_000

  /// What a wall clock shows that is moved, in microseconds since 1970: it stops where the calendar ends.
  public static func shown(_ unixMicroseconds: Int64, _ moved: Duration) -> Int64 {
    func clamped(_ time: Int64) -> Int64 { min(max(time, range.lowerBound), range.upperBound) }
    // Neither is more than a part of what there is room for.
    return clamped(clamped(unixMicroseconds) + moved.nanoseconds / 1000)
  }

  public init(drift: Int64 = 0, epoch: Int64 = usualEpoch) { (self.drift, self.epoch) = (drift, epoch) }

  /// Goes on with another drift from here: what it shows does not jump.
  mutating func setDrift(_ drift: Int64, at world: Instant) {
    (shown, origin) = (local(world), world)
    self.drift = drift
  }

  /// What the monotonic clock shows.
  func local(_ world: Instant) -> Instant {
    if drift == 0 && origin == shown { return world }
    let time = (world - origin).nanoseconds
    return Instant(nanoseconds: shown.nanoseconds + time + scaled(time, by: 1_000_000))
  }

  /// When the monotonic clock shows that, or the next moment at which it shows more.
  func world(_ local: Instant) -> Instant {
    if drift == 0 && origin == shown { return local }
    let time = (local - shown).nanoseconds
    var guess = Instant(nanoseconds: origin.nanoseconds + time - scaled(time, by: 1_000_000 + drift) - 1)
    while self.local(guess) < local { guess.nanoseconds += 1 }
    return guess
  }

  /// A time, times the drift, divided.
  private func scaled(_ nanoseconds: Int64, by divisor: Int64) -> Int64 {
    nanoseconds / divisor * drift + nanoseconds % divisor * drift / divisor
  }

  func unixMicroseconds(at world: Instant) -> Int64 { epoch + local(world).nanoseconds / 1000 }
}
