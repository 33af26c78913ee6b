import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

@Suite struct SubscriptionTests {
  private func subscribed(
    _ change: (inout FakeDevice) -> Void = { _ in }
  ) throws -> (World, SubscriptionHandle) {
    var world = try World()
    try world.addDevice()
    try world.commissionAll()
    change(&world.devices[0])
    let handle = world.controller.subscribe(
      1, SubscriptionRequest(paths: [AttributePath(cluster: OnOff.id), AttributePath(cluster: Descriptor.id)]),
      at: world.now)
    world.run(for: .milliseconds(100))
    return (world, handle)
  }

  /// The events of a subscription, one word each.
  private func summary(_ world: World, _ handle: SubscriptionHandle) -> [String] {
    world.events.flatMap {
      switch $0.event {
      case .report(handle, let report): report.attributes.map { "\($0.path)" } + ["end"]
      case .subscriptionEstablished(handle, _): ["established"]
      case .subscriptionLost(handle, _, _): ["lost"]
      case .completed(handle, _): ["completed"]
      default: [] as [String]
      }
    }
  }

  private var descriptors: [String] {
    [
      Descriptor.deviceTypeList.path(on: 0), Descriptor.partsList.path(on: 0), lampOnOff,
      Descriptor.deviceTypeList.path(on: 1),
    ].map { "\($0)" }
  }

  @Test(arguments: [1, 2, 100]) func emitsFirstReportsAndChanges(size: Int) throws {
    var (world, handle) = try subscribed { $0.reportSize = size }
    #expect(summary(world, handle) == descriptors + ["end", "established"])
    #expect(world.controller.isEstablished(handle))
    world.events = []
    world.devices[0].set(OnOff.onOff, true, 1)
    world.devices[0].report(lampOnOff, subscription: 101, at: world.now)
    world.run(for: .milliseconds(100))
    #expect(summary(world, handle) == ["\(lampOnOff)", "end"])
    #expect(world.devices[0].statuses.last == .success)
    #expect(world.controller.cachedValue(lampOnOff, of: 1)?.value == true.tlv)
  }

  @Test func rejectsUnknownSubscription() throws {
    var (world, handle) = try subscribed()
    world.devices[0].report(lampOnOff, subscription: 999, at: world.now)
    world.run(for: .milliseconds(100))
    #expect(world.devices[0].statuses.last == .invalidSubscription)
    world.controller.unsubscribe(handle, at: world.now)
    world.devices[0].report(lampOnOff, subscription: 101, at: world.now)
    world.run(for: .milliseconds(100))
    #expect(world.devices[0].statuses.last == .invalidSubscription)
    #expect(summary(world, handle).last == "completed")
    #expect(world.completions(of: handle) == 1)
  }

  @Test func staysEstablishedWithEmptyReports() throws {
    var (world, handle) = try subscribed()
    for _ in 0..<5 {
      world.run(for: .seconds(60))
      world.devices[0].report(nil, subscription: 101, at: world.now)
    }
    world.run(for: .seconds(1))
    #expect(!summary(world, handle).contains("lost"))
  }

  @Test func renewsAfterLoss() throws {
    var (world, handle) = try subscribed()
    let start = world.now
    world.events = []
    world.devices[0].isDead = true
    world.run(for: .seconds(70))
    world.devices[0].isDead = false
    world.run(for: .seconds(20))
    #expect(summary(world, handle) == ["lost", "end", "established"])
    let lost = try #require(
      world.events.first { if case .subscriptionLost(handle, .unreachable, .zero) = $0.event { true } else { false } })
    // Not before the interval, and not long after the interval and the retransmissions.
    #expect(lost.at - start > .seconds(60) && lost.at - start < .seconds(68))
    // Unchanged clusters are filtered out.
    let filters = try #require(world.devices[0].lastSubscribe?.dataVersionFilters)
    #expect(
      filters == [
        .init(ClusterPath(0, Descriptor.id), dataVersion: 12), .init(ClusterPath(1, OnOff.id), dataVersion: 11),
        .init(ClusterPath(1, Descriptor.id), dataVersion: 11),
      ])
  }

  @Test func reportsChangesDuringOutage() throws {
    var (world, handle) = try subscribed()
    world.events = []
    world.devices[0].isDead = true
    world.devices[0].set(OnOff.onOff, true, 1)
    world.run(for: .seconds(70))
    world.devices[0].isDead = false
    world.run(for: .seconds(20))
    #expect(summary(world, handle) == ["lost", "\(lampOnOff)", "end", "established"])
  }

  @Test func failsOrRetriesFirstAttempt() throws {
    var world = try World()
    try world.addDevice()
    try world.commissionAll()
    world.devices[0].isDead = true
    let once = world.controller.subscribe(1, SubscriptionRequest(paths: [AttributePath(lampOnOff)]), at: world.now)
    #expect(world.error(of: once) == .unreachable)
    var request = SubscriptionRequest(paths: [AttributePath(lampOnOff)])
    request.retriesFirstAttempt = true
    let handle = world.controller.subscribe(1, request, at: world.now)
    world.run(for: .seconds(20))
    #expect(summary(world, handle).contains("lost"))
    world.devices[0].isDead = false
    world.run(for: .seconds(60))
    #expect(world.controller.isEstablished(handle))
  }

  @Test func renewsAtOnceWhenSessionIsClosed() throws {
    var (world, handle) = try subscribed()
    world.events = []
    let session = try #require(world.devices[0].core.sessions.last { $0.kind == .case })
    world.devices[0].core.close(session.id, notifyingPeer: true, at: world.now)
    world.run(for: .seconds(1))
    #expect(summary(world, handle) == ["lost", "end", "established"])
  }

  @Test func succeedsWithAnyOneDatagramLost() throws {
    for lost in 0..<12 {
      var world = try World()
      try world.addDevice()
      try world.commissionAll()
      world.run(for: .seconds(1))
      world.devices[0].reportSize = 2
      let first = world.datagramCount
      world.loses = { $0 == first + lost }
      let handle = world.controller.subscribe(
        1, SubscriptionRequest(paths: [AttributePath(cluster: Descriptor.id)]), at: world.now)
      world.run(for: .seconds(20))
      #expect(
        summary(world, handle) == [descriptors[0], descriptors[1], descriptors[3], "end", "established"], "\(lost)")
    }
  }

  @Test func endsWhenNodeIsRemoved() throws {
    var (world, handle) = try subscribed()
    let id = world.controller.removeNode(1, at: world.now)
    _ = try #require(try world.result(of: id)?.get())
    #expect(world.error(of: handle) == .unknownNode(1))
    world.run(for: .seconds(600))
    #expect(world.completions(of: handle) == 1)
    #expect(world.controller.nextDeadline == nil)
  }
}
