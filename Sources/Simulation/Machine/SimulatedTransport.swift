internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// The sockets of one node on a ``SimulatedMachine``.
final class SimulatedTransport: DatagramTransport {
  let port: UInt16
  private(set) var counters = UDPTransport.Counters()
  var onDatagram: ((consuming [UInt8], MatterProtocol.SocketAddress) -> Void)?
  /// Nil after closing.
  private var machine: SimulatedMachine?
  private let loop: SimulatedEventLoop
  private(set) var groups: Set<IPAddress> = []

  init(_ machine: SimulatedMachine, port: UInt16) {
    self.machine = machine
    self.port = port
    loop = machine.eventLoop
    attach()
  }

  var eventLoop: any EventLoop { loop }
  var addresses: [MatterProtocol.SocketAddress] {
    machine?.addresses.map { MatterProtocol.SocketAddress($0, port: port) } ?? []
  }

  private func attach() {
    guard let machine else { return }
    for address in addresses { machine.world.network.attach(machine.id, at: address) }
  }

  /// Detaches from the network on a loss of power.
  func detach() {
    for address in addresses { machine?.world.network.detach(address) }
    machine = nil
  }

  func moved(from old: [IPAddress]) {
    guard let machine else { return }
    for address in old { machine.world.network.detach(MatterProtocol.SocketAddress(address, port: port)) }
    attach()
  }

  func send(_ bytes: [UInt8], to destination: MatterProtocol.SocketAddress) {
    guard let machine, machine.takesEffect() else { return }
    let world = machine.world
    guard let source = machine.addresses.first(where: { $0.isIPv6 == destination.ip.isIPv6 }) else {
      counters.unreachable += 1
      return machine.world.trace.add(
        .note, machine.id, at: machine.world.now, "no address to send to \(destination) from")
    }
    machine.packetCount += 1
    let (number, loss) = world.network.send(
      bytes, from: machine.id, at: MatterProtocol.SocketAddress(source, port: port), to: destination, at: world.now)
    world.trace.add(
      loss == nil ? .sent : .lost, machine.id, at: world.now, packet: number, bytes: bytes, destination, loss)
    if let loss { world.reportLoss(from: machine.id, to: destination, loss) }
  }

  func mayContinue(afterEffects count: Int) -> Bool { machine?.mayContinue(afterEffects: count) ?? false }

  /// Delivers a datagram for this port, or for a group that the node has joined.
  func receive(
    _ bytes: [UInt8], from source: MatterProtocol.SocketAddress, to destination: MatterProtocol.SocketAddress?
  ) {
    if let destination {
      let isMine = destination.ip.isMulticast ? groups.contains(destination.ip) : destination.port == port
      guard isMine else { return }
    }
    onDatagram?(bytes, source)
  }

  func join(_ group: IPAddress, port: UInt16) -> [NetworkError] {
    guard let machine, machine.takesEffect() else { return [] }
    groups.insert(group)
    machine.world.trace.add(.joined, machine.id, at: machine.world.now, "\(group)")
    machine.world.network.join(group, machine.id)
    return []
  }

  func leave(_ group: IPAddress) {
    groups.remove(group)
    guard let machine, machine.takesEffect() else { return }
    machine.world.trace.add(.left, machine.id, at: machine.world.now, "\(group)")
    if !machine.listens(to: group) { machine.world.network.leave(group, machine.id) }
  }

  /// Does nothing: the transport follows the machine's addresses by itself.
  func follow(_ interfaces: [NetworkInterface]) -> [NetworkError] { [] }

  func close() {
    onDatagram = nil
    for group in groups.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) { leave(group) }
    machine?.remove(self)
    detach()
  }
}
