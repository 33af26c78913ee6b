import MatterModel
import MatterProtocol
import NIOCore
import NIOPosix
import Testing

@testable import Runtime

@Suite(.serialized) struct MulticastTests {
  private static let group = IPAddress.multicast(fabricID: 0x1234_5678_9ABC_DEF0, group: 0x0103)
  private static let other = IPAddress.multicast(fabricID: 0x1234_5678_9ABC_DEF0, group: 0x0104)

  @Test func deliversToEachMember() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let collectors = (0..<3).map { _ in Collector<[UInt8]>() }
    let transports = try await loop.submit {
      let transports = try collectors.map { collector in
        let transport = UDPTransport(try BoundSockets(.loopback), on: loop)
        transport.onDatagram = { bytes, _ in collector.add(bytes) }
        return transport
      }
      // Two members of the group, and one of another group.
      #expect(transports[0].join(Self.group, port: 5540).isEmpty)
      #expect(transports[1].join(Self.group, port: 5540).isEmpty)
      #expect(transports[1].join(Self.group, port: 5540).isEmpty, "a repeated join has no effect")
      #expect(transports[2].join(Self.other, port: 5540).isEmpty)
      return NIOLoopBound(transports, eventLoop: loop)
    }.get()
    func send(_ bytes: [UInt8], to group: IPAddress) async throws {
      try await loop.submit {
        transports.value[2].send(bytes, to: SocketAddress(group, port: 5540))
        #expect(transports.value[2].counters.failed == 0)
      }.get()
    }
    try await send([1], to: Self.group)
    #expect(await collectors[0].wait { $0 == [[1]] })
    #expect(await collectors[1].wait { $0 == [[1]] })
    try await loop.submit { transports.value[0].leave(Self.group) }.get()
    try await send([2], to: Self.group)
    #expect(await collectors[1].wait { $0 == [[1], [2]] })
    try await send([3], to: Self.other)
    #expect(await collectors[2].wait { $0 == [[3]] })
    #expect(collectors[0].all == [[1]])
    #expect(collectors[1].all == [[1], [2]])
    try await loop.submit { for transport in transports.value { transport.close() } }.get()
  }

  /// A node on the port of groups gets no message to a group of other nodes.
  @Test func doesNotDeliverToOtherNodesOnThePort() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let (member, other) = (Collector<[UInt8]>(), Collector<[UInt8]>())
    // Another process of this machine may have the port.
    guard let sockets = try? BoundSockets(.loopback, port: NodeCore.groupPort) else { return }
    let transports = try await loop.submit {
      let transports = [
        UDPTransport(try BoundSockets(.loopback), on: loop), UDPTransport(sockets, on: loop),
        UDPTransport(try BoundSockets(.loopback), on: loop),
      ]
      #expect(transports[0].join(Self.group, port: NodeCore.groupPort).isEmpty)
      transports[0].onDatagram = { bytes, _ in member.add(bytes) }
      transports[1].onDatagram = { bytes, _ in other.add(bytes) }
      transports[2].send([1], to: SocketAddress(Self.group, port: NodeCore.groupPort))
      return NIOLoopBound(transports, eventLoop: loop)
    }.get()
    #expect(await member.wait { $0 == [[1]] })
    try await loop.submit {
      transports.value[2].send([2], to: SocketAddress(.loopback4, port: NodeCore.groupPort))
    }.get()
    #expect(await other.wait { !$0.isEmpty })
    #expect(other.all == [[2]])
    try await loop.submit { for transport in transports.value { transport.close() } }.get()
  }

  /// The drops of group sockets are counted, and kept after the sockets are closed.
  @Test func countsOverflowsOfGroupSockets() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let count = try await loop.submit {
      let receiver = UDPTransport(try BoundSockets(.loopback), on: loop)
      let sender = UDPTransport(try BoundSockets(.loopback), on: loop)
      defer {
        receiver.close()
        sender.close()
      }
      #expect(receiver.join(Self.group, port: 5541).isEmpty)
      // The receiver does not read meanwhile, since this closure blocks its loop.
      for _ in 0..<20_000 {
        sender.send([UInt8](repeating: 0, count: 1200), to: SocketAddress(Self.group, port: 5541))
      }
      let count = receiver.counters.overflowed
      receiver.leave(Self.group)
      #expect(receiver.counters.overflowed == count, "the count survives leaving the group")
      #expect(receiver.counters.drops == ["overflowed": count])
      return count
    }.get()
    #expect(count > 10_000)
  }

  /// Opens a socket for a new address on the same port, closes that of a removed address, and stays in its groups.
  @Test func followsAddressChanges() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    var lo = try #require(try NetworkInterfaces.select(.loopback).first)
    func at(_ numbers: UInt32...) -> NetworkInterface {
      lo.addresses = numbers.map { .init(.v4(0x7F00_0000 + $0), prefixLength: 8) }
      return lo
    }
    let (first, second, none) = (at(1), at(1, 2), at())
    let moved = at(2)
    let received = Collector<[UInt8]>()
    let (receiver, sender) = try await loop.submit {
      let receiver = UDPTransport(try BoundSockets([first]), on: loop)
      receiver.onDatagram = { bytes, _ in received.add(bytes) }
      #expect(receiver.join(Self.group, port: 5540).isEmpty)
      let sender = UDPTransport(try BoundSockets([first]), on: loop)
      return (NIOLoopBound(receiver, eventLoop: loop), NIOLoopBound(sender, eventLoop: loop))
    }.get()
    func send(_ byte: UInt8, to ip: IPAddress) async throws {
      try await loop.submit {
        let port = ip.isMulticast ? 5540 : receiver.value.port
        sender.value.send([byte], to: SocketAddress(ip, port: port))
      }.get()
    }
    func follow(_ interfaces: [NetworkInterface]) async throws -> [IPAddress] {
      try await loop.submit {
        #expect(receiver.value.follow(interfaces).isEmpty)
        #expect(receiver.value.addresses.allSatisfy { $0.port == receiver.value.port })
        return receiver.value.addresses.map(\.ip)
      }.get()
    }
    try await send(1, to: .v4(0x7F00_0001))
    #expect(await received.wait { $0 == [[1]] })
    #expect(try await follow([second]) == second.addresses.map(\.ip))
    try await send(2, to: .v4(0x7F00_0002))
    #expect(await received.wait { $0 == [[1], [2]] })
    try await send(3, to: Self.group)
    #expect(await received.wait { $0 == [[1], [2], [3]] })
    #expect(try await follow([moved]) == moved.addresses.map(\.ip))
    try await send(4, to: .v4(0x7F00_0001))
    try await send(5, to: Self.group)
    #expect(await received.wait { $0 == [[1], [2], [3], [5]] }, "no socket at the old address")
    // The cable is unplugged and plugged in again.
    #expect(try await follow([none]) == [])
    try await send(6, to: .v4(0x7F00_0002))
    try await send(7, to: Self.group)
    #expect(try await follow([second]) == second.addresses.map(\.ip))
    try await send(8, to: .v4(0x7F00_0001))
    try await send(9, to: Self.group)
    #expect(await received.wait { $0 == [[1], [2], [3], [5], [8], [9]] })
    try await loop.submit {
      receiver.value.close()
      #expect(receiver.value.follow([second]).isEmpty && sender.value.counters.failed == 0)
      sender.value.close()
    }.get()
  }

  @Test func mapsGroupToIPv4AddressOnLoopback() {
    let lo = NetworkInterface(
      name: "lo", index: 1, addresses: [.init(.loopback4, prefixLength: 8)], isLoopback: true)
    let eth = NetworkInterface(name: "eth7", index: 7, addresses: [], isLoopback: false)
    #expect(MulticastRoute.address(of: Self.group, on: eth) == Self.group)
    let mine = MulticastRoute.address(of: Self.group, on: lo)
    #expect(mine.isMulticast && !mine.isIPv6)
    #expect(MulticastRoute.address(of: Self.other, on: lo) != mine)
    let elsewhere = IPAddress.multicast(fabricID: 0x1234_5678_9ABC_DEF1, group: 0x0103)
    #expect(MulticastRoute.address(of: elsewhere, on: lo) != mine, "the same group of another fabric")
    #expect(MulticastRoute.fits(.loopback4, lo) && !MulticastRoute.fits(.loopback6, lo))
    #expect(MulticastRoute.fits(.loopback6, eth) && !MulticastRoute.fits(.loopback4, eth))
  }
}
