import MatterModel
import MatterProtocol
import Testing

@testable import Simulation

@Suite struct LinkTests {
  /// Sends a number of datagrams of ten bytes at once, and returns their arrivals.
  private func arrivals(_ conditions: LinkConditions, count: UInt8 = 20) -> [(byte: UInt8, at: Instant)] {
    var network = SimulatedNetwork(seed: 4)
    network.conditions = conditions
    let (from, to) = (World.address(of: HostID(0)), World.address(of: HostID(1)))
    network.attach(HostID(0), at: from)
    network.attach(HostID(1), at: to)
    for number in 0..<count {
      _ = network.send([UInt8](repeating: number, count: 10), from: HostID(0), at: from, to: to, at: .zero)
    }
    var result: [(UInt8, Instant)] = []
    while let next = network.nextArrival, let datagram = network.nextDatagram(at: next) {
      result.append((datagram.bytes[0], next))
    }
    return result
  }

  @Test func combinesConditionsOfTwoLinks() {
    var first = LinkConditions(latency: .milliseconds(3), loss: Ratio(1, of: 2))
    first.bytesPerSecond = 100
    var second = LinkConditions(latency: .milliseconds(4), loss: Ratio(1, of: 2), duplication: Ratio(1, of: 4))
    second.maximumDatagramSize = 50
    let both = first.chained(with: second)
    #expect(both.latency == .milliseconds(7))
    #expect(both.loss == Ratio(750_000, of: 1_000_000))
    #expect(both.duplication == Ratio(250_000, of: 1_000_000))
    #expect((both.bytesPerSecond, both.maximumDatagramSize) == (100, 50))
    #expect(LinkConditions(loss: .always).chained(with: second).loss == Ratio(1_000_000, of: 1_000_000))
    #expect(LinkConditions(loss: .never).chained(with: LinkConditions(loss: .never)).loss.numerator == 0)
  }

  @Test func reordersDatagrams() {
    let found = arrivals(LinkConditions(reordering: Ratio(1, of: 4)))
    #expect(found.map(\.byte).sorted() == Array(0..<20))
    #expect(found.map(\.byte) != Array(0..<20))
    #expect(Set(found.map { $0.at.nanoseconds / 1_000_000 }).sorted() == [2, 52])
  }

  @Test func limitsBandwidth() {
    var conditions = LinkConditions.perfect
    conditions.bytesPerSecond = 1000
    let found = arrivals(conditions)
    #expect(found.map(\.byte) == Array(0..<20))
    let milliseconds = found.map { $0.at.nanoseconds / 1_000_000 }
    #expect(milliseconds == (1...20).map { Int64(10 * $0 + 2) })
  }

  @Test func dropsLongDatagrams() {
    var conditions = LinkConditions.perfect
    conditions.maximumDatagramSize = 9
    #expect(arrivals(conditions).isEmpty)
    conditions.maximumDatagramSize = 10
    #expect(arrivals(conditions).count == 20)
  }

  /// A link too small for the response to an empty report counts as cut, even if it carries shorter datagrams.
  @Test func tooSmallMaximumSizeCarriesNothing() {
    var bytes: [UInt8] = []
    MessageHeader(sessionID: 1, counter: 1).encode(to: &bytes)
    PayloadHeader(
      isFromInitiator: true, needsAck: true, opcode: 1, exchange: 1, protocolID: .interactionModel, acknowledged: 1
    ).encode(to: &bytes)
    bytes += StatusResponse(.success).encoded
    #expect(bytes.count + 16 == LinkConditions.leastDatagramSize)
    var network = SimulatedNetwork(seed: 4)
    func carries(_ size: Int, _ loss: Ratio = .never) -> Bool {
      var conditions = LinkConditions(loss: loss)
      conditions.maximumDatagramSize = size
      network.set(conditions, from: HostID(0), to: HostID(1))
      return network.carries(from: HostID(0), to: HostID(1))
    }
    #expect(carries(0) && carries(42) && carries(1232, Ratio(99, of: 100)))
    #expect(!carries(1) && !carries(41) && !carries(1232, .always))
  }

  /// A datagram into a cut link is lost on sending, even if the link heals before its arrival. The other direction is
  /// not affected.
  @Test func dropsDatagramsOnCutLink() {
    var network = SimulatedNetwork(seed: 4)
    let hosts = [HostID(0), HostID(1)]
    let addresses = hosts.map { World.address(of: $0) }
    for (host, address) in zip(hosts, addresses) { network.attach(host, at: address) }
    func losses() -> [LossReason?] {
      [(0, 1), (1, 0)].map { from, to in
        network.send([1], from: hosts[from], at: addresses[from], to: addresses[to], at: .zero).loss
      }
    }
    #expect(losses() == [nil, nil])
    network.cut(from: hosts[0], to: hosts[1])
    #expect(losses() == [.partition, nil])
    network.mend(from: hosts[0], to: hosts[1])
    #expect(losses() == [nil, nil])
    network.partition([hosts[1]], from: hosts)
    #expect(losses() == [.partition, .partition])
    network.heal()
    #expect(losses() == [nil, nil])
  }

  @Test func driftingClockDoesNotJump() {
    var clock = MachineClock(drift: 100)
    let hour = Instant.zero + .seconds(3600)
    #expect(clock.local(hour) == hour + .milliseconds(360))
    clock.setDrift(-100, at: hour)
    #expect(clock.local(hour) == hour + .milliseconds(360))
    #expect(clock.local(hour + .seconds(3600)) == hour + .seconds(3600))
    for seconds in [0, 1, 4000] as [Int64] {
      let shown = hour + .milliseconds(400) + .seconds(seconds)
      let world = clock.world(shown)
      #expect(clock.local(world) >= shown && clock.local(Instant(nanoseconds: world.nanoseconds - 2)) < shown)
    }
  }
}
