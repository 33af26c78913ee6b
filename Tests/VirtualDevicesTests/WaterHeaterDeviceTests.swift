import MatterClusters
import MatterDevice
import MatterModel
import MatterProtocol
import Testing

@testable import VirtualDevices

/// Water heaters of definition files, in virtual time.
@Suite("Water heaters") struct WaterHeaterDeviceTests {
  private typealias Heater = WaterHeaterManagement

  private func engine(_ device: String) throws -> DeviceEngine {
    let text = "devices:\n  - { name: W, \(device) }\n"
    return try DeviceEngine(
      try #require(try HomeDefinition.load(simulating: [("home.yaml", text)]).devices.first))
  }

  private func at(_ minutes: Int64) -> Instant { .zero + .seconds(60 * minutes) }

  private func power(_ engine: inout DeviceEngine) -> Int64? {
    engine.value(ElectricalPowerMeasurement.activePower, on: 2)?.wrapped
  }

  @Test("measures the power of its heaters") func measuresPower() throws {
    var heater = try engine(
      "type: water heater, attributes: { thermostat.localTemperature: 15C }, "
        + "tank: { volume: 80l, cold: 12C, loss: 1.5W/K, heaters: { heatPump: 1.5kW, immersionElement1: 2kW }, "
        + "performance: 2.5 }")
    #expect(heater.value(Heater.tankVolume, on: 1) == 80)
    #expect(heater.value(Heater.heatDemand, on: 1) == .heatPump)
    #expect(power(&heater) == 600_000)
    advance(&heater, to: at(60))
    #expect(heater.value(ElectricalEnergyMeasurement.cumulativeEnergyImported, on: 2)?.wrapped?.energy == 600_000)
    // 1.5 kWh heat 80 kg by 16 °C, and some of it is lost.
    #expect(heater.value(Thermostat.localTemperature, on: 1)?.wrapped.map { (3000...3115).contains($0) } == true)
    advance(&heater, to: at(600))
    #expect(heater.value(Heater.tankPercentage, on: 1).map { $0 >= 95 } == true)
    try heater.act(set: Thermostat.systemMode, .off, on: 1, at: at(600))
    #expect(power(&heater) == 0 && heater.value(Heater.heatDemand, on: 1) == [])
  }

  @Test("a fuel takes no electrical power") func heatsWithFuel() throws {
    var heater = try engine("type: water heater, tank: { heaters: { boiler: 20kW } }")
    #expect(heater.value(Heater.heatDemand, on: 1) == .boiler && power(&heater) == 0)
  }

  @Test("draws water by its course, until the tap is moved") func draws() throws {
    var heater = try engine(
      "type: water heater, attributes: { thermostat.systemMode: off, thermostat.localTemperature: 60C }, "
        + "tank: { volume: 100l, loss: 0W/K, draw: { steps: [0 for 1h, 10 for 5m] } }")
    func temperature() -> Int16? { heater.value(Thermostat.localTemperature, on: 1)?.wrapped }
    #expect(heater.value(WaterHeaterMode.currentMode, on: 1) == 0)
    advance(&heater, to: at(60))
    #expect(temperature() == 6000)
    advance(&heater, to: at(66))
    // Half of the volume: 10 °C + 50 °C · exp(-0.5).
    #expect(temperature() == 4030)
    advance(&heater, to: at(120))
    #expect(temperature() == 4030)
    try heater.act(part: "tap", "open", on: 1, at: at(121))
    advance(&heater, to: at(122))
    let lower = try #require(temperature())
    #expect(lower < 4030)
    try heater.act(part: "tap", "closed", on: 1, at: at(122))
    let rest = temperature()
    advance(&heater, to: at(200))
    #expect(temperature() == rest, "the course has ended")
  }

  @Test("behind a bridge it neither heats nor boosts without power") func pausesBehindBridge() throws {
    var bridge = try engine(
      "type: bridge, devices: [{ name: T, type: water heater, attributes: { thermostat.localTemperature: 30C } }]")
    let endpoint = try #require((2...5).map { EndpointID($0) }.first { bridge.value(Heater.heatDemand, on: $0) != nil })
    let meter = try #require(
      (2...5).map { EndpointID($0) }.first { bridge.value(ElectricalPowerMeasurement.activePower, on: $0) != nil })
    func power() -> Int64? { bridge.value(ElectricalPowerMeasurement.activePower, on: meter)?.wrapped }
    #expect(power() == 3_000_000)
    advance(&bridge, to: at(10))
    try bridge.power(false, bridgedOn: endpoint, at: at(10))
    let before = bridge.value(Thermostat.localTemperature, on: endpoint)?.wrapped
    advance(&bridge, to: at(130))
    try bridge.power(true, bridgedOn: endpoint, at: at(130))
    let after = bridge.value(Thermostat.localTemperature, on: endpoint)?.wrapped
    #expect(try #require(after) < #require(before), "it cooled down")
    #expect(power() == 3_000_000)
  }

  @Test("draws a constant flow") func drawsConstantly() throws {
    let text = "devices: [{ name: A, type: water heater, tank: { draw: 5 } }]"
    let device = try #require(try HomeDefinition.load(simulating: [("home.yaml", text)]).devices.first)
    #expect(device.climate.draw == .steps([.init(.real(5), at: .zero)]))
  }

  @Test(
    "reports problems",
    arguments: [
      ("type: thermostat, tank: { volume: 80l }", "this key only in a device of the type “water heater”"),
      ("type: water heater, tank: { volume: big }", "a value from 1l to 10000l"),
      ("type: water heater, tank: { cold: 90C }", "a value from 0C to 40C"),
      ("type: water heater, tank: { heaters: {} }", "the powers of the heaters"),
      ("type: water heater, tank: { heaters: { boiler: hot } }", "a power from 1W to 100kW"),
      ("type: water heater, tank: { heaters: { fire: 1kW } }", "found key “fire”"),
      ("type: water heater, tank: { performance: 3 }", "this key only beside a heater “heatPump”"),
      ("type: water heater, tank: { draw: { steps: [on for 5m] } }", "a number"),
      ("type: water heater, tank: { draw: { steps: [200 for 5m] } }", "a number from 0 to 100 in liters per minute"),
      ("type: water heater, tank: { draw: { sine: { mean: 1, amplitude: 5, period: 1h } } }", "liters per minute"),
      ("type: water heater, tank: { draw: much }", "found “much”, expected a number from 0 to 100 in liters"),
      ("type: water heater, tank: { draw: [5] }", "“steps:”, “file:”, “room:” or “expression:”"),
      ("type: plug, behave: { onOff.onOff: { sine: { mean: 1 } } }", "“steps”, “file” or “expression”"),
      ("type: water heater, tank: { draw: { room: Hall } }", "“room” at a temperature only"),
    ] as [(String, String)]) func reportsProblems(_ device: String, _ expected: String) throws
  {
    let error = #expect(throws: DefinitionError.self) { _ = try engine(device) }
    #expect(error?.problems.contains { "\($0)".contains(expected) } == true, "\(error?.problems.map { "\($0)" } ?? [])")
  }
}
