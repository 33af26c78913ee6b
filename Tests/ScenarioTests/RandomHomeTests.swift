import HearthHome
import HomeModel
import MatterClusters
import MatterController
import MatterModel
import MatterProtocol
import Simulation
import Testing

@testable import Scenario

@Suite struct RandomHomeTests {
  @Test func drawsSamePlanFromSeed() {
    #expect(RandomPlan(seed: 3) == RandomPlan(seed: 3))
    #expect(RandomPlan(seed: 3) != RandomPlan(seed: 4))
    #expect(RandomPlan(seed: 3).arguments == "1 3")
  }

  @Test func parsesArgumentsOfReducedPlan() throws {
    let less = RandomPlan(seed: 3).keeping(devices: "0", steps: "1,2,3")
    let words = less.arguments.split(separator: " ").map(String.init)
    try #require(words.count == 4)
    #expect(RandomPlan(seed: 3).keeping(devices: words[2], steps: words[3]) == less)
    // Without the second home, and with a late device commissioned from the start.
    let seed = try #require(
      (1...UInt64(50)).first { RandomPlan(seed: $0).hasSecondHome && !RandomPlan(seed: $0).newcomers.isEmpty })
    let whole = RandomPlan(seed: seed)
    let simple = whole.withoutSecondHome().commissioning(try #require(whole.newcomers.min()))
    let simpler = simple.arguments.split(separator: " ").map(String.init)
    try #require(simpler.count == 4)
    #expect(whole.keeping(devices: simpler[2], steps: simpler[3]) == simple)
    #expect(simple != whole)
  }

  @Test(arguments: 1...2) func agreesAndIsReproducible(_ seed: UInt64) async {
    let first = await RandomHome.run(RandomPlan(seed: seed))
    #expect(first.failure == nil)
    let second = await RandomHome.run(RandomPlan(seed: seed))
    #expect(first.digest == second.digest)
    #expect(first.converged == second.converged)
  }

  /// One of the first seeds detects a seeded defect, and the reduced plan fails in the same way.
  @Test func shrinksFailingPlan() async throws {
    var failed: RandomHome.Outcome?
    for seed in 1...UInt64(60) where failed == nil {
      let outcome = await RandomHome.run(RandomPlan(seed: seed), defect: .staysAtAddress)
      if outcome.failure != nil { failed = outcome }
    }
    let found = try #require(failed, "the random homes don't detect a home that never resolves a new address")
    let least = await RandomHome.shrink(found, defect: .staysAtAddress)
    #expect(least.kind == found.kind)
    #expect(least.plan.lines.count < found.plan.lines.count)
    // No step can be removed.
    for step in least.plan.steps.map(\.number) {
      let rest = least.plan.keeping(steps: least.plan.steps.map(\.number).filter { $0 != step })
      #expect(await RandomHome.run(rest, defect: .staysAtAddress).kind != found.kind, "\(step) is not needed")
    }
    // Without the defect the plan passes.
    #expect(await RandomHome.run(least.plan).failure == nil)
    let words = least.plan.arguments.split(separator: " ").map(String.init)
    try #require(words.count == 4)
    #expect(RandomPlan(seed: found.plan.seed).keeping(devices: words[2], steps: words[3]) == least.plan)
  }

  /// A home that learns of changes only from periodic reports agrees in the end, but not soon enough: each seed
  /// detects this by a different event.
  @Test(arguments: [(3, "startUp"), (4, "restart"), (10, "absence")] as [(UInt64, String)])
  func detectsSlowReactionAfterRecovery(_ seed: UInt64, _ act: String) async {
    let outcome = await RandomHome.run(RandomPlan(seed: seed), defect: .ignoresAnnouncements)
    #expect(
      outcome.failure?.hasPrefix("30 s after ") == true && outcome.failure?.contains(": when all agree, ") == true,
      "\(outcome)")
    #expect(outcome.failure?.contains(": \(act)") == true, "\(outcome)")
  }

  @Test func restartsDeviceAfterPowerCutDuringStart() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 71) { _, world in
      for count in 0..<12 {
        try await world.cutPower(of: "Lamp")
        let machine = try await world.machine(of: "Lamp")
        await world.simulation.perform { _ in machine.effectsUntilPowerCut = count }
        try await world.restorePower(of: "Lamp")
        try await world.simulation.sleep(for: .seconds(5))
      }
      let machine = try await world.machine(of: "Lamp")
      await world.simulation.perform { _ in machine.effectsUntilPowerCut = nil }
      try await world.restorePower(of: "Lamp")
      try await world.simulation.sleep(for: .seconds(120))
      return try await world.disagreements()
    }
    #expect(try run.result.get().isEmpty)
  }

  @Test func restoresHomeAfterPowerCut() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 9) { home, world in
      let before = try await home.devices().list().map(\.name)
      try await world.simulation.sleep(for: .seconds(5))
      try await world.cutPower(of: "hub")
      try await world.simulation.sleep(for: .seconds(5))
      try await world.restorePower(of: "hub")
      try await world.simulation.sleep(for: .seconds(30))
      let again = try await world.home
      let after = try await again.devices().list().map(\.name)
      let disagreements = try await world.disagreements()
      return (before, after, disagreements)
    }
    let (before, after, disagreements) = try run.result.get()
    #expect(before == after)
    #expect(disagreements.isEmpty)
  }

  /// Agreement after the bound, or none, is a failure that names the difference.
  @Test func enforcesBound() async throws {
    /// - Parameter late: the time since the end of the faults.
    func converge(_ late: Duration, _ body: @escaping @Sendable (SimulatedHome) async throws -> Void = { _ in })
      async throws
      -> Duration
    {
      let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { _, world in
        try await world.simulation.sleep(for: .seconds(1000))
        try await body(world)
        let healed = await world.simulation.now + (.zero - late)
        return try await RandomRun(RandomPlan(seed: 1), world).converge(since: healed)
      }
      return try run.result.get()
    }
    #expect(try await converge(.zero) == .zero)
    #expect(try await converge(RandomHome.bound) == RandomHome.bound)
    let late = await #expect(throws: RandomRun.Failure.self) { _ = try await converge(RandomHome.bound + .seconds(1)) }
    #expect(late?.description == "601 s after the network healed: all agreed too late")
    let never = await #expect(throws: RandomRun.Failure.self) {
      _ = try await converge(.zero) { world in
        // Removes a value from the home that the device has no reason to report again.
        let controller = try await world.home.controller
        let node = try #require(await controller.nodes.first).nodeID
        let path = OnOff.onOff.path(on: 1)
        try await controller.change { _ throws(HomeError) in ([.attribute(node, path, value: nil)], ()) }
      }
    }
    let text = try #require(never?.description)
    #expect(text.hasPrefix("602 s after") && text.hasSuffix("and the home has none"), "\(text)")
  }
}
