import Foundation
import MatterCrypto
import MatterProtocol
import Testing

@testable import Simulation

@Suite struct WorldTests {
  @Test func advancesToNextEvent() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    #expect(world.nextWakeUp == .zero + .seconds(1))
    try world.step()
    #expect(world.now == .zero + .seconds(1))
    try world.step()
    #expect(world.now == .zero + .milliseconds(1002))
    #expect(ponger.events.map(\.event) == [.got(1)])
    try world.run(until: .zero + .milliseconds(1500))
    // The numbers 1 to 10, two milliseconds each.
    #expect(ponger.events.map(\.event) == [1, 3, 5, 7, 9].map { .got($0) })
    #expect(pinger.events.map(\.event) == [2, 4, 6, 8, 10].map { .got($0) })
    #expect(pinger.events.last?.at == .zero + .milliseconds(1020))
    #expect(world.now == .zero + .milliseconds(1500))
    #expect(world.network.packetCount == 10)
  }

  @Test func sameSeedGivesSameTrace() throws {
    func run(seed: UInt64, keepsEntries: Bool = true) throws -> Trace {
      let world = World(seed: seed)
      world.trace.keepsEntries = keepsEntries
      world.network.conditions = .poor
      _ = world.addPair()
      world.at(.zero + .seconds(7)) { $0.note("half time") }
      try world.run(for: .seconds(15))
      return world.trace
    }
    let first = try run(seed: 3), second = try run(seed: 3), other = try run(seed: 4)
    #expect(first.digest == second.digest)
    #expect(first.entries == second.entries)
    #expect(first.digest != other.digest)
    #expect(first.entries.contains { $0.kind == .lost })
    #expect(first.entries.contains { $0.kind == .note && $0.at == .zero + .seconds(7) })
    // The digest is part of the contract: recorded runs are compared by it, on any machine.
    #expect(first.digest == 10_750_562_433_263_464_996)
    #expect(try run(seed: 3, keepsEntries: false).digest == first.digest)
    #expect(first.count == first.entries.count { $0.kind != .draws })
  }

  @Test func dropsPickedPacket() throws {
    for picked in 0..<10 {
      let world = World(seed: 1)
      let (pinger, ponger) = world.addPair()
      world.network.drop(packet: picked)
      try world.run(for: .milliseconds(1500))
      #expect(world.network.packetCount == picked + 1)
      #expect(world.network.losses == [.picked: 1])
      #expect(pinger.events.count + ponger.events.count == picked)
    }
  }

  @Test func losesAndDuplicatesAtTheGivenRates() throws {
    let world = World(seed: 9)
    world.network.conditions = LinkConditions(
      latency: .milliseconds(1), jitter: .milliseconds(3), loss: Ratio(1, of: 4), duplication: Ratio(1, of: 8))
    let ponger = world.add("sink") { Ping($0, sendsTo: nil) }
    let address = ponger.address
    let source = world.add("source") { Ping($0, sendsTo: address) }
    // A number without a reply.
    source.command { engine, _ in
      engine.next = nil
      for _ in 0..<8000 { engine.effects.append(.send([10], to: address)) }
    }
    try world.run(for: .seconds(1))
    let lost = world.network.losses[.link] ?? 0
    #expect((1850...2150).contains(lost))
    let extra = ponger.events.count - (8000 - lost)
    #expect((650...850).contains(extra))
    let times = ponger.events.map(\.at)
    #expect(times.allSatisfy { $0 >= .zero + .milliseconds(1) && $0 <= .zero + .milliseconds(4) })
    #expect(Set(times).count > 100)
  }

  @Test func appliesPartitionsAndLinkConditions() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    world.network.partition([pinger.id], from: [ponger.id])
    try world.run(for: .milliseconds(3500))
    #expect(ponger.events.isEmpty)
    #expect(world.network.losses[.partition] == 3)
    world.network.heal()
    try world.run(for: .seconds(1))
    #expect(ponger.events.count == 5)

    // One direction only.
    world.network.set(LinkConditions(loss: .always), from: ponger.id, to: pinger.id, isSymmetric: false)
    try world.run(for: .seconds(2))
    #expect(ponger.events.count == 7)
    #expect(world.network.losses[.link] == 2)
    // A slow link, and a partition while a datagram is in flight.
    world.network.set(LinkConditions(latency: .milliseconds(300)), from: ponger.id, to: pinger.id)
    try world.run(for: .milliseconds(1100))
    world.network.partition([pinger.id], from: [ponger.id])
    try world.run(for: .milliseconds(300))
    #expect(ponger.events.count == 8)
    #expect(world.network.losses[.partition] == 4)
  }

  /// Cut in one direction, the other direction works.
  @Test func cutsOneDirection() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    world.network.cut(from: ponger.id, to: pinger.id)
    try world.run(for: .milliseconds(2500))
    #expect(ponger.events.count == 2 && pinger.events.isEmpty)
    #expect(world.network.losses == [.partition: 2])
    world.network.mend(from: ponger.id, to: pinger.id)
    world.network.cut(from: pinger.id, to: ponger.id)
    try world.run(for: .seconds(1))
    #expect(ponger.events.count == 2 && world.network.losses == [.partition: 3])
    world.network.mend(from: pinger.id, to: ponger.id)
    try world.run(for: .seconds(1))
    #expect(ponger.events.count == 7 && pinger.events.count == 5)
  }

  @Test func clockStartsAtDate() {
    let world = World(seed: 1)
    func time(_ clock: MachineClock) -> Int64 { world.addMachine("lamp", clock: clock).unixMicroseconds() }
    func time(_ seconds: Double) -> Int64 { time(MachineClock(startDate: Date(timeIntervalSince1970: seconds))) }
    #expect(time(MachineClock()) == 1_767_225_600_000_000)
    #expect(time(1_000_000.5) == 1_000_000_500_000)
    #expect([time(-1), time(1e30), time(-1e30)] == [0, 253_402_300_799_000_000, 0])
  }

  /// A clock that runs half as fast again: three of its seconds are two.
  @Test func appliesClockDrift() async throws {
    let run = await VirtualTime.run(seed: 1) { simulation in
      let machine = simulation.machine
      let epoch = machine.unixMicroseconds()
      await simulation.perform { _ in machine.setDrift(500_000) }
      try await simulation.sleep(for: .seconds(3))
      let (fast, shown) = (await simulation.now, machine.unixMicroseconds() - epoch)
      await simulation.perform { _ in machine.moveWallClock(by: .seconds(-10)) }
      await simulation.perform { _ in machine.setDrift(-500_000) }
      try await simulation.sleep(for: .seconds(3))
      return (fast, shown, await simulation.now, machine.unixMicroseconds() - epoch)
    }
    let (fast, shown, slow, back) = try run.result.get()
    #expect((fast, shown) == (.zero + .seconds(2), 3_000_000))
    // A clock at half the speed is not exact to the nanosecond.
    #expect((.seconds(8) - (slow - .zero)).nanoseconds.magnitude < 10)
    #expect(back == -4_000_000)
  }

  @Test func drawsByRatio() {
    var random = SeededRandomSource(seed: 6)
    let count = (0..<30_000).count { _ in Ratio(1, of: 3).happens(&random) }
    #expect((9_700...10_300).contains(count))
    // A certain outcome makes no draw.
    var (one, other) = (random, random)
    #expect(!Ratio(0, of: 5).happens(&one) && !Ratio(1, of: 0).happens(&one) && Ratio(7, of: 5).happens(&one))
    #expect(one.next() == other.next())
  }

  @Test func keepsStoreAcrossPowerCuts() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    try world.run(for: .milliseconds(1500))
    #expect(ponger.store == ["count": [5]])
    ponger.cutPower()
    #expect(!ponger.isPowered)
    try world.run(for: .seconds(1))
    #expect(world.network.losses[.noSuchAddress] == 1)
    #expect(ponger.command { _, _ in } == nil)
    ponger.powerOn()
    #expect(ponger.engine?.count == 5)
    #expect(ponger.startCount == 2)
    try world.run(for: .seconds(1))
    #expect(ponger.engine?.count == 10)
    #expect(pinger.events.count == 10)

    // A datagram in flight when power is cut.
    pinger.restart()
    try world.run(for: .milliseconds(1001))
    ponger.cutPower()
    try world.run(for: .milliseconds(100))
    #expect(world.network.losses[.powerOff] == 1)
  }

  /// Power is cut before each effect: earlier effects took place, later ones did not.
  @Test func cutsPowerBeforeAnyEffect() throws {
    for number in 0..<12 {
      let world = World(seed: 1)
      let (pinger, ponger) = world.addPair()
      ponger.effectsUntilPowerCut = number
      try world.run(for: .milliseconds(1500))
      #expect(!ponger.isPowered)
      #expect(ponger.effectCount == number)
      // Each datagram has three effects: store, emit, send.
      #expect(ponger.store["count"]?.first ?? 0 == UInt8((number + 2) / 3))
      #expect(ponger.events.count == (number + 1) / 3)
      #expect(pinger.events.count == number / 3)
    }
  }

  @Test func reportsLivelocks() throws {
    let world = World(seed: 1)
    let host = world.add("busy") { Ping($0, sendsTo: $0.address) }
    host.command { engine, now in
      engine.interval = .zero
      engine.next = now
      engine.peer = nil
    }
    #expect(throws: SimulationError.livelock(at: .zero, steps: 10_000, host: "busy")) {
      try world.run(for: .seconds(1))
    }

    let endless = World(seed: 1)
    endless.maximumEffects = 1000
    endless.network.conditions.latency = .zero
    let (_, ponger) = endless.addPair()
    ponger.command { engine, _ in engine.effects = Array(repeating: .emit(.got(0)), count: 1100) }
    #expect(throws: SimulationError.endlessEffects(at: .zero, host: "ponger")) {
      try endless.run(for: .seconds(1))
    }
  }

  @Test func waitsForEvent() throws {
    let world = World(seed: 1)
    let (pinger, _) = world.addPair()
    let number = try pinger.event { if case .got(let number) = $0, number > 5 { number } else { nil } }
    #expect(number == 6)
    #expect(world.now == .zero + .milliseconds(1012))
    #expect(throws: SimulationError.timedOut(at: .zero + .milliseconds(6012), waiting: ["an event of pinger"])) {
      try pinger.event(within: .seconds(5)) { $0 == .got(77) ? true : nil }
    }
    // No event is left.
    pinger.command { engine, _ in engine.next = nil }
    #expect(throws: SimulationError.deadlock(at: .zero + .milliseconds(11_012), waiting: ["an event of pinger"])) {
      try pinger.event(within: .seconds(5)) { $0 == .got(77) ? true : nil }
    }
  }

  @Test func losesDatagramsToAbandonedAddress() throws {
    let world = World(seed: 1)
    world.network.conditions.latency = .seconds(3)
    let (_, ponger) = world.addPair()
    try world.run(for: .milliseconds(2_500))
    #expect(world.network.packetCount == 2)
    ponger.move(to: SocketAddress(.v6(high: 0xFD00_0000_0000_0000, low: 99, scope: 0), port: 5540))
    try world.run(for: .milliseconds(3_000))
    #expect(ponger.events.isEmpty)
    #expect(world.network.losses[.noSuchAddress, default: 0] >= 2)
  }

  /// All draws are in the digest, even those without any other effect.
  @Test func digestIncludesEveryDraw() throws {
    func run(_ jitter: Duration) throws -> Trace {
      let world = World(seed: 1)
      let (pinger, ponger) = world.addPair()
      pinger.command { engine, _ in engine.next = nil }
      world.network.conditions.jitter = jitter
      // The datagram is lost regardless of the draws.
      world.network.partition([pinger.id], from: [ponger.id])
      let address = ponger.address
      pinger.command { engine, _ in engine.effects = [.send([1], to: address)] }
      world.at(.zero + .seconds(1)) { _ in }
      try world.run(for: .seconds(2))
      return world.trace
    }
    let (still, shaky) = (try run(.zero), try run(.milliseconds(1)))
    #expect(still.drawCount == 0 && shaky.drawCount > 0)
    #expect(still.entries == shaky.entries.filter { $0.kind != .draws })
    // The draws are also in the entries, so that two runs can be compared.
    #expect(still.entries.count < shaky.entries.count)
    #expect(still.digest != shaky.digest)
  }

  @Test func dropsTooLongDatagrams() throws {
    let world = World(seed: 1)
    let (pinger, ponger) = world.addPair()
    let address = ponger.address
    pinger.command { engine, _ in
      engine.effects = [
        .send([UInt8](repeating: 10, count: 1233), to: address),
        .send([UInt8](repeating: 10, count: 1232), to: address),
      ]
    }
    try world.run(for: .milliseconds(100))
    #expect(ponger.events.count == 1)
    #expect(world.network.losses == [.tooLong: 1])
  }

  @Test func describesTraceEntries() throws {
    let world = World(seed: 1)
    _ = world.addPair()
    try world.run(for: .milliseconds(1003))
    #expect(
      world.trace.entries.map(\.description) == [
        "0.000 h0 powerOn", "0.000 h1 powerOn", "1000.000 h1 timer", "1000.000 h1 sent #0 1 B [fd00::1]:5540",
        "1002.000 h0 received #0 1 B [fd00::2]:5540", "1002.000 h0 stored 1 B count", "1002.000 h0 event got(1)",
        "1002.000 h0 sent #1 1 B [fd00::2]:5540",
      ])
  }

  @Test func fastDescriptionsEqualGeneralOnes() {
    let kinds: [MatterService.Kind] = [
      .operational(compressedFabricID: .max, nodeID: 0), .commissionable(instance: 12), .commissioner(instance: 3),
    ]
    let addresses: [[IPAddress]] = [
      [], [.v4(0x7F00_0001)], [.v6(high: 0xFD00_0000_0000_0000, low: 7, scope: 3), .loopback4, .loopback6],
    ]
    for (kind, addresses) in zip(kinds, addresses) {
      let text = addresses.map { MatterService.TextEntry("T\($0)", "a, b: (c)") }
      let service = MatterService(kind: kind, hostName: "0242AC110002", port: 5540, addresses: addresses, text: text)
      #expect(StableDescription.of(service) == StableDescription.of(service as Any))
      #expect(StableDescription.of(kind) == StableDescription.of(kind as Any))
    }
    let queries: [DiscoveryQuery] = [
      .operational(compressedFabricID: nil, nodeID: nil), .operational(compressedFabricID: 1, nodeID: nil),
      .operational(compressedFabricID: 1, nodeID: .max), .commissioner, .commissionable(.longDiscriminator(3840)),
    ]
    for query in queries { #expect(StableDescription.of(query) == StableDescription.of(query as Any)) }
  }

  @Test func descriptionsAreStable() {
    struct Sample {
      var bytes: [UInt8] = [1, 0xAB]
      var table = ["b": 2, "a": 1, "c": 3]
      var set: Set<Int> = [30, 10, 20]
      var some: Int? = 5
      var none: Int?
      var state = LossReason.picked
      var result: Result<Int, SimulationError> = .failure(.timedOut(at: .zero))
    }
    #expect(
      StableDescription.of(Sample())
        == "(bytes: 01ab, table: {(key: a, value: 1), (key: b, value: 2), (key: c, value: 3)}, set: {10, 20, 30}, "
        + "some: 5, none: nil, state: picked, result: failure(timedOut((at: (nanoseconds: 0), waiting: ))))")
  }
}
