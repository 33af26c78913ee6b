import MatterProtocol
import Testing

@testable import Hub

/// Decisions in virtual time; the losses are drawn from a seed.
@Suite("Route selection") struct RouteSelectionTests {
  private static let times = RouteSelection.Times(timeout: .milliseconds(1200), stable: .seconds(5))

  private func at(_ milliseconds: Int) -> Instant { Instant.zero + .milliseconds(milliseconds) }

  @Test func startsFartherRouteWhenNearerOneFails() {
    var selection = RouteSelection(count: 3, Self.times)
    selection.advance(to: at(0))
    #expect(selection.isStarted(0) && !selection.isStarted(1) && selection.active == nil)
    selection.failed(0, at: at(10))
    #expect(selection.isStarted(1) && !selection.isStarted(2))
    selection.failed(1, at: at(20))
    #expect(selection.isStarted(2) && !selection.haveAllFailed && !selection.isLost(at: at(20)))
    selection.failed(2, at: at(30))
    #expect(selection.haveAllFailed && selection.isLost(at: at(30)))
    selection.succeeded(2, at: at(40))
    #expect(selection.active == 2 && selection.isStarted(0) && selection.isStarted(1))
  }

  @Test func startsFartherRouteWhenNearerOneConnectsSlowly() {
    var selection = RouteSelection(count: 2, Self.times)
    selection.advance(to: at(0))
    #expect(selection.nextDeadline(after: at(0)) == at(1200))
    selection.advance(to: at(1199))
    #expect(!selection.isStarted(1))
    selection.advance(to: at(1200))
    #expect(selection.isStarted(1))
    selection.succeeded(1, at: at(1300))
    #expect(selection.active == 1)
    // The nearer one is used when it is stable, and the farther one stopped.
    selection.succeeded(0, at: at(2000))
    #expect(selection.nextDeadline(after: at(2000)) == at(7000))
    selection.advance(to: at(6999))
    #expect(selection.active == 1)
    selection.advance(to: at(7000))
    #expect(selection.active == 0 && !selection.isStarted(1))
    #expect(selection.nextDeadline(after: at(7000)) == nil)
  }

  @Test func awaitsResultOfConnection() {
    var selection = RouteSelection(count: 2, Self.times)
    selection.advance(to: at(0))
    #expect(selection.isPending(0) && !selection.isPending(1))
    selection.succeeded(0, at: at(100))
    #expect(!selection.isPending(0))
    selection.noteSilence(.milliseconds(600), of: 0, at: at(1000))
    selection.succeeded(1, at: at(1100))
    // A route that was left is connected again.
    selection.noteSilence(.milliseconds(1200), of: 0, at: at(1600))
    #expect(selection.active == 1 && selection.isPending(0))
    selection.failed(0, at: at(1700))
    #expect(!selection.isPending(0))
  }

  @Test func staysOnSilentRouteWithoutAlternative() {
    var selection = RouteSelection(count: 2, Self.times)
    selection.advance(to: at(0))
    selection.succeeded(0, at: at(100))
    selection.noteSilence(.milliseconds(600), of: 0, at: at(1000))
    // Connected in advance.
    #expect(selection.active == 0 && selection.isStarted(1))
    selection.failed(1, at: at(1100))
    selection.noteSilence(.seconds(9), of: 0, at: at(10_000))
    #expect(selection.active == 0 && !selection.isLost(at: at(10_000)))
    selection.succeeded(1, at: at(10_100))
    #expect(selection.active == 1)
  }

  /// The used route and the other one are probed at different times.
  @Test func staysOnSilentRouteIfOtherOneBecomesSilent() {
    var selection = RouteSelection(count: 2, Self.times)
    selection.advance(to: at(0))
    selection.failed(0, at: at(0))
    selection.succeeded(1, at: at(50))
    selection.succeeded(0, at: at(100))
    selection.noteSilence(.milliseconds(1000), of: 0, at: at(3000))
    selection.noteSilence(.milliseconds(1200), of: 1, at: at(3100))
    #expect(selection.active == 1)
    selection.noteSilence(.zero, of: 0, at: at(3150))
    #expect(selection.active == 0)
  }

  @Test func stopsFartherRouteWhenDelayIsOver() {
    var selection = RouteSelection(count: 2, Self.times)
    selection.advance(to: at(0))
    selection.succeeded(0, at: at(0))
    selection.noteSilence(.milliseconds(600), of: 0, at: at(10_000))
    selection.succeeded(1, at: at(10_100))
    selection.noteSilence(.zero, of: 0, at: at(10_200))
    #expect(selection.active == 0 && selection.isStarted(1))
    #expect(selection.nextDeadline(after: at(10_200)) == at(15_100))
    selection.advance(to: at(15_200))
    #expect(selection.active == 0 && !selection.isStarted(1))
  }

  @Test func leavesFallbackAtOnce() {
    var selection = RouteSelection(count: 3, Self.times, fallback: 2)
    selection.advance(to: at(0))
    selection.succeeded(0, at: at(0))
    selection.failed(0, at: at(10_000))
    selection.failed(1, at: at(10_010))
    selection.succeeded(2, at: at(10_020))
    #expect(selection.active == 2)
    selection.succeeded(1, at: at(10_100))
    #expect(selection.active == 1 && selection.isStarted(2))
    // Not between two hubs.
    selection.succeeded(0, at: at(10_200))
    #expect(selection.active == 1)
    selection.advance(to: at(15_200))
    #expect(selection.active == 0)
  }

  @Test func staysOnFallbackAfterDelay() {
    var selection = RouteSelection(count: 2, Self.times, fallback: 1)
    selection.advance(to: at(0))
    selection.succeeded(0, at: at(0))
    selection.noteSilence(.milliseconds(900), of: 0, at: at(10_000))
    selection.succeeded(1, at: at(10_100))
    selection.noteSilence(.milliseconds(1500), of: 0, at: at(10_600))
    #expect(selection.active == 1)
    selection.succeeded(0, at: at(10_700))
    #expect(selection.active == 1)
    selection.advance(to: at(15_700))
    #expect(selection.active == 0)
  }

  @Test func doublesStableTimeAfterEachFailure() {
    var selection = RouteSelection(count: 2, Self.times)
    selection.advance(to: at(0))
    selection.succeeded(0, at: at(0))
    var time = 10_000
    // The duration of the outage makes no difference.
    for (outage, expected) in [
      (1000, 5000), (30_000, 10_000), (1000, 20_000), (10, 40_000), (1000, 80_000), (1000, 160_000), (1000, 160_000),
    ] {
      selection.failed(0, at: at(time))
      selection.succeeded(1, at: at(time + 5))
      time += outage
      selection.succeeded(0, at: at(time))
      selection.advance(to: at(time + expected - 1))
      #expect(selection.active == 1, "\(expected)")
      selection.advance(to: at(time + expected))
      #expect(selection.active == 0, "\(expected)")
      time += expected + 100
    }
    // After ten minutes without a failure one of six no longer counts; after an hour all are forgotten.
    for (pause, expected) in [(600_000, 160_000), (3_600_000, 5000)] {
      time += pause
      selection.failed(0, at: at(time))
      selection.succeeded(1, at: at(time + 50))
      selection.succeeded(0, at: at(time + 1000))
      selection.advance(to: at(time + expected + 999))
      #expect(selection.active == 1, "\(expected)")
      selection.advance(to: at(time + expected + 1000))
      #expect(selection.active == 0, "\(expected)")
    }
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>) func leavesBrokenRouteWithinTwoSeconds(seed: UInt64) {
    var routes = SimulatedRoutes(losses: [0, 0], seed: seed)
    routes.run(milliseconds: 20_000 + Int(seed) * 50)
    #expect(routes.selection.active == 0)
    for (isReset, stable) in [(false, 5000), (true, 10_000), (false, 20_000)] {
      let begin = routes.time
      routes.setBroken(true, 0)
      if isReset { routes.reset(0) }
      routes.run(milliseconds: 30_000)
      #expect(routes.timeUntilChange(after: begin) <= 2000)
      #expect(routes.selection.active == 1)
      // The nearer route is used again when it is stable.
      let end = routes.time
      routes.setBroken(false, 0)
      routes.run(milliseconds: 30_000)
      #expect(routes.selection.active == 0)
      #expect((stable...stable + 2000).contains(routes.timeUntilChange(after: end)))
    }
  }

  /// At 30 % loss about one answer in ten takes more than a second.
  @Test(arguments: [([0.3, 0], 8, 50), ([0, 0.3], 0, 0), ([0.3, 0.3], 12, 75), ([0.3, 0.3, 0], 12, 90)])
  func changesRouteRarelyUnderLoss(losses: [Double], maximum: Int, sum: Int) {
    var total = 0
    for seed in UInt64(1)...10 {
      var routes = SimulatedRoutes(losses: losses, seed: seed)
      routes.run(milliseconds: 600_000)
      // The first one is the first use of a route.
      let changes = routes.changes.drop { $0.route == nil }.count - 1
      #expect(changes <= maximum, "seed \(seed)")
      #expect(routes.selection.active != nil)
      total += changes
      // The nearest route is used again after the loss has ended.
      for index in losses.indices { routes.setLoss(0, index) }
      routes.run(milliseconds: 400_000)
      #expect(routes.selection.active == 0, "seed \(seed)")
    }
    #expect(total <= sum)
  }

  /// Earlier delays do not keep a client on a route that fails later.
  @Test(arguments: [[0.3, 0], [0, 0.3], [0.3, 0.3]])
  func leavesBrokenRouteWithinTwoSecondsAfterLoss(losses: [Double]) {
    for seed in UInt64(1)...10 {
      var routes = SimulatedRoutes(losses: losses, seed: seed)
      routes.run(milliseconds: 300_000)
      for index in losses.indices { routes.setLoss(0, index) }
      routes.run(milliseconds: 30_000)
      let (begin, used) = (routes.time, routes.selection.active)
      routes.setBroken(true, used ?? 0)
      routes.run(milliseconds: 5000)
      #expect(used != nil && routes.selection.active != used)
      #expect(routes.timeUntilChange(after: begin) <= 2000, "seed \(seed)")
    }
  }

  /// While answers are late on both routes, the used one may be as good as the other one.
  @Test func staysOnSilentRouteIfBothAreDelayed() {
    var selection = RouteSelection(count: 2, Self.times)
    selection.advance(to: at(0))
    selection.succeeded(0, at: at(0))
    selection.noteSilence(.milliseconds(800), of: 0, at: at(1000))
    selection.succeeded(1, at: at(1050))
    for index in [1, 0] {
      selection.noteSilence(.milliseconds(800), of: index, at: at(2000))
      selection.noteSilence(.zero, of: index, at: at(2100))
    }
    selection.noteSilence(.milliseconds(9400), of: 0, at: at(11_500))
    #expect(selection.active == 0)
    selection.noteSilence(.milliseconds(9600), of: 0, at: at(11_700))
    #expect(selection.active == 1)
    // Ten seconds after its last delay the other route is as good as any.
    selection.noteSilence(.milliseconds(800), of: 1, at: at(12_000))
    selection.succeeded(0, at: at(12_050))
    selection.noteSilence(.zero, of: 1, at: at(12_100))
    selection.noteSilence(.milliseconds(1200), of: 1, at: at(23_000))
    #expect(selection.active == 0)
  }

  @Test func isDeterministic() {
    func changes(_ seed: UInt64) -> [Int] {
      var routes = SimulatedRoutes(losses: [0.3, 0.3], seed: seed)
      routes.run(milliseconds: 120_000)
      return routes.changes.map(\.time)
    }
    #expect(changes(7) == changes(7))
  }
}
