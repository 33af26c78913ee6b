import Foundation
import HearthHome
import Scenario
import Simulation
import Testing

@testable import ExampleHome

/// Tests of a home with simulated devices, network and time.
@Suite struct ExampleHomeTests {
  private static func resource(_ name: String) throws -> String {
    try #require(Bundle.module.url(forResource: name, withExtension: "yaml")).path
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>) func detectsPowerLossAndRecovery(seed: UInt64) async throws {
    try await withSimulatedHome(try Self.resource("house"), seed: seed) { home, world in
      func lamp() async throws -> HomeDevice {
        try #require(try await home.devices().list().first { $0.name == "Lamp" })
      }
      try await lamp().types.get(OnOffLightDeviceType.self)?.matterTraits.onOffTrait?.on()

      try await world.cutPower(of: "Lamp")
      try await world.simulation.sleep(for: .seconds(120))
      #expect(try await lamp().sourceConnectivity.connectivityState == .offline)

      let before = await world.simulation.now
      try await world.restorePower(of: "Lamp")
      try await world.simulation.sleep(for: .seconds(5))
      #expect(await world.simulation.now - before < .seconds(6))
      #expect(try await lamp().sourceConnectivity.connectivityState == .online)
      #expect(try await lamp().types.get(OnOffLightDeviceType.self)?.matterTraits.onOffTrait?.attributes.onOff == true)
    }
  }

  @Test func applicationObservesHome() async throws {
    try await withSimulatedHome(try Self.resource("house"), seed: 3) { home, world in
      let application = Application(home)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await application.observe() }
        try await world.cutPower(of: "Lamp")
        try await world.simulation.sleep(for: .seconds(120))
        #expect(application.manager.primaryHome?.accessories.map(\.isReachable).sorted { !$0 && $1 } == [false, true])
        group.cancelAll()
      }
    }
  }

  @Test func passesScenarioFile() async throws {
    let scenario = try ScenarioDefinition.load(try Self.resource("blackout"))
    let (result, _) = await scenario.simulate(seed: 7)
    #expect(result.isPassed, "\(result)")
  }
}
