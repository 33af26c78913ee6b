import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterDevice

/// A full travel takes 3 s.
@Suite("Water valve") struct ValveTests {
  private typealias Valve = ValveConfigurationAndControl

  private func node(_ motors: MotorSettings? = nil, stored: StoredState = [:]) -> TestNode {
    let server = ValveServer.make(motors ?? MotorSettings(lift: .seconds(3)))
    return TestNode([TimeSynchronizationServer.make(), server], stored: stored)
  }

  private func expect(
    _ status: Status, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) {
    let error = #expect(throws: StatusError.self, sourceLocation: sourceLocation) { try body() }
    #expect(error?.status == status, sourceLocation: sourceLocation)
  }

  /// The events of changed states.
  private func changes(_ node: TestNode) throws -> [Valve.ValveStateChangedEvent] {
    try node.payloads(of: Valve.valveStateChanged)
  }

  private func faults(_ node: TestNode) throws -> [Valve.ValveFault] {
    try node.payloads(of: Valve.valveFaultEvent).map(\.valveFault)
  }

  @Test func servesMandatoryElementsWithValidValues() throws {
    let server = ValveServer.make()
    expectConformance(of: server)
  }

  @Test func opensAndCloses() throws {
    let node = node()
    try node.invoke(Valve.open, .init())
    #expect(node[Valve.currentState] == .value(.transitioning))
    #expect(node[Valve.targetState] == .value(.open))
    #expect(node[Valve.targetLevel] == .value(100))
    #expect(node[Valve.openDuration] == .null)
    #expect(node[Valve.remainingDuration] == .null)
    node.wait(1000)
    #expect(node[Valve.currentLevel] == .value(33))
    node.wait(2000)
    #expect(node[Valve.currentState] == .value(.open))
    #expect(node[Valve.currentLevel] == .value(100))
    #expect(node[Valve.targetState] == .null)
    #expect(node[Valve.targetLevel] == .null)
    try node.invoke(Valve.close)
    #expect(node[Valve.targetState] == .value(.closed))
    #expect(node[Valve.targetLevel] == .value(0))
    node.wait(3000)
    #expect(node[Valve.currentState] == .value(.closed))
    #expect(node[Valve.currentLevel] == .value(0))
    #expect(node[Valve.targetState] == .null)
    let events = try changes(node)
    #expect(events.map(\.valveState) == [.transitioning, .open, .transitioning, .closed])
    #expect(events.map(\.valveLevel) == [0, 100, 100, 0])
  }

  @Test func opensToALevel() throws {
    let node = node()
    try node.write(Valve.defaultOpenLevel, 40)
    try node.invoke(Valve.open, .init())
    node.wait(3000)
    #expect(node[Valve.currentLevel] == .value(40))
    try node.invoke(Valve.open, .init(targetLevel: 70))
    #expect(node[Valve.currentState] == .value(.transitioning))
    node.wait(3000)
    #expect(node[Valve.currentLevel] == .value(70))
    // The level that it has already.
    try node.invoke(Valve.open, .init(targetLevel: 70))
    #expect(node[Valve.currentState] == .value(.open))
    #expect(try changes(node).map(\.valveLevel) == [0, 40, 40, 70])
  }

  @Test func refusesInvalidLevelsAndDurations() throws {
    let server = ValveServer.make().initial(Valve.levelStep, 15)
    let node = TestNode([server])
    for level in [0, 1, 14, 50, 99, 101, 255] as [UInt8] {
      expect(.init(.constraintError)) { try node.invoke(Valve.open, .init(targetLevel: level)) }
      expect(.init(.constraintError)) { try node.write(Valve.defaultOpenLevel, level) }
    }
    expect(.init(.constraintError)) { try node.invoke(Valve.open, .init(openDuration: .value(0))) }
    expect(.init(.constraintError)) { try node.write(Valve.defaultOpenDuration, .value(0)) }
    #expect(node[Valve.currentState] == .value(.closed))
    for level in [15, 90, 100] as [UInt8] { try node.invoke(Valve.open, .init(targetLevel: level)) }
  }

  // MARK: Durations

  @Test func closesAfterItsDuration() throws {
    let node = node()
    try node.invoke(Valve.open, .init(openDuration: .value(60)))
    #expect(node[Valve.openDuration] == .value(60))
    #expect(node[Valve.remainingDuration] == .value(60))
    node.wait(5000)
    #expect(node[Valve.remainingDuration] == .value(55))
    node.wait(54_900)
    #expect(node[Valve.remainingDuration] == .value(1))
    #expect(node[Valve.currentState] == .value(.open))
    node.wait(100)
    #expect(node[Valve.targetState] == .value(.closed))
    #expect(node[Valve.openDuration] == .null)
    #expect(node[Valve.remainingDuration] == .null)
    node.wait(3000)
    #expect(node[Valve.currentState] == .value(.closed))
  }

  @Test func usesAndKeepsTheDefaultDuration() throws {
    let node = node()
    try node.write(Valve.defaultOpenDuration, .value(20))
    try node.write(Valve.defaultOpenLevel, 50)
    try node.invoke(Valve.open, .init())
    #expect(node[Valve.openDuration] == .value(20))
    // A duration of null overrides it.
    try node.invoke(Valve.open, .init(openDuration: .null))
    #expect(node[Valve.openDuration] == .null)
    node.wait(30_000)
    #expect(node[Valve.currentState] == .value(.open))
    let restarted = self.node(stored: node.stored)
    #expect(restarted[Valve.defaultOpenDuration] == .value(20))
    #expect(restarted[Valve.defaultOpenLevel] == 50)
  }

  @Test func reportsTheRemainingDurationOnlyWhenItsEndChanges() throws {
    let node = node()
    _ = try node.takeReports(of: Valve.remainingDuration)
    try node.invoke(Valve.open, .init(openDuration: .value(20)))
    node.wait(10_000)
    try node.invoke(Valve.open, .init(openDuration: .value(20)))
    node.wait(30_000)
    let reports = try node.takeReports(of: Valve.remainingDuration)
    #expect(reports.map(\.at) == [0, 10_000, 30_000])
    #expect(reports.map(\.value) == [.value(20), .value(20), .null])
  }

  @Test func computesTheTimeAtWhichItCloses() throws {
    let node = node()
    try node.invoke(Valve.open, .init(openDuration: .value(60)))
    #expect(node[Valve.autoCloseTime] == .null)
    node.wait(10_000)
    let utc: UInt64 = 800_000_000_000_000
    _ = try node.takeReports(of: Valve.autoCloseTime)
    try node.invoke(
      TimeSynchronization.setUTCTime, .init(utcTime: utc, granularity: .millisecondsGranularity))
    #expect(node[Valve.autoCloseTime] == .value(utc + 50_000_000))
    #expect(try node.takeReports(of: Valve.autoCloseTime).map(\.value) == [.value(utc + 50_000_000)])
    try node.invoke(Valve.close)
    #expect(node[Valve.autoCloseTime] == .null)
  }

  // MARK: Faults

  @Test func refusesToMoveWhileBlocked() throws {
    let node = node()
    try node.invoke(Valve.open, .init(openDuration: .value(30)))
    node.wait(1500)
    node.act(Valve.valveFault, .blocked)
    #expect(node[Valve.currentLevel] == .value(50))
    #expect(node[Valve.currentState] == .value(.open))
    #expect(node[Valve.targetState] == .null)
    #expect(node[Valve.targetLevel] == .null)
    let failure = Status(.failure, clusterCode: Valve.StatusCodeEnum.failureDueToFault.rawValue)
    expect(failure) { try node.invoke(Valve.open, .init()) }
    expect(failure) { try node.invoke(Valve.close) }
    // It can't close at its time, and does so after the fault.
    node.wait(60_000)
    #expect(node[Valve.currentLevel] == .value(50))
    #expect(node[Valve.remainingDuration] == .value(0))
    node.act(Valve.valveFault, [])
    #expect(node[Valve.currentLevel] == .value(50))
    #expect(node[Valve.targetState] == .value(.closed))
    node.wait(1500)
    #expect(node[Valve.currentState] == .value(.closed))
    #expect(node[Valve.openDuration] == .null)
    #expect(try faults(node) == [.blocked, []])
  }

  @Test func closesWhenItLeaks() throws {
    let node = node()
    try node.invoke(Valve.open, .init())
    node.wait(3000)
    node.act(Valve.valveFault, .leaking)
    node.wait(3000)
    #expect(node[Valve.currentState] == .value(.closed))
    #expect(throws: StatusError.self) { try node.invoke(Valve.open, .init()) }
    try node.invoke(Valve.close)
    node.act(Valve.valveFault, [])
    try node.invoke(Valve.open, .init())
  }

  // MARK: Physical actions and power

  @Test func isTurnedByHand() throws {
    let node = node()
    try node.invoke(Valve.open, .init(openDuration: .value(60)))
    node.wait(1000)
    node.act(Valve.currentLevel, .value(20))
    #expect(node[Valve.currentState] == .value(.open))
    #expect(node[Valve.targetState] == .null)
    #expect(node[Valve.openDuration] == .null)
    node.act(Valve.currentState, .value(.closed))
    #expect(node[Valve.currentLevel] == .value(0))
    node.act(Valve.targetState, .value(.open))
    node.wait(3000)
    #expect(node[Valve.currentLevel] == .value(100))
  }

  @Test func losesPowerOnTheWay() throws {
    for hasEncoder in [true, false] {
      let motors = MotorSettings(lift: .seconds(10), hasEncoder: hasEncoder)
      let node = node(motors)
      try node.invoke(Valve.open, .init())
      node.wait(5000)
      let restarted = self.node(motors, stored: node.stored)
      #expect(restarted[Valve.currentLevel] == (hasEncoder ? .value(50) : .null))
      #expect(restarted[Valve.currentState] == (hasEncoder ? .value(.open) : .null))
      #expect(restarted[Valve.targetState] == .null)
      try restarted.invoke(Valve.close)
      restarted.wait(5000)
      #expect(restarted[Valve.currentState] == .value(.closed))
    }
  }

  @Test("closes at its start if the power failed during an open duration") func closesAtStart() throws {
    let node = node()
    try node.invoke(Valve.open, .init(openDuration: .value(600)))
    node.wait(10_000)
    let restarted = self.node(stored: node.stored)
    #expect(restarted[Valve.targetState] == .value(.closed))
    restarted.wait(3000)
    #expect(restarted[Valve.currentState] == .value(.closed))
    // Without a duration it stays open.
    try restarted.invoke(Valve.open, .init())
    restarted.wait(3000)
    #expect(self.node(stored: restarted.stored)[Valve.currentState] == .value(.open))
  }
}
