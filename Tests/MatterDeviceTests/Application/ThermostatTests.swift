import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// Set points, limits and modes, based on the public certification scripts TC-TSTAT-2.1 and 2.2.
@Suite("Thermostat") struct ThermostatTests {
  private func status(_ body: () throws -> Void) -> StatusCode? { TestNode.thermostat().status(body) }

  @Test(arguments: [(true, true), (true, false), (false, true)])
  func servesMandatoryElementsWithValidValues(heats: Bool, cools: Bool) throws {
    for hasFan in [false, true] {
      let server = ThermostatServer.make(heats: heats, cools: cools, hasFan: hasFan)
      expectConformance(of: server)
    }
    #expect(ThermostatUserInterfaceServer.make().violations.isEmpty)
  }

  @Test func limitsSetpoints() throws {
    let node = TestNode.thermostat()
    for value in [1599, 3201] as [Int16] {
      #expect(status { try node.write(Thermostat.occupiedCoolingSetpoint, value) } == .constraintError)
      #expect(status { try node.write(Thermostat.unoccupiedCoolingSetpoint, value) } == .constraintError)
    }
    for value in [699, 3001] as [Int16] {
      #expect(status { try node.write(Thermostat.occupiedHeatingSetpoint, value) } == .constraintError)
    }
    try node.write(Thermostat.occupiedCoolingSetpoint, 3200)
    #expect(node.setpoints == [2000, 3200])
    // A closer set point moves the other one away by the dead band of 2 °C.
    try node.write(Thermostat.occupiedCoolingSetpoint, 2100)
    #expect(node.setpoints == [1900, 2100])
    try node.write(Thermostat.occupiedHeatingSetpoint, 2500)
    #expect(node.setpoints == [2500, 2700])
    // Each occupancy has its own set points.
    #expect(node[Thermostat.unoccupiedHeatingSetpoint] == 1600)
    try node.write(Thermostat.unoccupiedHeatingSetpoint, 2700)
    #expect(node[Thermostat.unoccupiedCoolingSetpoint] == 2900)
    #expect(node.setpoints == [2500, 2700])
  }

  @Test func rejectsLimitsOutsideAbsoluteRange() throws {
    let node = TestNode.thermostat()
    try node.write(Thermostat.minHeatSetpointLimit, 701)
    // Closer to the limit of cooling than the dead band, and outside of the absolute limits.
    for value in [1401, 699, 3001] as [Int16] {
      #expect(status { try node.write(Thermostat.minHeatSetpointLimit, value) } == .constraintError)
    }
    try node.write(Thermostat.minHeatSetpointLimit, 1400)
    try node.write(Thermostat.minHeatSetpointLimit, 700)
    #expect(status { try node.write(Thermostat.maxHeatSetpointLimit, 3001) } == .constraintError)
    // Set points move into the limits.
    try node.write(Thermostat.maxHeatSetpointLimit, 701)
    #expect(node.setpoints == [701, 2600] && node[Thermostat.unoccupiedHeatingSetpoint] == 701)
    #expect(status { try node.write(Thermostat.minHeatSetpointLimit, 3000) } == .constraintError)
    try node.write(Thermostat.minCoolSetpointLimit, 3200)
    #expect(node.setpoints == [701, 3200])
    #expect(status { try node.write(Thermostat.maxCoolSetpointLimit, 3100) } == .constraintError)
    #expect(status { try node.write(Thermostat.minCoolSetpointLimit, 3201) } == .constraintError)
    #expect(node[Thermostat.minCoolSetpointLimit] == 3200)
  }

  @Test func ignoresWritesOfFixedSettings() throws {
    let node = TestNode.thermostat()
    try node.write(Thermostat.minSetpointDeadBand, 5)
    try node.write(Thermostat.controlSequenceOfOperation, .coolingOnly)
    #expect(node[Thermostat.minSetpointDeadBand] == 20)
    #expect(node[Thermostat.controlSequenceOfOperation] == .coolingAndHeating)
    #expect(status { try node.write(Thermostat.minSetpointDeadBand, -1) } == .constraintError)
  }

  @Test func raisesAndLowers() throws {
    let node = TestNode.thermostat()
    try node.raise(.heat, by: -30)
    #expect(node.setpoints == [1700, 2600])
    #expect(node[Thermostat.setpointChangeSource] == .external)
    #expect(node[Thermostat.setpointChangeAmount] == .value(-300))
    try node.raise(.heat, by: 60)
    #expect(node.setpoints == [2300, 2600])
    // The dead band moves the set point for heating.
    try node.raise(.cool, by: -30)
    #expect(node.setpoints == [2100, 2300])
    try node.raise(.both, by: 30)
    #expect(node.setpoints == [2400, 2600])
    // The limit of one side stops both.
    try node.raise(.both, by: 120)
    #expect(node.setpoints == [3000, 3200])
    #expect(status { try node.raise(.init(3), by: 1) } == .constraintError)
    let heater = TestNode.thermostat(cools: false)
    #expect(status { try heater.raise(.cool, by: 1) } == .invalidCommand)
    try heater.raise(.both, by: -127)
    #expect(heater[Thermostat.occupiedHeatingSetpoint] == 730)
    try heater.raise(.heat, by: -127)
    #expect(heater[Thermostat.occupiedHeatingSetpoint] == 700)
  }

  @Test func permitsModesOfItsFeatures() throws {
    let heater = TestNode.thermostat(cools: false)
    #expect(heater[Thermostat.systemMode] == .heat)
    for mode in [Thermostat.SystemMode.auto, .cool, .fanOnly, .dry, .init(42)] {
      #expect(status { try heater.write(Thermostat.systemMode, mode) } == .constraintError, "\(mode)")
    }
    try heater.write(Thermostat.systemMode, .off)
    let restarted = TestNode.thermostat(cools: false, stored: heater.stored)
    #expect(restarted[Thermostat.systemMode] == .off)
  }

  @Test func switchesHeatingAndCooling() throws {
    let node = TestNode.thermostat()
    var found: [Thermostat.RelayState] = []
    for temperature in [2000, 1980, 2010, 2019, 2020, 2300, 2620, 2581, 2580] as [Int16] {
      node.act(Thermostat.localTemperature, .value(temperature))
      found.append(node[Thermostat.thermostatRunningState])
    }
    #expect(found == [[], .heat, .heat, .heat, [], [], .cool, .cool, []])
    // Occupancy selects the set points, and the mode what may run.
    node.act(Thermostat.localTemperature, .value(1900))
    #expect(node[Thermostat.thermostatRunningMode] == .heat)
    node.act(Thermostat.occupancy, [])
    #expect(node[Thermostat.thermostatRunningMode] == .off)
    node.act(Thermostat.occupancy, .occupied)
    try node.write(Thermostat.systemMode, .cool)
    #expect(node[Thermostat.thermostatRunningState] == [])
    try node.write(Thermostat.systemMode, .heat)
    #expect(node[Thermostat.thermostatRunningState] == .heat)
    // Without a temperature nothing runs.
    node.act(Thermostat.localTemperature, .null)
    #expect(node[Thermostat.thermostatRunningState] == [])
  }

  @Test func changesSetpointAtDevice() {
    let node = TestNode.thermostat()
    node.act(Thermostat.localTemperature, .value(2100))
    node.act(Thermostat.occupiedHeatingSetpoint, 2500)
    #expect(node.setpoints == [2500, 2700] && node[Thermostat.thermostatRunningState] == .heat)
    #expect(node[Thermostat.setpointChangeSource] == .manual)
    node.act(Thermostat.occupiedHeatingSetpoint, 3100)
    #expect(node.setpoints == [2500, 2700])
  }

  @Test func calibratesMeasurements() throws {
    let node = TestNode.thermostat()
    node.measure(.value(2000))
    try node.write(Thermostat.localTemperatureCalibration, -15)
    #expect(node[Thermostat.localTemperature] == .value(1850))
    node.measure(.value(2100))
    #expect(node[Thermostat.localTemperature] == .value(1950))
    node.measure(.null)
    #expect(node[Thermostat.localTemperature] == .null)
  }

  @Test func switchesWithItsDevice() throws {
    let node = TestNode([
      OnOffServer.make(features: [OnOff.deadFrontBehavior], isOn: true),
      ThermostatServer.make(heats: false, hasFan: true),
      FanControlServer.make(features: [FanControl.auto], speeds: 5),
    ])
    node.act(Thermostat.localTemperature, .value(2800))
    try node.write(FanControl.fanMode, .auto)
    #expect(node[Thermostat.thermostatRunningState] == [.cool, .fan])
    #expect(node[FanControl.percentCurrent] == 100)
    node.act(Thermostat.localTemperature, .value(2680))
    #expect(node[FanControl.percentCurrent] == 40)
    try node.invoke(OnOff.off)
    #expect(node[Thermostat.thermostatRunningState] == [] && node[FanControl.percentCurrent] == 0)
    try node.write(Thermostat.systemMode, .fanOnly)
    try node.invoke(OnOff.on)
    #expect(node[Thermostat.thermostatRunningState] == .fan && node[FanControl.percentCurrent] == 20)
  }

  @Test func keepsSettingsOfItsDisplay() throws {
    let node = TestNode([ThermostatUserInterfaceServer.make()])
    try node.write(ThermostatUserInterfaceConfiguration.temperatureDisplayMode, .fahrenheit)
    try node.write(ThermostatUserInterfaceConfiguration.keypadLockout, .lockout5)
    #expect(
      status { try node.write(ThermostatUserInterfaceConfiguration.temperatureDisplayMode, .init(2)) }
        == .constraintError)
    #expect(
      status { try node.write(ThermostatUserInterfaceConfiguration.keypadLockout, .init(6)) } == .constraintError)
    let restarted = TestNode([ThermostatUserInterfaceServer.make()], stored: node.stored)
    #expect(restarted[ThermostatUserInterfaceConfiguration.keypadLockout] == .lockout5)
  }
}
