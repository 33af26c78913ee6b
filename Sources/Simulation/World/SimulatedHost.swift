public import MatterCrypto
public import MatterProtocol

/// What an engine starts from.
public struct Boot: Sendable {
  /// What the host's store holds.
  public let state: StoredState
  /// The host's own randomness, another sequence in each life.
  public let random: any RandomSource
  /// When it starts.
  public let now: Instant
  public let address: SocketAddress
  /// 1 for the first life.
  public let life: Int
}

/// A host of a ``World``: an engine with a store, an address and a power switch.
public final class SimulatedHost<E: Engine> {
  /// Its number in the world.
  public let id: HostID
  /// What traces and errors call it.
  public let name: String
  public private(set) var address: SocketAddress
  /// The engine, nil without power.
  public private(set) var engine: E?
  /// What the engine has stored; it outlives the engine.
  public private(set) var store: StoredState = [:]
  /// What the engine told, and when.
  public private(set) var events: [(at: Instant, event: E.Event)] = []
  /// How often it was started.
  public private(set) var life = 0
  /// Cuts the power before the effect that comes after this many more: a kill at any moment.
  public var effectsUntilPowerCut: Int?
  /// How many effects were carried out in all lives.
  public private(set) var effectCount = 0

  unowned let world: World
  private let seed: UInt64
  private let boot: (Boot) -> E
  private let describe: (E.Event) -> String

  init(
    id: HostID, name: String, address: SocketAddress, seed: UInt64, world: World,
    describe: ((E.Event) -> String)?, boot: @escaping (Boot) -> E
  ) {
    (self.id, self.name, self.address, self.seed, self.world) = (id, name, address, seed, world)
    self.boot = boot
    self.describe = describe ?? { StableDescription.of($0) }
  }

  /// Whether its engine runs.
  public var isPowered: Bool { engine != nil }

  // MARK: Commands

  /// Does something with the engine, and carries out what it wants done then.
  /// - Returns: nil without power.
  @discardableResult
  public func command<Result>(_ body: (inout E, Instant) -> Result) -> Result? {
    guard var engine else { return nil }
    // The stored one is let go, so that its tables are not copied.
    self.engine = nil
    let result = body(&engine, world.now)
    self.engine = engine
    drain()
    return result
  }

  /// PendingWork until the last of the host's events that pass the test, at most for `time`.
  /// - Throws: ``SimulationError/timedOut(at:waiting:)``, ``SimulationError/deadlock(at:waiting:)`` if nothing is left to
  ///   happen, or what ``World/step()`` throws.
  @discardableResult
  public func event<Value>(
    within time: Duration = .seconds(60), _ match: (E.Event) -> Value?
  ) throws(SimulationError) -> Value {
    var seen = 0
    var found: Value?
    let isFound = try world.run(for: time) {
      while found == nil && seen < events.count {
        found = match(events[seen].event)
        seen += 1
      }
      return found != nil
    }
    if isFound, let found { return found }
    guard world.nextWakeUp != nil else { throw .deadlock(at: world.now, waiting: ["an event of \(name)"]) }
    throw .timedOut(at: world.now, waiting: ["an event of \(name)"])
  }

  /// Forgets the events told so far.
  public func forgetEvents() { events.removeAll() }

  // MARK: Power

  /// Starts the engine from what is stored. Does nothing if it runs.
  public func powerOn() {
    guard engine == nil else { return }
    life += 1
    world.trace.add(.powerOn, id, at: world.now)
    world.network.attach(id, at: address)
    engine = boot(
      Boot(
        state: store,
        random: TracedRandomSource(
          SeededRandomSource(seed: seed &+ UInt64(life) &* 0x9E37_79B9), world.draws), now: world.now,
        address: address, life: life))
    drain()
  }

  /// Ends the engine's life on the spot. What it stored stays; nobody is told.
  public func cutPower() {
    guard engine != nil else { return }
    engine = nil
    world.touch(id)
    effectsUntilPowerCut = nil
    world.trace.add(.powerOff, id, at: world.now)
    world.network.detach(address)
    world.network.leaveAll(id)
    world.discovery.lostPower(id)
  }

  /// Cuts the power and starts again at once.
  public func restart() {
    cutPower()
    powerOn()
  }

  /// Gives the host another address, as a DHCP server may. The engine is not told.
  /// - Parameter announces: whether the host's responder finds out, and tells the new address with what was published.
  public func move(to address: SocketAddress, announces: Bool = false) {
    if announces { world.discovery.moved(id, to: [address.ip]) }
    if isPowered { world.network.detach(self.address) }
    self.address = address
    if isPowered { world.network.attach(id, at: address) }
  }

  // MARK: Effects

  /// Carries out the engine's effects in their order, until there are none.
  private func drain() {
    world.touch(id)
    var count = 0
    while let effect = engine?.nextEffect() {
      if let left = effectsUntilPowerCut {
        guard left > 0 else { return cutPower() }
        effectsUntilPowerCut = left - 1
      }
      effectCount += 1
      count += 1
      guard count <= world.maximumEffects else {
        world.fault = .endlessEffects(at: world.now, host: name)
        return
      }
      carryOut(effect)
    }
  }

  private func carryOut(_ effect: Effect<E.Event>) {
    switch effect {
    case .store(let changes):
      for change in changes {
        store[change.key] = change.value
        world.trace.add(.stored, id, at: world.now, bytes: change.value ?? [], change.key)
      }
    case .send(let bytes, let destination):
      let (number, loss) = world.network.send(bytes, from: id, at: address, to: destination, at: world.now)
      world.trace.add(
        loss == nil ? .sent : .lost, id, at: world.now, packet: number, bytes: bytes, destination, loss)
      if let loss { world.reportLoss(from: id, to: destination, loss) }
    case .join(let group):
      world.trace.add(.joined, id, at: world.now, "\(group)")
      world.network.join(group, id)
    case .leave(let group):
      world.trace.add(.left, id, at: world.now, "\(group)")
      world.network.leave(group, id)
    case .publish(let service):
      world.trace.add(.published, id, at: world.now, StableDescription.of(service))
      world.discovery.publish(service, by: id, addresses: [address.ip], &world.network, at: world.now)
    case .withdraw(let service):
      world.trace.add(.withdrawn, id, at: world.now, StableDescription.of(service.kind))
      world.discovery.withdraw(service, by: id, &world.network, at: world.now)
    case .browse(let query):
      world.trace.add(.browsing, id, at: world.now, StableDescription.of(query))
      world.discovery.browse(query, by: id)
    case .stopBrowsing(let query):
      world.trace.add(.stoppedBrowsing, id, at: world.now, StableDescription.of(query))
      world.discovery.stopBrowsing(query, by: id)
    case .emit(let event):
      world.trace.add(.event, id, at: world.now, describe(event))
      events.append((world.now, event))
    }
  }
}

/// What a world needs of its hosts, whatever their engines.
protocol WorldMember: AnyObject {
  var id: HostID { get }
  var name: String { get }
  var isPowered: Bool { get }
  func cutPower()
  var nextDeadline: Instant? { get }
  /// Whether it waits for a time that was further away than this when it began to.
  func hasTimer(longerThan time: Duration) -> Bool
  /// - Parameter destination: where a datagram was sent to.
  func take(_ input: Input, to destination: SocketAddress?)
  func advance()
}

extension SimulatedHost: WorldMember {
  var nextDeadline: Instant? { engine?.nextDeadline }

  func hasTimer(longerThan time: Duration) -> Bool { nextDeadline.map { $0 - world.now > time } ?? false }

  func take(_ input: Input, to destination: SocketAddress?) {
    engine?.handle(input, at: world.now)
    drain()
  }

  func advance() {
    world.trace.add(.timer, id, at: world.now)
    engine?.advance(to: world.now)
    drain()
  }
}
