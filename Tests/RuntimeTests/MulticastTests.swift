import MatterModel
import MatterProtocol
import NIOCore
import NIOPosix
import Testing

@testable import Runtime

@Suite(.serialized) struct MulticastTests {
  private static let group = IPAddress.multicast(fabricID: 0x1234_5678_9ABC_DEF0, group: 0x0103)
  private static let other = IPAddress.multicast(fabricID: 0x1234_5678_9ABC_DEF0, group: 0x0104)

  @Test func `everybody who joined gets a copy, whatever port is his`() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let collectors = (0..<3).map { _ in Collector<[UInt8]>() }
    let transports = try await loop.submit {
      let transports = try collectors.map { collector in
        let transport = UDPTransport(try BoundSockets(.loopback), on: loop)
        transport.onDatagram = { bytes, _ in collector.add(bytes) }
        return transport
      }
      // Two that have joined it, one that has joined another group.
      #expect(transports[0].join(Self.group, port: 5540).isEmpty)
      #expect(transports[1].join(Self.group, port: 5540).isEmpty)
      #expect(transports[1].join(Self.group, port: 5540).isEmpty, "twice does no harm")
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

  @Test func `on loopback an IPv4 address stands for the group`() {
    let lo = NetworkInterface(
      name: "lo", index: 1, addresses: [.init(.loopback4, prefixLength: 8)], isLoopback: true)
    let eth = NetworkInterface(name: "eth7", index: 7, addresses: [], isLoopback: false)
    #expect(MulticastRoute.address(of: Self.group, on: eth) == Self.group)
    let mine = MulticastRoute.address(of: Self.group, on: lo)
    #expect(mine.isMulticast && !mine.isIPv6)
    #expect(MulticastRoute.address(of: Self.other, on: lo) != mine)
    let elsewhere = IPAddress.multicast(fabricID: 0x1234_5678_9ABC_DEF1, group: 0x0103)
    #expect(MulticastRoute.address(of: elsewhere, on: lo) != mine, "another fabric's")
    #expect(MulticastRoute.fits(.loopback4, lo) && !MulticastRoute.fits(.loopback6, lo))
    #expect(MulticastRoute.fits(.loopback6, eth) && !MulticastRoute.fits(.loopback4, eth))
  }
}
