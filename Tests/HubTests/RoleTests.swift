import HearthHome
import HomeControl
import HomeModel
import HomeStore
import Hub
import MakersClusters
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@Suite("Roles", .timeLimit(.minutes(10))) struct RoleTests {
  private static let invoke = CommandData(CommandPath(endpoint: 1, cluster: 6, command: 1))
  private static let window = CommandData(
    CommandPath(
      endpoint: 0, cluster: AdministratorCommissioning.id,
      command: AdministratorCommissioning.openBasicCommissioningWindow.id))
  private static let onLevel = AttributeWrite(
    AttributePath(endpoint: 1, cluster: 8, attribute: LevelControl.onLevel.id), value: [0x04, 9])
  private static let list = AttributeWrite(AttributePath(ServedHome.access), value: [0x16, 0x18])
  private static let label = AttributeWrite(
    AttributePath(endpoint: 0, cluster: BasicInformation.id, attribute: BasicInformation.nodeLabel.id),
    value: [0x0C, 0])
  private static let everywhere = AttributeWrite(AttributePath(cluster: 8), value: [0x04, 9])
  private static let maker = CommandData(CommandPath(endpoint: 1, cluster: 0xFFF1_FC00, command: 1))
  /// A command of Thread Border Router Management whose response has the credentials of a network.
  private static let dataset = CommandData(CommandPath(endpoint: 1, cluster: 0x0452, command: 0))
  private static let undeclared = CommandData(CommandPath(endpoint: 1, cluster: 6, command: 0x99))
  private static let undeclaredWrite = AttributeWrite(
    AttributePath(endpoint: 1, cluster: 0x04FE, attribute: 1), value: [0x04, 9])

  @Test(
    arguments: [
      (.anchor, .guest), (.samples(after: nil, filter: .all, limit: 1), .guest),
      (.read(node: 5, paths: [AttributePath(ServedHome.level)], isFabricFiltered: true, timeout: nil), .guest),
      (.invoke(node: 5, command: invoke, isTimed: false), .member),
      (.invoke(node: 5, command: maker, isTimed: false), .owner),
      (.invokeDevice(device: "5", source: nil, command: invoke, isTimed: false, timeout: nil), .member),
      (.write(node: 5, writes: [onLevel], isTimed: false), .member),
      (.writeDevice(device: "5", source: nil, writes: [onLevel], isTimed: false, timeout: nil), .member),
      (.invoke(node: 5, command: window, isTimed: true), .owner),
      (.invoke(node: 5, command: dataset, isTimed: true), .owner),
      (.invoke(node: 5, command: undeclared, isTimed: false), .owner),
      (.write(node: 5, writes: [undeclaredWrite], isTimed: false), .owner),
      (.invokeDevice(device: "5", source: SourceID(7, 3), command: window, isTimed: true, timeout: nil), .owner),
      (.write(node: 5, writes: [list], isTimed: false), .owner),
      (.write(node: 5, writes: [onLevel, list], isTimed: false), .owner),
      (.write(node: 5, writes: [label], isTimed: false), .owner),
      (.write(node: 5, writes: [everywhere], isTimed: false), .owner),
      (.edit(edits: [.renameDevice(id: "5", name: "Desk")]), .owner),
      (.edit(edits: [.addRoom(name: "Den", structureID: nil)]), .owner),
      (.edit(edits: [.choosePrimaryStructure(id: "home")]), .owner), (.edit(edits: []), .owner), (.status, .owner),
      (.revoke(name: "Ada"), .owner),
    ] as [(HomeRequest, HomeRole)])
  func allowsRequestsByRole(_ request: HomeRequest, least: HomeRole) {
    for role in HomeRole.allCases { #expect(request.isAllowed(to: role) == (role >= least)) }
  }

  @Test func seesUndeclaredElementsByRole() {
    func visible(_ cluster: ClusterID, _ attribute: AttributeID) -> [Bool] {
      HomeRole.allCases.map { RoleVisibility.of($0).contains(ConcreteAttributePath(1, cluster, attribute)) }
    }
    func visible(event: EventID, of cluster: ClusterID) -> [Bool] {
      let data = EventData(
        ConcreteEventPath(1, cluster, event), number: 1, priority: .info, timestamp: .epoch(1), payload: nil)
      return HomeRole.allCases.map { RoleVisibility.of($0).contains(.event(5, data)) }
    }
    let maker = """
      cluster 0xFFF1FC80 RoleFan "Role Fan" revision 1
      attribute 0x0000 Speed uint8
      attribute 0x0001 Code uint8 read administer
      event 0x00 Stopped info
      event 0x01 Broken info read administer
      """
    #expect(throws: Never.self) { ClusterCatalogue.add(try MakersCluster(maker, file: "fan.cluster")) }
    #expect(visible(0xFFF1_FC80, 0) == [true, true, true])
    #expect(visible(0xFFF1_FC80, 1) == [false, false, true])
    #expect(visible(event: 0, of: 0xFFF1_FC80) == [true, true, true])
    #expect(visible(event: 1, of: 0xFFF1_FC80) == [false, false, true])
    #expect(visible(0xFFF1_FC81, 0) == [false, false, true])
    #expect(visible(6, 0) == [true, true, true])
    #expect(visible(0x1F, 0) == [false, false, true])
    // Undeclared clusters and attributes of the standard; global attributes are visible to all roles.
    #expect(visible(0x04FE, 0) == [false, false, true])
    #expect(visible(6, 0x99) == [false, false, true])
    #expect(visible(0x04FE, 0xFFFD) == [true, true, true])
    #expect(visible(event: 9, of: 0x0452) == [false, false, true])
    // A manufacturer-specific cluster.
    #expect(visible(0xFFF1_FC00, 0) == [false, false, true])
    #expect(visible(event: 0, of: 0xFFF1_FC00) == [false, false, true])
  }

  @Test func hubEnforcesRoles() async throws {
    let served = try await ServedHome()
    let guest = try await served.client(token: try await served.invite("Gast", .guest))
    let member = try await served.client(token: try await served.invite("Kind", .member))
    let owner = try await served.client()
    let record = try #require(await owner.registry.devices.first)
    // The device does not exist on the network: allowed requests fail with another error.
    func tries(_ home: Home) async throws -> [HomeError.Code?] {
      let light = try #require(try await home.devices().list().first?.types.get(DimmableLightDeviceType.self))
      return [
        await code { _ = try await home.invoke(record, Self.invoke, isTimed: false) },
        await code { try await light.matterTraits.onOffTrait?.on() },
        await code { try await home.write(record, [Self.onLevel], isTimed: false) },
        await code { try await home.write(record, [Self.list], isTimed: false) },
        await code { _ = try await home.addRoom("Den") },
        await code { _ = try await home.rename("5", to: "Desk") },
        await code { _ = try await home.hubStatus },
        await code { _ = try home.controller },
        await code { _ = try await home.anchor() },
      ]
    }
    let denied = HomeError.Code.accessDenied
    #expect(
      try await tries(guest) == [denied, denied, denied, denied, denied, denied, denied, denied, nil])
    #expect(try await owner.rooms().list().isEmpty)
    func eligibility(_ home: Home) async throws -> HomeDevice.DecommissionEligibility? {
      try await home.devices().list().first?.decommissionEligibility
    }
    #expect(try await eligibility(guest) == .ineligible(reason: .notAuthorized))
    #expect(try await eligibility(owner) == .eligible)
    #expect(
      try await tries(member) == [.notFound, .notFound, .notFound, denied, denied, denied, denied, denied, nil])
    #expect(try await owner.rooms().list().isEmpty)
    #expect(try await tries(owner) == [.notFound, .notFound, .notFound, .notFound, nil, nil, nil, denied, nil])
    #expect(await eventually { try await guest.devices().list().map(\.name) == ["Desk"] })
    let status = try await owner.hubStatus
    #expect(status.clients.map(\.name) == ["Gast", "Kind", "test"])
    #expect(status.clients.map(\.role) == [.guest, .member, .owner])
    #expect(status.isFollowing && status.devices == 1 && status.devicesOnline == 1)
    for home in [guest, member, owner] { await home.close() }
    await served.close()
  }

  @Test func revokesInProcessOfHub() async throws {
    let served = try await ServedHome()
    let raw = try await RawWebSocket(
      socket: served.scratch.state.hubSocket, token: try await served.invite("Gast", .guest))
    #expect(await eventually { try await served.home.hubStatus.clients.map(\.name) == ["Gast"] })
    #expect(try await served.home.hubStatus.addresses == [served.scratch.state.hubSocket])
    try await served.home.revoke("Gast")
    #expect(await eventually { raw.isClosed })
    #expect(raw.now.closeCode == 1008)
    #expect(try await served.home.hubStatus.clients.isEmpty)
    await served.stopHub()
    #expect(try await served.home.hubStatus.addresses.isEmpty)
    await served.close()
  }

  @Test func hidesAdministratorAttributesFromGuests() async throws {
    let served = try await ServedHome()
    let guest = try await served.client(token: try await served.invite("Gast", .guest))
    let owner = try await served.client()
    let start = try #require(Anchor((try await owner.anchor()).description.prefix { $0 != "-" } + "-0"))
    func knows(_ home: Home) async throws -> [Bool] {
      let samples = try await home.samples(after: start).added
      return [
        await home.state.value(5, ServedHome.access) != nil, await home.state.value(5, ServedHome.level) != nil,
        samples.contains { $0.attribute?.path == ServedHome.access },
        samples.contains { $0.attribute?.path == ServedHome.level },
      ]
    }
    #expect(try await knows(guest) == [false, true, false, true])
    #expect(try await knows(owner) == [true, true, true, true])
    let data = [
      AttributeData(ServedHome.access, dataVersion: 0, value: [0x16, 0x15, 0x18, 0x18]),
      AttributeData(ServedHome.level, dataVersion: 0, value: [0x04, 9]),
    ]
    try await served.home.controller.process(.report(NodeReport(5, data, isWhole: false)))
    #expect(await eventually { await guest.state.value(5, ServedHome.level) == [0x04, 9] })
    #expect(try await knows(guest) == [false, true, false, true])
    #expect(await eventually { await owner.state.value(5, ServedHome.access) == [0x16, 0x15, 0x18, 0x18] })
    await guest.close()
    await owner.close()
    await served.close()
  }

  @Test func rejectsUnknownAndRevokedTokens() async throws {
    let served = try await ServedHome()
    #expect(await code { _ = try await served.client(token: "0123456789abcdef0123456789abcdef") } == .accessDenied)
    let token = try await served.invite("Gast", .guest)
    await #expect(throws: HomeError.self) { try await served.invite("gast", .member) }
    let guest = try await served.client(token: token)
    let owner = try await served.client()
    let client = await RecordedClient(guest)
    #expect(try await owner.invitedClients.map(\.name) == ["Gast"])
    #expect(try await owner.revoke("GAST").client.name == "Gast")
    #expect(await client.recorder.waits(for: "hub notAvailable"))
    #expect(await client.recorder.waits(for: "reachable false"))
    #expect(try await guest.devices().list().map(\.offlineReason) == [.hubUnreachable])
    let forKnown = await code { _ = try await guest.anchor() }
    #expect(forKnown == .accessDenied)
    let forNew = await code { _ = try await served.client(token: token) }
    #expect(forNew == .accessDenied)
    #expect(try await owner.hubStatus.clients.map(\.name) == ["test"])
    await guest.close()
    await owner.close()
    await served.close()
  }
}
