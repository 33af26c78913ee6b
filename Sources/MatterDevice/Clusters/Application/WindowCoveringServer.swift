import MatterClusters
import MatterModel
import MatterProtocol

/// The Window Covering server: lift, tilt or both, position aware. Application Clusters § 5.3.
///
/// As physical actions, a current position is a movement by hand, a target position is the use of a switch at the
/// covering, and SafetyStatus is a condition that prevents movements, such as an obstacle.
public enum WindowCoveringServer {
  /// Returns the server. At the first start the covering is open.
  public static func make(_ motors: MotorSettings = MotorSettings()) -> ClusterServer {
    let parts = CoveringPart.all.filter { $0.time(motors) != nil }
    let (hasLift, hasTilt) = (motors.lift != nil, motors.tilt != nil)
    let server = ClusterServer(WindowCovering.self, features: parts.flatMap(\.features))
      .initial(WindowCovering.type, !hasTilt ? .rollershade : hasLift ? .tiltBlindLift : .tiltBlindTiltOnly)
      .initial(
        WindowCovering.endProductType, !hasTilt ? .rollerShade : hasLift ? .interiorBlind : .tiltOnlyInteriorBlind
      )
      .limiting(
        WindowCovering.type,
        to: !hasTilt
          ? [
            .rollershade, .rollershade2Motor, .rollershadeExterior, .rollershadeExterior2Motor, .drapery, .awning,
            .shutter, .projectorScreen,
          ] : hasLift ? [.shutter, .tiltBlindLift] : [.tiltBlindTiltOnly]
      )
      .serving(WindowCovering.safetyStatus)
      .onStart { start(parts, motors, &$0) }
      .onPoweredTimer(.tick) { update(&$0) { _, _ in } }
      .onChange(WindowCovering.mode, modeChanged)
      .on(WindowCovering.upOrOpen) { context, _ throws(StatusError) in
        try checkOperational(&context)
        move(parts, to: CoveringPart.open, &context)
      }
      .on(WindowCovering.downOrClose) { context, _ throws(StatusError) in
        try checkOperational(&context)
        move(parts, to: CoveringPart.closed, &context)
      }
      .on(WindowCovering.stopMotion) { context, _ throws(StatusError) in
        try checkOperational(&context)
        halt(&context)
      }
      .onAct(WindowCovering.safetyStatus) { context, status in
        update(&context) { covering, now in covering.set(status, at: now) }
      }
      .resetting(WindowCovering.operationalStatus)
      .onAct(WindowCovering.operationalStatus) { context, status throws(StatusError) in
        // The status follows from the movements; only a stop is an action.
        guard status == [] else { throw StatusError(.invalidInState) }
        halt(&context)
      }
    return parts.reduce(server) { server, part in serving(part, server) }
  }

  private static func serving(_ part: CoveringPart, _ server: ClusterServer) -> ClusterServer {
    let server =
      server
      .initial(part.current, .value(CoveringPart.open))
      .serving(part.percentage, part.actuations)
      .onAct(part.current) { context, position in place(part, at: position.wrapped, &context) }
      .onAct(part.percentage) { context, percentage in
        place(part, at: percentage.wrapped.map { UInt16($0) * 100 }, &context)
      }
      .resetting(part.target)
      .onAct(part.target) { context, target in
        guard let target = target.wrapped, (try? checkOperational(&context)) != nil else { return }
        move([part], to: target, &context)
      }
    return part.isLift
      ? server.on(WindowCovering.goToLiftPercentage) { context, request throws(StatusError) in
        try go(part, to: request.liftPercent100thsValue, &context)
      }
      : server.on(WindowCovering.goToTiltPercentage) { context, request throws(StatusError) in
        try go(part, to: request.tiltPercent100thsValue, &context)
      }
  }

  // MARK: Movements

  private static func checkOperational(_ context: inout ServerContext) throws(StatusError) {
    if context[WindowCovering.mode].contains(.maintenanceMode) { throw StatusError(.busy) }
    guard context[WindowCovering.configStatus].contains(.operational) else { throw StatusError(.failure) }
  }

  private static func go(
    _ part: CoveringPart, to position: UInt16, _ context: inout ServerContext
  ) throws(StatusError) {
    try checkOperational(&context)
    guard position <= CoveringPart.closed else { throw StatusError(.constraintError) }
    move([part], to: position, &context)
  }

  private static func move(_ parts: [CoveringPart], to position: UInt16, _ context: inout ServerContext) {
    update(&context) { covering, now in
      for part in parts { covering.motors[part.index]?.move(to: Int64(position), at: now) }
    }
    let covering = context[scratch: Covering.self]
    for part in parts where covering?.motors[part.index]?.isMoving == true { context[part.actuations] &+= 1 }
  }

  private static func halt(_ context: inout ServerContext) {
    update(&context) { covering, now in
      for index in covering.motors.indices { covering.motors[index]?.halt(at: now) }
    }
  }

  private static func place(_ part: CoveringPart, at position: UInt16?, _ context: inout ServerContext) {
    update(&context) { covering, _ in
      let present = covering.motors[part.index]?.motor.position ?? 0
      covering.motors[part.index]?.place(
        at: position.map(Int64.init) ?? present, isNoticed: position != nil && covering.hasEncoder)
    }
  }

  private static func modeChanged(_ context: inout ServerContext) {
    let mode = context[WindowCovering.mode]
    guard !mode.isSuperset(of: [.maintenanceMode, .calibrationMode]) else {
      // Maintenance takes precedence. The change calls this handler again.
      context[WindowCovering.mode] = mode.subtracting(.calibrationMode)
      return
    }
    update(&context) { covering, now in
      for index in covering.motors.indices {
        let isCalibrating = covering.motors[index]?.isCalibrating == true
        if mode.contains(.calibrationMode) {
          if !isCalibrating, !covering.isBlocked { covering.motors[index]?.calibrate(at: now) }
        } else if mode.contains(.maintenanceMode) || isCalibrating {
          covering.motors[index]?.halt(at: now)
        }
      }
    }
  }

  // MARK: State

  /// The motors of lift and tilt, and the conditions that the physical device reports.
  private struct Covering: Sendable {
    var motors: [PositionedMotor?] = [nil, nil]
    let hasEncoder: Bool
    private(set) var conditions: WindowCovering.SafetyStatus = []

    /// The conditions in which the motors don't run.
    private static let blocking: WindowCovering.SafetyStatus = [
      .remoteLockout, .thermalProtection, .stopInput, .motorJammed, .hardwareFailure, .manualOperation, .protection,
    ]
    /// The conditions that follow from the movements.
    private static let derived: WindowCovering.SafetyStatus = [.obstacleDetected, .positionFailure]

    var isBlocked: Bool { !conditions.isDisjoint(with: Self.blocking) }

    var safetyStatus: WindowCovering.SafetyStatus {
      var status = conditions.subtracting(Self.derived)
      if motors.contains(where: { $0?.isObstructed == true }) { status.insert(.obstacleDetected) }
      if motors.contains(where: { $0?.hasFailed == true }) { status.insert(.positionFailure) }
      return status
    }

    mutating func set(_ status: WindowCovering.SafetyStatus, at now: Instant) {
      conditions = status
      // The obstacle blocks the moving motors; if none moves, the first motor.
      let moving = motors.indices.filter { motors[$0]?.isMoving == true }
      let obstructed = moving.isEmpty ? motors.indices.filter { motors[$0] != nil }.prefix(1).map { $0 } : moving
      for index in motors.indices {
        if isBlocked { motors[index]?.fail(at: now) }
        if !status.contains(.obstacleDetected) {
          motors[index]?.removeObstacle()
        } else if obstructed.contains(index), motors[index]?.isObstructed == false {
          motors[index]?.obstruct(at: now)
        }
        if status.isDisjoint(with: Self.derived), !isBlocked { motors[index]?.clearFailure() }
      }
    }
  }

  private static func start(_ parts: [CoveringPart], _ motors: MotorSettings, _ context: inout ServerContext) {
    var covering = Covering(hasEncoder: motors.hasEncoder)
    for part in parts {
      guard let time = part.time(motors) else { continue }
      let range = Int64(CoveringPart.open)...Int64(CoveringPart.closed)
      let position = context[part.current].wrapped.map(Int64.init)
      covering.motors[part.index] =
        PositionedMotor(
          stored: context[stored: part.key], in: range, time: time, hasEncoder: motors.hasEncoder)
        ?? PositionedMotor(
          TravelMotor(at: position ?? range.upperBound / 2, in: range, time: time), isKnown: position != nil)
    }
    covering.set(context[WindowCovering.safetyStatus], at: context.now)
    context[scratch: Covering.self] = covering
    // Continues a calibration that a loss of power interrupted.
    modeChanged(&context)
  }

  /// Advances the motors, changes them, and updates the attributes.
  private static func update(_ context: inout ServerContext, _ change: (inout Covering, Instant) -> Void) {
    guard var covering = context[scratch: Covering.self] else { return }
    let now = context.now
    for index in covering.motors.indices { covering.motors[index]?.advance(to: now) }
    change(&covering, now)
    context[scratch: Covering.self] = covering
    var mode = context[WindowCovering.mode]
    var (config, status) = (WindowCovering.ConfigStatus(), WindowCovering.OperationalStatus())
    for part in CoveringPart.all {
      guard let motor = covering.motors[part.index] else { continue }
      context[stored: part.key] = motor.stored
      context[part.current] = Nullable(motor.position.map { UInt16(clamping: $0) })
      context[part.percentage] = Nullable(motor.position.map { UInt8(clamping: $0 / 100) })
      context[part.target] = Nullable(motor.goal.map { UInt16(clamping: $0) })
      status.add(motor.movement, of: part)
      config.insert(part.positionAware)
      if covering.hasEncoder { config.insert(part.encoder) }
    }
    context[WindowCovering.operationalStatus] = status
    context[WindowCovering.safetyStatus] = covering.safetyStatus
    if !covering.motors.contains(where: { $0?.isCalibrating == true }) { mode.remove(.calibrationMode) }
    if mode.isDisjoint(with: [.maintenanceMode, .calibrationMode]), !covering.isBlocked { config.insert(.operational) }
    if mode.contains(.motorDirectionReversed) { config.insert(.liftMovementReversed) }
    context[WindowCovering.configStatus] = config
    let next = covering.motors.compactMap { $0?.nextUpdate(after: now) }.min()
    if let next { context.schedule(.tick, at: next) } else { context.cancel(.tick) }
    context[WindowCovering.mode] = mode
  }
}

/// Lift or tilt of a window covering, with its attributes.
private struct CoveringPart: Sendable {
  /// 0 for the lift, 1 for the tilt.
  let index: Int
  let features: [Feature]
  let time: @Sendable (MotorSettings) -> Duration?
  let current: Attribute<WindowCovering, Nullable<UInt16>>
  let percentage: Attribute<WindowCovering, Nullable<UInt8>>
  let target: Attribute<WindowCovering, Nullable<UInt16>>
  let actuations: Attribute<WindowCovering, UInt16>
  let positionAware: WindowCovering.ConfigStatus
  let encoder: WindowCovering.ConfigStatus

  static let open: UInt16 = 0, closed: UInt16 = 10_000
  static let all = [
    CoveringPart(
      index: 0, features: [WindowCovering.lift, WindowCovering.positionAwareLift], time: { $0.lift },
      current: WindowCovering.currentPositionLiftPercent100ths,
      percentage: WindowCovering.currentPositionLiftPercentage,
      target: WindowCovering.targetPositionLiftPercent100ths, actuations: WindowCovering.numberOfActuationsLift,
      positionAware: .liftPositionAware, encoder: .liftEncoderControlled),
    CoveringPart(
      index: 1, features: [WindowCovering.tilt, WindowCovering.positionAwareTilt], time: { $0.tilt },
      current: WindowCovering.currentPositionTiltPercent100ths,
      percentage: WindowCovering.currentPositionTiltPercentage,
      target: WindowCovering.targetPositionTiltPercent100ths, actuations: WindowCovering.numberOfActuationsTilt,
      positionAware: .tiltPositionAware, encoder: .tiltEncoderControlled),
  ]

  var isLift: Bool { index == 0 }
  /// The key of the motor in the store.
  var key: String { isLift ? "lift" : "tilt" }
}

extension PositionedMotor {
  /// The direction of the movement of a covering.
  fileprivate var movement: WindowCovering.MovementStatus {
    motor.target.map { $0 < motor.position ? .opening : .closing } ?? .stopped
  }
}

extension WindowCovering.OperationalStatus {
  /// Adds the movement of a part. The overall movement is that of the lift, or else that of the tilt.
  fileprivate mutating func add(_ movement: WindowCovering.MovementStatus, of part: CoveringPart) {
    if isDisjoint(with: .global) { insert(Self(rawValue: movement.rawValue)) }
    insert(Self(rawValue: movement.rawValue << (part.isLift ? 2 : 4)))
  }
}
