import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// A robot with two areas, which take 40 s and 20 s. It needs 60 s to its charger, and an hour to charge.
@Suite("Robot vacuum") struct RobotVacuumTests {
  static let program = ApplianceProgram(
    modes: [
      .init("Vacuum", [RvcCleanMode.ModeTag.vacuum.rawValue]),
      .init("Deep clean", [RvcCleanMode.ModeTag.deepClean.rawValue], pace: 200),
    ],
    areas: [.init("Kitchen", .kitchen, .seconds(40)), .init("Hall", nil, .seconds(20))])

  private let robot = TestNode(ApplianceServers.robotVacuum(program))

  private typealias Failure = RvcOperationalState.ErrorState
  private let idle: UInt8 = 0, cleaning: UInt8 = 1, mapping: UInt8 = 2

  /// Sends a command, and returns the error of its response.
  private func send(
    _ command: Command<RvcOperationalState, NoFields, RvcOperationalState.OperationalCommandResponse>
  ) throws -> Failure {
    let response = try #require(try robot.invoke(command, NoFields()))
    return Failure(response.commandResponseState.errorStateID)
  }

  private func run(_ mode: UInt8) throws -> UInt8 {
    try #require(try robot.invoke(RvcRunMode.changeToMode, .init(newMode: mode))).status
  }

  private func clean(_ mode: UInt8) throws -> UInt8 {
    try #require(try robot.invoke(RvcCleanMode.changeToMode, .init(newMode: mode))).status
  }

  private func select(_ areas: UInt32...) throws -> ServiceArea.SelectAreasStatus {
    try #require(try robot.invoke(ServiceArea.selectAreas, .init(newAreas: areas))).status
  }

  private func skip(_ area: UInt32) throws -> ServiceArea.SkipAreaStatus {
    try #require(try robot.invoke(ServiceArea.skipArea, .init(skippedArea: area))).status
  }

  private var state: UInt8 { robot[RvcOperationalState.operationalState].rawValue }
  private var mode: UInt8 { robot[RvcRunMode.currentMode] }
  private var countdown: UInt32? { robot[RvcOperationalState.countdownTime].wrapped }
  private var area: UInt32? { robot[ServiceArea.currentArea].wrapped }
  private var progress: [ServiceArea.OperationalStatus] { robot[ServiceArea.progress].map(\.status) }

  @Test("cleans all areas, returns to its charger, and charges") func cleansAll() throws {
    #expect(state == OperationState.docked && mode == idle && area == nil && progress.isEmpty)
    #expect(robot[RvcOperationalState.phaseList] == .null && robot[RvcOperationalState.currentPhase] == .null)
    #expect(try run(cleaning) == 0)
    #expect(state == OperationState.running && mode == cleaning && countdown == 60)
    #expect(area == 1 && progress == [.operating, .pending])
    robot.wait(45_000)
    #expect(area == 2 && progress == [.completed, .operating])
    #expect(robot[ServiceArea.progress].map(\.totalOperationalTime) == [.value(40), .null])
    robot.wait(15_000)
    #expect(state == OperationState.seekingCharger && mode == idle && countdown == nil)
    #expect(area == nil && progress == [.completed, .completed])
    let events = try robot.payloads(of: RvcOperationalState.operationCompletion)
    #expect(events.map(\.totalOperationalTime) == [.value(60)] && events.map(\.completionErrorCode) == [0])
    robot.wait(60_000)
    #expect(state == OperationState.charging)
    robot.wait(3_600_000)
    #expect(state == OperationState.docked)
    robot.wait(3_600_000)
    #expect(state == OperationState.docked && mode == idle)
  }

  @Test func startsOnlyFromIdle() throws {
    #expect(try run(cleaning) == 0)
    #expect(try run(mapping) == 3)
    #expect(try run(cleaning) == 0)
    #expect(mode == cleaning)
    #expect(try clean(1) == 3)
    #expect(robot[RvcCleanMode.currentMode] == 0)
    #expect(try run(idle) == 0)
    #expect(state == OperationState.seekingCharger && mode == idle)
    #expect(progress == [.skipped, .skipped])
    #expect(try clean(1) == 0)
    // Also on its way to the charger.
    #expect(try run(cleaning) == 0)
    #expect(state == OperationState.running && countdown == 120)
    #expect(try run(7) == 1)
    #expect(try run(idle) == 0)
    #expect(try run(mapping) == 0)
    #expect(countdown == 30 && area == nil)
  }

  @Test func selectsAndSkipsAreas() throws {
    #expect(try skip(1) == .invalidAreaList)
    #expect(try select(2, 2, 1) == .success)
    #expect(robot[ServiceArea.selectedAreas] == [2, 1])
    #expect(try select(3) == .unsupportedArea)
    #expect(try select(0) == .unsupportedArea)
    #expect(try skip(1) == .invalidInMode)
    #expect(try run(cleaning) == 0)
    #expect(area == 2 && robot[ServiceArea.progress].map(\.areaID) == [2, 1])
    #expect(try select(1) == .invalidInMode)
    #expect(try select(2, 1) == .success)
    #expect(try skip(9) == .invalidSkippedArea)
    robot.wait(5_000)
    #expect(try skip(2) == .success)
    #expect(area == 1 && progress == [.skipped, .operating] && countdown == 40)
    #expect(try skip(2) == .invalidSkippedArea)
    #expect(try skip(1) == .success)
    #expect(state == OperationState.seekingCharger && mode == idle && progress == [.skipped, .skipped])
    #expect(try robot.payloads(of: RvcOperationalState.operationCompletion).map(\.totalOperationalTime) == [.value(5)])
    #expect(try select() == .success)
    #expect(robot[ServiceArea.selectedAreas] == [])
  }

  @Test("gets stuck, and continues when it is free") func recovers() throws {
    #expect(try run(cleaning) == 0)
    robot.wait(10_000)
    try robot.move("wheels", "stuck")
    #expect(state == OperationState.error)
    #expect(Failure(robot[RvcOperationalState.operationalError].errorStateID) == .stuck)
    #expect(
      try robot.payloads(of: RvcOperationalState.operationalErrorEvent).map(\.errorState.errorStateID)
        == [Failure.stuck.rawValue])
    for command in [RvcOperationalState.pause, RvcOperationalState.resume, RvcOperationalState.goHome] {
      #expect(try send(command) == .commandInvalidInState)
    }
    robot.wait(100_000)
    try robot.move("wheels", "free")
    #expect(state == OperationState.paused && countdown == 50)
    #expect(try send(RvcOperationalState.resume) == .noError)
    robot.wait(50_000)
    #expect(mode == idle && state == OperationState.seekingCharger)
  }

  @Test("a full bin keeps it from starting, with the error as the status") func refusesToStart() throws {
    try robot.move("bin", "full")
    #expect(state == OperationState.error)
    #expect(try run(cleaning) == RvcRunMode.StatusCodeEnum.dustBinFull.rawValue)
    #expect(mode == idle)
    try robot.move("bin", "empty")
    #expect(state == OperationState.stopped)
    #expect(try run(cleaning) == 0)
  }

  @Test func pausesAndResumes() throws {
    #expect(try send(RvcOperationalState.pause) == .commandInvalidInState)
    #expect(try send(RvcOperationalState.resume) == .commandInvalidInState)
    #expect(try send(RvcOperationalState.goHome) == .commandInvalidInState)
    #expect(try run(cleaning) == 0)
    #expect(try send(RvcOperationalState.pause) == .noError)
    robot.wait(100_000)
    #expect(countdown == 60 && robot[ServiceArea.estimatedEndTime] == .null)
    #expect(try send(RvcOperationalState.resume) == .noError)
    #expect(state == OperationState.running)
    // GoHome ends the run.
    #expect(try send(RvcOperationalState.goHome) == .noError)
    #expect(state == OperationState.seekingCharger && mode == idle)
    #expect(try send(RvcOperationalState.goHome) == .noError)
    #expect(try send(RvcOperationalState.resume) == .commandInvalidInState)
    // The way home can be paused.
    robot.wait(30_000)
    #expect(try send(RvcOperationalState.pause) == .noError)
    robot.wait(100_000)
    #expect(state == OperationState.paused)
    #expect(try send(RvcOperationalState.resume) == .noError)
    #expect(state == OperationState.seekingCharger)
    robot.wait(30_000)
    #expect(state == OperationState.charging)
    for command in [RvcOperationalState.pause, RvcOperationalState.resume, RvcOperationalState.goHome] {
      #expect(try send(command) == .commandInvalidInState)
    }
  }

  @Test("a low battery interrupts the run until it is charged") func recharges() throws {
    #expect(try run(cleaning) == 0)
    robot.wait(45_000)
    try robot.move("battery", "low")
    #expect(state == OperationState.seekingCharger && mode == cleaning)
    robot.wait(60_000)
    #expect(state == OperationState.charging && countdown == 15)
    #expect(try send(RvcOperationalState.resume) == .unableToStartOrResume)
    robot.wait(3_600_000)
    #expect(state == OperationState.running && mode == cleaning && area == 2)
    robot.wait(15_000)
    #expect(mode == idle && progress == [.completed, .completed])
    // With a charged battery, a command resumes the run early.
    robot.wait(4_000_000)
    #expect(try run(cleaning) == 0)
    try robot.move("battery", "low")
    robot.wait(100_000)
    try robot.move("battery", "ok")
    #expect(try send(RvcOperationalState.resume) == .noError)
    #expect(state == OperationState.running)
    #expect(try robot.payloads(of: RvcOperationalState.operationCompletion).count == 1)
  }

  @Test("is put into its charger and charged before its time, and continues") func hastensCharging() throws {
    #expect(try run(cleaning) == 0)
    robot.wait(45_000)
    try robot.move("battery", "low")
    robot.wait(10_000)
    try robot.press(RvcOperationalState.operationalState, .charging)
    #expect(state == OperationState.charging && mode == cleaning && countdown == 15)
    robot.wait(600_000)
    try robot.press(RvcOperationalState.operationalState, .docked)
    #expect(state == OperationState.running && area == 2)
    // On the way, it is paused and charged.
    try robot.move("battery", "low")
    #expect(try send(RvcOperationalState.pause) == .noError)
    try robot.press(RvcOperationalState.operationalState, .docked)
    #expect(state == OperationState.running && mode == cleaning)
    robot.wait(15_000)
    #expect(mode == idle && progress == [.completed, .completed])
    // Without an interrupted run, it stays there.
    try robot.press(RvcOperationalState.operationalState, .docked)
    #expect(state == OperationState.docked && mode == idle)
  }

  @Test func maintainsItselfAtItsCharger() throws {
    #expect(robot[RvcOperationalState.operationalStateList].map(\.operationalStateID) == [0, 1, 2, 3] + Array(64...70))
    for task in [RvcOperationalState.OperationalState.emptyingDustBin, .cleaningMop, .fillingWaterTank, .updatingMaps] {
      #expect(try run(cleaning) == 0)
      try robot.press(RvcOperationalState.operationalState, task)
      #expect(state == task.rawValue && mode == idle)
      for command in [RvcOperationalState.pause, RvcOperationalState.resume, RvcOperationalState.goHome] {
        #expect(try send(command) == .commandInvalidInState)
      }
      robot.wait(100_000)
      #expect(state == task.rawValue)
    }
    #expect(try run(cleaning) == 0)
    #expect(state == OperationState.running)
  }

  @Test("cleans areas that were added, and none that was removed") func changesAreas() throws {
    func area(_ id: UInt32, _ name: String) -> ServiceArea.AreaStruct {
      let location = LocationDescriptorStruct(locationName: name, floorNumber: .null, areaType: .null)
      return .init(areaID: id, mapID: .null, areaInfo: .init(locationInfo: .value(location), landmarkInfo: .null))
    }
    #expect(try select(1, 2) == .success)
    try robot.press(ServiceArea.supportedAreas, [area(2, "Hall"), area(42, "Attic")])
    #expect(robot[ServiceArea.selectedAreas] == [2])
    #expect(try select(1) == .unsupportedArea)
    #expect(try select(42, 2) == .success)
    #expect(try run(cleaning) == 0)
    // Ten minutes for the new one, and 20 s as in the definition.
    #expect(self.area == 42 && countdown == 620)
    #expect(throws: StatusError(.invalidInState)) { try robot.press(ServiceArea.supportedAreas, []) }
    #expect(try skip(42) == .success)
    #expect(self.area == 2 && robot[ServiceArea.progress].map(\.areaID) == [42, 2])
    robot.wait(20_000)
    try robot.press(ServiceArea.supportedAreas, [area(2, "Hall")])
    #expect(robot[ServiceArea.progress].map(\.areaID) == [2])
    for wrong in [
      [area(2, "Hall"), area(2, "Attic")], [area(2, "Hall"), area(3, "Hall")],
      [area(3, String(repeating: "x", count: 129))],
    ] {
      #expect(throws: StatusError(.constraintError)) { try robot.press(ServiceArea.supportedAreas, wrong) }
    }
    #expect(robot[ServiceArea.supportedAreas] == [area(2, "Hall")])
  }

  @Test("at the device, only supported areas can be selected") func selectsAreasAtTheDevice() throws {
    #expect(try run(cleaning) == 0)
    try robot.press(ServiceArea.selectedAreas, [2, 1, 2])
    #expect(robot[ServiceArea.selectedAreas] == [2, 1])
    for wrong: [UInt32] in [[99], [1, 99], [0]] {
      #expect(throws: StatusError(.constraintError)) { try robot.press(ServiceArea.selectedAreas, wrong) }
    }
    #expect(robot[ServiceArea.selectedAreas] == [2, 1])
    try robot.press(ServiceArea.selectedAreas, [])
    #expect(robot[ServiceArea.selectedAreas] == [])
    #expect(throws: StatusError.self) { try robot.press(ServiceArea.currentArea, .value(2)) }
    #expect(throws: StatusError.self) { try robot.press(ServiceArea.progress, []) }
  }

  @Test("after a repair, the error is that of a part that still fails") func showsRemainingError() throws {
    var failure: Failure { .init(robot[RvcOperationalState.operationalError].errorStateID) }
    try robot.move("dock", "blocked")
    try robot.move("wheels", "stuck")
    try robot.move("bin", "missing")
    #expect(failure == .dustBinMissing)
    try robot.move("wheels", "free")
    #expect(failure == .dustBinMissing)
    try robot.move("bin", "empty")
    #expect(state == OperationState.error && failure == .failedToFindChargingDock)
    #expect(try robot.payloads(of: RvcOperationalState.operationalErrorEvent).count == 3)
    try robot.move("dock", "reachable")
    #expect(state != OperationState.error && failure == .noError)
  }

  @Test func startsAtThePanel() throws {
    try robot.press(RvcOperationalState.operationalState, .init(OperationState.running))
    #expect(mode == cleaning && state == OperationState.running)
    try robot.press(RvcOperationalState.operationalState, .init(OperationState.seekingCharger))
    #expect(mode == idle && state == OperationState.seekingCharger)
    try robot.press(RvcRunMode.currentMode, cleaning)
    #expect(state == OperationState.running)
    #expect(throws: StatusError(.invalidInState)) { try robot.press(RvcRunMode.currentMode, mapping) }
    // The robot is stopped on its way, and carried to its charger.
    try robot.press(RvcOperationalState.operationalState, .init(OperationState.stopped))
    #expect(mode == idle && state == OperationState.stopped)
    robot.wait(100_000)
    #expect(state == OperationState.stopped)
    try robot.press(RvcOperationalState.operationalState, .init(OperationState.charging))
    #expect(state == OperationState.charging)
    robot.wait(3_600_000)
    #expect(state == OperationState.docked)
    #expect(throws: StatusError(.constraintError)) {
      try robot.press(RvcOperationalState.operationalState, .init(OperationState.error))
    }
  }

  @Test func keepsSelectionOverRestart() throws {
    #expect(try select(2) == .success)
    #expect(try run(cleaning) == 0)
    let again = TestNode(ApplianceServers.robotVacuum(Self.program), stored: robot.stored)
    #expect(again[ServiceArea.selectedAreas] == [2] && again[ServiceArea.progress] == [])
    #expect(again[RvcOperationalState.operationalState] == .docked)
    #expect(again[RvcRunMode.currentMode] == idle)
  }
}
