import MatterClusters
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import VirtualDevices

/// The programs of appliances in definition files.
@Suite("Definitions of appliances") struct ApplianceDefinitionTests {
  private func load(_ type: String, _ keys: String) throws(DefinitionError) -> DeviceDefinition? {
    try HomeDefinition.load(simulating: [("home.yaml", "devices:\n  - name: A\n    type: \(type)\n    \(keys)\n")])
      .devices.first
  }

  private func problem(_ type: String, _ keys: String) throws -> String {
    do throws(DefinitionError) {
      _ = try load(type, keys)
    } catch {
      return error.problems.map(\.description).joined(separator: "\n")
    }
    return "none"
  }

  private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

  @Test func keepsTheUsualProgram() throws {
    #expect(try load("washer", "room: Bath")?.program == nil)
    let phases = try #require(try load("washer", "phases: { Spin: 30s, Dry: 1m }")?.program)
    #expect(phases.phases == [.init("Spin", .seconds(30)), .init("Dry", .seconds(60))])
    #expect(phases.modes == Appliance.of(.laundryWasher)?.program.modes)
  }

  @Test func readsModesAndAreas() throws {
    let keys = """
      areas: { Living room: 2m, Nook: 10s }
          modes: { A: { tags: [vacuum] }, B: { tags: [mop, deep clean], pace: 250% } }
      """
    let program = try #require(try load("robot vacuum", keys)?.program)
    #expect(program.areas == [.init("Living room", .livingRoom, .seconds(120)), .init("Nook", nil, .seconds(10))])
    #expect(
      program.modes == [.init("A", [0x4001]), .init("B", [0x4002, 0x4000], pace: 250)])
  }

  @Test(
    "reports invalid programs",
    arguments: [
      ("on/off light", "phases: { A: 1m }", "4:13: found “phases”, expected this key only in a device of the type"),
      ("robot vacuum", "phases: { A: 1m }", "4:13: found “phases”, expected this key only in a device of the type"),
      ("washer", "areas: { A: 1m }", "4:12: found “areas”, expected this key only in a device of the type"),
      ("washer", "phases: [A]", "4:13: found a list, expected 1 to 32 entries, such as { Washing: 45m, Rinsing: 20m }"),
      ("washer", "phases: {}", "4:13: found a mapping, expected 1 to 32 entries"),
      ("washer", "phases: { A: soon }", "4:18: found “soon”, expected a time of at least"),
      ("washer", "phases: { A: 40h, B: 40h }", "4:13: found a run of"),
      ("washer", "phases: { '': 1m }", "4:15: found"),
      (
        "fridge", "compartments: { Fresh: 4C, fresh: 5C }",
        "4:32: found “fresh” again, expected each name once, ignoring case; it is in line 4 already"
      ),
      ("washer", "modes: { A: { tags: [normal] } }", "4:12: found a mapping, expected 2 to 32 entries"),
      (
        "washer", "modes: { A: { tags: [quick] }, B: { tags: [quiet] } }",
        "4:12: found no mode with the tag normal, expected at least one such mode"
      ),
      (
        "washer", "modes: { A: { tags: [normall] }, B: { tags: [quiet] } }",
        "4:26: found tag “normall”, expected auto, quick"
      ),
      (
        "washer", "modes: { A: { tags: [] }, B: { tags: [normal] } }", "4:25: found a list, expected “tags:” and a list"
      ),
      (
        "washer", "modes: { A: { tags: [normal], pace: 0% }, B: { tags: [quiet] } }",
        "4:41: found “0%”, expected the time of a run in this mode from 1% to 1000%"
      ),
      ("washer", "modes: { A: { tag: [normal] }, B: { tags: [quiet] } }", "4:19: found key “tag”"),
    ]) func reportsProblems(_ type: String, _ keys: String, _ message: String) throws
  {
    let found = try problem(type, keys)
    #expect(found.hasPrefix("home.yaml:" + message), "\(found)")
  }

  @Test("a washer runs its program in virtual time") func runsProgram() throws {
    let device = try #require(
      try load(
        "washer",
        "phases: { Washing: 40s, Spinning: 20s }\n    modes: { Normal: { tags: [normal] }, Quick: { tags: [quick], pace: 50% } }"
      ))
    var engine = try DeviceEngine(device)
    #expect(engine.value(OperationalState.phaseList, on: 1) == .value(["Washing", "Spinning"]))
    try engine.press(LaundryWasherMode.changeToMode, .init(newMode: 1), on: 1, at: .zero)
    try engine.act(set: OperationalState.operationalState, .running, on: 1, at: at(10))
    engine.advance(to: at(35))
    #expect(engine.value(OperationalState.currentPhase, on: 1) == .value(1))
    #expect(throws: StatusError(.invalidInState)) { try engine.act(part: "door", "open", on: 1, at: at(36)) }
    engine.advance(to: at(40))
    #expect(engine.value(OperationalState.operationalState, on: 1) == .stopped)
    try engine.act(part: "door", "open", on: 1, at: at(41))
    #expect(throws: StatusError(.invalidInState)) {
      try engine.act(set: OperationalState.operationalState, .running, on: 1, at: at(42))
    }
  }

  @Test("a bridged appliance loses its run with its power") func losesRun() throws {
    let home = try HomeDefinition.load(simulating: [
      ("home.yaml", "devices:\n  - { name: B, type: bridge, devices: [{ name: A, type: dishwasher }] }\n")
    ])
    var engine = try DeviceEngine(try #require(home.devices.first))
    try engine.act(set: OperationalState.operationalState, .running, on: 2, at: .zero)
    engine.advance(to: at(10))
    try engine.power(false, bridgedOn: 2, at: at(20))
    engine.advance(to: at(20_000))
    #expect(engine.value(OperationalState.operationalState, on: 2) == .running)
    try engine.power(true, bridgedOn: 2, at: at(20_001))
    #expect(engine.value(OperationalState.operationalState, on: 2) == .stopped)
    #expect(engine.value(OperationalState.countdownTime, on: 2) == .null)
  }

  // MARK: Appliances with parts

  @Test("a refrigerator has an endpoint for each compartment") func composesRefrigerator() throws {
    let device = try #require(
      try load("fridge", "compartments: { Fresh: 5C, Bottles: 8C, Freezer: -20 °C }\n    doorAlarm: 30s"))
    let endpoints = DeviceAssembly.endpoints(of: device)
    #expect(endpoints.map(\.id) == [1, 2, 3, 4])
    #expect(endpoints.map(\.parts) == [[2, 3, 4], [], [], []])
    #expect(endpoints[1].deviceTypes == [DeviceTypes.temperatureControlledCabinet])
    #expect(Set(endpoints[1...].map(\.tags)).count == 3)
    var engine = try DeviceEngine(device)
    #expect(engine.value(TemperatureControl.temperatureSetpoint, on: 4) == -2000)
    #expect(engine.value(TemperatureMeasurement.measuredValue, on: 3) == .value(800))
    try engine.act(part: "door", "open", on: 3, at: at(10))
    engine.advance(to: at(39))
    #expect(engine.value(RefrigeratorAlarm.state, on: 1) == [])
    engine.advance(to: at(40))
    #expect(engine.value(RefrigeratorAlarm.state, on: 1) == .doorOpen)
    try engine.act(part: "door", "closed", on: 3, at: at(41))
    #expect(engine.value(RefrigeratorAlarm.state, on: 1) == [])
    // A mode of the refrigerator changes the target of its compartments.
    let mode = try engine.press(
      RefrigeratorAndTemperatureControlledCabinetMode.changeToMode, .init(newMode: 2), on: 1, at: at(50))
    #expect(mode?.status == 0)
    for hour in 1...20 as ClosedRange<Int64> { engine.advance(to: at(hour * 3600)) }
    let freezer = try #require(engine.value(TemperatureMeasurement.measuredValue, on: 4)?.wrapped)
    #expect((-2500...(-2480)).contains(freezer))
    #expect(
      try problem("fridge", "compartments: { Fresh: 15C }").hasPrefix("home.yaml:4:28: found “15C”, expected a temp"))
    #expect(try problem("fridge", "doorAlarm: soon").hasPrefix("home.yaml:4:16: found “soon”, expected a time"))
  }

  @Test("a bridged refrigerator keeps its composition") func composesBehindBridge() throws {
    let home = try HomeDefinition.load(simulating: [
      ("home.yaml", "devices:\n  - { name: B, type: bridge, devices: [{ name: A, type: refrigerator }] }\n")
    ])
    let endpoints = DeviceAssembly.endpoints(of: try #require(home.devices.first))
    #expect(endpoints.map(\.id) == [1, 2, 3, 4])
    #expect(endpoints.map(\.parts) == [[2, 3, 4], [3, 4], [], []])
    #expect(endpoints[1].deviceTypes.map(\.id) == [DeviceTypes.refrigerator.id, DeviceTypes.bridgedNode.id])
    var engine = try DeviceEngine(try #require(home.devices.first))
    try engine.act(part: "door", "open", on: 3, at: .zero)
    engine.advance(to: at(180))
    #expect(engine.value(RefrigeratorAlarm.state, on: 2) == .doorOpen)
  }

  @Test("a cooktop switches its surfaces off") func switchesSurfaces() throws {
    var engine = try DeviceEngine(try #require(try load("cooktop", "room: Kitchen")))
    try engine.act(set: OnOff.onOff, true, on: 3, at: .zero)
    #expect(engine.value(OnOff.onOff, on: 1) == true && engine.value(OnOff.onOff, on: 2) == false)
    engine.advance(to: at(600))
    #expect(engine.value(TemperatureMeasurement.measuredValue, on: 3)?.wrapped.map { $0 > 9900 } == true)
    try engine.press(OnOff.off, NoFields(), on: 1, at: at(600))
    #expect(engine.value(OnOff.onOff, on: 3) == false)
    engine.advance(to: at(36_000))
    #expect(engine.value(TemperatureMeasurement.measuredValue, on: 3)?.wrapped.map { $0 < 2200 } == true)
  }
}
