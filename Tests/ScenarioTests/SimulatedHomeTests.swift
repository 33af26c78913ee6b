import Home
import MatterClusters
import MatterProtocol
import Scenario
import Simulation
import Testing
import VirtualDevices

@Suite struct SimulatedHomeTests {
  static let lamp = """
    devices:
      - name: Lamp
        room: Kitchen
        type: dimmable light
    """

  static func definition(_ text: String = lamp) throws -> HomeDefinition {
    try HomeDefinition.load(simulating: [("home.yaml", text)])
  }

  @Test func aLampIsPairedAndSwitched() async throws {
    let run = await simulate(try Self.definition(), seed: 1) { home, world in
      let device = try #require(try await home.devices().list().first)
      #expect(device.name == "Lamp")
      let light = try #require(device.types.get(DimmableLightDeviceType.self))
      try await light.matterTraits.onOffTrait?.on()
      try await world.simulation.sleep(for: .seconds(2))
      let now = try #require(try await home.devices().list().first)
      return now.types.get(DimmableLightDeviceType.self)?.matterTraits.onOffTrait?.attributes.onOff
    }
    #expect(try run.result.get() == true)
    print("virtual end", run.end, "entries", run.trace.count)
  }

  @Test func theSameSeedGivesTheSameRun() async throws {
    func digest(_ seed: UInt64) async throws -> UInt64 {
      let run = await simulate(try Self.definition(), seed: seed) { home, world in
        let device = try #require(try await home.devices().list().first)
        try await device.types.get(DimmableLightDeviceType.self)?.matterTraits.onOffTrait?.toggle()
        try await world.simulation.sleep(for: .seconds(200))
      }
      try run.result.get()
      return run.trace.digest
    }
    let first = try await digest(7)
    #expect(try await digest(7) == first)
    #expect(try await digest(8) != first)
  }

  @Test func aDeviceWithoutPowerIsOfflineUntilItHasIt() async throws {
    let run = await simulate(try Self.definition(), seed: 1) { home, world in
      func state() async throws -> ConnectivityState? {
        try await home.devices().list().first?.sourceConnectivity.connectivityState
      }
      var seen = [try await state()]
      try await world.cutPower(of: "Lamp")
      try await world.simulation.sleep(for: .seconds(300))
      seen.append(try await state())
      try await world.restorePower(of: "Lamp")
      try await world.simulation.sleep(for: .seconds(10))
      seen.append(try await state())
      return seen
    }
    #expect(try run.result.get() == [.online, .offline, .online])
  }
}
