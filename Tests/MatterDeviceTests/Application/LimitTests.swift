import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// Clients, definition files and physical actions can't give an attribute a value that the device does not support.
@Suite("Limits of attributes") struct LimitTests {
  /// - Parameters:
  ///   - good: an allowed value.
  ///   - bad: a value of the type that is not allowed.
  private func expect<C: Cluster, Value: ModelValue>(
    _ server: ClusterServer, _ attribute: MatterModel.Attribute<C, Value>, _ good: Value, not bad: Value,
    _ status: StatusCode = .constraintError
  ) throws {
    let node = TestNode([server])
    let path = attribute.path(on: 1)
    let error = StatusError(status)
    #expect(throws: error, "\(attribute.name)") { try node.check(path, bad.tlv) }
    #expect(throws: error, "\(attribute.name)") { try server.check(initial: bad.tlv, for: attribute.id) }
    #expect(throws: error, "\(attribute.name)") { try node.write(attribute, bad) }
    try node.check(path, good.tlv)
    try server.check(initial: good.tlv, for: attribute.id)
  }

  @Test func thermostat() throws {
    let server = ThermostatServer.make(heats: true, cools: false)
    try expect(server, Thermostat.systemMode, .heat, not: .cool)
    try expect(server, Thermostat.systemMode, .off, not: .sleep)
    try expect(server, Thermostat.occupiedHeatingSetpoint, 2100, not: 9000)
    try expect(server, Thermostat.localTemperature, .value(-27_315), not: .value(-27_316))
    try expect(server, Thermostat.outdoorTemperature, .value(-27_315), not: .value(-27_316))
    try expect(ThermostatServer.waterHeater(4500), Thermostat.localTemperature, .value(10_000), not: .value(10_001))
  }

  @Test func steps() throws {
    let program = ApplianceProgram(modes: [.init("Normal", [0x4000])])
    let servers = ApplianceServers.microwaveOven(program)
    let server = try #require(servers.first { $0.id == MicrowaveOvenControl.id })
    try expect(server, MicrowaveOvenControl.powerSetting, 50, not: 55)
    let shifted = server.initial(MicrowaveOvenControl.minPower, 15)
    try expect(shifted, MicrowaveOvenControl.powerSetting, 55, not: 50)
  }

  @Test func targets() throws {
    let server = TargetNavigatorServer.make(["Home", "Music"])
    try expect(server, TargetNavigator.currentTarget, 2, not: 3)
    try expect(server, TargetNavigator.currentTarget, 0xFF, not: 0)
  }

  @Test func fan() throws {
    let features = [FanControl.rocking, FanControl.wind]
    let server = FanControlServer.make(features: features, speeds: 5)
    try expect(server, FanControl.fanMode, .high, not: .auto)
    try expect(server, FanControl.rockSetting, .rockUpDown, not: .rockRound)
    try expect(server, FanControl.windSetting, .sleepWind, not: .init(rawValue: 0x80))
    try FanControlServer.make(features: [FanControl.auto], speeds: 5)
      .check(initial: FanControl.FanMode.auto.tlv, for: FanControl.fanMode.id)
    // With fewer speeds, two modes would have the same one.
    try expect(server, FanControl.speedMax, 3, not: 2)
  }

  @Test func valve() throws {
    typealias Valve = ValveConfigurationAndControl
    let server = ValveServer.make().initial(Valve.levelStep, 7)
    for level in [7, 98, 100] as [UInt8] { try expect(server, Valve.defaultOpenLevel, level, not: 10) }
    #expect(server.step(of: Valve.defaultOpenLevel.id) == 7 && server.step(of: Valve.currentLevel.id) == nil)
  }

  @Test("the lowest number of a pair is at most the highest one") func pairs() throws {
    typealias PCC = PumpConfigurationAndControl
    let lock = DoorLockServer.make()
    try expect(lock, DoorLock.minPINCodeLength, 8, not: 9)
    try expect(lock, DoorLock.maxPINCodeLength, 4, not: 3)
    try expect(lock, DoorLock.minRFIDCodeLength, 20, not: 21)
    try expect(lock, DoorLock.maxRFIDCodeLength, 4, not: 3)
    let pump = PumpServer.make()
    try expect(pump, PCC.minConstPressure, .value(500), not: .value(501))
    try expect(pump, PCC.maxConstPressure, .value(100), not: .value(99))
    try expect(pump, PCC.minCompPressure, .value(500), not: .value(501))
    try expect(pump, PCC.maxCompPressure, .value(100), not: .value(99))
    try expect(pump, PCC.minConstSpeed, .value(4000), not: .value(5000))
    try expect(pump, PCC.maxConstSpeed, .value(1000), not: .value(999))
    try expect(pump, PCC.minConstFlow, .value(40), not: .value(41))
    try expect(pump, PCC.maxConstFlow, .value(15), not: .value(14))
    try expect(pump, PCC.minConstTemp, .value(8000), not: .value(8001))
    try expect(pump, PCC.maxConstTemp, .value(2000), not: .value(1999))
  }

  @Test func percentages() throws {
    try expect(WindowCoveringServer.make(), WindowCovering.currentPositionLiftPercentage, .value(100), not: .value(101))
    try expect(WindowCoveringServer.make(), WindowCovering.targetPositionLiftPercent100ths, .null, not: .value(10_001))
    typealias Valve = ValveConfigurationAndControl
    try expect(ValveServer.make(), Valve.currentLevel, .value(100), not: .value(101))
    try expect(ValveServer.make(), Valve.defaultOpenDuration, .null, not: .value(0))
  }

  @Test func appliances() throws {
    let washer = ApplianceServers.washerControls(spinSpeeds: ["Low", "High"])
    try expect(washer, LaundryWasherControls.spinSpeedCurrent, .null, not: .value(2))
    try expect(washer, LaundryWasherControls.numberOfRinses, .extra, not: .max, .invalidInState)
    try expect(washer, LaundryWasherControls.numberOfRinses, .extra, not: .init(rawValue: 4))
    let dryer = ApplianceServers.dryerControls()
    try expect(dryer, LaundryDryerControls.selectedDrynessLevel, .value(.low), not: .value(.max))
    try expect(SensorServers.occupancySensing(), OccupancySensing.holdTime, 3600, not: 3601)
    let servers = ApplianceServers.robotVacuum(RobotVacuumTests.program)
    for server in servers where server.cluster.id == ServiceArea.id {
      try expect(server, ServiceArea.currentArea, .value(2), not: .value(3))
    }
    for server in servers where server.cluster.id == RvcRunMode.id {
      #expect(server.range(of: RvcRunMode.currentMode.id) == 0...2)
    }
  }
}
