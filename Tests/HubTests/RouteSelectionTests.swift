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

  @Test func doublesStableTimeOfUnreliableRoute() {
    var selection = RouteSelection(count: 2, Self.times)
    selection.advance(to: at(0))
    selection.succeeded(0, at: at(0))
    var time = 10_000
    for expected in [10_000, 20_000, 40_000, 80_000, 160_000, 160_000] {
      selection.failed(0, at: at(time))
      selection.succeeded(1, at: at(time + 50))
      selection.succeeded(0, at: at(time + 1000))
      #expect(selection.active == 1)
      selection.advance(to: at(time + 999 + expected))
      // Two minutes make one failure be forgotten.
      if expected < 160_000 { #expect(selection.active == 1, "\(expected)") }
      selection.advance(to: at(time + 1000 + expected))
      #expect(selection.active == 0, "\(expected)")
      time += 1000 + expected + 100
    }
    // An outage that was longer is not counted.
    time += 1_000_000
    selection.failed(0, at: at(time))
    selection.succeeded(1, at: at(time + 50))
    selection.succeeded(0, at: at(time + 60_000))
    selection.advance(to: at(time + 65_000))
    #expect(selection.active == 0)
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>) func leavesBrokenRouteWithinTwoSeconds(seed: UInt64) {
    var routes = SimulatedRoutes(losses: [0, 0], seed: seed)
    routes.run(milliseconds: 20_000 + Int(seed) * 50)
    #expect(routes.selection.active == 0)
    for isReset in [false, true, false] {
      let begin = routes.time
      routes.setBroken(true, 0)
      if isReset { routes.reset(0) }
      routes.run(milliseconds: 30_000)
      let change = routes.changes.first { $0.time > begin && $0.route == 1 }
      #expect((change?.time ?? .max) - begin <= 2000)
      // The nearer route is used again after five seconds.
      let end = routes.time
      routes.setBroken(false, 0)
      routes.run(milliseconds: 30_000)
      #expect(routes.selection.active == 0)
      #expect((5000...7000).contains((routes.changes.last?.time ?? 0) - end))
    }
  }

  /// At 30 % loss about one answer in ten takes more than a second.
  @Test(arguments: 1...4 as ClosedRange<UInt64>, [[0.3, 0], [0, 0.3], [0.3, 0.3]])
  func changesRouteRarelyUnderLoss(seed: UInt64, losses: [Double]) {
    var routes = SimulatedRoutes(losses: losses, seed: seed)
    routes.run(milliseconds: 600_000)
    // Most changes come before the times have been doubled.
    #expect(routes.changes.count <= 25)
    #expect(routes.changes.count { $0.time > 300_000 } <= 10)
    #expect(routes.selection.active != nil)
    // The nearer route is used again after the loss has ended.
    for index in losses.indices { routes.setLoss(0, index) }
    routes.run(milliseconds: 400_000)
    #expect(routes.selection.active == 0)
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
