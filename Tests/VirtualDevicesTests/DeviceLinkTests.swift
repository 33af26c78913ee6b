import Logging
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Synchronization
import Testing

@testable import VirtualDevices

/// The network around one device, as somebody has made it.
@Suite(.serialized) struct DeviceLinkTests {
  /// Datagrams of one byte each, as they came.
  private final class Heard: Sendable {
    let bytes = Mutex<[UInt8]>([])

    /// Whether it comes, on however busy a machine.
    func has(_ byte: UInt8) async -> Bool {
      for _ in 0..<12_000 {
        if bytes.withLock({ $0.contains(byte) }) { return true }
        try? await Task.sleep(for: .milliseconds(10))
      }
      return false
    }
  }

  private typealias Ends = (
    link: DeviceLink, device: NIOLoopBound<any DatagramTransport>, other: NIOLoopBound<any DatagramTransport>,
    heard: (device: Heard, other: Heard)
  )

  /// A device's sockets behind a link, and somebody else's.
  private func ends(on loop: any EventLoop) async throws -> Ends {
    let (link, device, other) = (DeviceLink(), Heard(), Heard())
    return try await loop.submit {
      let sockets = try LinkedMachine(host: HostMachine(), link: link).openTransport(.loopback, port: nil, on: loop)
      let others = try HostMachine().openTransport(.loopback, port: nil, on: loop)
      sockets.onDatagram = { bytes, _ in device.bytes.withLock { $0 += bytes } }
      others.onDatagram = { bytes, _ in other.bytes.withLock { $0 += bytes } }
      return (link, NIOLoopBound(sockets, eventLoop: loop), NIOLoopBound(others, eventLoop: loop), (device, other))
    }.get()
  }

  private func send(
    _ byte: UInt8, from: NIOLoopBound<any DatagramTransport>, to: NIOLoopBound<any DatagramTransport>
  ) async throws {
    try await from.eventLoop.submit {
      from.value.send([byte], to: SocketAddress(.loopback4, port: to.value.port))
    }.get()
  }

  /// Each way for itself; what comes later shows that what came before was lost.
  @Test(
    .timeLimit(.minutes(10)),
    arguments: [DeviceNetwork.Fault.partition, .conditions(LinkConditions(latency: .zero, loss: .always))])
  func nothingGetsThrough(_ fault: DeviceNetwork.Fault) async throws {
    let (link, device, other, heard) = try await ends(on: HostMachine().nextEventLoop())
    #expect(!link.isCut)
    link.inject(fault)
    #expect(link.isCut)
    try await send(1, from: device, to: other)
    try await send(1, from: other, to: device)
    // Who is in the middle of it may still hear it: it is read when it comes.
    try await Task.sleep(for: .milliseconds(200))
    link.inject(.heal)
    #expect(!link.isCut && link.network == DeviceNetwork())
    try await send(2, from: device, to: other)
    try await send(2, from: other, to: device)
    #expect(await heard.device.has(2))
    #expect(await heard.other.has(2))
    #expect(heard.device.bytes.withLock(\.self) == [2] && heard.other.bytes.withLock(\.self) == [2])
    try await device.eventLoop.submit {
      device.value.close()
      other.value.close()
    }.get()
  }

  @Test(.timeLimit(.minutes(10))) func whatIsSlowComesLater() async throws {
    let (link, device, other, heard) = try await ends(on: HostMachine().nextEventLoop())
    link.inject(
      .conditions(LinkConditions(latency: .milliseconds(300), jitter: .milliseconds(50), duplication: .always)))
    for (from, to, ear) in [(device, other, heard.other), (other, device, heard.device)] {
      let begin = HostClock.now()
      try await send(1, from: from, to: to)
      #expect(await ear.has(1))
      #expect(HostClock.now() - begin >= .milliseconds(300))
      for _ in 0..<12_000 where ear.bytes.withLock(\.count) < 2 { try await Task.sleep(for: .milliseconds(10)) }
      #expect(ear.bytes.withLock(\.self) == [1, 1])
    }
    // What is under way when the way is cut is lost, in either direction.
    // On a machine that stands still for long they have arrived by then: then they take longer.
    for latency in [2, 20, 60] {
      link.inject(.conditions(LinkConditions(latency: .seconds(latency))))
      let begin = HostClock.now()
      try await send(3, from: device, to: other)
      try await send(3, from: other, to: device)
      try await Task.sleep(for: .milliseconds(200))
      link.inject(.partition)
      let isInTime = HostClock.now() - begin < .seconds(latency)
      try await Task.sleep(for: .seconds(latency) + .milliseconds(500))
      link.inject(.heal)
      if isInTime { break }
      for ear in [heard.other, heard.device] { ear.bytes.withLock { $0.removeAll { $0 == 3 } } }
    }
    try await send(4, from: device, to: other)
    try await send(4, from: other, to: device)
    #expect(await heard.other.has(4))
    #expect(await heard.device.has(4))
    #expect(!heard.other.bytes.withLock { $0.contains(3) } && !heard.device.bytes.withLock { $0.contains(3) })
    try await device.eventLoop.submit {
      device.value.close()
      other.value.close()
    }.get()
  }

  /// Sockets that write down what is sent, and how often somebody asks for their loop.
  private final class Sockets: DatagramTransport {
    let loop: any EventLoop
    let heard: Heard
    var looks = 0
    var onDatagram: ((consuming [UInt8], MatterProtocol.SocketAddress) -> Void)?
    init(_ loop: any EventLoop, _ heard: Heard) { (self.loop, self.heard) = (loop, heard) }

    var eventLoop: any EventLoop {
      looks += 1
      return loop
    }
    var port: UInt16 { 5540 }
    var addresses: [MatterProtocol.SocketAddress] { [] }
    var counters: UDPTransport.Counters { UDPTransport.Counters() }
    func send(_ bytes: [UInt8], to _: MatterProtocol.SocketAddress) { heard.bytes.withLock { $0 += bytes } }
    func join(_: IPAddress, port _: UInt16) -> [NetworkError] { [] }
    func leave(_: IPAddress) {}
    func follow(_: [NetworkInterface]) -> [NetworkError] { [] }
    func close() {}
  }

  private static let somewhere = MatterProtocol.SocketAddress(.loopback4, port: 5540)
  private static let slow = DeviceNetwork.Fault.conditions(LinkConditions(latency: .seconds(3_600)))

  /// The packet path of every device leads through here: neither the clock nor anything else is asked where nothing is wrong.
  @Test func aGoodLinkCostsNothing() async throws {
    let loop = HostMachine().nextEventLoop()
    let (out, into, link) = (Heard(), Heard(), DeviceLink())
    let looks = try await loop.submit {
      let sockets = Sockets(loop, out)
      let transport = LinkedTransport(sockets, link)
      transport.onDatagram = { bytes, _ in into.bytes.withLock { $0 += bytes } }
      transport.send([1], to: Self.somewhere)
      sockets.onDatagram?([2], Self.somewhere)
      let before = sockets.looks
      link.inject(.conditions(LinkConditions(latency: .zero)))
      transport.send([3], to: Self.somewhere)
      sockets.onDatagram?([4], Self.somewhere)
      return [before, sockets.looks]
    }.get()
    #expect(looks == [0, 2])
    #expect(out.bytes.withLock(\.self) == [1, 3] && into.bytes.withLock(\.self) == [2, 4])
  }

  /// What a device says last, over however slow a link, is heard; unless that is cut.
  @Test(arguments: [false, true]) func whatWasSentBeforeTheEndArrives(isCut: Bool) async throws {
    let loop = HostMachine().nextEventLoop()
    let (out, into, link) = (Heard(), Heard(), DeviceLink())
    try await loop.submit {
      let sockets = Sockets(loop, out)
      let transport = LinkedTransport(sockets, link)
      transport.onDatagram = { bytes, _ in into.bytes.withLock { $0 += bytes } }
      link.inject(Self.slow)
      for byte in UInt8(1)...20 { transport.send([byte], to: Self.somewhere) }
      sockets.onDatagram?([21], Self.somewhere)
      if isCut { link.inject(.partition) }
      transport.close()
      transport.close()
    }.get()
    #expect(out.bytes.withLock(\.self) == (isCut ? [] : [UInt8](1...20)))
    #expect(into.bytes.withLock(\.self).isEmpty)
  }

  /// It counts how the link is when a datagram arrives, as in a simulation.
  @Test(.timeLimit(.minutes(10))) func whatIsHealedInTimeHarmsNothing() async throws {
    let loop = HostMachine().nextEventLoop()
    let (out, into, link) = (Heard(), Heard(), DeviceLink())
    try await loop.submit {
      let sockets = Sockets(loop, out)
      let transport = LinkedTransport(sockets, link)
      transport.onDatagram = { bytes, _ in into.bytes.withLock { $0 += bytes } }
      link.inject(.conditions(LinkConditions(latency: .milliseconds(50))))
      transport.send([1], to: Self.somewhere)
      sockets.onDatagram?([2], Self.somewhere)
      link.inject(.partition)
      link.inject(.heal)
    }.get()
    #expect(await out.has(1))
    #expect(await into.has(2))
  }

  // MARK: Service discovery

  private final class Ledger: NodeDiscovery {
    let loop: any EventLoop
    private let asked = Mutex<[String]>([])
    init(_ loop: any EventLoop) { self.loop = loop }

    /// What it was asked for since this was asked last.
    var news: [String] {
      asked.withLock { asked in
        defer { asked = [] }
        return asked
      }
    }

    private func note(_ what: String) { asked.withLock { $0.append(what) } }

    func publish(_: MatterService, on _: (any EventLoop)?, onConflict _: (@Sendable (ServiceConflict) -> Void)?) {
      note("publish")
    }
    func withdraw(_: MatterService, silently: Bool) { note(silently ? "hide" : "withdraw") }
    func browse(
      _: DiscoveryQuery, on _: any EventLoop, _ handler: @escaping @Sendable (ServiceDiscovery.Event) -> Void
    ) -> ServiceDiscovery.Browse {
      note("browse")
      handler(.found(DeviceLinkTests.service))
      return ServiceDiscovery.Browse(number: 1)
    }
    func stop(_: ServiceDiscovery.Browse) { note("stop") }
    func stop() -> EventLoopFuture<Void> { loop.makeSucceededVoidFuture() }
  }

  fileprivate static let service = MatterService(
    kind: .commissionable(instance: 7), hostName: "0011223344FF", port: 5540, text: [])

  /// What is known already is told at once: whoever hears it may ask for more, or take something back.
  @Test(.timeLimit(.minutes(10))) func whoHearsSomethingMayAskForMore() async throws {
    let loop = HostMachine().nextEventLoop()
    let (ledger, link) = (Ledger(loop), DeviceLink())
    let discovery = LinkedDiscovery(ledger, link)
    let browse = Mutex<ServiceDiscovery.Browse?>(nil)
    try await loop.submit {
      browse.withLock {
        $0 = discovery.browse(.commissionable(), on: loop) { _ in
          discovery.publish(Self.service, on: nil, onConflict: nil)
          if let browse = browse.withLock(\.self) { discovery.stop(browse) }
        }
      }
    }.get()
    try await loop.submit {}.get()
    #expect(ledger.news == ["browse", "publish", "stop"])
  }

  @Test func whoIsCutOffIsNotSeenAndSeesNobody() {
    let loop = HostMachine().nextEventLoop()
    let (ledger, link) = (Ledger(loop), DeviceLink())
    let discovery = LinkedDiscovery(ledger, link)
    discovery.publish(Self.service, on: nil, onConflict: nil)
    let browse = discovery.browse(.commissionable(), on: loop) { _ in }
    #expect(ledger.news == ["publish", "browse"])
    link.inject(.conditions(LinkConditions(loss: Ratio(99, of: 100))))
    #expect(ledger.news.isEmpty)
    for fault in [DeviceNetwork.Fault.partition, .conditions(LinkConditions(loss: .always))] {
      link.inject(fault)
      #expect(ledger.news == ["hide", "stop"])
      link.inject(fault)
      #expect(ledger.news.isEmpty)
      link.inject(.heal)
      #expect(ledger.news == ["publish", "browse"])
    }
    // What is said meanwhile is not heard; it counts afterwards.
    link.inject(.partition)
    _ = ledger.news
    discovery.withdraw(Self.service, silently: false)
    discovery.stop(browse)
    #expect(ledger.news.isEmpty)
    link.inject(.heal)
    #expect(ledger.news.isEmpty)
    link.inject(.partition)
    discovery.publish(Self.service, on: nil, onConflict: nil)
    _ = discovery.browse(.commissionable(), on: loop) { _ in }
    #expect(ledger.news.isEmpty)
    link.inject(.heal)
    #expect(ledger.news == ["publish", "browse"])
    discovery.withdraw(Self.service, silently: false)
    #expect(ledger.news == ["withdraw"])
  }
}
