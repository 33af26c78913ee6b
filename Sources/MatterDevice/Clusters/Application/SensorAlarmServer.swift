import MatterClusters
import MatterModel
import MatterProtocol

/// The Boolean State Configuration server of a sensor that also serves Boolean State: alarms while the sensor detects,
/// the sensitivity, and faults. Application Clusters, Boolean State Configuration.
///
/// All enabled alarms are active while StateValue of the endpoint is true. AlarmsEnabled and CurrentSensitivityLevel
/// survive a restart. As a physical action, SensorFault sets or ends a fault of the sensor.
public enum SensorAlarmServer {
  private typealias Configuration = BooleanStateConfiguration
  private typealias Alarms = BooleanStateConfiguration.AlarmMode

  /// The alarms of the sensor: a light and a sounder.
  static let alarms: BooleanStateConfiguration.AlarmMode = [.visual, .audible]
  /// The number of sensitivity levels; 0 is the lowest one.
  static let sensitivityLevels: UInt8 = 3

  /// StateValue of the endpoint changed.
  static let stateChanged = ServerHook<BooleanStateConfiguration, Void>("stateChanged")

  /// Returns the server.
  public static func make() -> ClusterServer {
    ClusterServer.shared(BooleanStateConfiguration.self, features: BooleanStateConfiguration.features, complete)
  }

  private static func complete(_ server: ClusterServer) -> ClusterServer {
    server
      .initial(Configuration.supportedSensitivityLevels, sensitivityLevels)
      .initial(Configuration.defaultSensitivityLevel, sensitivityLevels / 2)
      .initial(Configuration.currentSensitivityLevel, sensitivityLevels / 2)
      .limiting(
        Configuration.currentSensitivityLevel, to: Configuration.supportedSensitivityLevels, isHighestExcluded: true
      )
      .initial(Configuration.alarmsSupported, alarms)
      .initial(Configuration.alarmsEnabled, alarms)
      .limiting(Configuration.alarmsEnabled, toBitsOf: Configuration.alarmsSupported)
      .serving(Configuration.sensorFault, Configuration.sensorFaultEvent)
      .onStart { update(&$0) }
      .hook(stateChanged) { context, _ in update(&context) }
      .onAct(Configuration.alarmsEnabled) { context, enabled throws(StatusError) in try enable(enabled, &context) }
      .on(Configuration.enableDisableAlarm) { context, request throws(StatusError) in
        try enable(request.alarmsToEnableDisable, &context)
      }
      .on(Configuration.suppressAlarm) { context, request throws(StatusError) in
        try suppress(request.alarmsToSuppress, &context)
      }
      // The alarms follow the sensor; the button of the device suppresses them.
      .deriving(Configuration.alarmsActive)
      .onAct(Configuration.alarmsSuppressed) { context, suppressed throws(StatusError) in
        try suppress(suppressed, &context)
      }
      .onChange(Configuration.sensorFault) { context in
        context.emit(Configuration.sensorFaultEvent, .init(sensorFault: context[Configuration.sensorFault]))
      }
      .onTest(0, "detect") { $0.act(BooleanState.stateValue, true) }
      .onTest(1, "clear") { $0.act(BooleanState.stateValue, false) }
  }

  private static func enable(_ enabled: Alarms, _ context: inout ServerContext) throws(StatusError) {
    guard context[Configuration.alarmsSupported].isSuperset(of: enabled) else { throw StatusError(.constraintError) }
    context[Configuration.alarmsEnabled] = enabled
    update(&context)
  }

  private static func suppress(_ suppressed: Alarms, _ context: inout ServerContext) throws(StatusError) {
    guard context[Configuration.alarmsSupported].isSuperset(of: suppressed) else { throw StatusError(.constraintError) }
    guard context[Configuration.alarmsActive].isSuperset(of: suppressed) else { throw StatusError(.invalidInState) }
    update(suppressing: suppressed, &context)
  }

  /// Derives the active alarms from the sensor and the enabled alarms. An alarm that ends is no longer suppressed.
  private static func update(suppressing: Alarms = [], _ context: inout ServerContext) {
    let isDetected = context[BooleanState.stateValue]
    let active = isDetected ? context[Configuration.alarmsEnabled] : []
    let suppressed = context[Configuration.alarmsSuppressed].union(suppressing).intersection(active)
    guard active != context[Configuration.alarmsActive] || suppressed != context[Configuration.alarmsSuppressed] else {
      return
    }
    context[Configuration.alarmsActive] = active
    context[Configuration.alarmsSuppressed] = suppressed
    context.emit(Configuration.alarmsStateChanged, .init(alarmsActive: active, alarmsSuppressed: suppressed))
  }
}
