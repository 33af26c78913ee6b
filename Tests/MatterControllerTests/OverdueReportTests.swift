import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

/// Reachable devices that have dropped a subscription.
@Suite struct OverdueReportTests {
  private func subscribed(
    _ request: SubscriptionRequest = .init(paths: [AttributePath(lampOnOff)])
  ) throws -> (World, SubscriptionHandle) {
    var world = try World()
    try world.addDevice()
    try world.commissionAll()
    let handle = world.controller.subscribe(1, request, at: world.now)
    world.run(for: .milliseconds(100))
    try #require(world.controller.isEstablished(handle))
    world.events = []
    return (world, handle)
  }

  private func losses(_ world: World, _ handle: SubscriptionHandle) -> Int {
    world.events.count { if case .subscriptionLost(handle, _, _) = $0.event { true } else { false } }
  }

  private func summary(_ world: World, _ handle: SubscriptionHandle) -> [String] {
    world.events.flatMap {
      switch $0.event {
      case .report(handle, let report): report.attributes.map { "\($0.path)" }
      case .subscriptionEstablished(handle, _): ["established"]
      case .subscriptionLost(handle, _, _): ["lost"]
      default: [] as [String]
      }
    }
  }

  /// The device never reports: the subscription is renewed after each interval and never lost.
  @Test func renewsBeforeDeclaringLoss() throws {
    var (world, handle) = try subscribed()
    world.devices[0].set(OnOff.onOff, true, 1)
    let before = world.devices[0].log.count { $0 == "Subscribe" }
    world.run(for: .seconds(61))
    #expect(summary(world, handle) == [])
    world.run(for: .seconds(2))
    #expect(summary(world, handle) == ["\(lampOnOff)", "established"])
    world.run(for: .seconds(300))
    #expect(losses(world, handle) == 0)
    // Once per interval.
    #expect(world.devices[0].log.count { $0 == "Subscribe" } - before == 5)
  }

  /// The session and the id of the replaced subscription are dropped.
  @Test func closesSessionOfReplacedSubscription() throws {
    var (world, handle) = try subscribed()
    world.run(for: .seconds(64))
    #expect(world.devices[0].core.sessions.count { $0.kind == .case } == 1)
    #expect(world.controller.subscriptions.handlesByKey.keys.map(\.id) == [102])
    world.devices[0].report(lampOnOff, subscription: 102, at: world.now)
    world.run(for: .milliseconds(100))
    #expect(world.devices[0].statuses.last == .success)
    #expect(losses(world, handle) == 0)
  }

  /// An unreachable device is lost at the deadline of the subscription, regardless of the renewal attempt.
  @Test func losesUnreachableDeviceAtDeadline() throws {
    var (world, handle) = try subscribed()
    let deadline = try #require(world.controller.reportDeadline(handle))
    world.devices[0].isDead = true
    world.run(for: deadline - world.now - .milliseconds(1))
    #expect(losses(world, handle) == 0)
    world.run(for: .milliseconds(2))
    #expect(losses(world, handle) == 1)
    // From there on, one attempt at a time.
    world.devices[0].isDead = false
    world.run(for: .seconds(3))
    #expect(summary(world, handle) == ["lost", "established"])
  }

  /// A refused renewal does not end the subscription before its deadline.
  @Test func keepsSubscriptionAfterRefusedRenewal() throws {
    var (world, handle) = try subscribed()
    world.devices[0].busyCount = 100
    world.devices[0].busyStatus = .resourceExhausted
    world.run(for: .milliseconds(66_200))
    #expect(world.devices[0].log.count { $0 == "Subscribe" } > 1)
    #expect(world.controller.isEstablished(handle))
    world.devices[0].report(lampOnOff, subscription: 101, at: world.now)
    world.run(for: .seconds(30))
    #expect(world.devices[0].statuses.last == .success)
    #expect(summary(world, handle) == ["\(lampOnOff)"])
  }

  /// A device restarted between reports knows neither subscription nor session.
  @Test func renewsAfterDeviceRestart() throws {
    var (world, handle) = try subscribed()
    world.run(for: .seconds(20))
    world.devices[0].reboot()
    world.run(for: .seconds(300))
    #expect(losses(world, handle) == 0)
    #expect(world.controller.isEstablished(handle))
    // One session at a time.
    #expect(world.controller.core.sessions.count { $0.kind == .case } == 1)
  }

  /// A late report cancels the renewal.
  @Test func cancelsRenewalOnLateReport() throws {
    var (world, handle) = try subscribed()
    world.devices[0].busyCount = 1
    world.run(for: .milliseconds(61_900))
    world.devices[0].report(lampOnOff, subscription: 101, at: world.now)
    let before = world.devices[0].log.count { $0 == "Subscribe" }
    world.run(for: .seconds(30))
    #expect(world.devices[0].log.count { $0 == "Subscribe" } == before)
    #expect(summary(world, handle) == ["\(lampOnOff)"])
    #expect(sessions(world) == [1, 1])
  }

  /// A device that refuses each renewal and reports late has a second session only during the renewal.
  @Test func closesExtraSessionsAfterRenewal() throws {
    var (world, handle) = try subscribed()
    for _ in 1...5 {
      world.devices[0].busyCount = 100
      world.devices[0].busyStatus = .resourceExhausted
      world.run(for: .milliseconds(66_200))
      #expect(sessions(world) == [2, 2])
      world.devices[0].report(lampOnOff, subscription: 101, at: world.now)
      world.run(for: .milliseconds(100))
      #expect(sessions(world) == [1, 1])
    }
    #expect(losses(world, handle) == 0)
  }

  /// Requests over the new session are answered before it is closed.
  @Test func keepsNewSessionUntilRequestsEnd() throws {
    var (world, _) = try subscribed()
    world.devices[0].busyCount = 1
    world.run(for: .milliseconds(61_900))
    let read = world.controller.read(1, [AttributePath(lampOnOff)], at: world.now)
    world.devices[0].report(lampOnOff, subscription: 101, at: world.now)
    world.run(for: .seconds(1))
    #expect(throws: Never.self) { try #require(world.completion(of: read)).get() }
    #expect(sessions(world) == [1, 1])
    #expect(world.controller.transactions.retiring.isEmpty)
  }

  /// A request on the old session is answered over the new one if the device was restarted, and over the old one if the
  /// device is only slow.
  @Test(arguments: [true, false]) func completesRequestsOfOldSession(isRestarted: Bool) throws {
    var (world, handle) = try subscribed()
    world.run(for: .seconds(20))
    if isRestarted { world.devices[0].reboot() } else { world.devices[0].holdBack = ["Toggle"] }
    world.run(for: .seconds(40))
    // A command is not repeated.
    let id =
      isRestarted
      ? world.controller.read(OnOff.onOff, on: 1, of: 1, at: world.now)
      : world.controller.invoke(OnOff.toggle, on: 1, of: 1, at: world.now)
    world.run(for: .milliseconds(3500))
    // The new subscription is established, and the request is not answered yet.
    #expect(summary(world, handle).contains("established"))
    #expect(world.completion(of: id) == nil)
    if !isRestarted { #expect(world.devices[0].answerHeld(at: world.now) == 1) }
    world.run(for: .seconds(20))
    #expect(throws: Never.self) { try #require(world.completion(of: id)).get() }
    #expect(world.devices[0].log.count { $0 == (isRestarted ? "Read" : "Toggle") } == 1)
    #expect(losses(world, handle) == 0)
    #expect(sessions(world) == [1, 1])
  }

  /// The session opened for the renewal is retired in favor of the old one; then the old one ends, and the retired one
  /// is used.
  @Test func reusesRetiredSession() throws {
    var (world, _) = try subscribed()
    world.devices[0].busyCount = 1
    world.run(for: .milliseconds(61_900))
    world.devices[0].holdBack = ["Toggle"]
    let invoke = world.controller.invoke(OnOff.toggle, on: 1, of: 1, at: world.now)
    world.run(for: .milliseconds(10))
    world.devices[0].report(lampOnOff, subscription: 101, at: world.now)
    world.run(for: .milliseconds(100))
    try #require(world.controller.transactions.retiring.count == 1)
    let old = try #require(world.devices[0].core.sessions.filter { $0.kind == .case }.map(\.id).min())
    world.events = []
    world.devices[0].core.close(old, notifyingPeer: true, at: world.now)
    world.run(for: .milliseconds(100))
    #expect(world.controller.transactions.retiring.isEmpty)
    #expect(world.devices[0].answerHeld(at: world.now) == 1)
    world.run(for: .seconds(5))
    #expect(throws: Never.self) { try #require(world.completion(of: invoke)).get() }
    // The subscription lost with the old session is renewed without a handshake.
    #expect(!world.events.contains { if case .sessionOpened = $0.event { true } else { false } })
    #expect(sessions(world) == [1, 1])
  }

  /// The number of sessions of the controller and of the device.
  private func sessions(_ world: World) -> [Int] {
    [world.controller.core, world.devices[0].core].map { $0.sessions.count { $0.kind == .case } }
  }

  /// The device closes a session during the renewal: closing the old one loses the subscription, and one new one is
  /// made.
  @Test(arguments: [true, false]) func handlesSessionClosedDuringRenewal(isOld: Bool) throws {
    var (world, handle) = try subscribed()
    world.devices[0].busyCount = 1
    world.run(for: .milliseconds(61_900))
    let sessions = world.devices[0].core.sessions.filter { $0.kind == .case }.map(\.id).sorted()
    try #require(sessions.count == 2)
    world.devices[0].core.close(sessions[isOld ? 0 : 1], notifyingPeer: true, at: world.now)
    world.run(for: .seconds(10))
    #expect(summary(world, handle) == (isOld ? ["lost", "established"] : ["established"]))
  }

  @Test func removesSubscriptionEndedDuringRenewal() throws {
    var (world, handle) = try subscribed()
    world.devices[0].isDead = true
    world.run(for: .seconds(63))
    world.controller.unsubscribe(handle, at: world.now)
    world.devices[0].isDead = false
    world.run(for: .seconds(30))
    #expect(world.controller.subscriptions.count == 0)
    #expect(world.controller.subscriptions.handlesByKey.isEmpty)
    #expect(world.controller.transactions.transactions.isEmpty)
  }
}
