internal import MatterClusters
internal import MatterDevice
internal import MatterModel
internal import Yams

/// The keys `solar`, `storage`, `vehicle` and `tariff`.
package struct EnergyDefinition: Hashable, Sendable {
  /// The solar array.
  var solar = SolarArray()
  /// The battery of a battery storage.
  var storage = StorageBattery()
  /// The vehicle of a charging station.
  var vehicle = ElectricVehicle()
  /// The tariff of a utility meter.
  var tariff = EnergyTariff()
}

extension EnergyDefinition: DefaultValued {
  package static let defaultValue = EnergyDefinition()
}

// The keys `load`, `solar`, `storage`, `vehicle` and `tariff` of devices that measure, generate and store energy.
extension DefinitionReader {
  /// Reads the keys of solar arrays, battery storages and charging stations, and reports them at other devices.
  mutating func readEnergy(_ fields: [String: Node], of kind: DeviceKind?) -> EnergyDefinition {
    var energy = EnergyDefinition()
    if let node = fields["solar"], isPlaced(node, "solar", kind, in: [.solarPower]),
      let fields = self.fields(of: node, known: ["peak", "latitude", "longitude", "clouds"], what: "a solar array")
    {
      if let peak = measure(fields["peak"], .milliwatts, in: 0.001...100_000, "a power up to 100kW, such as 5kW") {
        energy.solar.peak = peak
      }
      energy.solar.latitude = degrees(fields["latitude"], 90) ?? energy.solar.latitude
      energy.solar.longitude = degrees(fields["longitude"], 180) ?? energy.solar.longitude
      if let node = fields["clouds"], let percent = readPercentage(node, expected: "a share from 0% to 100%") {
        energy.solar.clouds = percent / 100
      }
    }
    if let node = fields["storage"], isPlaced(node, "storage", kind, in: [.batteryStorage]),
      let fields = self.fields(
        of: node, known: ["capacity", "charge", "charging", "discharging"], what: "a battery storage")
    {
      let power = "a power up to 100kW, such as 5kW"
      let usual = energy.storage
      let charge = fields["charge"].flatMap { readPercentage($0, expected: "a charge from 0% to 100%") }
      energy.storage = StorageBattery(
        capacity: measure(
          fields["capacity"], .milliwattHours, in: 0.01...10_000, "an energy from 10Wh to 10000kWh, such as 10kWh")
          ?? usual.capacity,
        charge: charge ?? 50,
        charging: measure(fields["charging"], .milliwatts, in: 0...100_000, power) ?? usual.charging,
        discharging: measure(fields["discharging"], .milliwatts, in: 0...100_000, power) ?? usual.discharging)
    }
    if let node = fields["vehicle"], isPlaced(node, "vehicle", kind, in: [.evse]) {
      energy.vehicle = readVehicle(node)
    }
    if let node = fields["tariff"], let tariff = readTariff(node, of: kind) { energy.tariff = tariff }
    return energy
  }

  private mutating func readVehicle(_ node: Node) -> ElectricVehicle {
    var vehicle = ElectricVehicle()
    let keys = ["capacity", "charge", "charging", "trip"]
    guard let fields = fields(of: node, known: keys, what: "a vehicle") else { return vehicle }
    if let capacity = measure(
      fields["capacity"], .milliwattHours, in: 0.1...1000, "an energy from 100Wh to 1000kWh, such as 60kWh")
    {
      vehicle.capacity = capacity
    }
    if let node = fields["charge"], let percent = readPercentage(node, expected: "a charge from 0% to 100%") {
      vehicle.charge = percent
    }
    if let power = measure(fields["charging"], .milliwatts, in: 0.001...100_000, "a power up to 100kW, such as 11kW") {
      vehicle.charging = power
    }
    if let node = fields["trip"],
      let energy = measure(node, .milliwattHours, in: 0...1000, "an energy up to 1000kWh, such as 8kWh")
    {
      vehicle.trip = energy
      if energy > vehicle.capacity { report(node, expected: "an energy up to the capacity of the vehicle") }
    }
    return vehicle
  }

  /// Reads a measure with its unit, and returns the encoded number.
  mutating func measure(
    _ node: Node?, _ unit: ValueUnit, in range: ClosedRange<Double>, _ expected: String
  ) -> Int64? {
    guard let node else { return nil }
    guard let measure = unit.measure(node.scalar?.string ?? ""), range.contains(measure) else {
      report(node, expected: expected)
      return nil
    }
    return unit.encoded(measure)
  }

  private mutating func degrees(_ node: Node?, _ limit: Double) -> Double? {
    guard let node else { return nil }
    let text = node.scalar?.string ?? ""
    guard let number = ScalarReading.real(text) ?? ScalarReading.integer(text).map({ Double($0) }), abs(number) <= limit
    else {
      report(node, expected: "degrees from -\(Int(limit)) to \(Int(limit))")
      return nil
    }
    return number
  }

  /// Reads a power, or a behavior of it, for the attribute ActivePower.
  mutating func readLoad(
    _ node: Node, of kind: DeviceKind?, _ values: inout [InitialValue], _ behaviors: inout [BehaviorDefinition]
  ) {
    let kinds = DeviceKind.all.filter { DeviceAssembly.loadEndpoint(of: $0) != nil }
    guard isPlaced(node, "load", kind, in: kinds), let endpoint = kind.flatMap(DeviceAssembly.loadEndpoint(of:)) else {
      return
    }
    let mark = document.mark(of: node)
    do throws(DefinitionError) {
      let attribute = try AttributeReading.attribute(
        "\(endpoint).electricalPowerMeasurement.activePower", mark: mark, catalogue: catalogue)
      if let other = (values + behaviors.map(\.attribute)).first(where: { $0.isSameAttribute(as: attribute) }) {
        report(
          at: mark, found: "“load”", expected: "only one of this key and \(other.path) in line \(other.mark.line)")
      } else if case .mapping = node {
        if let behavior = readBehavior(node, of: attribute) { behaviors.append(behavior) }
      } else {
        let text = node.scalar?.string ?? ""
        guard let watts = ValueUnit.milliwatts.measure(text),
          ElectricalPowerServer.range.contains(ValueUnit.milliwatts.encoded(watts))
        else {
          report(
            node, expected: "a power such as 60W or 1.5kW, or a behavior such as { steps: [60W for 1h, 0W for 2h] }")
          return
        }
        values.append(try AttributeReading.read(node, of: attribute, mark: mark, catalogue: catalogue))
      }
    } catch {
      problems += error.problems
    }
  }
}
