public import MatterClusters
public import MatterModel
import MatterProtocol

/// The Smoke CO Alarm server: derives the expressed state and the events from the alarms. Application Clusters § 2.11.
public enum SmokeCoAlarmServer {
  private typealias Alarm = SmokeCoAlarm

  /// The time that SelfTestRequest takes until SelfTestComplete is emitted.
  static let selfTestDuration = Duration.seconds(10)
  /// The time after which a muted alarm sounds again.
  static let muteDuration = Duration.seconds(600)
  /// The initial ExpiryDate: 2036-01-01, in seconds since 2000.
  static let expiryDate: UInt32 = 1_136_073_600
  private static let serviceCheckInterval = Duration.seconds(86_400)

  /// Returns the server.
  /// - Parameter features: The sensors of the alarm.
  public static func make(_ features: [Feature] = SmokeCoAlarm.features) -> ClusterServer {
    var server = ClusterServer(Alarm.self, features: features)
      .serving(Alarm.alarmMuted, Alarm.muteEnded)
      .initial(Alarm.expiryDate, expiryDate)
    if features.contains(Alarm.smokeAlarmFeature) {
      server = alarming(server, Alarm.smokeState, Alarm.smokeAlarm) { .init(alarmSeverityLevel: $0) }
      server = alarming(server, Alarm.interconnectSmokeAlarm, Alarm.interconnectSmokeAlarmEvent) {
        .init(alarmSeverityLevel: $0)
      }
      server = smokeTests(
        server.serving(Alarm.interconnectSmokeAlarmEvent, Alarm.contaminationState)
          .initial(Alarm.smokeSensitivityLevel, .standard).storing(Alarm.smokeSensitivityLevel))
    }
    if features.contains(Alarm.coAlarmFeature) {
      server = alarming(server, Alarm.coState, Alarm.coAlarm) { .init(alarmSeverityLevel: $0) }
      server = alarming(server, Alarm.interconnectCOAlarm, Alarm.interconnectCOAlarmEvent) {
        .init(alarmSeverityLevel: $0)
      }
      server = coTests(server.serving(Alarm.interconnectCOAlarmEvent))
    }
    return tests(maintaining(alarming(server, Alarm.batteryAlert, Alarm.lowBattery) { .init(alarmSeverityLevel: $0) }))
  }

  /// The charge level of the battery that supplies the alarm.
  static let chargeLevel = ServerHook<SmokeCoAlarm, PowerSource.BatChargeLevel>("chargeLevel")

  // MARK: Alarms

  private static func alarming<Payload: ModelStruct>(
    _ server: ClusterServer, _ attribute: Attribute<SmokeCoAlarm, SmokeCoAlarm.AlarmState>,
    _ event: Event<SmokeCoAlarm, Payload>,
    _ payload: @escaping @Sendable (SmokeCoAlarm.AlarmState) -> Payload
  ) -> ClusterServer {
    server.onChange(attribute) { context in
      let state = context[attribute]
      if state != .normal { context.emit(event, payload(state)) }
      if state == .critical { context[Alarm.deviceMuted] = .notMuted }
      express(&context)
    }
  }

  /// The states by priority, the highest first.
  private static func isActive(_ state: SmokeCoAlarm.ExpressedState, _ context: inout ServerContext) -> Bool {
    switch state {
    case .smokeAlarm: context[Alarm.smokeState] != .normal
    case .interconnectSmoke: context[Alarm.interconnectSmokeAlarm] != .normal
    case .coAlarm: context[Alarm.coState] != .normal
    case .interconnectCO: context[Alarm.interconnectCOAlarm] != .normal
    case .testing: context[Alarm.testInProgress]
    case .hardwareFault: context[Alarm.hardwareFaultAlert]
    case .endOfService: context[Alarm.endOfServiceAlert] != .normal
    case .batteryAlert: context[Alarm.batteryAlert] != .normal
    default: false
    }
  }

  private static let priorities: [SmokeCoAlarm.ExpressedState] = [
    .smokeAlarm, .interconnectSmoke, .coAlarm, .interconnectCO, .testing, .hardwareFault, .endOfService, .batteryAlert,
  ]

  private static func express(_ context: inout ServerContext) {
    context[Alarm.expressedState] = priorities.first { isActive($0, &context) } ?? .normal
  }

  // MARK: Self-test, mute, faults and service

  private static func maintaining(_ server: ClusterServer) -> ClusterServer {
    server
      .deriving(Alarm.expressedState)
      .onChange(Alarm.expressedState) { context in
        guard context[Alarm.expressedState] == .normal else { return }
        context.emit(Alarm.allClear, NoFields())
        context[Alarm.deviceMuted] = .notMuted
      }
      .onChange(Alarm.hardwareFaultAlert) { context in
        if context[Alarm.hardwareFaultAlert] { context.emit(Alarm.hardwareFault, NoFields()) }
        express(&context)
      }
      .onChange(Alarm.endOfServiceAlert) { context in
        if context[Alarm.endOfServiceAlert] == .expired { context.emit(Alarm.endOfService, NoFields()) }
        express(&context)
      }
      .onChange(Alarm.testInProgress) { context in
        if !context[Alarm.testInProgress] { context.emit(Alarm.selfTestComplete, NoFields()) }
        express(&context)
      }
      // The button of the device.
      .onAct(Alarm.testInProgress) { context, isOn in
        if isOn { try? startSelfTest(&context) } else { endSelfTest(&context) }
      }
      .on(Alarm.selfTestRequest) { context, _ throws(StatusError) in try startSelfTest(&context) }
      .onTimer(.selfTestEnd) { context in endSelfTest(&context) }
      .onChange(Alarm.deviceMuted) { context in
        let isMuted = context[Alarm.deviceMuted] == .muted
        context.emit(isMuted ? Alarm.alarmMuted : Alarm.muteEnded, NoFields())
        scheduleMuteEnd(&context)
      }
      .onAct(Alarm.deviceMuted) { context, state in
        if state != .muted || !isCritical(&context) { context[Alarm.deviceMuted] = state }
      }
      .onTimer(.muteEnd) { context in context[Alarm.deviceMuted] = .notMuted }
      .hook(chargeLevel) { context, level in context[Alarm.batteryAlert] = .init(rawValue: level.rawValue) }
      .onStart { context in
        scheduleMuteEnd(&context)
        if context[Alarm.testInProgress] { context.schedule(.selfTestEnd, at: context.now + selfTestDuration) }
        checkService(&context)
        express(&context)
      }
      .onTimer(.serviceCheck) { context in checkService(&context) }
  }

  private static func startSelfTest(_ context: inout ServerContext) throws(StatusError) {
    let busy = priorities.prefix { $0 != .hardwareFault }
    if busy.contains(where: { isActive($0, &context) }) { throw StatusError(.busy) }
    context[Alarm.testInProgress] = true
    context.schedule(.selfTestEnd, at: context.now + selfTestDuration)
  }

  private static func endSelfTest(_ context: inout ServerContext) {
    context.cancel(.selfTestEnd)
    context[Alarm.testInProgress] = false
  }

  /// A critical alarm can't be muted.
  private static func isCritical(_ context: inout ServerContext) -> Bool {
    let alarms = [
      Alarm.smokeState, Alarm.coState, Alarm.interconnectSmokeAlarm, Alarm.interconnectCOAlarm, Alarm.batteryAlert,
    ]
    return alarms.contains { context[$0] == .critical }
  }

  private static func scheduleMuteEnd(_ context: inout ServerContext) {
    context.cancel(.muteEnd)
    if context[Alarm.deviceMuted] == .muted { context.schedule(.muteEnd, at: context.now + muteDuration) }
  }

  private static func checkService(_ context: inout ServerContext) {
    if let now = context.epochSeconds, now >= context[Alarm.expiryDate] { context[Alarm.endOfServiceAlert] = .expired }
    context.schedule(.serviceCheck, at: context.now + serviceCheckInterval)
  }

  // MARK: Test events

  private static func smokeTests(_ server: ClusterServer) -> ClusterServer {
    server
      .onTest(0x90, "smokeWarning") { $0.act(Alarm.smokeState, .warning) }
      .onTest(0x9C, "smokeCritical") { $0.act(Alarm.smokeState, .critical) }
      .onTest(0xA0, "smokeClear") { $0.act(Alarm.smokeState, .normal) }
      .onTest(0x92, "interconnectSmokeWarning") { $0.act(Alarm.interconnectSmokeAlarm, .warning) }
      .onTest(0xA2, "interconnectSmokeClear") { $0.act(Alarm.interconnectSmokeAlarm, .normal) }
      .onTest(0x96, "contaminationCritical") { $0.act(Alarm.contaminationState, .critical) }
      .onTest(0x97, "contaminationLow") { $0.act(Alarm.contaminationState, .low) }
      .onTest(0xA6, "contaminationClear") { $0.act(Alarm.contaminationState, .normal) }
      .onTest(0x98, "sensitivityHigh") { $0.act(Alarm.smokeSensitivityLevel, .high) }
      .onTest(0x99, "sensitivityLow") { $0.act(Alarm.smokeSensitivityLevel, .low) }
      .onTest(0xA8, "sensitivityClear") { $0.act(Alarm.smokeSensitivityLevel, .standard) }
  }

  private static func coTests(_ server: ClusterServer) -> ClusterServer {
    server
      .onTest(0x91, "coWarning") { $0.act(Alarm.coState, .warning) }
      .onTest(0x9D, "coCritical") { $0.act(Alarm.coState, .critical) }
      .onTest(0xA1, "coClear") { $0.act(Alarm.coState, .normal) }
      .onTest(0x94, "interconnectCOWarning") { $0.act(Alarm.interconnectCOAlarm, .warning) }
      .onTest(0xA4, "interconnectCOClear") { $0.act(Alarm.interconnectCOAlarm, .normal) }
  }

  private static func tests(_ server: ClusterServer) -> ClusterServer {
    server
      .onTest(0x95, "batteryWarning") { $0.act(Alarm.batteryAlert, .warning) }
      .onTest(0x9E, "batteryCritical") { $0.act(Alarm.batteryAlert, .critical) }
      .onTest(0xA5, "batteryClear") { $0.act(Alarm.batteryAlert, .normal) }
      .onTest(0x93, "hardwareFault") { $0.act(Alarm.hardwareFaultAlert, true) }
      .onTest(0xA3, "hardwareFaultClear") { $0.act(Alarm.hardwareFaultAlert, false) }
      .onTest(0x9A, "endOfService") { $0.act(Alarm.endOfServiceAlert, .expired) }
      .onTest(0xAA, "endOfServiceClear") { $0.act(Alarm.endOfServiceAlert, .normal) }
      .onTest(0x9B, "mute") { $0.act(Alarm.deviceMuted, .muted) }
      .onTest(0xAB, "muteClear") { $0.act(Alarm.deviceMuted, .notMuted) }
  }
}
