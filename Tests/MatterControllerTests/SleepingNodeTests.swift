import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

/// Requests to a node with a long idle time, after a start of the controller.
@Suite struct SleepingNodeTests {
  private static let key = [UInt8](1...16)

  /// Returns a world with a node that is idle for 8 s, whose Check-In message with the counter 101 an earlier process
  /// received.
  private func restarted() throws -> World {
    var world = try World()
    try world.addDevice()
    try world.commissionAll()
    var record = try #require(world.store[PeerRecord.key(1)].flatMap { PeerRecord(tlv: $0) })
    record.longIdle = LongIdleTiming(idleDuration: .seconds(8), activeThreshold: .seconds(5))
    var registration = CheckInRegistration(1, key: Self.key, start: 100)
    let isAccepted = registration.accept(CheckInMessage(counter: 101))
    #expect(isAccepted)
    world.store[PeerRecord.key(1)] = record.tlv
    world.store[CheckInRegistration.key(1)] = registration.stored(isNew: true).value
    world.events = []
    world.controller = try World.makeController(state: world.store, seed: 2)
    return world
  }

  /// Delivers a Check-In message of the node.
  private func checkIn(_ counter: UInt32, _ world: inout World) throws {
    var core = NodeCore(random: SeededRandomSource(seed: UInt64(counter)))
    let message = CheckInMessage(counter: counter, activeThreshold: .seconds(5))
    core.sendCheckIn(try message.sealed(with: Self.key), to: world.controllerAddress, at: world.now)
    while let output = core.nextOutput() {
      guard case .send(let bytes, _) = output else { continue }
      world.controller.handle(.datagram(bytes, from: world.devices[0].address), at: world.now)
    }
  }

  @Test("tries at once when the latest Check-In message arrives again") func triesAfterRepeatedCheckIn() throws {
    var world = try restarted()
    let id = world.controller.read(OnOff.onOff, on: 1, of: 1, timeout: .seconds(60), at: world.now)
    world.run(for: .seconds(2))
    #expect(world.completion(of: id) == nil)
    // An older message may be a replay.
    try checkIn(100, &world)
    world.run(for: .seconds(2))
    #expect(world.completion(of: id) == nil)
    try checkIn(101, &world)
    world.run(for: .seconds(2))
    _ = try #require(try world.completion(of: id)?.get())
    #expect(world.controller.drops[.duplicate] == 2)
  }

  @Test("tries only once after repeated messages, and reports how long the node may sleep") func triesOnce() throws {
    var world = try restarted()
    world.devices[0].isDead = true
    let id = world.controller.read(OnOff.onOff, on: 1, of: 1, timeout: .seconds(400), at: world.now)
    try checkIn(101, &world)
    world.run(for: .seconds(200))
    let count = world.datagramCount
    #expect(count > 0 && world.completion(of: id) == nil)
    try checkIn(101, &world)
    world.run(for: .seconds(100))
    #expect(world.datagramCount == count)
    #expect(world.error(of: id) == .asleep(longest: .seconds(73)))
  }
}
