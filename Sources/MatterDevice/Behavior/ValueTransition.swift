package import MatterProtocol

/// The linear change of an integer over a time. A value type without a clock.
package struct ValueTransition: Hashable, Sendable {
  private let start: Int64
  private let end: Int64
  private let begin: Instant
  private let duration: Duration
  /// The value at the time of the last call of ``advance(to:)``.
  package private(set) var value: Int64
  /// The time of the next value; nil at the end.
  private(set) var nextChange: Instant?

  /// The shortest time between two values.
  private static let shortestStep = Duration.milliseconds(100)

  init(from start: Int64, to end: Int64, over duration: Duration, at begin: Instant) {
    (self.start, self.end, self.duration, self.begin, value) = (start, end, duration, begin, start)
    advance(to: begin)
  }

  /// Sets the value for a time.
  package mutating func advance(to now: Instant) {
    let (elapsed, whole) = (Double((now - begin).nanoseconds), Double(duration.nanoseconds))
    guard elapsed < whole, start != end else {
      (value, nextChange) = (end, nil)
      return
    }
    // Doubles don't overflow; numbers beyond 2^53 are rounded until the end.
    let distance = Double(end) - Double(start)
    value = Int64(exactly: (Double(start) + distance * max(0, elapsed) / whole).rounded()) ?? end
    let nanoseconds = Int64(exactly: (whole / abs(distance)).rounded(.down)) ?? .max
    let step = max(Duration.nanoseconds(nanoseconds), Self.shortestStep)
    nextChange = min(now + step, begin + duration)
  }
}
