import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterDevice

/// The maximum speed is 4000 rpm, which the rotor reaches in 5 s.
@Suite("Pump") struct PumpTests {
  private typealias PCC = PumpConfigurationAndControl

  private func node(stored: StoredState = [:]) -> TestNode { TestNode(PumpServer.servers(), stored: stored) }

  private func running(level: UInt8 = 200) throws -> TestNode {
    let node = node()
    try node.invoke(
      LevelControl.moveToLevelWithOnOff,
      .init(level: level, transitionTime: .value(0), optionsMask: [], optionsOverride: []))
    node.wait(5000)
    return node
  }

  private func events(_ node: TestNode) -> [EventID] {
    node.context.node.events.records.filter { $0.path.cluster == PCC.id }.map(\.path.event)
  }

  private func speed(_ node: TestNode) -> UInt16? { node[PCC.speed].wrapped }

  @Test func servesMandatoryElementsWithValidValues() throws {
    for server in PumpServer.servers() {
      expectConformance(of: server)
    }
  }

  // MARK: Speed

  @Test func speedFollowsWithInertia() throws {
    let node = node()
    #expect(node[PCC.pumpStatus] == [])
    try node.invoke(OnOff.on)
    node.wait(2000)
    #expect(speed(node) == 1600)
    #expect(node[PCC.capacity] == .value(8000))
    #expect(node[PCC.pumpStatus] == .running)
    node.wait(10_000)
    #expect(speed(node) == 4000)
    #expect(node[PCC.capacity] == .value(20_000))
    #expect(node[PCC.power] == .value(60))
    try node.invoke(OnOff.off)
    // The motor is off at once, the rotor runs down.
    #expect(node[PCC.power] == .value(0))
    node.wait(1000)
    #expect(speed(node) == 3200)
    #expect(node[PCC.pumpStatus] == .running)
    node.wait(4000)
    #expect(speed(node) == 0)
    #expect(node[PCC.pumpStatus] == [])
  }

  @Test(
    "takes half a percent of the range for each level",
    arguments: [
      (2, 1030), (100, 2500), (200, 4000), (254, 4000),
    ]) func followsTheLevel(_ level: UInt8, _ rpm: UInt16) throws
  {
    #expect(speed(try running(level: level)) == rpm)
  }

  @Test func controlModesDetermineTheSpeed() throws {
    let node = try running(level: 100)
    // The square root of half of 60 kPa; half of the pressure at no flow; 27.5 of 50 tenths of m³/h.
    for (mode, rpm) in [
      (.constantPressure, 2828), (.proportionalPressure, 2562), (.constantFlow, 2200), (.constantTemperature, 2500),
      (.automatic, 2400), (.constantSpeed, 2500),
    ] as [(PCC.ControlMode, UInt16)] {
      try node.write(PCC.controlMode, mode)
      #expect(node[PCC.effectiveControlMode] == mode)
      node.wait(5000)
      #expect(speed(node) == rpm, "\(mode)")
    }
  }

  @Test func operationModesOverrideTheSetPoint() throws {
    let node = try running(level: 100)
    try node.write(PCC.controlMode, .constantPressure)
    for (mode, control, rpm) in [
      (.minimum, .constantSpeed, 1000), (.maximum, .constantSpeed, 4000), (.local, .constantPressure, 2828),
      (.normal, .constantPressure, 2828),
    ] as [(PCC.OperationMode, PCC.ControlMode, UInt16)] {
      try node.write(PCC.operationMode, mode)
      #expect(node[PCC.effectiveOperationMode] == mode)
      #expect(node[PCC.effectiveControlMode] == control)
      node.wait(5000)
      #expect(speed(node) == rpm, "\(mode)")
    }
  }

  @Test func refusesUnknownModes() {
    let node = node()
    for mode in [4, 6, 8] as [UInt8] {
      #expect(throws: StatusError.self) { try node.write(PCC.controlMode, PCC.ControlMode(rawValue: mode)) }
    }
    #expect(throws: StatusError.self) { try node.write(PCC.operationMode, PCC.OperationMode(rawValue: 4)) }
  }

  @Test func keepsItsModes() throws {
    let node = node()
    try node.write(PCC.operationMode, .minimum)
    try node.write(PCC.controlMode, .constantFlow)
    let restarted = self.node(stored: node.stored)
    #expect(restarted[PCC.operationMode] == .minimum)
    #expect(restarted[PCC.controlMode] == .constantFlow)
    #expect(restarted[PCC.effectiveOperationMode] == .minimum)
  }

  @Test("marks a set point that it can't reach") func setPointOutOfReach() throws {
    let server = PumpServer.make().initial(PCC.maxConstPressure, .value(700))
    let servers = PumpServer.servers().filter { $0.id != PCC.id } + [server]
    let node = TestNode(servers)
    try node.write(PCC.controlMode, .constantPressure)
    try node.invoke(OnOff.on)
    node.wait(5000)
    #expect(node[PCC.pumpStatus] == [.running, .speedHigh])
    #expect(speed(node) == 4000)
  }

  // MARK: Physical actions

  @Test func localOverrideRefusesOtherModes() throws {
    let node = try running()
    node.act(PCC.pumpStatus, .localOverride)
    #expect(node[PCC.effectiveOperationMode] == .local)
    let error = #expect(throws: StatusError.self) { try node.write(PCC.operationMode, .maximum) }
    #expect(error?.status.code == .failure)
    node.act(PCC.pumpStatus, [])
    #expect(node[PCC.effectiveOperationMode] == .normal)
    try node.write(PCC.operationMode, .maximum)
  }

  @Test func remoteSensorsDetermineTheControlMode() throws {
    let node = node()
    node.act(PCC.pumpStatus, .remotePressure)
    #expect(node[PCC.effectiveControlMode] == .constantPressure)
    #expect(node[PCC.controlMode] == .constantSpeed)
    try node.write(PCC.operationMode, .maximum)
    #expect(node[PCC.effectiveControlMode] == .constantSpeed)
  }

  @Test func faultsStopThePump() throws {
    let node = try running()
    node.act(PCC.pumpStatus, .supplyFault)
    node.wait(5000)
    #expect(speed(node) == 0)
    #expect(node[PCC.pumpStatus] == .supplyFault)
    node.act(PCC.pumpStatus, [])
    node.wait(5000)
    #expect(speed(node) == 4000)
    node.act(PCC.pumpStatus, .deviceFault)
    #expect(events(node) == [PCC.supplyVoltageLow.id, PCC.generalFault.id])
  }

  @Test func blockedRotorStandsStill() throws {
    let node = try running()
    node.act(PCC.speed, .value(0))
    #expect(speed(node) == 0)
    #expect(node[PCC.pumpStatus] == .deviceFault)
    #expect(node[PCC.power] == .value(0))
    #expect(events(node) == [PCC.pumpBlocked.id])
    #expect(node[OnOff.onOff])
  }

  @Test func detectsDryRunningTurbineOperationAndSensorFailure() throws {
    let node = try running()
    node.act(PCC.capacity, .value(0))
    node.wait(5000)
    #expect(speed(node) == 0)
    node.act(PCC.pumpStatus, [])
    try node.invoke(OnOff.off)
    node.wait(5000)
    node.act(PCC.speed, .value(800))
    #expect(speed(node) == 800)
    node.wait(1000)
    #expect(speed(node) == 0)
    node.act(PCC.capacity, .null)
    #expect(events(node) == [PCC.dryRunning.id, PCC.turbineOperation.id, PCC.sensorFailure.id])
  }

  // MARK: Counters

  @Test func countsHoursAndEnergy() throws {
    let node = try running()
    node.wait(3_600_000 - 5000)
    #expect(node[PCC.lifetimeRunningHours] == .value(1))
    // 60 W take 16 h 40 min for a kilowatt-hour.
    node.wait(15 * 3_600_000)
    #expect(node[PCC.lifetimeEnergyConsumed] == .value(0))
    node.wait(41 * 60_000)
    #expect(node[PCC.lifetimeEnergyConsumed] == .value(1))
    #expect(node[PCC.lifetimeRunningHours] == .value(16))
    try node.write(PCC.lifetimeRunningHours, .value(3))
    node.wait(3_600_000)
    #expect(node[PCC.lifetimeRunningHours] == .value(4))
    let restarted = self.node(stored: node.stored)
    #expect(restarted[PCC.lifetimeRunningHours] == .value(4))
    #expect(restarted[PCC.lifetimeEnergyConsumed] == .value(1))
  }

  @Test func countersStartAgainAtZero() throws {
    let node = try running()
    try node.write(PCC.lifetimeRunningHours, .value(0xFF_FFFE))
    node.wait(3_600_000)
    #expect(node[PCC.lifetimeRunningHours] == .value(0))
    #expect(throws: StatusError.self) { try node.write(PCC.lifetimeRunningHours, .value(0xFF_FFFF)) }
  }

  @Test("integrates the energy of a ramp exactly") func integratesEnergy() {
    var (one, many) = (Pump(maximumSpeed: 4000, at: .zero), Pump(maximumSpeed: 4000, at: .zero))
    one.drive(to: 4000, at: .zero)
    many.drive(to: 4000, at: .zero)
    for step in 1...1000 { many.advance(to: .zero + .milliseconds(Int64(step) * 10)) }
    one.advance(to: .zero + .seconds(10))
    // 4 W for 10 s, and 56 W for a quarter of 5 s and for 5 s.
    #expect(abs(one.energy - (40 + 70 + 280)) < 1e-6)
    #expect(abs(many.energy - one.energy) < 0.1)
    #expect(one.runningTime == many.runningTime)
  }
}
