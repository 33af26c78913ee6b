import Foundation
import HearthHome
import MatterClusters
import MatterModel
import Testing

/// Code in the form of the samples for the Google Home APIs, HomeKit and HealthKit compiles and runs. `GoogleCommandTests`
/// of the scenarios sends its commands to a device.
@Suite("Samples of the models", .timeLimit(.minutes(10))) struct ModelSampleTests {
  @Test func googleScreenFollowsRoomsAndLight() async throws {
    let open = try await OpenHome(.lamp(5))
    let control = await LightControl(home: open.home)
    #expect(await eventually { await control.isOn == true })
    await open.process(NodeModel.report(5, OnOff.onOff.path(on: 1), [0x08]))
    #expect(await eventually { await control.isOn == false })
    try await open.home.addRoom("Hall")
    #expect(await eventually { await control.roomNames == ["Hall"] })
    #expect(await !control.hasEnded)
    await open.home.close()
    #expect(await eventually { await control.hasEnded })
  }

  @Test func googleStructureHasEdits() async throws {
    let open = try await OpenHome(.lamp(5))
    let home = open.home
    let light = try #require(try await GoogleSamples.onlineLights(home).first)
    let room = try #require(try await GoogleSamples.arrange(light, in: home))
    #expect(try await home.rooms().list() == [room] && room.name == "Study")
    let moved = try await open.device("5")
    #expect(moved.room == room && moved.roomID == room.id)
    // The room of a device has edits as well.
    #expect(try await moved.room?.setName("Den").name == "Den")
    try await GoogleSamples.removeRoom(of: moved, in: home)
    #expect(try await home.rooms().list().isEmpty)
    #expect(try await open.device("5").roomID == nil)
    let primary = try #require(await home.primaryStructure)
    #expect(try await primary.setName(String(repeating: "x", count: 61)).name.count == 60)
    await #expect(throws: HomeError.self) { try await Structure(id: primary.id, name: "Home").setName("Nest") }
    await home.close()
  }

  @Test func homeKitScreenFollowsAccessories() async throws {
    let open = try await OpenHome(.lamp(5))
    let list = await AccessoryList(open.home)
    let name = try await open.device("5").name
    #expect(await eventually { await list.names == [name] })
    await open.process(NodeModel.report(5, OnOff.onOff.path(on: 1), [0x08]))
    #expect(await eventually { await list.isOn == [name: false] })
    let room = try await open.home.addRoom("Hall")
    try await open.home.move("5", to: room.id)
    #expect(await eventually { await list.namesInRooms == ["Hall": [name]] })
    await open.process(.lost(5, .timedOut))
    #expect(await eventually { await list.unreachable == [name] })
    await open.home.close()
  }

  @Test func homeKitScreenEditsHome() async throws {
    let open = try await OpenHome(.lamp(5))
    try await open.home.follow()
    let list = await AccessoryList(open.home)
    let home = try #require(await open.home.primaryStructure)
    try await home.addRoom(withName: "Hall")
    #expect(await eventually { await list.namesInRooms == ["Hall": []] })
    let lamp = try await open.device("5")
    try await list.assign(lamp, toRoomNamed: "Hall")
    #expect(await eventually { await list.namesInRooms == ["Hall": ["Unknown"]] })
    try await list.assign(lamp, toRoomNamed: nil)
    #expect(await eventually { await list.namesInRooms == ["Hall": []] })
    #expect(await list.details(of: lamp) == ["5", "Device 5", "Home", "", "not bridged"])
    await #expect(throws: HomeError.self) { try await list.identify(lamp) }
    try await list.addHome()
    #expect(await list.namesInRooms == ["Lounge": []])
    #expect(await open.home.primaryStructure?.name == "Our Home")
    try await list.removeHome()
    #expect(try await open.home.structures().list() == [home])
    await open.home.close()
  }

  @Test func healthKitReaderReadsEverySample() async throws {
    let open = try await OpenHome(.lamp(5))
    let home = open.home
    let early = SampleReader(home, after: nil)
    _ = await early.observe()
    #expect(await eventually { await early.errors.map(\.code) == [.badArguments] }, "the home is not followed")
    try await home.follow()
    await open.process(.established(5, deadline: .max))
    let reader = SampleReader(home, after: try await home.anchor())
    let query = await reader.observe()
    for value in [0x08, 0x09, 0x08] as [UInt8] {
      await open.process(NodeModel.report(5, OnOff.onOff.path(on: 1), [value]))
    }
    #expect(await eventually { await reader.samples.map { $0.attribute?.value } == [[0x08], [0x09], [0x08]] })
    await home.stop(query)
    // The samples for HealthKit enable the delivery at each start.
    for _ in 0..<3 { try await reader.enableBackgroundDelivery() }
    #expect(try await home.backgroundDeliveries.map(\.filter.type) == [.attribute, .topology])
    #expect(try await home.backgroundDeliveries.map(\.frequency) == [.immediate, .every(.seconds(86_400))])
    await open.process(NodeModel.report(5, OnOff.onOff.path(on: 1), [0x09]))
    let end = try await home.anchor()
    #expect(await eventually { (try? await home.backgroundDeliveries.first)?.anchor == end }, "the command has run")
    #expect(try await home.backgroundDeliveries.map(\.failure) == [nil, nil])
    try await reader.disableBackgroundDelivery()
    #expect(try await home.backgroundDeliveries.isEmpty)
    await home.close()
  }
}
