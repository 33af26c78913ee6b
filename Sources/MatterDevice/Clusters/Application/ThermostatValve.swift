import MatterProtocol

/// The control of a radiator's valve by a proportional and an integral part: a value without a clock.
struct ThermostatValve: Hashable, Sendable {
  /// The demand for a deviation of a hundredth of a degree, in percent.
  private static let gain = 0.4
  /// The time in which a constant deviation doubles its demand, in seconds.
  private static let resetTime = 3600.0

  /// The opening of the valve in percent, as in PIHeatingDemand.
  private(set) var demand: UInt8 = 0
  private var integral = 0.0
  private var last: Instant?

  /// Decides for a temperature. The deviation was constant since the last call.
  /// - Parameters:
  ///   - temperature: in hundredths of a degree; nil if the sensor fails.
  ///   - setpoint: in hundredths of a degree; nil unless the mode permits heating.
  mutating func advance(to temperature: Int?, setpoint: Int?, at now: Instant) {
    let seconds = max(0, Double((now - (last ?? now)).nanoseconds) / 1e9)
    last = now
    guard let temperature, let setpoint else {
      (demand, integral) = (0, 0)
      return
    }
    let proportional = Self.gain * Double(setpoint - temperature)
    let sum = proportional + integral
    // An integral that grows while the valve is at its end would have to shrink before the valve leaves it.
    if (proportional > 0 && sum < 100) || (proportional < 0 && sum > 0) {
      integral = min(max(integral + proportional * seconds / Self.resetTime, 0), 100)
    }
    demand = UInt8(min(max(proportional + integral, 0), 100).rounded())
  }
}
