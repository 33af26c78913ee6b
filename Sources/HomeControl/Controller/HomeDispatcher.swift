internal import CloudLink
package import HomeModel
package import HomeStore
package import MatterController
package import MatterProtocol
package import NIOCore
package import Runtime

/// Dispatches the engine's events: batches to the stream of the home, other events to their operations. Confined to the
/// event loop.
package final class HomeDispatcher: HomeView {
  package typealias Outcome = Result<OperationOutcome, ControllerError>

  private struct Pending {
    var onEvent: ((ControllerEvent) -> Void)?
    var onEnd: ((Outcome) -> Void)?
  }

  package let host: EngineHost<HomeEngine>
  let writer: HomeWriter
  private let store: ControllerStore
  package let stream = HomeStream()
  /// Called when a session with a node begins.
  var onSession: ((NodeID) -> Void)?
  /// Called when the access control list of a node has no space for the entries of invited clients.
  var onFullAccessList: ((NodeID) -> Void)?
  private var pending: [OperationID: Pending] = [:]
  /// Outcomes of operations that ended before a caller waited for them.
  private var ended: [OperationID: Outcome] = [:]
  /// Events emitted by an operation during its start, before its id is known.
  private var early: [(OperationID, ControllerEvent)] = []
  private var isBeginning = false
  /// The error of the store that stopped the engine.
  private(set) var storeFailure: StoreError?
  /// Whether the home is being closed, which ends the subscriptions without changing the devices.
  private var isClosing = false

  init(_ host: EngineHost<HomeEngine>, _ writer: HomeWriter, _ store: ControllerStore) {
    (self.host, self.writer, self.store) = (host, writer, store)
    writer.current = {
      host.perform { engine, _ in HomeWriter.Current(home: engine.reducer, time: engine.time) }
    }
    stream.store = { update, contacts in writer.add(update, contacts) }
    writer.onCommit = { [weak stream] in stream?.onCommit?($0) }
    host.onEvent = { [unowned self] in received($0) }
    host.onStoreFailure = { [unowned self] error in
      storeFailure = error
      endOperations()
    }
    host.start()
  }

  /// The current state of the home.
  package var reducer: HomeReducer { host.perform { (engine: inout HomeEngine, _) in engine.reducer } }

  /// Processes an input that does not come from a device.
  package func process(_ input: HomeInput) {
    host.perform { (engine: inout HomeEngine, now: Instant) in engine.process(input, at: now) }
  }

  /// Stores the times of contact.
  func keepContacts() {
    if !host.isStopped { writer.add(reducer.contacts) }
  }

  // MARK: Operations

  /// Calls the controller and processes its effects.
  package func perform<R, F: Error>(_ body: (inout ControllerEngine, Instant) throws(F) -> R) throws(F) -> R {
    try host.perform { (engine: inout HomeEngine, now: Instant) throws(F) -> R in try engine.perform(at: now, body) }
  }

  /// Starts an operation.
  /// - Parameter node: the node of the operation, whose state is updated with its answers.
  package func begin(
    _ node: NodeID? = nil, onEvent: ((ControllerEvent) -> Void)? = nil,
    _ start: (inout ControllerEngine, Instant) -> OperationID
  ) -> OperationID {
    begin(onEvent: onEvent) { (engine: inout HomeEngine, now) in engine.begin(node, at: now, start) }
  }

  func begin(
    onEvent: ((ControllerEvent) -> Void)?, _ start: (inout HomeEngine, Instant) -> OperationID
  ) -> OperationID {
    isBeginning = true
    let id = host.perform(start)
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
      onEnd(.failure(.canceled))
    } else {
      pending[id, default: Pending()].onEnd = onEnd
    }
  }

  package func cancel(_ id: OperationID) {
    guard pending[id] != nil else { return }
    perform { (engine: inout ControllerEngine, now: Instant) in engine.cancel(id, at: now) }
  }

  /// Closes all sessions and cancels all operations.
  package func stop() {
    isClosing = true
    endOperations()
    if !host.isStopped {
      perform { (engine: inout ControllerEngine, now: Instant) in engine.closeSessions(at: now) }
      host.stop()
    }
    endObservers()
  }

  /// Cancels all operations without messages to devices, and stores nothing more.
  package func abandon() {
    endOperations()
    host.stop(silently: true)
    endObservers()
    writer.abandon()
  }

  /// Ends all operations as canceled.
  private func endOperations() {
    for (_, waiting) in exchange(&pending, with: [:]).sorted(by: { $0.key < $1.key }) {
      waiting.onEnd?(.failure(.canceled))
    }
  }

  /// Ends the observers and releases the closures that refer to the controller.
  private func endObservers() {
    stream.end()
    (onSession, onFullAccessList) = (nil, nil)
  }

  private func received(_ event: HomeEvent) {
    switch event {
    case .controller(let event): received(event)
    case .committing(let update): store.update = update
    case .updated where isClosing, .contacts where isClosing: break
    case .contacts(let contacts): stream.publish(contacts)
    case .updated(let update): stream.publish(update, reducer)
    }
  }

  private func received(_ event: ControllerEvent) {
    if case .sessionOpened(let node, _) = event { onSession?(node) }
    if case .completed(_, .success(.accessChanged(let node, isFull: true))) = event { onFullAccessList?(node) }
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
  fileprivate var operation: OperationID? {
    switch self {
    case .completed(let id, _), .commissioningStep(let id, _, _), .subscriptionEstablished(let id, _),
      .report(let id, _), .subscriptionLost(let id, _, _), .nodeAdded(let id, _), .serviceFound(let id, _),
      .serviceLost(let id, _):
      id
    case .nodeRemoved, .sleeping, .checkedIn, .sessionOpened, .sessionClosed: nil
    }
  }
}

extension HomeDispatcher: CloudHost {
  package func perform<R: Sendable>(
    _ body: @escaping @Sendable (HomeDatabase) throws -> R
  ) -> EventLoopFuture<R> { writer.perform(body) }
}
