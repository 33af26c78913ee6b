import Home
import MatterProtocol
import Simulation
import Testing

@testable import Scenario

/// Who is there behind a link that carries less than every link of Matter has to.
@Suite struct NarrowLinkTests {
  /// - Parameter size: the datagrams that the links to the lamp carry.
  private func inject(_ world: SimulatedHome, _ size: Int) async throws {
    var narrow = LinkConditions.perfect
    narrow.maximumDatagramSize = size
    try await world.inject("Lamp", .conditions(narrow))
  }

  private func isSaidOnline(_ world: SimulatedHome) async throws -> Bool {
    try await world.home.devices().list().first?.sourceConnectivity.connectivityState == .online
  }

  /// What stands goes on with small messages; after a restart of the home it can't be made anew.
  @Test(arguments: [120, 152, 300]) func whatStandsGoesOnAndNothingBegins(_ size: Int) async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { _, world in
      async let scored = world.score(for: .seconds(3600))
      try await world.simulation.sleep(for: .seconds(10))
      try await inject(world, size)
      try await world.simulation.sleep(for: .seconds(1800))
      var truth = try #require(await world.truth().first)
      #expect(truth.isReachable && truth.isNarrow && truth.isSubscribed && truth.route == .ipv6)
      #expect(try await isSaidOnline(world))
      try await world.cutPower(of: "hub")
      try await world.restorePower(of: "hub")
      try await world.simulation.sleep(for: .seconds(600))
      truth = try #require(await world.truth().first)
      #expect(!truth.isReachable && truth.isPowered && truth.route == .ipv6)
      #expect(try await !isSaidOnline(world))
      #expect(try await world.disagreements().isEmpty)
      try await world.inject("Lamp", .heal)
      truth = try #require(await world.truth().first)
      #expect(truth.isReachable && !truth.isNarrow)
      return try await scored
    }
    let card = try run.result.get()
    #expect([card.falseOffline, card.falseOnline] == [0, 0], "\(card.lines)")
    #expect(card.unnoticedGone.isEmpty && card.unnoticedBack.isEmpty && card.noticedBack.count == 1, "\(card.lines)")
  }

  /// A subscription that only one end remembers is none.
  @Test func whatOneEndRemembersDoesNotStand() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { _, world in
      try await inject(world, 600)
      try await world.cutPower(of: "Lamp")
      try await world.restorePower(of: "Lamp")
      #expect(await world.truth().map(\.isReachable) == [false])
    }
    _ = try run.result.get()
  }

  /// The edges: less than any message, the least, what every link carries, and what it takes to make contact in truth.
  @Test func theEdgesOfALink() async throws {
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

    // Whoever can make contact with less is there as soon as it has.
    func contact(_ size: Int?) async throws -> (greatest: Int, isOnline: Bool, truth: [Bool], falsehoods: Int) {
      let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { _, world in
        if let size { try await inject(world, size) }
        try await world.cutPower(of: "hub")
        try await world.restorePower(of: "hub")
        let first = world.simulation.world.value.trace.entries.count
        let card = try await world.score(for: .seconds(300))
        let sent = world.simulation.world.value.trace.entries[first...].filter { $0.kind == .sent || $0.kind == .lost }
        return (
          sent.map(\.bytes.count).max() ?? 0, try await isSaidOnline(world), await world.truth().map(\.isReachable),
          card.falseOnline + card.falseOffline + card.unnoticedBack.count + card.unnoticedGone.count
        )
      }
      return try run.result.get()
    }
    let greatest = try await contact(nil).greatest
    #expect((300..<1232).contains(greatest), "\(greatest)")
    let enough = try await contact(greatest)
    #expect(enough == (greatest, true, [true], 0), "\(enough)")
    let less = try await contact(greatest - 1)
    #expect(less == (less.greatest, false, [false], 0), "\(less)")
  }

  /// The least that a subscription goes on with; with one byte less nobody is there, from the moment on at which it is so.
  @Test(arguments: [(42, true), (41, false), (35, false)]) func whatKeepsASubscription(_ size: Int, _ isKept: Bool)
    async throws
  {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { _, world in
      try await inject(world, size)
      #expect(await world.truth().map(\.isReachable) == [isKept])
      let card = try await world.score(for: .seconds(3600))
      #expect(await world.truth().map(\.isReachable) == [isKept])
      #expect(try await isSaidOnline(world) == isKept)
      return card
    }
    let card = try run.result.get()
    #expect(card.noticedGone.count == (isKept ? 0 : 1) && card.falseOffline + card.falseOnline == 0, "\(card.lines)")
  }
}
