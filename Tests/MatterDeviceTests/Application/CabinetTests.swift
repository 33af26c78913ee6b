import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// Microwave ovens, alarms, and the servers of endpoints with a temperature.
@Suite("Cabinets, ovens and alarms") struct CabinetTests {
  private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

  // MARK: Temperature

  @Test func approachesTargets() {
    var temperature = CabinetTemperature(20, at: .zero)
    #expect(temperature.isSettled)
    temperature.approach(100, timeConstant: .seconds(100), at: .zero)
    temperature.advance(to: at(100))
    #expect(abs(temperature.value - (100 - 80 / 2.718_281_828)) < 0.001)
    // The result does not depend on the steps.
    var fine = CabinetTemperature(20, at: .zero)
    fine.approach(100, timeConstant: .seconds(100), at: .zero)
    for second in 1...100 as ClosedRange<Int64> { fine.advance(to: at(second)) }
    #expect(abs(fine.value - temperature.value) < 0.000_001)
    temperature.approach(20, timeConstant: .seconds(10), at: at(100))
    temperature.advance(to: at(300))
    #expect(temperature.isSettled)
    temperature.advance(to: at(50))
    #expect(temperature.isSettled)
  }

  @Test func servesMandatoryElements() {
    let program = ApplianceProgram(modes: [.init("A", [0]), .init("B", [0x4000])])
    let cabinet = ApplianceCabinet("Cold", 100...1000, setpoint: 400)
    let servers = [
      ApplianceServers.refrigerator(program), ApplianceServers.compartment(cabinet, program.modes),
      ApplianceServers.ovenCavity(cabinet, program), ApplianceServers.cooktop(), ApplianceServers.cookSurface(),
      ApplianceServers.microwaveOven(program),
    ]
    for server in servers.joined() {
      expectConformance(of: server)
    }
  }

  @Test("a compartment follows its set point, and warms up while its door is open") func cools() throws {
    let node = TestNode(
      ApplianceServers.compartment(ApplianceCabinet("Cold", 100...1000, setpoint: 400), []))
    #expect(node[TemperatureMeasurement.measuredValue] == .value(400))
    try node.invoke(TemperatureControl.setTemperature, .init(targetTemperature: 700))
    node.wait(1_800_000)
    #expect(node[TemperatureMeasurement.measuredValue].wrapped.map { (570...610).contains($0) } == true)
    node.wait(36_000_000)
    #expect(node[TemperatureMeasurement.measuredValue].wrapped.map { (690...710).contains($0) } == true)
    try node.move("door", "open")
    node.wait(600_000)
    let warm = try #require(node[TemperatureMeasurement.measuredValue].wrapped)
    #expect((1500...1650).contains(warm))
    try node.move("door", "closed")
    node.wait(36_000_000)
    #expect(node[TemperatureMeasurement.measuredValue].wrapped.map { (690...710).contains($0) } == true)
    // A settled cabinet has no timer.
    #expect(node.context.node.timers.isEmpty)
  }

  @Test("a cabinet starts with the temperature of its attribute") func startsWithItsTemperature() throws {
    let cabinet = ApplianceCabinet("Cold", 100...1000, setpoint: 400)
    let node = TestNode(
      ApplianceServers.compartment(cabinet, []).map {
        $0.id == TemperatureMeasurement.id ? $0.initial(TemperatureMeasurement.measuredValue, .value(1800)) : $0
      })
    #expect(node[TemperatureMeasurement.measuredValue] == .value(1800))
    node.wait(1_800_000)
    #expect(node[TemperatureMeasurement.measuredValue].wrapped.map { (880...960).contains($0) } == true)
  }

  @Test func checksTemperatures() throws {
    let node = TestNode(
      ApplianceServers.compartment(ApplianceCabinet("Cold", 100...1000, setpoint: 400), []))
    let path = TemperatureMeasurement.measuredValue.path(on: 1)
    for value in [Int16.min, -4001, 30_001, .max] {
      #expect(throws: StatusError(.constraintError)) { try node.check(path, value.tlv) }
    }
    try node.check(path, Int16(30_000).tlv)
    // Not checked here: the tenths of a degree exceed the type.
    try node.press(TemperatureMeasurement.measuredValue, .value(.max))
    #expect(node[TemperatureMeasurement.measuredValue] == .value(.max))
  }

  @Test func checksSetpoints() throws {
    let node = TestNode([ApplianceServers.temperatureSetpoint(100...1000, step: 50, 400)])
    for (target, status) in [(99, .constraintError), (1001, .constraintError), (420, .constraintError)]
      as [(Int16, StatusCode)]
    {
      #expect(throws: StatusError(status)) {
        try node.invoke(TemperatureControl.setTemperature, .init(targetTemperature: target))
      }
    }
    #expect(throws: StatusError(.invalidCommand)) {
      try node.invoke(TemperatureControl.setTemperature, .init(targetTemperatureLevel: 1))
    }
    #expect(throws: StatusError(.invalidCommand)) { try node.invoke(TemperatureControl.setTemperature, .init()) }
    for target in [100, 450, 1000] as [Int16] {
      try node.invoke(TemperatureControl.setTemperature, .init(targetTemperature: target))
      #expect(node[TemperatureControl.temperatureSetpoint] == target)
    }
  }

  // MARK: Alarms

  private func alarm(_ delay: Duration = .seconds(60)) -> AlarmServer<RefrigeratorAlarm> {
    AlarmServer(RefrigeratorAlarm.self, [.init("door", ["closed", "open"], when: "open", bit: 1, after: delay)])
  }

  @Test("a door that is open too long raises an alarm") func raisesDoorAlarm() throws {
    let node = TestNode([alarm().make()])
    #expect(node[RefrigeratorAlarm.supported] == .doorOpen && node[RefrigeratorAlarm.mask] == .doorOpen)
    try node.move("door", "open")
    node.wait(59_000)
    #expect(node[RefrigeratorAlarm.state] == [])
    try node.move("door", "closed")
    node.wait(60_000)
    #expect(node[RefrigeratorAlarm.state] == [])
    try node.move("door", "open")
    node.wait(30_000)
    // Opening it again does not delay the alarm.
    try node.move("door", "open")
    node.wait(30_000)
    #expect(node[RefrigeratorAlarm.state] == .doorOpen)
    try node.move("door", "closed")
    #expect(node[RefrigeratorAlarm.state] == [])
    let events = try node.payloads(of: RefrigeratorAlarm.notify)
    #expect(events.map(\.active) == [.doorOpen, []] && events.map(\.inactive) == [[], .doorOpen])
    #expect(events.map(\.state) == [.doorOpen, []] && events.map(\.mask) == [.doorOpen, .doorOpen])
  }

  @Test("an alarm of several doors lasts until all are closed") func followsSeveralDoors() {
    let node = TestNode([alarm().make()])
    func move(_ endpoint: EndpointID, _ state: String) {
      node.call(AlarmServer<RefrigeratorAlarm>.partMoved, PartMove(part: "door", state: state, endpoint: endpoint))
    }
    move(2, "open")
    node.wait(30_000)
    move(3, "open")
    node.wait(30_000)
    #expect(node[RefrigeratorAlarm.state] == .doorOpen)
    move(2, "closed")
    #expect(node[RefrigeratorAlarm.state] == .doorOpen)
    move(3, "closed")
    #expect(node[RefrigeratorAlarm.state] == [])
  }

  @Test("alarms of a dishwasher are latched, reset and suppressed") func latchesAlarms() throws {
    let node = TestNode([ApplianceServers.dishwasherAlarm()])
    let both: DishwasherAlarm.Alarm = [.inflowError, .drainError]
    #expect(node[DishwasherAlarm.supported] == both && node[DishwasherAlarm.latch] == .inflowError)
    try node.move("water", "off")
    try node.move("drain", "blocked")
    #expect(node[DishwasherAlarm.state] == both)
    try node.move("water", "on")
    try node.move("drain", "clear")
    #expect(node[DishwasherAlarm.state] == .inflowError)
    try node.invoke(DishwasherAlarm.reset, .init(alarms: .inflowError))
    #expect(node[DishwasherAlarm.state] == [])
    // An alarm whose cause lasts can't be reset.
    try node.move("water", "off")
    try node.invoke(DishwasherAlarm.reset, .init(alarms: .inflowError))
    #expect(node[DishwasherAlarm.state] == .inflowError)
    #expect(throws: StatusError(.invalidCommand)) {
      try node.invoke(DishwasherAlarm.reset, .init(alarms: .tempTooLow))
    }
    #expect(throws: StatusError(.invalidCommand)) {
      try node.invoke(DishwasherAlarm.modifyEnabledAlarms, .init(mask: .doorError))
    }
    try node.invoke(DishwasherAlarm.modifyEnabledAlarms, .init(mask: .drainError))
    #expect(node[DishwasherAlarm.state] == [] && node[DishwasherAlarm.mask] == .drainError)
    try node.invoke(DishwasherAlarm.modifyEnabledAlarms, .init(mask: both))
    #expect(node[DishwasherAlarm.state] == .inflowError)
  }

  @Test func takesAlarmsFromTheAttribute() throws {
    let node = TestNode([alarm().make()])
    try node.press(RefrigeratorAlarm.state, .doorOpen)
    #expect(try node.payloads(of: RefrigeratorAlarm.notify).map(\.active) == [.doorOpen])
    #expect(throws: StatusError(.constraintError)) {
      try node.press(RefrigeratorAlarm.state, .init(rawValue: 2))
    }
  }

  // MARK: Microwave oven

  private static let modes = [
    ApplianceMode("Normal", [MicrowaveOvenMode.ModeTag.normal.rawValue]),
    ApplianceMode("Defrost", [MicrowaveOvenMode.ModeTag.defrost.rawValue]),
  ]
  private let microwave = TestNode(ApplianceServers.microwaveOven(ApplianceProgram(modes: modes)))

  private func set(_ request: MicrowaveOvenControl.SetCookingParametersRequest) throws {
    try microwave.invoke(MicrowaveOvenControl.setCookingParameters, request)
  }

  @Test func setsCookingParameters() throws {
    #expect(!microwave.accepts(Command<MicrowaveOvenMode, NoFields, NoFields>(0, "ChangeToMode")))
    try set(.init(cookMode: 1, cookTime: 90, powerSetting: 50))
    #expect(microwave[MicrowaveOvenMode.currentMode] == 1 && microwave[MicrowaveOvenControl.cookTime] == 90)
    #expect(microwave[MicrowaveOvenControl.powerSetting] == 50)
    // Omitted fields have their usual values.
    try set(.init(cookTime: 60))
    #expect(microwave[MicrowaveOvenMode.currentMode] == 0 && microwave[MicrowaveOvenControl.powerSetting] == 100)
    let wrong: [(MicrowaveOvenControl.SetCookingParametersRequest, StatusCode)] = [
      (.init(), .invalidCommand), (.init(startAfterSetting: true), .invalidCommand),
      (.init(cookTime: 30, wattSettingIndex: 0), .invalidCommand), (.init(cookMode: 2), .constraintError),
      (.init(cookTime: 0), .constraintError), (.init(cookTime: 3601), .constraintError),
      (.init(powerSetting: 9), .constraintError), (.init(powerSetting: 55), .constraintError),
      (.init(powerSetting: 101), .constraintError),
    ]
    for (request, status) in wrong { #expect(throws: StatusError(status), "\(request)") { try set(request) } }
    #expect(microwave[MicrowaveOvenControl.cookTime] == 60)
  }

  @Test("the panel sets the power within its limits, in its steps") func setsPowerAtThePanel() throws {
    try microwave.press(MicrowaveOvenControl.powerSetting, 30)
    for power: UInt8 in [0, 9, 35, 110] {
      #expect(throws: StatusError(.constraintError)) { try microwave.press(MicrowaveOvenControl.powerSetting, power) }
    }
    #expect(microwave[MicrowaveOvenControl.powerSetting] == 30)
  }

  @Test("cooks, prolonged and interrupted by its door") func cooks() throws {
    try set(.init(cookTime: 20, startAfterSetting: true))
    #expect(microwave[OperationalState.operationalState] == .running)
    #expect(throws: StatusError(.invalidInState)) { try set(.init(cookTime: 30)) }
    microwave.wait(5_000)
    try microwave.invoke(MicrowaveOvenControl.addMoreTime, .init(timeToAdd: 10))
    #expect(microwave[OperationalState.countdownTime] == .value(25) && microwave[MicrowaveOvenControl.cookTime] == 30)
    #expect(throws: StatusError(.constraintError)) {
      try microwave.invoke(MicrowaveOvenControl.addMoreTime, .init(timeToAdd: 3571))
    }
    #expect(throws: StatusError(.constraintError)) {
      try microwave.invoke(MicrowaveOvenControl.addMoreTime, .init(timeToAdd: .max))
    }
    try microwave.move("door", "open")
    microwave.wait(60_000)
    try microwave.move("door", "closed")
    #expect(microwave[OperationalState.operationalState] == .paused)
    try microwave.press(OperationalState.operationalState, .running)
    microwave.wait(25_000)
    #expect(microwave[OperationalState.operationalState] == .stopped)
    #expect(microwave[MicrowaveOvenControl.cookTime] == 30)
    let event = try #require(try microwave.payloads(of: OperationalState.operationCompletion).first)
    #expect(event.totalOperationalTime == .value(90) && event.pausedTime == .value(60))
    try microwave.press(OperationalState.operationalError, .init(errorStateID: 2))
    #expect(throws: StatusError(.invalidInState)) {
      try microwave.invoke(MicrowaveOvenControl.addMoreTime, .init(timeToAdd: 1))
    }
  }

  // MARK: Oven

  @Test("the cavity is hot during a run") func heats() throws {
    let program = ApplianceProgram(
      phases: [.init("Heating", .seconds(600)), .init("Baking", .seconds(2400))],
      modes: [.init("Bake", [OvenMode.ModeTag.bake.rawValue]), .init("Grill", [OvenMode.ModeTag.grill.rawValue])])
    let node = TestNode(
      ApplianceServers.ovenCavity(ApplianceCabinet("Cavity", 5000...25_000, setpoint: 18_000), program))
    let temperature = { node[TemperatureMeasurement.measuredValue].wrapped ?? 0 }
    #expect(temperature() == 2100)
    let response = try node.invoke(OvenCavityOperationalState.start, NoFields())
    #expect(response?.commandResponseState.errorStateID == 0)
    #expect(!node.accepts(OperationalState.pause))
    node.wait(2_900_000)
    #expect((17_900...18_000).contains(temperature()))
    #expect(node[OvenCavityOperationalState.currentPhase] == .value(1))
    node.wait(100_000)
    #expect(node[OvenCavityOperationalState.operationalState] == .stopped)
    node.wait(36_000_000)
    #expect((2100...2110).contains(temperature()))
  }
}
