import HearthHome
import MatterClusters
import MatterController
import MatterDevice
import MatterModel
import MatterProtocol
import Scenario
import Simulation
import Testing

// The Swift snippets of README.md and ARCHITECTURE.md, verbatim; `ArticleTests` compares them.

enum ReadmeSnippets {
  static func home(_ options: HomeController.Options) async throws {
    let home = try await Home(options)
    try await home.follow()
    for device in try await home.devices().list() {
      guard let light = device.types.get(DimmableLightDeviceType.self) else { continue }
      print(device.name, light.matterTraits.levelControlTrait?.attributes.currentLevel ?? 0)
      try await light.matterTraits.onOffTrait?.toggle()
    }
  }

  static func test() async throws {
    try await withSimulatedHome("house.yaml", seed: 7) { home, world in
      try await world.cutPower(of: "Lamp")
      try await world.simulation.sleep(for: .seconds(120))
      let lamp = try #require(try await home.devices().list().first { $0.name == "Lamp" })
      #expect(lamp.sourceConnectivity.connectivityState == .offline)
    }
  }

  public enum OnOff: Cluster {
    public static let id: ClusterID = 0x0006, revision: UInt16 = 6, name = "OnOff"
    public static let onOff = Attribute<Self, Bool>(0x0000, "OnOff", initial: false, quality: [.nonVolatile, .scene])
    public static let toggle = Command<Self, NoFields, NoFields>(0x02, "Toggle")
    public static let elements: [any ClusterElement] = [onOff, toggle]
  }

  static func uses(
    _ engine: inout ControllerEngine, _ node: NodeID, _ trait: OnOffTrait, at now: Instant
  ) -> (ClusterServer, OperationID, Bool?) {
    // A device serves it,
    let server = ClusterServer(OnOff.self).on(OnOff.toggle) { context, _ in context[OnOff.onOff].toggle() }
    // a controller invokes it,
    let operation = engine.invoke(OnOff.toggle, on: 1, of: node, at: now)
    // and a home reads it.
    let isOn = trait.attributes.onOff
    return (server, operation, isOn)
  }
}
