internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// A device's sockets behind a link with fault injection. Confined to its loop.
///
/// Datagrams in flight are lost if the link is cut when they arrive, as in a simulation.
final class LinkedTransport: DatagramTransport {
  /// A delayed outgoing datagram.
  private struct Departure {
    let due: Instant
    let bytes: [UInt8]
    let destination: MatterProtocol.SocketAddress
  }

  private let sockets: any DatagramTransport
  private let link: DeviceLink
  private var departures: [UInt64: Departure] = [:]
  private var lastDeparture: UInt64 = 0
  var onDatagram: ((consuming [UInt8], MatterProtocol.SocketAddress) -> Void)?

  init(_ sockets: any DatagramTransport, _ link: DeviceLink) {
    (self.sockets, self.link) = (sockets, link)
    sockets.onDatagram = { [weak self] bytes, source in self?.received(bytes, from: source) }
  }

  private func received(_ bytes: consuming [UInt8], from source: MatterProtocol.SocketAddress) {
    guard link.hasFault else {
      onDatagram?(bytes, source)
      return
    }
    let bytes = bytes
    for delay in link.carry(bytes.count, .into, at: now) {
      if delay > .zero {
        after(delay) { if !$0.link.isCut { $0.onDatagram?(bytes, source) } }
      } else {
        onDatagram?(bytes, source)
      }
    }
  }

  private func depart(_ number: UInt64) {
    guard let departure = departures.removeValue(forKey: number), !link.isCut else { return }
    sockets.send(departure.bytes, to: departure.destination)
  }

  private var now: Instant { Instant(nanoseconds: Int64(clamping: eventLoop.now.uptimeNanoseconds)) }

  private func after(_ delay: Duration, _ body: @escaping (LinkedTransport) -> Void) {
    let bound = NIOLoopBound((transport: self, body: body), eventLoop: eventLoop)
    eventLoop.scheduleTask(in: .nanoseconds(delay.nanoseconds)) { bound.value.body(bound.value.transport) }
  }

  // MARK: DatagramTransport

  var eventLoop: any EventLoop { sockets.eventLoop }
  var port: UInt16 { sockets.port }
  var addresses: [MatterProtocol.SocketAddress] { sockets.addresses }
  var counters: UDPTransport.Counters { sockets.counters }

  func send(_ bytes: [UInt8], to destination: MatterProtocol.SocketAddress) {
    guard link.hasFault else { return sockets.send(bytes, to: destination) }
    let now = now
    for delay in link.carry(bytes.count, .out, at: now) {
      guard delay > .zero else {
        sockets.send(bytes, to: destination)
        continue
      }
      lastDeparture += 1
      departures[lastDeparture] = Departure(due: now + delay, bytes: bytes, destination: destination)
      after(delay) { [number = lastDeparture] in $0.depart(number) }
    }
  }

  func join(_ group: IPAddress, port: UInt16) -> [NetworkError] { sockets.join(group, port: port) }
  func leave(_ group: IPAddress) { sockets.leave(group) }
  func follow(_ interfaces: [NetworkInterface]) -> [NetworkError] { sockets.follow(interfaces) }
  func goesOn(afterEffects count: Int) -> Bool { sockets.goesOn(afterEffects: count) }

  func close() {
    onDatagram = nil
    // Delayed datagrams have already left the device, but can't be sent after closing: so send them early, in order.
    for (_, number) in departures.map({ ($1.due, $0) }).sorted(by: <) { depart(number) }
    sockets.close()
  }
}
