internal import Glibc
package import MatterClusters
internal import MatterCrypto
internal import MatterProtocol

/// The values of an attribute over time: a value type without a clock, which is advanced to the time since its start.
///
///     var behavior = Behavior(.steps([.init(.boolean(true), at: .zero), .init(.boolean(false), at: .seconds(30))]))
///     behavior.advance(to: .seconds(40))  // value: false, nextChange: nil
package struct Behavior: Hashable, Sendable {
  /// The shape of the values.
  package enum Course: Hashable, Sendable {
    /// `mean` + `amplitude` · sin(2π · time / `period`), at each multiple of `every`.
    case sine(mean: Double, amplitude: Double, period: Duration, every: Duration, Quantity)
    /// A random walk that moves by at most `step` at each multiple of `every`, and turns back at its bounds.
    case walk(from: Double, in: ClosedRange<Double>, step: Double, every: Duration, Quantity)
    /// Each value from its time on, in the order of the times; the first one is zero. They start again after `period`;
    /// without one, the last value stays.
    case steps([Step], period: Duration? = nil)
    /// The temperature of a room.
    case room(String, Quantity)
    /// An expression of attributes of other devices, evaluated at this interval.
    case expression(AttributeExpression, every: Duration, Quantity)
  }

  /// A value outside of the device.
  package enum Source: Hashable, Sendable {
    /// The temperature of a room.
    case room(String)
    case attribute(AttributeExpression.Operand)
  }

  /// The value that begins at a time.
  package struct Step: Hashable, Sendable {
    package var value: InitialValue.Value
    package var at: Duration

    package init(_ value: InitialValue.Value, at: Duration) { (self.value, self.at) = (value, at) }
  }

  /// The meaning of the numbers of a course.
  package enum Quantity: Hashable, Sendable {
    /// Values of a floating-point attribute.
    case real
    /// Encoded values of an integer attribute.
    case integer
    /// Measures in the unit of an integer attribute.
    case measure(ValueUnit)
    /// False for zero, otherwise true.
    case boolean

    func value(of number: Double) -> InitialValue.Value {
      switch self {
      case .real: .real(number)
      case .integer: .integer(Int64(exactly: number.rounded()) ?? (number < 0 ? .min : .max))
      case .measure(let unit): .integer(unit.encoded(number))
      case .boolean: .boolean(number != 0)
      }
    }
  }

  private let course: Course
  private var random: SeededRandomSource
  /// The number of steps of a random walk so far, and its position.
  private var walked: Int64 = 0
  private var position = 0.0
  /// The value at the time of the last advance.
  package private(set) var value = InitialValue.Value.null
  /// The time of the next value; nil if the value stays.
  package private(set) var nextChange: Duration?

  /// Creates a behavior at a time since its start.
  /// - Parameter seed: determines a random walk.
  package init(_ course: Course, seed: UInt64 = 0, at time: Duration = .zero) {
    self.course = course
    random = SeededRandomSource(seed: seed)
    if case .walk(let start, _, _, _, _) = course { position = start }
    advance(to: time)
  }

  /// Advances to a time since the start, which is not before that of the last call.
  /// - Parameter sample: Returns a value outside of the device at that time; nil while it is unknown.
  package mutating func advance(to time: Duration, sampling sample: (Source) -> Double? = { _ in nil }) {
    let time = max(0, time.nanoseconds)
    switch course {
    case .sine(let mean, let amplitude, let period, let every, let quantity):
      let sample = time / every.nanoseconds * every.nanoseconds
      let phase = Double(sample % period.nanoseconds) / Double(period.nanoseconds)
      value = quantity.value(of: mean + amplitude * sin(2 * .pi * phase))
      nextChange = .nanoseconds(sample.saturatingAdd(every.nanoseconds))
    case .walk(_, let range, let step, let every, let quantity):
      let count = time / every.nanoseconds
      while walked < count {
        walked += 1
        position += step * (2 * random.nextFraction() - 1)
        // Reflected at the bound; a step is at most as long as the range.
        if position > range.upperBound { position = 2 * range.upperBound - position }
        if position < range.lowerBound { position = 2 * range.lowerBound - position }
      }
      value = quantity.value(of: position)
      nextChange = .nanoseconds((count * every.nanoseconds).saturatingAdd(every.nanoseconds))
    case .steps(let steps, let period):
      let start = period.map { time / $0.nanoseconds * $0.nanoseconds } ?? 0
      let next = steps.firstIndex(after: .nanoseconds(time - start))
      if next > 0 { value = steps[next - 1].value }
      let following = next < steps.count ? steps[next].at : steps.count > 1 ? period : nil
      nextChange = following.map { .nanoseconds(start.saturatingAdd($0.nanoseconds)) }
    case .room(let name, let quantity):
      follow(sample(.room(name)), quantity, every: .seconds(30), at: time)
    case .expression(let expression, let every, let quantity):
      follow(expression.value { sample(.attribute($0)) }, quantity, every: every, at: time)
    }
  }

  private mutating func follow(_ number: Double?, _ quantity: Quantity, every: Duration, at time: Int64) {
    value = number.map { quantity.value(of: $0) } ?? .null
    // The device that determines the number may start a little later.
    let wait = number == nil ? min(every, .seconds(1)) : every
    nextChange = .nanoseconds(time.saturatingAdd(wait.nanoseconds))
  }
}

extension [Behavior.Step] {
  /// Returns the index of the first step after a time, by binary search: a file may have many.
  fileprivate func firstIndex(after time: Duration) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].at <= time { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension SeededRandomSource {
  /// Returns a number from 0 to less than 1.
  fileprivate mutating func nextFraction() -> Double { Double(next() >> 11) / Double(1 << 53 as Int64) }
}
