import MatterClusters
import MatterModel
import MatterProtocol

/// The Closure Control server: moves the panels of a closure, which are the parts of its endpoint. Application Clusters,
/// Closure Control.
///
/// The physical device has the parts `drive` (disengaged to move the closure by hand), `way` (blocked by an obstacle),
/// `position` (a movement by hand), `button` (starts and stops a movement) and `latch`.
public enum ClosureControlServer {
  private typealias Position = ClosureControl.TargetPosition

  /// A panel is moved by a client or by hand.
  static let panelMoved = ServerHook<ClosureControl, PanelMovement>("panelMoved")

  /// A movement of a panel, by a client or by hand.
  struct PanelMovement: Sendable {
    /// The endpoint of the panel.
    let endpoint: EndpointID
    var position: Int64?
    var latch: Bool?
    var speed: ThreeLevelAuto?
    /// Whether it is moved by hand; a nil position is then an unknown one.
    var isManual = false
  }

  /// What was reported last.
  private struct Reported: Sendable {
    /// The end of the countdown.
    var end: Instant?
    var wasBusy = false
    /// The last known secure state.
    var isSecure: Bool?
  }

  /// Returns the server. At the first start the position and the latch are those of the settings.
  public static func make(_ settings: ClosureSettings = ClosureSettings()) -> ClusterServer {
    var features = [
      ClosureControl.positioning, ClosureControl.calibration, ClosureControl.protection,
      ClosureControl.manuallyOperable,
    ]
    if settings.latch != nil { features.append(ClosureControl.motionLatching) }
    if settings.hasSpeeds { features.append(ClosureControl.speed) }
    if settings.ventilation != nil { features.append(ClosureControl.ventilation) }
    if settings.pedestrian != nil { features.append(ClosureControl.pedestrian) }
    let server = ClusterServer(ClosureControl.self, features: features)
      .onRead(ClosureControl.countdownTime) { context in
        let end = context[scratch: ClosureMechanism.self]?.completion
        // Rounded up: it is 0 at the end only.
        let rest = end.map { ($0 - context.now + .nanoseconds(999_999_999)).components.seconds } ?? 0
        return .value(UInt32(clamping: rest))
      }
      .onStart { start(settings, &$0) }
      .onPoweredTimer(.tick) { update(&$0) { _, _ in } }
      .hook(panelMoved) { context, movement in movePanel(movement, settings, &context) }
      .on(ClosureControl.stop) { context, _ in update(&context) { $0.stop(at: $1) } }
      .on(ClosureControl.moveTo) { context, request throws(StatusError) in try move(request, settings, &context) }
      .on(ClosureControl.calibrate) { context, _ throws(StatusError) in
        switch context[ClosureControl.mainState] {
        case .calibrating: return
        case .stopped, .setupRequired: update(&context) { $0.calibrate(at: $1) }
        default: throw StatusError(.invalidInState)
        }
      }
    return testing(acting(server, settings))
  }

  // MARK: Commands

  private static func move(
    _ request: ClosureControl.MoveToRequest, _ settings: ClosureSettings, _ context: inout ServerContext
  ) throws(StatusError) {
    guard request.position != nil || request.latch != nil || request.speed != nil else {
      throw StatusError(.invalidCommand)
    }
    guard let mechanism = context[scratch: ClosureMechanism.self] else { throw StatusError(.failure) }
    if let position = request.position, mechanism.positions[position] == nil { throw StatusError(.constraintError) }
    let (latch, speed) = try accepted(
      latch: request.latch, speed: request.speed?.rawValue, settings, isMoving: request.position != nil,
      isLatched: mechanism.panels.contains(where: \.isLatched))
    guard mechanism.acceptsMovements else { throw StatusError(.invalidInState) }
    update(&context) { $0.move(to: request.position, latch: latch, speed: speed, at: $1) }
  }

  /// Returns the fields of a command of the closure or a panel without those of missing features.
  /// - Throws: `constraintError` for an unknown speed, `invalidInState` if the latch does not permit the command.
  static func accepted(
    latch: Bool?, speed: UInt8?, _ settings: ClosureSettings, isMoving: Bool, isLatched: Bool
  ) throws(StatusError) -> (latch: Bool?, speed: ThreeLevelAuto?) {
    let speed = settings.hasSpeeds ? speed.map { ThreeLevelAuto(rawValue: $0) } : nil
    if let speed, speed.rawValue > ThreeLevelAuto.high.rawValue { throw StatusError(.constraintError) }
    guard let modes = settings.latch else { return (nil, speed) }
    if let latch, !modes.contains(latch ? .remoteLatching : .remoteUnlatching) { throw StatusError(.invalidInState) }
    if isMoving, isLatched, latch != false { throw StatusError(.invalidInState) }
    return (latch, speed)
  }

  private static func movePanel(
    _ movement: PanelMovement, _ settings: ClosureSettings, _ context: inout ServerContext
  ) {
    guard let index = context.parts.firstIndex(of: movement.endpoint) else { return }
    update(&context) { mechanism, now in
      guard movement.isManual else {
        mechanism.movePanel(
          index, to: movement.position, latch: movement.latch, speed: movement.speed, at: now)
        return
      }
      if let latch = movement.latch { mechanism.setLatch(latch, of: index, at: now) }
      if movement.latch == nil || movement.position != nil {
        mechanism.place(of: index, at: movement.position, hasEncoder: settings.hasEncoder, at: now)
      }
    }
  }

  // MARK: Physical actions

  private static func acting(_ server: ClusterServer, _ settings: ClosureSettings) -> ClusterServer {
    let server =
      server
      .resetting(ClosureControl.mainState)
      .onAct(ClosureControl.mainState) { context, state throws(StatusError) in
        switch state {
        case .stopped:
          update(&context) {
            $0.stop(at: $1)
            $0.set(nil, at: $1)
          }
        case .protected, .disengaged, .setupRequired: update(&context) { $0.set(state, at: $1) }
        default: throw StatusError(.constraintError)
        }
      }
      .acting(ClosureControl.mainState, among: [.stopped, .protected, .disengaged, .setupRequired])
      .onAct(ClosureControl.currentErrorList) { context, errors throws(StatusError) in
        guard Set(errors).count == errors.count else { throw StatusError(.constraintError) }
        update(&context) { $0.set(errors, at: $1) }
      }
      .onPart("drive", ["engaged", "disengaged"]) { context, state in
        let isDisengaged = context[ClosureControl.mainState] == .disengaged
        guard isDisengaged != (state == "disengaged") else { return }
        update(&context) { $0.set(isDisengaged ? nil : .disengaged, at: $1) }
      }
      .onPart("way", ["clear", "blocked"]) { context, state in
        update(&context) { state == "blocked" ? $0.obstruct(at: $1) : $0.removeObstacle() }
      }
      .onPart("position", [], expected: "a percentage such as 40%") { context, text throws(StatusError) in
        guard let position = position(text) else { throw StatusError(.constraintError) }
        try place(at: position, settings, &context)
      }
      .onPart("button", ["pressed"]) { context, _ in press(&context) }
    guard let modes = settings.latch else { return server }
    return server.initial(ClosureControl.latchControlModes, modes)
      .onPart("latch", ["open", "closed"]) { context, state in
        update(&context) { $0.setLatch(state == "closed", at: $1) }
      }
  }

  /// Returns the position of a text such as “40%”; nil for another text.
  private static func position(_ text: String) -> Int64? {
    guard text.hasSuffix("%"), let percent = Int64(text.dropLast()), (0...100).contains(percent) else { return nil }
    return percent * 100
  }

  private static func place(
    at position: Int64, _ settings: ClosureSettings, _ context: inout ServerContext
  ) throws(StatusError) {
    guard context[scratch: ClosureMechanism.self]?.panels.contains(where: \.isLatched) == false else {
      throw StatusError(.invalidInState)
    }
    update(&context) { $0.place(at: position, hasEncoder: settings.hasEncoder, at: $1) }
  }

  /// Stops a moving closure, closes one that is open, and opens any other.
  private static func press(_ context: inout ServerContext) {
    update(&context) { mechanism, now in
      guard mechanism.acceptsMovements else { return }
      guard !mechanism.isBusy else { return mechanism.stop(at: now) }
      let isOpen = mechanism.position == .fullyOpened
      let isLatched = mechanism.panels.contains(where: \.isLatched)
      mechanism.move(
        to: isOpen ? .moveToFullyClosed : .moveToFullyOpen, latch: isLatched ? false : nil, speed: nil, at: now)
    }
  }

  /// Handles the test events of the Matter SDK's test scripts.
  private static func testing(_ server: ClusterServer) -> ClusterServer {
    server
      .onTest(0, "error") { context in update(&context) { $0.set([.physicallyBlocked], at: $1) } }
      .onTest(1, "protected") { context in update(&context) { $0.set(.protected, at: $1) } }
      .onTest(2, "disengaged") { context in update(&context) { $0.set(.disengaged, at: $1) } }
      .onTest(3, "setupRequired") { context in update(&context) { $0.set(.setupRequired, at: $1) } }
      .onTest(4, "clear") { context in
        update(&context) {
          $0.set([], at: $1)
          $0.set(nil, at: $1)
        }
      }
  }

  // MARK: State

  private static func start(_ settings: ClosureSettings, _ context: inout ServerContext) {
    var settings = settings
    if settings.panels.isEmpty { settings.panels = [ClosurePanelSettings("")] }
    let panels = settings.panels.enumerated().map { index, panel in
      let time = panel.travel ?? settings.travel
      let initial = TravelMotor(
        at: Int64(settings.position ?? 5000), in: panel.range, time: time)
      let motor =
        PositionedMotor(
          stored: context[stored: "motor\(index)"], in: panel.range, time: time, hasEncoder: settings.hasEncoder)
        ?? PositionedMotor(initial, isKnown: settings.position != nil)
      return ClosurePanel(
        motor, resolution: Int64(panel.resolution), time: time,
        isLatched: settings.latch != nil
          && (context[stored: "latch\(index)"].map { $0 == true.tlv } ?? settings.isLatched))
    }
    let condition = context[stored: "condition"].flatMap { try? UInt8(tlv: $0) }
    var positions: [Position: Int64] = [
      .moveToFullyClosed: 10_000, .moveToFullyOpen: 0, .moveToSignaturePosition: Int64(settings.signature),
    ]
    positions[.moveToVentilationPosition] = settings.ventilation.map(Int64.init)
    positions[.moveToPedestrianPosition] = settings.pedestrian.map(Int64.init)
    let mechanism = ClosureMechanism(
      panels: panels, condition: condition.map(ClosureControl.MainState.init(rawValue:)), positions: positions)
    context[scratch: ClosureMechanism.self] = mechanism
    context[scratch: Reported.self] = Reported()
    // A condition that lasts since before the start is not an event.
    context[ClosureControl.mainState] = mechanism.mainState
    update(&context) { _, _ in }
  }

  /// Advances the panels, changes them, and updates the attributes of the closure and its panels.
  private static func update(_ context: inout ServerContext, _ change: (inout ClosureMechanism, Instant) -> Void) {
    guard var mechanism = context[scratch: ClosureMechanism.self] else { return }
    let now = context.now
    mechanism.advance(to: now)
    mechanism.endIfFailed(at: now)
    change(&mechanism, now)
    mechanism.endIfFailed(at: now)
    context[scratch: ClosureMechanism.self] = mechanism
    for (index, panel) in mechanism.panels.enumerated() {
      context[stored: "motor\(index)"] = panel.motor.stored
      context[stored: "latch\(index)"] = panel.isLatched.tlv
    }
    context[stored: "condition"] = mechanism.condition?.rawValue.tlv
    report(mechanism, &context)
    for (endpoint, panel) in zip(context.parts, mechanism.panels) {
      context.call(ClosureDimensionServer.changed, panel, on: endpoint)
    }
    if let next = mechanism.nextUpdate(after: now) { context.schedule(.tick, at: next) } else { context.cancel(.tick) }
  }

  private static func report(_ mechanism: ClosureMechanism, _ context: inout ServerContext) {
    let (state, errors) = (mechanism.mainState, mechanism.errors)
    let (earlier, earlierErrors) = (context[ClosureControl.mainState], context[ClosureControl.currentErrorList])
    let (hasLatch, hasSpeeds) = (context.has(ClosureControl.motionLatching), context.has(ClosureControl.speed))
    let secure = secureState(mechanism, hasLatch: hasLatch)
    context[ClosureControl.overallCurrentState] = .value(
      .init(
        position: Nullable(mechanism.position), latch: hasLatch ? .value(mechanism.isLatched) : nil,
        speed: hasSpeeds ? mechanism.speed : nil, secureState: Nullable(secure)))
    if mechanism.hasTarget {
      context[ClosureControl.overallTargetState] = .value(
        .init(
          position: Nullable(mechanism.target), latch: hasLatch ? Nullable(mechanism.latchTarget) : nil,
          speed: hasSpeeds ? mechanism.speed : nil))
    }
    context[ClosureControl.currentErrorList] = errors
    context[ClosureControl.mainState] = state
    countDown(to: mechanism.completion, &context)

    if let secure {
      if let earlier = context[scratch: Reported.self]?.isSecure, earlier != secure {
        context.emit(ClosureControl.secureStateChanged, .init(secureValue: secure))
      }
      context[scratch: Reported.self, default: Reported()].isSecure = secure
    }
    if !errors.isEmpty, errors != earlierErrors {
      context.emit(ClosureControl.operationalError, .init(errorState: errors))
    }
    if (state == .disengaged) != (earlier == .disengaged) {
      context.emit(ClosureControl.engageStateChanged, .init(engageValue: earlier == .disengaged))
    }
    let wasBusy = context[scratch: Reported.self, default: Reported()].wasBusy
    if wasBusy, !mechanism.isBusy { context.emit(ClosureControl.movementCompleted, NoFields()) }
    context[scratch: Reported.self, default: Reported()].wasBusy = mechanism.isBusy
  }

  /// Returns SecureState: whether the closure is closed, and latched if it has a latch. Nil if the position is unknown.
  private static func secureState(_ mechanism: ClosureMechanism, hasLatch: Bool) -> Bool? {
    if hasLatch, !mechanism.isLatched { return false }
    return mechanism.position.map { $0 == .fullyClosed }
  }

  /// Reports CountdownTime when it begins, increases or ends, and not its course. Matter Core § 7.7.10.
  private static func countDown(to end: Instant?, _ context: inout ServerContext) {
    let reported = context[scratch: Reported.self, default: Reported()].end
    context[scratch: Reported.self, default: Reported()].end = end
    if end != reported, end.map({ end in reported.map { end > $0 } ?? true }) ?? true {
      context.markChanged(ClosureControl.countdownTime)
    }
  }
}
