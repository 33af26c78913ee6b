import Foundation
import MatterClusters
import MatterDevice
import MatterModel
import MatterProtocol
import Testing

@testable import VirtualDevices

/// Devices that follow expressions of other devices, in virtual time.
@Suite("Devices that follow others") struct FollowingDeviceTests {
  private let greenhouse = """
      - name: Weather
        room: Garden
        type: temperature sensor
        behave: { temperatureMeasurement.measuredValue: { steps: [5C for 10m, null for 10m, 8C] } }
      - name: Heater
        room: Greenhouse
        type: on/off plug-in unit
      - name: Thermometer
        room: Greenhouse
        type: temperature sensor
        behave:
          temperatureMeasurement.measuredValue:
            expression: garden/weather.temperatureMeasurement.measuredValue + 3C * heater.onOff.onOff

    """

  private func home(_ devices: String) throws -> HomeDefinition {
    try HomeDefinition.load(simulating: [("home.yaml", "devices:\n" + devices)])
  }

  /// Starts the engines of a home that share their attributes.
  private func start(_ devices: String) throws -> (engines: [DeviceEngine], rooms: Rooms, home: HomeDefinition) {
    let home = try home(devices)
    let rooms = Rooms(of: home.devices)
    let clock = BehaviorClock(origin: .zero, now: .zero, seed: 0, rooms: rooms)
    return (try home.devices.map { try DeviceEngine($0, clock) }, rooms, home)
  }

  private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

  private func measured(_ engine: inout DeviceEngine) -> Int16? {
    engine.value(TemperatureMeasurement.measuredValue, on: 1)?.wrapped
  }

  @Test("a temperature follows a heater and the weather") func followsDevices() throws {
    let started = try start(greenhouse)
    var engines = started.engines
    #expect(measured(&engines[2]) == 500)
    try engines[1].press(OnOff.on, NoFields(), on: 1, at: at(1))
    advance(&engines, to: at(29))
    #expect(measured(&engines[2]) == 500)
    advance(&engines, to: at(31))
    #expect(measured(&engines[2]) == 800)
    // Null of an operand gives null; the next value follows within a second.
    advance(&engines, to: at(660))
    #expect(measured(&engines[2]) == nil)
    advance(&engines, to: at(1201))
    #expect(measured(&engines[2]) == 1100)
    // A heater without power does not heat; the weather keeps its value.
    started.rooms.endEffects(of: started.home.devices.map(\.uniqueID), at: at(1201))
    advance(&engines, to: at(1232))
    #expect(measured(&engines[2]) == 800)
  }

  @Test("a home has the same values each time") func isDeterministic() throws {
    let devices = greenhouse.replacing(
      "steps: [5C for 10m, null for 10m, 8C]", with: "walk: { from: 1C, to: 9C, step: 1C }")
    func run() throws -> [Int16?] {
      var engines = try start(devices).engines
      return (1...30 as ClosedRange<Int64>).map { minute in
        advance(&engines, to: at(60 * minute))
        return measured(&engines[2])
      }
    }
    let first = try run()
    #expect(!first.contains(nil) && Set(first).count > 10)
    #expect(try run() == first)
  }

  @Test("a device may start before the devices that it follows") func startsBeforeOperands() throws {
    let home = try home(greenhouse)
    let clock = BehaviorClock(origin: .zero, now: .zero, seed: 0, rooms: Rooms(of: home.devices))
    var late = [try DeviceEngine(home.devices[2], clock)]
    #expect(measured(&late[0]) == nil)
    late += [try DeviceEngine(home.devices[0], clock), try DeviceEngine(home.devices[1], clock)]
    advance(&late, to: at(1))
    #expect(measured(&late[0]) == 500)
  }

  @Test("only attributes that expressions name are shared") func sharesNamedAttributesOnly() throws {
    let home = try home(greenhouse)
    let shared = SharedAttributes(of: home.devices)
    func names(_ index: Int, _ cluster: ClusterID) -> [AttributeID] {
      shared.named(of: home.devices[index].uniqueID, on: 1, cluster).map(\.attribute)
    }
    #expect(names(0, TemperatureMeasurement.id) == [TemperatureMeasurement.measuredValue.id])
    #expect(names(1, OnOff.id) == [OnOff.onOff.id])
    #expect(names(1, LevelControl.id) == [] && names(2, TemperatureMeasurement.id) == [])
  }

  @Test("booleans, the outdoor temperature, loads and taps follow expressions") func followsOnOtherAttributes() throws {
    var engines = try start(
      """
        - name: Lamp
          type: on/off light
        - name: Follower
          type: on/off light
          behave: { onOff.onOff: { expression: lamp.onOff.onOff, every: 1s } }
        - name: Weather
          type: temperature sensor
          attributes: { temperatureMeasurement.measuredValue: -7C }
        - name: Thermostat
          type: thermostat
          behave: { thermostat.outdoorTemperature: { expression: Weather.temperatureMeasurement.measuredValue } }
        - name: Meter
          type: electrical sensor
          load: { expression: 10W + 50W * lamp.onOff.onOff, every: 1s }
        - name: Dimmed
          type: dimmable light
          behave: { levelControl.currentLevel: { expression: 1000 * lamp.onOff.onOff - 5, every: 1s } }
        - name: Boiler
          type: water heater
          tank: { draw: { expression: 12 * lamp.onOff.onOff - 4, every: 1s } }

      """
    ).engines
    #expect(engines[1].value(OnOff.onOff, on: 1) == false)
    #expect(engines[3].value(Thermostat.outdoorTemperature, on: 1) == .value(-700))
    let power = { (engine: inout DeviceEngine) in
      engine.value(ElectricalPowerMeasurement.activePower, on: 2)?.wrapped
        ?? engine.value(ElectricalPowerMeasurement.activePower, on: 1)?.wrapped
    }
    #expect(power(&engines[4]) == 10_000)
    #expect(engines[5].value(LevelControl.currentLevel, on: 1) == .value(1))
    try engines[0].act(set: OnOff.onOff, true, on: 1, at: at(10))
    advance(&engines, to: at(12))
    #expect(engines[1].value(OnOff.onOff, on: 1) == true)
    #expect(power(&engines[4]) == 60_000)
    // The nearest bound of the range.
    #expect(engines[5].value(LevelControl.currentLevel, on: 1) == .value(254))
    advance(&engines, to: at(1200))
    #expect(engines[6].value(WaterHeaterManagement.tankPercentage, on: 1).map { $0 < 100 } == true)
  }

  @Test("bridged devices are followed, and do not heat without power") func followsBridgedDevices() throws {
    var engines = try start(
      """
        - name: Bridge
          type: bridge
          devices:
            - name: Heater
              type: plug
              attributes: { onOff.onOff: true }
        - name: Thermometer
          type: temperature sensor
          behave: { temperatureMeasurement.measuredValue: { expression: 20C * Heater.onOff.onOff, every: 1s } }

      """
    ).engines
    #expect(measured(&engines[1]) == 2000)
    try engines[0].power(false, bridgedOn: 2, at: at(1))
    advance(&engines, to: at(3))
    #expect(measured(&engines[1]) == 0)
    try engines[0].power(true, bridgedOn: 2, at: at(3))
    advance(&engines, to: at(5))
    #expect(measured(&engines[1]) == 2000)
  }

  // MARK: Definitions

  private func problems(_ expression: String, _ more: String = "") -> [String] {
    let text = """
      devices:
        - { name: Lamp, room: Hall, type: dimmable light }
        - { name: Lamp, room: Attic, type: on/off light }
        - name: Sensor
          type: temperature sensor
          behave:
            temperatureMeasurement.measuredValue:
              expression: \(expression)
      \(more)
      """
    let error = #expect(throws: DefinitionError.self) { try HomeDefinition.load(simulating: [("home.yaml", text)]) }
    return error?.problems.map(\.description) ?? []
  }

  @Test(
    "reports problems with their positions",
    arguments: [
      (
        "2 * Hal/Lamp.onOff.onOff",
        "25: found device “Hal/Lamp”, expected a device of the home: room/name, or the name if it is unique, "
          + "did you mean “Hall/Lamp”?"
      ),
      ("Lamp.onOff.onOff", "21: found device “Lamp”, expected a device of the home"),
      ("'2 * Hall/Lamp.onOf.onOff'", "36: found cluster “onOf”, expected a known cluster"),
      ("Hall/Lamp.onOff.on", "31: found attribute “on”, expected an attribute of onOff"),
      (
        "Attic/Lamp.levelControl.currentLevel",
        "32: found Attic/Lamp.1.levelControl.currentLevel, expected an attribute that the device has"
      ),
      (
        "Hall/Lamp.0.onOff.onOff",
        "31: found Hall/Lamp.0.onOff.onOff, expected an attribute that the device has, and that is not computed at each "
          + "read; its only endpoint is 1, did you mean “Hall/Lamp.1.onOff.onOff”?"
      ),
      ("Hall/Lamp.2.onOff.onOff", "31: found Hall/Lamp.2.onOff.onOff, expected an attribute that the device has"),
      ("Hall/Lamp.descriptor.serverList", "31: found attribute “serverList”, expected an attribute with a number"),
      ("Hall/Lamp.onOff.onOff +", "44: found the end of the expression, expected a number"),
      (
        "Sensor.temperatureMeasurement.measuredValue + 1",
        "21: found Sensor.1.temperatureMeasurement.measuredValue, expected an attribute that does not follow this one"
      ),
      ("[1]", "21: found a list, expected an expression such as kitchen/lamp.onOff.onOff * 60W"),
    ]) func reports(_ expression: String, _ expected: String)
  {
    let found = problems(expression)
    #expect(found.count == 1 && found.first?.hasPrefix("home.yaml:8:" + expected) == true, "\(found)")
  }

  @Test("reports problems of other keys") func reportsOtherProblems() {
    let cycle = problems(
      "Other.temperatureMeasurement.measuredValue",
      """
        - name: Other
          type: temperature sensor
          behave: { temperatureMeasurement.measuredValue: { expression: 1 + Sensor.temperatureMeasurement.measuredValue } }
      """)
    #expect(
      cycle == [
        "home.yaml:11:71: found Sensor.1.temperatureMeasurement.measuredValue, "
          + "expected an attribute that does not follow this one"
      ])
    let elsewhere = problems("B.powerSource.batPercentRemaining", "  - { name: B, type: battery storage }")
    #expect(
      elsewhere.count == 1 && elsewhere[0].hasSuffix("did you mean “B.3.powerSource.batPercentRemaining”?"),
      "\(elsewhere)")
    let label = problems(
      "1",
      """
        - name: Other
          type: on/off light
          behave: { onOff.onOff: { steps: [true], every: 5s }, basicInformation.nodeLabel: { expression: 1 } }
      """)
    #expect(
      label == [
        "home.yaml:11:52: found “every”, expected this key here only beside “expression”",
        "home.yaml:11:100: found 1, expected “steps” or “file”: the attribute is neither a number nor true or false",
      ])
    let absent = problems(
      "1", "  - { name: B, type: on/off light, behave: { levelControl.currentLevel: { expression: 1 } } }")
    #expect(
      absent.first?.hasPrefix("home.yaml:9:46: found 1.levelControl.currentLevel, expected an attribute that") == true)
  }

  @Test("devices that are added to a bridge follow no others") func rejectsOnRunningBridge() throws {
    let bridge = try #require(
      try home("  - { name: B, type: bridge, devices: [{ name: A, type: plug }] }\n").devices.first)
    let text = "{ name: C, type: plug, behave: { onOff.onOff: { expression: A.onOff.onOff } } }"
    let document = YAMLDocument(file: "device", text: text)
    let node = try #require(try document.root())
    let error = #expect(throws: DefinitionError.self) { try bridge.bridgedDevices(node, in: document) }
    #expect(error?.problems.first?.found == "an expression")
  }
}
