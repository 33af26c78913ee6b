internal import MatterProtocol
internal import NIOCore
internal import Runtime
internal import Simulation
internal import Synchronization
internal import VirtualDevices

/// The host as a machine for one node, with network faults, a power supply that can fail and a wall clock of its own.
///
/// Thread-safe except where a method belongs to the loop.
final class RealMachine: NetworkImpairment {
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
  /// The loop of its nodes, whose clock drifts with the machine's.
  let loop: DriftingEventLoop
  let networks: RealNetworks
  private let state = Mutex(State())
  private let discoveries = Mutex<[ImpairedDiscovery]>([])
  private let transports = Mutex<[NIOLoopBound<ImpairedTransport>]>([])

  init(_ name: String = "machine", on loop: any EventLoop, in networks: RealNetworks) {
    (self.name, self.loop, self.networks) = (name, DriftingEventLoop(loop), networks)
  }

  /// The machine as its nodes use it.
  var impaired: ImpairedMachine { ImpairedMachine(host: RealHost(self), self) }

  /// The number of datagrams sent by the machine's nodes.
  var packetCount: Int { state.withLock { $0.sent } }

  func inject(_ fault: NetworkFault) {
    networks.inject(self, fault)
    updateDiscovery()
  }

  /// Updates the publications and searches after this machine or another one has changed networks.
  func updateDiscovery() { for discovery in discoveries.withLock(\.self) { discovery.update() } }

  // MARK: Clocks

  /// Sets the drift of the clocks, in parts per million.
  func setDrift(_ drift: Int64) { loop.setDrift(drift) }

  func moveWallClock(by time: Duration) {
    let host = drifted()
    state.withLock { state in
      let shown = MachineClock.shown(host + state.clockOffset.nanoseconds / 1000, time)
      state.clockOffset = .microseconds(shown - host)
    }
  }

  func unixMicroseconds() -> Int64 { drifted() + state.withLock { $0.clockOffset.nanoseconds / 1000 } }

  /// The time of the wall clock without the offset set by ``moveWallClock(by:)``.
  private func drifted() -> Int64 { HostClock.unixMicroseconds() + loop.lead.nanoseconds / 1000 }

  // MARK: Addresses

  /// The IPv4 address, one of the loopback interface's; 127.0.0.1 until the machine moves.
  var address4: IPAddress { state.withLock(\.address4) }

  /// Moves the nodes to another IPv4 address and, as the loopback interface has only one IPv6 address, to other
  /// ports, and announces them by DNS-SD. Belongs to the loop.
  func move() throws {
    let new = networks.newAddress(for: self)
    state.withLock { $0.address4 = new }
    var ports: [UInt16: UInt16] = [:]
    for transport in transports.withLock(\.self).map(\.value) where !transport.isClosed {
      let old = transport.port
      transport.move(to: try openSockets(.loopback, port: nil))
      networks.registerSender(at: transport.addresses, self)
      ports[old] = transport.port
    }
    state.withLock { [ports] in $0.ports.move(ports) }
    updateDiscovery()
  }

  /// Opens sockets at the current address.
  /// - Parameter port: the port that the node requests; nil for any free one.
  func openSockets(_ interfaces: InterfaceSelection, port: UInt16?) throws -> any DatagramTransport {
    let sockets = try BoundSockets(
      withOwnAddresses(try NetworkInterfaces.select(interfaces)), port: state.withLock { $0.ports.port(for: port) })
    state.withLock { $0.ports.open(sockets.port, for: port) }
    return UDPTransport(sockets, on: loop.base)
  }

  func withOwnAddresses(_ interfaces: [NetworkInterface]) -> [NetworkInterface] {
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

  func delays(
    of bytes: [UInt8], _ direction: DatagramDirection, at now: @autoclosure () -> Instant
  ) -> [Duration]? {
    switch direction {
    case .outgoing(let destination):
      guard takesEffect() else { return [] }
      // Sending requires a source address of the family.
      let hasSource = !networks.faults(of: self).familiesOff.contains(destination.ip.family)
      if hasSource { state.withLock { $0.sent += 1 } }
      // The receiver applies the delay: the sender may have been closed before the datagram arrives.
      if networks.leaves(self, to: destination.ip) { return nil }
      networks.onLoss(name, networks.name(at: destination), destination.ip.isMulticast ? .multicast : .partition)
      return []
    case .incoming(let source):
      // The message header identifies multicast: the sockets do not report the destination address.
      let isMulticast = (try? MessageHeader.decode(bytes))?.header.sessionKind == .group
      let (delays, loss) = networks.arrivals(
        of: bytes.count, from: source, to: self, isMulticast: isMulticast, at: now())
      if let loss { networks.onLoss(networks.name(at: source), name, loss) }
      return delays
    }
  }

  func getsThrough(_ direction: DatagramDirection) -> Bool {
    guard case .incoming(let source) = direction else { return true }
    if isPowered, networks.reaches(self, from: source) { return true }
    networks.onLoss(networks.name(at: source), name, isPowered ? .partition : .powerOff)
    return false
  }

  func opened(_ transport: ImpairedTransport) {
    networks.registerSender(at: transport.addresses, self)
    let bound = NIOLoopBound(transport, eventLoop: transport.eventLoop)
    transports.withLock { all in
      all.removeAll { $0.value.isClosed }
      all.append(bound)
    }
  }

  func transport(on port: UInt16) -> ImpairedTransport? {
    transports.withLock(\.self).map(\.value).first { !$0.isClosed && $0.port == port }
  }

  // MARK: Service discovery

  func opened(_ discovery: ImpairedDiscovery) { discoveries.withLock { $0.append(discovery) } }

  var seesOthers: Bool { networks.faults(of: self).seesOthers }

  func announcement(of service: MatterService) -> MatterService? {
    let faults = networks.faults(of: self)
    guard faults.isVisible else { return nil }
    var service = service
    let address4 = address4
    // The node only knows its initial port.
    service.port = state.withLock { $0.ports.port(for: service.port) } ?? service.port
    if service.addresses.isEmpty, address4 != .loopback4 || !faults.familiesOff.isEmpty {
      service.addresses = [.loopback6, address4].filter { !faults.familiesOff.contains($0.family) }
    }
    return service
  }

  func recordPublication(of service: MatterService.Kind) { networks.recordPublication(of: service, by: self) }
  func recordGoodbye(for service: MatterService.Kind) { networks.recordGoodbye(for: service) }
  func makeSearch() -> (any SearchImpairment)? { HeardServices(of: self) }

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
  func losePower() { state.withLock { if $0.isPowered { ($0.isPowered, $0.effectsUntilPowerCut) = (false, nil) } } }

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
}
