import Home
import MatterProtocol
import Scenario
import Simulation
import Testing

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
  }

  @Test(arguments: 1...3) func itAgreesAndIsTheSameEachTime(_ seed: UInt64) async {
    let first = await RandomHome.run(RandomPlan(seed: seed))
    #expect(first.failure == nil)
    let second = await RandomHome.run(RandomPlan(seed: seed))
    #expect(first.digest == second.digest)
    #expect(first.converged == second.converged)
  }

  @Test func aDeviceThatLosesItsPowerAsItStartsStartsAgain() async {
    #expect(await RandomHome.run(RandomPlan(seed: 71).keeping(devices: "0", steps: "16,13,14")).failure == nil)
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
}
