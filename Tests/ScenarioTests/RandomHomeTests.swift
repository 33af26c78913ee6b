import MatterClusters
import MatterController
import MatterModel
import MatterProtocol
import Simulation
import Testing

@testable import Home
@testable import Scenario

@Suite struct RandomHomeTests {
  @Test func aSeedDrawsOnePlan() {
    #expect(RandomPlan(seed: 3) == RandomPlan(seed: 3))
    #expect(RandomPlan(seed: 3) != RandomPlan(seed: 4))
    #expect(RandomPlan(seed: 3).arguments == "1 3")
  }

  @Test func aPlanWithLessIsRepeatedByItsArguments() throws {
    let less = RandomPlan(seed: 3).keeping(devices: "0", steps: "1,2,3")
    let words = less.arguments.split(separator: " ").map(String.init)
    try #require(words.count == 4)
    #expect(RandomPlan(seed: 3).keeping(devices: words[2], steps: words[3]) == less)
    // Without its second home, and with a newcomer that is there from the beginning on.
    let seed = try #require(
      (1...UInt64(50)).first { RandomPlan(seed: $0).hasSecondHome && !RandomPlan(seed: $0).newcomers.isEmpty })
    let whole = RandomPlan(seed: seed)
    let simple = whole.withoutSecondHome().commissioning(try #require(whole.newcomers.min()))
    let simpler = simple.arguments.split(separator: " ").map(String.init)
    try #require(simpler.count == 4)
    #expect(whole.keeping(devices: simpler[2], steps: simpler[3]) == simple)
    #expect(simple != whole)
  }

  @Test(arguments: 1...3) func itAgreesAndIsTheSameEachTime(_ seed: UInt64) async {
    let first = await RandomHome.run(RandomPlan(seed: seed))
    #expect(first.failure == nil)
    let second = await RandomHome.run(RandomPlan(seed: seed))
    #expect(first.digest == second.digest)
    #expect(first.converged == second.converged)
  }

  /// A built-in fault is found by one of the first seeds, and what is left of that fails in the same way.
  @Test func whatFailsIsMadeSmaller() async throws {
    var failed: RandomHome.Outcome?
    for seed in 1...UInt64(60) where failed == nil {
      let outcome = await RandomHome.run(RandomPlan(seed: seed), defect: .staysAtAddress)
      if outcome.failure != nil { failed = outcome }
    }
    let found = try #require(failed, "the random homes don't find a home that never looks where a device went")
    let least = await RandomHome.shrink(found, defect: .staysAtAddress)
    #expect(least.kind == found.kind)
    #expect(least.plan.lines.count < found.plan.lines.count)
    // Nothing of it can be spared.
    for step in least.plan.steps.map(\.number) {
      let rest = least.plan.keeping(steps: least.plan.steps.map(\.number).filter { $0 != step })
      #expect(await RandomHome.run(rest, defect: .staysAtAddress).kind != found.kind, "\(step) is not needed")
    }
    // It is the fault, and nothing else.
    #expect(await RandomHome.run(least.plan).failure == nil)
    let words = least.plan.arguments.split(separator: " ").map(String.init)
    try #require(words.count == 4)
    #expect(RandomPlan(seed: found.plan.seed).keeping(devices: words[2], steps: words[3]) == least.plan)
  }

  /// A home that learns all only when a report is due agrees in the end, and is too slow for what happens then: each
  /// of these seeds finds it by another thing.
  @Test(arguments: [(3, "startUp"), (4, "restart"), (10, "absence")] as [(UInt64, String)])
  func whatHappensWhenAllAgreeIsKnownSoon(_ seed: UInt64, _ act: String) async {
    let outcome = await RandomHome.run(RandomPlan(seed: seed), defect: .ignoresAnnouncements)
    #expect(
      outcome.failure?.hasPrefix("30 s after ") == true && outcome.failure?.contains(": when all agree, ") == true,
      "\(outcome)")
    #expect(outcome.failure?.contains(": \(act)") == true, "\(outcome)")
  }

  @Test func aDeviceThatLosesItsPowerAsItStartsStartsAgain() async throws {
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

  @Test func aHubThatIsKilledKnowsWhatItKnew() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 9) { home, world in
      let before = try await home.devices().list().map(\.name)
      try await world.simulation.sleep(for: .seconds(5))
      try await world.cutPower(of: "hub")
      try await world.simulation.sleep(for: .seconds(5))
      try await world.restorePower(of: "hub")
      try await world.simulation.sleep(for: .seconds(30))
      let again = try await world.home
      return (before, try await again.devices().list().map(\.name), try await world.disagreements())
    }
    let (before, after, disagreements) = try run.result.get()
    #expect(before == after)
    #expect(disagreements.isEmpty)
  }

  /// Whoever agrees too late, or not at all, is told so, with what is wrong.
  @Test func theBoundIsKept() async throws {
    /// - Parameter late: how long ago the network healed.
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
        // It has forgotten a value, and nobody has a reason to tell it again.
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
