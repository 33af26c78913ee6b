import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// Boosts, modes and test events, based on the public certification scripts TC-EWATERHTR-2.1 to 2.3 and TC-WHM-2.1.
@Suite("Water heater") struct WaterHeaterTests {
  private typealias Heater = WaterHeaterManagement

  /// A tank of 100 l at 20 °C, into which water of 20 °C flows, without a loss.
  private func node(
    _ sources: [WaterHeaterSource] = [.init(.immersionElement1, power: 4182)], temperature: Double = 20,
    stored: StoredState = [:]
  ) -> TestNode {
    let tank = WaterTank(volume: 100, temperature: temperature, cold: 20, loss: 0)
    return TestNode(WaterHeaterServer.servers(WaterHeaterSettings(tank: tank, sources: sources)), stored: stored)
  }

  /// Returns a node with a simulated installation.
  private func installed() throws -> TestNode {
    let node = node(temperature: 70)
    try node.cause(Self.trigger(0))
    return node
  }

  private static func trigger(_ code: UInt64) -> UInt64 { 0x0094_0000_0000_0000 | code }

  private func mode(_ node: TestNode) -> UInt8 { node[ModeBase<WaterHeaterMode>.currentMode] }

  private func change(_ node: TestNode, to mode: UInt8) throws -> UInt8? {
    try node.invoke(ModeBase<WaterHeaterMode>.changeToMode, .init(newMode: mode))?.status
  }

  private func boost(_ node: TestNode, _ boost: Heater.WaterHeaterBoostInfoStruct) throws {
    try node.invoke(Heater.boost, .init(boostInfo: boost))
  }

  private func started(_ node: TestNode) throws -> [Heater.WaterHeaterBoostInfoStruct] {
    try node.payloads(of: Heater.boostStarted).map(\.boostInfo)
  }

  private func endCount(_ node: TestNode) throws -> Int { try node.payloads(of: Heater.boostEnded).count }

  private func isHeating(_ node: TestNode) -> Bool { !node[Heater.heatDemand].isEmpty }

  @Test("serves valid values") func conforms() {
    for server in WaterHeaterServer.servers(WaterHeaterSettings()) { expectConformance(of: server) }
  }

  // MARK: Heating

  @Test("heats to the set point, and again 2 °C below") func heatsToSetpoint() throws {
    let node = node()
    #expect(node[Heater.heaterTypes] == .immersionElement1 && node[Heater.tankVolume] == 100)
    #expect(isHeating(node) && node[Thermostat.thermostatRunningState] == .heat)
    #expect(node[Heater.tankPercentage] == 0)
    // 35 °C of 100 kg.
    #expect(node[Heater.estimatedHeatRequired] == 4182 * 35 * 100 * 1000 / 3600)
    node.wait(1_750_000)
    #expect(node[Heater.tankPercentage] == 49 || node[Heater.tankPercentage] == 50)
    #expect(node[Thermostat.localTemperature].wrapped.map { (3740...3760).contains($0) } == true)
    node.wait(1_800_000)
    #expect(!isHeating(node) && node[Thermostat.thermostatRunningState] == [])
    #expect(node[Heater.tankPercentage] == 100 && node[Heater.estimatedHeatRequired] == 0)
    try node.press(Thermostat.localTemperature, .value(5310))
    #expect(!isHeating(node))
    try node.press(Thermostat.localTemperature, .value(5290))
    #expect(isHeating(node))
    try node.write(Thermostat.occupiedHeatingSetpoint, 5000)
    #expect(!isHeating(node))
  }

  @Test("stops without a temperature") func stopsOnSensorFailure() throws {
    let node = node()
    try node.press(Thermostat.localTemperature, .null)
    #expect(!isHeating(node) && node[Thermostat.localTemperature] == .null)
    try node.press(Thermostat.localTemperature, .value(3000))
    #expect(isHeating(node) && node[Thermostat.localTemperature] == .value(3000))
    #expect(throws: StatusError.self) { try node.press(Thermostat.localTemperature, .value(-10)) }
  }

  @Test("a tap draws water until it is closed") func draws() throws {
    let node = node(temperature: 60)
    #expect(node[Heater.tankPercentage] == 100 && !isHeating(node))
    try node.move("tap", "12.5")
    node.wait(8 * 60_000)
    let percentage = node[Heater.tankPercentage]
    #expect(percentage < 60 && isHeating(node))
    try node.move("tap", "closed")
    node.wait(600_000)
    #expect(node[Heater.tankPercentage] > percentage)
    try node.move("tap", "open")
    for text in ["wide", "-1", "101", "nan"] { #expect(throws: StatusError.self) { try node.move("tap", text) } }
  }

  @Test("keeps the temperature across restarts") func storesTemperature() {
    let first = node()
    first.wait(1_000_000)
    let again = node(stored: first.stored)
    #expect(again[Thermostat.localTemperature].wrapped.map { (2900...3010).contains($0) } == true)
  }

  // MARK: Modes

  @Test("the modes and SystemMode follow each other") func couplesModes() throws {
    let node = node()
    #expect(mode(node) == 1 && node[Thermostat.systemMode] == .heat)
    #expect(try change(node, to: 0) == 0)
    #expect(node[Thermostat.systemMode] == .off && !isHeating(node))
    try node.write(Thermostat.systemMode, .heat)
    #expect(mode(node) == 1 && isHeating(node))
    try node.write(Thermostat.systemMode, .off)
    #expect(mode(node) == 0 && !isHeating(node))
    #expect(try change(node, to: 2) == 0)
    #expect(node[Thermostat.systemMode] == .heat && isHeating(node))
    // An off period of a schedule does not end the mode.
    try node.write(Thermostat.systemMode, .off)
    #expect(mode(node) == 2 && !isHeating(node))
    #expect(try change(node, to: 3) == 1, "unsupported")
    let again = self.node(stored: node.stored)
    #expect(mode(again) == 2)
  }

  @Test("follows a schedule in the mode Timed only") func followsSchedule() throws {
    let node = node(temperature: 60)
    node.allowAll()
    // 2000-01-01 was a Saturday.
    node.setClock(0)
    let transition = Thermostat.ScheduleTransitionStruct(
      dayOfWeek: .init(rawValue: 0x7F), transitionTime: 60, heatingSetpoint: 6500)
    let schedule = Thermostat.ScheduleStruct(
      scheduleHandle: .null, systemMode: .heat, transitions: [transition], builtIn: .value(false))
    #expect(try node.commit([schedule]) == .success)
    let handle = try #require(node[Thermostat.schedules].first?.scheduleHandle.wrapped)
    try node.invoke(Thermostat.setActiveScheduleRequest, .init(scheduleHandle: handle))
    node.wait(2 * 3_600_000)
    #expect(node[Thermostat.occupiedHeatingSetpoint] == 5500 && !isHeating(node))
    #expect(try change(node, to: 2) == 0)
    #expect(node[Thermostat.occupiedHeatingSetpoint] == 6500 && isHeating(node))
  }

  // MARK: Boost

  @Test("a boost heats in the mode Off until its end") func boosts() throws {
    let node = try installed()
    try boost(node, .init(duration: 5))
    #expect(node[Heater.boostState] == .active && isHeating(node))
    #expect(try started(node).map(\.duration) == [5])
    node.wait(4999)
    #expect(node[Heater.boostState] == .active)
    node.wait(1)
    #expect(node[Heater.boostState] == .inactive && !isHeating(node))
    #expect(try endCount(node) == 1)
    try node.invoke(Heater.cancelBoost)
    #expect(try endCount(node) == 1, "there was nothing to cancel")
  }

  @Test("a boost with OneShot ends at its target") func boostsOnce() throws {
    let node = try installed()
    try boost(node, .init(duration: 600, oneShot: true))
    #expect(isHeating(node))
    try node.cause(Self.trigger(3))
    #expect(node[Heater.boostState] == .inactive && !isHeating(node))
    #expect(try endCount(node) == 1)
    try node.cause(Self.trigger(2))
    #expect(!isHeating(node))
    // Without it, the boost continues.
    try boost(node, .init(duration: 600))
    try node.cause(Self.trigger(3))
    #expect(node[Heater.boostState] == .active && !isHeating(node))
    try node.cause(Self.trigger(2))
    #expect(node[Heater.boostState] == .active && isHeating(node))
    try node.invoke(Heater.cancelBoost)
    #expect(node[Heater.boostState] == .inactive && !isHeating(node))
    #expect(try endCount(node) == 2)
    node.wait(700_000)
    #expect(try endCount(node) == 2)
  }

  @Test("a boost has its own set point, and another boost replaces it") func boostsToTemporarySetpoint() throws {
    let node = try installed()
    try boost(node, .init(duration: 500, temporarySetpoint: 6500))
    try node.cause(Self.trigger(3))
    #expect(isHeating(node) && node[Heater.tankPercentage] == 91)
    try node.cause(Self.trigger(4))
    #expect(!isHeating(node) && node[Heater.boostState] == .active)
    try boost(node, .init(duration: 600, temporarySetpoint: 7000))
    #expect(isHeating(node))
    #expect(try endCount(node) == 0)
    #expect(try started(node).map(\.temporarySetpoint) == [6500, 7000])
    node.wait(599_000)
    #expect(node[Heater.boostState] == .active, "the duration of the second one")
  }

  @Test("a boost heats a share of the tank, and reheats at another") func boostsToPercentage() throws {
    let node = try installed()
    #expect(node[Heater.tankPercentage] == 0)
    try boost(node, .init(duration: 600, targetPercentage: 100))
    try node.cause(Self.trigger(3))
    #expect(!isHeating(node) && node[Heater.tankPercentage] == 100)
    try node.cause(Self.trigger(7))
    #expect(isHeating(node) && node[Heater.tankPercentage] == 76)
    try node.invoke(Heater.cancelBoost)
    #expect(!isHeating(node))
    try boost(node, .init(duration: 400, targetPercentage: 100, targetReheat: 65))
    // The water of a simulated installation keeps its temperature.
    node.wait(300_000)
    #expect(isHeating(node) && node[Heater.tankPercentage] == 76)
    try node.cause(Self.trigger(3))
    try node.cause(Self.trigger(7))
    #expect(!isHeating(node) && node[Heater.tankPercentage] == 76)
    try node.cause(Self.trigger(7))
    #expect(isHeating(node) && node[Heater.tankPercentage] == 57)
    #expect(node[Heater.boostState] == .active)
  }

  @Test("all sources heat in an emergency") func boostsWithAllSources() throws {
    let node = node([.init(.heatPump, power: 1500), .init(.immersionElement1, power: 3000)])
    #expect(node[Heater.heaterTypes] == [.heatPump, .immersionElement1])
    #expect(node[Heater.heatDemand] == .heatPump)
    try boost(node, .init(duration: 200, emergencyBoost: true))
    #expect(node[Heater.heatDemand] == [.heatPump, .immersionElement1])
    try node.invoke(Heater.cancelBoost)
    #expect(node[Heater.heatDemand] == .heatPump)
  }

  @Test(
    "rejects the fields of a boost",
    arguments: [
      (.init(duration: 0), .constraintError), (.init(duration: 9, targetPercentage: 101), .constraintError),
      (.init(duration: 9, targetPercentage: 50, targetReheat: 51), .constraintError),
      (.init(duration: 9, targetReheat: 50), .invalidCommand),
      (.init(duration: 9, oneShot: true, targetPercentage: 50, targetReheat: 50), .invalidCommand),
      (.init(duration: 9, temporarySetpoint: 7501), .constraintError),
      (.init(duration: 9, temporarySetpoint: 2999), .constraintError),
    ] as [(WaterHeaterManagement.WaterHeaterBoostInfoStruct, StatusCode)])
  func rejectsBoost(_ info: WaterHeaterManagement.WaterHeaterBoostInfoStruct, _ status: StatusCode) throws {
    let node = node()
    #expect(node.status { try boost(node, info) } == status)
    #expect(node[Heater.boostState] == .inactive)
    #expect(try started(node).isEmpty)
  }

  // MARK: Test events

  @Test("a simulated installation ends with the former state") func endsInstallation() throws {
    let node = node(temperature: 40)
    try node.write(Thermostat.occupiedHeatingSetpoint, 5200)
    try node.cause(Self.trigger(0))
    #expect(!isHeating(node) && mode(node) == 0 && node[Thermostat.localTemperature] == .value(2000))
    try node.cause(Self.trigger(5))
    #expect(isHeating(node) && mode(node) == 1)
    try node.cause(Self.trigger(6))
    #expect(!isHeating(node) && mode(node) == 0)
    try boost(node, .init(duration: 60))
    try node.cause(Self.trigger(1))
    #expect(node[Heater.boostState] == .inactive && mode(node) == 1)
    #expect(node[Thermostat.occupiedHeatingSetpoint] == 5200 && node[Thermostat.localTemperature] == .value(4000))
    #expect(isHeating(node))
  }
}
