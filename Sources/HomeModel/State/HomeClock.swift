package import MatterProtocol

/// The time of day of a home: the monotonic clock of the machine plus an offset. When the system clock is set, the
/// offset is adjusted and deadlines keep their remaining time.
package struct HomeClock: Hashable, Sendable {
  /// The offset that converts an instant to microseconds since 1970.
  package private(set) var epoch: Int64

  /// - Parameter epoch: the offset that converts an instant to microseconds since 1970.
  package init(epoch: Int64) { self.epoch = epoch }

  /// - Parameter time: the time of day now, in microseconds since 1970.
  package init(_ time: Int64, at now: Instant) { epoch = time.saturatingSubtract(now.nanoseconds / 1000) }

  /// Microseconds since 1970 of an instant.
  package func time(of instant: Instant) -> Int64 { epoch &+ instant.nanoseconds / 1000 }

  /// The microseconds until a time; 0 if it has passed.
  package func remaining(until time: Int64, at now: Instant) -> Int64 {
    max(0, time.saturatingSubtract(self.time(of: now)))
  }

  /// Notes the time of day.
  /// - Returns: the microseconds by which the clock was set, or the machine slept; nil if it was not.
  package mutating func note(_ time: Int64, at now: Instant) -> Int64? {
    let step = time &- self.time(of: now)
    // Tolerates the delay between reading the two clocks, and a clock that is slewed.
    guard step.magnitude > 1_000_000 else { return nil }
    epoch &+= step
    return step
  }
}
