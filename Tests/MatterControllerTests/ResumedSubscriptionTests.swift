import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

/// Devices that resume their subscriptions after a restart.
@Suite struct ResumedSubscriptionTests {
  /// - Returns: handles of established subscriptions with the ids 101, 102, …
  private func subscribed(_ count: Int = 1) throws -> (World, [SubscriptionHandle]) {
    var world = try World()
    try world.addDevice()
    try world.commissionAll()
    var handles: [SubscriptionHandle] = []
    for _ in 0..<count {
      handles.append(
        world.controller.subscribe(1, SubscriptionRequest(paths: [AttributePath(lampOnOff)]), at: world.now))
      world.run(for: .milliseconds(100))
    }
    world.run(for: .seconds(10))
    try #require(handles.allSatisfy { world.controller.isEstablished($0) })
    world.events = []
    world.devices[0].log = []
    return (world, handles)
  }

  private func summary(_ world: World, _ handle: SubscriptionHandle) -> [String] {
    world.events.compactMap {
      switch $0.event {
      case .report(handle, let report): report.attributes.isEmpty ? nil : "report"
      case .subscriptionEstablished(handle, _): "established"
      case .subscriptionLost(handle, _, _): "lost"
      default: nil
      }
    }
  }

  /// Restarts the device and opens a session from it to the controller.
  private func restart(_ world: inout World) -> SessionID? {
    world.devices[0].reboot()
    let controller = world.controller.fabric.nodeID
    _ = world.devices[0].core.establishCASE(
      fabric: 1, peer: controller, to: world.controllerAddress, parameters: .init(), at: world.now)
    world.run(for: .milliseconds(20))
    return world.devices[0].core.newestSession(fabric: 1, peer: controller)
  }

  @Test func acceptsReportOverNewSession() throws {
    var (world, handles) = try subscribed()
    let opened = restart(&world)
    let session = try #require(opened)
    world.devices[0].subscriptions[101] = session
    world.devices[0].set(OnOff.onOff, true, 1)
    world.devices[0].report(lampOnOff, subscription: 101, at: world.now)
    world.run(for: .milliseconds(100))
    #expect(world.devices[0].statuses.last == .success)
    #expect(summary(world, handles[0]) == ["report"])
    #expect(world.devices[0].log == [], "another subscription was requested")
    #expect(world.controller.core.sessions.count { $0.kind == .case } == 1, "the old session was not closed")

    // Requests and reports use the new session.
    let id = world.controller.invoke(OnOff.toggle, on: 1, of: 1, at: world.now)
    _ = try #require(try world.result(of: id)?.get())
    world.run(for: .seconds(30))
    world.devices[0].report(lampOnOff, subscription: 101, at: world.now)
    world.run(for: .seconds(45))
    #expect(summary(world, handles[0]) == ["report", "report"])
  }

  @Test func rejectsUnknownSubscriptionID() throws {
    var (world, handles) = try subscribed()
    let opened = restart(&world)
    let session = try #require(opened)
    world.devices[0].subscriptions[999] = session
    world.devices[0].report(lampOnOff, subscription: 999, at: world.now)
    world.run(for: .milliseconds(100))
    #expect(world.devices[0].statuses.last == .invalidSubscription)
    // The session indicates a restart of the device: the established subscription is renewed.
    world.run(for: .seconds(3))
    #expect(summary(world, handles[0]) == ["established"])
  }

  @Test func repeatsRequestsOfOldSession() throws {
    var (world, _) = try subscribed()
    world.devices[0].isDead = true
    let read = world.controller.read(OnOff.onOff, on: 1, of: 1, at: world.now)
    let invoke = world.controller.invoke(OnOff.toggle, on: 1, of: 1, at: world.now)
    world.run(for: .milliseconds(50))
    world.devices[0].isDead = false
    let opened = restart(&world)
    let session = try #require(opened)
    world.devices[0].subscriptions[101] = session
    world.devices[0].report(lampOnOff, subscription: 101, at: world.now)
    world.run(for: .milliseconds(50))
    #expect(throws: Never.self) { try #require(world.completion(of: read)).get() }
    // The device may have carried it out before the restart.
    #expect(world.error(of: invoke) == .unacknowledged)
    #expect(world.devices[0].log == ["Read"])
  }

  @Test func renewsSubscriptionsThatAreNotResumed() throws {
    var (world, handles) = try subscribed(2)
    let opened = restart(&world)
    let session = try #require(opened)
    world.devices[0].subscriptions[101] = session
    world.devices[0].report(lampOnOff, subscription: 101, at: world.now)
    world.run(for: .seconds(3))
    #expect(summary(world, handles[0]) == ["report"])
    #expect(summary(world, handles[1]) == ["established"])
  }

  @Test func endsBackOffWhenNodeOpensSession() throws {
    var (world, handles) = try subscribed()
    world.devices[0].isDead = true
    world.run(for: .seconds(1_000))
    #expect(summary(world, handles[0]).contains("lost"))
    world.devices[0].isDead = false
    world.events = []
    _ = restart(&world)
    world.run(for: .milliseconds(100))
    #expect(summary(world, handles[0]).last == "established")
  }
}
