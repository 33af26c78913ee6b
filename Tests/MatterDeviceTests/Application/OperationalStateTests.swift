import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// A washer, a dryer and a dishwasher whose normal program takes 60 s.
@Suite("Operational State") struct OperationalStateTests {
  private static let program = ApplianceProgram(
    phases: [.init("Washing", .seconds(40)), .init("Spinning", .seconds(20))],
    modes: [
      .init("Normal", [LaundryWasherMode.ModeTag.normal.rawValue]),
      .init("Quick", [LaundryWasherMode.ModeTag.quick.rawValue], pace: 50),
    ])

  private let washer = TestNode(ApplianceServers.laundryWasher(program))

  private typealias State = OperationalState.OperationalState
  private typealias Failure = OperationalState.ErrorState

  /// Sends a command, and returns the error of its response.
  private func send(
    _ command: Command<OperationalState, NoFields, OperationalState.OperationalCommandResponse>, to node: TestNode
  ) throws -> Failure {
    let response = try #require(try node.invoke(command, NoFields()))
    return Failure(response.commandResponseState.errorStateID)
  }

  private func state(_ node: TestNode) -> State { node[OperationalState.operationalState] }
  private func countdown(_ node: TestNode) -> UInt32? { node[OperationalState.countdownTime].wrapped }
  private func phase(_ node: TestNode) -> UInt8? { node[OperationalState.currentPhase].wrapped }

  @Test func servesMandatoryElements() throws {
    let modes = [
      ApplianceMode("Vacuum", [RvcCleanMode.ModeTag.vacuum.rawValue]),
      ApplianceMode("Mop", [RvcCleanMode.ModeTag.mop.rawValue]),
    ]
    for servers in [
      ApplianceServers.laundryWasher(Self.program), ApplianceServers.laundryDryer(Self.program),
      ApplianceServers.dishwasher(Self.program), ApplianceServers.robotVacuum(ApplianceProgram(modes: modes)),
    ] {
      for server in servers {
        expectConformance(of: server)
      }
    }
    #expect(washer[OperationalState.phaseList] == .value(["Washing", "Spinning"]))
    #expect(washer[OperationalState.operationalStateList].map(\.operationalStateID) == [0, 1, 2, 3])
    #expect(phase(washer) == 0 && countdown(washer) == nil && state(washer) == .stopped)
  }

  @Test("runs phase after phase, and ends by itself") func endsByItself() throws {
    #expect(try send(OperationalState.start, to: washer) == .noError)
    #expect(state(washer) == .running && countdown(washer) == 60 && phase(washer) == 0)
    washer.wait(10_500)
    #expect(countdown(washer) == 50)
    #expect(try send(OperationalState.start, to: washer) == .noError)
    washer.wait(29_500)
    #expect(phase(washer) == 1 && countdown(washer) == 20)
    #expect(try washer.payloads(of: OperationalState.operationCompletion).isEmpty)
    washer.wait(20_000)
    #expect(state(washer) == .stopped && countdown(washer) == nil && phase(washer) == 0)
    let events = try washer.payloads(of: OperationalState.operationCompletion)
    #expect(events == [.init(completionErrorCode: 0, totalOperationalTime: .value(60), pausedTime: .value(0))])
    #expect(try send(OperationalState.stop, to: washer) == .noError)
    #expect(try washer.payloads(of: OperationalState.operationCompletion).count == 1)
  }

  @Test func reportsCountdownAtChangesOnly() throws {
    _ = try send(OperationalState.start, to: washer)
    washer.wait(70_000)
    let reports = try washer.takeReports(of: OperationalState.countdownTime)
    #expect(reports.map(\.at) == [0, 40_000, 60_000])
    #expect(reports.map(\.value) == [.value(60), .value(20), .null])
  }

  @Test func pausesAndResumes() throws {
    for command in [OperationalState.pause, OperationalState.resume] {
      #expect(try send(command, to: washer) == .commandInvalidInState)
    }
    _ = try send(OperationalState.start, to: washer)
    washer.wait(5_000)
    #expect(try send(OperationalState.pause, to: washer) == .noError)
    #expect(state(washer) == .paused && countdown(washer) == 55)
    washer.wait(30_000)
    #expect(countdown(washer) == 55)
    #expect(try send(OperationalState.pause, to: washer) == .noError)
    #expect(try send(OperationalState.resume, to: washer) == .noError)
    #expect(try send(OperationalState.resume, to: washer) == .noError)
    #expect(state(washer) == .running)
    washer.wait(55_000)
    #expect(state(washer) == .stopped)
    let event = try #require(try washer.payloads(of: OperationalState.operationCompletion).first)
    #expect(event.totalOperationalTime == .value(90) && event.pausedTime == .value(30))
  }

  @Test func stopsEarly() throws {
    _ = try send(OperationalState.start, to: washer)
    washer.wait(7_000)
    #expect(try send(OperationalState.stop, to: washer) == .noError)
    #expect(state(washer) == .stopped && countdown(washer) == nil)
    washer.wait(100_000)
    #expect(try washer.payloads(of: OperationalState.operationCompletion).map(\.totalOperationalTime) == [.value(7)])
  }

  @Test("an error interrupts the run, which continues after its recovery") func recoversFromErrors() throws {
    _ = try send(OperationalState.start, to: washer)
    washer.wait(10_000)
    try washer.move("water", "off")
    #expect(state(washer) == .error && washer[OperationalState.operationalError].errorStateID == 0x80)
    #expect(
      try washer.payloads(of: OperationalState.operationalErrorEvent).map(\.errorState.errorStateLabel) == ["No water"])
    for command in [OperationalState.pause, OperationalState.resume] {
      #expect(try send(command, to: washer) == .commandInvalidInState)
    }
    #expect(try send(OperationalState.start, to: washer) == .unableToStartOrResume)
    washer.wait(60_000)
    #expect(countdown(washer) == 50)
    // Another cause keeps the error.
    try washer.move("drain", "blocked")
    try washer.move("water", "on")
    #expect(state(washer) == .error)
    try washer.move("drain", "clear")
    #expect(state(washer) == .paused && washer[OperationalState.operationalError].errorStateID == 0)
    #expect(try send(OperationalState.resume, to: washer) == .noError)
    washer.wait(50_000)
    #expect(state(washer) == .stopped)
    #expect(try washer.payloads(of: OperationalState.operationCompletion).map(\.completionErrorCode) == [0])
  }

  @Test func takesErrorsFromTheAttribute() throws {
    try washer.press(OperationalState.operationalError, .init(errorStateID: Failure.unableToCompleteOperation.rawValue))
    #expect(state(washer) == .error)
    #expect(try send(OperationalState.start, to: washer) == .unableToStartOrResume)
    try washer.press(OperationalState.operationalError, .init(errorStateID: 0))
    #expect(state(washer) == .stopped)
    // A stop in an error ends the run with its code.
    _ = try send(OperationalState.start, to: washer)
    try washer.press(OperationalState.operationalError, .init(errorStateID: Failure.unableToCompleteOperation.rawValue))
    #expect(try send(OperationalState.stop, to: washer) == .noError)
    #expect(state(washer) == .stopped && washer[OperationalState.operationalError].errorStateID == 0)
    #expect(try washer.payloads(of: OperationalState.operationCompletion).map(\.completionErrorCode) == [2])
  }

  @Test("the panel can't set the phases, which follow from the run") func refusesDerivedAttributes() throws {
    _ = try send(OperationalState.start, to: washer)
    for phase in [Nullable<UInt8>.null, .value(1), .value(20)] {
      #expect(throws: StatusError.self) { try washer.press(OperationalState.currentPhase, phase) }
    }
    #expect(throws: StatusError.self) { try washer.press(OperationalState.phaseList, .value([])) }
    #expect(throws: StatusError.self) { try washer.press(OperationalState.operationalStateList, []) }
    #expect(phase(washer) == 0 && washer[OperationalState.phaseList] == .value(["Washing", "Spinning"]))
  }

  @Test func startsAtThePanel() throws {
    try washer.press(OperationalState.operationalState, .running)
    #expect(state(washer) == .running)
    try washer.press(OperationalState.operationalState, .paused)
    washer.wait(100_000)
    try washer.press(OperationalState.operationalState, .running)
    #expect(countdown(washer) == 60)
    try washer.press(OperationalState.operationalState, .stopped)
    #expect(state(washer) == .stopped)
    #expect(throws: StatusError(.invalidInState)) { try washer.press(OperationalState.operationalState, .paused) }
    #expect(throws: StatusError(.constraintError)) { try washer.press(OperationalState.operationalState, .error) }
  }

  @Test("the door of a washer is locked during the run, and must be closed before") func locksTheDoor() throws {
    try washer.move("door", "open")
    #expect(try send(OperationalState.start, to: washer) == .unableToStartOrResume)
    #expect(throws: StatusError(.invalidInState)) { try washer.press(OperationalState.operationalState, .running) }
    try washer.move("door", "closed")
    _ = try send(OperationalState.start, to: washer)
    #expect(throws: StatusError(.invalidInState)) { try washer.move("door", "open") }
    #expect(state(washer) == .running)
    #expect(throws: StatusError(.constraintError)) { try washer.move("door", "ajar") }
    #expect(throws: StatusError(.unsupportedAttribute)) { try washer.move("lid", "open") }
  }

  @Test("an open door pauses a dishwasher") func pausesAtDoor() throws {
    let node = TestNode(ApplianceServers.dishwasher(Self.program))
    _ = try send(OperationalState.start, to: node)
    try node.move("door", "open")
    #expect(state(node) == .paused)
    #expect(try send(OperationalState.resume, to: node) == .unableToStartOrResume)
    try node.move("door", "closed")
    #expect(state(node) == .paused)
    #expect(try send(OperationalState.resume, to: node) == .noError)
    #expect(state(node) == .running)
  }

  // MARK: Modes

  private func change(to mode: UInt8, _ node: TestNode) throws -> LaundryWasherMode.ChangeToModeResponse {
    try #require(try node.invoke(LaundryWasherMode.changeToMode, .init(newMode: mode)))
  }

  @Test("a mode changes the pace of the next run, and is fixed during a run") func changesModes() throws {
    #expect(washer[LaundryWasherMode.supportedModes].map(\.label) == ["Normal", "Quick"])
    #expect(try change(to: 0, washer).status == 0)
    #expect(try change(to: 2, washer).status == 1)
    #expect(try change(to: 1, washer).status == 0)
    #expect(washer[LaundryWasherMode.currentMode] == 1)
    _ = try send(OperationalState.start, to: washer)
    #expect(countdown(washer) == 30)
    let refused = try change(to: 0, washer)
    #expect(refused.status == 3 && (1...64).contains(refused.statusText?.utf8.count ?? 0))
    #expect(try change(to: 1, washer).status == 0)
    #expect(washer[LaundryWasherMode.currentMode] == 1)
    #expect(throws: StatusError(.invalidInState)) { try washer.press(LaundryWasherMode.currentMode, 0) }
    washer.wait(30_000)
    try washer.press(LaundryWasherMode.currentMode, 0)
    #expect(washer[LaundryWasherMode.currentMode] == 0)
    #expect(throws: StatusError(.constraintError)) { try washer.press(LaundryWasherMode.currentMode, 2) }
  }

  @Test("the mode and the settings survive a restart, the run does not") func survivesRestart() throws {
    _ = try change(to: 1, washer)
    try washer.write(LaundryWasherControls.spinSpeedCurrent, .value(3))
    try washer.invoke(TemperatureControl.setTemperature, .init(targetTemperatureLevel: 4))
    _ = try send(OperationalState.start, to: washer)
    let again = TestNode(ApplianceServers.laundryWasher(Self.program), stored: washer.stored)
    #expect(again[LaundryWasherMode.currentMode] == 1)
    #expect(again[LaundryWasherControls.spinSpeedCurrent] == .value(3))
    #expect(again[TemperatureControl.selectedTemperatureLevel] == 4)
    #expect(state(again) == .stopped && countdown(again) == nil)
    // A definition with fewer modes.
    var short = Self.program
    short.modes.removeLast()
    let other = TestNode(ApplianceServers.laundryWasher(short), stored: washer.stored)
    #expect(other[LaundryWasherMode.currentMode] == 0)
  }

  // MARK: Settings

  @Test func checksSettings() throws {
    func expect(_ status: StatusCode, _ body: () throws -> Void) {
      #expect(throws: StatusError(status), performing: body)
    }
    expect(.constraintError) { try washer.write(LaundryWasherControls.spinSpeedCurrent, .value(4)) }
    expect(.invalidInState) { try washer.write(LaundryWasherControls.numberOfRinses, .max) }
    expect(.constraintError) {
      try washer.invoke(TemperatureControl.setTemperature, .init(targetTemperatureLevel: 5))
    }
    expect(.invalidCommand) { try washer.invoke(TemperatureControl.setTemperature, .init(targetTemperature: 2000)) }
    expect(.invalidCommand) { try washer.invoke(TemperatureControl.setTemperature, .init()) }
    try washer.write(LaundryWasherControls.spinSpeedCurrent, .null)
    try washer.write(LaundryWasherControls.numberOfRinses, .extra)
    _ = try send(OperationalState.start, to: washer)
    expect(.invalidInState) { try washer.write(LaundryWasherControls.spinSpeedCurrent, .value(1)) }
    expect(.invalidInState) {
      try washer.invoke(TemperatureControl.setTemperature, .init(targetTemperatureLevel: 1))
    }
    let dryer = TestNode(ApplianceServers.laundryDryer(Self.program))
    expect(.constraintError) { try dryer.write(LaundryDryerControls.selectedDrynessLevel, .value(.max)) }
    try dryer.write(LaundryDryerControls.selectedDrynessLevel, .value(.low))
    #expect(dryer[LaundryDryerControls.selectedDrynessLevel] == .value(.low))
  }
}
