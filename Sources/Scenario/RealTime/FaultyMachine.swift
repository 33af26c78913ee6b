internal import Logging
internal import MatterCrypto
internal import MatterProtocol
internal import NIOCore
internal import Runtime
internal import Simulation
internal import Synchronization

/// The host as a machine for one node, with fault injection between the node and the network, a power supply that can
/// fail and a wall clock of its own.
///
/// Thread-safe except where a method belongs to the loop.
final class FaultyMachine: Machine {
  private struct State {
    var sent = 0
    var clockOffset: Duration = .zero
    var address4 = IPAddress.loopback4
    var ports = MachinePorts()
    var isPowered = true
    var effectsUntilPowerCut: Int?
    var onPowerCut: (@Sendable () -> Void)?
  }

  /// The name in reports.
  let name: String
  private let host = HostMachine()
  private let state = Mutex(State())
  /// The loop of its nodes, whose clock drifts with the machine's.
  private let loop: DriftingEventLoop
  let networks: RealNetworks
  private let discoveries = Mutex<[FaultyDiscovery]>([])
  private let transports = Mutex<[NIOLoopBound<FaultyTransport>]>([])

  init(_ name: String = "machine", on loop: any EventLoop, in networks: RealNetworks) {
    (self.name, self.loop, self.networks) = (name, DriftingEventLoop(loop), networks)
  }

  /// The number of datagrams sent by the machine's nodes.
  var packetCount: Int { state.withLock { $0.sent } }

  // MARK: Faults

  func inject(_ fault: NetworkFault) {
    let faults = networks.inject(self, fault)
    for discovery in discoveries.withLock(\.self) { discovery.apply(faults) }
  }

  /// Updates all searches after this machine or another one has changed networks.
  func updateSearches() { for discovery in discoveries.withLock(\.self) { discovery.updateSearches() } }

  /// Sets the drift of the clocks, in parts per million.
  func setDrift(_ drift: Int64) { loop.setDrift(drift) }

  func moveWallClock(by time: Duration) {
    let host = drifted()
    state.withLock { state in
      let shown = MachineClock.shown(host + state.clockOffset.nanoseconds / 1000, time)
      state.clockOffset = .microseconds(shown - host)
    }
  }

  /// The IPv4 address, one of the loopback interface's; 127.0.0.1 until the machine moves.
  var address4: IPAddress { state.withLock(\.address4) }

  /// Returns the current port of a node that started on `port`.
  func port(ofNodeFrom port: UInt16) -> UInt16 { state.withLock { $0.ports.port(for: port) } ?? port }

  /// Moves the nodes to another IPv4 address and, as the loopback interface has only one IPv6 address, to other
  /// ports, and announces them by DNS-SD. Belongs to the loop.
  func move() throws {
    let new = networks.newAddress()
    state.withLock { state in
      state.address4 = new
      state.ports.leave()
    }
    for transport in transports.withLock(\.self) {
      let old = transport.value.port
      guard try transport.value.move() else { continue }
      networks.registerSender(at: transport.value.addresses, self)
      state.withLock { $0.ports.move(from: old, to: transport.value.port) }
      for discovery in discoveries.withLock(\.self) { discovery.move(from: old, to: transport.value.port) }
    }
  }

  /// Returns the interfaces with the machine's own IPv4 address in place of 127.0.0.1.
  func withOwnAddress(_ interfaces: [NetworkInterface]) -> [NetworkInterface] {
    let address4 = address4
    return interfaces.map { interface in
      var interface = interface
      for index in interface.addresses.indices where interface.addresses[index].ip == .loopback4 {
        interface.addresses[index].ip = address4
      }
      return interface
    }
  }

  // MARK: Datagrams

  /// Counts a datagram that a node sends, and applies the faults of the sender.
  /// - Returns: whether the datagram leaves the machine.
  func countDatagram(to destination: MatterProtocol.SocketAddress) -> Bool {
    guard takesEffect() else { return false }
    // Sending requires a source address of the family.
    if networks.hasAddress(self, of: destination.ip.family) { state.withLock { $0.sent += 1 } }
    let leaves = networks.leaves(self, to: destination.ip)
    if !leaves { networks.reportLoss(from: self, to: destination) }
    return leaves
  }

  /// Delivers a datagram to the node on a port after the delay of the link, unless it is lost: the machine needs
  /// power, the port and a route at the time of arrival. Belongs to the loop.
  func receive(_ bytes: [UInt8], from source: MatterProtocol.SocketAddress, to port: UInt16) {
    // The message header identifies multicast: the sockets do not report the destination address.
    let (delays, loss) = networks.arrivals(
      of: bytes.count, from: source, to: self, isMulticast: Self.isForGroup(bytes), at: HostClock.now())
    if let loss { networks.reportLoss(from: source, to: self, loss) }
    for delay in delays {
      guard delay > .zero else {
        deliver(bytes, from: source, to: port)
        continue
      }
      loop.base.scheduleTask(in: .nanoseconds(delay.nanoseconds)) { self.deliver(bytes, from: source, to: port) }
    }
  }

  private func deliver(_ bytes: [UInt8], from source: MatterProtocol.SocketAddress, to port: UInt16) {
    guard isPowered, networks.reaches(self, from: source) else {
      return networks.reportLoss(from: source, to: self, isPowered ? .partition : .powerOff)
    }
    let open = transports.withLock(\.self).map(\.value).first { !$0.isClosed && $0.port == port }
    open?.onDatagram?(bytes, source)
  }

  private static func isForGroup(_ bytes: [UInt8]) -> Bool {
    (try? MessageHeader.decode(bytes))?.header.sessionKind == .group
  }

  // MARK: Power

  /// Cuts the power at the effect that follows `count` more effects. An effect is a datagram sent, a change stored, a
  /// service published, withdrawn or searched for, a group joined or left, or a task of a ``Runtime/Worker``.
  func cutPower(afterEffects count: Int) { state.withLock { $0.effectsUntilPowerCut = count } }

  /// Restores the power. From now on effects count toward a cut that was scheduled while the power was off.
  func restorePower() { state.withLock { if !$0.isPowered { ($0.isPowered, $0.onPowerCut) = (true, nil) } } }

  var isPowered: Bool { state.withLock(\.isPowered) }

  /// Sets the handler of a power cut.
  /// - Parameter end: ends the machine's nodes without notifying their peers.
  func onPowerCut(_ end: @escaping @Sendable () -> Void) { state.withLock { $0.onPowerCut = end } }

  /// Cuts the power: nothing has an effect until it is restored. A cut that was scheduled while it was off stays
  /// scheduled.
  func losePower() {
    state.withLock { if $0.isPowered { ($0.isPowered, $0.effectsUntilPowerCut) = (false, nil) } }
    discoveries.withLock { $0.removeAll { !$0.isOpen } }
  }

  /// Counts an effect.
  /// - Returns: whether it is carried out.
  func takesEffect() -> Bool {
    let (takesPlace, end) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
      guard state.isPowered else { return (false, nil) }
      guard let left = state.effectsUntilPowerCut else { return (true, nil) }
      guard left > 0 else {
        (state.isPowered, state.effectsUntilPowerCut) = (false, nil)
        return (false, state.onPowerCut)
      }
      state.effectsUntilPowerCut = left - 1
      return (true, nil)
    }
    end?()
    return takesPlace
  }

  // MARK: Machine

  func nextEventLoop() -> any EventLoop { loop }
  var taskExecutor: (any TaskExecutor)? { host.taskExecutor }
  func makeWorker() -> any Worker { FaultyWorker(worker: host.makeWorker(), machine: self) }
  func unixMicroseconds() -> Int64 {
    drifted() + state.withLock { $0.clockOffset.nanoseconds / 1000 }
  }

  /// The time of the wall clock without the offset set by ``moveWallClock(by:)``.
  private func drifted() -> Int64 { host.unixMicroseconds() + loop.lead.nanoseconds / 1000 }

  func makeRandom() -> any RandomSource { host.makeRandom() }
  var signatures: any SignatureScheme { host.signatures }
  var sharesFiles: Bool { host.sharesFiles }

  func openTransport(
    _ interfaces: InterfaceSelection, port: UInt16?, on eventLoop: any EventLoop
  ) throws -> any DatagramTransport {
    let open = { [base = loop.base] (port: UInt16?) in
      UDPTransport(
        try BoundSockets(self.withOwnAddress(try NetworkInterfaces.select(interfaces)), port: port), on: base)
    }
    let transport = FaultyTransport(
      try open(state.withLock { $0.ports.port(for: port) }), self, on: eventLoop
    ) { try open(nil) }
    state.withLock { $0.ports.open(transport.port, for: port) }
    networks.registerSender(at: transport.addresses, self)
    let bound = NIOLoopBound(transport, eventLoop: eventLoop)
    transports.withLock { all in
      all.removeAll { $0.value.isClosed }
      all.append(bound)
    }
    return transport
  }

  func openDiscovery(
    _ mode: ServiceDiscovery.Mode, _ interfaces: InterfaceSelection, registry: String?, on eventLoop: any EventLoop,
    logger: Logger
  ) throws -> any NodeDiscovery {
    share(try host.openDiscovery(mode, interfaces, registry: registry, on: loop.base, logger: logger))
  }

  /// Wraps a discovery that other machines also use, adding this machine's faults.
  func share(_ discovery: any NodeDiscovery) -> any NodeDiscovery {
    let faulty = FaultyDiscovery(discovery, self)
    faulty.apply(networks.faults(of: self))
    discoveries.withLock { $0.append(faulty) }
    return faulty
  }

  func openStore(_ directory: String) throws(StoreError) -> any NodeStore {
    FaultyStore(try host.openStore(directory), self)
  }
  func storedState(of directory: String) throws(StoreError) -> StoredState { try host.storedState(of: directory) }
}

/// A worker that rejects tasks while the machine has no power. Each task is one effect.
private struct FaultyWorker: Worker {
  let worker: any Worker
  let machine: FaultyMachine

  func submit<R: Sendable>(
    on eventLoop: any EventLoop, _ body: @escaping @Sendable () throws -> R
  ) -> EventLoopFuture<R> {
    worker.submit(on: eventLoop) {
      guard machine.takesEffect() else { throw SimulationError.powerOff("the machine") }
      return try body()
    }
  }

  func close(_ done: @escaping @Sendable () -> Void) { worker.close(done) }
}

/// A store that ignores commits while the machine has no power.
private final class FaultyStore: NodeStore {
  private let store: any NodeStore
  private let machine: FaultyMachine

  init(_ store: any NodeStore, _ machine: FaultyMachine) { (self.store, self.machine) = (store, machine) }

  func load() throws(StoreError) -> StoredState { try store.load() }
  func commit(_ changes: [StoreChange]) throws(StoreError) { if machine.takesEffect() { try store.commit(changes) } }
  func close() { store.close() }
  func abandon() { store.abandon() }
}
