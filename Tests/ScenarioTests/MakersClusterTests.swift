import Scenario
import Simulation
import Testing

/// A device with a cluster of its manufacturer, in a simulated home.
@Suite("Clusters of manufacturers in a simulated home") struct MakersClusterTests {
  private static let devices = """
    clusters: |
      cluster 0xFFF1FC70 SimulatedFan "Simulated Fan" revision 1
      attribute 0x0000 Speed  uint8  max 100 nonvolatile write operate = 10
      command 0x00 GoToSpeed
        0 Speed uint8
        1 Time uint16 O
        transition Speed to field.Speed over field.Time tenths
    devices:
      - { name: Fan, type: fan, clusters: [SimulatedFan] }

    """

  @Test("a scenario invokes, writes and expects by name, also after a restart") func scenario() async throws {
    let steps = """
      steps:
        - expect: { fan.simulatedFan.speed: 10 }
        - do: invoke fan.simulatedFan.goToSpeed speed=40 time=100
        - wait: 5s
        - expect: { actual fan.simulatedFan.speed: 25, fan.simulatedFan.speed: 25, within: 1s }
        - wait: 5s
        - expect: { fan.simulatedFan.speed: 40, within: 1s }
        - power: { fan: off }
        - expect: { fan.connectivity: offline, within: 2m }
        - power: { fan: on }
        - expect: { fan.connectivity: online, fan.simulatedFan.speed: 40, within: 2m }
        - do: write fan.simulatedFan.speed 50
        - expect: { actual fan.simulatedFan.speed: 50, within: 2s }
        - set: { fan.simulatedFan.speed: 60 }
        - expect: { fan.simulatedFan.speed: 60, within: 5s }

      """
    let result = try await ScenarioFileTests.load(Self.devices + steps).simulate(seed: 1).result
    #expect(result.isPassed, "\(result)")
  }
}
