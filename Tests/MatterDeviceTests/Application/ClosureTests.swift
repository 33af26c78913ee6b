import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterDevice

/// A closure whose panels take 10 s from open to closed; its latch takes 1 s.
@Suite("Closure") struct ClosureTests {
  typealias Control = ClosureControl
  typealias Dimension = ClosureDimension

  private static let panel: EndpointID = 3

  private func settings(panels: Int = 1, _ change: (inout ClosureSettings) -> Void = { _ in }) -> ClosureSettings {
    var settings = ClosureSettings(
      panels: (0..<panels).map { ClosurePanelSettings("Panel \($0)") }, travel: .seconds(10))
    change(&settings)
    return settings
  }

  private func node(_ settings: ClosureSettings, stored: StoredState = [:]) -> TestNode {
    TestNode(
      [ClosureControlServer.make(settings)],
      parts: settings.panels.map { [ClosureDimensionServer.make($0, of: settings)] }, stored: stored)
  }

  private func state(_ node: TestNode) -> Control.MainState { node[Control.mainState] }
  private func current(_ node: TestNode) -> Control.OverallCurrentStateStruct? {
    node[Control.overallCurrentState].wrapped
  }
  private func target(_ node: TestNode) -> Control.OverallTargetStateStruct? {
    node[Control.overallTargetState].wrapped
  }
  private func position(_ node: TestNode) -> Control.CurrentPosition? { current(node)?.position?.wrapped }
  private func panel(_ node: TestNode, on endpoint: EndpointID = panel) -> Dimension.DimensionStateStruct? {
    node[Dimension.currentState, on: endpoint].wrapped
  }

  private func expect(
    _ code: StatusCode, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) {
    let error = #expect(throws: StatusError.self, sourceLocation: sourceLocation) { try body() }
    #expect(error?.status.code == code, sourceLocation: sourceLocation)
  }

  private func move(
    _ node: TestNode, to position: Control.TargetPosition? = nil, latch: Bool? = nil,
    speed: ThreeLevelAuto? = nil
  ) throws {
    try node.invoke(Control.moveTo, .init(position: position, latch: latch, speed: speed))
  }

  private func setTarget(
    _ node: TestNode, _ position: UInt16? = nil, latch: Bool? = nil, speed: ThreeLevelAuto? = nil,
    on endpoint: EndpointID = panel
  ) throws {
    try node.invoke(Dimension.setTarget, .init(position: position, latch: latch, speed: speed), on: endpoint)
  }

  // MARK: Composition

  @Test func servesMandatoryElementsWithValidValues() throws {
    for latch in [nil, LatchControlModes.remoteLatching] {
      for hasSpeeds in [false, true] {
        let settings = settings {
          ($0.latch, $0.hasSpeeds, $0.ventilation, $0.pedestrian) = (latch, hasSpeeds, hasSpeeds ? 9000 : nil, nil)
        }
        expectConformance(of: ClosureControlServer.make(settings))
        var limited = ClosurePanelSettings("Panel", .rotation(.left, .outside), unit: .degree, unitRange: 0...90)
        limited.limits = 1000...9000
        expectConformance(of: ClosureDimensionServer.make(limited, of: settings))
        let slats = ClosurePanelSettings("Slats", .modulation(.slatsOpenwork), unit: nil)
        expectConformance(of: ClosureDimensionServer.make(slats, of: settings))
        let node = node(settings)
        #expect(node.serves(Control.latchControlModes) == (latch != nil))
        #expect(current(node)?.latch == latch.map { _ in .value(false) })
        #expect(current(node)?.speed == (hasSpeeds ? .auto : nil))
        #expect(panel(node)?.latch == latch.map { _ in .value(false) })
        #expect(state(node) == .stopped && position(node) == .fullyClosed)
        #expect(target(node) == nil && node[Dimension.targetState, on: Self.panel] == .null)
      }
    }
  }

  // MARK: Movements

  @Test func opensAndCloses() throws {
    let node = node(settings())
    try move(node, to: .moveToFullyOpen)
    #expect(state(node) == .moving && position(node) == .fullyClosed)
    #expect(target(node)?.position == .value(.moveToFullyOpen))
    #expect(node[Dimension.targetState, on: Self.panel].wrapped?.position == .value(0))
    node.wait(4000)
    #expect(position(node) == .partiallyOpened && panel(node)?.position == .value(6000))
    node.wait(6000)
    #expect(state(node) == .stopped && position(node) == .fullyOpened && panel(node)?.position == .value(0))
    #expect(try node.payloads(of: Control.movementCompleted).count == 1)
    try move(node, to: .moveToFullyClosed)
    node.wait(10_000)
    #expect(position(node) == .fullyClosed)
    #expect(try node.payloads(of: Control.movementCompleted).count == 2)
  }

  @Test(arguments: [
    (Control.TargetPosition.moveToSignaturePosition, Control.CurrentPosition.openedAtSignature, UInt16(5000)),
    (.moveToVentilationPosition, .openedForVentilation, 9000), (.moveToPedestrianPosition, .openedForPedestrian, 7000),
  ]) func movesToNamedPositions(
    _ target: Control.TargetPosition, _ name: Control.CurrentPosition, _ percent: UInt16
  ) throws {
    let node = node(settings(panels: 2))
    try move(node, to: target)
    node.wait(5000)
    #expect(state(node) == .stopped && position(node) == name)
    #expect(panel(node)?.position == .value(percent) && panel(node, on: 4)?.position == .value(percent))
  }

  @Test("a named position on the way is not the position") func passesNamedPositions() throws {
    let node = node(settings())
    try move(node, to: .moveToFullyOpen)
    node.wait(5000)
    #expect(panel(node)?.position == .value(5000) && position(node) == .partiallyOpened)
  }

  @Test func stopsOnTheWay() throws {
    let node = node(settings())
    try node.invoke(Control.stop)
    #expect(state(node) == .stopped)
    try move(node, to: .moveToFullyOpen)
    node.wait(3210)
    try node.invoke(Control.stop)
    #expect(state(node) == .stopped && position(node) == .partiallyOpened)
    #expect(target(node)?.position == .null)
    #expect(node[Dimension.targetState, on: Self.panel].wrapped?.position == .null)
    node.wait(60_000)
    #expect(panel(node)?.position == .value(6800))
    #expect(try node.payloads(of: Control.movementCompleted).count == 1)
  }

  @Test func speedDeterminesTheTimeOfTheTravel() throws {
    let node = node(settings())
    try move(node, to: .moveToFullyOpen, speed: .high)
    #expect(current(node)?.speed == .high && target(node)?.speed == .high)
    #expect(node[Control.countdownTime] == .value(5))
    node.wait(2500)
    // The rest of the way takes four times as long.
    try move(node, speed: .low)
    #expect(panel(node)?.position == .value(5000))
    #expect(node[Control.countdownTime] == .value(10))
    node.wait(5000)
    #expect(panel(node)?.position == .value(2500) && panel(node)?.speed == .low)
    node.wait(5000)
    #expect(position(node) == .fullyOpened && state(node) == .stopped)
  }

  @Test func refusesWrongFields() throws {
    let node = node(settings { $0.pedestrian = nil })
    expect(.invalidCommand) { try move(node) }
    expect(.constraintError) { try move(node, to: .init(rawValue: 6)) }
    expect(.constraintError) { try move(node, to: .moveToPedestrianPosition) }
    expect(.constraintError) { try move(node, speed: .init(rawValue: 4)) }
    expect(.invalidCommand) { try setTarget(node) }
    expect(.constraintError) { try setTarget(node, 10_001) }
    expect(.constraintError) { try setTarget(node, speed: .init(rawValue: 4)) }
    #expect(state(node) == .stopped)
    // Fields of missing features have no effect.
    let plain = self.node(settings { ($0.latch, $0.hasSpeeds) = (nil, false) })
    try move(plain, latch: true, speed: .init(rawValue: 4))
    try setTarget(plain, latch: true, speed: .init(rawValue: 4))
    #expect(state(plain) == .stopped && current(plain)?.latch == nil && current(plain)?.speed == nil)
  }

  // MARK: CountdownTime

  @Test("reports CountdownTime when it begins, increases or ends") func reportsCountdown() throws {
    let node = node(settings())
    _ = try node.takeReports(of: Control.countdownTime)
    #expect(node[Control.countdownTime] == .value(0))
    try move(node, to: .moveToFullyOpen)
    node.wait(2500)
    #expect(node[Control.countdownTime] == .value(8))
    // Back to the closed position, which is nearer: no report.
    try move(node, to: .moveToFullyClosed)
    #expect(node[Control.countdownTime] == .value(3))
    node.wait(1000)
    try move(node, to: .moveToFullyOpen)
    node.wait(20_000)
    let reports = try node.takeReports(of: Control.countdownTime)
    #expect(reports.map(\.value) == [.value(10), .value(9), .value(0)])
    #expect(reports.map(\.at) == [0, 3500, 12_000])
  }

  // MARK: Latch

  @Test func latchesAndUnlatches() throws {
    let node = node(settings())
    #expect(current(node)?.secureState == .value(false))
    try move(node, latch: true)
    #expect(state(node) == .moving && current(node)?.latch == .value(false) && target(node)?.latch == .value(true))
    node.wait(1000)
    #expect(state(node) == .stopped && current(node)?.latch == .value(true) && panel(node)?.latch == .value(true))
    #expect(current(node)?.secureState == .value(true))
    expect(.invalidInState) { try move(node, to: .moveToFullyOpen) }
    expect(.invalidInState) { try setTarget(node, 5000) }
    expect(.invalidInState) { try node.invoke(Dimension.step, .init(direction: .decrease, numberOfSteps: 1), on: 3) }
    // The latch is released before the travel, and engaged after it.
    try move(node, to: .moveToFullyOpen, latch: false)
    node.wait(1000)
    #expect(current(node)?.latch == .value(false) && current(node)?.secureState == .value(false))
    try move(node, latch: true)
    node.wait(11_000)
    #expect(position(node) == .fullyOpened && current(node)?.latch == .value(true))
    #expect(current(node)?.secureState == .value(false))
    #expect(try node.payloads(of: Control.secureStateChanged).map(\.secureValue) == [true, false])
  }

  @Test func startsLatched() throws {
    let settings = settings { $0.isLatched = true }
    let first = node(settings)
    #expect(current(first)?.latch == .value(true) && current(first)?.secureState == .value(true))
    try move(first, latch: false)
    first.wait(1000)
    #expect(current(node(settings, stored: first.stored))?.latch == .value(false))
  }

  @Test func stopKeepsTheLatch() throws {
    let node = node(settings())
    try move(node, latch: true)
    node.wait(1000)
    try move(node, latch: false)
    node.wait(500)
    try node.invoke(Control.stop)
    node.wait(5000)
    #expect(current(node)?.latch == .value(true) && target(node)?.latch == .null && state(node) == .stopped)
  }

  @Test func latchControlModesLimitClients() throws {
    let node = node(settings { $0.latch = .remoteLatching })
    try move(node, latch: true)
    node.wait(1000)
    expect(.invalidInState) { try move(node, latch: false) }
    expect(.invalidInState) { try setTarget(node, latch: false) }
    try node.move("latch", "open")
    #expect(current(node)?.latch == .value(false))
    let manual = self.node(settings { $0.latch = [] })
    expect(.invalidInState) { try move(manual, latch: true) }
    try manual.move("latch", "closed")
    #expect(current(manual)?.latch == .value(true) && current(manual)?.secureState == .value(true))
  }

  @Test("without a latch, a closed closure is secure") func secureWithoutLatch() throws {
    let node = node(settings { $0.latch = nil })
    #expect(current(node)?.secureState == .value(true))
    try move(node, to: .moveToFullyOpen)
    node.wait(1000)
    #expect(current(node)?.secureState == .value(false))
    try move(node, to: .moveToFullyClosed)
    node.wait(1000)
    #expect(try node.payloads(of: Control.secureStateChanged).map(\.secureValue) == [false, true])
    // An unknown position is no change; the next known one is compared with the last known one.
    try node.press(Dimension.currentState, .null, on: Self.panel)
    #expect(current(node)?.secureState == .null)
    try node.move("position", "20%")
    #expect(try node.payloads(of: Control.secureStateChanged).map(\.secureValue).last == false)
  }

  // MARK: Panels

  @Test func panelsMoveAlone() throws {
    let node = node(settings(panels: 2))
    try setTarget(node, 4049, on: 4)
    #expect(node[Dimension.targetState, on: 4].wrapped?.position == .value(4000))
    #expect(state(node) == .moving)
    node.wait(6000)
    #expect(panel(node, on: 4)?.position == .value(4000) && panel(node)?.position == .value(10_000))
    #expect(state(node) == .stopped && position(node) == .partiallyOpened)
    try node.invoke(Dimension.step, .init(direction: .increase, numberOfSteps: 2), on: 4)
    #expect(node[Dimension.targetState, on: 4].wrapped?.position == .value(6000))
    try node.invoke(Dimension.step, .init(direction: .increase, numberOfSteps: .max), on: 4)
    #expect(node[Dimension.targetState, on: 4].wrapped?.position == .value(10_000))
    node.wait(10_000)
    #expect(position(node) == .fullyClosed)
    expect(.constraintError) { try node.invoke(Dimension.step, .init(direction: .increase, numberOfSteps: 0), on: 4) }
    expect(.constraintError) {
      try node.invoke(Dimension.step, .init(direction: .init(rawValue: 2), numberOfSteps: 1), on: 4)
    }
    // One latch of two is not enough.
    try setTarget(node, latch: true, on: 4)
    node.wait(1000)
    #expect(panel(node, on: 4)?.latch == .value(true) && current(node)?.latch == .value(false))
    expect(.invalidInState) { try move(node, to: .moveToFullyOpen) }
  }

  @Test func limitsAreTheEndsOfAPanel() throws {
    let node = node(settings { $0.panels[0].limits = 1000...8000 })
    #expect(position(node) == .fullyClosed && panel(node)?.position == .value(8000))
    try setTarget(node, 0)
    #expect(node[Dimension.targetState, on: Self.panel].wrapped?.position == .value(1000))
    node.wait(10_000)
    #expect(position(node) == .fullyOpened && panel(node)?.position == .value(1000))
  }

  @Test("reports positions on the way every 5 seconds, and the arrival at once") func reportsQuietly() throws {
    let node = node(settings())
    node.wait(10_000)
    _ = try node.takeReports(of: Dimension.currentState, on: Self.panel)
    try setTarget(node, 1700)
    node.wait(60_000)
    let reports = try node.takeReports(of: Dimension.currentState, on: Self.panel)
    #expect(reports.map(\.at) == [11_000, 16_000, 18_300])
    #expect(reports.last?.value.wrapped?.position == .value(1700))
  }

  // MARK: Calibration and unknown positions

  @Test func calibrates() throws {
    let node = node(settings { ($0.position, $0.hasEncoder) = (nil, false) })
    #expect(position(node) == nil && current(node)?.secureState == .value(false) && panel(node)?.position == .null)
    expect(.invalidInState) { try setTarget(node, 5000) }
    try node.invoke(Control.calibrate)
    #expect(state(node) == .calibrating && node[Control.countdownTime] == .value(15))
    try node.invoke(Control.calibrate)
    expect(.invalidInState) { try move(node, to: .moveToFullyOpen) }
    node.wait(14_000)
    #expect(position(node) == nil)
    node.wait(1000)
    #expect(state(node) == .stopped && position(node) == .fullyClosed)
    #expect(try node.payloads(of: Control.movementCompleted).count == 1)
    try move(node, to: .moveToFullyOpen)
    expect(.invalidInState) { try node.invoke(Control.calibrate) }
  }

  @Test func keepsItsStateWithoutPower() throws {
    let settings = settings { $0.hasEncoder = false }
    let first = node(settings)
    try move(first, latch: true)
    first.wait(1000)
    let second = node(settings, stored: first.stored)
    #expect(position(second) == .fullyClosed && current(second)?.latch == .value(true))
    #expect(target(second) == nil)
    try move(second, to: .moveToFullyOpen, latch: false)
    second.wait(5000)
    let third = node(settings, stored: second.stored)
    #expect(state(third) == .stopped && position(third) == nil && panel(third)?.position == .null)
    // The motor finds an end first, if the position is none.
    try move(third, to: .moveToSignaturePosition)
    third.wait(20_000)
    #expect(position(third) == .openedAtSignature)
    try third.move("drive", "disengaged")
    let fourth = node(settings, stored: third.stored)
    #expect(state(fourth) == .disengaged)
    // The event before the restart is the only one.
    #expect(try fourth.payloads(of: Control.engageStateChanged).map(\.engageValue) == [false])
  }

  // MARK: Physical actions

  @Test func obstacleEndsTheMovement() throws {
    let node = node(settings(panels: 2))
    try move(node, to: .moveToFullyOpen)
    node.wait(10_000)
    try move(node, to: .moveToFullyClosed)
    node.wait(4000)
    try node.move("way", "blocked")
    #expect(state(node) == .error && node[Control.currentErrorList] == [.physicallyBlocked])
    #expect(try node.payloads(of: Control.operationalError).map(\.errorState) == [[.physicallyBlocked]])
    #expect(try node.payloads(of: Control.movementCompleted).count == 2)
    #expect(panel(node)?.position == .value(4000))
    expect(.invalidInState) { try move(node, to: .moveToFullyOpen) }
    try node.invoke(Control.stop)
    #expect(state(node) == .error)
    try node.move("way", "clear")
    #expect(state(node) == .stopped && node[Control.currentErrorList] == [])
    try move(node, to: .moveToFullyClosed)
    node.wait(10_000)
    #expect(position(node) == .fullyClosed)
  }

  @Test("an obstacle beside a resting closure is met by the next movement") func obstacleAtRest() throws {
    let node = node(settings { $0.position = 0 })
    try node.move("way", "blocked")
    #expect(state(node) == .stopped)
    try move(node, to: .moveToFullyClosed)
    #expect(state(node) == .error)
  }

  @Test func errorsOfTheDeviceEndTheMovement() throws {
    let node = node(settings())
    try move(node, to: .moveToFullyOpen)
    try node.press(Control.currentErrorList, [.temperatureLimited, .maintenanceRequired])
    #expect(state(node) == .error)
    expect(.constraintError) { try node.press(Control.currentErrorList, [.blockedBySensor, .blockedBySensor]) }
    try node.press(Control.currentErrorList, [])
    #expect(state(node) == .stopped)
    #expect(try node.payloads(of: Control.operationalError).count == 1)
  }

  @Test func movesByHandWhileDisengaged() throws {
    let node = node(settings())
    try move(node, to: .moveToFullyOpen)
    node.wait(2000)
    try node.move("drive", "disengaged")
    #expect(state(node) == .disengaged && panel(node)?.position == .value(8000))
    expect(.invalidInState) { try move(node, to: .moveToFullyOpen) }
    expect(.invalidInState) { try setTarget(node, 0) }
    try node.move("position", "40%")
    #expect(panel(node)?.position == .value(4000) && position(node) == .partiallyOpened)
    expect(.constraintError) { try node.move("position", "140%") }
    expect(.constraintError) { try node.move("position", "far") }
    try node.move("drive", "engaged")
    #expect(state(node) == .stopped)
    #expect(try node.payloads(of: Control.engageStateChanged).map(\.engageValue) == [false, true])
    // A single panel, which also loses its position.
    try node.press(Dimension.currentState, .value(.init(position: .value(1000))), on: Self.panel)
    #expect(panel(node)?.position == .value(1000))
    try node.press(Dimension.currentState, .null, on: Self.panel)
    #expect(panel(node)?.position == .null && position(node) == nil && current(node)?.secureState == .value(false))
    try node.press(Dimension.currentState, .value(.init(latch: .value(true))), on: Self.panel)
    #expect(panel(node)?.latch == .value(true) && current(node)?.secureState == .null)
    expect(.invalidInState) { try node.move("position", "40%") }
    expect(.invalidInState) {
      try node.press(Dimension.currentState, .value(.init(position: .value(0))), on: Self.panel)
    }
  }

  @Test func buttonStartsAndStops() throws {
    let node = node(settings())
    try move(node, latch: true)
    node.wait(1000)
    try node.move("button", "pressed")
    node.wait(4000)
    #expect(current(node)?.latch == .value(false) && panel(node)?.position == .value(7000))
    try node.move("button", "pressed")
    #expect(state(node) == .stopped)
    try node.move("button", "pressed")
    node.wait(7000)
    #expect(position(node) == .fullyOpened)
    try node.move("button", "pressed")
    node.wait(10_000)
    #expect(position(node) == .fullyClosed)
  }

  @Test func causesTestEvents() throws {
    let node = node(settings())
    func cause(_ code: UInt64) throws { try node.cause(0x0104 << 48 | code) }
    let states: [Control.MainState] = [.error, .protected, .disengaged, .setupRequired]
    for (code, expected) in states.enumerated() {
      try cause(UInt64(code))
      #expect(state(node) == expected)
      try node.invoke(Control.stop)
      #expect(state(node) == expected)
      expect(.invalidInState) { try move(node, to: .moveToFullyOpen) }
      try cause(4)
      #expect(state(node) == .stopped)
    }
    try cause(3)
    try node.invoke(Control.calibrate)
    node.wait(20_000)
    #expect(state(node) == .stopped)
    try node.press(Control.mainState, .protected)
    #expect(state(node) == .protected)
    expect(.constraintError) { try node.press(Control.mainState, .moving) }
    try node.press(Control.mainState, .stopped)
    #expect(state(node) == .stopped)
  }
}
