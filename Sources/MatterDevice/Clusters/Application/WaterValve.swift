import MatterClusters
import MatterProtocol

/// A motor valve that closes after a time: a value type without a clock, which is advanced to the time of its owner.
struct WaterValve: Hashable, Sendable {
  /// Levels in percent; 0 is closed.
  private(set) var motor: PositionedMotor
  /// The time at which the valve closes; nil if it stays open.
  private(set) var closesAt: Instant?
  private(set) var fault: ValveConfigurationAndControl.ValveFault = []

  static let levels = 0...100 as ClosedRange<Int64>

  init(_ motor: PositionedMotor) { self.motor = motor }

  /// Whether a fault prevents movements. A leak does not.
  var isBlocked: Bool { !fault.subtracting(.leaking).isEmpty }

  var state: ValveConfigurationAndControl.ValveState? {
    if motor.isMoving { return .transitioning }
    return motor.position.map { $0 > 0 ? .open : .closed }
  }

  /// The remaining seconds until the valve closes; nil if it stays open.
  func remaining(at now: Instant) -> UInt32? {
    closesAt.map { UInt32(clamping: (max($0 - now, .zero).milliseconds + 999) / 1000) }
  }

  /// Opens the valve to a level.
  /// - Parameter duration: The time until it closes, from now on; nil to stay open.
  mutating func open(to level: Int64, for duration: Duration?, at now: Instant) {
    motor.move(to: level, at: now)
    closesAt = duration.map { now + $0 }
  }

  mutating func close(at now: Instant) {
    motor.move(to: 0, at: now)
    closesAt = nil
  }

  /// Sets the level by other means than the motor; nil if it is unknown.
  mutating func turn(to level: Int64?) {
    motor.place(at: level ?? motor.motor.position, isNoticed: level != nil)
    closesAt = nil
  }

  /// Registers or clears faults. A leaking valve closes; a blocked one that was to close does so afterward.
  mutating func set(_ fault: ValveConfigurationAndControl.ValveFault, at now: Instant) {
    advance(to: now)
    let isLeak = fault.contains(.leaking) && !self.fault.contains(.leaking)
    self.fault = fault
    if isBlocked {
      motor.fail(at: now)
    } else if isLeak || closesAt.map({ $0 <= now }) == true {
      close(at: now)
    }
  }

  /// Advances to a time, which is not before that of the last call.
  mutating func advance(to now: Instant) {
    if let closesAt, closesAt <= now, !isBlocked {
      motor.advance(to: closesAt)
      close(at: closesAt)
    }
    motor.advance(to: now)
  }

  /// Returns the next time at which to advance.
  func nextUpdate(after now: Instant) -> Instant? {
    .earlier(motor.nextUpdate(after: now), closesAt.flatMap { isBlocked && $0 <= now ? nil : $0 })
  }
}
