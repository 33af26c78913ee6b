import MatterModel
import MatterProtocol
import NIOPosix
import Simulation
import Testing

@testable import Scenario

/// The effects of link conditions in real time: each test fails if its fault had no effect.
@Suite struct RealLinkTests {
  private let networks = RealNetworks()
  private let lamp: RealMachine
  private let hub: RealMachine
  /// The address that the lamp sends from.
  private let source = SocketAddress(.loopback6, port: 50_001)
  private let hubs = SocketAddress(.loopback6, port: 50_002)

  init() {
    let loop = MultiThreadedEventLoopGroup.singleton.any()
    (lamp, hub) = (RealMachine(on: loop, in: networks), RealMachine(on: loop, in: networks))
    networks.registerSender(at: [source, SocketAddress(.loopback4, port: source.port)], lamp)
    networks.registerSender(at: [hubs, SocketAddress(.loopback4, port: hubs.port)], hub)
  }

  /// Returns the delays of the copies of a datagram from the lamp to the hub.
  private func arrivals(_ size: Int = 100, isMulticast: Bool = false) -> [Duration] {
    networks.arrivals(of: size, from: source, to: hub, isMulticast: isMulticast, at: .zero).delays
  }

  private func answers() -> [Duration] {
    networks.arrivals(of: 100, from: hubs, to: lamp, isMulticast: false, at: .zero).delays
  }

  private func inject(_ change: (inout LinkConditions) -> Void) {
    var conditions = LinkConditions(latency: .zero)
    change(&conditions)
    lamp.inject(.conditions(conditions))
  }

  @Test func addsLatencyOfBothEnds() {
    #expect(arrivals() == [.zero])
    inject { $0.latency = .seconds(3) }
    #expect(arrivals() == [.seconds(3)] && answers() == [.seconds(3)])
    hub.inject(.conditions(LinkConditions(latency: .seconds(2))))
    #expect(arrivals() == [.seconds(5)])
    hub.inject(.heal)
    lamp.inject(.heal)
    #expect(arrivals() == [.zero])
  }

  @Test func drawsJitterPerDatagram() {
    inject { ($0.latency, $0.jitter) = (.seconds(3), .seconds(1)) }
    let times = (0..<200).flatMap { _ in arrivals() }
    #expect(times.count == 200 && times.allSatisfy { $0 >= .seconds(3) && $0 <= .seconds(4) })
    #expect(Set(times).count > 100)
  }

  @Test func losesDatagrams() {
    inject { $0.loss = Ratio(1, of: 2) }
    let counts = Set((0..<200).map { _ in arrivals().count })
    #expect(counts == [0, 1])
    inject { $0.loss = .always }
    #expect((0..<200).allSatisfy { _ in arrivals().isEmpty && answers().isEmpty })
  }

  @Test func duplicatesDatagrams() {
    inject { ($0.duplication, $0.jitter) = (Ratio(1, of: 2), .seconds(1)) }
    let all = (0..<200).map { _ in arrivals() }
    #expect(Set(all.map(\.count)) == [1, 2])
    #expect(all.contains { $0.count == 2 && $0[0] != $0[1] })
  }

  @Test func holdsReorderedDatagrams() {
    inject { ($0.reordering, $0.holding) = (Ratio(1, of: 2), .seconds(7)) }
    #expect(Set((0..<200).flatMap { _ in arrivals() }) == [.zero, .seconds(7)])
  }

  /// Datagrams queue per direction, at the lower rate of both ends.
  @Test func queuesAtLinkRate() {
    inject { $0.bytesPerSecond = 1000 }
    #expect((1...3).map { _ in arrivals() } == [[.milliseconds(100)], [.milliseconds(200)], [.milliseconds(300)]])
    #expect(answers() == [.milliseconds(100)])
    var slow = LinkConditions(latency: .zero)
    slow.bytesPerSecond = 100
    hub.inject(.conditions(slow))
    #expect(arrivals() == [.milliseconds(1300)])
    lamp.inject(.heal)
    hub.inject(.heal)
    inject { $0.bytesPerSecond = 1000 }
    #expect(arrivals() == [.milliseconds(100)])
  }

  @Test func losesLongDatagrams() {
    inject { $0.maximumDatagramSize = 100 }
    #expect(arrivals(100) == [.zero] && arrivals(101).isEmpty)
  }

  @Test func cutsOneDirection() {
    lamp.inject(.mute)
    #expect(!networks.leaves(lamp, to: hubs.ip) && networks.leaves(hub, to: source.ip) && answers() == [.zero])
    #expect(!networks.reaches(hub, from: source) && networks.reaches(lamp, from: hubs))
    lamp.inject(.heal)
    hub.inject(.deaf)
    #expect(networks.leaves(lamp, to: hubs.ip) && arrivals().isEmpty && answers() == [.zero])
    #expect(!networks.reaches(hub, from: source) && networks.reaches(lamp, from: hubs))
    hub.inject(.heal)
    lamp.inject(.partition)
    #expect(!networks.leaves(lamp, to: hubs.ip) && answers().isEmpty)
  }

  @Test func disablesAddressFamily() {
    lamp.inject(.family(.v6, isOn: false))
    #expect(!networks.leaves(lamp, to: .loopback6) && networks.leaves(lamp, to: .loopback4))
    #expect(answers().isEmpty && !networks.reaches(lamp, from: hubs))
    #expect(
      networks.arrivals(of: 9, from: .init(.loopback4, port: 50_002), to: lamp, isMulticast: false, at: .zero).delays
        == [
          .zero
        ])
    lamp.inject(.family(.v6, isOn: true))
    #expect(networks.leaves(lamp, to: .loopback6) && answers() == [.zero])
  }

  @Test func limitsMulticastToNetwork() {
    let group = IPAddress.multicast(fabricID: 1, group: 1)
    #expect(networks.leaves(lamp, to: group) && arrivals(isMulticast: true) == [.zero])
    lamp.inject(.multicast(false))
    #expect(!networks.leaves(lamp, to: group) && networks.leaves(lamp, to: hubs.ip))
    #expect(arrivals(isMulticast: true).isEmpty && arrivals() == [.zero])
    lamp.inject(.heal)
    hub.inject(.multicast(false))
    #expect(arrivals(isMulticast: true).isEmpty && arrivals() == [.zero])
    hub.inject(.place("iot"))
    hub.inject(.multicast(true))
    #expect(arrivals(isMulticast: true).isEmpty && arrivals() == [.zero])
    lamp.inject(.place("iot"))
    #expect(arrivals(isMulticast: true) == [.zero])
  }

  @Test func appliesLinkToServiceDiscovery() {
    let service = MatterService.Kind.commissionable(instance: 7)
    networks.recordPublication(of: service, by: lamp)
    func isFound() -> Bool { networks.isFound(service, by: hub) }
    let (before, after) = (0, networks.recordQuestion())
    func delays(_ question: Int) -> Set<Duration?> {
      Set((0..<200).map { _ in networks.announcementDelay(of: service, to: hub, question: question) })
    }
    #expect(isFound() && delays(before) == [.zero] && delays(after) == [.zero])
    inject { ($0.loss, $0.latency) = (Ratio(1, of: 2), .seconds(3)) }
    // A service found by a question takes the round trip.
    #expect(isFound() && delays(before) == [nil, .seconds(3)] && delays(after) == [nil, .seconds(6)])
    // A machine's own services are not subject to the link.
    #expect(networks.announcementDelay(of: service, to: lamp, question: after) == .zero)
    hub.inject(.mute)
    #expect(isFound() && !networks.isFound(service, by: hub, question: after))
    // A new announcement needs no question.
    networks.recordPublication(of: service, by: lamp)
    #expect(networks.isFound(service, by: hub, question: after) && delays(after) == [nil, .seconds(3)])
    hub.inject(.heal)
    inject { $0.loss = .always }
    #expect(!isFound() && delays(before) == [nil] && networks.isFound(service, by: lamp))
    inject { $0.maximumDatagramSize = 20 }
    #expect(!isFound())
    inject { $0.maximumDatagramSize = 1232 }
    #expect(isFound())
    lamp.inject(.place("iot"))
    #expect(!isFound())
    hub.inject(.place("iot"))
    #expect(isFound())
    lamp.inject(.family(.v4, isOn: false))
    #expect(isFound())
    hub.inject(.family(.v6, isOn: false))
    #expect(!isFound())
  }

  /// The wall clock can be set on top of the host's.
  @Test func setsWallClock() {
    let before = lamp.unixMicroseconds()
    lamp.moveWallClock(by: .seconds(86_400))
    let step = lamp.unixMicroseconds() - before
    #expect(step >= 86_400_000_000 && step < 90_000_000_000)
    #expect(hub.unixMicroseconds() - before < 86_400_000_000)
  }
}
