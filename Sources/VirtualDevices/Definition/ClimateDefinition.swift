internal import MatterDevice
internal import MatterModel
internal import MatterProtocol
internal import Yams

/// The keys `climate`, `filters` and `tank` of devices that heat, cool and clean the air, and that heat water.
package struct ClimateDefinition: Hashable, Sendable {
  /// The heat capacity of the room in joules per kelvin.
  var capacity = 2_000_000.0
  /// The heat that the room loses to the outdoors, in watts per kelvin.
  var loss = 80.0
  /// The power of the heating in watts; nil for that of the kind.
  var heating: Int?
  /// The power of the cooling in watts; nil for that of the kind.
  var cooling: Int?
  /// The heat that a heat pump moves for each unit of electrical energy, at 7 °C outdoors, or 35 °C for cooling.
  var performance = 4.0
  /// The time for which a HEPA filter lasts at full airflow.
  var hepa = Duration.seconds(4000 * 3600)
  /// The time for which a carbon filter lasts at full airflow.
  var carbon = Duration.seconds(2000 * 3600)
  /// The tank and the heat sources of a water heater.
  var water = WaterHeaterSettings()
  /// The water that is drawn from a water heater in liters per minute; nil for none.
  var draw: Behavior.Course?

  /// Returns a copy in which missing powers have the defaults of the kind.
  func withPowers(of kind: DeviceKind) -> Self {
    var climate = self
    (climate.heating, climate.cooling) = (heating ?? kind.heating, cooling ?? kind.cooling)
    return climate
  }

  /// The electrical power of a heat pump in the worst weather, in milliwatts.
  var highestElectricalPower: Int64 { Int64(max(heating ?? 0, cooling ?? 0)) * 1000 }

  /// Returns the electrical power of a heat pump in milliwatts.
  /// - Parameters:
  ///   - power: The heat in watts, negative for cooling.
  ///   - outdoor: The temperature in degrees Celsius. Each degree that makes the task harder costs 2.5 % of the
  ///     performance.
  func electricalPower(for power: Int, outdoor: Double) -> Int64 {
    let ease = power < 0 ? 35 - outdoor : outdoor - 7
    let present = max(1, performance * min(2, 1 + ease / 40))
    return Int64((Double(abs(power)) * 1000 / present).rounded())
  }
}

extension ClimateDefinition: DefaultValued {
  package static let defaultValue = ClimateDefinition()
}

extension DefinitionReader {
  /// Reads the keys of devices that heat, cool and clean the air, and reports them at other devices.
  mutating func readClimate(_ fields: [String: Node], of kind: DeviceKind?) -> ClimateDefinition {
    var climate = ClimateDefinition()
    if let node = fields["climate"], isPlaced(node, "climate", kind, in: DeviceKind.all.filter(\.conditionsRoom)),
      let fields = self.fields(
        of: node,
        known: ["capacity", "loss", "heating"] + (kind == .radiatorThermostat ? [] : ["cooling"])
          + (kind == .heatPump ? ["performance"] : []), what: "a climate")
    {
      if let value = amount(fields["capacity"], unit: "kJ/K", in: 10...100_000) { climate.capacity = value * 1000 }
      if let value = amount(fields["loss"], unit: "W/K", in: 1...10_000) { climate.loss = value }
      climate.heating = amount(fields["heating"], unit: "W", in: 0...100_000).map { Int($0) }
      climate.cooling = amount(fields["cooling"], unit: "W", in: 0...100_000).map { Int($0) }
      climate.performance = performance(fields["performance"]) ?? climate.performance
      if let kind, climate.heating ?? kind.heating == 0, climate.cooling ?? kind.cooling == 0 {
        report(node, expected: "a power above 0W for “heating” or “cooling”")
      }
    }
    if let node = fields["filters"], isPlaced(node, "filters", kind, in: [.airPurifier, .extractorHood]),
      let fields = self.fields(
        of: node, known: kind == .extractorHood ? ["carbon"] : ["hepa", "carbon"], what: "filters")
    {
      climate.hepa = lifetime(fields["hepa"]) ?? climate.hepa
      climate.carbon = lifetime(fields["carbon"]) ?? climate.carbon
    }
    if let node = fields["tank"] { readTank(node, of: kind, &climate) }
    return climate
  }

  mutating func amount(_ node: Node?, unit: String, in range: ClosedRange<Int>) -> Double? {
    guard let node else { return nil }
    let text = node.scalar?.string ?? ""
    let number = text.hasSuffix(unit) ? String(text.dropLast(unit.count)) : text
    let digits = number.last == " " ? String(number.dropLast()) : number
    let value = ScalarReading.real(digits) ?? ScalarReading.integer(digits).map { Double($0) }
    guard let value, Double(range.lowerBound) <= value, value <= Double(range.upperBound) else {
      report(node, expected: "a value from \(range.lowerBound)\(unit) to \(range.upperBound)\(unit)")
      return nil
    }
    return value
  }

  private mutating func lifetime(_ node: Node?) -> Duration? {
    guard let node else { return nil }
    // The upper limit keeps the arithmetic of the use within 64 bits.
    guard let time = TimeText.duration(node.scalar?.string ?? ""), .seconds(60)...Duration.seconds(86_400_000) ~= time
    else {
      report(node, expected: "the time of use from 1m to 24000h for which the filter lasts")
      return nil
    }
    return time
  }
}
