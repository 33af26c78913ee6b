import Foundation
import Glibc
import MatterCrypto
import MatterProtocol
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import Runtime

/// Each test uses its own instance, since all share the loopback interface.
///
/// With `HEARTH_TEST_INTERFACE=veth-a`, in a network namespace, multicast is also tested on that interface.
@Suite struct ServiceDiscoveryTests {
  let loops = MultiThreadedEventLoopGroup.singleton
  static let otherInterface = ProcessInfo.processInfo.environment["HEARTH_TEST_INTERFACE"]

  /// Whether multicast works on loopback, tested without the code under test.
  static let hasMulticast: Bool = {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(descriptor) }
    var request = ip_mreqn()
    request.imr_multiaddr.s_addr = UInt32(0xE000_00FB).bigEndian
    request.imr_address.s_addr = UInt32(0x7F00_0001).bigEndian
    request.imr_ifindex = CInt(if_nametoindex("lo"))
    var timeout = timeval(tv_sec: 0, tv_usec: 500_000)
    let size = socklen_t(MemoryLayout<ip_mreqn>.size)
    guard setsockopt(descriptor, CInt(IPPROTO_IP), IP_MULTICAST_IF, &request, size) == 0,
      setsockopt(descriptor, CInt(IPPROTO_IP), IP_ADD_MEMBERSHIP, &request, size) == 0,
      setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size)) == 0,
      BoundSocket.bind(descriptor, to: SocketAddress(.v4(0xE000_00FB), port: 0)) == 0,
      let port = try? BoundSocket.port(of: descriptor)
    else { return false }
    var byte: UInt8 = 1
    let sent = SocketAddress(.v4(0xE000_00FB), port: port).withSystemAddress { sendto(descriptor, &byte, 1, 0, $0, $1) }
    return sent == 1 && recv(descriptor, &byte, 1, 0) == 1
  }()

  private func discovery(
    _ selection: InterfaceSelection = .loopback, registry: String? = nil, multicast: Bool = true,
    mode: ServiceDiscovery.Mode = .auto
  ) throws -> ServiceDiscovery {
    var options = ServiceDiscovery.Options(interfaces: try NetworkInterfaces.select(selection), registry: registry)
    options.usesMulticast = multicast
    options.mode = mode
    return try ServiceDiscovery(options, on: loops.next(), logger: quiet)
  }

  /// Random, since other processes may run this test on the same loopback: a host's goodbye must not affect theirs.
  private let host = "02" + String(UInt64.random(in: 0x10_0000_0000...0xFF_FFFF_FFFF), radix: 16, uppercase: true)

  private func service(port: UInt16 = 5540) -> MatterService {
    var service = MatterService(
      kind: .commissionable(instance: .random(in: .min ... .max)), hostName: host, port: port)
    service.discriminator = 3840
    service.commissioningMode = 1
    return service
  }

  private func query(_ service: MatterService) -> DiscoveryQuery {
    guard case .commissionable(let instance) = service.kind else { return .commissioner }
    return .commissionable(.instance(instance))
  }

  /// Publishes before and after the search starts, changes, and withdraws.
  private func exercise(
    _ server: ServiceDiscovery, _ client: ServiceDiscovery, at address: IPAddress = .loopback4
  ) async throws {
    let events = Collector<ServiceDiscovery.Event>()
    let early = service()
    server.publish(early)
    let browse = client.browse(query(early), on: loops.next()) { events.add($0) }
    #expect(
      await events.wait { events in
        events.contains {
          guard case .found(let found) = $0 else { return false }
          return found.kind == early.kind && found.port == 5540 && found.discriminator == 3840
            && found.addresses.contains(address)
        }
      })
    let late = service()
    let more = Collector<ServiceDiscovery.Event>()
    let second = client.browse(.commissionable(.inCommissioningMode), on: loops.next()) { more.add($0) }
    server.publish(late)
    #expect(
      await more.wait { events in
        events.contains { if case .found(let found) = $0 { found.kind == late.kind } else { false } }
      })
    server.withdraw(late)
    #expect(
      await more.wait { events in
        events.contains { if case .lost(let lost) = $0 { lost.kind == late.kind } else { false } }
      })
    #expect(!more.all.contains { if case .lost(let lost) = $0 { lost.kind == early.kind } else { false } })
    client.stop(browse)
    client.stop(second)
    try await server.stop().get()
    try await client.stop().get()
  }

  @Test(.enabled(if: hasMulticast, "this system has no multicast on loopback"))
  func discoversByMulticastOnLoopback() async throws {
    let (server, client) = (try discovery(), try discovery())
    #expect(server.status.multicast.contains("lo/IPv4"))
    #expect(server.status.directPort == nil)
    try await exercise(server, client)
  }

  /// A responder that has multicast its records within the last second may answer by unicast only.
  @Test("receives a unicast answer to the first query", .enabled(if: hasMulticast, "no multicast on loopback"))
  func unicastAnswer() async throws {
    let loopback = try #require(try NetworkInterfaces.select(.loopback).first)
    let socket = try BoundSocket.multicast(on: loopback, isIPv6: false)
    let (published, client) = (service(), try discovery())
    let isOver = Mutex(false)
    let (ended, continuation) = AsyncStream.makeStream(of: Never.self)
    // A thread, because it blocks.
    Thread.detachNewThread {
      defer {
        close(socket.descriptor)
        continuation.finish()
      }
      var responder = DNSResponder(random: SystemRandomSource())
      responder.setInterfaces([loopback.id: [.loopback4]], at: HostClock.now())
      responder.publish(published, at: HostClock.now())
      var bytes = [UInt8](repeating: 0, count: 9216)
      while !isOver.withLock({ $0 }) {
        var descriptor = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&descriptor, 1, 50)
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let received = withUnsafeMutablePointer(to: &storage) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            let count = recvfrom(socket.descriptor, &bytes, bytes.count, 0, pointer, &length)
            return (count, count > 0 ? MatterProtocol.SocketAddress(pointer) : nil)
          }
        }
        guard let source = received.1 else { continue }
        responder.handle(packet: Array(bytes.prefix(received.0)), from: source, on: loopback.id, at: HostClock.now())
        while let output = responder.nextOutput() {
          guard case .unicast(let destination, _) = output.destination else { continue }
          _ = destination.withSystemAddress { sendto(socket.descriptor, output.bytes, output.bytes.count, 0, $0, $1) }
        }
      }
    }
    let events = Collector<ServiceDiscovery.Event>()
    let browse = client.browse(query(published), on: loops.next()) { events.add($0) }
    #expect(
      await events.wait { events in
        events.contains { if case .found(let found) = $0 { found.kind == published.kind } else { false } }
      })
    client.stop(browse)
    isOver.withLock { $0 = true }
    for await _ in ended {}
    try await client.stop().get()
  }

  @Test(.enabled(if: otherInterface != nil), arguments: [false, true])
  func discoversByMulticastOnAnotherInterface(isIPv6: Bool) async throws {
    let selection = InterfaceSelection.named([Self.otherInterface ?? ""])
    var interface = try #require(try NetworkInterfaces.select(selection).first)
    interface.addresses.removeAll { $0.ip.isIPv6 != isIPv6 }
    let options = ServiceDiscovery.Options(interfaces: [interface])
    let server = try ServiceDiscovery(options, on: loops.next(), logger: quiet)
    let client = try ServiceDiscovery(options, on: loops.next(), logger: quiet)
    #expect(server.status.multicast == ["\(interface.name)/IPv\(isIPv6 ? 6 : 4)"])
    try await exercise(server, client, at: try #require(interface.addresses.first).ip)
  }

  @Test func discoversByDirectPortsOnly() async throws {
    let directory = try TemporaryDirectory()
    let server = try discovery(registry: directory.path + "/responders", multicast: false)
    let client = try discovery(registry: directory.path + "/responders", multicast: false)
    #expect(server.status.multicast.isEmpty)
    #expect(server.status.directPort != nil)
    try await exercise(server, client)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path + "/responders").isEmpty)
  }

  @Test func reportsServiceOnceOverBothPaths() async throws {
    let directory = try TemporaryDirectory()
    let server = try discovery(registry: directory.path)
    let client = try discovery(registry: directory.path)
    let events = Collector<ServiceDiscovery.Event>()
    let published = service()
    let browse = client.browse(query(published), on: loops.next()) { events.add($0) }
    let begin = HostClock.now()
    server.publish(published)
    #expect(await events.wait { !$0.isEmpty })
    // A second report would arrive before that of another service.
    let (marker, markers) = (service(), Collector<ServiceDiscovery.Event>())
    let second = client.browse(query(marker), on: loops.next()) { markers.add($0) }
    server.publish(marker)
    #expect(await markers.wait { !$0.isEmpty })
    // The announcement is repeated after a second, and may be reported again on a busy machine.
    #expect(events.all.count == 1 || HostClock.now() - begin >= .seconds(1))
    client.stop(browse)
    client.stop(second)
    try await server.stop().get()
    try await client.stop().get()
  }

  @Test func findsOwnServices() async throws {
    let directory = try TemporaryDirectory()
    let both = try discovery(registry: directory.path, multicast: false)
    let events = Collector<ServiceDiscovery.Event>()
    let published = service()
    both.publish(published)
    _ = both.browse(query(published), on: loops.next()) { events.add($0) }
    #expect(await events.wait { !$0.isEmpty })
    try await both.stop().get()
  }

  @Test func removesFilesOfDeadProcesses() async throws {
    let directory = try TemporaryDirectory()
    let stale = directory.path + "/4194303-1"
    try Data("127.0.0.1 9\n".utf8).write(to: URL(fileURLWithPath: stale))
    let registry = try DirectRegistry(directory: directory.path, addresses: [SocketAddress(.loopback4, port: 7)])
    #expect(registry.peers() == [.init(addresses: [SocketAddress(.loopback4, port: 7)], hasMulticast: false)])
    registry.noteMulticast()
    #expect(registry.peers() == [.init(addresses: [SocketAddress(.loopback4, port: 7)], hasMulticast: true)])
    #expect(!FileManager.default.fileExists(atPath: stale))
    registry.close()
    #expect(registry.peers().isEmpty)
  }

  @Test func engineReceivesServiceEvents() async throws {
    let directory = try TemporaryDirectory()
    let server = try discovery(registry: directory.path)
    let client = try discovery(registry: directory.path)
    let events = Collector<EchoEngine.Event>()
    let device = try await startEcho(on: loops.next(), echoes: true, discovery: server)
    let controller = try await startEcho(on: loops.next(), echoes: false, events: events, discovery: client)
    let published = service(port: device.addresses[0].port)
    let wanted = query(published)
    await controller.actor.perform { engine, _ in engine.effects.append(.browse(wanted)) }
    await device.actor.perform { engine, _ in engine.effects.append(.publish(published)) }
    let isFound = { @Sendable (event: EchoEngine.Event) in
      if case .found(let found) = event { found.kind == published.kind } else { false }
    }
    #expect(await events.wait { $0.contains(where: isFound) })
    // A stopped node withdraws its services.
    await device.actor.stop()
    #expect(
      await events.wait { events in
        events.contains { if case .lost(let lost) = $0 { lost.kind == published.kind } else { false } }
      })
    await controller.actor.stop()
    try await server.stop().get()
    try await client.stop().get()
  }

  @Test func notifiesPublisherOfConflict() async throws {
    let notified = Collector<String>()
    let (mine, yours) = (service(), service())
    let loop = loops.next()
    try await loop.submit {
      let core = DiscoveryCore(logger: quiet)
      let provider = SilentProvider()
      core.add {
        provider.onEvent = $0
        return provider
      }
      core.publish(mine, on: loop) { notified.add("mine \($0 == .host(mine.hostName))") }
      core.publish(yours, on: loop) { notified.add("yours \($0 == .instance(yours.kind))") }
      provider.onEvent?(.hostConflict(mine.hostName, [mine.kind]))
      provider.onEvent?(.conflict(yours.kind))
      core.withdraw(yours, silently: false)
      provider.onEvent?(.conflict(yours.kind))
    }.get()
    #expect(await notified.wait { $0.count >= 2 })
    #expect(notified.all == ["mine true", "yours true"])
  }

  @Test func mergesInterfacesAndReportsRepeatedAnnouncements() async throws {
    let notified = Collector<ServiceDiscovery.Event>()
    let before = Collector<[ServiceDiscovery.Event]>()
    var here = service()
    here.addresses = [.loopback4]
    let service = here
    let loop = loops.next()
    try await loop.submit {
      let core = DiscoveryCore(logger: quiet)
      let provider = SilentProvider()
      core.add {
        provider.onEvent = $0
        return provider
      }
      let browse = ServiceDiscovery.Browse(number: 1)
      core.browse(.commissionable(), as: browse, on: loop) { notified.add($0) }
      provider.onEvent?(.found(browse, service, on: InterfaceID(1)))
      provider.onEvent?(.found(browse, service, on: InterfaceID(2)))
      loop.execute { before.add(notified.all) }
      provider.onEvent?(.found(browse, service, on: InterfaceID(2)))
    }.get()
    try await loop.submit {}.get()
    #expect(before.all == [[.found(service)]])
    #expect(notified.all == [.found(service), .found(service)])
  }

  @Test func modeOffDoesNothingAndAvahiRejectsLoopback() async throws {
    let off = try discovery(mode: .off)
    off.publish(service())
    _ = off.browse(.commissionable(), on: loops.next()) { _ in Issue.record("found a service in mode off") }
    #expect(off.status == ServiceDiscovery.Status())
    try await off.stop().get()
    #expect(throws: ServiceDiscovery.Failure.avahiIsNotForLoopback) { try discovery(mode: .avahi) }
  }
}

/// A provider without services; the test calls `onEvent`.
private final class SilentProvider: DiscoveryProvider {
  var onEvent: ((ProviderEvent) -> Void)?

  func publish(_ service: MatterService) {}
  func withdraw(_ service: MatterService, silently: Bool) {}
  func browse(_ query: DiscoveryQuery, as browse: ServiceDiscovery.Browse) {}
  func stop(_ browse: ServiceDiscovery.Browse) {}
  func queryAgain() {}
  func follow(_ interfaces: [NetworkInterface]) {}
  func close() {}
}
