import HearthHome
import HomeModel
import Hub
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

/// The article “The home model”, “Delegates”, through a hub.
@Suite("Delegates through a hub", .timeLimit(.minutes(10))) struct HubDelegateTests {
  @Test func reportsFirstSynchronizationOnceWithoutHome() async throws {
    let served = try await ServedHome(isEmpty: true)
    let client = try await served.client()
    let recorded = await RecordedClient(client)
    #expect(recorded.manager.isSynchronized && recorded.manager.homes.isEmpty && recorded.manager.primaryHome == nil)
    try await served.make(ServedHome.lamp)
    #expect(await recorded.recorder.waits(for: "primary Home"))
    #expect(recorded.recorder.messages.filter { $0 != "+Lamp" } == ["homes", "primary Home"])
    #expect(recorded.manager.homes.map(\.name) == ["Home"])
    await client.close()
    await served.close()
  }

  @Test func suspendedClientGetsOneUpdateAfterResume() async throws {
    let served = try await ServedHome()
    let client = try await served.client()
    let (away, here) = (await RecordedClient(client), await RecordedClient(client))
    away.manager.suspend()
    try await served.report(level: 9)
    try await served.make([.roomAdded(Room(id: "r", name: "Den", structureID: "home"))] + ServedHome.bridge)
    try await served.home.controller.process(.lost(5, .timedOut))
    // Changes of the connection are not reported to a suspended client either.
    try await served.hub.hangUp(andThen: [])
    #expect(await here.recorder.waits(for: "hub notAvailable"))
    #expect(await here.recorder.waits(for: "hub connected"))
    try await served.home.controller.process(.established(5, deadline: .max))
    #expect(await here.recorder.waits(for: "+Behind 3"))
    // The lamp may become reachable twice, with the connection and with its session: wait for a later change.
    try await served.report(level: 11)
    #expect(await here.recorder.waits(for: "1/levelControl.currentLevel = 11"))
    #expect(away.recorder.messages == ["homes"])
    #expect(away.manager.primaryHome?.rooms.isEmpty == true && away.manager.primaryHome?.accessories.count == 1)
    away.manager.resume()
    #expect(await away.recorder.waits(for: "homes", times: 2))
    #expect(away.manager.primaryHome?.rooms.map(\.name) == ["Den"])
    #expect(away.manager.primaryHome?.accessories.map(\.name) == ["Lamp", "Behind 2", "Behind 3"])
    away.manager.resume()
    try await served.report(level: 10)
    #expect(await away.recorder.waits(for: "1/levelControl.currentLevel = 10"))
    #expect(away.recorder.messages == ["homes", "homes", "1/levelControl.currentLevel = 10"])
    await client.close()
    await served.close()
  }

  @Test func reportsDevicesBehindBridge() async throws {
    let served = try await ServedHome()
    let client = try await served.client()
    let (recorded, owner) = (await RecordedClient(client), await RecordedClient(served.home))
    try await served.make(ServedHome.bridge)
    for one in [recorded, owner] {
      #expect(await one.recorder.waits(for: "+Behind 3"))
      #expect(one.recorder.messages == ["homes", "+Behind 2", "+Behind 3"])
      #expect(one.manager.primaryHome?.bridges.map(\.id) == ["7"])
    }
    // A single bridged device can't be removed, neither by the hub nor through it; a failed attempt sends no message.
    for one in [owner, recorded] {
      let home = try #require(one.manager.primaryHome)
      let behind = try #require(home.accessories.last)
      #expect(behind.id == "7/3" && behind.isBridged)
      #expect(await code { try await home.removeAccessory(behind, force: true) } == .badArguments)
    }
    #expect(try await client.devices().list().count == 4)
    let home = try #require(owner.manager.primaryHome)
    try await home.removeAccessory(try #require(home.bridges.first), force: true)
    #expect(await recorded.recorder.waits(for: "-Behind 3"))
    #expect(await recorded.recorder.waits(for: "-Behind 2"))
    #expect(try await client.devices().list().map(\.id) == ["5"])
    try await served.report(level: 9)
    for one in [recorded, owner] { #expect(await one.recorder.waits(for: "1/levelControl.currentLevel = 9")) }
    #expect(recorded.recorder.messages.count == 6)
    // The client that removed the bridge got no message.
    #expect(owner.recorder.messages == ["homes", "+Behind 2", "+Behind 3", "1/levelControl.currentLevel = 9"])
    await client.close()
    await served.close()
  }

  @Test func failedCallSendsNoMessage() async throws {
    let served = try await ServedHome()
    let (first, second) = (try await served.client("first"), try await served.client("second"))
    let guest = try await served.client(token: try await served.invite("Gast", .guest))
    let (one, two) = (await RecordedClient(first), await RecordedClient(second))
    let (other, owner) = (await RecordedClient(guest), await RecordedClient(served.home))
    let light = try #require(one.manager.primaryHome?.accessories.first?.types.get(DimmableLightDeviceType.self))
    let seen = try #require(other.manager.primaryHome?.accessories.first?.types.get(DimmableLightDeviceType.self))
    // The lamp does not exist on the network, and a guest may only read.
    #expect(await code { try await light.matterTraits.onOffTrait?.on() } == .notFound)
    #expect(await code { try await seen.matterTraits.onOffTrait?.on() } == .accessDenied)
    #expect(await code { try await other.manager.rename("5", to: "Mine") } == .accessDenied)
    #expect(await code { try await one.manager.renameRoom("attic", to: "Den") } == .notFound)
    let home = try #require(one.manager.primaryHome)
    #expect(await code { try await one.manager.removeHome(home) } == .badArguments)
    // A report of the lamp after the failed commands is sent to all clients.
    let data = AttributeData(ConcreteAttributePath(1, 6, 0), dataVersion: 0, value: [0x09])
    try await served.home.controller.process(.report(NodeReport(5, [data], isWhole: false)))
    for client in [one, two, other, owner] {
      #expect(await client.recorder.waits(for: "1/onOff.onOff = true"))
      #expect(client.recorder.messages == ["homes", "1/onOff.onOff = true"])
    }
    for home in [first, second, guest] { await home.close() }
    await served.close()
  }

  // MARK: Sources

  /// A bridged device with another locality than its bridge, and a device with two sources.
  @Test func localityFollowsNearestReachableSource() async throws {
    let served = try await ServedHome { $0.addresses = [.host("127.0.0.1", port: 0)] }
    try await served.make(ServedHome.bridge)
    try await served.make([
      .connectivity(SourceID(7), SourceStatus(.init(.online, .peer))),
      .connectivity(SourceID(7, 2), SourceStatus(.init(.online, .peer))),
      .connectivity(SourceID(7, 3), SourceStatus(.init(.online, .remote))),
      .sourceAdded(SourceID(9), device: "7/2"),
      .topology(
        SourceID(9), [DeviceEndpoint(id: 1, deviceTypes: [0x100], servers: [6, 0x1D])], DeviceIdentity()),
      .connectivity(SourceID(9), SourceStatus(.init(.online, .remote))),
    ])
    let port = try #require(try await served.hub.status.addresses.last?.split(separator: ":").last.flatMap { Int($0) })
    let near = try await served.client()
    let far = try await served.client(
      token: try await served.invite("Ada", .guest), through: [.remote(.host("127.0.0.1", port: port))])
    @Sendable func localities(_ home: Home) async throws -> [DataSourceLocality] {
      try await home.devices().list().map(\.sourceConnectivity.dataSourceLocality)
    }
    #expect(try await near.devices().list().map(\.id) == ["5", "7", "7/2", "7/3"])
    #expect(try await localities(near) == [.local, .local, .local, .remote])
    #expect(try await localities(far) == [.remote, .remote, .remote, .remote])
    #expect(try await localities(served.home) == [.peer, .peer, .peer, .remote])
    // The source through the bridge is lost: the other one is farther for each client.
    try await served.make([
      .connectivity(SourceID(7, 2), SourceStatus(.init(.offline, .peer), reason: .bridgeSaysUnreachable))
    ])
    #expect(await eventually { try await localities(near) == [.local, .local, .remote, .remote] })
    #expect(try await near.devices().list()[2].source?.id == SourceID(9))
    #expect(try await near.devices().list()[2].sourceConnectivity == SourceConnectivity(.online, .remote))
    // The aggregate locality is mixed.
    let all = SourceConnectivity(of: try await near.devices().list().map(\.sourceConnectivity))
    #expect(all == SourceConnectivity(.online, .mixed))
    // A mixed locality stays mixed for local clients.
    try await served.make([.connectivity(SourceID(7), SourceStatus(.init(.online, .mixed)))])
    #expect(await eventually { try await localities(near) == [.local, .mixed, .remote, .remote] })
    #expect(await eventually { try await localities(far) == [.remote, .remote, .remote, .remote] })
    await near.close()
    await far.close()
    await served.close()
  }
}
