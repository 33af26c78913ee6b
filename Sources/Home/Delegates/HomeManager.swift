internal import HomeControl
internal import HomeModel
internal import NIOCore
internal import Synchronization

/// One client of the homes of a user, with HomeKit's contract: its delegates receive the changes by other clients and
/// the reports of devices, but no changes made through this manager. See <doc:TheHomeModel>, “Delegates”.
///
/// There may be any number of managers, in one or several processes. Changes of other processes are received while the
/// home is kept up to date, with ``Home/follow()``. Delegates are held weakly.
public final class HomeManager: Sendable {
  private struct Inside {
    var mirror: HomeMirror?
    var isSuspended = false
    /// Counts suspensions and returns: what was begun before the last is void.
    var turn = 0
    /// Whether nobody was there to be told that everything may be different.
    var owesUpdate = false
    weak var delegate: (any HomeManagerDelegate)?
    weak var homeDelegate: (any HomeDelegate)?
    weak var accessoryDelegate: (any AccessoryDelegate)?
    /// One for each object: who is several delegates is called once at a time all the same.
    var queues: [ObjectIdentifier: DelegateQueue] = [:]

    mutating func sortQueues() {
      let objects = [delegate as AnyObject?, homeDelegate as AnyObject?, accessoryDelegate as AnyObject?]
      let ids = Set(objects.compactMap { $0.map { ObjectIdentifier($0) } })
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
    client.onFailure { [weak self] in self?.tell($0) }
    synchronize(turn: 0)
  }

  // MARK: Homes

  /// The current homes; empty before the first synchronization, and unchanged while suspended.
  public var homes: [ManagedHome] { inside.withLock { $0.mirror }?.homes ?? [] }

  /// The home that is used where none is named: the one selected with ``updatePrimaryHome(_:)``, else the first. Nil
  /// before the first synchronization, and if there is none.
  public var primaryHome: ManagedHome? { inside.withLock { $0.mirror }?.primaryHome }

  /// Whether the homes have ever been loaded.
  public var isSynchronized: Bool { inside.withLock { $0.mirror != nil } }

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

  /// The delegate for all homes; held weakly.
  public var homeDelegate: (any HomeDelegate)? {
    get { inside.withLock { $0.homeDelegate } }
    set {
      inside.withLock { inside in
        inside.homeDelegate = newValue
        inside.sortQueues()
      }
    }
  }

  /// The delegate for all devices; held weakly.
  public var accessoryDelegate: (any AccessoryDelegate)? {
    get { inside.withLock { $0.accessoryDelegate } }
    set {
      inside.withLock { inside in
        inside.accessoryDelegate = newValue
        inside.sortQueues()
      }
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
      let observers = view.observers
      let isCurrent = inside.withLock { inside in
        guard inside.turn == turn, !observers.isEnded else { return false }
        inside.mirror = HomeMirror(view.reducer, hub: observers.hubState, for: client)
        updated(&inside)
        return true
      }
      guard isCurrent else { return }
      observers.addEar { [weak self] in self?.hear($0, turn: turn) ?? false }
    }
  }

  private func updated(_ inside: inout Inside) {
    inside.owesUpdate = inside.delegate == nil
    post([.manager { await $0.homeManagerDidUpdateHomes($1) }], &inside)
  }

  // MARK: Telling

  /// - Returns: whether there is more to be heard.
  private func hear(_ news: HomeObservers.News, turn: Int) -> Bool {
    inside.withLock { inside in
      guard inside.turn == turn else { return false }
      switch news {
      case .update(let update, let reducer):
        let isOwn = update.origin == id
        let withValues = !isOwn && inside.accessoryDelegate != nil
        let messages =
          inside.mirror?.take(update, reducer, withValues: withValues) { client.accounts(for: $0) } ?? []
        if !isOwn { post(messages, &inside) }
      case .reloaded(let reducer, _, _):
        // As after a suspension: what happened meanwhile nobody knows.
        inside.mirror = HomeMirror(reducer, hub: inside.mirror?.hubState ?? .notAvailable, for: client)
        updated(&inside)
      case .contacts(let contacts): inside.mirror?.take(contacts)
      case .hub(let state): post(inside.mirror?.take(state) ?? [], &inside)
      case .ended: return false
      }
      return true
    }
  }

  /// Tells what was kept from the client, since it seemed to be the answer to what it asked for.
  private func tell(_ changes: [OwnRequests.Change]) {
    inside.withLock { inside in
      guard !inside.isSuspended else { return }
      post(inside.mirror?.messages(of: changes) ?? [], &inside)
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
      case .home(let call):
        guard let delegate = inside.homeDelegate else { continue }
        inside.queues[ObjectIdentifier(delegate)]?.add { [weak self, weak delegate] in
          if let self, let delegate, isTurn(turn) { await call(delegate) }
        }
      case .accessory(let call):
        guard let delegate = inside.accessoryDelegate else { continue }
        inside.queues[ObjectIdentifier(delegate)]?.add { [weak self, weak delegate] in
          if let self, let delegate, isTurn(turn) { await call(delegate) }
        }
      }
    }
  }

  private func isTurn(_ turn: Int) -> Bool { inside.withLock { $0.turn == turn } }
}
