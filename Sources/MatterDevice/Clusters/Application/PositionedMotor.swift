import MatterProtocol
import MatterTLV

/// A motor with a control that knows its position, or finds it at an end of the range: a value type without a clock.
///
/// While the position is unknown, the control first travels to an end. The range begins at the end that it prefers.
struct PositionedMotor: Hashable, Sendable {
  private(set) var motor: TravelMotor
  /// Whether the control knows the position.
  private(set) var isKnown: Bool
  /// Whether both ends are being searched.
  private(set) var isCalibrating = false
  /// Whether an obstacle prevents the last movement.
  private(set) var isObstructed = false
  /// Whether the last movement ended before its goal.
  private(set) var hasFailed = false
  /// The ends of the present and of the following travels.
  private var legs: [Int64] = []
  private var obstacle: Obstacle?

  /// An obstacle on one side of the moved part, which can't pass it.
  private struct Obstacle: Hashable, Sendable {
    var position: Int64
    /// Whether it is on the way to the end of the range, and not on that to the beginning.
    var isAbove: Bool
  }

  init(_ motor: TravelMotor, isKnown: Bool = true) { (self.motor, self.isKnown) = (motor, isKnown) }

  /// The position, if it is known.
  var position: Int64? { isKnown ? motor.position : nil }
  /// The goal of the present movement; the position at rest. Nil if unknown, and during a calibration.
  var goal: Int64? { isCalibrating ? nil : legs.last ?? position }
  var isMoving: Bool { motor.target != nil }

  // MARK: Movements

  /// Starts a movement to a position.
  mutating func move(to goal: Int64, at now: Instant) {
    halt(at: now)
    (hasFailed, isObstructed) = (false, false)
    let (goal, range) = (motor.range.clamped(goal), motor.range)
    let isEnd = goal == range.lowerBound || goal == range.upperBound
    legs = isKnown || isEnd ? [goal] : [range.lowerBound, goal]
    startLeg(at: now)
  }

  /// Searches both ends of the range; the position is unknown until they are found.
  mutating func calibrate(at now: Instant) {
    move(to: motor.range.lowerBound, at: now)
    (isKnown, isCalibrating) = (false, true)
    legs = [motor.range.lowerBound, motor.range.upperBound]
    startLeg(at: now)
  }

  /// Stops the movement on request.
  mutating func halt(at now: Instant) {
    advance(to: now)
    motor.stop(at: now)
    (legs, isCalibrating) = ([], false)
  }

  /// Stops the movement by a failure.
  mutating func fail(at now: Instant) {
    advance(to: now)
    if isMoving { hasFailed = true }
    halt(at: now)
  }

  /// Puts an obstacle at the present position, in the direction of the movement or else toward the end of the range.
  mutating func obstruct(at now: Instant) {
    advance(to: now)
    obstacle = Obstacle(position: motor.position, isAbove: motor.target.map { $0 > motor.position } ?? true)
    fail(at: now)
    isObstructed = true
  }

  /// Changes the duration of a travel through the whole range. A present movement continues at the new speed.
  mutating func setTime(_ time: Duration, at now: Instant) {
    advance(to: now)
    motor.setTime(time, at: now)
  }

  mutating func removeObstacle() { (obstacle, isObstructed) = (nil, false) }
  mutating func clearFailure() { hasFailed = false }

  /// Moves the position by other means than the motor.
  /// - Parameter isNoticed: Whether the control knows the new position.
  mutating func place(at position: Int64, isNoticed: Bool) {
    (legs, isCalibrating) = ([], false)
    motor.place(at: position)
    isKnown = isNoticed
  }

  /// Advances to a time, which is not before that of the last call.
  mutating func advance(to now: Instant) {
    while let arrival = motor.arrival, arrival <= now {
      motor.advance(to: arrival)
      arrive(at: arrival)
    }
    motor.advance(to: now)
  }

  /// Starts the travel to the first of the legs, as far as an obstacle permits.
  private mutating func startLeg(at now: Instant) {
    guard let leg = legs.first else { return }
    motor.start(to: reachable(leg), at: now)
    if !isMoving { arrive(at: now) }
  }

  private func reachable(_ leg: Int64) -> Int64 {
    guard let obstacle else { return leg }
    if obstacle.isAbove, motor.position <= obstacle.position { return min(leg, obstacle.position) }
    if !obstacle.isAbove, motor.position >= obstacle.position { return max(leg, obstacle.position) }
    return leg
  }

  private mutating func arrive(at now: Instant) {
    guard let leg = legs.first else { return }
    guard motor.position == leg else {
      (legs, isCalibrating, hasFailed, isObstructed) = ([], false, true, true)
      return
    }
    legs.removeFirst()
    if legs.isEmpty { isCalibrating = false }
    if !isCalibrating { isKnown = true }
    startLeg(at: now)
  }
}

extension PositionedMotor {
  /// Restores a motor from its stored state.
  /// - Parameters:
  ///   - stored: The state that ``stored`` returned.
  ///   - hasEncoder: Whether the position is measured. Otherwise it is unknown if the motor was moving.
  init?(stored: [UInt8]?, in range: ClosedRange<Int64>, time: Duration, hasEncoder: Bool) {
    guard let stored, let values = try? [Int64](tlv: stored), values.count == 3 else { return nil }
    self.init(
      TravelMotor(at: values[0], in: range, time: time), isKnown: values[1] == 1 && (hasEncoder || values[2] == 0))
  }

  /// The position and knowledge, for the time without power.
  var stored: [UInt8] { [motor.position, isKnown ? 1 : 0, isMoving ? 1 : 0].tlv }

  /// Returns the next time at which to advance: the arrival, or earlier to update the position.
  func nextUpdate(after now: Instant) -> Instant? { motor.arrival.map { min($0, now + .seconds(1)) } }
}
