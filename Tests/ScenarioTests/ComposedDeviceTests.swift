import Scenario
import Simulation
import Testing
import VirtualDevices

/// Parts of a device in scenarios: endpoints of one device of the home.
@Suite("Devices with parts in scenarios") struct ComposedDeviceTests {
  private static let devices = """
    devices:
      - name: Ceiling
        type: on/off light
        parts:
          - { name: Spot, type: dimmable light }
          - { name: Remote, type: generic switch, buttons: [Up, Down] }
          - { name: Sensor, type: temperature sensor, behave: { temperatureMeasurement.measuredValue: { steps: [20C for 1m, 25C] } } }

    """

  private func run(_ steps: String) async throws -> ScenarioResult {
    try await ScenarioFileTests.load(Self.devices + "steps:\n" + steps).simulate(seed: 1).result
  }

  @Test("commands and claims concern the part only") func usesParts() async throws {
    let result = try await run(
      """
        - do: on spot
        - expect: { spot.onOff: true, actual spot.onOff: true, ceiling.onOff: false, within: 5s }
        - set: { spot.levelControl.currentLevel: 20% }
        - expect: { spot.currentLevel: 20%, within: 5s }
        - press: { remote: { press: short, button: Down } }
        - expect: { event remote.switch.initialPress: true, within: 5s }
        - do: on ceiling
        - do: write spot.onLevel 40%
        - expect: { ceiling.onOff: true, spot.onLevel: 40%, within: 5s }
        - power: { ceiling: off }
        - expect: { spot.connectivity: offline, within: 5m }
        - power: { ceiling: on }
        - expect: { spot.connectivity: online, sensor.measuredValue: 25C, within: 5m }

      """)
    #expect(result.isPassed, "\(result)")
  }

  @Test("a wrong claim about a part fails") func fails() async throws {
    let result = try await run("  - do: on spot\n  - expect: { ceiling.onOff: true, within: 5s }\n")
    #expect(!result.isPassed)
  }

  @Test("a part has no network and no power supply of its own") func sharesMachine() async throws {
    let problems = ScenarioFileTests.problems(Self.devices + "steps:\n  - net: { spot: partition }\n")
    #expect(
      problems.joined().contains("expected a device on a machine of its own, such as “Ceiling”, which it belongs to"))
    let result = try await run("  - power: { spot: off }\n")
    #expect("\(result)".contains("it has no power supply of its own; use “Ceiling”"))
  }
}
