import MatterProtocol
import Runtime
import Synchronization
import Testing

@testable import Simulation

@Suite struct DiscoveryTests {
  let light = MatterService(
    kind: .commissionable(instance: 7), hostName: "0011223344FF", port: 5540,
    text: [.init("D", "3840"), .init("CM", "1")])

  private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

  private func text(_ events: [ServiceDiscovery.Event]) -> [String] {
    events.map { if case .found = $0 { "found" } else { "lost" } }
  }

  /// What goes while news of it are under way is believed for as long as its records live, and no longer.
  @Test func whatIsHeardOfWhatIsGoneIsForgotten() {
    var heard = HeardService()
    heard.look(light, at: at(0)) { .seconds(5) }
    heard.look(nil, at: at(2)) { nil }
    #expect(text(heard.hear(until: at(5), hasWay: true)) == ["found"])
    #expect(heard.hear(until: at(121), hasWay: true).isEmpty)
    #expect(text(heard.hear(until: at(122), hasWay: true)) == ["lost"])
    #expect(heard.isOver)
  }

  /// A goodbye is under way, what was said after it was lost, and then there is nothing: it is to be found another time.
  @Test func whatWasSaidLastIsWhatIsUnderWay() {
    var heard = HeardService()
    heard.look(light, at: at(0)) { .zero }
    #expect(text(heard.hear(until: at(0), hasWay: true)) == ["found"])
    heard.goodbye(at: at(1)) { .seconds(5) }
    heard.look(light, at: at(2)) { nil }
    heard.look(nil, at: at(3)) { nil }
    #expect(text(heard.hear(until: at(6), hasWay: true)) == ["lost"])
    heard.look(light, at: at(7)) { .zero }
    #expect(text(heard.hear(until: at(7), hasWay: true)) == ["found"])
  }

  @Test func whatIsPublishedIsFound() throws {
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
    // The address is the host's own.
    #expect(world.discovery.publications.map(\.service.addresses) == [[ponger.address.ip]])

    // The same again is no news; with another text it is; taken back, it is gone.
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

  @Test func aLateBrowserFindsWhatIsThere() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .milliseconds(500))
    pinger.command { engine, _ in engine.effects = [.browse(.commissionable())] }
    try world.run(for: .milliseconds(100))
    #expect(pinger.events.map(\.event) == [.found(service.kind)])
    // Whoever stopped browsing hears nothing more; whoever asks again is told again.
    pinger.command { engine, _ in engine.effects = [.stopBrowsing(.commissionable())] }
    ponger.command { engine, _ in engine.effects = [.withdraw(service), .publish(service)] }
    try world.run(for: .milliseconds(100))
    #expect(pinger.events.count == 1)
    pinger.command { engine, _ in engine.effects = [.browse(.commissionable())] }
    try world.run(for: .milliseconds(100))
    #expect(pinger.events.count == 2)
  }

  /// DNS-SD goes by addresses, too: it takes a family that both have.
  @Test func whoHasNoAddressIsNotHeard() throws {
    let world = World(seed: 1)
    let (pinger, _) = world.addPair()
    pinger.command { engine, _ in
      engine.next = nil
      engine.effects = [.browse(.commissionable())]
    }
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
    // What is known is believed until it expires.
    machine.setFamily(.v6, isOn: false)
    try world.run(for: .seconds(119))
    #expect(pinger.events.count == 1)
    try world.run(for: .seconds(2))
    #expect(pinger.events.map(\.event) == [.found(service.kind), .lost(service.kind)])
  }

  /// What comes over a slow link comes later, and what has no room there not at all.
  @Test func aSlowLinkIsOneForServiceDiscoveryToo() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    pinger.command { engine, _ in
      engine.next = nil
      engine.effects = [.browse(.commissionable())]
    }
    world.network.set(
      LinkConditions(latency: .seconds(3), jitter: .seconds(2)), from: ponger.id, to: pinger.id, isSymmetric: false)
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .milliseconds(3_010))
    #expect(pinger.events.isEmpty)
    try world.run(for: .seconds(2))
    let found = try #require(pinger.events.first)
    #expect(found.event == .found(service.kind) && found.at > .zero + .milliseconds(3_020), "\(found)")

    // The news of now is not overtaken by that of before.
    var changed = service
    changed[text: "CM"] = "2"
    ponger.command { [changed] engine, _ in engine.effects = [.publish(changed)] }
    try world.run(for: .milliseconds(100))
    ponger.command { engine, _ in engine.effects = [.withdraw(service)] }
    try world.run(for: .seconds(10))
    // The goodbye takes its time, too: the news may have come before it.
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

  /// Who has another address tells it, unless nobody has told its responder.
  @Test func whoMovesIsFoundThere() throws {
    let world = World(seed: 1)
    let (pinger, _) = world.addPair()
    pinger.command { engine, _ in
      engine.next = nil
      engine.effects = [.browse(.commissionable())]
    }
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

  @Test func aSilentHostExpires() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    pinger.command { engine, _ in
      engine.next = nil
      engine.effects = [.browse(.commissionable())]
    }
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .seconds(10))
    ponger.cutPower()
    try world.run(for: .seconds(119))
    #expect(pinger.events.map(\.event) == [.found(service.kind)])
    try world.run(for: .seconds(2))
    #expect(pinger.events.map(\.event) == [.found(service.kind), .lost(service.kind)])
  }

  @Test func aGoodbyeThatIsNotHeardIsNotBelieved() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    pinger.command { engine, _ in
      engine.next = nil
      engine.effects = [.browse(.commissionable())]
    }
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .seconds(1))
    world.network.partition([pinger.id], from: [ponger.id])
    ponger.command { engine, _ in engine.effects = [.withdraw(service)] }
    try world.run(for: .seconds(10))
    // That there is a way again tells it nothing.
    world.network.heal()
    try world.run(for: .seconds(109))
    #expect(pinger.events.map(\.event) == [.found(service.kind)])
    try world.run(for: .seconds(2))
    #expect(pinger.events.map(\.event) == [.found(service.kind), .lost(service.kind)])
    // What is published anew is there again.
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .seconds(1))
    #expect(pinger.events.map(\.event).last == .found(service.kind))
  }

  @Test func aPartitionHidesNews() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    pinger.command { engine, _ in
      engine.next = nil
      engine.effects = [.browse(.commissionable())]
    }
    world.network.partition([pinger.id], from: [ponger.id])
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .seconds(1))
    #expect(pinger.events.isEmpty)
    world.network.heal()
    try world.run(for: .seconds(1))
    #expect(pinger.events.map(\.event) == [.found(service.kind)])
  }

  @Test func whereEverythingIsLostNothingIsHeard() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    pinger.command { engine, _ in
      engine.next = nil
      engine.effects = [.browse(.commissionable())]
    }
    world.network.conditions = LinkConditions(loss: .always)
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .seconds(10_000))
    #expect(pinger.events.isEmpty)
    world.network.conditions = .perfect
    try world.run(for: .seconds(1))
    #expect(pinger.events.map(\.event) == [.found(service.kind)])
  }

  /// Half of the first announcements get lost, and half of the goodbyes.
  @Test func whatIsLostIsHeardLater() throws {
    var (late, unaware) = (0, 0)
    for seed in 1...UInt64(60) {
      let world = World(seed: seed)
      let (pinger, ponger) = world.addPair()
      let service = light
      pinger.command { engine, _ in
        engine.next = nil
        engine.effects = [.browse(.commissionable())]
      }
      world.network.conditions = LinkConditions(loss: Ratio(1, of: 2))
      ponger.command { engine, _ in engine.effects = [.publish(service)] }
      try world.run(for: .milliseconds(900))
      if pinger.events.isEmpty { late += 1 }
      try world.run(for: .seconds(3600))
      #expect(pinger.events.map(\.event) == [.found(service.kind)])
      ponger.command { engine, _ in engine.effects = [.withdraw(service)] }
      try world.run(for: .seconds(119))
      if pinger.events.count == 1 { unaware += 1 }
      try world.run(for: .seconds(2))
      #expect(pinger.events.map(\.event) == [.found(service.kind), .lost(service.kind)])
    }
    #expect((15...45).contains(late) && (15...45).contains(unaware), "\(late), \(unaware)")
  }

  /// What is on its way for long is not heard behind what is newer.
  @Test func newsDoNotOvertakeEachOther() throws {
    var count = 0
    for seed in 1...UInt64(20) {
      let world = World(seed: seed)
      let (pinger, ponger) = world.addPair()
      let service = light
      pinger.command { engine, _ in
        engine.next = nil
        engine.effects = [.browse(.commissionable())]
      }
      world.network.conditions = LinkConditions(loss: Ratio(9, of: 10))
      ponger.command { engine, _ in engine.effects = [.publish(service)] }
      try world.run(for: .milliseconds(900))
      world.network.conditions = .perfect
      guard pinger.events.isEmpty else { continue }
      count += 1
      ponger.command { engine, _ in engine.effects = [.withdraw(service)] }
      try world.run(for: .seconds(100_000))
      #expect(!pinger.events.contains { $0.event == .found(service.kind) })
    }
    #expect(count > 10)
  }

  /// Calls the body in worlds in which the first announcement was lost, over a link that loses nearly all and is perfect then.
  private func afterLoss(
    of time: Duration, _ body: (World, SimulatedHost<Ping>, SimulatedHost<Ping>) throws -> Void
  ) throws {
    var count = 0
    for seed in 1...UInt64(20) {
      let world = World(seed: seed)
      let (pinger, ponger) = world.addPair()
      let service = light
      pinger.command { engine, _ in
        engine.next = nil
        engine.effects = [.browse(.commissionable())]
      }
      world.network.conditions = LinkConditions(loss: Ratio(99, of: 100))
      ponger.command { engine, _ in engine.effects = [.publish(service)] }
      try world.run(for: time)
      guard pinger.events.isEmpty else { continue }
      world.network.conditions = .perfect
      count += 1
      try body(world, pinger, ponger)
    }
    #expect(count > 10)
  }

  /// How long it was lost is not known beforehand: the next repetition finds the link as it is by then.
  @Test func whatIsRepeatedGetsThroughWhenTheLinkIsMended() throws {
    try afterLoss(of: .seconds(10)) { world, pinger, _ in
      // It is said for the fifth time after 15 s.
      try world.run(for: .seconds(4))
      #expect(pinger.events.isEmpty)
      try world.run(for: .seconds(2))
      #expect(pinger.events.map(\.event) == [.found(light.kind)])
    }
  }

  @Test func whoIsGoneRepeatsNothing() throws {
    try afterLoss(of: .milliseconds(900)) { world, pinger, ponger in
      ponger.cutPower()
      try world.run(for: .seconds(100_000))
      #expect(pinger.events.isEmpty)
    }
    try afterLoss(of: .milliseconds(900)) { world, pinger, ponger in
      world.network.partition([pinger.id], from: [ponger.id])
      try world.run(for: .seconds(100_000))
      #expect(pinger.events.isEmpty)
      world.network.heal()
      try world.run(for: .seconds(1))
      #expect(pinger.events.map(\.event) == [.found(light.kind)])
    }
  }

  /// News that are under way when the way is cut do not arrive; they come when it is mended.
  @Test func newsUnderWayEndAtACut() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    pinger.command { engine, _ in
      engine.next = nil
      engine.effects = [.browse(.commissionable())]
    }
    world.network.conditions = LinkConditions(latency: .seconds(3))
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .seconds(1))
    world.network.partition([pinger.id], from: [ponger.id])
    try world.run(for: .seconds(10))
    #expect(pinger.events.isEmpty)
    world.network.heal()
    try world.run(for: .seconds(4))
    #expect(pinger.events.map(\.event) == [.found(service.kind)])
  }

  /// Of the first two of these the second takes longer: both are heard, each at its time.
  @Test func whatComesBeforeTheNewsIsHeardToo() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    pinger.command { engine, _ in
      engine.next = nil
      engine.effects = [.browse(.commissionable())]
    }
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

    // What is slower than the news after it is not heard behind them.
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .milliseconds(100))
    world.network.conditions.latency = .seconds(1)
    ponger.command { engine, _ in engine.effects = [.withdraw(service)] }
    try world.run(for: .seconds(100))
    #expect(pinger.events.dropFirst(2).map(\.event) == [.lost(service.kind)])
  }

  @Test func aGoodbyeTakesItsWay() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    pinger.command { engine, _ in
      engine.next = nil
      engine.effects = [.browse(.commissionable())]
    }
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .seconds(1))
    world.network.conditions.latency = .seconds(3)
    ponger.command { engine, _ in engine.effects = [.withdraw(service)] }
    try world.run(for: .milliseconds(3_010))
    #expect(pinger.events.count == 1)
    try world.run(for: .milliseconds(20))
    #expect(pinger.events.map(\.event) == [.found(service.kind), .lost(service.kind)])
    // One that is cut off on its way says nothing.
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

  /// Who looks for what is there already asks for it.
  @Test func aQuestionTakesItsWayAndTheAnswerAnother() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .milliseconds(100))
    world.network.set(
      LinkConditions(latency: .seconds(2)), from: pinger.id, to: ponger.id, isSymmetric: false)
    world.network.set(
      LinkConditions(latency: .seconds(4)), from: ponger.id, to: pinger.id, isSymmetric: false)
    pinger.command { engine, _ in
      engine.next = nil
      engine.effects = [.browse(.commissionable())]
    }
    try world.run(for: .seconds(100))
    #expect(pinger.events.map(\.at.nanoseconds).map { $0 / 1_000_000 } == [100 + 6_016])

    // Whoever is not heard has no answer; what is announced need not be asked for.
    world.network.forgetLinks()
    world.network.cut(from: pinger.id, to: ponger.id)
    pinger.command { engine, _ in engine.effects = [.stopBrowsing(.commissionable()), .browse(.commissionable())] }
    try world.run(for: .seconds(100))
    #expect(pinger.events.count == 1)
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .seconds(1))
    #expect(pinger.events.count == 2)
  }

  /// A service that is not any more what somebody looks for is gone to him.
  @Test func whatIsSomethingElseNowIsGone() throws {
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

  /// News that are under way to a search that has ended are nobody's: the next one asks anew.
  @Test func whatNobodyLooksForAnyMoreIsNotKept() throws {
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
