import MatterClusters
import MatterModel
import MatterProtocol

/// The Valve Configuration and Control server: a motor valve with levels. Application Clusters § 4.6.
///
/// As physical actions, CurrentState and CurrentLevel are the hand wheel of the valve, TargetState is its button, and
/// ValveFault a fault of the valve.
public enum ValveServer {
  private typealias Valve = ValveConfigurationAndControl

  /// Returns the server. At the first start the valve is closed.
  public static func make(_ motors: MotorSettings = MotorSettings(lift: .seconds(3))) -> ClusterServer {
    ClusterServer(
      Valve.self, features: [Valve.timeSync, Valve.level]
    )
    .initial(Valve.currentState, .value(.closed))
    .initial(Valve.currentLevel, .value(0))
    .initial(Valve.levelStep, 1)
    .limiting(Valve.defaultOpenLevel, toMultiplesOf: Valve.levelStep)
    .serving(Valve.defaultOpenLevel, Valve.valveFault, Valve.valveStateChanged, Valve.valveFaultEvent)
    .resetting(Valve.currentState)
    .resetting(Valve.targetState)
    .deriving(Valve.openDuration)
    .deriving(Valve.targetLevel)
    .onRead(Valve.remainingDuration) { context in
      Nullable(context[scratch: WaterValve.self]?.remaining(at: context.now))
    }
    .onRead(Valve.autoCloseTime) { Nullable(autoCloseTime($0)) }
    .on(Valve.open, open)
    .on(Valve.close) { context, _ throws(StatusError) in
      guard context[scratch: WaterValve.self]?.isBlocked != true else { throw faultError }
      update(&context) { valve, now in valve.close(at: now) }
    }
    .onStart { start(motors, &$0) }
    .onPoweredTimer(.tick) { update(&$0) { _, _ in } }
    .onClockChange { context in
      if context[scratch: WaterValve.self]?.closesAt != nil { context.markChanged(Valve.autoCloseTime) }
    }
    .onChange(Valve.valveFault) { context in
      context.emit(Valve.valveFaultEvent, .init(valveFault: context[Valve.valveFault]))
    }
    .onAct(Valve.valveFault) { context, fault in update(&context) { valve, now in valve.set(fault, at: now) } }
    .onAct(Valve.currentLevel) { context, level in
      update(&context) { valve, _ in valve.turn(to: level.wrapped.map(Int64.init)) }
    }
    .onAct(Valve.currentState) { context, state in
      update(&context) { valve, _ in valve.turn(to: state.wrapped.map { $0 == .closed ? 0 : 100 }) }
    }
    .onAct(Valve.targetState) { context, state in
      switch state {
      case .value(.open): try? open(&context, .init())
      case .value(.closed): update(&context) { valve, now in if !valve.isBlocked { valve.close(at: now) } }
      default: break
      }
    }
  }

  // MARK: Commands

  private static let faultError = StatusError(
    .failure, clusterCode: ValveConfigurationAndControl.StatusCodeEnum.failureDueToFault.rawValue)

  private static func open(
    _ context: inout ServerContext, _ request: ValveConfigurationAndControl.OpenRequest
  ) throws(StatusError) {
    let level = request.targetLevel ?? context[Valve.defaultOpenLevel]
    try check(level, &context)
    let duration = request.openDuration ?? context[Valve.defaultOpenDuration]
    guard duration != .value(0) else { throw StatusError(.constraintError) }
    guard context[Valve.valveFault].isEmpty else { throw faultError }
    context[Valve.openDuration] = duration
    update(&context) { valve, now in
      valve.open(to: Int64(level), for: duration.wrapped.map { .seconds(Int64($0)) }, at: now)
    }
  }

  /// Checks a level above 0. Levels other than 100 are multiples of LevelStep.
  private static func check(_ level: UInt8, _ context: inout ServerContext) throws(StatusError) {
    guard (1...100).contains(level), level == 100 || level % max(context[Valve.levelStep], 1) == 0 else {
      throw StatusError(.constraintError)
    }
  }

  // MARK: State

  private static func autoCloseTime(_ context: ServerContext) -> UInt64? {
    guard let utc = context.node.utc, let closesAt = context[scratch: WaterValve.self]?.closesAt else { return nil }
    return utc.microseconds(at: closesAt)
  }

  private static func start(_ motors: MotorSettings, _ context: inout ServerContext) {
    let time = motors.lift ?? .zero
    let level = context[Valve.currentLevel].wrapped
    var valve = WaterValve(
      PositionedMotor(
        stored: context[stored: "valve"], in: WaterValve.levels, time: time, hasEncoder: motors.hasEncoder)
        ?? PositionedMotor(
          TravelMotor(at: Int64(level ?? 50), in: WaterValve.levels, time: time), isKnown: level != nil))
    valve.set(context[Valve.valveFault], at: context.now)
    // The time without power is not known, so a valve that was open for a duration closes at once.
    if context[stored: "closes"] != nil, !valve.isBlocked { valve.close(at: context.now) }
    context[scratch: WaterValve.self] = valve
    update(&context) { _, _ in }
  }

  /// Advances the valve, changes it, and updates the attributes.
  private static func update(_ context: inout ServerContext, _ change: (inout WaterValve, Instant) -> Void) {
    guard var valve = context[scratch: WaterValve.self] else { return }
    let (now, before) = (context.now, valve.closesAt)
    valve.advance(to: now)
    change(&valve, now)
    context[scratch: WaterValve.self] = valve
    context[stored: "valve"] = valve.motor.stored
    context[stored: "closes"] = valve.closesAt.map { _ in true.tlv }
    let level = Nullable(valve.motor.position.map { UInt8(clamping: $0) })
    let isMoving = valve.motor.isMoving
    let target = isMoving ? valve.motor.goal : nil
    context[Valve.currentLevel] = level
    context[Valve.targetLevel] = Nullable(target.map { UInt8(clamping: $0) })
    context[Valve.targetState] = Nullable(target.map { $0 > 0 ? .open : .closed })
    if valve.closesAt == nil { context[Valve.openDuration] = .null }
    if valve.closesAt != before {
      context.markChanged(Valve.remainingDuration)
      context.markChanged(Valve.autoCloseTime)
    }
    if let next = valve.nextUpdate(after: now) { context.schedule(.tick, at: next) } else { context.cancel(.tick) }
    context[Valve.valveFault] = valve.fault
    let state = Nullable(valve.state)
    guard context[Valve.currentState] != state else { return }
    context[Valve.currentState] = state
    if let state = state.wrapped {
      context.emit(Valve.valveStateChanged, .init(valveState: state, valveLevel: level.wrapped))
    }
  }
}
