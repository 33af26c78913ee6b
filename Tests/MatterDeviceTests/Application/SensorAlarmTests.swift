import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterDevice

/// The Boolean State Configuration server in virtual time.
@Suite("Boolean State Configuration") struct SensorAlarmTests {
  private typealias Configuration = BooleanStateConfiguration
  private typealias Alarms = BooleanStateConfiguration.AlarmMode

  private func node(_ isDetected: Bool = false, stored: StoredState = [:]) -> TestNode {
    TestNode([SensorServers.booleanState(isDetected), SensorAlarmServer.make()], stored: stored)
  }

  private func changes(_ node: TestNode) throws -> [[Alarms?]] {
    try node.payloads(of: Configuration.alarmsStateChanged).map { [$0.alarmsActive, $0.alarmsSuppressed] }
  }

  @Test func conforms() {
    expectConformance(of: SensorAlarmServer.make())
  }

  @Test func alarmsFollowState() throws {
    let node = node()
    #expect(node[Configuration.alarmsActive] == [])
    node.act(BooleanState.stateValue, true)
    #expect(node[Configuration.alarmsActive] == [.visual, .audible])
    node.act(BooleanState.stateValue, false)
    #expect(node[Configuration.alarmsActive] == [])
    #expect(try changes(node) == [[[.visual, .audible], []], [[], []]])
  }

  @Test func detectedStateAtStartIsAlarm() throws {
    #expect(node(true)[Configuration.alarmsActive] == [.visual, .audible])
  }

  @Test func suppressesActiveAlarmUntilItEnds() throws {
    let node = node()
    #expect(throws: StatusError(.invalidInState)) {
      try node.invoke(Configuration.suppressAlarm, .init(alarmsToSuppress: .audible))
    }
    node.act(BooleanState.stateValue, true)
    #expect(throws: StatusError(.constraintError)) {
      try node.invoke(Configuration.suppressAlarm, .init(alarmsToSuppress: .init(rawValue: 4)))
    }
    try node.invoke(Configuration.suppressAlarm, .init(alarmsToSuppress: .audible))
    #expect(node[Configuration.alarmsSuppressed] == .audible)
    #expect(node[Configuration.alarmsActive] == [.visual, .audible])
    // The button of the device.
    try node.press(Configuration.alarmsSuppressed, .visual)
    #expect(node[Configuration.alarmsSuppressed] == [.visual, .audible])
    node.act(BooleanState.stateValue, false)
    #expect(node[Configuration.alarmsSuppressed] == [])
    node.act(BooleanState.stateValue, true)
    #expect(node[Configuration.alarmsSuppressed] == [])
    #expect(
      try changes(node).map { $0[1] } == [[], .audible, [.visual, .audible], [], []])
  }

  @Test func enablesAndDisablesAlarms() throws {
    let node = node()
    try node.invoke(Configuration.enableDisableAlarm, .init(alarmsToEnableDisable: .visual))
    #expect(node[Configuration.alarmsEnabled] == .visual)
    node.act(BooleanState.stateValue, true)
    #expect(node[Configuration.alarmsActive] == .visual)
    // An alarm starts when it is enabled during a detection, and ends when it is disabled.
    try node.invoke(Configuration.enableDisableAlarm, .init(alarmsToEnableDisable: [.visual, .audible]))
    #expect(node[Configuration.alarmsActive] == [.visual, .audible])
    try node.invoke(Configuration.suppressAlarm, .init(alarmsToSuppress: .audible))
    try node.invoke(Configuration.enableDisableAlarm, .init(alarmsToEnableDisable: []))
    #expect(node[Configuration.alarmsActive] == [] && node[Configuration.alarmsSuppressed] == [])
    #expect(throws: StatusError(.constraintError)) {
      try node.invoke(Configuration.enableDisableAlarm, .init(alarmsToEnableDisable: .init(rawValue: 0x80)))
    }
    #expect(node[Configuration.alarmsEnabled] == [])
  }

  @Test func settingsSurviveRestart() throws {
    let before = node()
    try before.invoke(Configuration.enableDisableAlarm, .init(alarmsToEnableDisable: .audible))
    try before.write(Configuration.currentSensitivityLevel, 2)
    let after = node(stored: before.stored)
    #expect(after[Configuration.alarmsEnabled] == .audible && after[Configuration.currentSensitivityLevel] == 2)
  }

  @Test(arguments: [3, 10, 255] as [UInt8]) func rejectsUnsupportedSensitivity(_ level: UInt8) throws {
    let node = node()
    #expect(throws: StatusError(.constraintError)) { try node.write(Configuration.currentSensitivityLevel, level) }
    #expect(node[Configuration.currentSensitivityLevel] == 1)
  }

  @Test func reportsFault() throws {
    let node = node()
    node.act(Configuration.sensorFault, .generalFault)
    node.act(Configuration.sensorFault, [])
    #expect(try node.payloads(of: Configuration.sensorFaultEvent).map(\.sensorFault) == [.generalFault, []])
  }

  @Test func testEventsMoveSensor() throws {
    let node = node()
    try node.cause(0x0080_0000_0000_0000)
    #expect(node[BooleanState.stateValue] && node[Configuration.alarmsActive] == [.visual, .audible])
    try node.cause(0x0080_0000_0000_0001)
    #expect(!node[BooleanState.stateValue] && node[Configuration.alarmsActive] == [])
  }
}
