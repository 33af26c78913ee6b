import HearthHome
import HomeControl
import HomeModel
import MatterClusters
import MatterController
import MatterModel
import MatterProtocol
import NIOCore
import Scenario
import Simulation
import Testing
import VirtualDevices

@Suite struct ScoreCardTests {
  private func card(_ observations: [(seconds: Int64, isReachable: Bool, reported: ConnectivityState, isStale: Bool)])
    -> ScoreCard
  {
    var card = ScoreCard()
    for observation in observations {
      card.observe(
        "lamp", isReachable: observation.isReachable, reported: observation.reported, isStale: observation.isStale,
        at: .zero + .seconds(observation.seconds))
    }
    return card
  }

  @Test func measuresReactionTimes() {
    let card = card([
      (0, true, .online, false), (10, false, .online, false), (50, false, .offline, false), (70, true, .offline, false),
      (73, true, .online, false), (80, true, .online, false),
    ])
    #expect(card.detectedOutages == [.seconds(40)])
    #expect(card.detectedReturns == [.seconds(3)])
    #expect([card.falseOffline, card.falseOnline] == [0, 0])
    #expect(card.undetectedOutages.isEmpty && card.undetectedReturns.isEmpty)
    #expect(card.watched == .seconds(80))
  }

  @Test func countsFalseReports() {
    let card = card([
      (0, true, .online, false), (10, true, .offline, false), (20, true, .online, false), (30, false, .online, false),
      (40, false, .offline, false), (50, false, .online, false),
    ])
    #expect(card.falseOffline == 1)
    #expect(card.falseOnline == 1)
    #expect(card.detectedOutages == [.seconds(10)])
    // The device was never away, so its return can't be noticed.
    #expect(card.detectedReturns.isEmpty && card.correctedOffline == [.seconds(10)])
    #expect(card.undetectedReturns.isEmpty && card.undetectedOutages.isEmpty && card.correctedOnline.isEmpty)
    #expect(card.lines.contains("corrected a false “offline”: 1 times; p50 10.0 s, p95 10.0 s"), "\(card.lines)")
  }

  /// A return counts once, whatever false reports precede and follow it.
  @Test func distinguishesCorrectionsFromReactions() {
    var card = card([
      (0, true, .online, false), (10, false, .online, false), (20, false, .offline, false),
      (25, false, .online, false), (28, false, .offline, false), (40, true, .offline, false),
      (47, true, .online, false), (50, true, .offline, false), (51, true, .online, false),
      (60, true, .offline, false), (65, false, .offline, false), (70, true, .offline, false),
      (72, true, .online, false),
    ])
    #expect(card.detectedOutages == [.seconds(10)] && card.correctedOnline == [.seconds(3)])
    #expect(card.detectedReturns == [.seconds(7), .seconds(2)] && card.correctedOffline == [.seconds(1)])
    #expect([card.falseOffline, card.falseOnline] == [2, 1])
    // An absence that is noticed, then falsely corrected until the return, ends unnoticed.
    card = self.card([
      (0, true, .online, false), (10, false, .online, false), (20, false, .offline, false),
      (25, false, .online, false), (40, true, .online, false),
    ])
    #expect(card.undetectedOutages == [.seconds(15)] && card.correctedOnline.isEmpty)
  }

  @Test func recordsUnnoticedAbsence() {
    let card = card([
      (0, true, .online, false), (10, false, .online, false), (20, true, .online, false), (90, true, .offline, false),
    ])
    #expect(card.undetectedOutages == [.seconds(10)])
    // The device was already back when it was reported offline.
    #expect(card.falseOffline == 1)
    #expect(card.detectedOutages.isEmpty)
  }

  /// A home that never reports anything must not get a good score.
  @Test func recordsUnnoticedChangesAtTheEnd() {
    var card = card([
      (0, true, .online, false), (10, false, .online, false), (20, false, .online, false),
      (86_410, false, .online, false),
    ])
    #expect(card.undetectedOutages.isEmpty)
    card.pause()
    #expect(card.undetectedOutages == [.seconds(86_400)])
    #expect(card.lines.contains { $0.contains("the longest was 86400.0 s") })

    card = self.card([
      (0, true, .online, false), (10, false, .online, false), (50, false, .offline, false), (60, true, .offline, false),
      (90, false, .offline, false), (100, true, .offline, false), (107, true, .offline, false),
    ])
    card.pause()
    #expect(card.detectedOutages == [.seconds(40)])
    #expect(card.undetectedReturns == [.seconds(30), .seconds(7)])
    #expect(card.detectedReturns.isEmpty && card.undetectedOutages.isEmpty)
  }

  @Test func countsStaleValuesOnlyWhileReachable() {
    let card = card([
      (0, true, .online, false), (10, true, .online, true), (14, true, .online, false), (20, false, .offline, true),
      (60, false, .offline, true),
    ])
    #expect(card.stale == .seconds(4))
  }

  @Test func ignoresChangesWhileNotObserving() {
    var card = card([(0, true, .online, false), (10, true, .online, true)])
    card.pause()
    card.observe("lamp", isReachable: false, reported: .online, isStale: true, at: .zero + .seconds(500))
    card.observe("lamp", isReachable: false, reported: .offline, isStale: true, at: .zero + .seconds(502))
    #expect(card.watched == .seconds(12))
    #expect(card.stale == .zero)
    #expect(card.detectedOutages == [.seconds(2)])
  }

  @Test func computesPercentiles() {
    let times = (1...100).map { Duration.seconds($0) }
    #expect(ScoreCard.percentile(50, of: times.reversed()) == .seconds(50))
    #expect(ScoreCard.percentile(95, of: times) == .seconds(95))
    #expect(ScoreCard.percentile(95, of: Array(times.prefix(20))) == .seconds(19))
    #expect(ScoreCard.percentile(95, of: Array(times.prefix(19))) == .seconds(19))
    #expect(ScoreCard.percentile(50, of: [.seconds(3)]) == .seconds(3))
    #expect(ScoreCard.percentile(95, of: []) == nil)
  }

  @Test func scoresHome() async throws {
    let definition = try SimulatedHomeTests.definition()
    let run = await simulate(definition, seed: 5) { _, world in
      async let scored = world.score(for: .seconds(400))
      try await world.simulation.sleep(for: .seconds(20))
      try await world.cutPower(of: "Lamp")
      let cut = await world.truth()
      try await world.simulation.sleep(for: .seconds(200))
      try await world.restorePower(of: "Lamp")
      let card = try await scored
      let restored = await world.truth()
      let disagreements = try await world.disagreements()
      return (card, cut, restored, disagreements)
    }
    let (card, cut, restored, disagreements) = try run.result.get()
    #expect(cut.map(\.isReachable) == [false])
    #expect(restored.map(\.route) == [.ipv6])
    #expect(card.detectedOutages.count == 1)
    #expect(card.detectedReturns.count == 1)
    #expect(card.detectedOutages.allSatisfy { $0 > .zero && $0 <= .seconds(90) })
    #expect(card.detectedReturns.allSatisfy { $0 <= .seconds(10) })
    #expect([card.falseOffline, card.falseOnline] == [0, 0])
    #expect(disagreements.isEmpty)
  }

  /// Two reports in one step of the home's machine, without time between them.
  @Test func observesEachReport() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 5) { home, world in
      async let scored = world.score(for: .seconds(30))
      try await world.simulation.sleep(for: .seconds(10))
      let controller = try home.controller
      let node = try #require(await controller.nodes.first).nodeID
      try await controller.blink(node)
      return try await scored
    }
    let card = try run.result.get()
    #expect(card.falseOffline == 1 && card.correctedOffline == [.zero])
  }

  /// A home without any values disagrees with the device, and its values are stale.
  @Test func detectsMissingValues() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 5) { home, world in
      try await world.simulation.sleep(for: .seconds(10))
      let before = try await world.disagreements()
      let controller = try home.controller
      let known = await home.state.values
      try await controller.change { _ throws(HomeError) in (known.flatMap { $1.forgotten(of: $0) }, ()) }
      let card = try await world.score(for: .seconds(20))
      let after = try await world.disagreements().map(\.what)
      return (before, after, card)
    }
    let (before, after, card) = try run.result.get()
    #expect(before.isEmpty)
    #expect(after.count == 1 && after.allSatisfy { $0.hasSuffix("and the home has none") }, "\(after)")
    #expect(card.stale == .seconds(20))
  }
}

/// The ground truth, and differences of a home from it.
@Suite struct GroundTruthTests {
  /// Changes of an unreachable device are no disagreement.
  @Test func ignoresChangesOfUnreachableDevice() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 5) { _, world in
      try await world.inject("Lamp", .partition)
      try await world.simulation.sleep(for: .seconds(120))
      let before = try await world.disagreements()
      let value = try #require(await world.value(of: AttributePlace(OnOff.id, OnOff.onOff.id), in: "Lamp"))
      let other = try !Bool(tlv: value)
      try await world.set(AttributePlace(OnOff.id, OnOff.onOff.id), of: "Lamp", to: other.tlv)
      let after = try await world.disagreements()
      return (before, after)
    }
    let (before, after) = try run.result.get()
    #expect(before.isEmpty && after.isEmpty, "\(after)")
  }

  /// A bridged device without power executes no commands and has no values, and starts up when its power is restored.
  @Test func bridgedDeviceWithoutPowerIsInactive() async throws {
    let definition = try ScenarioFileTests.load(
      """
      devices:
        - name: Bridge
          type: bridge
          devices:
            - { name: Dead, type: on/off light, attributes: { onOff.startUpOnOff: 1 } }
            - { name: Living, type: on/off light }
      steps: []
      """
    ).home
    let place = AttributePlace(OnOff.id, OnOff.onOff.id)
    let run = await simulate(definition, seed: 5) { home, world in
      func light(_ name: String) async throws -> OnOffTrait {
        let device = try #require(try await home.devices().list().first { $0.name == name })
        return try #require(device.types.get(OnOffLightDeviceType.self)?.matterTraits.onOffTrait)
      }
      try await world.set(place, of: "Dead", to: false.tlv)
      try await world.cutPower(of: "Dead")
      try await world.simulation.sleep(for: .seconds(1))
      await #expect(throws: HomeError.self) { try await light("Dead").on() }
      await #expect(throws: HomeError.self) { try await light("Dead").write(OnOff.startUpOnOff, .null) }
      await #expect(throws: ControlError.self) { try await world.set(place, of: "Dead", to: true.tlv) }
      #expect(await world.value(of: place, in: "Dead") == nil)
      try await light("Living").on()
      #expect(await world.value(of: place, in: "Living") == true.tlv)
      try await world.restorePower(of: "Dead")
      #expect(await world.value(of: place, in: "Dead") == true.tlv)
      try await world.simulation.sleep(for: .seconds(1))
      #expect(try await light("Dead").attributes.onOff == true)
      try await light("Dead").off()
      #expect(await world.value(of: place, in: "Dead") == false.tlv)
    }
    try run.result.get()
  }

  /// Bridged devices are reachable independently of each other, but not without their bridge.
  @Test func tracksBridgedDevicesSeparately() async throws {
    let definition = try ScenarioFileTests.load(
      """
      devices:
        - name: Bridge
          type: bridge
          devices:
            - { name: Dead, type: on/off light }
            - { name: Living, type: on/off light }
      steps: []
      """
    ).home
    let run = await simulate(definition, seed: 5) { _, world in
      func truth() async -> [String] {
        await world.truth().map { "\($0.path) \($0.isPowered) \($0.route) \($0.isReachable)" }
      }
      try await world.cutPower(of: "Dead")
      try await world.simulation.sleep(for: .seconds(10))
      #expect(await truth() == ["Bridge true ipv6 true", "Dead false bridge false", "Living true bridge true"])
      #expect(try await world.disagreements().isEmpty)
      try await world.restorePower(of: "Dead")
      try await world.cutPower(of: "Living")
      try await world.simulation.sleep(for: .seconds(10))
      #expect(await truth() == ["Bridge true ipv6 true", "Dead true bridge true", "Living false bridge false"])
      try await world.cutPower(of: "Bridge")
      #expect(await world.truth().map(\.isReachable) == [false, false, false])
    }
    _ = try run.result.get()
  }
}

extension NodeValues {
  /// Returns the changes that remove all values.
  fileprivate func forgotten(of node: NodeID) -> [HomeChange] {
    endpointIDs.flatMap { endpoint in
      self[endpoint].flatMap { cluster, values in
        values.entries.map { .attribute(node, ConcreteAttributePath(endpoint, cluster, $0.attribute), value: nil) }
      }
    }
  }
}

extension HomeController {
  /// Reports the node as offline and immediately as online.
  fileprivate func blink(_ node: NodeID) throws {
    process(.lost(node, .timedOut))
    process(.established(node, deadline: .max))
  }
}
