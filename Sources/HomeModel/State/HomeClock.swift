package import MatterProtocol

/// What time it is in a home: the machine's own clock, which runs as long as the machine does, made to say the time of day. Where that
/// is set, everything has the new time from then on, and what is still to come goes on for as long as it still had.
package struct HomeClock: Hashable, Sendable {
  /// What is added to an instant to make it microseconds since 1970.
  package private(set) var epoch: Int64

  /// - Parameter epoch: what is added to an instant to make it microseconds since 1970.
  package init(epoch: Int64) { self.epoch = epoch }

  /// - Parameter time: the time of day now, in microseconds since 1970.
  package init(_ time: Int64, at now: Instant) { epoch = time.saturatingSubtract(now.nanoseconds / 1000) }

  /// Microseconds since 1970 of an instant.
  package func time(of instant: Instant) -> Int64 { epoch &+ instant.nanoseconds / 1000 }

  /// How long it is until a time, in microseconds; 0 where it is over.
  package func remaining(until time: Int64, at now: Instant) -> Int64 {
    max(0, time.saturatingSubtract(self.time(of: now)))
  }

  /// Says what time of day it is.
  /// - Returns: by how many microseconds the clock was set, or the machine slept; nil: it was not.
  package mutating func note(_ time: Int64, at now: Instant) -> Int64? {
    let step = time &- self.time(of: now)
    // Two clocks are never read at the same moment, and one of them may be made to run a little slower or faster.
    guard step.magnitude > 1_000_000 else { return nil }
    epoch &+= step
    return step
  }
}
