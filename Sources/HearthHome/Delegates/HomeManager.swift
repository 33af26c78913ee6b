internal import NIOCore
internal import Synchronization

/// One client of the homes of a user, with HomeKit's contract: its delegates receive the changes by other clients and
/// the reports of devices, but no changes made through this manager. See <doc:TheHomeModel>, “Delegates”.
///
/// There may be any number of managers, in one or several processes. Changes of other processes are received while the
/// home is kept up to date, with ``Home/follow()``. Delegates are held weakly.
public final class HomeManager: Sendable {
  private struct State {
    var snapshot: HomeSnapshot?
    var isSuspended = false
    /// The number of suspensions and resumptions; messages and synchronizations of an earlier turn are dropped.
    var turn = 0
    /// Whether `homeManagerDidUpdateHomes` is due as soon as there is a delegate.
    var isUpdateDue = false
    weak var delegate: (any HomeManagerDelegate)?
    /// The delegates of individual homes, by id; nil: that of all homes.
    var homeDelegates: [String?: Weak<any HomeDelegate>] = [:]
    /// The delegates of individual devices, by id; nil: that of all devices.
    var accessoryDelegates: [String?: Weak<any AccessoryDelegate>] = [:]
    /// A queue for each delegate object, so that an object with several roles is called once at a time.
    var queues: [ObjectIdentifier: DelegateQueue] = [:]

    /// Adds queues for new delegates, and removes released delegates and their queues.
    mutating func updateQueues() {
      homeDelegates = homeDelegates.filter { $0.value.value != nil }
      accessoryDelegates = accessoryDelegates.filter { $0.value.value != nil }
      var ids = Set(homeDelegates.values.compactMap { $0.value.map { ObjectIdentifier($0) } })
      ids.formUnion(accessoryDelegates.values.compactMap { $0.value.map { ObjectIdentifier($0) } })
      if let delegate { ids.insert(ObjectIdentifier(delegate)) }
      queues = queues.filter { ids.contains($0.key) }
      for id in ids where queues[id] == nil { queues[id] = DelegateQueue() }
    }
  }

  /// The id of this client, unique among all clients.
  public let id: String
  package let home: Home
  package let client: HomeClient
  private let state = Mutex(State())

  /// - Parameter home: is retained by the manager, but not closed with it.
  public init(_ home: Home, delegate: (any HomeManagerDelegate)? = nil) {
    id = Identifiers.new()
    self.home = home
    client = HomeClient(id, of: home.backend)
    self.delegate = delegate
    client.manager = self
    synchronize(turn: 0)
  }

  // MARK: Homes

  /// The current homes; empty before the first synchronization, and unchanged while suspended.
  public var homes: [Structure] { snapshot?.structures ?? [] }

  /// The home that is used where none is named: the one selected with ``updatePrimaryHome(_:)``, else the first. Nil
  /// before the first synchronization, and if there is none.
  public var primaryHome: Structure? { snapshot?.primaryHome }

  /// Whether the homes have ever been loaded.
  public var isSynchronized: Bool { state.withLock { $0.snapshot != nil } }

  /// The process that follows the devices.
  public var hubState: HubState { snapshot?.hubState ?? .notAvailable }

  /// The home as this client knows it; nil before the first synchronization.
  var snapshot: HomeSnapshot? { state.withLock { $0.snapshot } }

  // MARK: Delegates

  /// The delegate for the list of homes; held weakly.
  public var delegate: (any HomeManagerDelegate)? {
    get { state.withLock { $0.delegate } }
    set {
      state.withLock { state in
        state.delegate = newValue
        state.updateQueues()
        if state.isUpdateDue { postUpdate(&state) }
      }
    }
  }

  /// The delegate for all homes, also for later ones; held weakly. A home can also have its own, ``Structure/delegate``.
  public var homeDelegate: (any HomeDelegate)? {
    get { delegate(ofHome: nil) }
    set { set(newValue, ofHome: nil) }
  }

  /// The delegate for all devices, also for later ones; held weakly. A device can also have its own,
  /// ``HomeDevice/delegate``.
  public var accessoryDelegate: (any AccessoryDelegate)? {
    get { delegate(ofAccessory: nil) }
    set { set(newValue, ofAccessory: nil) }
  }

  func delegate(ofHome id: String?) -> (any HomeDelegate)? { state.withLock { $0.homeDelegates[id]?.value } }

  func set(_ delegate: (any HomeDelegate)?, ofHome id: String?) {
    state.withLock { state in
      state.homeDelegates[id] = delegate.map { Weak($0) }
      state.updateQueues()
    }
  }

  func delegate(ofAccessory id: String?) -> (any AccessoryDelegate)? {
    state.withLock { $0.accessoryDelegates[id]?.value }
  }

  func set(_ delegate: (any AccessoryDelegate)?, ofAccessory id: String?) {
    state.withLock { state in
      state.accessoryDelegates[id] = delegate.map { Weak($0) }
      state.updateQueues()
    }
  }

  // MARK: Suspension

  /// Suspends all messages; changes in the meantime are not queued. A call in progress completes.
  public func suspend() {
    state.withLock { state in
      guard !state.isSuspended else { return }
      state.isSuspended = true
      state.isUpdateDue = false
      state.turn += 1
    }
  }

  /// Ends a suspension: loads the homes again, and then sends `homeManagerDidUpdateHomes` once.
  public func resume() {
    let turn: Int? = state.withLock { state in
      guard state.isSuspended else { return nil }
      state.isSuspended = false
      state.turn += 1
      return state.turn
    }
    if let turn { synchronize(turn: turn) }
  }

  private func synchronize(turn: Int) {
    home.backend.eventLoop.execute { [weak self] in
      guard let self else { return }
      let view = home.backend.view
      let stream = view.stream
      let isCurrent = state.withLock { state in
        guard state.turn == turn, !stream.isEnded else { return false }
        state.snapshot = HomeSnapshot(view.reducer, hub: stream.hubState, for: client)
        postUpdate(&state)
        return true
      }
      guard isCurrent else { return }
      stream.addListener { [weak self] in self?.receive($0, turn: turn) ?? false }
    }
  }

  private func postUpdate(_ state: inout State) {
    state.isUpdateDue = state.delegate == nil
    post([.manager { await $0.homeManagerDidUpdateHomes($1) }], &state)
  }

  // MARK: Messages

  /// Posts the messages of an event.
  /// - Returns: whether the manager stays registered in this turn.
  private func receive(_ event: HomeStream.Event, turn: Int) -> Bool {
    state.withLock { state in
      guard state.turn == turn else { return false }
      switch event {
      case .update(let update, let reducer):
        let isOwn = update.origin == id
        let withValues = !isOwn && !state.accessoryDelegates.isEmpty
        let messages =
          state.snapshot?.update(update, reducer, withValues: withValues) { client.accounts(for: $0) } ?? []
        if !isOwn { post(messages, &state) }
      case .reloaded(let reducer, _, _):
        // As after a suspension: the changes are unknown.
        state.snapshot = HomeSnapshot(reducer, hub: state.snapshot?.hubState ?? .notAvailable, for: client)
        postUpdate(&state)
      case .contacts(let contacts): state.snapshot?.update(contacts)
      case .hub(let hub): post(state.snapshot?.update(hub) ?? [], &state)
      case .ended: return false
      }
      return true
    }
  }

  /// Posts the messages that were withheld because of a request that failed.
  func publishDelayed(_ changes: [OwnRequests.Change]) {
    state.withLock { state in
      guard !state.isSuspended else { return }
      post(state.snapshot?.delayedMessages(of: changes) ?? [], &state)
    }
  }

  private func post(_ messages: [DelegateMessage], _ state: inout State) {
    let turn = state.turn
    for message in messages {
      switch message {
      case .manager(let call):
        guard let delegate = state.delegate else { continue }
        state.queues[ObjectIdentifier(delegate)]?.add { [weak self, weak delegate] in
          if let self, let delegate, isTurn(turn) { await call(delegate, self) }
        }
      case .home(let id, let call):
        for delegate in Self.delegates(state.homeDelegates, id) {
          state.queues[ObjectIdentifier(delegate)]?.add { [weak self, weak delegate] in
            if let self, let delegate, isTurn(turn) { await call(delegate) }
          }
        }
      case .accessory(let id, let call):
        for delegate in Self.delegates(state.accessoryDelegates, id) {
          state.queues[ObjectIdentifier(delegate)]?.add { [weak self, weak delegate] in
            if let self, let delegate, isTurn(turn) { await call(delegate) }
          }
        }
      }
    }
  }

  /// Returns the delegate of one object and that of all objects; one of them if they are the same.
  private static func delegates<Delegate>(_ all: [String?: Weak<Delegate>], _ id: String) -> [Delegate] {
    let (own, general) = (all[id]?.value, all[nil]?.value)
    guard let own, let general, own as AnyObject === general as AnyObject else {
      return [own, general].compactMap { $0 }
    }
    return [own]
  }

  private func isTurn(_ turn: Int) -> Bool { state.withLock { $0.turn == turn } }
}
