public import MatterCrypto
public import MatterProtocol

/// The initial values of an engine.
public struct Boot: Sendable {
  /// The contents of the host's store.
  public let state: StoredState
  /// The random source, a different sequence after each start.
  public let random: any RandomSource
  /// The time of the start.
  public let now: Instant
  public let address: SocketAddress
  /// The number of starts of the host, including this one.
  public let startCount: Int
}

/// A host of a ``World``: an engine with a store, an address and a power switch.
public final class SimulatedHost<E: Engine> {
  /// Its number in the world.
  public let id: HostID
  /// The name in traces and errors.
  public let name: String
  public private(set) var address: SocketAddress
  /// The engine; nil without power.
  public private(set) var engine: E?
  /// The state stored by the engine, kept across restarts.
  public private(set) var store: StoredState = [:]
  /// The emitted events with their times.
  public private(set) var events: [(at: Instant, event: E.Event)] = []
  /// The number of starts.
  public private(set) var startCount = 0
  /// The number of effects before the power is cut, to inject a kill at any point; nil for never.
  public var effectsUntilPowerCut: Int?
  /// The number of effects performed since the first start.
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

  /// Whether the engine runs.
  public var isPowered: Bool { engine != nil }

  // MARK: Commands

  /// Calls `body` with the engine and performs the effects.
  /// - Returns: the result of `body`, or nil without power.
  @discardableResult
  public func command<Result>(_ body: (inout E, Instant) -> Result) -> Result? {
    guard var engine else { return nil }
    // Clear the property, so that the engine's storage is not copied.
    self.engine = nil
    let result = body(&engine, world.now)
    self.engine = engine
    drain()
    return result
  }

  /// Waits until an event of the host matches, including past ones.
  /// - Throws: ``SimulationError/timedOut(at:waiting:)``, ``SimulationError/deadlock(at:waiting:)`` if no event is
  ///   left, or an error of ``World/step()``.
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

  /// Removes the recorded events.
  public func forgetEvents() { events.removeAll() }

  // MARK: Power

  /// Starts the engine from the stored state. Does nothing if it runs.
  public func powerOn() {
    guard engine == nil else { return }
    startCount += 1
    world.trace.add(.powerOn, id, at: world.now)
    world.network.attach(id, at: address)
    engine = boot(
      Boot(
        state: store,
        random: TracedRandomSource(
          SeededRandomSource(seed: seed &+ UInt64(startCount) &* 0x9E37_79B9), world.draws), now: world.now,
        address: address, startCount: startCount))
    drain()
  }

  /// Ends the engine immediately, without notifications. Stored data is kept.
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

  /// Cuts the power and starts the engine again.
  public func restart() {
    cutPower()
    powerOn()
  }

  /// Changes the host's address, as a DHCP server may, without notifying the engine.
  /// - Parameter announces: whether the responder announces the published services with the new address.
  public func move(to address: SocketAddress, announces: Bool = false) {
    if announces { world.discovery.moved(id, to: [address.ip]) }
    if isPowered { world.network.detach(self.address) }
    self.address = address
    if isPowered { world.network.attach(id, at: address) }
  }

  // MARK: Effects

  /// Performs the engine's effects in order until none are left.
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
      perform(effect)
    }
  }

  private func perform(_ effect: Effect<E.Event>) {
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

/// The interface of a world to its hosts, independent of their engines.
protocol WorldMember: AnyObject {
  var id: HostID { get }
  var name: String { get }
  var isPowered: Bool { get }
  func cutPower()
  var nextDeadline: Instant? { get }
  /// Returns whether the member waits for a timer whose initial delay was longer than this.
  func hasTimer(longerThan time: Duration) -> Bool
  /// - Parameter destination: the destination of a datagram.
  func handle(_ input: Input, to destination: SocketAddress?)
  func advance()
}

extension SimulatedHost: WorldMember {
  var nextDeadline: Instant? { engine?.nextDeadline }

  func hasTimer(longerThan time: Duration) -> Bool { nextDeadline.map { $0 - world.now > time } ?? false }

  func handle(_ input: Input, to destination: SocketAddress?) {
    engine?.handle(input, at: world.now)
    drain()
  }

  func advance() {
    world.trace.add(.timer, id, at: world.now)
    engine?.advance(to: world.now)
    drain()
  }
}
