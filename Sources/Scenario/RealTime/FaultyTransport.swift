internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// Sockets that lose, delay and repeat what goes through them, and may be changed for others. Confined to its loop.
final class FaultyTransport: DatagramTransport {
  private var sockets: any DatagramTransport
  private let reopen: () throws -> any DatagramTransport
  private let machine: FaultyMachine
  private var groups: [IPAddress: UInt16] = [:]
  private(set) var isClosed = false
  var onDatagram: ((consuming [UInt8], MatterProtocol.SocketAddress) -> Void)?

  /// - Parameter reopen: opens sockets on another port.
  init(
    _ sockets: any DatagramTransport, _ machine: FaultyMachine, reopen: @escaping () throws -> any DatagramTransport
  ) {
    (self.sockets, self.machine, self.reopen) = (sockets, machine, reopen)
    listen()
  }

  private func listen() {
    sockets.onDatagram = { [unowned self] bytes, source in
      let bytes = bytes
      let delays = machine.delays(of: bytes, source, isOutgoing: false)
      for delay in delays { after(delay) { $0.onDatagram?(bytes, source) } }
    }
  }

  /// Changes the sockets for others, on another port.
  /// - Returns: false if it is closed.
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

  var eventLoop: any EventLoop { sockets.eventLoop }
  var port: UInt16 { sockets.port }
  var addresses: [MatterProtocol.SocketAddress] { sockets.addresses }
  var counters: UDPTransport.Counters { sockets.counters }

  func send(_ bytes: [UInt8], to destination: MatterProtocol.SocketAddress) {
    let delays = machine.delays(of: bytes, destination, isOutgoing: true)
    for delay in delays { after(delay) { $0.sockets.send(bytes, to: destination) } }
  }

  private func after(_ delay: Duration, _ body: @escaping (FaultyTransport) -> Void) {
    if delay <= .zero { return body(self) }
    eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(delay.nanoseconds)) { [self] in
      if !isClosed { body(self) }
    }
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

  func follow(_ interfaces: [NetworkInterface]) -> [NetworkError] { sockets.follow(interfaces) }

  func close() {
    isClosed = true
    onDatagram = nil
    sockets.close()
  }
}
