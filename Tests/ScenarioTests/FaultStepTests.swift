import Scenario
import Simulation
import Testing
import VirtualDevices

/// The steps `fault`, `add` and `remove`.
@Suite("Faults and changes of bridges in scenarios") struct FaultStepTests {
  private static let devices = """
    devices:
      - { name: Lamp, type: dimmable light }
      - name: Bridge
        type: bridge
        devices:
          - { name: Spot, type: on/off light }
      - name: Other
        type: bridge
        devices:
          - { name: Plug, type: plug }

    """

  private func passes(_ steps: String) async throws {
    let result = try await ScenarioFileTests.load(Self.devices + "steps:\n" + steps).simulate(seed: 1).result
    #expect(result.isPassed, "\(result)")
  }

  private func problems(_ step: String) -> String {
    ScenarioFileTests.problems(Self.devices + "steps:\n  - " + step + "\n").joined(separator: "\n")
  }

  @Test("a silent device reports after it was healed") func silences() async throws {
    try await passes(
      """
        - fault: { lamp: { silent: true } }
        - set: { lamp.onOff: true }
        - wait: 5s
        - expect: { lamp.onOff: false, actual lamp.onOff: true }
        - fault: { lamp: heal }
        - expect: { lamp.onOff: true, within: 5s }

      """)
  }

  @Test("a slow device executes a command late") func delays() async throws {
    try await passes(
      """
        - fault: { lamp: { slow: 3s } }
        - do: on lamp
        - expect: { lamp.onOff: true, within: 10s }

      """)
  }

  @Test("the home notices devices that a bridge adds and removes") func changesBridge() async throws {
    try await passes(
      """
        - add: { bridge: { name: Reading Lamp, type: on/off light, attributes: { onOff.onOff: true } } }
        - expect: { reading lamp.connectivity: online, reading lamp.onOff: true, within: 30s }
        - do: off reading lamp
        - expect: { actual reading lamp.onOff: false, within: 5s }
        - remove: { bridge: spot }
        - wait: 10s
        - expect: { actual reading lamp.onOff: false, reading lamp.connectivity: online }

      """)
    let steps = """
      steps:
        - expect: { spot.connectivity: online, within: 30s }
        - remove: { bridge: spot }
        - wait: 10s
        - expect: { spot.connectivity: online }

      """
    let result = try await ScenarioFileTests.load(Self.devices + steps).simulate(seed: 1).result
    #expect(result.failure?.mark?.line == 15, "\(result)")
  }

  @Test func reportsProblems() {
    #expect(problems("fault: { lamp: wrong }").contains("expected faults such as { slow: 2s }, or heal"))
    #expect(problems("fault: { lamp: { slo: 2s } }").contains("did you mean “slow”?"))
    #expect(problems("fault: { spot: { busy: true } }").contains("only the fault “data” here"))
    #expect(problems("add: { lamp: { name: A, type: plug } }").contains("found “lamp”, expected a bridge"))
    #expect(problems("add: { bridge: { name: A, type: toaster } }").contains("found device type “toaster”"))
    #expect(problems("add: { bridge: { name: Lamp, type: plug } }").contains("expected another name"))
    #expect(problems("add: { other: { name: Spot, type: on/off light } }").contains("expected another name"))
    #expect(problems("fault: { spot: { data: { 2.onOff.onOff: null } } }").contains("an attribute that the device has"))
    #expect(problems("remove: { bridge: lamp }").contains("expected a device behind “Bridge”"))
  }
}
