import MatterClusters
import MatterModel
import Testing
import VirtualDevices

@testable import Home
@testable import Hub
@testable import Scenario

/// What a device reports because a client asked for it, with a lamp on loopback. HOME.md, “Delegates”.
@Suite("Own changes", .timeLimit(.minutes(10))) struct OwnChangeTests {
  private static let lamp = """
    devices:
      - name: Lamp
        type: dimmable light
    """

  /// What a client was told of whether the lamp is on, and of the level it comes on with.
  private func told(_ client: RecordedClient) -> [String] {
    client.recorder.messages.filter { ["0 = [8]", "0 = [9]"].contains($0) || $0.hasPrefix("17 = ") }
  }

  private func light(_ client: RecordedClient) throws -> MatterTraits {
    try #require(client.manager.primaryHome?.accessories.first?.types.get(DimmableLightDeviceType.self)).matterTraits
  }

  @Test func theyAreToldToAllOthersAndNotToWhoAsked() async throws {
    let real = try RealHome(try HomeDefinition.load(simulating: [("home.yaml", Self.lamp)]))
    try await real.begin(isPaired: true, defect: nil)
    let home = try await real.home
    let hub = try await Hub.open(home, Hub.Options(logger: ServedHome.logger))
    let socket = HubAddress.socket(try home.controller.options.state.hubSocket)
    let first = try await Home(through: ServedHome.clientOptions("first", [.local(socket)]))
    let second = try await Home(through: ServedHome.clientOptions("second", [.local(socket)]))
    // Two in the hub's own process, two of one other process, and one of a third.
    let clients = [
      await RecordedClient(home), await RecordedClient(home), await RecordedClient(first), await RecordedClient(first),
      await RecordedClient(second),
    ]
    var expected = clients.map { _ in [String]() }
    /// Has a client do something, and waits until all others know.
    func act(_ index: Int, _ message: String, _ body: (MatterTraits) async throws -> Void) async throws {
      try await body(try light(clients[index]))
      for other in clients.indices where other != index {
        expected[other].append(message)
        #expect(await eventually { told(clients[other]).last == message }, "\(other) of \(message)")
      }
    }
    // Off, whatever it was.
    try await light(clients[4]).levelControlTrait?.moveToLevelWithOnOff(level: 254, transitionTime: 0)
    try await light(clients[4]).onOffTrait?.off()
    #expect(await eventually { clients.dropLast().allSatisfy { told($0).last == "0 = [8]" } })
    let before = clients.map { told($0).count }
    for index in clients.indices {
      try await act(index, "0 = [9]") { try await $0.onOffTrait?.on() }
      let next = (index + 1) % clients.count
      try await act(next, "17 = [4, \(100 + index)]") {
        try await $0.levelControlTrait?.write(LevelControl.onLevel, .value(UInt8(100 + index)))
      }
      try await act(index, "17 = [20]") {
        try await $0.levelControlTrait?.write(LevelControl.onLevel, .null)
      }
      try await act(next, "0 = [8]") { try await $0.onOffTrait?.toggle() }
    }
    // What the lamp refuses is told to nobody.
    #expect(
      await code { try await light(clients[2]).levelControlTrait?.write(LevelControl.currentLevel, .value(9)) }
        != nil)
    try await act(0, "17 = [4, 77]") { try await $0.levelControlTrait?.write(LevelControl.onLevel, .value(77)) }
    // All that was told is what others did.
    for index in clients.indices { #expect(told(clients[index]).dropFirst(before[index]) == expected[index][...]) }
    for client in clients {
      #expect(client.manager.primaryHome?.accessories.first?.traits[OnOffTrait.self]?.attributes.onOff == false)
    }
    await first.close()
    await second.close()
    await hub.close()
    await real.close()
  }
}
