import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

/// More concurrent requests than one session allows. Matter Core § 4.10.5.2.
@Suite struct BacklogTests {
  private let path = [AttributePath(lampOnOff)]

  private func commissioned(_ count: Int = 1) throws -> World {
    var world = try World()
    for _ in 0..<count { try world.addDevice() }
    try world.commissionAll()
    return world
  }

  @Test func limitsToFiveExchangesInOrder() throws {
    var world = try commissioned()
    var ids: [OperationID] = []
    for _ in 0..<200 { ids.append(world.controller.invoke(OnOff.toggle, on: 1, of: 1, at: world.now)) }
    #expect(world.controller.transactions.transactions.count == 5)
    while world.step(until: world.now + .seconds(60)) {
      #expect(world.controller.transactions.transactions.count <= 5)
      if world.controller.operations.ids(with: 1).isEmpty { break }
    }
    #expect(world.devices[0].log == Array(repeating: "Toggle", count: 200))
    #expect(world.controller.operations.backlog.isEmpty)
    let completed = world.events.compactMap { if case .completed(let id, .success) = $0.event { id } else { nil } }
    #expect(completed == ids)
  }

  @Test func limitsPerNode() throws {
    var world = try commissioned(2)
    for _ in 0..<20 { _ = world.controller.read(1, path, at: world.now) }
    let other = world.controller.read(2, path, at: world.now)
    #expect(world.controller.transactions.transactions.count == 6)
    let sentAt = world.now
    _ = try world.result(of: other)?.get()
    #expect(world.now - sentAt == .milliseconds(2))
  }

  /// A queued operation whose timeout passes fails and is not sent.
  @Test func timesOutQueuedOperations() throws {
    var world = try commissioned()
    world.devices[0].silent = ["Read"]
    for _ in 0..<5 { _ = world.controller.read(1, path, at: world.now) }
    world.run(for: .milliseconds(10))
    let late = world.controller.invoke(OnOff.toggle, on: 1, of: 1, timeout: .seconds(2), at: world.now)
    #expect(world.error(of: late) == .timedOut)
    world.run(for: .seconds(60))
    #expect(!world.devices[0].log.contains("Toggle"))
    #expect(world.controller.operations.ids(with: 1).isEmpty && world.controller.operations.backlog.isEmpty)
  }

  /// A subscription that is ended while queued is not requested.
  @Test func dropsQueuedSubscriptionWhenEnded() throws {
    var world = try commissioned()
    for _ in 0..<5 { _ = world.controller.read(1, path, at: world.now) }
    let handle = world.controller.subscribe(1, .init(paths: path), at: world.now)
    #expect(world.controller.operations.backlog[1] == [handle])
    world.controller.unsubscribe(handle, at: world.now)
    #expect(world.controller.operations.backlog.isEmpty)
    world.run(for: .seconds(5))
    #expect(!world.devices[0].log.contains("Subscribe"))
  }

  /// After a restart of the device, queued operations run over the next session.
  @Test func runsQueuedOperationsOverNextSession() throws {
    var world = try commissioned()
    world.devices[0].reboot()
    let ids = (0..<40).map { _ in world.controller.read(1, path, at: world.now) }
    world.run(for: .seconds(120))
    #expect(ids.allSatisfy { world.completions(of: $0) == 1 })
    for id in ids { #expect(throws: Never.self) { try #require(world.completion(of: id)).get() } }
  }

  /// Queued operations end when their node is removed.
  @Test func failsQueuedOperationsOfRemovedNode() throws {
    var world = try commissioned()
    world.devices[0].silent = ["Read"]
    let ids = (0..<9).map { _ in world.controller.read(1, path, at: world.now) }
    let removal = world.controller.removeNode(1, force: true, timeout: .seconds(1), at: world.now)
    world.run(for: .seconds(2))
    #expect(throws: Never.self) { try #require(world.completion(of: removal)).get() }
    #expect(ids.allSatisfy { world.completions(of: $0) == 1 })
    #expect(world.controller.operations.backlog.isEmpty && world.controller.transactions.transactions.isEmpty)
  }
}
