import MatterProtocol
import Testing

@testable import Simulation

@Suite struct DiscoveryTests {
  let light = MatterService(
    kind: .commissionable(instance: 7), hostName: "0011223344FF", port: 5540,
    text: [.init("D", "3840"), .init("CM", "1")])

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
}
