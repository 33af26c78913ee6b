import Foundation
import HearthHome
import HomeControl
import HomeModel
import HomeStore
import MatterController
import MatterModel
import MatterProtocol
import Runtime
import Testing

/// A failed pairing leaves the devices of the home unchanged.
@Suite("Refused pairing", .timeLimit(.minutes(10))) struct PairingRefusalTests {
  /// Opens a home with node 5, which is in the fabric, and node 6, which was removed from it.
  private func home() async throws -> OpenHome {
    let directory = ScratchDirectory()
    // The first open creates the fabric.
    try await OpenHome(directory).home.close()
    let database = try HomeDatabase.open(directory.state.database)
    let record = StoreChange("peer/0000000000000005", [0x15, 0x24, 0x00, 0x05, 0x18])
    _ = try database.commit(WriteQueue(), [record])
    try database.close()
    let open = try await OpenHome(directory)
    for model in [NodeModel.lamp(5), .lamp(6)] { await open.process(model.report()) }
    return open
  }

  @Test(
    "notes a test device on the network, but not on loopback",
    arguments: [
      (.test, "192.168.1.20", true), (.test, "fe80::1", true), (.test, "fd00::5", true),
      (.test, "127.0.0.1", false), (.test, "127.8.9.1", false), (.test, "::1", false),
      (.production, "192.168.1.20", false), (.production, "::1", false),
      // The failure itself is reported instead.
      (.unverified, "192.168.1.20", false), (.unverified, "127.0.0.1", false),
    ] as [(DeviceAttestation, String, Bool)])
  func testDeviceOnNetwork(_ attestation: DeviceAttestation, _ address: String, _ isNoted: Bool) throws {
    let address = try #require(IPAddress(address))
    #expect(PairedDevice.isTestDeviceOnNetwork(attestation, at: address) == isNoted)
  }

  /// A request without addresses, which contacts no device.
  private func request(_ node: NodeID?) -> CommissioningRequest {
    var request = CommissioningRequest(passcode: 20_240_001, target: .addresses([]))
    request.nodeID = node
    return request
  }

  @Test(arguments: [5, 6, nil] as [NodeID?]) func failedPairingChangesNoDevice(_ node: NodeID?) async throws {
    let open = try await home()
    let before = await open.home.state
    try #require(before.devices.keys.sorted() == ["5", "6"])
    #expect(await open.controller.nodes.map(\.nodeID) == [5])
    await #expect(throws: HomeError.self) {
      try await open.home.pair(request(node), name: "Sun", room: "Kitchen")
    }
    #expect(await open.home.state.devices == before.devices)
    #expect(await open.home.state.rooms == before.rooms)
    await open.home.close()
  }
}
