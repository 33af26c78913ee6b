import MatterProtocol

/// A motor that travels at a constant speed: a value type without a clock, which is advanced to the time of its owner.
///
///     var motor = TravelMotor(at: 0, in: 0...10_000, time: .seconds(20))
///     motor.start(to: 5000, at: now)
///     motor.advance(to: now + .seconds(4))  // position: 2000, arrival: now + 10 s
struct TravelMotor: Hashable, Sendable {
  let range: ClosedRange<Int64>
  /// The duration of a travel through the whole range.
  private(set) var time: Duration
  /// The position at the time of the last advance.
  private(set) var position: Int64
  /// The end of the present travel; nil at rest.
  private(set) var target: Int64?
  private var origin: Int64
  private var departure = Instant.zero

  init(at position: Int64, in range: ClosedRange<Int64>, time: Duration) {
    (self.range, self.time) = (range, time)
    self.position = range.clamped(position)
    origin = self.position
  }

  /// The time at which the present travel ends; nil at rest.
  var arrival: Instant? { target.map { departure + duration(of: abs($0 - origin)) } }

  /// Starts a travel, which replaces the present one.
  mutating func start(to target: Int64, at now: Instant) {
    stop(at: now)
    let target = range.clamped(target)
    if target != position { (self.target, origin, departure) = (target, position, now) }
  }

  mutating func stop(at now: Instant) {
    advance(to: now)
    target = nil
  }

  /// Changes the duration of a travel through the whole range. A present travel continues at the new speed.
  mutating func setTime(_ time: Duration, at now: Instant) {
    let target = target
    stop(at: now)
    self.time = time
    if let target { start(to: target, at: now) }
  }

  /// Moves the position by other means than the motor, which stops.
  mutating func place(at position: Int64) {
    (self.position, target) = (range.clamped(position), nil)
  }

  /// Advances to a time, which is not before that of the last call.
  mutating func advance(to now: Instant) {
    guard let target, let arrival else { return }
    guard now < arrival else { return place(at: target) }
    // Before the arrival the product is below that of `duration(of:)`.
    let distance = (now - departure).nanoseconds * size / max(time.nanoseconds, 1)
    position = target > origin ? origin + distance : origin - distance
  }

  private var size: Int64 { range.upperBound - range.lowerBound }

  private func duration(of distance: Int64) -> Duration {
    .nanoseconds(time.nanoseconds / max(size, 1) * distance + time.nanoseconds % max(size, 1) * distance / max(size, 1))
  }
}

extension ClosedRange {
  /// Returns the value, or the nearer bound of the range.
  func clamped(_ value: Bound) -> Bound { Swift.min(Swift.max(value, lowerBound), upperBound) }
}
