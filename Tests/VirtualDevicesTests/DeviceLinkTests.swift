import Logging
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Synchronization
import Testing

@testable import VirtualDevices

/// Fault injection into the network of one device.
@Suite(.serialized) struct DeviceLinkTests {
  private typealias Ends = (
    link: DeviceLink, device: NIOLoopBound<any DatagramTransport>, other: NIOLoopBound<any DatagramTransport>,
    received: (device: Collector, other: Collector), read: Collector
  )

  /// Opens a device's sockets behind a link, and those of another node. `read` collects the datagrams that reach the
  /// device's sockets, including datagrams that the link drops.
  private func ends(on loop: any EventLoop) async throws -> Ends {
    let (link, device, other, read) = (DeviceLink(), Collector(), Collector(), Collector())
    return try await loop.submit {
      let (sockets, others) = (
        try HostMachine().openTransport(.loopback, port: nil, on: loop),
        try HostMachine().openTransport(.loopback, port: nil, on: loop)
      )
      let impaired = ImpairedTransport(sockets, link, on: loop)
      let receive = sockets.onDatagram
      sockets.onDatagram = { bytes, source in
        let bytes = bytes
        receive?(bytes, source)
        read.bytes.withLock { $0 += bytes }
      }
      impaired.onDatagram = { bytes, _ in device.bytes.withLock { $0 += bytes } }
      others.onDatagram = { bytes, _ in other.bytes.withLock { $0 += bytes } }
      return (
        link, NIOLoopBound(impaired, eventLoop: loop), NIOLoopBound(others, eventLoop: loop), (device, other), read
      )
    }.get()
  }

  private func send(
    _ byte: UInt8, from: NIOLoopBound<any DatagramTransport>, to: NIOLoopBound<any DatagramTransport>
  ) async throws {
    try await from.eventLoop.submit {
      from.value.send([byte], to: SocketAddress(.loopback4, port: to.value.port))
    }.get()
  }

  /// Drops datagrams in each direction. The second datagram shows that the first one was lost.
  @Test(
    .timeLimit(.minutes(10)),
    arguments: [DeviceNetwork.Fault.partition, .conditions(LinkConditions(latency: .zero, loss: .always))])
  func dropsAllDatagrams(_ fault: DeviceNetwork.Fault) async throws {
    let (link, device, other, received, read) = try await ends(on: HostMachine().nextEventLoop())
    #expect(!link.isCut)
    link.inject(fault)
    #expect(link.isCut)
    try await send(1, from: device, to: other)
    try await send(1, from: other, to: device)
    // A datagram already in transit would be delivered if the link were healed before it is read.
    #expect(await read.has(1))
    link.inject(.heal)
    #expect(!link.isCut && link.network == DeviceNetwork())
    try await send(2, from: device, to: other)
    try await send(2, from: other, to: device)
    #expect(await received.device.has(2))
    #expect(await received.other.has(2))
    #expect(received.device.bytes.withLock(\.self) == [2] && received.other.bytes.withLock(\.self) == [2])
    try await device.eventLoop.submit {
      device.value.close()
      other.value.close()
    }.get()
  }

  @Test(.timeLimit(.minutes(10))) func delaysDatagrams() async throws {
    let (link, device, other, received, _) = try await ends(on: HostMachine().nextEventLoop())
    link.inject(
      .conditions(LinkConditions(latency: .milliseconds(100), jitter: .milliseconds(20), duplication: .always)))
    for (from, to, collector) in [(device, other, received.other), (other, device, received.device)] {
      let begin = HostClock.now()
      try await send(1, from: from, to: to)
      #expect(await collector.has(1))
      #expect(HostClock.now() - begin >= .milliseconds(100))
      #expect(await eventually { collector.bytes.withLock(\.count) == 2 })
      #expect(collector.bytes.withLock(\.self) == [1, 1])
    }
    try await device.eventLoop.submit {
      device.value.close()
      other.value.close()
    }.get()
  }

  private static let slow = DeviceNetwork.Fault.conditions(LinkConditions(latency: .seconds(3_600)))

  /// The packet path of every device uses the link: without a fault it must not access the clock or the loop.
  @Test func healthyLinkHasNoOverhead() async throws {
    let loop = HostMachine().nextEventLoop()
    let (out, into, link) = (Collector(), Collector(), DeviceLink())
    let loopAccesses = try await loop.submit {
      let sockets = RecordingSockets(loop, out)
      let transport = ImpairedTransport(sockets, link, on: loop)
      transport.onDatagram = { bytes, _ in into.bytes.withLock { $0 += bytes } }
      transport.send([1], to: RecordingSockets.somewhere)
      sockets.onDatagram?([2], RecordingSockets.somewhere)
      let before = sockets.loopAccesses
      link.inject(.conditions(LinkConditions(latency: .zero)))
      transport.send([3], to: RecordingSockets.somewhere)
      sockets.onDatagram?([4], RecordingSockets.somewhere)
      return [before, sockets.loopAccesses]
    }.get()
    #expect(loopAccesses == [0, 2])
    #expect(out.bytes.withLock(\.self) == [1, 3] && into.bytes.withLock(\.self) == [2, 4])
  }

  /// Datagrams sent before closing are delivered, however slow the link, unless it is cut.
  @Test(arguments: [false, true]) func deliversDatagramsSentBeforeClosing(isCut: Bool) async throws {
    let loop = HostMachine().nextEventLoop()
    let (out, into, link) = (Collector(), Collector(), DeviceLink())
    try await loop.submit {
      let sockets = RecordingSockets(loop, out)
      let transport = ImpairedTransport(sockets, link, on: loop)
      transport.onDatagram = { bytes, _ in into.bytes.withLock { $0 += bytes } }
      link.inject(Self.slow)
      for byte in UInt8(1)...20 { transport.send([byte], to: RecordingSockets.somewhere) }
      sockets.onDatagram?([21], RecordingSockets.somewhere)
      if isCut { link.inject(.partition) }
      transport.close()
      transport.close()
    }.get()
    #expect(out.bytes.withLock(\.self) == (isCut ? [] : [UInt8](1...20)))
    #expect(into.bytes.withLock(\.self).isEmpty)
  }

  /// Datagrams in flight are lost when the link is cut, in both directions.
  @Test(.timeLimit(.minutes(10))) func dropsDatagramsInFlight() async throws {
    let loop = HostMachine().nextEventLoop()
    let (out, into, link) = (Collector(), Collector(), DeviceLink())
    let arrival = try await loop.submit {
      let sockets = RecordingSockets(loop, out)
      let transport = ImpairedTransport(sockets, link, on: loop)
      transport.onDatagram = { bytes, _ in into.bytes.withLock { $0 += bytes } }
      link.inject(.conditions(LinkConditions(latency: .milliseconds(50))))
      transport.send([1], to: RecordingSockets.somewhere)
      sockets.onDatagram?([2], RecordingSockets.somewhere)
      link.inject(.partition)
      // Due after both arrivals. The transport lives until then.
      let bound = NIOLoopBound(transport, eventLoop: loop)
      return loop.scheduleTask(in: .milliseconds(60)) { _ = bound.value }.futureResult
    }.get()
    try await arrival.get()
    #expect(out.bytes.withLock(\.isEmpty) && into.bytes.withLock(\.isEmpty))
  }

  /// The state of the link at the arrival of a datagram decides, as in a simulation.
  @Test(.timeLimit(.minutes(10))) func deliversDatagramsIfHealedBeforeArrival() async throws {
    let loop = HostMachine().nextEventLoop()
    let (out, into, link) = (Collector(), Collector(), DeviceLink())
    try await loop.submit {
      let sockets = RecordingSockets(loop, out)
      let transport = ImpairedTransport(sockets, link, on: loop)
      transport.onDatagram = { bytes, _ in into.bytes.withLock { $0 += bytes } }
      link.inject(.conditions(LinkConditions(latency: .milliseconds(50))))
      transport.send([1], to: RecordingSockets.somewhere)
      sockets.onDatagram?([2], RecordingSockets.somewhere)
      link.inject(.partition)
      link.inject(.heal)
    }.get()
    #expect(await out.has(1))
    #expect(await into.has(2))
  }

  // MARK: Service discovery

  /// Cached services are reported at once; the handler may publish or stop.
  @Test(.timeLimit(.minutes(10))) func handlerMayCallBack() async throws {
    let loop = HostMachine().nextEventLoop()
    let (recorder, link) = (RecordingDiscovery(loop), DeviceLink())
    let discovery = ImpairedDiscovery(recorder, link)
    let browse = Mutex<ServiceDiscovery.Browse?>(nil)
    try await loop.submit {
      browse.withLock {
        $0 = discovery.browse(.commissionable(), on: loop) { _ in
          discovery.publish(RecordingDiscovery.service, on: nil, onConflict: nil)
          if let browse = browse.withLock(\.self) { discovery.stop(browse) }
        }
      }
    }.get()
    try await loop.submit {}.get()
    #expect(recorder.newRequests == ["browse", "publish", "stop"])
  }

  @Test func cutLinkSuspendsDiscovery() {
    let loop = HostMachine().nextEventLoop()
    let (recorder, link) = (RecordingDiscovery(loop), DeviceLink())
    let discovery = ImpairedDiscovery(recorder, link)
    discovery.publish(RecordingDiscovery.service, on: nil, onConflict: nil)
    let browse = discovery.browse(.commissionable(), on: loop) { _ in }
    #expect(recorder.newRequests == ["publish", "browse"])
    link.inject(.conditions(LinkConditions(loss: Ratio(99, of: 100))))
    #expect(recorder.newRequests.isEmpty)
    for fault in [DeviceNetwork.Fault.partition, .conditions(LinkConditions(loss: .always))] {
      link.inject(fault)
      #expect(recorder.newRequests == ["hide", "stop"])
      link.inject(fault)
      #expect(recorder.newRequests.isEmpty)
      link.inject(.heal)
      #expect(recorder.newRequests == ["publish", "browse"])
    }
    // Requests during a cut take effect afterward.
    link.inject(.partition)
    _ = recorder.newRequests
    discovery.withdraw(RecordingDiscovery.service, silently: false)
    discovery.stop(browse)
    #expect(recorder.newRequests.isEmpty)
    link.inject(.heal)
    #expect(recorder.newRequests.isEmpty)
    link.inject(.partition)
    discovery.publish(RecordingDiscovery.service, on: nil, onConflict: nil)
    _ = discovery.browse(.commissionable(), on: loop) { _ in }
    #expect(recorder.newRequests.isEmpty)
    link.inject(.heal)
    #expect(recorder.newRequests == ["publish", "browse"])
    discovery.withdraw(RecordingDiscovery.service, silently: false)
    #expect(recorder.newRequests == ["withdraw"])
  }
}
