import MatterClusters
import MatterProtocol

/// A centrifugal pump with a rotor that takes time to change its speed: a value type without a clock, which is advanced
/// to the time of its owner. Flow is proportional to the speed, pressure to its square and power to its cube.
struct Pump: Hashable, Sendable {
  /// The time from standstill to the maximum speed.
  private static let rampTime = Duration.seconds(5)
  /// The power of the electronics, and of the motor at its maximum speed, in watts.
  private static let electronics = 4.0, motor = 56.0

  /// The speed in revolutions per minute.
  private(set) var rotor: TravelMotor
  /// Whether the motor has power.
  private(set) var isOn = false
  /// The running time since the last full hour.
  private(set) var runningTime: Duration
  /// The energy since the last full kilowatt-hour, in joules.
  private(set) var energy: Double
  private var last: Instant

  private static let hour = Duration.seconds(3600), kilowattHour = 3_600_000.0

  init(maximumSpeed: Int64, runningTime: Duration = .zero, energy: Double = 0, at now: Instant) {
    rotor = TravelMotor(at: 0, in: 0...max(maximumSpeed, 1), time: Self.rampTime)
    (self.runningTime, self.energy, last) = (runningTime, energy, now)
  }

  /// The speed as a share of the maximum.
  var share: Double { Double(rotor.position) / Double(rotor.range.upperBound) }
  var isRunning: Bool { rotor.position > 0 }
  /// The electric power in watts.
  var power: Double { isOn ? Self.electronics + Self.motor * share * share * share : 0 }

  /// Drives the rotor to a speed, or lets it run down.
  mutating func drive(to speed: Int64?, at now: Instant) {
    advance(to: now)
    isOn = speed != nil
    if (rotor.target ?? rotor.position) != speed ?? 0 { rotor.start(to: speed ?? 0, at: now) }
  }

  /// Sets the speed by other means than the motor.
  mutating func turn(to speed: Int64, at now: Instant) {
    advance(to: now)
    rotor.place(at: speed)
  }

  /// Advances to a time, which is not before that of the last call.
  mutating func advance(to now: Instant) {
    if let arrival = rotor.arrival, arrival > last, arrival < now { step(to: arrival) }
    step(to: now)
  }

  /// Advances within a time in which the speed changes linearly.
  private mutating func step(to now: Instant) {
    let (start, wasRunning) = (share, isRunning)
    rotor.advance(to: now)
    let seconds = Double((now - last).nanoseconds) / 1e9
    if wasRunning || isRunning { runningTime += now - last }
    if isOn {
      // The mean of the cube of a linear function.
      let cube = (start * start * start + start * start * share + start * share * share + share * share * share) / 4
      energy += seconds * (Self.electronics + Self.motor * cube)
    }
    last = now
  }

  /// Returns the full hours and kilowatt-hours since the last call.
  mutating func takeCounts() -> (hours: UInt32, energy: UInt32) {
    let hours = runningTime.nanoseconds / Self.hour.nanoseconds
    let kilowattHours = (energy / Self.kilowattHour).rounded(.down)
    runningTime = .nanoseconds(runningTime.nanoseconds % Self.hour.nanoseconds)
    energy -= kilowattHours * Self.kilowattHour
    return (UInt32(clamping: hours), UInt32(exactly: kilowattHours) ?? .max)
  }

  /// Returns the next time at which to advance: the speed changes, or an hour or a kilowatt-hour is full.
  func nextUpdate(after now: Instant) -> Instant? {
    if let arrival = rotor.arrival { return min(arrival, now + .seconds(1)) }
    let hour = isRunning ? now + (Self.hour - runningTime) : nil
    guard power > 0 else { return hour }
    let seconds = (Self.kilowattHour - energy) / power
    return .earlier(hour, now + .milliseconds(Int64(seconds * 1000) + 1))
  }
}

/// The ranges of the control modes of a pump, as shares of its maximum speed, pressure and flow.
struct PumpRanges: Hashable, Sendable {
  var speed: ClosedRange<Double>
  var pressure: ClosedRange<Double>
  var compensatedPressure: ClosedRange<Double>
  var flow: ClosedRange<Double>

  /// Returns the speed for a set point, as a share of the maximum speed. It may be outside of the possible speeds.
  /// - Parameter setPoint: From 0 to 1.
  func speed(for setPoint: Double, in mode: PumpConfigurationAndControl.ControlMode) -> Double {
    func value(_ range: ClosedRange<Double>) -> Double {
      range.lowerBound + (range.upperBound - range.lowerBound) * setPoint
    }
    switch mode {
    case .constantPressure: return max(value(pressure), 0).squareRoot()
    case .proportionalPressure:
      // The pressure is reduced to half at no flow, so it is also the square of the speed that solves this equation.
      let half = max(value(compensatedPressure), 0) / 2
      return (half + (half * half + 4 * half).squareRoot()) / 2
    case .constantFlow: return value(flow)
    // The pump chooses a moderate speed.
    case .automatic: return 0.6
    default: return value(speed)
    }
  }

  /// Returns the capacity in a control mode: the speed, pressure or flow as a share of the highest set point.
  func capacity(at speed: Double, in mode: PumpConfigurationAndControl.ControlMode) -> Double {
    switch mode {
    case .constantPressure: speed * speed / max(pressure.upperBound, 0.001)
    case .proportionalPressure: speed * speed / max(compensatedPressure.upperBound, 0.001)
    case .constantFlow: speed / max(flow.upperBound, 0.001)
    default: speed / max(self.speed.upperBound, 0.001)
    }
  }
}
