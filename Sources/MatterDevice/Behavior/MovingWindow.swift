package import MatterProtocol

/// The mean and the peak of a measurement in the last hour or so. A value type without a clock.
package struct MovingWindow: Hashable, Sendable {
  private struct Slice: Hashable {
    var begin: Instant
    var end: Instant
    var mean: Double
    var peak: Double
    var length: Double { Double((end - begin).nanoseconds) }
  }

  /// The length of the window.
  package let length: Duration
  /// The number of slices that changing values are summed up in.
  private static let resolution = 60

  /// In the order of time.
  private var slices: [Slice] = []
  private var value: Double?
  private var now: Instant

  /// Creates a window that contains no value yet.
  init(_ length: Duration, at now: Instant = .zero) {
    (self.length, self.now) = (length, now)
  }

  /// Advances to a time, and sets the value from then on; nil if it is unknown.
  mutating func measure(_ value: Double?, at now: Instant) {
    advance(to: now)
    self.value = value
  }

  /// Advances to a time, which is not before that of the last call.
  package mutating func advance(to now: Instant) {
    defer { self.now = max(now, self.now) }
    let begin = Instant(nanoseconds: now.nanoseconds.saturatingSubtract(length.nanoseconds))
    slices.removeAll { $0.end <= begin }
    for index in slices.indices where slices[index].begin < begin { slices[index].begin = begin }
    guard let value, now > self.now else { return }
    let new = Slice(begin: max(begin, self.now), end: now, mean: value, peak: value)
    guard let last = slices.last, last.end == new.begin, now - last.begin < step else { return slices.append(new) }
    // Equal values stay exact, so that the window settles.
    let mean =
      last.mean == value
      ? value : (last.mean * last.length + new.mean * new.length) / (last.length + new.length)
    slices[slices.count - 1] = Slice(begin: last.begin, end: now, mean: mean, peak: max(last.peak, value))
  }

  private var step: Duration { length / Self.resolution }

  /// The mean over time; nil if the value was unknown all the time.
  var mean: Double? {
    let total = slices.reduce(0) { $0 + $1.length }
    return total > 0 ? slices.reduce(0) { $0 + $1.mean * $1.length } / total : value
  }

  /// The highest value; nil if it was unknown all the time.
  var peak: Double? { (slices.map(\.peak) + (value.map { [$0] } ?? [])).max() }

  /// The time of the next change of the mean or the peak that is due to the time alone; nil if there is none.
  var nextChange: Instant? {
    let isSettled = slices.allSatisfy { $0.mean == value && $0.peak == value }
    return isSettled ? nil : now + step
  }
}
