import HearthHome
import MatterProtocol
import Scenario
import Simulation
import Testing

/// Reachability behind a link that carries less than Matter requires.
@Suite struct NarrowLinkTests {
  /// - Parameter size: the maximum datagram size of the lamp's links.
  private func inject(_ world: SimulatedHome, _ size: Int) async throws {
    var narrow = LinkConditions.perfect
    narrow.maximumDatagramSize = size
    try await world.inject("Lamp", .conditions(narrow))
  }

  private func isReportedOnline(_ world: SimulatedHome) async throws -> Bool {
    try await world.home.devices().list().first?.sourceConnectivity.connectivityState == .online
  }

  /// A subscription lasts with small messages; after a restart of the home it can't be established again.
  @Test(arguments: [120, 152, 300]) func keepsSubscriptionButEstablishesNone(_ size: Int) async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { _, world in
      async let scored = world.score(for: .seconds(1200), every: .seconds(2))
      try await world.simulation.sleep(for: .seconds(10))
      try await inject(world, size)
      try await world.simulation.sleep(for: .seconds(300))
      var truth = try #require(await world.truth().first)
      #expect(truth.isReachable && truth.isNarrow && truth.isSubscribed && truth.route == .ipv6)
      #expect(try await isReportedOnline(world))
      try await world.cutPower(of: "hub")
      try await world.restorePower(of: "hub")
      try await world.simulation.sleep(for: .seconds(200))
      truth = try #require(await world.truth().first)
      #expect(!truth.isReachable && truth.isPowered && truth.route == .ipv6)
      #expect(try await !isReportedOnline(world))
      #expect(try await world.disagreements().isEmpty)
      try await world.inject("Lamp", .heal)
      truth = try #require(await world.truth().first)
      #expect(truth.isReachable && !truth.isNarrow)
      return try await scored
    }
    let card = try run.result.get()
    #expect([card.falseOffline, card.falseOnline] == [0, 0], "\(card.lines)")
    #expect(
      card.undetectedOutages.isEmpty && card.undetectedReturns.isEmpty && card.detectedReturns.count == 1,
      "\(card.lines)")
  }

  /// A subscription that only one end holds doesn't count.
  @Test func ignoresSubscriptionOfOneEnd() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { _, world in
      try await inject(world, 600)
      try await world.cutPower(of: "Lamp")
      try await world.restorePower(of: "Lamp")
      #expect(await world.truth().map(\.isReachable) == [false])
    }
    _ = try run.result.get()
  }

  /// Datagram sizes around the limits: too small for any message, the smallest message, the minimum of Matter, and
  /// what a handshake and a first report need.
  @Test func classifiesLinksAtTheLimits() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { _, world in
      let edges: [(Int, GroundTruth.Route, Bool)] = [
        (41, .none, false), (42, .ipv6, true), (1231, .ipv6, true), (1232, .ipv6, false),
      ]
      for (size, route, isNarrow) in edges {
        try await inject(world, size)
        let truth = try #require(await world.truth().first)
        #expect((truth.route, truth.isNarrow) == (route, isNarrow), "\(size)")
        #expect(truth.isReachable == (route != .none), "\(size)")
      }
    }
    _ = try run.result.get()

    // A smaller size counts as reachable once a subscription is established.
    func contact(_ size: Int?) async throws -> (greatest: Int, isOnline: Bool, truth: [Bool], falsehoods: Int) {
      let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { _, world in
        if let size { try await inject(world, size) }
        try await world.cutPower(of: "hub")
        try await world.restorePower(of: "hub")
        let first = world.simulation.world.value.trace.entries.count
        let card = try await world.score(for: .seconds(300))
        let sent = world.simulation.world.value.trace.entries[first...].filter { $0.kind == .sent || $0.kind == .lost }
        let isOnline = try await isReportedOnline(world)
        let truth = await world.truth().map(\.isReachable)
        return (
          sent.map(\.bytes.count).max() ?? 0, isOnline, truth,
          card.falseOnline + card.falseOffline + card.undetectedReturns.count + card.undetectedOutages.count
        )
      }
      return try run.result.get()
    }
    let greatest = try await contact(nil).greatest
    #expect((300..<1232).contains(greatest), "\(greatest)")
    let enough = try await contact(greatest)
    #expect(enough == (greatest, true, [true], 0), "\(enough)")
    // A first report has several messages, whose sizes differ by some bytes with each attempt.
    let less = try await contact(greatest - 64)
    #expect(less == (less.greatest, false, [false], 0), "\(less)")
  }

  /// The smallest size that keeps a subscription alive; with one byte less the device is unreachable at once.
  @Test(arguments: [(42, true), (41, false), (35, false)]) func findsLeastSizeForSubscription(
    _ size: Int, _ isKept: Bool
  )
    async throws
  {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { _, world in
      try await inject(world, size)
      #expect(await world.truth().map(\.isReachable) == [isKept])
      // Ten times the interval of reports.
      let card = try await world.score(for: .seconds(600), every: .seconds(2))
      #expect(await world.truth().map(\.isReachable) == [isKept])
      #expect(try await isReportedOnline(world) == isKept)
      return card
    }
    let card = try run.result.get()
    #expect(
      card.detectedOutages.count == (isKept ? 0 : 1) && card.falseOffline + card.falseOnline == 0, "\(card.lines)")
  }
}
