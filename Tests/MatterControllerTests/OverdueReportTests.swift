import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

/// Devices that forget a subscription although they are there.
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

  private func told(_ world: World, _ handle: SubscriptionHandle) -> [String] {
    world.events.compactMap {
      switch $0.event {
      case .attributeReport(handle, let path, _, _): "\(path)"
      case .subscriptionEstablished(handle, _): "established"
      case .subscriptionLost(handle, _, _): "lost"
      default: nil
      }
    }
  }

  /// The device never reports by itself: each interval ends with a question, and nothing is ever said to be lost.
  @Test func itIsAskedBeforeItIsTakenForLost() throws {
    var (world, handle) = try subscribed()
    world.devices[0].set(OnOff.onOff, true, 1)
    let before = world.devices[0].log.count { $0 == "Subscribe" }
    world.run(for: .seconds(61))
    #expect(told(world, handle) == [])
    world.run(for: .seconds(2))
    #expect(told(world, handle) == ["\(lampOnOff)", "established"])
    world.run(for: .seconds(300))
    #expect(losses(world, handle) == 0)
    // Once an interval, and no more.
    #expect(world.devices[0].log.count { $0 == "Subscribe" } - before == 5)
  }

  /// The device is told to let go of the session of the old one, and the old one's number is none of ours any more.
  @Test func theOldOneEnds() throws {
    var (world, handle) = try subscribed()
    world.run(for: .seconds(64))
    #expect(world.devices[0].core.sessions.count { $0.kind == .case } == 1)
    #expect(world.controller.subscriptionHandles.keys.map(\.id) == [102])
    world.devices[0].report(lampOnOff, subscription: 102, at: world.now)
    world.run(for: .milliseconds(100))
    #expect(world.devices[0].statuses.last == .success)
    #expect(losses(world, handle) == 0)
  }

  /// It is away for good: it is lost at the old subscription's deadline, neither sooner nor later for having been asked.
  @Test func whoeverDoesNotAnswerIsLostAtTheDeadline() throws {
    var (world, handle) = try subscribed()
    let deadline = try #require(world.controller.reportDeadline(handle))
    world.devices[0].isDead = true
    world.run(for: deadline - world.now - .milliseconds(1))
    #expect(losses(world, handle) == 0)
    world.run(for: .milliseconds(2))
    #expect(losses(world, handle) == 1)
    // One attempt at a time goes on from there.
    world.devices[0].isDead = false
    world.run(for: .seconds(3))
    #expect(told(world, handle) == ["lost", "established"])
  }

  /// A device that grants no second one is not lost for that: the old one has its time.
  @Test func aRefusalChangesNothing() throws {
    var (world, handle) = try subscribed()
    world.devices[0].busyCount = 100
    world.devices[0].busyStatus = .resourceExhausted
    world.run(for: .milliseconds(66_200))
    #expect(world.devices[0].log.count { $0 == "Subscribe" } > 1)
    #expect(world.controller.isEstablished(handle))
    world.devices[0].report(lampOnOff, subscription: 101, at: world.now)
    world.run(for: .seconds(30))
    #expect(world.devices[0].statuses.last == .success)
    #expect(told(world, handle) == ["\(lampOnOff)"])
  }

  /// It was started again in a moment in which nobody looked: it knows neither subscription nor session.
  @Test func aRestartIsNoLoss() throws {
    var (world, handle) = try subscribed()
    world.run(for: .seconds(20))
    world.devices[0].reboot()
    world.run(for: .seconds(300))
    #expect(losses(world, handle) == 0)
    #expect(world.controller.isEstablished(handle))
    // One session at a time.
    #expect(world.controller.core.sessions.count { $0.kind == .case } == 1)
  }

  /// A report that was only late ends the question: no second subscription is made.
  @Test func aLateReportIsEnough() throws {
    var (world, handle) = try subscribed()
    world.devices[0].busyCount = 1
    world.run(for: .milliseconds(61_900))
    world.devices[0].report(lampOnOff, subscription: 101, at: world.now)
    let before = world.devices[0].log.count { $0 == "Subscribe" }
    world.run(for: .seconds(30))
    #expect(world.devices[0].log.count { $0 == "Subscribe" } == before)
    #expect(told(world, handle) == ["\(lampOnOff)"])
    #expect(sessions(world) == [1, 1])
  }

  /// A device that refuses each time, and reports late each time, has one session the more while it is asked.
  @Test func nobodyIsLeftWithSessions() throws {
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

  /// What others ask over the new session meanwhile is answered, and then the session goes.
  @Test func whoeverUsesTheNewSessionKeepsIt() throws {
    var (world, _) = try subscribed()
    world.devices[0].busyCount = 1
    world.run(for: .milliseconds(61_900))
    let read = world.controller.read(1, [AttributePath(lampOnOff)], at: world.now)
    world.devices[0].report(lampOnOff, subscription: 101, at: world.now)
    world.run(for: .seconds(1))
    #expect(throws: Never.self) { try #require(world.completion(of: read)).get() }
    #expect(sessions(world) == [1, 1])
    #expect(world.controller.leaving.isEmpty)
  }

  /// What was asked over the old session, of a device that was started again since, gets its answer over the new one; what a
  /// device that is there was slow to answer, over the old one.
  @Test(arguments: [true, false]) func whoeverWaitsOverTheOldSessionIsAnswered(isStartedAgain: Bool) throws {
    var (world, handle) = try subscribed()
    world.run(for: .seconds(20))
    if isStartedAgain { world.devices[0].reboot() } else { world.devices[0].holdBack = ["Toggle"] }
    world.run(for: .seconds(40))
    let invoke = world.controller.invoke(OnOff.toggle, on: 1, of: 1, at: world.now)
    world.run(for: .milliseconds(3500))
    // The new subscription stands, and the command is still on its way.
    #expect(told(world, handle).contains("established"))
    #expect(world.completion(of: invoke) == nil)
    if !isStartedAgain { #expect(world.devices[0].answerHeld(at: world.now) == 1) }
    world.run(for: .seconds(20))
    #expect(throws: Never.self) { try #require(world.completion(of: invoke)).get() }
    #expect(world.devices[0].log.count { $0 == "Toggle" } == 1)
    #expect(losses(world, handle) == 0)
    #expect(sessions(world) == [1, 1])
  }

  /// The session that was opened to ask was to be given up for the old one; then the old one ends, and it is needed again.
  @Test func whatWasToBeGivenUpMayBeNeededAgain() throws {
    var (world, _) = try subscribed()
    world.devices[0].busyCount = 1
    world.run(for: .milliseconds(61_900))
    world.devices[0].holdBack = ["Toggle"]
    let invoke = world.controller.invoke(OnOff.toggle, on: 1, of: 1, at: world.now)
    world.run(for: .milliseconds(10))
    world.devices[0].report(lampOnOff, subscription: 101, at: world.now)
    world.run(for: .milliseconds(100))
    try #require(world.controller.leaving.count == 1)
    let old = try #require(world.devices[0].core.sessions.filter { $0.kind == .case }.map(\.id).min())
    world.events = []
    world.devices[0].core.close(old, notifyingPeer: true, at: world.now)
    world.run(for: .milliseconds(100))
    #expect(world.controller.leaving.isEmpty)
    #expect(world.devices[0].answerHeld(at: world.now) == 1)
    world.run(for: .seconds(5))
    #expect(throws: Never.self) { try #require(world.completion(of: invoke)).get() }
    // No handshake was needed for the subscription that the old session took with it.
    #expect(!world.events.contains { if case .sessionOpened = $0.event { true } else { false } })
    #expect(sessions(world) == [1, 1])
  }

  /// How many sessions the controller and the device have.
  private func sessions(_ world: World) -> [Int] {
    [world.controller.core, world.devices[0].core].map { $0.sessions.count { $0.kind == .case } }
  }

  /// The device closes a session while it is asked: the old one takes the subscription with it, and one new one is made.
  @Test(arguments: [true, false]) func aSessionMayEndMeanwhile(isOld: Bool) throws {
    var (world, handle) = try subscribed()
    world.devices[0].busyCount = 1
    world.run(for: .milliseconds(61_900))
    let sessions = world.devices[0].core.sessions.filter { $0.kind == .case }.map(\.id).sorted()
    try #require(sessions.count == 2)
    world.devices[0].core.close(sessions[isOld ? 0 : 1], notifyingPeer: true, at: world.now)
    world.run(for: .seconds(10))
    #expect(told(world, handle) == (isOld ? ["lost", "established"] : ["established"]))
  }

  @Test func nothingIsLeftOfOneThatIsEndedMeanwhile() throws {
    var (world, handle) = try subscribed()
    world.devices[0].isDead = true
    world.run(for: .seconds(63))
    world.controller.unsubscribe(handle, at: world.now)
    world.devices[0].isDead = false
    world.run(for: .seconds(30))
    #expect(world.controller.subscriptions.isEmpty)
    #expect(world.controller.subscriptionHandles.isEmpty)
    #expect(world.controller.transactions.isEmpty)
  }
}
