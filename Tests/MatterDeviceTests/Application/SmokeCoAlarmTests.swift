import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterDevice

/// The Smoke CO Alarm server in virtual time.
@Suite("Smoke CO Alarm") struct SmokeCoAlarmTests {
  private typealias Alarm = SmokeCoAlarm

  private func node(_ features: [Feature] = Alarm.features) -> TestNode {
    TestNode([SmokeCoAlarmServer.make(features)])
  }

  /// Causes a test event of endpoint 1.
  private func cause(_ code: UInt32, _ node: TestNode) throws(StatusError) {
    try node.cause(0x005C_0000_0000_0000 | UInt64(code))
  }

  /// The events since the last call, in order.
  private func takeEvents(_ node: TestNode, since number: inout UInt64) -> [EventID] {
    defer { number = node.context.node.events.next }
    return node.context.node.events.records.filter { $0.number >= number && $0.path.cluster == Alarm.id }
      .map(\.path.event)
  }

  @Test(
    arguments: [Alarm.features, [Alarm.smokeAlarmFeature], [Alarm.coAlarmFeature]]
  ) func conforms(_ features: [Feature]) throws {
    let server = SmokeCoAlarmServer.make(features)
    expectConformance(of: server)
    let node = node(features)
    #expect(node.serves(Alarm.interconnectCOAlarm) == features.contains(Alarm.coAlarmFeature))
    #expect(node.serves(Alarm.smokeSensitivityLevel) == features.contains(Alarm.smokeAlarmFeature))
  }

  /// Each alarm: the codes for warning, critical and clear, the attribute, the event, and the expressed state.
  @Test(
    arguments: [
      (0x90, 0x9C, 0xA0, Alarm.smokeState, Alarm.smokeAlarm.id, Alarm.ExpressedState.smokeAlarm),
      (0x91, 0x9D, 0xA1, Alarm.coState, Alarm.coAlarm.id, .coAlarm),
      (0x95, 0x9E, 0xA5, Alarm.batteryAlert, Alarm.lowBattery.id, .batteryAlert),
      (0x92, nil, 0xA2, Alarm.interconnectSmokeAlarm, Alarm.interconnectSmokeAlarmEvent.id, .interconnectSmoke),
      (0x94, nil, 0xA4, Alarm.interconnectCOAlarm, Alarm.interconnectCOAlarmEvent.id, .interconnectCO),
    ]
      as [(
        UInt32, UInt32?, UInt32, Attribute<SmokeCoAlarm, SmokeCoAlarm.AlarmState>, EventID, SmokeCoAlarm.ExpressedState
      )]
  ) func expressesAlarm(
    _ warning: UInt32, _ critical: UInt32?, _ clear: UInt32,
    _ attribute: Attribute<SmokeCoAlarm, SmokeCoAlarm.AlarmState>, _ event: EventID,
    _ state: SmokeCoAlarm.ExpressedState
  ) throws {
    let node = node()
    var number = node.context.node.events.next
    try cause(warning, node)
    #expect(node[attribute] == .warning && node[Alarm.expressedState] == state)
    #expect(takeEvents(node, since: &number) == [event])
    // A self-test would interrupt the alarm, except a low battery.
    if state == .batteryAlert {
      try node.invoke(Alarm.selfTestRequest)
      node.wait(11_000)
      #expect(takeEvents(node, since: &number) == [Alarm.selfTestComplete.id])
    } else {
      let error = #expect(throws: StatusError.self) { try node.invoke(Alarm.selfTestRequest) }
      #expect(error?.status.code == .busy && !node[Alarm.testInProgress])
    }
    if let critical {
      try cause(critical, node)
      #expect(node[attribute] == .critical && node[Alarm.expressedState] == state)
      #expect(takeEvents(node, since: &number) == [event])
    }
    try cause(clear, node)
    #expect(node[attribute] == .normal && node[Alarm.expressedState] == .normal)
    #expect(takeEvents(node, since: &number) == [Alarm.allClear.id])
  }

  @Test func expressesFaultAndEndOfService() throws {
    let node = node()
    var number = node.context.node.events.next
    try cause(0x93, node)
    #expect(node[Alarm.hardwareFaultAlert] && node[Alarm.expressedState] == .hardwareFault)
    try cause(0x9A, node)
    #expect(node[Alarm.endOfServiceAlert] == .expired && node[Alarm.expressedState] == .hardwareFault)
    try cause(0xA3, node)
    #expect(node[Alarm.expressedState] == .endOfService)
    #expect(takeEvents(node, since: &number) == [Alarm.hardwareFault.id, Alarm.endOfService.id])
    try cause(0xAA, node)
    #expect(node[Alarm.expressedState] == .normal)
    #expect(takeEvents(node, since: &number) == [Alarm.allClear.id])
  }

  @Test func expressesAlarmWithHighestPriority() throws {
    let node = node()
    let codes: [(UInt32, UInt32, Alarm.ExpressedState)] = [
      (0x90, 0xA0, .smokeAlarm), (0x92, 0xA2, .interconnectSmoke), (0x91, 0xA1, .coAlarm),
      (0x94, 0xA4, .interconnectCO), (0x93, 0xA3, .hardwareFault), (0x9A, 0xAA, .endOfService),
      (0x95, 0xA5, .batteryAlert),
    ]
    for (code, _, state) in codes.reversed() {
      try cause(code, node)
      #expect(node[Alarm.expressedState] == state)
    }
    for (index, (_, clear, state)) in codes.enumerated() {
      #expect(node[Alarm.expressedState] == state)
      try cause(clear, node)
      #expect(index < codes.count - 1 || node[Alarm.expressedState] == .normal)
    }
  }

  @Test func testsItself() throws {
    let node = node()
    var number = node.context.node.events.next
    try node.invoke(Alarm.selfTestRequest)
    #expect(node[Alarm.testInProgress] && node[Alarm.expressedState] == .testing)
    let error = #expect(throws: StatusError.self) { try node.invoke(Alarm.selfTestRequest) }
    #expect(error?.status.code == .busy)
    node.wait(9900)
    #expect(node[Alarm.testInProgress])
    node.wait(200)
    #expect(!node[Alarm.testInProgress] && node[Alarm.expressedState] == .normal)
    #expect(takeEvents(node, since: &number) == [Alarm.selfTestComplete.id, Alarm.allClear.id])
    // The button of the device starts a test, and ends it.
    node.act(Alarm.testInProgress, true)
    #expect(node[Alarm.expressedState] == .testing)
    node.act(Alarm.testInProgress, false)
    node.wait(20_000)
    #expect(takeEvents(node, since: &number) == [Alarm.selfTestComplete.id, Alarm.allClear.id])
    // Smoke during a test prevails.
    try node.invoke(Alarm.selfTestRequest)
    node.act(Alarm.smokeState, .warning)
    #expect(node[Alarm.expressedState] == .smokeAlarm)
    node.wait(11_000)
    #expect(node[Alarm.expressedState] == .smokeAlarm)
  }

  @Test("a test that is in progress at the start ends") func endsTestAtStart() {
    let node = TestNode([SmokeCoAlarmServer.make().initial(Alarm.testInProgress, true)])
    #expect(node[Alarm.testInProgress] && node[Alarm.expressedState] == .testing)
    node.wait(10_100)
    #expect(!node[Alarm.testInProgress] && node[Alarm.expressedState] == .normal)
  }

  @Test func mutesWarningsOnly() throws {
    let node = node()
    try cause(0x90, node)
    var number = node.context.node.events.next
    try cause(0x9B, node)
    #expect(node[Alarm.deviceMuted] == .muted)
    try cause(0xAB, node)
    #expect(node[Alarm.deviceMuted] == .notMuted)
    #expect(takeEvents(node, since: &number) == [Alarm.alarmMuted.id, Alarm.muteEnded.id])
    // The alarm sounds again by itself.
    node.act(Alarm.deviceMuted, .muted)
    node.wait(599_000)
    #expect(node[Alarm.deviceMuted] == .muted)
    node.wait(2000)
    #expect(node[Alarm.deviceMuted] == .notMuted)
    // A critical alarm ends the mute and can't be muted.
    node.act(Alarm.deviceMuted, .muted)
    _ = takeEvents(node, since: &number)
    try cause(0x9C, node)
    #expect(node[Alarm.deviceMuted] == .notMuted)
    #expect(takeEvents(node, since: &number) == [Alarm.smokeAlarm.id, Alarm.muteEnded.id])
    try cause(0x9B, node)
    #expect(node[Alarm.deviceMuted] == .notMuted && takeEvents(node, since: &number).isEmpty)
    // So does the end of the alarm.
    node.act(Alarm.smokeState, .warning)
    node.act(Alarm.deviceMuted, .muted)
    node.act(Alarm.smokeState, .normal)
    #expect(node[Alarm.deviceMuted] == .notMuted)
  }

  @Test func changesContaminationAndSensitivity() throws {
    let node = node()
    for (code, state) in [(0x96, 3), (0xA6, 0), (0x97, 1), (0xA6, 0)] as [(UInt32, UInt8)] {
      try cause(code, node)
      #expect(node[Alarm.contaminationState].rawValue == state)
    }
    #expect(node[Alarm.smokeSensitivityLevel] == .standard)
    for (code, level) in [(0x98, 0), (0xA8, 1), (0x99, 2), (0xA8, 1)] as [(UInt32, UInt8)] {
      try cause(code, node)
      #expect(node[Alarm.smokeSensitivityLevel].rawValue == level)
    }
    try node.write(Alarm.smokeSensitivityLevel, .low)
    let error = #expect(throws: StatusError.self) {
      try node.write(Alarm.smokeSensitivityLevel, SmokeCoAlarm.Sensitivity(rawValue: 3))
    }
    #expect(error?.status.code == .constraintError)
    let again = TestNode([SmokeCoAlarmServer.make()], stored: node.stored)
    #expect(again[Alarm.smokeSensitivityLevel] == .low)
  }

  @Test func expires() throws {
    let node = node()
    // 2036-01-01, ten days later.
    node.setClock(UInt64(SmokeCoAlarmServer.expiryDate) - 10 * 86_400)
    node.wait(9 * 86_400_000)
    #expect(node[Alarm.endOfServiceAlert] == .normal)
    node.wait(3 * 86_400_000)
    #expect(node[Alarm.endOfServiceAlert] == .expired && node[Alarm.expressedState] == .endOfService)
    // It remains expired after a restart, also while the time is unknown.
    let again = TestNode([SmokeCoAlarmServer.make()], stored: node.stored)
    #expect(again[Alarm.expressedState] == .endOfService)
  }

  @Test func rejectsUnknownTriggers() {
    let node = node([Alarm.coAlarmFeature])
    for trigger in [
      // Smoke without a smoke sensor, an unknown code, another endpoint, and a cluster that is not served.
      0x005C_0000_0000_0090, 0x005C_0000_0000_00FF, 0x005C_0002_0000_0091, 0x0406_0000_0000_0000,
    ] as [UInt64] {
      let error = #expect(throws: StatusError.self) { try node.cause(trigger) }
      #expect(error?.status.code == .invalidCommand)
    }
    #expect(throws: Never.self) { try node.cause(0x005C_0001_0000_0091) }
    #expect(node[Alarm.coState] == .warning)
  }
}
