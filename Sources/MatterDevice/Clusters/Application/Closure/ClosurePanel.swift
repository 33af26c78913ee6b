import MatterClusters
import MatterProtocol

/// A panel of a closure with its motor and its latch: a value type without a clock. A closure without panels is one
/// panel itself.
///
/// A movement has up to three steps: the latch is released, the panel travels, the latch is engaged.
struct ClosurePanel: Hashable, Sendable {
  /// How long a latch takes.
  static let latchTime = Duration.seconds(1)

  private enum Step: Hashable, Sendable {
    case unlatch, travel(Int64), calibrate, latch
  }

  private(set) var motor: PositionedMotor
  /// The duration of a full travel at the speeds Auto and Medium.
  private let time: Duration
  /// The smallest difference of two positions.
  private let resolution: Int64
  private(set) var isLatched: Bool
  /// The speed of the present and of following travels.
  private(set) var speed: ThreeLevelAuto = .auto
  /// The position that was last requested; nil after a stop and after a movement by hand.
  private(set) var goal: Int64?
  /// The state of the latch that was last requested; nil in the same cases.
  private(set) var latchGoal: Bool?
  private var steps: [Step] = []
  /// The end of the present movement of the latch.
  private var latchEnd: Instant?

  /// - Parameter time: The duration of a full travel.
  init(_ motor: PositionedMotor, resolution: Int64, time: Duration, isLatched: Bool) {
    (self.motor, self.resolution, self.time, self.isLatched) = (motor, max(resolution, 1), time, isLatched)
  }

  var isBusy: Bool { !steps.isEmpty }
  var isCalibrating: Bool { steps.contains(.calibrate) }
  /// Whether the last movement ended at an obstacle.
  var hasFailed: Bool { motor.hasFailed }

  /// The position, a multiple of the resolution; nil if unknown. It is the goal only at the end of the travel.
  var position: Int64? {
    guard let position = motor.position else { return nil }
    guard let target = motor.motor.target else { return rounded(position) }
    let lower = position / resolution * resolution
    return motor.motor.range.clamped(target > position || lower == position ? lower : lower + resolution)
  }

  /// Returns the nearest position that the panel can have.
  func fitting(_ position: Int64) -> Int64 { rounded(motor.motor.range.clamped(position)) }

  /// Returns whether the panel rests at a position, or at the nearest that it can have.
  func isAt(_ position: Int64) -> Bool { motor.position.map { !motor.isMoving && $0 == fitting(position) } ?? false }

  private func rounded(_ position: Int64) -> Int64 {
    motor.motor.range.clamped((position + resolution / 2) / resolution * resolution)
  }

  // MARK: Movements

  /// Starts a movement in place of the present one. A parameter that is nil keeps its last requested value.
  mutating func operate(position: Int64?, latch: Bool?, at now: Instant) {
    let travel =
      position.map { Step.travel(fitting($0)) } ?? steps.first { if case .travel = $0 { true } else { false } }
    let isReleased = latch == false || steps.contains(.unlatch)
    let isEngaged = latch ?? steps.contains(.latch)
    halt(at: now)
    if let position { goal = fitting(position) }
    if let latch { latchGoal = latch }
    if isReleased { steps.append(.unlatch) }
    if let travel { steps.append(travel) }
    if isEngaged { steps.append(.latch) }
    startStep(at: now)
  }

  /// Changes the speed, also of a present travel.
  mutating func setSpeed(_ speed: ThreeLevelAuto, at now: Instant) {
    self.speed = speed
    let (factor, divisor): (Int64, Int64) = speed == .low ? (2, 1) : speed == .high ? (1, 2) : (1, 1)
    motor.setTime(.nanoseconds(time.nanoseconds / divisor * factor), at: now)
  }

  /// Searches both ends; the latch is released before.
  mutating func calibrate(at now: Instant) {
    stop(at: now)
    steps = [.unlatch, .calibrate]
    startStep(at: now)
  }

  /// Stops the movement on request.
  mutating func stop(at now: Instant) {
    halt(at: now)
    (goal, latchGoal) = (nil, nil)
  }

  private mutating func halt(at now: Instant) {
    motor.halt(at: now)
    (steps, latchEnd) = ([], nil)
  }

  /// Puts an obstacle before the panel, which ends a travel.
  mutating func obstruct(at now: Instant) {
    motor.obstruct(at: now)
    if motor.hasFailed { halt(at: now) }
  }

  mutating func removeObstacle() {
    motor.removeObstacle()
    motor.clearFailure()
  }

  /// Moves the panel by hand.
  /// - Parameter position: The position; nil if the motor loses it.
  mutating func place(at position: Int64?, hasEncoder: Bool, at now: Instant) {
    stop(at: now)
    motor.place(at: position ?? motor.motor.position, isNoticed: position != nil && hasEncoder)
  }

  /// Moves the latch by hand.
  mutating func setLatch(_ isLatched: Bool, at now: Instant) {
    stop(at: now)
    self.isLatched = isLatched
  }

  // MARK: Time

  /// The end of the present step, or of a leg of it; nil at rest.
  private var nextEvent: Instant? { steps.isEmpty ? nil : latchEnd ?? motor.motor.arrival }

  /// Returns the next time at which to advance.
  func nextUpdate(after now: Instant) -> Instant? {
    isBusy ? latchEnd ?? motor.nextUpdate(after: now) : nil
  }

  /// The time at which the present movement ends, unless an obstacle is on the way; nil at rest.
  var completion: Instant? {
    var (panel, completion) = (self, Instant?.none)
    while let next = panel.nextEvent {
      completion = next
      panel.advance(to: next)
    }
    return completion
  }

  /// Advances to a time, which is not before that of the last call.
  mutating func advance(to now: Instant) {
    while let next = nextEvent, next <= now {
      if latchEnd == nil {
        motor.advance(to: next)
        if !motor.isMoving { finishStep(at: next) }
      } else {
        isLatched = steps.first == .latch
        latchEnd = nil
        finishStep(at: next)
      }
    }
    motor.advance(to: now)
  }

  private mutating func finishStep(at now: Instant) {
    if motor.hasFailed { steps = [] } else { steps.removeFirst() }
    startStep(at: now)
  }

  private mutating func startStep(at now: Instant) {
    while let step = steps.first {
      switch step {
      case .unlatch where isLatched, .latch where !isLatched:
        latchEnd = now + Self.latchTime
        return
      case .unlatch, .latch: break
      case .travel(let position): motor.move(to: position, at: now)
      case .calibrate: motor.calibrate(at: now)
      }
      if motor.isMoving { return }
      if motor.hasFailed { steps = [] } else { steps.removeFirst() }
    }
  }
}
