public import Logging
public import MatterCrypto
public import MatterProtocol
public import NIOCore
public import Runtime

/// A computer of a ``World``, for code that runs on a `Machine`. Time, network and service discovery are the world's.
/// Its disk persists, and its power can be cut at any moment.
public final class SimulatedMachine: Machine, @unchecked Sendable {
  // Unchecked, since it is confined to the world's thread, which its event loop ensures.

  /// Its number in the world.
  public let id: HostID
  /// The name in traces and errors.
  public let name: String
  public let eventLoop: SimulatedEventLoop
  /// The addresses of its nodes, in the order of announcement.
  public private(set) var addresses: [IPAddress]
  /// All addresses, including those of disabled families.
  private var allAddresses: [IPAddress]
  private var familiesOff: Set<IPFamily> = []
  /// Whether the machine has power.
  public private(set) var isPowered = true
  /// Incremented whenever power is restored: code from before has no effects.
  fileprivate private(set) var startCount = 1
  /// Called when the power is cut, to end the running processes without notifications.
  public var onPowerCut: [() -> Void] = []
  /// The number of effects before the power is cut, to inject a kill at any point; nil for never.
  public var effectsUntilPowerCut: Int?
  /// The number of effects performed so far: datagrams sent, changes stored, services published, and work done by a
  /// `Worker`, such as the commits of a database.
  package private(set) var effectCount = 0
  /// The number of datagrams that its nodes sent.
  public internal(set) var packetCount = 0
  /// The clocks of the machine.
  public var clock: MachineClock {
    get { time.clock }
    set {
      time.clock = newValue
      world.touch(id)
    }
  }

  /// Sets the drift of the clocks in millionths from now on.
  public func setDrift(_ drift: Int64) {
    time.clock.setDrift(drift, at: world.now)
    world.touch(id)
  }

  /// Moves the wall clock forward or back.
  public func moveWallClock(by time: Duration) { clock.epoch = MachineClock.shown(clock.epoch, time) }

  unowned let world: World
  private let time: MachineTime
  private var random: SeededRandomSource
  private var disk: [String: StoredState] = [:]
  /// The open sockets of its nodes.
  private var transports: [SimulatedTransport] = []
  private lazy var services = SimulatedServices(self)
  private var nextPort: UInt16 = 49_152

  init(id: HostID, name: String, addresses: [IPAddress], seed: UInt64, clock: MachineClock, world: World) {
    (self.id, self.name, self.world) = (id, name, world)
    (self.addresses, allAddresses) = (addresses, addresses)
    random = SeededRandomSource(seed: seed)
    time = MachineTime(clock, world.clock)
    eventLoop = SimulatedEventLoop(
      escape: world.escape, time: time, onWork: { [unowned world] in world.touch(id) },
      onTimer: { [unowned world] in world.trace.add(.timer, id, at: world.now) })
    world.network.set(Set(addresses.map(\.family)), of: id)
  }

  // MARK: Faults

  /// Ends everything that runs, without notifications. Stored data is kept.
  public func cutPower() {
    guard isPowered else { return }
    isPowered = false
    effectsUntilPowerCut = nil
    world.trace.add(.powerOff, id, at: world.now)
    for transport in transports { transport.detach() }
    transports = []
    world.network.leaveAll(id)
    world.discovery.lostPower(id)
    services.forget()
    let ends = onPowerCut
    onPowerCut = []
    for end in ends { end() }
  }

  /// Restores power. The caller restarts the nodes of the machine.
  public func restorePower() {
    guard !isPowered else { return }
    isPowered = true
    startCount += 1
    world.trace.add(.powerOn, id, at: world.now)
  }

  /// Changes the machine's addresses, as a DHCP server may.
  /// - Parameter announces: whether DNS-SD announces the published services with the new addresses.
  public func move(to new: [IPAddress], announces: Bool = true) {
    allAddresses = new
    followAddresses(announces: announces)
  }

  /// Changes each address, including those of disabled families.
  public func changeAddresses(_ change: (IPAddress) -> IPAddress) { move(to: allAddresses.map(change)) }

  /// Disables or enables all addresses of a family.
  public func setFamily(_ family: IPFamily, isOn: Bool) {
    if isOn { familiesOff.remove(family) } else { familiesOff.insert(family) }
    followAddresses(announces: true)
  }

  private func followAddresses(announces: Bool) {
    let old = addresses
    addresses = allAddresses.filter { !familiesOff.contains($0.family) }
    guard addresses != old else { return }
    world.network.set(Set(addresses.map(\.family)), of: id)
    for transport in transports { transport.moved(from: old) }
    if announces { world.discovery.moved(id, to: addresses) }
  }

  /// Erases everything that was stored.
  public func eraseDisk() { disk = [:] }

  /// Returns the contents of a directory.
  public func stored(in directory: String) -> StoredState { disk[directory] ?? [:] }

  // MARK: Effects

  /// Returns whether an engine may perform more effects without time passing. If not, the run ends and the machine
  /// loses power.
  func mayContinue(afterEffects count: Int) -> Bool {
    guard count > world.maximumEffects else { return isPowered }
    world.fault = .endlessEffects(at: world.now, host: name)
    cutPower()
    return false
  }

  /// Whether any node of the machine is a member of a group.
  func listens(to group: IPAddress) -> Bool { transports.contains { $0.groups.contains(group) } }

  /// Counts an effect.
  /// - Returns: whether the effect takes place; false without power.
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

  fileprivate func commit(_ changes: [StoreChange], to directory: String, in startCount: Int) {
    guard startCount == self.startCount, takesEffect() else { return }
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
      // Assigns the next free port, as an operating system does.
      while transports.contains(where: { $0.port == chosen }) { chosen = chosen == .max ? 49_152 : chosen + 1 }
      nextPort = chosen == .max ? 49_152 : chosen + 1
    }
    let transport = SimulatedTransport(self, port: chosen)
    transports.append(transport)
    return transport
  }

  /// Removes a closed transport.
  func remove(_ transport: SimulatedTransport) { transports.removeAll { $0 === transport } }

  /// Returns the service discovery that all processes of the machine share.
  public func openDiscovery() -> any NodeDiscovery { services }

  public func openDiscovery(
    _ mode: ServiceDiscovery.Mode, _ interfaces: InterfaceSelection, registry: String?, on eventLoop: any EventLoop,
    logger: Logger
  ) throws -> any NodeDiscovery { services }

  public func openStore(_ directory: String) throws(StoreError) -> any NodeStore {
    SimulatedStore(self, directory: directory)
  }

  public var sharesFiles: Bool { false }
}

extension SimulatedMachine: WorldMember {
  var nextDeadline: Instant? { eventLoop.nextDeadline.map(clock.world) }

  func hasTimer(longerThan time: Duration) -> Bool { eventLoop.hasTimer(longerThan: time) }

  func handle(_ input: Input, to destination: MatterProtocol.SocketAddress?) {
    switch input {
    case .datagram(let bytes, let source):
      for transport in transports { transport.receive(bytes, from: source, to: destination) }
    case .serviceFound, .serviceLost, .serviceConflict: services.handle(input)
    }
  }

  func advance() {
    if !eventLoop.run(limit: world.maximumEffects) { world.fault = .endlessEffects(at: world.now, host: name) }
    if eventLoop.escapes > 0 { world.fault = .escaped(at: world.now) }
  }
}

/// Runs work on the event loop. Each piece of work is one effect, which happens completely or not at all.
private struct SimulatedWorker: Worker {
  let machine: SimulatedMachine
  private let startCount: Int

  init(machine: SimulatedMachine) { (self.machine, startCount) = (machine, machine.startCount) }

  func submit<R: Sendable>(
    on eventLoop: any EventLoop, _ body: @escaping @Sendable () throws -> R
  ) -> EventLoopFuture<R> {
    eventLoop.submit {
      // A database commit is one piece of work: the power is cut before or after it.
      guard machine.startCount == startCount, machine.takesEffect() else {
        throw SimulationError.powerOff(machine.name)
      }
      return try body()
    }
  }

  func run<R, F: Error>(_ body: () throws(F) -> R) throws(F) -> R? {
    guard machine.startCount == startCount, machine.takesEffect() else { return nil }
    machine.world.trace.add(.stored, machine.id, at: machine.world.now)
    return try body()
  }

  func close(_ done: @escaping @Sendable () -> Void) { machine.eventLoop.execute(done) }
}

/// A directory on a machine's disk.
private final class SimulatedStore: NodeStore {
  private let machine: SimulatedMachine
  private let directory: String
  private let startCount: Int

  init(_ machine: SimulatedMachine, directory: String) {
    (self.machine, startCount) = (machine, machine.startCount)
    self.directory = directory
  }

  func load() throws(StoreError) -> StoredState { machine.stored(in: directory) }
  func commit(_ changes: [StoreChange]) throws(StoreError) { machine.commit(changes, to: directory, in: startCount) }
  func close() {}
}
