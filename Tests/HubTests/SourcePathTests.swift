import HearthHome
import HomeModel
import Hub
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

/// Requests of a client through an old device value, after the hub switched to another source.
@Suite("Source paths through a hub", .timeLimit(.minutes(10))) struct SourcePathTests {
  /// The same lamp behind a bridge: endpoint 3 of node 7, with On/Off and without Level Control.
  private static let behind: [HomeChange] = [
    .sourceAdded(SourceID(7, 3), device: "5"),
    .topology(
      SourceID(7, 3), [DeviceEndpoint(id: 3, deviceTypes: [0x13, 0x101], servers: [3, 6, 0x1D, 0x39])],
      DeviceIdentity()),
    .connectivity(SourceID(7, 3), SourceStatus(SourceConnectivity(.online, .peer))),
  ]

  @Test func oldValueUsesActiveSource() async throws {
    let served = try await ServedHome()
    let client = try await served.client()
    let old = try #require(try await client.devices().list().first)
    let light = try #require(old.types.get(DimmableLightDeviceType.self)?.matterTraits)
    let behind = Self.behind
    try await served.home.controller.change { _ throws(HomeError) in (behind, ()) }
    try await served.home.controller.process(.lost(5, .timedOut))
    #expect(await eventually { try await client.devices().list().first?.source?.id == SourceID(7, 3) })
    func failure(_ body: () async throws -> Void) async -> HomeError {
      do {
        try await body()
        return HomeError(.internalError, "nothing was thrown")
      } catch { return HomeError(error) }
    }
    // The request fails; the error names the addressed node, which is the bridge and not node 5.
    let switched = await failure { try await light.onOffTrait?.on() }
    #expect(switched.code == .notFound && switched.message.contains("node 7 "))
    let written = await failure { try await light.onOffTrait?.write(OnOff.onTime, 1) }
    #expect(written.code == .notFound && written.message.contains("node 7 "))
    let moved = await failure { try await light.levelControlTrait?.moveToLevel(level: 3) }
    // The bridge has no Level Control.
    #expect(moved.code == .notFound && moved.message.contains("node 5 "))
    #expect(
      await failure { try await light.levelControlTrait?.write(LevelControl.onLevel, .null) }.message.contains(
        "node 5 "))
    await client.close()
    await served.close()
  }
}
