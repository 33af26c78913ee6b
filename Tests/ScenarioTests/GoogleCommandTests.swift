import HearthHome
import MatterClusters
import MatterModel
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

  @Test func samplesControlAndRemove() async throws {
    let definition = try SimulatedHomeTests.definition(
      """
      devices:
        - { name: Lamp, type: on/off light }
        - { name: Ceiling, type: dimmable light }
        - { name: Door, type: lock }
        - { name: Heating, type: thermostat }
      """)
    let run = await simulate(definition, seed: 1) { home, world in
      func device(_ name: String) async throws -> HomeDevice {
        try #require(try await home.devices().named(name).list().first)
      }
      #expect(try GoogleControls.make(await device("Lamp")).status == "not dimmable")
      #expect(try GoogleControls.make(await device("Ceiling")).status.hasPrefix("level"))
      var states: [String] = []
      let lock = try #require(try GoogleControls.make(await device("Door")) as? LockControl)
      let added = try await lock.lock.setCredential(
        operationType: .add, credential: .init(credentialType: .pin, credentialIndex: 1),
        credentialData: [0x31, 0x32, 0x33, 0x34, 0x35, 0x36], userIndex: nil, userStatus: nil, userType: nil)
      #expect(added.status == .success)
      let error = await #expect(throws: HomeError.self) { try await lock.toggle(code: "654321") }
      #expect(error?.code == .refused)
      for _ in 0..<2 {
        let control = try #require(try GoogleControls.make(await device("Door")) as? LockControl)
        states.append(control.status)
        try await control.toggle(code: "123456")
        try await control.setRelockTime(60)
        try await world.simulation.sleep(for: .seconds(5))
      }
      #expect(Set(states) == ["locked", "unlocked"])
      let heating = try await device("Heating")
      #expect(throws: HomeError.self) { try GoogleControls.make(heating) }
      let trait = try #require(heating.types.get(ThermostatDeviceType.self)?.matterTraits.thermostatTrait)
      #expect(trait.attributes.featureMap?.contains(.heating) == true)
      #expect(GoogleControls.modes(of: trait).isSuperset(of: [.off, .heat]))
      let ids = Set(try await home.devices().list().map(\.id))
      #expect(try await GoogleControls.removeSingleDevices(Set(home.devices().list())) == ids)
      #expect(try await home.devices().list().isEmpty)
    }
    try run.result.get()
  }
}
