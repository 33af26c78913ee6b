public import Logging
public import MatterCrypto
public import MatterProtocol
public import NIOCore
public import Runtime

/// A computer of a ``World``, for code that runs on a ``Machine``: its time is the world's, its network and its services are
/// the world's, its disk outlives it, and it can lose its power at any moment.
public final class SimulatedMachine: Machine, @unchecked Sendable {
  // Not checked, because it is touched on the world's own thread alone, which its event loop sees to.

  /// Its number in the world.
  public let id: HostID
  /// What traces and errors call it.
  public let name: String
  public let eventLoop: SimulatedEventLoop
  /// Where its nodes are reached; the first is told first.
  public private(set) var addresses: [IPAddress]
  /// Its addresses, those that are off included.
  private var allAddresses: [IPAddress]
  private var familiesOff: Set<IPFamily> = []
  /// Whether it runs at all.
  public private(set) var isPowered = true
  /// Another one whenever power comes back: what ran before has no effect any more, whatever it still tries.
  fileprivate private(set) var life = 1
  /// Ends the processes that run, without a word to anybody: their machine has lost its power.
  public var onPowerCut: [() -> Void] = []
  /// Cuts the power before the effect that comes after this many more: a kill at any moment.
  public var effectsUntilPowerCut: Int?
  /// How many effects were carried out since the beginning: datagrams sent, changes stored, services published, work done by a
  /// ``Runtime/Worker``, as a database's commits are.
  public private(set) var effectCount = 0
  /// Datagrams that its nodes sent.
  public internal(set) var packetCount = 0
  /// How its clocks go.
  public var clock: MachineClock {
    get { time.clock }
    set {
      time.clock = newValue
      world.touch(id)
    }
  }

  /// Lets its clocks go faster or slower from now on, in millionths.
  public func setDrift(_ drift: Int64) {
    time.clock.setDrift(drift, at: world.now)
    world.touch(id)
  }

  /// Sets its wall clock forward or back.
  public func moveWallClock(by time: Duration) { clock.epoch = MachineClock.shown(clock.epoch, time) }

  unowned let world: World
  private let time: MachineTime
  private var random: SeededRandomSource
  private var disk: [String: StoredState] = [:]
  private var transports: [WeakTransport] = []
  private lazy var services = SimulatedServices(self)
  private var nextPort: UInt16 = 49_152

  private struct WeakTransport {
    weak var value: SimulatedTransport?
  }

  init(id: HostID, name: String, addresses: [IPAddress], seed: UInt64, clock: MachineClock, world: World) {
    (self.id, self.name, self.world) = (id, name, world)
    (self.addresses, allAddresses) = (addresses, addresses)
    random = SeededRandomSource(seed: seed)
    let time = MachineTime(clock, world)
    self.time = time
    eventLoop = SimulatedEventLoop(
      escape: world.escape, clock: { time.now }, onWork: { [unowned world] in world.touch(id) },
      onTimer: { [unowned world] in world.trace.add(.timer, id, at: world.now) })
    world.network.set(Set(addresses.map(\.family)), of: id)
  }

  /// Lets the loop read the clock without keeping the machine.
  private final class MachineTime {
    var clock: MachineClock
    private unowned let world: World

    init(_ clock: MachineClock, _ world: World) { (self.clock, self.world) = (clock, world) }

    var now: Instant { clock.local(world.now) }
  }

  // MARK: Faults

  /// Ends all that runs. What it stored stays; nobody is told.
  public func cutPower() {
    guard isPowered else { return }
    isPowered = false
    effectsUntilPowerCut = nil
    world.trace.add(.powerOff, id, at: world.now)
    for transport in transports { transport.value?.detach() }
    transports = []
    world.network.leaveAll(id)
    world.discovery.lostPower(id)
    services.forget()
    let ends = onPowerCut
    onPowerCut = []
    for end in ends { end() }
  }

  /// There is power again. What ran before has to be started by whoever wants it to run.
  public func restorePower() {
    guard !isPowered else { return }
    isPowered = true
    life += 1
    world.trace.add(.powerOn, id, at: world.now)
  }

  /// Gives the machine other addresses, as a DHCP server may.
  /// - Parameter announces: whether DNS-SD finds out, and tells the new ones with what was published.
  public func move(to new: [IPAddress], announces: Bool = true) {
    allAddresses = new
    followAddresses(announces: announces)
  }

  /// Changes each of its addresses, those of a family that is off included.
  public func changeAddresses(_ change: (IPAddress) -> IPAddress) { move(to: allAddresses.map(change)) }

  /// Takes all addresses of a family away, or gives them back.
  public func setFamily(_ family: IPFamily, isOn: Bool) {
    if isOn { familiesOff.remove(family) } else { familiesOff.insert(family) }
    followAddresses(announces: true)
  }

  private func followAddresses(announces: Bool) {
    let old = addresses
    addresses = allAddresses.filter { !familiesOff.contains($0.family) }
    guard addresses != old else { return }
    world.network.set(Set(addresses.map(\.family)), of: id)
    for transport in transports { transport.value?.moved(from: old) }
    if announces { world.discovery.moved(id, to: addresses) }
  }

  /// Forgets everything that was stored.
  public func eraseDisk() { disk = [:] }

  /// What a directory holds.
  public func stored(in directory: String) -> StoredState { disk[directory] ?? [:] }

  // MARK: Effects

  /// A node's engine has had so many effects at one time.
  /// - Returns: whether it may have more; where not, the run ends, and the machine has no power.
  func goesOn(afterEffects count: Int) -> Bool {
    guard count > world.maximumEffects else { return isPowered }
    world.fault = .endlessEffects(at: world.now, host: name)
    cutPower()
    return false
  }

  /// Whether any of its nodes takes in what is sent to a group.
  func listens(to group: IPAddress) -> Bool { transports.contains { $0.value?.groups.contains(group) ?? false } }

  /// Notes an effect.
  /// - Returns: whether it takes place: not without power.
  func takesEffect() -> Bool {
    guard isPowered else { return false }
    if let left = effectsUntilPowerCut {
      guard left > 0 else {
        cutPower()
        return false
      }
      effectsUntilPowerCut = left - 1
    }
    effectCount += 1
    return true
  }

  fileprivate func commit(_ changes: [StoreChange], to directory: String, in life: Int) {
    guard life == self.life, takesEffect() else { return }
    for change in changes {
      disk[directory, default: [:]][change.key] = change.value
      world.trace.add(.stored, id, at: world.now, bytes: change.value ?? [], change.key)
    }
  }

  // MARK: Machine

  public func nextEventLoop() -> any EventLoop { eventLoop }
  public var taskExecutor: (any TaskExecutor)? { eventLoop }
  public func makeWorker() -> any Worker { SimulatedWorker(machine: self) }

  public func unixMicroseconds() -> Int64 { clock.unixMicroseconds(at: world.now) }

  public func makeRandom() -> any RandomSource { TracedRandomSource(random.fork(), world.draws) }
  public var signatures: any SignatureScheme { DeterministicSignatures() }

  public func openTransport(
    _ interfaces: InterfaceSelection, port: UInt16?, on eventLoop: any EventLoop
  ) throws -> any DatagramTransport {
    var chosen = port ?? nextPort
    if port == nil {
      // As a system does: the next one that is free.
      while transports.contains(where: { $0.value?.port == chosen }) { chosen = chosen == .max ? 49_152 : chosen + 1 }
      nextPort = chosen == .max ? 49_152 : chosen + 1
    }
    let transport = SimulatedTransport(self, port: chosen)
    transports.append(WeakTransport(value: transport))
    return transport
  }

  /// Its service discovery, which all of its processes share.
  public func openDiscovery() -> any NodeDiscovery { services }

  public func openDiscovery(
    _ mode: ServiceDiscovery.Mode, _ interfaces: InterfaceSelection, registry: String?, on eventLoop: any EventLoop,
    logger: Logger
  ) throws -> any NodeDiscovery { services }

  public func openStore(_ directory: String) throws(StoreError) -> any NodeStore {
    SimulatedStore(self, directory: directory)
  }

  public func storedState(of directory: String) throws(StoreError) -> StoredState { stored(in: directory) }

  public var sharesFiles: Bool { false }
}

extension SimulatedMachine: WorldMember {
  var nextDeadline: Instant? { eventLoop.nextDeadline.map(clock.world) }

  func hasTimer(longerThan time: Duration) -> Bool { eventLoop.hasTimer(longerThan: time) }

  func take(_ input: Input, to destination: MatterProtocol.SocketAddress?) {
    switch input {
    case .datagram(let bytes, let source):
      transports.removeAll { $0.value == nil }
      for transport in transports { transport.value?.take(bytes, from: source, to: destination) }
    case .serviceFound, .serviceLost, .serviceConflict: services.take(input)
    }
  }

  func advance() {
    if !eventLoop.run(limit: world.maximumEffects) { world.fault = .endlessEffects(at: world.now, host: name) }
    if eventLoop.escapes > 0 { world.fault = .escaped(at: world.now) }
  }
}

/// Runs at once what a thread would run a little later. Each piece of work is one effect, done as a whole or not at all.
private struct SimulatedWorker: Worker {
  let machine: SimulatedMachine
  private let life: Int

  init(machine: SimulatedMachine) { (self.machine, life) = (machine, machine.life) }

  func submit<R: Sendable>(
    on eventLoop: any EventLoop, _ body: @escaping @Sendable () throws -> R
  ) -> EventLoopFuture<R> {
    eventLoop.submit {
      // A database's commit is one of these: the power goes before it or after it, and what comes then is another effect.
      guard machine.life == life, machine.takesEffect() else { throw SimulationError.powerOff(machine.name) }
      return try body()
    }
  }

  func close(_ done: @escaping @Sendable () -> Void) { machine.eventLoop.execute(done) }
}

/// A directory of a machine's disk.
private final class SimulatedStore: NodeStore {
  private let machine: SimulatedMachine
  private let directory: String
  private let life: Int

  init(_ machine: SimulatedMachine, directory: String) {
    (self.machine, life) = (machine, machine.life)
    self.directory = directory
  }

  func load() throws(StoreError) -> StoredState { machine.stored(in: directory) }
  func commit(_ changes: [StoreChange]) throws(StoreError) { machine.commit(changes, to: directory, in: life) }
  func close() {}
}
