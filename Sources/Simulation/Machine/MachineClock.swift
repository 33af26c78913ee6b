public import Foundation
internal import MatterProtocol

/// The clocks of a machine: the monotonic clock may drift, and the wall clock may also be wrong.
public struct MachineClock: Hashable, Sendable {
  /// The drift of the clock in millionths; negative if it is slow.
  public private(set) var drift: Int64
  /// The wall clock at the start of the world, in microseconds since 1970.
  package var epoch: Int64
  /// When the present drift was set, and the monotonic clock at that time.
  private var origin = Instant.zero
  private var shown = Instant.zero

  /// 2026-01-01 00:00 UTC.
  private static let usualEpoch: Int64 = 1_767_225_600_000_000

  /// The range of a wall clock in microseconds since 1970: until the end of the year 9999.
  static let range: ClosedRange<Int64> = 0...253_402_300_799_000_000

  /// Returns a moved wall clock in microseconds since 1970, clamped to the range of the calendar.
  package static func shown(_ unixMicroseconds: Int64, _ moved: Duration) -> Int64 {
    func clamped(_ time: Int64) -> Int64 { min(max(time, range.lowerBound), range.upperBound) }
    // Both are far below the limits of Int64, so the sum can't overflow.
    return clamped(clamped(unixMicroseconds) + moved.nanoseconds / 1000)
  }

  /// - Parameters:
  ///   - drift: the drift of the clocks in millionths; negative if they are slow.
  ///   - startDate: the wall clock at the start of the world, clamped to the range of the calendar; nil: 2026-01-01 00:00
  ///     UTC.
  public init(drift: Int64 = 0, startDate: Date? = nil) {
    self.drift = drift
    let microseconds = startDate.map { ($0.timeIntervalSince1970 * 1_000_000).rounded() }
    epoch = microseconds.map { Self.shown(Int64(exactly: $0) ?? ($0 < 0 ? .min : .max), .zero) } ?? Self.usualEpoch
  }

  /// Sets the drift from now on, without a jump of the clock.
  mutating func setDrift(_ drift: Int64, at world: Instant) {
    (shown, origin) = (local(world), world)
    self.drift = drift
  }

  /// Returns the monotonic clock at a time of the world.
  func local(_ world: Instant) -> Instant {
    if drift == 0 && origin == shown { return world }
    let time = (world - origin).nanoseconds
    return Instant(nanoseconds: shown.nanoseconds + time + scaled(time, by: 1_000_000))
  }

  /// Returns the first time of the world at which the monotonic clock is at or after `local`.
  func world(_ local: Instant) -> Instant {
    if drift == 0 && origin == shown { return local }
    let time = (local - shown).nanoseconds
    var guess = Instant(nanoseconds: origin.nanoseconds + time - scaled(time, by: 1_000_000 + drift) - 1)
    while self.local(guess) < local { guess.nanoseconds += 1 }
    return guess
  }

  /// Returns a time multiplied by the drift and divided, without overflow.
  private func scaled(_ nanoseconds: Int64, by divisor: Int64) -> Int64 {
    nanoseconds / divisor * drift + nanoseconds % divisor * drift / divisor
  }

  func unixMicroseconds(at world: Instant) -> Int64 { epoch + local(world).nanoseconds / 1000 }
}

/// The clock of a machine and the time of its world, for the machine's event loop.
final class MachineTime {
  var clock: MachineClock
  private let world: SimulatedClock

  init(_ clock: MachineClock, _ world: SimulatedClock) { (self.clock, self.world) = (clock, world) }

  /// The time by the monotonic clock.
  var now: Instant { clock.local(world.now) }
}
