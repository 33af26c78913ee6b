import HearthHome
import MatterClusters
import Scenario
import Simulation
import Testing

/// The commands of samples for the Google Home APIs reach the devices; `ModelSampleTests` runs the other samples.
@Suite("Commands of samples") struct GoogleCommandTests {
  @Test func samplesSwitchAndDim() async throws {
    let definition = try SimulatedHomeTests.definition(
      """
      devices:
        - { name: Lamp, type: on/off light }
        - { name: Ceiling, type: dimmable light }
      """)
    let run = await simulate(definition, seed: 1) { home, world in
      func device(_ name: String) async throws -> HomeDevice {
        try #require(try await home.devices().named(name).list().first)
      }
      #expect(try await GoogleSamples.onlineLights(home).map(\.name) == ["Lamp"])
      var states: [Bool?] = []
      for _ in 0..<2 {
        try await GoogleSamples.invert(try await device("Lamp"))
        try await world.simulation.sleep(for: .seconds(2))
        let light = try await device("Lamp").types.get(OnOffLightDeviceType.self)
        states.append(light?.matterTraits.onOffTrait?.attributes.onOff)
      }
      #expect(states == [true, false])
      try await GoogleSamples.dim(try await device("Ceiling"), to: 100)
      try await world.simulation.sleep(for: .seconds(5))
      let ceiling = try await device("Ceiling").types.get(DimmableLightDeviceType.self)
      #expect(ceiling?.matterTraits.levelControlTrait?.attributes.currentLevel == 100)
      #expect(ceiling?.matterTraits.onOffTrait?.onOff == true)
    }
    try run.result.get()
  }
}
