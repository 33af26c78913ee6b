import HomeControl
import HomeModel
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import HearthHome

/// Members with HomeKit's names; `HomeKitSamples` has code in the form of its samples.
@Suite("HomeKit's names") struct HomeKitTests {
  @Test func addedObjectsBelongToManager() async throws {
    let offline = try await OfflineHome(ScratchDirectory())
    try await offline.make(HomeSamples.lamp(5))
    let client = await RecordingClient(offline.home)
    let manager = client.manager
    let room = try await manager.addRoom("Hall")
    try await manager.move("5", to: room.id)
    #expect(room.accessories.map(\.id) == ["5"])
    #expect(try await room.setName("Porch").accessories.map(\.id) == ["5"])
    let cabin = try await manager.addHome(withName: "Cabin")
    #expect(cabin.homeHubState == .thisProcess && cabin.homeHubState == manager.hubState && !cabin.isPrimary)
    let delegate = RecordingDelegate()
    cabin.delegate = delegate
    #expect(cabin.delegate === delegate)
    // An edit of such an object is one of the manager, whose delegates get no message of it.
    let loft = try await cabin.addRoom(withName: "Loft")
    #expect(cabin.rooms == [loft])
    try await offline.home.addStructure("Barn").createRoom(name: "Stable").updateName("Box")
    try await offline.home.addRoom("Attic", to: cabin.id).updateName("Den")
    #expect(await client.delegate.waits(for: "room is Den"))
    #expect(client.delegate.messages == ["+home Barn", "+room Stable", "room is Box", "+room Attic", "room is Den"])
    #expect(await delegate.waits(for: "room is Den"))
    #expect(delegate.messages == ["+room Attic", "room is Den"])
    await offline.home.close()
  }

  @Test func homesAndRoomsHaveIDsAndNames() async throws {
    let open = try await OpenHome(.lamp(5))
    let manager = await RecordingClient(open.home).manager
    let home = try #require(manager.primaryHome)
    let cabin = try await manager.addHome(withName: "Cabin")
    try await cabin.updateName("Lodge")
    try await manager.updatePrimaryHome(cabin)
    #expect(cabin.isPrimary && !home.isPrimary && manager.primaryHome?.name == "Lodge")
    #expect(cabin.uniqueIdentifier == cabin.id && manager.homes.map(\.uniqueIdentifier) == [home.id, cabin.id])
    let loft = try await cabin.addRoom(withName: "Loft")
    #expect(loft.uniqueIdentifier == loft.id)
    let device = try #require(home.accessories.first)
    #expect(await error { try await cabin.removeAccessory(device) } == "the device is not in “Cabin”")
    #expect(await error { try await Structure(id: home.id, name: "").removeAccessory(device) } != nil)
    try await cabin.removeRoom(loft)
    #expect(cabin.rooms.isEmpty)
    try await manager.removeHome(cabin)
    #expect(manager.homes == [home] && home.isPrimary)
    await open.home.close()
  }

  @Test func devicesStayInTheirHome() async throws {
    let open = try await OpenHome(.lamp(5))
    let home = try #require(await open.home.primaryStructure)
    let cabin = try await open.home.addStructure("Cabin")
    let (hall, loft) = (try await home.addRoom(withName: "Hall"), try await cabin.addRoom(withName: "Loft"))
    let device = try await open.device("5")
    try await home.assignAccessory(device, to: hall)
    #expect(
      await error { try await cabin.move(device: "5", to: cabin.roomForEntireHome().id) }
        == "a device of “Home” can't be moved to “Cabin”")
    #expect(
      await error { try await cabin.assignAccessory(device, to: loft) }
        == "a device of “Home” can't be moved to the room “Loft” of “Cabin”")
    #expect(try await open.device("5").room == hall)
    try await home.assignAccessory(device, to: home.roomForEntireHome())
    #expect(try await open.device("5").room == home.roomForEntireHome())
    await open.home.close()
  }

  @Test func accessoriesHaveDescription() async throws {
    let open = try await OpenHome(.lamp(5), .bridge(7))
    for (path, text) in [
      (BasicInformation.vendorName.path(on: 0), "Hearth"), (BasicInformation.productName.path(on: 0), "Lamp A19"),
      (BasicInformation.softwareVersionString.path(on: 0), "1.2.3"),
    ] { await open.process(NodeModel.report(5, path, text.tlv)) }
    let lamp = try await open.device("5")
    #expect(lamp.manufacturer == "Hearth" && lamp.model == "Lamp A19" && lamp.firmwareVersion == "1.2.3")
    #expect(lamp.uniqueIdentifier == "5" && !lamp.isBridged)
    let behind = try await open.device("7/2")
    #expect(behind.isBridged && behind.manufacturer == nil && behind.model == nil && behind.firmwareVersion == nil)
    try await behind.updateName("East")
    #expect(try await open.device("7/2").name == "East")
    await open.home.close()
  }

  @Test func identifiesAllParts() async throws {
    let home = SampleHome()
    let light = DeviceTypes.onOffLight
    home.add(SourceID(5), [SampleHome.root, SampleHome.endpoint(1, light), SampleHome.endpoint(2, light)])
    try await #require(home.device("5")).identify()
    #expect(home.calls.map(\.command.path) == ([1, 2] as [EndpointID]).map { Identify.identify.path(on: $0) })
    #expect(home.calls.allSatisfy { $0.command.fields == Identify.IdentifyRequest(identifyTime: 10).tlv })
    home.add(SourceID(6), name: "Root", [SampleHome.root])
    let root = try #require(home.device("6"))
    #expect(await error { try await root.identify() } == "the device has no Identify cluster")
  }

  /// Returns the message of the error that the body throws.
  private func error(_ body: () async throws -> Void) async -> String? {
    do { try await body() } catch { return (error as? HomeError)?.message }
    return nil
  }
}
