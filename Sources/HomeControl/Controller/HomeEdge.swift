internal import CloudLink
package import HomeModel
package import HomeStore
package import MatterController
package import MatterModel
package import MatterProtocol
package import NIOCore
package import Runtime

/// Turns the engine's events into answers and news: who began an operation learns of its end, who observes the home of what
/// changes in it, and the database of everything. Confined to the event loop.
package final class HomeEdge: HomeView {
  package typealias Outcome = Result<OperationOutcome, ControllerError>

  private struct Pending {
    var onEvent: ((ControllerEvent) -> Void)?
    var onEnd: ((Outcome) -> Void)?
  }

  package let host: EngineHost<HomeEngine>
  let keeper: HomeKeeper
  package let observers = HomeObservers()
  /// Called when a session with a node begins.
  var onSession: ((NodeID) -> Void)?
  private var pending: [OperationID: Pending] = [:]
  /// Ends that came before anybody waited for them.
  private var ended: [OperationID: Outcome] = [:]
  /// Events of an operation that was begun but has no number yet.
  private var early: [(OperationID, ControllerEvent)] = []
  private var isBeginning = false
  private var failure: StoreError?
  /// Whether we are leaving: subscriptions that end by that say nothing of the devices, and whoever follows them next finds them
  /// as they were.
  private var isLeaving = false
  /// What we wrote and have not taken in yet, in the order of the log.
  private var ownChanges: [(update: HomeUpdate, anchor: Anchor)] = []
  /// What happened since the home is being loaded again; nil: it is not.
  private var sinceReload: [HomeUpdate]?

  init(_ host: EngineHost<HomeEngine>, _ keeper: HomeKeeper) {
    self.host = host
    self.keeper = keeper
    keeper.current = { [unowned self] in
      var current = host.perform { engine, _ in HomeKeeper.Current(home: engine.reducer, time: engine.time) }
      for own in ownChanges { _ = current.home.reduce(.update(own.update), at: current.time) }
      return current
    }
    host.onEvent = { [unowned self] in received($0) }
    host.onStoreFailure = { [unowned self] error in
      failure = error
      let waiting = pending
      pending = [:]
      for id in waiting.keys.sorted() { waiting[id]?.onEnd?(.failure(.cancelled)) }
    }
    host.start()
  }

  /// Why the store gave up, if it did.
  var storeFailure: StoreError? { failure }

  /// The home as it is now.
  package var reducer: HomeReducer { host.perform { (engine: inout HomeEngine, _) in engine.reducer } }

  /// Takes in something that did not come from a device.
  package func take(_ input: HomeInput) {
    host.perform { (engine: inout HomeEngine, now: Instant) in engine.take(input, at: now) }
  }

  /// When devices were heard, as far as it is this process that says so: who follows them knows better.
  var ownContacts: [NodeID: Contact] {
    host.perform { engine, _ in engine.isPassive ? [:] : engine.reducer.contacts }
  }

  /// Has it stored when devices were heard.
  func keepContacts() {
    guard !host.isStopped else { return }
    keeper.keep(ownContacts)
    keepOverheard()
  }

  /// Has it stored when devices were heard by this process that another one follows.
  func keepOverheard() {
    let overheard = host.perform { (engine: inout HomeEngine, _) in engine.takeOverheard() }
    // Where it can't be stored, it is as if nobody had been listening.
    if !overheard.isEmpty { _ = keeper.perform { try $0.note(heard: overheard) } }
  }

  /// Another process stored when it heard the devices.
  /// - Parameter isFollower: whether this one follows them: then it knows better, but for what it could not hear.
  package func take(_ contacts: [NodeID: Contact], isFollower: Bool) {
    keeper.know(contacts)
    host.perform { (engine: inout HomeEngine, now) in
      if isFollower { engine.learn(contacts, at: now) } else { engine.take(contacts) }
    }
  }

  // MARK: Changes of our own

  /// A change of names is in the log, and is to be taken in at its place there: several processes make such changes.
  package func written(_ update: HomeUpdate, at anchor: Anchor) { ownChanges.append((update, anchor)) }

  /// Takes in what we wrote up to a place in the log, in the order of the log.
  func takeOwn(upTo anchor: Anchor) {
    while let first = ownChanges.first, first.anchor.sequence <= anchor.sequence {
      ownChanges.removeFirst()
      take(.update(first.update))
    }
  }

  // MARK: Loading again

  /// The home is to be read from the database: what happens from now on may not be in it.
  func beginReload() { sinceReload = sinceReload ?? [] }

  func abandonReload() { sinceReload = nil }

  /// Takes a home as the database has it, and tells everybody that everything may be different.
  package func reload(_ stored: StoredHome) {
    var stored = stored
    ownChanges.removeAll { $0.anchor.sequence <= stored.anchor.sequence }
    keeper.know(upTo: stored.anchor)
    for update in sinceReload ?? [] { for change in update.changes { stored.state.apply(change) } }
    sinceReload = nil
    let old = reducer
    let time = host.perform { (engine: inout HomeEngine, now: Instant) in
      engine.reload(stored, at: now)
      return engine.time
    }
    observers.reload(reducer, from: old, at: time)
  }

  // MARK: Operations

  /// Does something with the controller.
  package func perform<R, F: Error>(_ body: (inout ControllerEngine, Instant) throws(F) -> R) throws(F) -> R {
    try host.perform { (engine: inout HomeEngine, now: Instant) throws(F) -> R in try engine.perform(at: now, body) }
  }

  /// Begins an operation.
  /// - Parameter node: whom it is about: what it answers is taken in.
  package func begin(
    _ node: NodeID? = nil, onEvent: ((ControllerEvent) -> Void)? = nil,
    _ start: (inout ControllerEngine, Instant) -> OperationID
  ) -> OperationID {
    isBeginning = true
    let id = host.perform { (engine: inout HomeEngine, now: Instant) in engine.begin(node, at: now, start) }
    isBeginning = false
    pending[id] = Pending(onEvent: onEvent)
    let events = early
    early = []
    for (owner, event) in events { deliver(event, to: owner) }
    return id
  }

  /// Calls `onEnd` once, when the operation is over.
  package func wait(for id: OperationID, _ onEnd: @escaping (Outcome) -> Void) {
    if let outcome = ended.removeValue(forKey: id) {
      onEnd(outcome)
    } else if host.isStopped {
      onEnd(.failure(.cancelled))
    } else {
      pending[id, default: Pending()].onEnd = onEnd
    }
  }

  package func cancel(_ id: OperationID) {
    guard pending[id] != nil else { return }
    perform { (engine: inout ControllerEngine, now: Instant) in engine.cancel(id, at: now) }
  }

  /// Ends all: whoever still waits is told so.
  package func stop() {
    let waiting = pending
    pending = [:]
    isLeaving = true
    if !host.isStopped {
      perform { (engine: inout ControllerEngine, now: Instant) in engine.closeSessions(at: now) }
      host.stop()
    }
    for id in waiting.keys.sorted() { waiting[id]?.onEnd?(.failure(.cancelled)) }
    endObservers()
  }

  /// Ends all as it is: nobody outside is told, and nothing more is stored.
  package func abandon() {
    let waiting = pending
    pending = [:]
    host.stop(silently: true)
    for id in waiting.keys.sorted() { waiting[id]?.onEnd?(.failure(.cancelled)) }
    endObservers()
    keeper.abandon()
  }

  /// Ends the observers and releases the closures that refer to the controller.
  private func endObservers() {
    observers.end()
    (observers.make, onSession) = (nil, nil)
  }

  private func received(_ event: HomeEvent) {
    switch event {
    case .controller(let event): received(event)
    case .updated where isLeaving, .contacts where isLeaving: break
    case .contacts(let contacts): observers.tell(contacts)
    case .updated(let update):
      let reducer = reducer
      sinceReload?.append(update)
      keeper.keep(update, reducer.contacts)
      observers.tell(update, reducer)
    }
  }

  private func received(_ event: ControllerEvent) {
    if case .sessionOpened(let node, _) = event { onSession?(node) }
    guard let owner = event.operation else { return }
    if isBeginning && pending[owner] == nil {
      early.append((owner, event))
    } else {
      deliver(event, to: owner)
    }
  }

  private func deliver(_ event: ControllerEvent, to owner: OperationID) {
    guard case .completed(_, let outcome) = event else {
      pending[owner]?.onEvent?(event)
      return
    }
    guard let known = pending.removeValue(forKey: owner) else { return }
    if let onEnd = known.onEnd { onEnd(outcome) } else { ended[owner] = outcome }
  }
}

extension ControllerEvent {
  /// Whose event it is.
  fileprivate var operation: OperationID? {
    switch self {
    case .completed(let id, _), .commissioningStep(let id, _, _), .subscriptionEstablished(let id, _),
      .attributeReport(let id, _, _, _), .attributeStatus(let id, _, _), .eventReport(let id, _), .reportEnd(let id),
      .subscriptionLost(let id, _, _), .serviceFound(let id, _), .serviceLost(let id, _):
      id
    case .sessionOpened, .sessionClosed: nil
    }
  }
}

extension HomeEdge: CloudHost {
  package func perform<R: Sendable>(
    _ body: @escaping @Sendable (HomeDatabase) throws -> R
  ) -> EventLoopFuture<R> { keeper.perform(body) }
}
