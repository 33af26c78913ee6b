import MatterClusters
import MatterProtocol

/// The panels of a closure, and the conditions in which they don't move: a value type without a clock.
struct ClosureMechanism: Sendable {
  typealias MainState = ClosureControl.MainState
  typealias Target = ClosureControl.TargetPosition

  var panels: [ClosurePanel]
  /// The state that prevents movements: protected, disengaged, or setup required.
  private(set) var condition: MainState?
  /// The errors that the physical device reports besides obstacles.
  private var reported: [ClosureControl.ClosureError] = []
  /// The position that was last requested of all panels; nil after any other movement.
  private(set) var target: Target?
  /// The speed that was last requested of all panels.
  private(set) var speed = ThreeLevelAuto.auto
  /// The state of the latches that was last requested of all panels.
  private(set) var latchTarget: Bool?
  /// Whether a movement of all panels was requested.
  private(set) var hasTarget = false
  /// The positions that have names.
  let positions: [Target: Int64]

  init(panels: [ClosurePanel], condition: MainState?, positions: [Target: Int64]) {
    (self.panels, self.condition, self.positions) = (panels, condition, positions)
  }

  // MARK: State

  var errors: [ClosureControl.ClosureError] {
    let isBlocked = panels.contains(where: \.hasFailed) && !reported.contains(.physicallyBlocked)
    return (isBlocked ? [.physicallyBlocked] : []) + reported
  }

  var isBusy: Bool { panels.contains(where: \.isBusy) }

  var mainState: MainState {
    if let condition { return condition }
    if !errors.isEmpty { return .error }
    return panels.contains(where: \.isCalibrating) ? .calibrating : isBusy ? .moving : .stopped
  }

  /// Whether clients can move the closure.
  var acceptsMovements: Bool { [.stopped, .moving].contains(mainState) }
  /// Whether every latch is engaged.
  var isLatched: Bool { panels.allSatisfy(\.isLatched) }

  /// The position of the closure; nil if unknown.
  var position: ClosureControl.CurrentPosition? {
    guard panels.allSatisfy({ $0.motor.position != nil }) else { return nil }
    let range = panels.map(\.motor.motor.range)
    if zip(panels, range).allSatisfy({ $0.motor.position == $1.upperBound }) { return .fullyClosed }
    if zip(panels, range).allSatisfy({ $0.motor.position == $1.lowerBound }) { return .fullyOpened }
    let names: [(Target, ClosureControl.CurrentPosition)] = [
      (.moveToPedestrianPosition, .openedForPedestrian), (.moveToVentilationPosition, .openedForVentilation),
      (.moveToSignaturePosition, .openedAtSignature),
    ]
    for (target, name) in names {
      if let position = positions[target], panels.allSatisfy({ $0.isAt(position) }) { return name }
    }
    return .partiallyOpened
  }

  /// The time at which all panels rest; nil if they do.
  var completion: Instant? { panels.compactMap(\.completion).max() }

  /// Returns the next time at which to advance; nil at rest.
  func nextUpdate(after now: Instant) -> Instant? { panels.compactMap { $0.nextUpdate(after: now) }.min() }

  // MARK: Changes

  mutating func advance(to now: Instant) { change { $0.advance(to: now) } }

  /// Moves all panels.
  mutating func move(to target: Target?, latch: Bool?, speed: ThreeLevelAuto?, at now: Instant) {
    hasTarget = true
    if let target { self.target = target }
    if let latch { latchTarget = latch }
    if let speed {
      self.speed = speed
      change { $0.setSpeed(speed, at: now) }
    }
    guard target != nil || latch != nil else { return }
    let position = target.flatMap { positions[$0] }
    change { $0.operate(position: position, latch: latch, at: now) }
  }

  /// Moves one panel. The target of the closure has no name for that.
  mutating func movePanel(_ index: Int, to position: Int64?, latch: Bool?, speed: ThreeLevelAuto?, at now: Instant) {
    guard panels.indices.contains(index) else { return }
    if position != nil { target = nil }
    if latch != nil { latchTarget = panels.count == 1 ? latch : nil }
    if let speed {
      if panels.count == 1 { self.speed = speed }
      panels[index].setSpeed(speed, at: now)
    }
    if position != nil || latch != nil { panels[index].operate(position: position, latch: latch, at: now) }
  }

  mutating func calibrate(at now: Instant) {
    (target, latchTarget, condition) = (nil, nil, nil)
    change { $0.calibrate(at: now) }
  }

  mutating func stop(at now: Instant) {
    guard isBusy else { return }
    (target, latchTarget) = (nil, nil)
    change { $0.stop(at: now) }
  }

  /// Begins a condition that prevents movements; nil ends the present one.
  mutating func set(_ condition: MainState?, at now: Instant) {
    if condition != nil { stop(at: now) }
    self.condition = condition
  }

  /// Sets the errors that the physical device reports; without any, obstacles are also removed.
  mutating func set(_ errors: [ClosureControl.ClosureError], at now: Instant) {
    if errors.isEmpty { change { $0.removeObstacle() } } else { stop(at: now) }
    reported = errors
  }

  /// Puts an obstacle at the present positions, in the direction of the movement or else toward the closed end.
  mutating func obstruct(at now: Instant) {
    // Only the moving panels meet it; at rest, all of them.
    let isMoving = panels.contains(where: \.motor.isMoving)
    change { if !isMoving || $0.motor.isMoving { $0.obstruct(at: now) } }
    endIfFailed(at: now)
  }

  mutating func removeObstacle() {
    change { $0.removeObstacle() }
    reported.removeAll { $0 == .physicallyBlocked }
  }

  /// Moves all panels, or one, by hand.
  mutating func place(of index: Int? = nil, at position: Int64?, hasEncoder: Bool, at now: Instant) {
    target = nil
    for each in panels.indices where index == nil || each == index {
      panels[each].place(at: position, hasEncoder: hasEncoder, at: now)
    }
  }

  /// Moves all latches, or one, by hand.
  mutating func setLatch(_ isLatched: Bool, of index: Int? = nil, at now: Instant) {
    latchTarget = nil
    for each in panels.indices where index == nil || each == index {
      panels[each].setLatch(isLatched, at: now)
    }
  }

  /// Stops the other panels if one met an obstacle.
  mutating func endIfFailed(at now: Instant) {
    if panels.contains(where: \.hasFailed) { stop(at: now) }
  }

  private mutating func change(_ body: (inout ClosurePanel) -> Void) {
    for index in panels.indices { body(&panels[index]) }
  }
}
