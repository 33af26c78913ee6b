internal import Logging
internal import MatterCrypto
internal import MatterProtocol
internal import NIOCore
internal import Runtime
internal import Simulation
internal import Synchronization

/// The machine that this process runs on, as one node sees it: with faults between the node and the network, a power supply that
/// fails, and a wall clock of its own.
///
/// May be used from any thread but for what is said to belong to the loop.
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

  /// As a report names it.
  let name: String
  private let host = HostMachine()
  private let state = Mutex(State())
  /// Its clock is the machine's.
  private let loop: DriftingEventLoop
  let networks: RealNetworks
  private let discoveries = Mutex<[FaultyDiscovery]>([])
  private let transports = Mutex<[NIOLoopBound<FaultyTransport>]>([])

  init(_ name: String = "machine", on loop: any EventLoop, in networks: RealNetworks) {
    (self.name, self.loop, self.networks) = (name, DriftingEventLoop(loop), networks)
  }

  /// Datagrams that its nodes sent.
  var packetCount: Int { state.withLock { $0.sent } }

  // MARK: Faults

  func inject(_ fault: NetworkFault) {
    let faults = networks.inject(self, fault)
    for discovery in discoveries.withLock(\.self) { discovery.follow(faults) }
  }

  /// Looks again for all that it looks for: others are in other networks than before, or it is.
  func lookAgain() { for discovery in discoveries.withLock(\.self) { discovery.lookAgain() } }

  /// Lets its clocks go faster or slower from now on, in millionths.
  func setDrift(_ drift: Int64) { loop.setDrift(drift) }

  func moveWallClock(by time: Duration) {
    let host = drifted()
    state.withLock { state in
      let shown = MachineClock.shown(host + state.clockOffset.nanoseconds / 1000, time)
      state.clockOffset = .microseconds(shown - host)
    }
  }

  /// Its IPv4 address: one of those that the loopback interface has, 127.0.0.1 until it moves.
  var address4: IPAddress { state.withLock(\.address4) }

  /// The port by now of a node that began with this one.
  func port(ofWhoHad port: UInt16) -> UInt16 { state.withLock { $0.ports.port(for: port) } ?? port }

  /// Gives its nodes another IPv4 address and, as the loopback interface has one IPv6 address only, other ports, and tells them by
  /// DNS-SD. Belongs to the loop.
  func move() throws {
    let new = networks.newAddress()
    state.withLock { state in
      state.address4 = new
      state.ports.leave()
    }
    for transport in transports.withLock(\.self) {
      let old = transport.value.port
      guard try transport.value.move() else { continue }
      networks.sends(from: transport.value.addresses, self)
      state.withLock { $0.ports.move(from: old, to: transport.value.port) }
      for discovery in discoveries.withLock(\.self) { discovery.move(from: old, to: transport.value.port) }
    }
  }

  /// The interfaces as it has them: with its own address in the place of the one that all machines begin with.
  func own(_ interfaces: [NetworkInterface]) -> [NetworkInterface] {
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

  /// A node sends a datagram.
  /// - Returns: whether it gets away from here.
  func sends(to destination: MatterProtocol.SocketAddress) -> Bool {
    guard takesEffect() else { return false }
    // Without an address to send it from, nothing is sent.
    if networks.hasAddress(self, of: destination.ip.family) { state.withLock { $0.sent += 1 } }
    let leaves = networks.leaves(self, to: destination.ip)
    if !leaves { networks.loses(from: self, to: destination) }
    return leaves
  }

  /// A datagram was sent to one of its ports: the node there gets it when it has come all the way, if the machine has power, the
  /// port and a way to it then. Belongs to the loop.
  func take(_ bytes: [UInt8], from source: MatterProtocol.SocketAddress, to port: UInt16) {
    // What came by multicast is told from its header: the sockets do not say where a datagram was sent to.
    let (delays, loss) = networks.arrivals(
      of: bytes.count, from: source, to: self, isMulticast: Self.isForGroup(bytes), at: HostClock.now())
    if let loss { networks.loses(from: source, to: self, loss) }
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
      return networks.loses(from: source, to: self, isPowered ? .partition : .powerOff)
    }
    let open = transports.withLock(\.self).map(\.value).first { !$0.isClosed && $0.port == port }
    open?.onDatagram?(bytes, source)
  }

  private static func isForGroup(_ bytes: [UInt8]) -> Bool {
    (try? MessageHeader.decode(bytes))?.header.sessionKind == .group
  }

  // MARK: Power

  /// Takes the power away at the effect that comes after so many more: a datagram that is sent, a change that is stored, a service
  /// that is published, withdrawn or looked for, a group that is joined or left, a piece of work for a ``Runtime/Worker``.
  func cutPower(afterEffects count: Int) { state.withLock { $0.effectsUntilPowerCut = count } }

  /// There is power again: what is started now counts towards a cut that was asked for meanwhile.
  func restorePower() { state.withLock { if !$0.isPowered { ($0.isPowered, $0.onPowerCut) = (true, nil) } } }

  var isPowered: Bool { state.withLock(\.isPowered) }

  /// - Parameter end: ends what runs on it, without a word to anybody.
  func onPowerCut(_ end: @escaping @Sendable () -> Void) { state.withLock { $0.onPowerCut = end } }

  /// Without power nothing has an effect any more. Where there was none, a cut that was asked for meanwhile is still to come.
  func losePower() {
    state.withLock { if $0.isPowered { ($0.isPowered, $0.effectsUntilPowerCut) = (false, nil) } }
    discoveries.withLock { $0.removeAll { !$0.isOpen } }
  }

  /// Notes an effect.
  /// - Returns: whether it takes place.
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

  /// What its wall clock would show if nobody had set it.
  private func drifted() -> Int64 { host.unixMicroseconds() + loop.lead.nanoseconds / 1000 }

  func makeRandom() -> any RandomSource { host.makeRandom() }
  var signatures: any SignatureScheme { host.signatures }
  var sharesFiles: Bool { host.sharesFiles }

  func openTransport(
    _ interfaces: InterfaceSelection, port: UInt16?, on eventLoop: any EventLoop
  ) throws -> any DatagramTransport {
    let open = { [base = loop.base] (port: UInt16?) in
      UDPTransport(try BoundSockets(self.own(try NetworkInterfaces.select(interfaces)), port: port), on: base)
    }
    let transport = FaultyTransport(
      try open(state.withLock { $0.ports.port(for: port) }), self, on: eventLoop
    ) { try open(nil) }
    state.withLock { $0.ports.open(transport.port, for: port) }
    networks.sends(from: transport.addresses, self)
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

  /// Has the machine's faults come between its nodes and a discovery that others use, too.
  func share(_ discovery: any NodeDiscovery) -> any NodeDiscovery {
    let faulty = FaultyDiscovery(discovery, self)
    faulty.follow(networks.faults(of: self))
    discoveries.withLock { $0.append(faulty) }
    return faulty
  }

  func openStore(_ directory: String) throws(StoreError) -> any NodeStore {
    FaultyStore(try host.openStore(directory), self)
  }
  func storedState(of directory: String) throws(StoreError) -> StoredState { try host.storedState(of: directory) }
}

/// A thread whose work is not done any more when its machine has no power: each piece is one effect.
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

/// A directory that nothing is written to any more when its machine has no power.
private final class FaultyStore: NodeStore {
  private let store: any NodeStore
  private let machine: FaultyMachine

  init(_ store: any NodeStore, _ machine: FaultyMachine) { (self.store, self.machine) = (store, machine) }

  func load() throws(StoreError) -> StoredState { try store.load() }
  func commit(_ changes: [StoreChange]) throws(StoreError) { if machine.takesEffect() { try store.commit(changes) } }
  func close() { store.close() }
  func abandon() { store.abandon() }
}
