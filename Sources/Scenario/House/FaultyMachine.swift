internal import Logging
internal import MatterCrypto
internal import MatterProtocol
internal import NIOCore
internal import Runtime
internal import Simulation
internal import Synchronization

/// The machine that this process runs on, with faults between its nodes' sockets and the network.
final class FaultyMachine: Machine {
  private struct Faults {
    var conditions = LinkConditions(latency: .zero)
    var isMute = false
    var isDeaf = false
    var sent = 0
  }

  private let host = HostMachine()
  private let faults = Mutex(Faults())
  private let loop: any EventLoop

  init(on loop: any EventLoop) { self.loop = loop }

  /// Datagrams that its nodes sent.
  var packetCount: Int { faults.withLock { $0.sent } }

  /// - Returns: whether that can be done on a real network.
  func befall(_ fault: NetworkFault) -> Bool {
    faults.withLock { faults in
      switch fault {
      case .partition: (faults.isMute, faults.isDeaf) = (true, true)
      case .mute: faults.isMute = true
      case .deaf: faults.isDeaf = true
      case .heal: faults = Faults(sent: faults.sent)
      case .conditions(let conditions): faults.conditions = conditions
      case .multicast(let works): return works
      }
      return true
    }
  }

  /// When the copies of a datagram arrive, from now on; empty: it is lost.
  func delays(isOutgoing: Bool) -> [Duration] {
    faults.withLock { faults in
      if isOutgoing { faults.sent += 1 }
      if isOutgoing ? faults.isMute : faults.isDeaf { return [] }
      var random = SystemRandomSource()
      func happens(_ ratio: Ratio) -> Bool {
        ratio.denominator > 0 && UInt64.random(in: 0..<ratio.denominator, using: &random) < ratio.numerator
      }
      if happens(faults.conditions.loss) { return [] }
      let copies = happens(faults.conditions.duplication) ? 2 : 1
      let jitter = max(0, faults.conditions.jitter.nanoseconds)
      return (0..<copies).map { _ in
        faults.conditions.latency + .nanoseconds(Int64.random(in: 0...jitter, using: &random))
      }
    }
  }

  // MARK: Machine

  func nextEventLoop() -> any EventLoop { loop }
  var taskExecutor: (any TaskExecutor)? { host.taskExecutor }
  func makeWorker() -> any Worker { host.makeWorker() }
  func unixMicroseconds() -> Int64 { host.unixMicroseconds() }
  func makeRandom() -> any RandomSource { host.makeRandom() }
  var signatures: any SignatureScheme { host.signatures }
  var sharesFiles: Bool { host.sharesFiles }

  func openTransport(
    _ interfaces: InterfaceSelection, port: UInt16?, on eventLoop: any EventLoop
  ) throws -> any DatagramTransport {
    FaultyTransport(try host.openTransport(interfaces, port: port, on: eventLoop), self)
  }

  func openDiscovery(
    _ mode: ServiceDiscovery.Mode, _ interfaces: InterfaceSelection, registry: String?, on eventLoop: any EventLoop,
    logger: Logger
  ) throws -> any NodeDiscovery {
    try host.openDiscovery(mode, interfaces, registry: registry, on: eventLoop, logger: logger)
  }

  func openStore(_ directory: String) throws(StoreError) -> any NodeStore { try host.openStore(directory) }
  func storedState(of directory: String) throws(StoreError) -> StoredState { try host.storedState(of: directory) }
}

/// Sockets that lose, delay and repeat what goes through them.
private final class FaultyTransport: DatagramTransport {
  private let sockets: any DatagramTransport
  private let machine: FaultyMachine
  private var isClosed = false
  var onDatagram: ((consuming [UInt8], MatterProtocol.SocketAddress) -> Void)?

  init(_ sockets: any DatagramTransport, _ machine: FaultyMachine) {
    (self.sockets, self.machine) = (sockets, machine)
    sockets.onDatagram = { [unowned self] bytes, source in
      let bytes = bytes
      for delay in machine.delays(isOutgoing: false) { after(delay) { $0.onDatagram?(bytes, source) } }
    }
  }

  var eventLoop: any EventLoop { sockets.eventLoop }
  var port: UInt16 { sockets.port }
  var addresses: [MatterProtocol.SocketAddress] { sockets.addresses }
  var counters: UDPTransport.Counters { sockets.counters }

  func send(_ bytes: [UInt8], to destination: MatterProtocol.SocketAddress) {
    for delay in machine.delays(isOutgoing: true) { after(delay) { $0.sockets.send(bytes, to: destination) } }
  }

  private func after(_ delay: Duration, _ body: @escaping (FaultyTransport) -> Void) {
    if delay <= .zero { return body(self) }
    eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(delay.nanoseconds)) { [self] in
      if !isClosed { body(self) }
    }
  }

  func join(_ group: IPAddress, port: UInt16) -> [NetworkError] { sockets.join(group, port: port) }
  func leave(_ group: IPAddress) { sockets.leave(group) }
  func follow(_ interfaces: [NetworkInterface]) -> [NetworkError] { sockets.follow(interfaces) }

  func close() {
    isClosed = true
    onDatagram = nil
    sockets.close()
  }
}
