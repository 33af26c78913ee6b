import MatterProtocol
import Runtime
import Testing

@testable import Simulation

/// Service discovery over links that lose datagrams.
@Suite struct DiscoveryLossTests {
  private let light = DiscoveryTests().light

  @Test func lostGoodbyeKeepsServiceUntilExpiry() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    pinger.browse()
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .seconds(1))
    world.network.partition([pinger.id], from: [ponger.id])
    ponger.command { engine, _ in engine.effects = [.withdraw(service)] }
    try world.run(for: .seconds(10))
    // Restoring the link does not repeat the goodbye.
    world.network.heal()
    try world.run(for: .seconds(109))
    #expect(pinger.events.map(\.event) == [.found(service.kind)])
    try world.run(for: .seconds(2))
    #expect(pinger.events.map(\.event) == [.found(service.kind), .lost(service.kind)])
    // A new publication is found.
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .seconds(1))
    #expect(pinger.events.map(\.event).last == .found(service.kind))
  }

  @Test func partitionDelaysAnnouncement() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    pinger.browse()
    world.network.partition([pinger.id], from: [ponger.id])
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .seconds(1))
    #expect(pinger.events.isEmpty)
    world.network.heal()
    try world.run(for: .seconds(1))
    #expect(pinger.events.map(\.event) == [.found(service.kind)])
  }

  @Test func totalLossHidesServices() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    pinger.browse()
    world.network.conditions = LinkConditions(loss: .always)
    ponger.command { engine, _ in engine.effects = [.publish(service)] }
    try world.run(for: .seconds(10_000))
    #expect(pinger.events.isEmpty)
    world.network.conditions = .perfect
    try world.run(for: .seconds(1))
    #expect(pinger.events.map(\.event) == [.found(service.kind)])
  }

  /// Half of the first announcements and half of the goodbyes are lost.
  @Test func repeatsLostAnnouncements() throws {
    var (late, missedGoodbyes) = (0, 0)
    for seed in 1...UInt64(60) {
      let world = World(seed: seed)
      let (pinger, ponger) = world.addPair()
      let service = light
      pinger.browse()
      world.network.conditions = LinkConditions(loss: Ratio(1, of: 2))
      ponger.command { engine, _ in engine.effects = [.publish(service)] }
      try world.run(for: .milliseconds(900))
      if pinger.events.isEmpty { late += 1 }
      try world.run(for: .seconds(3600))
      #expect(pinger.events.map(\.event) == [.found(service.kind)])
      ponger.command { engine, _ in engine.effects = [.withdraw(service)] }
      try world.run(for: .seconds(119))
      if pinger.events.count == 1 { missedGoodbyes += 1 }
      try world.run(for: .seconds(2))
      #expect(pinger.events.map(\.event) == [.found(service.kind), .lost(service.kind)])
    }
    #expect((15...45).contains(late) && (15...45).contains(missedGoodbyes), "\(late), \(missedGoodbyes)")
  }

  /// A delayed announcement is not delivered after a newer one.
  @Test func neverDeliversStaleAnnouncement() throws {
    var count = 0
    for seed in 1...UInt64(20) {
      let world = World(seed: seed)
      let (pinger, ponger) = world.addPair()
      let service = light
      pinger.browse()
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

  /// Runs `body` in worlds where the first announcement was lost over a link with high loss, which is perfect from then
  /// on.
  private func afterLoss(
    of time: Duration, _ body: (World, SimulatedHost<Ping>, SimulatedHost<Ping>) throws -> Void
  ) throws {
    var count = 0
    for seed in 1...UInt64(20) {
      let world = World(seed: seed)
      let (pinger, ponger) = world.addPair()
      let service = light
      pinger.browse()
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

  /// Each repetition uses the conditions at its time.
  @Test func repetitionSucceedsAfterLinkRecovers() throws {
    try afterLoss(of: .seconds(10)) { world, pinger, _ in
      // The fifth announcement is sent after 15 s.
      try world.run(for: .seconds(4))
      #expect(pinger.events.isEmpty)
      try world.run(for: .seconds(2))
      #expect(pinger.events.map(\.event) == [.found(light.kind)])
    }
  }

  @Test func stopsRepeatingWhenUnreachable() throws {
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

  /// An announcement in flight is lost when the link is cut, and repeated after it heals.
  @Test func cutLosesAnnouncementInFlight() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let service = light
    pinger.browse()
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
}
