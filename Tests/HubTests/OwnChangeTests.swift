import HearthHome
import Hub
import MatterClusters
import MatterModel
import Testing
import VirtualDevices

@testable import Scenario

/// Reports of a device that a client caused itself, with a lamp on loopback. See the article “The home model”,
/// “Delegates”.
@Suite("Own changes", .timeLimit(.minutes(10))) struct OwnChangeTests {
  private static let lamp = """
    devices:
      - name: Lamp
        type: dimmable light
    """

  /// Messages of a client about OnOff and OnLevel of the lamp.
  private func lampMessages(_ client: RecordedClient) -> [String] {
    client.recorder.messages.filter {
      ["1/onOff.onOff = false", "1/onOff.onOff = true"].contains($0) || $0.hasPrefix("1/levelControl.onLevel = ")
    }
  }

  private func light(_ client: RecordedClient) throws -> MatterTraits {
    try #require(client.manager.primaryHome?.accessories.first?.types.get(DimmableLightDeviceType.self)).matterTraits
  }

  @Test func notifiesAllClientsExceptRequester() async throws {
    let real = try RealHome(try HomeDefinition.load(simulating: [("home.yaml", Self.lamp)]))
    try await real.begin(isPaired: true, defect: nil)
    let home = try await real.home
    let hub = try await HubServer.open(home, HubServer.Options(logger: ServedHome.logger))
    let socket = HubAddress.socket(try home.controller.options.state.hubSocket)
    let first = try await Home(through: ServedHome.clientOptions("first", [.local(socket)]))
    let second = try await Home(through: ServedHome.clientOptions("second", [.local(socket)]))
    // Two clients in the hub's process, two in a second process, and one in a third.
    let clients = [
      await RecordedClient(home), await RecordedClient(home), await RecordedClient(first), await RecordedClient(first),
      await RecordedClient(second),
    ]
    var expected = clients.map { _ in [String]() }
    /// Performs a request through one client, and waits until all others got the message.
    func act(_ index: Int, _ message: String, _ body: (MatterTraits) async throws -> Void) async throws {
      try await body(try light(clients[index]))
      for other in clients.indices where other != index {
        expected[other].append(message)
        #expect(await eventually { lampMessages(clients[other]).last == message }, "\(other) of \(message)")
      }
    }
    // Switch the lamp off, from any state.
    try await light(clients[4]).levelControlTrait?.moveToLevelWithOnOff(level: 254, transitionTime: 0)
    try await light(clients[4]).onOffTrait?.off()
    #expect(await eventually { clients.dropLast().allSatisfy { lampMessages($0).last == "1/onOff.onOff = false" } })
    let before = clients.map { lampMessages($0).count }
    for index in clients.indices {
      try await act(index, "1/onOff.onOff = true") { try await $0.onOffTrait?.on() }
      let next = (index + 1) % clients.count
      try await act(next, "1/levelControl.onLevel = \(100 + index)") {
        try await $0.levelControlTrait?.write(LevelControl.onLevel, .value(UInt8(100 + index)))
      }
      try await act(index, "1/levelControl.onLevel = null") {
        try await $0.levelControlTrait?.write(LevelControl.onLevel, .null)
      }
      try await act(next, "1/onOff.onOff = false") { try await $0.onOffTrait?.toggle() }
    }
    // A rejected write sends no message.
    #expect(
      await code { try await light(clients[2]).levelControlTrait?.write(LevelControl.currentLevel, .value(9)) }
        != nil)
    try await act(0, "1/levelControl.onLevel = 77") {
      try await $0.levelControlTrait?.write(LevelControl.onLevel, .value(77))
    }
    // Each client got exactly the messages about requests of the others.
    for index in clients.indices {
      #expect(lampMessages(clients[index]).dropFirst(before[index]) == expected[index][...])
    }
    for client in clients {
      #expect(client.manager.primaryHome?.accessories.first?.traits[OnOffTrait.self]?.attributes.onOff == false)
    }
    await first.close()
    await second.close()
    await hub.close()
    await real.close()
  }
}
