import MatterClusters
import MatterModel
import MatterProtocol

/// The Closure Dimension server: one panel of a closure. Application Clusters, Closure Dimension.
///
/// The state is that of the ``ClosureControlServer`` of the endpoint that the panel is a part of.
public enum ClosureDimensionServer {
  private typealias State = ClosureDimension.DimensionStateStruct

  /// The panel changed.
  static let changed = ServerHook<ClosureDimension, ClosurePanel>("changed")

  /// The interval at which a movement is reported.
  private static let reportInterval = Duration.seconds(5)

  /// Returns the server of a panel.
  /// - Parameter closure: The settings of the closure, which determine the features Motion Latching and Speed.
  public static func make(
    _ panel: ClosurePanelSettings = ClosurePanelSettings("Panel"), of closure: ClosureSettings = ClosureSettings()
  ) -> ClusterServer {
    var features = [ClosureDimension.positioning]
    if closure.latch != nil { features.append(ClosureDimension.motionLatching) }
    if panel.unit != nil { features.append(ClosureDimension.unitFeature) }
    if panel.limits != nil { features.append(ClosureDimension.limitation) }
    if closure.hasSpeeds { features.append(ClosureDimension.speed) }
    switch panel.motion {
    case .translation: features.append(ClosureDimension.translation)
    case .rotation: features.append(ClosureDimension.rotation)
    case .modulation: features.append(ClosureDimension.modulation)
    }
    var server = ClusterServer(ClosureDimension.self, features: features)
      .initial(ClosureDimension.resolution, panel.resolution)
      .initial(ClosureDimension.stepValue, panel.step)
      .reportingQuietly()
      .hook(changed) { context, panel in update(panel, &context) }
      .on(ClosureDimension.setTarget) { context, request throws(StatusError) in
        try setTarget(request, panel, closure, &context)
      }
      .on(ClosureDimension.step) { context, request throws(StatusError) in
        try step(request, panel, closure, &context)
      }
      .onAct(ClosureDimension.currentState) { context, state throws(StatusError) in
        try place(state.wrapped, &context)
      }
    if let unit = panel.unit {
      let range = ClosureDimension.UnitRangeStruct(min: panel.unitRange.lowerBound, max: panel.unitRange.upperBound)
      server = server.initial(ClosureDimension.unit, unit).initial(ClosureDimension.unitRange, .value(range))
    }
    if let limits = panel.limits {
      server = server.initial(ClosureDimension.limitRange, .init(min: limits.lowerBound, max: limits.upperBound))
    }
    if let modes = closure.latch {
      server = server.initial(ClosureDimension.latchControlModes, .init(rawValue: modes.rawValue))
    }
    switch panel.motion {
    case .translation(let direction): return server.initial(ClosureDimension.translationDirection, direction)
    case .rotation(let axis, let overflow):
      return server.initial(ClosureDimension.rotationAxis, axis).initial(ClosureDimension.overflow, overflow)
    case .modulation(let type): return server.initial(ClosureDimension.modulationType, type)
    }
  }

  // MARK: Commands

  private static func setTarget(
    _ request: ClosureDimension.SetTargetRequest, _ panel: ClosurePanelSettings, _ closure: ClosureSettings,
    _ context: inout ServerContext
  ) throws(StatusError) {
    guard request.position != nil || request.latch != nil || request.speed != nil else {
      throw StatusError(.invalidCommand)
    }
    if let position = request.position, position > 10_000 { throw StatusError(.constraintError) }
    try move(
      to: request.position.map(Int64.init), latch: request.latch, speed: request.speed?.rawValue, closure, &context)
  }

  private static func step(
    _ request: ClosureDimension.StepRequest, _ panel: ClosurePanelSettings, _ closure: ClosureSettings,
    _ context: inout ServerContext
  ) throws(StatusError) {
    guard request.numberOfSteps > 0, [.decrease, .increase].contains(request.direction) else {
      throw StatusError(.constraintError)
    }
    let position = context[ClosureDimension.currentState].wrapped?.position?.wrapped
    let distance = Int64(request.numberOfSteps) * Int64(panel.step)
    let target = Int64(position ?? 0) + (request.direction == .increase ? distance : -distance)
    try move(to: target, latch: nil, speed: request.speed?.rawValue, closure, &context)
  }

  /// - Parameter position: Beyond the range of the panel, it is the end of the range.
  private static func move(
    to position: Int64?, latch: Bool?, speed: UInt8?, _ closure: ClosureSettings, _ context: inout ServerContext
  ) throws(StatusError) {
    let current = context[ClosureDimension.currentState].wrapped
    let (latch, speed) = try ClosureControlServer.accepted(
      latch: latch, speed: speed, closure, isMoving: position != nil, isLatched: current?.latch?.wrapped == true)
    guard let whole = context.parent else { throw StatusError(.failure) }
    let state = context[ClosureControl.mainState, on: whole]
    guard [.stopped, .moving].contains(state), position == nil || current?.position?.wrapped != nil else {
      throw StatusError(.invalidInState)
    }
    let movement = ClosureControlServer.PanelMovement(
      endpoint: context.endpoint, position: position, latch: latch, speed: speed)
    context.call(ClosureControlServer.panelMoved, movement, on: whole)
    if position == nil, latch == nil, speed == nil { return }
    context[scratch: Target.self] = Target()
    if let panel = context[scratch: ClosurePanel.self] { update(panel, &context) }
  }

  /// Moves the panel by hand; nil: the motor loses the position.
  private static func place(_ state: State?, _ context: inout ServerContext) throws(StatusError) {
    guard let whole = context.parent else { throw StatusError(.failure) }
    if let position = state?.position?.wrapped {
      guard position <= 10_000 else { throw StatusError(.constraintError) }
      let latch = state?.latch?.wrapped ?? context[ClosureDimension.currentState].wrapped?.latch?.wrapped
      guard latch != true else { throw StatusError(.invalidInState) }
    }
    let movement = ClosureControlServer.PanelMovement(
      endpoint: context.endpoint, position: state?.position?.wrapped.map(Int64.init), latch: state?.latch?.wrapped,
      isManual: true)
    context.call(ClosureControlServer.panelMoved, movement, on: whole)
  }

  // MARK: State

  /// Whether the panel has had a target.
  private struct Target: Sendable {}

  private static func update(_ panel: ClosurePanel, _ context: inout ServerContext) {
    context[scratch: ClosurePanel.self] = panel
    let (hasLatch, hasSpeeds) = (context.has(ClosureDimension.motionLatching), context.has(ClosureDimension.speed))
    let speed = hasSpeeds ? panel.speed : nil
    let position = panel.position.map { UInt16(clamping: $0) }
    let current = State(
      position: Nullable(position), latch: hasLatch ? .value(panel.isLatched) : nil, speed: speed)
    let earlier = context[ClosureDimension.currentState].wrapped
    let isUrgent =
      earlier == nil || earlier?.latch != current.latch || earlier?.speed != current.speed
      || (earlier?.position?.wrapped == nil) != (position == nil)
      || (position != nil && position == panel.goal.map { UInt16(clamping: $0) }) || !panel.isBusy
    context.set(
      ClosureDimension.currentState, .value(current), reportedEvery: reportInterval, isUrgent: isUrgent)
    if panel.goal != nil || panel.latchGoal != nil { context[scratch: Target.self] = Target() }
    guard context[scratch: Target.self] != nil else { return }
    context[ClosureDimension.targetState] = .value(
      .init(
        position: Nullable(panel.goal.map { UInt16(clamping: $0) }), latch: hasLatch ? Nullable(panel.latchGoal) : nil,
        speed: speed))
  }
}
