internal import HomeControl
public import HomeModel
internal import NIOCore
internal import Synchronization

/// One client of the homes of a user, with HomeKit's contract: its delegates receive the changes by other clients and
/// the reports of devices, but no changes made through this manager. See <doc:TheHomeModel>, “Delegates”.
///
/// There may be any number of managers, in one or several processes. Changes of other processes are received while the
/// home is kept up to date, with ``Home/follow()``. Delegates are held weakly.
public final class HomeManager: Sendable {
  private struct Inside {
    var snapshot: HomeSnapshot?
    var isSuspended = false
    /// Counts suspensions and returns; messages and synchronizations of an earlier turn are dropped.
    var turn = 0
    /// Whether `homeManagerDidUpdateHomes` is due as soon as there is a delegate.
    var owesUpdate = false
    weak var delegate: (any HomeManagerDelegate)?
    /// The delegates of individual homes, by id; nil: that of all homes.
    var homeDelegates: [String?: Weak<any HomeDelegate>] = [:]
    /// The delegates of individual devices, by id; nil: that of all devices.
    var accessoryDelegates: [String?: Weak<any AccessoryDelegate>] = [:]
    /// One for each object, so that an object with several roles is called once at a time.
    var queues: [ObjectIdentifier: DelegateQueue] = [:]

    /// Adds queues for new delegates, and removes released delegates and their queues.
    mutating func sortQueues() {
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
  private let inside = Mutex(Inside())

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
  public var isSynchronized: Bool { inside.withLock { $0.snapshot != nil } }

  /// The process that follows the devices.
  public var hubState: HubState { snapshot?.hubState ?? .notAvailable }

  /// The home as this client knows it; nil before the first synchronization.
  var snapshot: HomeSnapshot? { inside.withLock { $0.snapshot } }

  // MARK: Delegates

  /// The delegate for the list of homes; held weakly.
  public var delegate: (any HomeManagerDelegate)? {
    get { inside.withLock { $0.delegate } }
    set {
      inside.withLock { inside in
        inside.delegate = newValue
        inside.sortQueues()
        if inside.owesUpdate { updated(&inside) }
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

  func delegate(ofHome id: String?) -> (any HomeDelegate)? { inside.withLock { $0.homeDelegates[id]?.value } }

  func set(_ delegate: (any HomeDelegate)?, ofHome id: String?) {
    inside.withLock { inside in
      inside.homeDelegates[id] = delegate.map { Weak($0) }
      inside.sortQueues()
    }
  }

  func delegate(ofAccessory id: String?) -> (any AccessoryDelegate)? {
    inside.withLock { $0.accessoryDelegates[id]?.value }
  }

  func set(_ delegate: (any AccessoryDelegate)?, ofAccessory id: String?) {
    inside.withLock { inside in
      inside.accessoryDelegates[id] = delegate.map { Weak($0) }
      inside.sortQueues()
    }
  }

  // MARK: Coming and going

  /// Suspends all messages; changes in the meantime are not queued. A call in progress completes.
  public func suspend() {
    inside.withLock { inside in
      guard !inside.isSuspended else { return }
      inside.isSuspended = true
      inside.owesUpdate = false
      inside.turn += 1
    }
  }

  /// Ends a suspension: loads the homes again, and then sends `homeManagerDidUpdateHomes` once.
  public func resume() {
    let turn: Int? = inside.withLock { inside in
      guard inside.isSuspended else { return nil }
      inside.isSuspended = false
      inside.turn += 1
      return inside.turn
    }
    if let turn { synchronize(turn: turn) }
  }

  private func synchronize(turn: Int) {
    home.backend.eventLoop.execute { [weak self] in
      guard let self else { return }
      let view = home.backend.view
      let stream = view.stream
      let isCurrent = inside.withLock { inside in
        guard inside.turn == turn, !stream.isEnded else { return false }
        inside.snapshot = HomeSnapshot(view.reducer, hub: stream.hubState, for: client)
        updated(&inside)
        return true
      }
      guard isCurrent else { return }
      stream.addListener { [weak self] in self?.receive($0, turn: turn) ?? false }
    }
  }

  private func updated(_ inside: inout Inside) {
    inside.owesUpdate = inside.delegate == nil
    post([.manager { await $0.homeManagerDidUpdateHomes($1) }], &inside)
  }

  // MARK: Messages

  /// Makes the messages of an event.
  /// - Returns: whether the manager still listens in this turn.
  private func receive(_ event: HomeStream.Event, turn: Int) -> Bool {
    inside.withLock { inside in
      guard inside.turn == turn else { return false }
      switch event {
      case .update(let update, let reducer):
        let isOwn = update.origin == id
        let withValues = !isOwn && !inside.accessoryDelegates.isEmpty
        let messages =
          inside.snapshot?.update(update, reducer, withValues: withValues) { client.accounts(for: $0) } ?? []
        if !isOwn { post(messages, &inside) }
      case .reloaded(let reducer, _, _):
        // As after a suspension: the changes are unknown.
        inside.snapshot = HomeSnapshot(reducer, hub: inside.snapshot?.hubState ?? .notAvailable, for: client)
        updated(&inside)
      case .contacts(let contacts): inside.snapshot?.update(contacts)
      case .hub(let state): post(inside.snapshot?.update(state) ?? [], &inside)
      case .ended: return false
      }
      return true
    }
  }

  /// Posts the messages that were withheld because of a request that failed.
  func publishDelayed(_ changes: [OwnRequests.Change]) {
    inside.withLock { inside in
      guard !inside.isSuspended else { return }
      post(inside.snapshot?.delayedMessages(of: changes) ?? [], &inside)
    }
  }

  private func post(_ messages: [DelegateMessage], _ inside: inout Inside) {
    let turn = inside.turn
    for message in messages {
      switch message {
      case .manager(let call):
        guard let delegate = inside.delegate else { continue }
        inside.queues[ObjectIdentifier(delegate)]?.add { [weak self, weak delegate] in
          if let self, let delegate, isTurn(turn) { await call(delegate, self) }
        }
      case .home(let id, let call):
        for delegate in Self.delegates(inside.homeDelegates, id) {
          inside.queues[ObjectIdentifier(delegate)]?.add { [weak self, weak delegate] in
            if let self, let delegate, isTurn(turn) { await call(delegate) }
          }
        }
      case .accessory(let id, let call):
        for delegate in Self.delegates(inside.accessoryDelegates, id) {
          inside.queues[ObjectIdentifier(delegate)]?.add { [weak self, weak delegate] in
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

  private func isTurn(_ turn: Int) -> Bool { inside.withLock { $0.turn == turn } }
}
