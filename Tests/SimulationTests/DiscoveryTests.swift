import MatterProtocol
import Runtime
import Synchronization
import Testing

@testable import Simulation

@Suite struct DiscoveryTests {
  let light = MatterService(
    kind: .commissionable(instance: 7), hostName: "0011223344FF", port: 5540,
    text: [.init("D", "3840"), .init("CM", "1")])

  private var announcement: CachedService.Announcement { .init(light, number: 1) }

  private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

  private func text(_ events: [ServiceDiscovery.Event]) -> [String] {
    events.map { if case .found = $0 { "found" } else { "lost" } }
  }

  /// A service whose publisher becomes unreachable while its announcement is in flight expires with its records.
  @Test func expiresAnnouncementOfAnUnreachablePublisher() {
    var entry = CachedService()
    entry.look(announcement, at: at(0)) { .seconds(5) }
    entry.look(nil, at: at(2)) { nil }
    #expect(text(entry.receive(until: at(5), hasWay: true)) == ["found"])
    #expect(entry.receive(until: at(121), hasWay: true).isEmpty)
    #expect(text(entry.receive(until: at(122), hasWay: true)) == ["lost"])
    #expect(entry.isOver)
  }

  /// A goodbye is in flight, the announcement after it was lost, and the publisher is unreachable: the service must be
  /// found again later.
  @Test func announcesAgainAfterGoodbyeAndLoss() {
    var entry = CachedService()
    entry.look(announcement, at: at(0)) { .zero }
    #expect(text(entry.receive(until: at(0), hasWay: true)) == ["found"])
    entry.goodbye(at: at(1)) { .seconds(5) }
    entry.look(announcement, at: at(2)) { nil }
    entry.look(nil, at: at(3)) { nil }
    #expect(text(entry.receive(until: at(6), hasWay: true)) == ["lost"])
    entry.look(announcement, at: at(7)) { .zero }
    #expect(text(entry.receive(until: at(7), hasWay: true)) == ["found"])
  }

  @Test func findsPublishedService() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    pinger.command { engine, _ in
      engine.next = nil
      engine.effects = [.browse(.commissionable(.longDiscriminator(3840))), .browse(.commissionable(.vendor(1)))]
    }
    let service = light
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .milliseconds(19))
    #expect(pinger.events.isEmpty)
    try world.run(for: .milliseconds(2))
    #expect(pinger.events.map(\.event) == [.found(service.kind)])
    // The service has the host's address.
    #expect(world.discovery.publications.map(\.service.addresses) == [[ponger.address.ip]])

    // Repeated without change: no event. With another text: an event. Withdrawn: lost.
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .seconds(1))
    #expect(pinger.events.count == 1)
    var changed = service
    changed[text: "CM"] = "2"
    ponger.command { [changed] engine, _ in engine.effects = [.publish(changed)] }
    try world.run(for: .seconds(1))
    #expect(pinger.events.count == 2)
    ponger.command { engine, _ in engine.effects = [.withdraw(service)] }
    try world.run(for: .seconds(1))
    #expect(pinger.events.map(\.event) == [.found(service.kind), .found(service.kind), .lost(service.kind)])
  }

  @Test func findsServicesPublishedBefore() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .milliseconds(500))
    pinger.command { engine, _ in engine.effects = [.browse(.commissionable())] }
    try world.run(for: .milliseconds(100))
    #expect(pinger.events.map(\.event) == [.found(service.kind)])
    // A stopped search gets no events; a new one gets the service again.
    pinger.command { engine, _ in engine.effects = [.stopBrowsing(.commissionable())] }
    ponger.command { engine, _ in engine.effects = [.withdraw(service), .publish(service)] }
    try world.run(for: .milliseconds(100))
    #expect(pinger.events.count == 1)
    pinger.command { engine, _ in engine.effects = [.browse(.commissionable())] }
    try world.run(for: .milliseconds(100))
    #expect(pinger.events.count == 2)
  }

  /// DNS-SD requires an address family that both hosts have.
  @Test func requiresCommonAddressFamily() throws {
    let world = World(seed: 1)
    let (pinger, _) = world.addPair()
    pinger.browse()
    let machine = world.addMachine("light")
    machine.setFamily(.v4, isOn: false)
    machine.setFamily(.v6, isOn: false)
    let service = light
    machine.openDiscovery().publish(service, on: nil, onConflict: nil)
    try world.run(for: .seconds(1))
    #expect(pinger.events.isEmpty)
    machine.setFamily(.v6, isOn: true)
    try world.run(for: .seconds(1))
    #expect(pinger.events.map(\.event) == [.found(service.kind)])
    // A known service stays known until its records expire.
    machine.setFamily(.v6, isOn: false)
    try world.run(for: .seconds(119))
    #expect(pinger.events.count == 1)
    try world.run(for: .seconds(2))
    #expect(pinger.events.map(\.event) == [.found(service.kind), .lost(service.kind)])
  }

  /// A slow link delays announcements, and one with a small maximum datagram size loses them.
  @Test func linkConditionsApplyToDiscovery() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    pinger.browse()
    world.network.set(
      LinkConditions(latency: .seconds(3), jitter: .seconds(2)), from: ponger.id, to: pinger.id, isSymmetric: false)
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .milliseconds(3_010))
    #expect(pinger.events.isEmpty)
    try world.run(for: .seconds(2))
    let found = try #require(pinger.events.first)
    #expect(found.event == .found(service.kind) && found.at > .zero + .milliseconds(3_020), "\(found)")

    // A later announcement is not overtaken by an earlier one.
    var changed = service
    changed[text: "CM"] = "2"
    ponger.command { [changed] engine, _ in engine.effects = [.publish(changed)] }
    try world.run(for: .milliseconds(100))
    ponger.command { engine, _ in engine.effects = [.withdraw(service)] }
    try world.run(for: .seconds(10))
    // The goodbye is delayed as well, so the change may have arrived before it.
    #expect((2...3).contains(pinger.events.count) && pinger.events.last?.event == .lost(service.kind))
    pinger.forgetEvents()

    var narrow = LinkConditions.perfect
    narrow.maximumDatagramSize = 20
    world.network.set(narrow, from: ponger.id, to: pinger.id)
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .seconds(10))
    #expect(pinger.events.isEmpty)
    world.network.set(nil, from: ponger.id, to: pinger.id)
    try world.run(for: .seconds(1))
    #expect(pinger.events.count == 1)
  }

  /// A host with a new address announces it, unless its responder was not notified.
  @Test func announcesNewAddress() throws {
    let world = World(seed: 1)
    let (pinger, _) = world.addPair()
    pinger.browse()
    let machine = world.addMachine("light")
    machine.openDiscovery().publish(light, on: nil, onConflict: nil)
    try world.run(for: .seconds(1))
    #expect(pinger.events.count == 1)
    machine.move(to: [.v4(7)], announces: false)
    try world.run(for: .seconds(1))
    #expect(pinger.events.count == 1)
    machine.move(to: [.v4(8)])
    try world.run(for: .seconds(1))
    #expect(pinger.events.count == 2 && world.discovery.publications.map(\.service.addresses) == [[.v4(8)]])
  }

  @Test func expiresServicesOfHostWithoutPower() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    pinger.browse()
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .seconds(10))
    ponger.cutPower()
    try world.run(for: .seconds(119))
    #expect(pinger.events.map(\.event) == [.found(service.kind)])
    try world.run(for: .seconds(2))
    #expect(pinger.events.map(\.event) == [.found(service.kind), .lost(service.kind)])
  }

  /// The second of two announcements takes longer: each is delivered at its time.
  @Test func deliversEachAnnouncementInOrder() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    pinger.browse()
    world.network.conditions.latency = .seconds(1)
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .milliseconds(500))
    world.network.conditions.latency = .seconds(5)
    var changed = service
    changed[text: "CM"] = "2"
    ponger.command { [changed] engine, _ in engine.effects = [.publish(changed)] }
    try world.run(for: .seconds(1))
    #expect(pinger.events.count == 1)
    try world.run(for: .seconds(10))
    #expect(pinger.events.map(\.at.nanoseconds).map { $0 / 1_000_000 } == [1_018, 5_518])

    // An announcement slower than the goodbye after it is not delivered.
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .milliseconds(100))
    world.network.conditions.latency = .seconds(1)
    ponger.command { engine, _ in engine.effects = [.withdraw(service)] }
    try world.run(for: .seconds(100))
    #expect(pinger.events.dropFirst(2).map(\.event) == [.lost(service.kind)])
  }

  @Test func goodbyeHasLinkLatency() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    pinger.browse()
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .seconds(1))
    world.network.conditions.latency = .seconds(3)
    ponger.command { engine, _ in engine.effects = [.withdraw(service)] }
    try world.run(for: .milliseconds(3_010))
    #expect(pinger.events.count == 1)
    try world.run(for: .milliseconds(20))
    #expect(pinger.events.map(\.event) == [.found(service.kind), .lost(service.kind)])
    // A goodbye in flight is lost in a partition.
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .seconds(10))
    ponger.command { engine, _ in engine.effects = [.withdraw(service)] }
    try world.run(for: .seconds(1))
    world.network.partition([pinger.id], from: [ponger.id])
    try world.run(for: .seconds(100))
    #expect(pinger.events.count == 3)
    try world.run(for: .seconds(20))
    #expect(pinger.events.count == 4)
  }

  /// A search that starts after the publication sends a query.
  @Test func queryTakesLatencyOfBothDirections() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .milliseconds(100))
    world.network.set(
      LinkConditions(latency: .seconds(2)), from: pinger.id, to: ponger.id, isSymmetric: false)
    world.network.set(
      LinkConditions(latency: .seconds(4)), from: ponger.id, to: pinger.id, isSymmetric: false)
    pinger.browse()
    try world.run(for: .seconds(100))
    #expect(pinger.events.map(\.at.nanoseconds).map { $0 / 1_000_000 } == [100 + 6_016])

    // A query that is lost has no answer; an announcement needs no query.
    world.network.forgetLinks()
    world.network.cut(from: pinger.id, to: ponger.id)
    pinger.command { engine, _ in engine.effects = [.stopBrowsing(.commissionable()), .browse(.commissionable())] }
    try world.run(for: .seconds(100))
    #expect(pinger.events.count == 1)
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .seconds(1))
    #expect(pinger.events.count == 2)
  }

  /// A service that no longer matches the query is lost.
  @Test func reportsLossWhenServiceStopsMatching() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    pinger.command { engine, _ in
      engine.next = nil
      engine.effects = [.browse(.commissionable(.longDiscriminator(3840))), .browse(.commissionable())]
    }
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .seconds(1))
    #expect(pinger.events.map(\.event) == [.found(service.kind), .found(service.kind)])
    var changed = service
    changed[text: "D"] = "1"
    ponger.command { [changed] engine, _ in engine.effects = [.publish(changed)] }
    try world.run(for: .seconds(1))
    #expect(Set(pinger.events.dropFirst(2).map(\.event)) == [.found(service.kind), .lost(service.kind)])
  }

  /// Announcements in flight to a search that has ended are dropped: the next search queries again.
  @Test func dropsAnnouncementsForEndedSearch() throws {
    let world = World(seed: 1)
    let (searcher, publisher) = (world.addMachine("hub"), world.addMachine("light"))
    world.network.conditions.latency = .seconds(3)
    let found = Mutex<[ServiceDiscovery.Event]>([])
    let services = searcher.openDiscovery()
    let first = services.browse(.commissionable(), on: searcher.eventLoop) { event in
      found.withLock { $0.append(event) }
    }
    publisher.openDiscovery().publish(light, on: nil, onConflict: nil)
    try world.run(for: .seconds(1))
    services.stop(first)
    try world.run(for: .seconds(10))
    publisher.cutPower()
    _ = services.browse(.commissionable(), on: searcher.eventLoop) { event in found.withLock { $0.append(event) } }
    try world.run(for: .seconds(10))
    #expect(found.withLock(\.self).isEmpty)
  }
}
