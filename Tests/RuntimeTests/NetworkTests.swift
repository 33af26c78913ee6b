import Glibc
import MatterProtocol
import NIOCore
import NIOPosix
import Testing

@testable import Runtime

@Suite struct NetworkTests {
  private static let lo = NetworkInterface(
    name: "lo", index: 1, addresses: [.init(.loopback4, prefixLength: 8), .init(.loopback6, prefixLength: 128)],
    isLoopback: true)
  private static let eth = NetworkInterface(
    name: "eth7", index: 7, addresses: [.init(.v4(0x0A00_0001), prefixLength: 24)], isLoopback: false)
  private static let down = NetworkInterface(name: "down3", index: 3, addresses: [], isLoopback: false, isUp: false)

  @Test func selectsLoopbackByDefaultAndAllUsableInterfaces() throws {
    let all = [Self.lo, Self.down, Self.eth]
    #expect(try NetworkInterfaces.select(.init(names: []), from: all) == [Self.lo])
    #expect(try NetworkInterfaces.select(.init(names: ["all"]), from: all) == [Self.lo, Self.eth])
    #expect(try NetworkInterfaces.select(.init(names: ["eth7", "lo", "eth7"]), from: all) == [Self.eth, Self.lo])
  }

  @Test func unknownNameListsAvailableInterfaces() {
    let all = [Self.lo, Self.down, Self.eth]
    let error = #expect(throws: NetworkError.self) {
      try NetworkInterfaces.select(.init(names: ["lo", "wlan9"]), from: all)
    }
    #expect(error == .unknownInterface("wlan9", existing: ["lo", "eth7"]))
    #expect(
      error?.description == "there is no network interface 'wlan9'; there are: lo, eth7, and 'all' for all of them")
    #expect(throws: NetworkError.unusableInterface("down3")) {
      try NetworkInterfaces.select(.named(["down3"]), from: all)
    }
  }

  @Test func findsLoopbackInterface() throws {
    let loopback = try #require(try NetworkInterfaces.select(.loopback).first)
    #expect(loopback.isLoopback)
    #expect(loopback.addresses.contains(.init(.loopback4, prefixLength: 8)))
  }

  @Test func comparesSubnets() {
    let four = NetworkInterface.Address(.v4(0x0A00_0001), prefixLength: 24)
    #expect(four.contains(.v4(0x0A00_00FE)))
    #expect(!four.contains(.v4(0x0A00_0101)))
    #expect(!four.contains(.loopback6))
    let six = NetworkInterface.Address(.v6(high: 0xFD00_0000_0000_0001, low: 1, scope: 0), prefixLength: 64)
    #expect(six.contains(.v6(high: 0xFD00_0000_0000_0001, low: 99, scope: 0)))
    #expect(!six.contains(.v6(high: 0xFD00_0000_0000_0002, low: 99, scope: 0)))
  }

  @Test func bindsOnePortWithoutWildcardAddresses() throws {
    let sockets = try BoundSockets(.loopback)
    defer { sockets.close() }
    #expect(sockets.port != 0)
    #expect(sockets.addresses.allSatisfy { $0.port == sockets.port && $0.ip.isLoopback })
    #expect(sockets.addresses.contains { $0.ip == .loopback4 })
    let error = #expect(throws: NetworkError.self) { try BoundSockets(.loopback, port: sockets.port) }
    guard case .portInUse(let address) = error else {
      Issue.record("expected portInUse, got \(String(describing: error))")
      return
    }
    #expect(address.port == sockets.port)
  }

  /// An answer comes from the address that the request was sent to, whether the other end has one socket or one for each
  /// family.
  @Test func oneSocketServesBothFamiliesOnLoopback() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let lo = try #require(try NetworkInterfaces.select(.loopback).first)
    guard lo.addresses.map(\.ip) == [.loopback4, .loopback6] else { return }
    let separate = lo
    let (answers, sources) = (Collector<[UInt8]>(), Collector<SocketAddress>())
    let nodes = try await loop.submit {
      let sockets = try BoundSockets(.loopback)
      #expect(sockets.sockets.count == 1)
      let server = UDPTransport(sockets, on: loop)
      #expect(server.addresses.map(\.ip) == [.loopback4, .loopback6])
      server.onDatagram = { [unowned server] bytes, source in server.send(bytes + [0xFF], to: source) }
      let clients = [
        UDPTransport(try BoundSockets(.loopback), on: loop), UDPTransport(try BoundSockets([separate]), on: loop),
      ]
      for client in clients {
        client.onDatagram = { bytes, source in
          answers.add(bytes)
          sources.add(source)
        }
      }
      return NIOLoopBound((server: server, clients: clients), eventLoop: loop)
    }.get()
    var expected: [SocketAddress] = []
    for (client, ip) in [(0, IPAddress.loopback4), (0, .loopback6), (1, .loopback4), (1, .loopback6)] {
      let address = try await loop.submit {
        let address = SocketAddress(ip, port: nodes.value.server.port)
        nodes.value.clients[client].send([UInt8(client)], to: address)
        return address
      }.get()
      expected.append(address)
      let wanted = expected
      #expect(await sources.wait { $0 == wanted })
    }
    #expect(answers.all == [[0, 0xFF], [0, 0xFF], [1, 0xFF], [1, 0xFF]])
    try await loop.submit {
      #expect(nodes.value.server.counters == UDPTransport.Counters())
      nodes.value.server.close()
      for client in nodes.value.clients { client.close() }
    }.get()
  }

  /// A socket of loopback has no port to itself if there are others: each address has one.
  @Test func sharesPortWithOtherInterfaces() throws {
    let lo = try #require(try NetworkInterfaces.select(.loopback).first)
    var other = lo
    // Stands for an address of another interface.
    other.addresses = [.init(.v4(0x7F00_0109), prefixLength: 8)]
    let sockets = try BoundSockets([lo, other])
    defer { sockets.close() }
    #expect(sockets.addresses.map(\.ip) == (lo.addresses + other.addresses).map(\.ip))
    #expect(Set(sockets.addresses.map(\.port)).count == 1)
  }

  @Test func loopbackSendsToNoOtherInterface() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let sockets = try BoundSockets(.loopback)
    let counters = try await loop.submit {
      let transport = UDPTransport(sockets, on: loop)
      defer { transport.close() }
      transport.send([1], to: SocketAddress(.v4(0xC000_0203), port: 9))
      transport.send([1], to: SocketAddress(.v6(high: 0xFE80_0000_0000_0000, low: 1, scope: 1), port: 9))
      return transport.counters
    }.get()
    #expect(counters == UDPTransport.Counters(unreachable: 2, failed: 0))
  }

  @Test("loopback has multicast DNS over IPv4 only, and one socket per node") func loopbackFamilies() {
    let addresses: [NetworkInterface.Address] = [
      .init(.loopback4, prefixLength: 8), .init(.loopback6, prefixLength: 128),
    ]
    let loopback = NetworkInterface(name: "lo", index: 1, addresses: addresses, isLoopback: true)
    let other = NetworkInterface(name: "v0", index: 2, addresses: addresses, isLoopback: false)
    #expect(MulticastRoute.families(on: loopback) == [false])
    #expect(MulticastRoute.families(on: other) == [false, true])
    #expect(BoundSockets.count(.loopback, [loopback]) == 1)
    #expect(BoundSockets.count(.all, [loopback, other]) == 4)
  }

  @Test func clocksAdvanceAndMatterEpochIs2000() {
    let first = HostClock.now()
    #expect(HostClock.now() >= first)
    #expect(HostClock.unixMicroseconds() / 1_000_000 - Int64(HostMachine().matterSeconds()) - 946_684_800 <= 1)
  }
}
