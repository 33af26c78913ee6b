internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// The sockets of a faulty machine, replaced by others when it moves. Confined to its loop.
final class FaultyTransport: DatagramTransport {
  private var sockets: any DatagramTransport
  private let reopen: () throws -> any DatagramTransport
  private let machine: FaultyMachine
  private var groups: [IPAddress: UInt16] = [:]
  private(set) var isClosed = false
  var onDatagram: ((consuming [UInt8], MatterProtocol.SocketAddress) -> Void)?

  /// The machine's loop, on the thread of the sockets' loop.
  let eventLoop: any EventLoop

  /// - Parameter reopen: opens sockets at the machine's current address on another port.
  init(
    _ sockets: any DatagramTransport, _ machine: FaultyMachine, on eventLoop: any EventLoop,
    reopen: @escaping () throws -> any DatagramTransport
  ) {
    (self.sockets, self.machine, self.eventLoop, self.reopen) = (sockets, machine, eventLoop, reopen)
    listen()
  }

  private func listen() {
    let port = sockets.port
    sockets.onDatagram = { [machine] bytes, source in machine.receive(bytes, from: source, to: port) }
  }

  /// Replaces the sockets by others at the machine's current address.
  /// - Returns: false if the transport is closed.
  func move() throws -> Bool {
    guard !isClosed else { return false }
    let new = try reopen()
    sockets.close()
    sockets = new
    listen()
    for (group, port) in groups { _ = sockets.join(group, port: port) }
    return true
  }

  // MARK: DatagramTransport

  var port: UInt16 { sockets.port }
  var addresses: [MatterProtocol.SocketAddress] { sockets.addresses }
  var counters: UDPTransport.Counters { sockets.counters }

  func send(_ bytes: [UInt8], to destination: MatterProtocol.SocketAddress) {
    // The receiver applies the delay: the sender may have been closed before the datagram arrives.
    if machine.countDatagram(to: destination) { sockets.send(bytes, to: destination) }
  }

  func join(_ group: IPAddress, port: UInt16) -> [NetworkError] {
    guard machine.takesEffect() else { return [] }
    groups[group] = port
    return sockets.join(group, port: port)
  }

  func leave(_ group: IPAddress) {
    groups[group] = nil
    guard machine.takesEffect() else { return }
    sockets.leave(group)
  }

  func follow(_ interfaces: [NetworkInterface]) -> [NetworkError] { sockets.follow(machine.withOwnAddress(interfaces)) }

  func close() {
    isClosed = true
    onDatagram = nil
    sockets.close()
  }
}
