import MatterClusters
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import VirtualDevices

/// Engines of devices that heat, cool and measure the air of their rooms, in virtual time.
@Suite("Climate devices") struct ClimateDeviceTests {
  private func engines(
    _ text: String, _ rooms: Rooms = Rooms(), at now: Instant = .zero
  ) throws -> [DeviceEngine] {
    let home = try HomeDefinition.load(simulating: [("home.yaml", "devices:\n" + text)])
    return try home.devices.map { device in
      try DeviceEngine(device, BehaviorClock(origin: .zero, now: now, seed: 0, rooms: rooms))
    }
  }

  private func at(_ minutes: Int64) -> Instant { .zero + .seconds(60 * minutes) }

  private func temperature(_ engine: inout DeviceEngine) -> Int? {
    engine.value(Thermostat.localTemperature, on: 1)?.wrapped.map { Int($0) }
  }

  private func state(_ engine: inout DeviceEngine) -> Thermostat.RelayState? {
    engine.value(Thermostat.thermostatRunningState, on: 1)
  }

  private func sensed(_ engine: inout DeviceEngine) -> Int? {
    engine.value(TemperatureMeasurement.measuredValue, on: 1)?.wrapped.map { Int($0) }
  }

  private func percent(_ engine: inout DeviceEngine) -> Int? {
    engine.value(FanControl.percentCurrent, on: 1).map { Int($0) }
  }

  private let heated = """
      - name: Thermostat
        room: Hall
        type: thermostat
        attributes: { thermostat.localTemperature: 16C, thermostat.outdoorTemperature: 5C }
      - name: Thermometer
        room: Attic
        type: temperature sensor
        behave: { temperatureMeasurement.measuredValue: { room: hall } }

    """

  @Test("a thermostat heats its room to its set point, and a sensor follows") func heats() throws {
    var engines = try engines(heated)
    #expect(state(&engines[0]) == .heat)
    advance(&engines, to: at(30))
    let early = try #require(temperature(&engines[0]))
    #expect((1650...1850).contains(early))
    var temperatures: [Int] = []
    var states: Set<UInt16> = []
    for minute in stride(from: 180 as Int64, through: 600, by: 1) {
      advance(&engines, to: at(minute))
      temperatures.append(try #require(temperature(&engines[0])))
      states.insert(try #require(state(&engines[0])).rawValue)
      let measured = try #require(sensed(&engines[1]))
      #expect(abs(measured - temperatures[temperatures.count - 1]) <= 15)
    }
    #expect(temperatures.allSatisfy { (1970...2030).contains($0) }, "\(temperatures)")
    #expect(states == [0, 1])
  }

  @Test("the same home has the same temperatures each time") func isDeterministic() throws {
    func run() throws -> [Int?] {
      var engines = try engines(heated)
      return (1...60 as ClosedRange<Int64>).map { minute in
        advance(&engines, to: at(10 * minute))
        return temperature(&engines[0])
      }
    }
    let first = try run()
    #expect(!first.contains(nil) && Set(first).count > 1)
    #expect(try run() == first)
  }

  @Test("a room cools down while its thermostat has no power") func coolsDownWithoutPower() throws {
    let rooms = Rooms()
    var engines = try engines(heated, rooms)
    advance(&engines, to: at(240))
    let warm = try #require(temperature(&engines[0]))
    let device = try #require(
      try HomeDefinition.load(simulating: [("home.yaml", "devices:\n" + heated)]).devices.first)
    rooms.endEffects(of: [device.uniqueID], at: at(240))
    var later = try self.engines(heated, rooms, at: at(480))
    let cold = try #require(temperature(&later[0]))
    #expect(cold < warm - 400 && cold > 500)
    #expect(state(&later[0]) == .heat)
  }

  @Test("physical changes apply to the room") func changesTheRoom() throws {
    var engines = try engines(heated)
    advance(&engines, to: at(240))
    try engines[0].act(set: Thermostat.localTemperature, .value(1200), on: 1, at: at(240))
    #expect(temperature(&engines[0]) == 1200)
    advance(&engines, to: at(241))
    #expect(sensed(&engines[1]).map { $0 < 1300 } == true)
    // The room continues from there.
    advance(&engines, to: at(300))
    #expect(try #require(temperature(&engines[0])) > 1300)
    // The sensor of the thermostat fails: it can't heat, and another sensor still measures.
    try engines[0].act(set: Thermostat.localTemperature, .null, on: 1, at: at(300))
    advance(&engines, to: at(420))
    #expect(engines[0].value(Thermostat.localTemperature, on: 1) == .null)
    #expect(state(&engines[0]) == [])
    let measured = try #require(sensed(&engines[1]))
    // The weather changes.
    try engines[0].act(set: Thermostat.outdoorTemperature, .value(3000), on: 1, at: at(420))
    advance(&engines, to: at(480))
    #expect(try #require(sensed(&engines[1])) > measured)
  }

  @Test("devices of one room share its air, and the weather of the first") func sharesAir() throws {
    var engines = try engines(
      """
        - name: Heater
          room: Hall
          type: thermostat
          attributes: { thermostat.localTemperature: 15C, thermostat.outdoorTemperature: 3C }
          climate: { heating: 5000W }
        - name: Cooler
          room: Hall
          type: room air conditioner
          attributes: { thermostat.localTemperature: 30C, thermostat.occupiedCoolingSetpoint: 18C }
        - name: Fan
          room: Hall
          type: fan
          attributes: { fanControl.fanMode: auto }

      """)
    #expect(temperature(&engines[1]) == 1500)
    #expect(engines[1].value(Thermostat.outdoorTemperature, on: 1) == .value(300))
    #expect(percent(&engines[2]) == 0)
    try engines[0].act(set: Thermostat.systemMode, .off, on: 1, at: at(1))
    try engines[0].act(set: Thermostat.localTemperature, .value(2800), on: 1, at: at(1))
    advance(&engines, to: at(2))
    #expect(state(&engines[1]) == [.cool, .fan])
    #expect(percent(&engines[2]).map { (60...75).contains($0) } == true)
    advance(&engines, to: at(600))
    #expect(try #require(temperature(&engines[0])) <= 1820)
  }

  @Test("an air conditioner starts in the mode Auto, and does not cool without its fan") func needsFan() throws {
    var engines = try engines(
      """
        - name: Cooler
          type: room air conditioner
          attributes: { thermostat.localTemperature: 29C, thermostat.outdoorTemperature: 33C }

      """)
    #expect(engines[0].value(FanControl.fanMode, on: 1) == .auto)
    #expect(state(&engines[0]) == [.cool, .fan])
    #expect(percent(&engines[0]) == 100)
    advance(&engines, to: at(30))
    let cooled = try #require(temperature(&engines[0]))
    #expect(cooled < 2900)
    try engines[0].act(set: FanControl.fanMode, .off, on: 1, at: at(30))
    #expect(state(&engines[0]) == [])
    #expect(percent(&engines[0]) == 0)
    advance(&engines, to: at(60))
    #expect(try #require(temperature(&engines[0])) > cooled)
    // At a fixed speed the fan also runs while the room is cool enough.
    try engines[0].act(set: FanControl.fanMode, .low, on: 1, at: at(60))
    #expect(state(&engines[0]) == [.cool, .fan])
    try engines[0].act(set: Thermostat.localTemperature, .value(2000), on: 1, at: at(61))
    #expect(state(&engines[0]) == .fan)
    try engines[0].act(set: FanControl.fanMode, .auto, on: 1, at: at(61))
    #expect(state(&engines[0]) == [])
    #expect(percent(&engines[0]) == 0)
  }

  /// PercentSetting and SpeedSetting 0 are the mode Off, which On/Off does not follow. Application Clusters § 4.4.6.
  @Test("the fan of an air conditioner is off at the setting 0", arguments: ["percentSetting", "speedSetting"])
  func fanIsOffAtZero(_ setting: String) throws {
    var engines = try engines(
      """
        - name: Cooler
          type: room air conditioner
          attributes: { thermostat.localTemperature: 29C, fanControl.\(setting): 0 }
        - name: Automatic
          type: room air conditioner
          attributes: { thermostat.localTemperature: 29C }

      """)
    if setting == "percentSetting" {
      try engines[1].act(set: FanControl.percentSetting, .value(0), on: 1, at: at(1))
    } else {
      try engines[1].act(set: FanControl.speedSetting, .value(0), on: 1, at: at(1))
    }
    for index in engines.indices {
      #expect(engines[index].value(FanControl.fanMode, on: 1) == .off)
      #expect(engines[index].value(FanControl.percentSetting, on: 1) == .value(0))
      #expect(engines[index].value(FanControl.speedSetting, on: 1) == .value(0))
      #expect(percent(&engines[index]) == 0 && state(&engines[index]) == [])
      #expect(engines[index].value(OnOff.onOff, on: 1) == true)
    }
  }

  @Test("bridged thermostats neither heat nor measure without power") func pausesBridgedDevices() throws {
    var engines = try engines(
      """
        - name: Bridge
          type: bridge
          devices:
            - name: Thermostat
              type: thermostat
              attributes: { thermostat.localTemperature: 16C }

      """)
    func temperature() -> Int16? { engines[0].value(Thermostat.localTemperature, on: 2)?.wrapped }
    advance(&engines, to: at(60))
    let warm = try #require(temperature())
    #expect(warm > 1700)
    try engines[0].power(false, bridgedOn: 2, at: at(60))
    advance(&engines, to: at(300))
    #expect(temperature() == warm)
    try engines[0].power(true, bridgedOn: 2, at: at(300))
    #expect(try #require(temperature()) < warm)
  }

  // MARK: Definitions

  @Test("powers determine the features") func hasFeaturesOfPowers() throws {
    func features(_ type: String, _ climate: String) throws -> UInt32? {
      let text = "devices:\n  - { name: A, type: \(type), climate: { \(climate) } }\n"
      let device = try #require(try HomeDefinition.load(simulating: [("home.yaml", text)]).devices.first)
      return DeviceAssembly.endpoints(of: device).first?.servers.first { $0.id == Thermostat.id }?.features
    }
    let (heat, cool) = (Thermostat.heating.mask, Thermostat.cooling.mask)
    let both = heat | cool | Thermostat.autoMode.mask
    #expect(try features("thermostat", "loss: 50W/K").map { $0 & both } == both)
    #expect(try features("thermostat", "cooling: 0W").map { $0 & both } == heat)
    #expect(try features("air conditioner", "cooling: 2000 W").map { $0 & both } == cool)
    #expect(try features("air conditioner", "heating: 2000").map { $0 & both } == both)
  }

  @Test(
    "reports problems with their lines",
    arguments: [
      ("type: thermostat, climate: { loss: 0W/K }", "found “0W/K”, expected a value from 1W/K to 10000W/K"),
      ("type: thermostat, climate: { heating: lots }", "found “lots”, expected a value from 0W to 100000W"),
      (
        "type: thermostat, climate: { heating: 0W, cooling: 0W }",
        "found a mapping, expected a power above 0W for “heating” or “cooling”"
      ),
      (
        "type: thermostat, climate: { los: 1W/K }", "found key “los”, expected a key of a climate, did you mean “loss”?"
      ),
      (
        "type: fan, climate: { loss: 50W/K }",
        "found “climate”, expected this key only in a device of the type “room air conditioner”, “thermostat”, "
      ),
      (
        "type: thermostat, filters: { hepa: 1h }",
        "found “filters”, expected this key only in a device of the type “air purifier” or “extractor hood”"
      ),
      (
        "type: air purifier, filters: { hepa: 5s }",
        "found “5s”, expected the time of use from 1m to 24000h for which the filter lasts"
      ),
      (
        "type: thermostat, climate: { cooling: 0W }, attributes: { thermostat.occupiedCoolingSetpoint: 24C }",
        "found 1.thermostat.occupiedCoolingSetpoint"
      ),
      (
        "type: thermostat, attributes: { thermostat.occupiedHeatingSetpoint: 25C, "
          + "thermostat.occupiedCoolingSetpoint: 20C }",
        "expected OccupiedCoolingSetpoint (20.0 °C) at least MinSetpointDeadBand above OccupiedHeatingSetpoint (25.0 °C)"
      ),
      (
        "type: fan, attributes: { fanControl.percentSetting: 40, fanControl.speedSetting: 9 }",
        "found 1.fanControl.speedSetting, expected only one of percentSetting, speedSetting and fanMode"
      ),
      (
        "type: fan, attributes: { fanControl.fanModeSequence: OffHighAuto, fanControl.fanMode: Low }",
        "found “Low”, expected "
      ),
      (
        "type: thermostat, attributes: { thermostat.localTemperature: 20C, thermostat.minSetpointDeadBand: 50 }",
        "found 1.thermostat.minSetpointDeadBand"
      ),
      (
        "type: water valve, attributes: { valveConfigurationAndControl.currentState: Open }",
        "expected an attribute that keeps its value at the start"
      ),
      (
        "type: robotic vacuum cleaner, attributes: { rvcRunMode.currentMode: 1 }",
        "found 1.rvcRunMode.currentMode, expected an attribute that keeps its value at the start"
      ),
      (
        "type: battery storage, attributes: { 3.powerSource.batPercentRemaining: 20% }",
        "found 3.powerSource.batPercentRemaining, expected an attribute that keeps its value at the start"
      ),
      (
        "type: window covering, attributes: { windowCovering.targetPositionLiftPercent100ths: 90% }",
        "expected an attribute that keeps its value at the start"
      ),
      (
        "type: smoke CO alarm, behave: { smokeCoAlarm.expressedState: { steps: [1 for 1m] } }",
        "found 1.smokeCoAlarm.expressedState, expected an attribute that does not follow from others"
      ),
      (
        "type: temperature sensor, behave: { temperatureMeasurement.measuredValue: { room: Attic } }",
        "found room “Attic”, expected a room with a thermostat, a heat pump or a room air conditioner"
      ),
      (
        "type: humidity sensor, behave: { relativeHumidityMeasurement.measuredValue: { room: Hall } }",
        "found “Hall”, expected “room” at a temperature only"
      ),
    ] as [(String, String)]) func reportsProblems(_ device: String, _ expected: String)
  {
    let text = "devices:\n  - { name: A, room: Hall, \(device) }\n"
    let error = #expect(throws: DefinitionError.self) {
      try HomeDefinition.load(simulating: [("home.yaml", text)])
    }
    let problem = error?.problems.first
    #expect(problem?.mark.line == 2)
    #expect(problem.map { "\($0)".contains(expected) } == true, "\(error?.problems ?? [])")
  }
}
