internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// The elements of the clusters that derive from Operational State. Their structures have the same encoding in each of
/// them. Application Clusters § 1.14.
enum OperationalStateBase<C: Cluster> {
  typealias Response = OperationalState.OperationalCommandResponse

  static var phaseList: Attribute<C, Nullable<[String]>> { .init(0x0000, "PhaseList") }
  static var currentPhase: Attribute<C, Nullable<UInt8>> { .init(0x0001, "CurrentPhase") }
  static var countdownTime: Attribute<C, Nullable<UInt32>> { .init(0x0002, "CountdownTime") }
  static var stateList: Attribute<C, [OperationalState.OperationalStateStruct]> {
    .init(0x0003, "OperationalStateList")
  }
  static var state: Attribute<C, UInt8> { .init(0x0004, "OperationalState") }
  static var error: Attribute<C, OperationalState.ErrorStateStruct> { .init(0x0005, "OperationalError") }

  static var pause: Command<C, NoFields, Response> { .init(0x00, "Pause", response: 0x04) }
  static var stop: Command<C, NoFields, Response> { .init(0x01, "Stop", response: 0x04) }
  static var start: Command<C, NoFields, Response> { .init(0x02, "Start", response: 0x04) }
  static var resume: Command<C, NoFields, Response> { .init(0x03, "Resume", response: 0x04) }
  static var goHome: Command<C, NoFields, Response> { .init(0x80, "GoHome", response: 0x04) }

  static var operationalError: Event<C, OperationalState.OperationalErrorEvent> { .init(0x00, "OperationalError") }
  static var completion: Event<C, OperationalState.OperationCompletionEvent> { .init(0x01, "OperationCompletion") }

  /// Another server of the endpoint changes the run.
  static var request: ServerHook<C, OperationRequest> { .init("request") }
}

/// A change of a run by another server of the endpoint.
enum OperationRequest: Sendable {
  /// Starts a run of these steps.
  case start([OperationRun.Step])
  /// Ends the run; a robot returns to its charger.
  case end
  /// Skips a step.
  case skip(String)
  /// Prolongs the run.
  case extend(Duration)
}

/// The states of all derived clusters, and those of a robot vacuum. § 1.14.4.2 and § 7.4.4.1.
enum OperationState {
  private typealias State = RvcOperationalState.OperationalState
  static let stopped = State.stopped.rawValue, running = State.running.rawValue, paused = State.paused.rawValue
  static let error = State.error.rawValue, seekingCharger = State.seekingCharger.rawValue
  static let charging = State.charging.rawValue, docked = State.docked.rawValue
  /// The states of a robot at its charger: charging, waiting, and maintenance.
  static let atCharger = charging...State.updatingMaps.rawValue
}

/// The errors of all derived clusters. § 1.14.4.3.
enum OperationError {
  static let none: UInt8 = 0, unableToStartOrResume: UInt8 = 1, commandInvalidInState: UInt8 = 3
}

/// A part of an appliance that a user or an accident can change, and the effects of its states.
struct AppliancePart: Sendable {
  enum Effect: Hashable, Sendable {
    /// The usual state.
    case none
    /// The run pauses, and can't start.
    case pauses
    /// The run can't start. While it runs, the state can't be reached: the door is locked.
    case isLocked
    /// The run stops with an error until the part is in another state. Errors of the manufacturer have a label.
    case fails(UInt8, label: String? = nil)
    /// A robot interrupts the run to charge.
    case recharges
  }

  var name: String
  /// The usual state is the first.
  var states: [(name: String, effect: Effect)]

  init(_ name: String, _ states: [(name: String, effect: Effect)]) { (self.name, self.states) = (name, states) }

  func effect(_ state: String?) -> Effect { states.first { $0.name == state }?.effect ?? .none }
}

/// A server for a cluster that derives from Operational State: runs a program, step by step. Application Clusters
/// § 1.14.
struct OperationalStateServer<C: Cluster>: Sendable {
  typealias Base = OperationalStateBase<C>

  /// The value of PhaseList; empty if the steps are not phases.
  var phases: [String] = []
  var parts: [AppliancePart] = []
  /// The durations of a robot's return to its charger and of charging. Nil for a stationary appliance.
  var charger: (returning: Duration, charging: Duration)?
  /// Returns the steps of a run that starts now; empty if it can't start.
  var steps: @Sendable (inout ServerContext) -> [OperationRun.Step] = { _ in [] }
  /// Is called after the run started, changed or ended, with nil if no run is in progress.
  var onChange: @Sendable (inout ServerContext, OperationRun?) -> Void = { _, _ in }
  /// Starts the run at the panel of the appliance, instead of the Start command.
  var startAtPanel: (@Sendable (inout ServerContext) -> Void)?

  init(_ cluster: C.Type) {}

  /// The operation in progress.
  private struct Operation: Sendable {
    /// The run of the program, also while a robot charges before it continues.
    var run: OperationRun?
    /// The return of a robot to its charger, and charging.
    var docking: OperationRun?
    /// The states of the parts by name, without the usual ones.
    var parts: [String: String] = [:]
  }

  private var idle: UInt8 { charger == nil ? OperationState.stopped : OperationState.docked }

  /// Returns the server. The run ends without an event when the device loses its power.
  func make() -> ClusterServer {
    let states = [OperationState.stopped, OperationState.running, OperationState.paused, OperationState.error]
    let ofRobots = [OperationState.seekingCharger] + OperationState.atCharger
    var server = ClusterServer(C.self)
      .initial(Base.phaseList, phases.isEmpty ? .null : .value(phases))
      .initial(Base.currentPhase, phases.isEmpty ? .null : .value(0))
      .initial(Base.stateList, (states + (charger == nil ? [] : ofRobots)).map { .init(operationalStateID: $0) })
      .initial(Base.state, idle)
      .resetting(Base.state)
      .deriving(Base.phaseList)
      .deriving(Base.currentPhase)
      .deriving(Base.stateList)
    for element in C.elements {
      switch element.info {
      case .attribute(let info) where info.id == Base.countdownTime.id: server = server.serving(element)
      case .event(let info) where info.id == Base.completion.id: server = server.serving(element)
      default: break
      }
    }
    server =
      server
      .onRead(Base.countdownTime) { context in
        guard var run = context[scratch: Operation.self]?.run else { return .null }
        run.advance(to: context.now)
        // Rounded up: it is 0 at the end only.
        return .value(UInt32(clamping: (run.remaining + .nanoseconds(999_999_999)).components.seconds))
      }
      .onStart { context in
        context.cancel(.tick)
        let parts = operation(&context).parts
        context[scratch: Operation.self] = Operation(parts: parts)
        setState(idle, &context)
      }
      .onPoweredTimer(.tick) { update(&$0) }
      .onAct(Base.state) { context, state throws(StatusError) in try press(state, &context) }
      .onAct(Base.error) { context, error throws(StatusError) in setError(error, &context) }
      .hook(Base.request) { context, request in perform(request, &context) }
    for part in parts {
      server = server.onPart(part.name, part.states.map(\.name)) { context, state throws(StatusError) in
        try move(part, to: state, &context)
      }
    }
    return serveCommands(server)
  }

  // MARK: Commands

  private func serveCommands(_ server: ClusterServer) -> ClusterServer {
    typealias Handler = @Sendable (inout ServerContext) -> UInt8
    let handlers: [(Command<C, NoFields, Base.Response>, Handler)] = [
      (Base.pause, pause), (Base.stop, stop), (Base.start, start), (Base.resume, resume), (Base.goHome, goHome),
    ]
    return handlers.reduce(server) { server, entry in
      guard C.commands.contains(where: { $0.id == entry.0.id }) else { return server }
      return server.answer(entry.0) { context, _ throws(StatusError) in
        .init(commandResponseState: .init(errorStateID: entry.1(&context)))
      }
    }
  }

  private func start(_ context: inout ServerContext) -> UInt8 {
    switch context[Base.state] {
    case OperationState.running: return OperationError.none
    case OperationState.paused where operation(&context).run != nil: return resume(&context)
    case OperationState.error: return OperationError.unableToStartOrResume
    default: break
    }
    return begin(steps(&context), &context)
  }

  private func begin(_ steps: [OperationRun.Step], _ context: inout ServerContext) -> UInt8 {
    guard !steps.isEmpty, context[Base.state] != OperationState.error, !isBlocked(&context) else {
      return OperationError.unableToStartOrResume
    }
    context[scratch: Operation.self, default: Operation()].docking = nil
    let run = OperationRun(steps, at: context.now)
    context[scratch: Operation.self, default: Operation()].run = run
    setState(OperationState.running, &context)
    update(&context)
    return OperationError.none
  }

  private func stop(_ context: inout ServerContext) -> UInt8 {
    if context[Base.state] != OperationState.stopped { end(&context) }
    return OperationError.none
  }

  private func pause(_ context: inout ServerContext) -> UInt8 {
    switch context[Base.state] {
    case OperationState.paused: return OperationError.none
    case OperationState.running, OperationState.seekingCharger: break
    default: return OperationError.commandInvalidInState
    }
    suspend(&context)
    setState(OperationState.paused, &context)
    update(&context)
    return OperationError.none
  }

  private func resume(_ context: inout ServerContext) -> UInt8 {
    let operation = operation(&context)
    switch context[Base.state] {
    case OperationState.running: return OperationError.none
    case OperationState.paused: break
    // A robot that charges in between continues early.
    case OperationState.charging where operation.run != nil, OperationState.docked where operation.run != nil: break
    default: return OperationError.commandInvalidInState
    }
    guard !isBlocked(&context) else { return OperationError.unableToStartOrResume }
    let now = context.now
    if context[Base.state] != OperationState.paused { context[scratch: Operation.self]?.docking = nil }
    if context[scratch: Operation.self]?.docking != nil {
      context[scratch: Operation.self]?.docking?.resume(at: now)
    } else {
      context[scratch: Operation.self]?.run?.resume(at: now)
    }
    setState(OperationState.running, &context)
    update(&context)
    return OperationError.none
  }

  private func goHome(_ context: inout ServerContext) -> UInt8 {
    switch context[Base.state] {
    case OperationState.atCharger, OperationState.error: return OperationError.commandInvalidInState
    case OperationState.seekingCharger: return OperationError.none
    default:
      end(&context)
      return OperationError.none
    }
  }

  private func perform(_ request: OperationRequest, _ context: inout ServerContext) {
    switch request {
    case .start(let steps): _ = begin(steps, &context)
    case .end: if operation(&context).run != nil { end(&context) }
    case .skip(let name):
      guard let index = operation(&context).run?.steps.firstIndex(where: { $0.step.name == name }) else { return }
      let now = context.now
      _ = context[scratch: Operation.self]?.run?.skip(index, at: now)
      update(&context)
    case .extend(let time):
      context[scratch: Operation.self]?.run?.extend(by: time)
      update(&context)
    }
  }

  // MARK: The run

  private func operation(_ context: inout ServerContext) -> Operation {
    context[scratch: Operation.self, default: Operation()]
  }

  private func suspend(_ context: inout ServerContext) {
    let now = context.now
    context[scratch: Operation.self]?.run?.pause(at: now)
    context[scratch: Operation.self]?.docking?.pause(at: now)
  }

  /// Advances the run to the present time, updates the attributes, and schedules the next change.
  private func update(_ context: inout ServerContext) {
    let now = context.now
    context[scratch: Operation.self]?.run?.advance(to: now)
    context[scratch: Operation.self]?.docking?.advance(to: now)
    let operation = operation(&context)
    context.cancel(.tick)
    if let docking = operation.docking {
      if !docking.isPaused { update(docking, &context) }
    } else if let run = operation.run {
      if run.isComplete { return complete(run, error: OperationError.none, &context) }
      if let next = run.nextChange { context.schedule(.tick, at: next) }
    }
    if let current = operation.run?.current, !phases.isEmpty {
      context[Base.currentPhase] = .value(UInt8(clamping: current))
    }
    context.markChanged(Base.countdownTime)
    onChange(&context, self.operation(&context).run)
  }

  /// Sets the state of a robot that returns or charges.
  private func update(_ docking: OperationRun, _ context: inout ServerContext) {
    if let next = docking.nextChange { context.schedule(.tick, at: next) }
    switch docking.current {
    case 0?: setState(OperationState.seekingCharger, &context)
    case 1?: setState(OperationState.charging, &context)
    default:
      context[scratch: Operation.self]?.docking = nil
      let left = operation(&context).parts.filter { name, state in
        parts.first { $0.name == name }?.effect(state) != .recharges
      }
      context[scratch: Operation.self]?.parts = left
      setState(OperationState.docked, &context)
      if operation(&context).run != nil { _ = resume(&context) }
    }
  }

  /// Ends the run before its time, if there is one.
  /// - Parameter state: the state after it; nil for the usual one.
  private func end(_ context: inout ServerContext, to state: UInt8? = nil) {
    let error = context[Base.error].errorStateID
    guard var run = operation(&context).run else { return finish(&context, to: state) }
    run.end(at: context.now)
    complete(run, error: error, &context, to: state)
  }

  private func complete(
    _ run: OperationRun, error: UInt8, _ context: inout ServerContext, to state: UInt8? = nil
  ) {
    context[scratch: Operation.self]?.run = nil
    context.emit(
      Base.completion,
      .init(
        completionErrorCode: error, totalOperationalTime: .value(UInt32(clamping: run.total.components.seconds)),
        pausedTime: .value(UInt32(clamping: run.paused.components.seconds))))
    onChange(&context, run)
    finish(&context, to: state)
  }

  /// Enters the state after a run: a robot seeks its charger.
  private func finish(_ context: inout ServerContext, to state: UInt8? = nil) {
    let state = state ?? (charger == nil ? OperationState.stopped : OperationState.seekingCharger)
    var docking: OperationRun?
    if let charger, state == OperationState.seekingCharger || state == OperationState.charging {
      let returning = state == OperationState.charging ? .zero : charger.returning
      docking = OperationRun(
        [.init("returning", returning), .init("charging", charger.charging)], at: context.now)
    }
    context[scratch: Operation.self, default: Operation()].docking = docking
    setState(state, &context)
    if !phases.isEmpty { context[Base.currentPhase] = .value(0) }
    update(&context)
  }

  /// Sets the state, which ends an error.
  private func setState(_ state: UInt8, _ context: inout ServerContext) {
    if state != OperationState.error { context[Base.error] = .init(errorStateID: OperationError.none) }
    context[Base.state] = state
  }

  // MARK: Physical actions

  /// Whether a part keeps the run from starting.
  private func isBlocked(_ context: inout ServerContext) -> Bool {
    let states = operation(&context).parts
    return parts.contains { $0.effect(states[$0.name]) != .none }
  }

  private func press(_ state: UInt8, _ context: inout ServerContext) throws(StatusError) {
    let error: UInt8
    switch state {
    case OperationState.running:
      if context[Base.state] == OperationState.paused {
        error = resume(&context)
      } else {
        if let startAtPanel { startAtPanel(&context) } else { _ = start(&context) }
        error =
          context[Base.state] == OperationState.running ? OperationError.none : OperationError.unableToStartOrResume
      }
    case OperationState.paused: error = pause(&context)
    case OperationState.seekingCharger where charger != nil: error = goHome(&context)
    case OperationState.stopped:
      if context[Base.state] != state { end(&context, to: state) }
      error = OperationError.none
    // A user puts the robot into its charger.
    case OperationState.atCharger where charger != nil:
      if !hastenCharging(to: state, &context) { end(&context, to: state) }
      error = OperationError.none
    default: throw StatusError(.constraintError)
    }
    if error != OperationError.none { throw StatusError(.invalidInState) }
  }

  /// Takes a robot that interrupts its run to charge to its charger at once, or charges it at once.
  /// - Returns: false if no run waits for the end of charging.
  private func hastenCharging(to state: UInt8, _ context: inout ServerContext) -> Bool {
    guard let docking = operation(&context).docking, operation(&context).run != nil,
      state == OperationState.charging || state == OperationState.docked
    else { return false }
    var hastened = docking
    hastened.resume(at: context.now)
    for step in 0...(state == OperationState.docked ? 1 : 0) { _ = hastened.skip(step, at: context.now) }
    context[scratch: Operation.self]?.docking = hastened
    update(&context)
    return true
  }

  private func move(_ part: AppliancePart, to state: String, _ context: inout ServerContext) throws(StatusError) {
    let effect = part.effect(state)
    if effect == .isLocked, operation(&context).run != nil { throw StatusError(.invalidInState) }
    context[scratch: Operation.self, default: Operation()].parts[part.name] = effect == .none ? nil : state
    switch effect {
    case .fails(let error, let label): setError(.init(errorStateID: error, errorStateLabel: label), &context)
    case .pauses where context[Base.state] == OperationState.running: _ = pause(&context)
    case .recharges where context[Base.state] == OperationState.running:
      suspend(&context)
      finish(&context)
    case .none where context[Base.state] == OperationState.error:
      let failures = failures(&context)
      if let first = failures.first {
        // The event of this failure was emitted when its part failed.
        if !failures.contains(context[Base.error]) { context[Base.error] = first }
      } else {
        setError(.init(errorStateID: OperationError.none), &context)
      }
    default: break
    }
  }

  /// Returns the errors of the parts that have failed.
  private func failures(_ context: inout ServerContext) -> [OperationalState.ErrorStateStruct] {
    let states = operation(&context).parts
    return parts.compactMap { part in
      guard case .fails(let error, let label) = part.effect(states[part.name]) else { return nil }
      return .init(errorStateID: error, errorStateLabel: label)
    }
  }

  /// Enters the error state, or leaves it: an interrupted run is then paused.
  private func setError(_ error: OperationalState.ErrorStateStruct, _ context: inout ServerContext) {
    if error.errorStateID != OperationError.none {
      suspend(&context)
      context[Base.error] = error
      setState(OperationState.error, &context)
      context.emit(Base.operationalError, .init(errorState: error))
    } else if context[Base.state] == OperationState.error {
      let isInterrupted = operation(&context).run != nil || operation(&context).docking != nil
      setState(isInterrupted ? OperationState.paused : OperationState.stopped, &context)
    }
    update(&context)
  }
}
