package import MatterProtocol
package import NIOCore
package import Runtime

/// The sockets of a machine with network faults. Confined to its loop.
///
/// The faults at the end of a datagram's delay decide whether it gets through, as in a simulation.
package final class ImpairedTransport: DatagramTransport {
  private var sockets: any DatagramTransport
  private let impairment: any NetworkImpairment
  /// The delayed outgoing datagrams, in the order in which they leave. Each has a timer.
  private var departures: [(due: Instant, bytes: [UInt8], destination: MatterProtocol.SocketAddress)] = []
  private var groups: [IPAddress: UInt16] = [:]
  package private(set) var isClosed = false
  package var onDatagram: ((consuming [UInt8], MatterProtocol.SocketAddress) -> Void)?

  /// The machine's loop, on the thread of the sockets' loop. Its clock may drift; delays are by the sockets' loop.
  package let eventLoop: any EventLoop

  package init(_ sockets: any DatagramTransport, _ impairment: any NetworkImpairment, on eventLoop: any EventLoop) {
    (self.sockets, self.impairment, self.eventLoop) = (sockets, impairment, eventLoop)
    listen()
    impairment.opened(self)
  }

  private func listen() {
    sockets.onDatagram = { [weak self, port = sockets.port] bytes, source in
      self?.received(bytes, from: source, on: port)
    }
  }

  private func received(_ bytes: consuming [UInt8], from source: MatterProtocol.SocketAddress, on port: UInt16) {
    guard let delays = impairment.delays(of: bytes, .incoming(from: source), at: now) else {
      onDatagram?(bytes, source)
      return
    }
    let bytes = bytes
    for delay in delays {
      if delay > .zero {
        after(delay) { $0.deliver(bytes, from: source, on: port) }
      } else {
        deliver(bytes, from: source, on: port)
      }
    }
  }

  private func deliver(_ bytes: [UInt8], from source: MatterProtocol.SocketAddress, on port: UInt16) {
    guard impairment.getsThrough(.incoming(from: source)) else { return }
    let receiver = isClosed || self.port != port ? impairment.transport(on: port) : self
    receiver?.onDatagram?(bytes, source)
  }

  /// Sends the first delayed datagram, unless all were sent at closing.
  private func depart() {
    guard !departures.isEmpty else { return }
    let (_, bytes, destination) = departures.removeFirst()
    if impairment.getsThrough(.outgoing(to: destination)) { sockets.send(bytes, to: destination) }
  }

  private var now: Instant { Instant(nanoseconds: Int64(clamping: sockets.eventLoop.now.uptimeNanoseconds)) }

  private func after(_ delay: Duration, _ body: @escaping (ImpairedTransport) -> Void) {
    let bound = NIOLoopBound((transport: self, body: body), eventLoop: eventLoop)
    sockets.eventLoop.scheduleTask(in: .nanoseconds(delay.nanoseconds)) { bound.value.body(bound.value.transport) }
  }

  /// Closes the sockets and uses others in their place, with the same groups.
  package func move(to new: any DatagramTransport) {
    sockets.close()
    sockets = new
    listen()
    for (group, port) in groups { _ = new.join(group, port: port) }
  }

  // MARK: DatagramTransport

  package var port: UInt16 { sockets.port }
  package var addresses: [MatterProtocol.SocketAddress] { sockets.addresses }
  package var counters: UDPTransport.Counters { sockets.counters }

  package func send(_ bytes: [UInt8], to destination: MatterProtocol.SocketAddress) {
    guard let delays = impairment.delays(of: bytes, .outgoing(to: destination), at: now) else {
      return sockets.send(bytes, to: destination)
    }
    for delay in delays {
      guard delay > .zero else {
        sockets.send(bytes, to: destination)
        continue
      }
      let due = now + delay
      let later = departures.lastIndex { $0.due <= due }.map { $0 + 1 } ?? 0
      departures.insert((due, bytes, destination), at: later)
      after(delay) { $0.depart() }
    }
  }

  package func join(_ group: IPAddress, port: UInt16) -> [NetworkError] {
    guard impairment.takesEffect() else { return [] }
    groups[group] = port
    return sockets.join(group, port: port)
  }

  package func leave(_ group: IPAddress) {
    groups[group] = nil
    if impairment.takesEffect() { sockets.leave(group) }
  }

  package func follow(_ interfaces: [NetworkInterface]) -> [NetworkError] {
    sockets.follow(impairment.withOwnAddresses(interfaces))
  }

  package func goesOn(afterEffects count: Int) -> Bool { sockets.goesOn(afterEffects: count) }

  package func close() {
    isClosed = true
    onDatagram = nil
    // Delayed datagrams have already left the node, but can't be sent after closing: so send them early, in order.
    while !departures.isEmpty { depart() }
    sockets.close()
  }
}
