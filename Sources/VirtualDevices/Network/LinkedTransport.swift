internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// A device's sockets behind a link that may be a bad one. Confined to its loop.
final class LinkedTransport: DatagramTransport {
  private let sockets: any DatagramTransport
  private let link: DeviceLink
  private var isClosed = false
  var onDatagram: ((consuming [UInt8], MatterProtocol.SocketAddress) -> Void)?

  init(_ sockets: any DatagramTransport, _ link: DeviceLink) {
    (self.sockets, self.link) = (sockets, link)
    sockets.onDatagram = { [weak self] bytes, source in
      let bytes = bytes
      self?.pass(bytes.count, .into) { $0.onDatagram?(bytes, source) }
    }
  }

  /// Lets a datagram through as often, and as late, as the link has it: what is under way when that is cut is lost.
  private func pass(_ size: Int, _ direction: DeviceLink.Direction, _ deliver: @escaping (LinkedTransport) -> Void) {
    let now = Instant(nanoseconds: Int64(clamping: eventLoop.now.uptimeNanoseconds))
    for delay in link.carry(size, direction, at: now) {
      guard delay > .zero else {
        deliver(self)
        continue
      }
      let deliver = NIOLoopBound(deliver, eventLoop: eventLoop)
      let bound = NIOLoopBound(self, eventLoop: eventLoop)
      eventLoop.scheduleTask(in: .nanoseconds(delay.nanoseconds)) {
        guard !bound.value.isClosed, !bound.value.link.isCut else { return }
        deliver.value(bound.value)
      }
    }
  }

  // MARK: DatagramTransport

  var eventLoop: any EventLoop { sockets.eventLoop }
  var port: UInt16 { sockets.port }
  var addresses: [MatterProtocol.SocketAddress] { sockets.addresses }
  var counters: UDPTransport.Counters { sockets.counters }

  func send(_ bytes: [UInt8], to destination: MatterProtocol.SocketAddress) {
    pass(bytes.count, .out) { $0.sockets.send(bytes, to: destination) }
  }

  func join(_ group: IPAddress, port: UInt16) -> [NetworkError] { sockets.join(group, port: port) }
  func leave(_ group: IPAddress) { sockets.leave(group) }
  func follow(_ interfaces: [NetworkInterface]) -> [NetworkError] { sockets.follow(interfaces) }
  func goesOn(afterEffects count: Int) -> Bool { sockets.goesOn(afterEffects: count) }

  func close() {
    isClosed = true
    onDatagram = nil
    sockets.close()
  }
}
