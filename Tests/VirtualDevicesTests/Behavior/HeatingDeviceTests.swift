import MatterClusters
import MatterDevice
import MatterModel
import MatterProtocol
import Testing

@testable import VirtualDevices

/// Heat pumps, radiator thermostats and cabinets of definition files, in virtual time.
@Suite("Heating devices") struct HeatingDeviceTests {
  private func engine(_ device: String) throws -> DeviceEngine {
    let text = "devices:\n  - { name: H, \(device) }\n"
    return try DeviceEngine(
      try #require(try HomeDefinition.load(simulating: [("home.yaml", text)]).devices.first),
      BehaviorClock(origin: .zero, now: .zero, seed: 0, rooms: Rooms()))
  }

  private func at(_ minutes: Int64) -> Instant { .zero + .seconds(60 * minutes) }

  private func temperature(_ engine: inout DeviceEngine, on endpoint: EndpointID) -> Int16? {
    engine.value(Thermostat.localTemperature, on: endpoint)?.wrapped
  }

  private func power(_ engine: inout DeviceEngine) -> Int64? {
    engine.value(ElectricalPowerMeasurement.activePower, on: 3)?.wrapped
  }

  // MARK: Heat pump

  private func pump(inside: String, outdoor: String, _ climate: String) -> String {
    "type: heat pump, climate: { \(climate) }, attributes: "
      + "{ 2.thermostat.localTemperature: \(inside), 2.thermostat.outdoorTemperature: \(outdoor) }"
  }

  @Test("heats its room with less electrical power, by the weather") func pumpsHeat() throws {
    var pump = try engine(pump(inside: "16C", outdoor: "7C", "heating: 6000W, performance: 4"))
    #expect(pump.value(Thermostat.thermostatRunningState, on: 2) == .heat)
    #expect(power(&pump) == 1_500_000)
    #expect(
      pump.value(DeviceEnergyManagement.powerAdjustmentCapability, on: 1)?.wrapped?.powerAdjustCapability
        == .value([.init(minPower: 450_000, maxPower: 1_500_000, minDuration: 60, maxDuration: 86_400)]))
    // 20 °C colder: half of the performance.
    try pump.act(set: Thermostat.outdoorTemperature, .value(-1300), on: 2, at: at(1))
    advance(&pump, to: at(2))
    #expect(power(&pump) == 3_000_000)
    advance(&pump, to: at(30))
    #expect(temperature(&pump, on: 2).map { $0 > 1900 } == true)
    try pump.act(set: Thermostat.systemMode, .off, on: 2, at: at(30))
    #expect(power(&pump) == 0)
    let energy = pump.value(ElectricalEnergyMeasurement.cumulativeEnergyImported, on: 3)?.wrapped?.energy ?? 0
    advance(&pump, to: at(60))
    let after = pump.value(ElectricalEnergyMeasurement.cumulativeEnergyImported, on: 3)?.wrapped?.energy ?? 0
    #expect((0...60_000).contains(after - energy), "the last snapshot")
    #expect(pump.value(Thermostat.occupiedCoolingSetpoint, on: 2) == nil, "it can't cool")
  }

  @Test("cools if it has a power for it") func pumpsCold() throws {
    var pump = try engine(pump(inside: "30C", outdoor: "35C", "heating: 0W, cooling: 4000W, performance: 3.2"))
    #expect(pump.value(Thermostat.thermostatRunningState, on: 2) == .cool)
    #expect(power(&pump) == 1_250_000)
    advance(&pump, to: at(120))
    #expect(temperature(&pump, on: 2).map { $0 < 2700 } == true)
  }

  @Test("serves the parts that the Device Library requires") func hasParts() throws {
    let device = try #require(
      try HomeDefinition.load(simulating: [("home.yaml", "devices:\n  - { name: H, type: heat pump }\n")]).devices.first
    )
    let endpoints = DeviceAssembly.endpoints(of: device)
    #expect(
      endpoints.map { $0.deviceTypes.map(\.id) } == [
        [DeviceTypes.heatPump.id, DeviceTypes.deviceEnergyManagement.id], [DeviceTypes.thermostat.id],
        [DeviceTypes.electricalSensor.id, DeviceTypes.powerSource.id],
      ])
    #expect(endpoints[1].servers.contains { $0.id == UserLabel.id })
    #expect(endpoints[0].parts == [2, 3])
  }

  // MARK: Radiator

  private let radiator =
    "type: radiator thermostat, attributes: { thermostat.localTemperature: 16C, thermostat.outdoorTemperature: 4C }, "
    + "climate: { capacity: 800kJ/K, loss: 40W/K, heating: 1500W }"

  @Test("a valve opens until the room has its set point, and stays partly open") func regulates() throws {
    var radiator = try engine(radiator)
    #expect(radiator.value(Thermostat.piHeatingDemand, on: 1) == 100)
    advance(&radiator, to: at(600))
    for minute in stride(from: 610 as Int64, through: 1200, by: 10) {
      advance(&radiator, to: at(minute))
      #expect(temperature(&radiator, on: 1).map { (1990...2010).contains($0) } == true)
    }
    // 640 W of 1500 W keep the temperature.
    #expect(radiator.value(Thermostat.piHeatingDemand, on: 1).map { (40...46).contains($0) } == true)
    #expect(radiator.value(PowerSource.batQuantity, on: .root) == 2)
  }

  @Test("a blocked valve keeps its opening") func blocks() throws {
    var radiator = try engine(radiator)
    try radiator.act(part: "valve", "blocked", on: 1, at: .zero)
    advance(&radiator, to: at(600))
    #expect(radiator.value(Thermostat.piHeatingDemand, on: 1) == 0)
    let hot = try #require(temperature(&radiator, on: 1))
    #expect(hot > 3500)
    try radiator.act(part: "valve", "free", on: 1, at: at(600))
    advance(&radiator, to: at(700))
    #expect(temperature(&radiator, on: 1).map { $0 < hot - 300 } == true)
  }

  // MARK: Cabinets

  @Test("compartments behind a bridge warm up without power") func warmsWithoutPower() throws {
    var bridge = try engine("type: bridge, devices: [{ name: F, type: refrigerator }]")
    let found = (2...8).map { EndpointID($0) }.filter {
      bridge.value(TemperatureMeasurement.measuredValue, on: $0) != nil
    }
    let whole = try #require(
      (2...8).map { EndpointID($0) }.first { bridge.value(RefrigeratorAlarm.state, on: $0) != nil })
    func temperatures() -> [Int16?] {
      found.map { bridge.value(TemperatureMeasurement.measuredValue, on: $0)?.wrapped }
    }
    #expect(temperatures() == [400, -1800])
    advance(&bridge, to: at(60))
    try bridge.power(false, bridgedOn: whole, at: at(60))
    advance(&bridge, to: at(180))
    try bridge.power(true, bridgedOn: whole, at: at(180))
    // A half of the time constant: 21 °C - 17 °C · exp(-0.5), and 21 °C - 39 °C · exp(-0.5).
    #expect(temperatures() == [1070, -270])
    advance(&bridge, to: at(600))
    #expect(temperatures() == [400, -1800])
  }

  @Test("a cabinet starts with the temperature of its definition") func startsWithDefinedTemperature() throws {
    var fridge = try engine("type: refrigerator, attributes: { 2.temperatureMeasurement.measuredValue: 12C }")
    #expect(fridge.value(TemperatureMeasurement.measuredValue, on: 2) == .value(1200))
    advance(&fridge, to: at(600))
    #expect(fridge.value(TemperatureMeasurement.measuredValue, on: 2) == .value(400))
  }

  @Test(arguments: [
    ("type: thermostat, climate: { performance: 3 }", "found key “performance”"),
    ("type: radiator thermostat, climate: { cooling: 1W }", "found key “cooling”"),
    ("type: heat pump, climate: { performance: 0.5 }", "a value from 1 to 10"),
    ("type: heat pump, climate: { heating: 0W }", "a power above 0W"),
    ("type: heat pump, attributes: { thermostat.localTemperature: 20C }", "an attribute that the device has"),
  ]) func reportsProblems(_ device: String, _ expected: String) throws {
    let error = #expect(throws: DefinitionError.self) { _ = try engine(device) }
    #expect(error?.problems.contains { "\($0)".contains(expected) } == true, "\(error?.problems.map { "\($0)" } ?? [])")
  }
}
