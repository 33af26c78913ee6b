import MatterClusters

/// The decision of a thermostat whether to heat or to cool: a value without a clock. A hysteresis keeps it from
/// switching too often.
struct ThermostatControl: Hashable, Sendable {
  enum Action: Hashable, Sendable { case idle, heat, cool }

  /// The distance from the set point at which heating or cooling begins and ends, in hundredths of a degree.
  private static let hysteresis = 20

  private(set) var action = Action.idle

  /// Decides for a temperature.
  /// - Parameters:
  ///   - temperature: in hundredths of a degree; nil if the sensor fails.
  ///   - heat: the set point for heating, nil unless the mode permits heating.
  ///   - cool: the set point for cooling, nil unless the mode permits cooling.
  mutating func advance(to temperature: Int?, heat: Int?, cool: Int?) {
    guard let temperature else {
      action = .idle
      return
    }
    if let heat, temperature <= heat + (action == .heat ? Self.hysteresis - 1 : -Self.hysteresis) {
      action = .heat
    } else if let cool, temperature >= cool - (action == .cool ? Self.hysteresis - 1 : -Self.hysteresis) {
      action = .cool
    } else {
      action = .idle
    }
  }
}
