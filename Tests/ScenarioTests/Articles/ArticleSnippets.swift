import HearthHome
import Scenario
import Simulation
import Testing

// The snippets of the article “Testing a home”, verbatim; `ArticleTests` compares them.

enum ArticleSnippets {
  static func body() async throws {
    try await withSimulatedHome("house.yaml", seed: 7) { home, world in
      try await world.cutPower(of: "Lamp")
      try await world.simulation.sleep(for: .seconds(120))
      let lamp = try #require(try await home.devices().list().first { $0.name == "Lamp" })
      #expect(lamp.sourceConnectivity.connectivityState == .offline)
    }
  }

  static func faults(_ world: isolated SimulatedHome) throws {
    let onOff = AttributePlace(0x0006, 0x0000)
    try world.inject("Lamp", .conditions(LinkConditions(latency: .milliseconds(80), loss: Ratio(30, of: 100))))
    try world.inject("Plug", .family(.v6, isOn: false))
    try world.move("Lamp")
    try world.set(onOff, of: "Lamp", to: [0x09])
  }

  static func comment(_ lamp: HomeDevice, _ world: SimulatedHome) {
    #expect(lamp.sourceConnectivity.connectivityState == .online, "\(world)")
  }

  static func time(_ world: SimulatedHome) async throws {
    async let first: Void = world.simulation.sleep(for: .seconds(3))
    async let second: Void = world.simulation.sleep(for: .seconds(5))
    _ = try await (first, second)
  }

  static func clock(_ world: SimulatedHome) async throws {
    let before = await world.simulation.now
    try await world.restorePower(of: "Lamp")
    #expect(await world.simulation.now - before < .seconds(1))
  }

  static func names(_ world: SimulatedHome) async throws {
    try await world.simulation.naming("the lamp to come back") {
      try await world.restorePower(of: "Lamp")
    }
  }

  static func file() async throws {
    let scenario = try ScenarioDefinition.load("blackout.yaml")
    let (result, trace) = await scenario.simulate(seed: 7)
    #expect(result.isPassed, "\(result)")
    _ = trace
  }

  static func score(_ world: SimulatedHome) async throws {
    let card = try await world.score(for: .seconds(3600))
    print(card.lines.joined(separator: "\n"))
  }
}
