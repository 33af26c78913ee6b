import Scenario
import Testing

/// Appliances in scenarios, whose runs take virtual time.
@Suite("Appliances in scenarios") struct ApplianceTests {
  private static let devices = """
    devices:
      - { name: Dishes, room: Den, type: dishwasher, phases: { Washing: 40m, Drying: 20m } }
      - { name: Robot, room: Den, type: robot vacuum, areas: { Kitchen: 10m } }

    """

  @Test("a run ends by itself, and an open door or an obstacle interrupts it") func runs() async throws {
    let steps = """
      steps:
        - do: invoke dishes.operationalState.start
        - expect: { dishes.operationalState.operationalState: running, within: 5s }
        - wait: 50m
        - set: { dishes.door: open }
        - expect: { dishes.operationalState.operationalState: paused, within: 5s }
        - wait: 1h
        - set: { dishes.door: closed }
        - set: { dishes.operationalState.operationalState: running }
        - set: { robot.rvcRunMode.currentMode: 1 }
        - set: { robot.wheels: stuck }
        - expect: { robot.rvcOperationalState.operationalState: 3, within: 5s }
        - set: { robot.wheels: free }
        - set: { robot.rvcOperationalState.operationalState: 1 }
        - wait: 9m
        - expect: { robot.currentArea: 1, actual dishes.operationalState.operationalState: running }
        - expect: { dishes.operationalState.operationalState: stopped, robot.rvcRunMode.currentMode: 0, within: 5m }
      """
    let result = try await ScenarioFileTests.load(Self.devices + steps).simulate(seed: 1).result
    #expect(result.isPassed && result.commands.allSatisfy { $0.error == nil }, "\(result) \(result.commands)")
  }

  @Test func reportsUnknownStatesOfParts() {
    let problems = ScenarioFileTests.problems(Self.devices + "steps:\n  - set: { dishes.door: ajar }\n")
    #expect(problems.count == 1)
    #expect(problems.first?.hasPrefix("s.yaml:5:25: found “ajar”, expected “closed” or “open”") == true, "\(problems)")
  }
}
