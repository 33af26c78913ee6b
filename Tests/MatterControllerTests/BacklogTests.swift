import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

/// More wishes at a time than one session bears. Matter Core § 4.10.5.2.
@Suite struct BacklogTests {
  private let path = [AttributePath(lampOnOff)]

  private func commissioned(_ count: Int = 1) throws -> World {
    var world = try World()
    for _ in 0..<count { try world.addDevice() }
    try world.commissionAll()
    return world
  }

  @Test func fiveAtATimeInTheirOrder() throws {
    var world = try commissioned()
    var ids: [OperationID] = []
    for _ in 0..<200 { ids.append(world.controller.invoke(OnOff.toggle, on: 1, of: 1, at: world.now)) }
    #expect(world.controller.transactions.count == 5)
    while world.step(until: world.now + .seconds(60)) {
      #expect(world.controller.transactions.count <= 5)
      if world.controller.operations.isEmpty { break }
    }
    #expect(world.devices[0].log == Array(repeating: "Toggle", count: 200))
    #expect(world.controller.backlog.isEmpty)
    let completed = world.events.compactMap { if case .completed(let id, .success) = $0.event { id } else { nil } }
    #expect(completed == ids)
  }

  /// Nobody waits for somebody else's node.
  @Test func eachNodeHasItsOwn() throws {
    var world = try commissioned(2)
    for _ in 0..<20 { _ = world.controller.read(1, path, at: world.now) }
    let other = world.controller.read(2, path, at: world.now)
    #expect(world.controller.transactions.count == 6)
    let sentAt = world.now
    _ = try world.result(of: other)?.get()
    #expect(world.now - sentAt == .milliseconds(2))
  }

  /// Whoever runs out of time while waiting says so, and is not asked any more.
  @Test func timeRunsOutForThoseWhoWait() throws {
    var world = try commissioned()
    world.devices[0].silent = ["Read"]
    for _ in 0..<5 { _ = world.controller.read(1, path, at: world.now) }
    world.run(for: .milliseconds(10))
    let late = world.controller.invoke(OnOff.toggle, on: 1, of: 1, timeout: .seconds(2), at: world.now)
    #expect(world.error(of: late) == .timedOut)
    world.run(for: .seconds(60))
    #expect(!world.devices[0].log.contains("Toggle"))
    #expect(world.controller.operations.isEmpty && world.controller.backlog.isEmpty)
  }

  /// A subscription that is ended while it waits its turn is never asked for.
  @Test func whatIsEndedDoesNotBegin() throws {
    var world = try commissioned()
    for _ in 0..<5 { _ = world.controller.read(1, path, at: world.now) }
    let handle = world.controller.subscribe(1, .init(paths: path), at: world.now)
    #expect(world.controller.backlog[1] == [handle])
    world.controller.unsubscribe(handle, at: world.now)
    #expect(world.controller.backlog.isEmpty)
    world.run(for: .seconds(5))
    #expect(!world.devices[0].log.contains("Subscribe"))
  }

  /// The device was started again: those who wait get their answers over the next session.
  @Test func aSessionThatDiesLosesNobody() throws {
    var world = try commissioned()
    world.devices[0].reboot()
    let ids = (0..<40).map { _ in world.controller.read(1, path, at: world.now) }
    world.run(for: .seconds(120))
    #expect(ids.allSatisfy { world.completions(of: $0) == 1 })
    for id in ids { #expect(throws: Never.self) { try #require(world.completion(of: id)).get() } }
  }

  /// A node that is removed takes those who wait for it along.
  @Test func aNodeThatGoesTakesThemAlong() throws {
    var world = try commissioned()
    world.devices[0].silent = ["Read"]
    let ids = (0..<9).map { _ in world.controller.read(1, path, at: world.now) }
    let changes = world.controller.adopt(world.store.filter { !$0.key.hasPrefix(PeerRecord.prefix) }, at: world.now)
    #expect(changes.removed == [1])
    world.run(for: .seconds(1))
    #expect(ids.allSatisfy { world.completions(of: $0) == 1 })
    #expect(world.controller.backlog.isEmpty && world.controller.transactions.isEmpty)
  }
}
