import HearthHome
import HomeAutomation
import HomeControl
import HomeModel
import MatterClusters
import MatterModel
import Synchronization
import Testing

/// The article “The home model”, “Observing”, on an open home.
@Suite("Queries", .timeLimit(.minutes(10))) struct QueryTests {
  private typealias Batches = CollectionSnapshots<HomeDevice>
  private typealias Changes = CollectionChanges<HomeDevice>

  private let level = LevelControl.currentLevel.path(on: 1)
  private let isOn = OnOff.onOff.path(on: 1)

  /// "+5 Lamp", "5 Lamp > Desk", "-5".
  private func text(_ change: CollectionChange<HomeDevice>) -> String {
    switch change {
    case .added(let new): "+\(new.id) \(new.name)"
    case .updated(let old, let new):
      "\(old.id) \(old.name) \(old.sourceConnectivity.connectivityState) > "
        + "\(new.name) \(new.sourceConnectivity.connectivityState)"
    case .removed(let old): "-\(old.id) \(old.name)"
    }
  }

  // MARK: Collections

  @Test func listReturnsSnapshot() async throws {
    let open = try await OpenHome(.lamp(5), .bridge(7))
    let devices = try await open.home.devices().list()
    #expect(devices.map(\.id) == ["5", "7", "7/2", "7/3"])
    #expect(try await open.home.structures().list().map(\.id) == ["home"])
    #expect(try await open.home.rooms().list() == [])
    let room = try await open.home.addRoom("Hall")
    try await open.home.move("5", to: room.id)
    #expect(try await open.home.rooms().list() == [room])
    #expect(try await open.home.device(id: "5").list().map(\.roomID) == [room.id])
    #expect(devices.map(\.roomID) == [nil, nil, nil, nil])
    #expect(try await open.home.device(id: "6").list().isEmpty)
    #expect(await open.home.devices(having: OnOffTrait.self).map(\.id) == ["5", "7/2", "7/3"])
    #expect(await open.home.devices(having: BridgedDeviceBasicInformationTrait.self).map(\.id) == ["7/2", "7/3"])
    #expect(await open.home.devices(having: LevelControlTrait.self).isEmpty)
    await open.home.close()
  }

  @Test func deliversBatchesAtOnceAndAfterChanges() async throws {
    let open = try await OpenHome(.lamp(5))
    let batches = open.home.devices().batched().makeAsyncIterator()
    let rooms = open.home.rooms().batched().makeAsyncIterator()
    try await open.home.rename("5", to: "Desk")
    // None of these changes the collection.
    await open.process(NodeModel.report(5, isOn, false.tlv))
    await open.process(.heard(5, deadline: 9))
    await open.process(.established(5, deadline: 9))
    try await open.home.rename("5", to: "Desk")
    await open.meet(.lamp(6))
    await open.process(.nodeRemoved(6))
    let room = try await open.home.addRoom("Hall")
    try await open.home.renameRoom(room.id, to: "Porch")
    try await open.home.removeRoom(room.id)
    await open.home.close()
    let seen = await rest(batches, of: Batches.self)
    // A new device is added, and then goes online.
    #expect(
      seen.map { $0.map { "\($0.name) \($0.sourceConnectivity.connectivityState)" } } == [
        ["Device 5 online"], ["Desk online"], ["Desk online", "Device 6 unknown"], ["Desk online", "Device 6 online"],
        ["Desk online"],
      ])
    #expect(
      await rest(rooms, of: CollectionSnapshots<Room>.self).map { $0.map(\.name) } == [[], ["Hall"], ["Porch"], []])
  }

  @Test func deliversChangesOfStructuresAndRooms() async throws {
    let open = try await OpenHome(.lamp(5))
    let batches = open.home.structures().batched().makeAsyncIterator()
    let structures = open.home.structures().stream().makeAsyncIterator()
    let rooms = open.home.rooms().stream().makeAsyncIterator()
    let manager = HomeManager(open.home)
    try await open.home.renameStructure("home", to: "Nest")
    // None of these changes the collection.
    try await open.home.renameStructure("home", to: "Nest")
    await open.process(.lost(5, .subscriptionLost))
    let cabin = try await manager.addHome(withName: "Cabin")
    try await manager.updatePrimaryHome(cabin)
    let room = try await manager.addRoom("Hall")
    try await manager.renameRoom(room.id, to: "Porch")
    try await manager.removeHome(cabin)
    await open.home.close()
    #expect(
      await rest(batches, of: CollectionSnapshots<Structure>.self).map { $0.map(\.name) } == [
        ["Home"], ["Nest"], ["Nest", "Cabin"], ["Nest"],
      ])
    func text<Item>(_ change: CollectionChange<Item>, _ name: (Item) -> String) -> String {
      switch change {
      case .added(let new): "+\(name(new))"
      case .updated(let old, let new): "\(name(old)) > \(name(new))"
      case .removed(let old): "-\(name(old))"
      }
    }
    #expect(
      await rest(structures, of: CollectionChanges<Structure>.self).map { text($0, \.name) }
        == ["Home > Nest", "+Cabin", "-Cabin"])
    #expect(
      await rest(rooms, of: CollectionChanges<Room>.self).map { text($0, \.name) } == [
        "+Hall", "Hall > Porch", "-Porch",
      ])
  }

  @Test func streamsChangesOfOneDeviceInOrder() async throws {
    let open = try await OpenHome(.lamp(5))
    let one = open.home.device(id: "5").stream().makeAsyncIterator()
    let oneBatched = open.home.device(id: "5").batched().makeAsyncIterator()
    await open.meet(.bridge(7))
    await open.process(.lost(5, .subscriptionLost))
    await open.process(NodeModel.report(7, BridgedDeviceBasicInformation.reachable.path(on: 3), false.tlv))
    await open.process(.nodeRemoved(5))
    // Changes of one device are produced on a separate task: closing the home loses none of them.
    await open.home.close()
    #expect(
      await rest(one, of: Changes.self).map(text) == ["5 Device 5 online > Device 5 offline", "-5 Device 5"])
    #expect(
      await rest(oneBatched, of: Batches.self).map { $0.map(\.sourceConnectivity.connectivityState) }
        == [[.online], [.offline], []])
  }

  @Test func streamsChangesOfAllDevicesInOrder() async throws {
    let open = try await OpenHome(.lamp(5), .bridge(7))
    let changes = open.home.devices().stream().makeAsyncIterator()
    try await open.home.rename("7/3", to: "East")
    await open.process(.lost(5, .subscriptionLost))
    try await open.home.rename("5", to: "Desk")
    await open.process(NodeModel.report(7, BridgedDeviceBasicInformation.reachable.path(on: 2), false.tlv))
    await open.process(.established(5, deadline: 9))
    await open.process(.lost(7, .subscriptionLost))
    await open.meet(.lamp(6))
    await open.process(.nodeRemoved(7))
    await open.process(.nodeRemoved(5))
    await open.home.close()
    #expect(
      await rest(changes, of: Changes.self).map(text) == [
        "7/3 Right online > East online", "5 Device 5 online > Device 5 offline",
        "5 Device 5 offline > Desk offline", "7/2 Left online > Left offline", "5 Desk offline > Desk online",
        // One update of several devices: node by node, endpoint by endpoint.
        "7 Device 7 online > Device 7 offline", "7/3 East online > East offline", "+6 Device 6",
        "6 Device 6 unknown > Device 6 online", "-7/3 East", "-7/2 Left", "-7 Device 7", "-5 Desk",
      ])
  }

  @Test func metadataChangesForFiveReasonsOnly() async throws {
    var lamp = NodeModel.lamp(5)
    lamp[level] = Nullable<UInt8>.value(1).tlv
    let open = try await OpenHome(lamp)
    let room = try await open.home.addRoom("Hall")
    let changes = open.home.devices().stream().makeAsyncIterator()
    // No reasons: attributes, the identity and label of the device, client clusters, contact, names of rooms.
    await open.process(NodeModel.report(5, isOn, false.tlv))
    await open.process(NodeModel.report(5, BasicInformation.nodeLabel.path(on: 0), "Own name".tlv))
    await open.process(NodeModel.report(5, Descriptor.clientList.path(on: 1), [ClusterID(3)].tlv))
    await open.process(.heard(5, deadline: 9))
    try await open.home.renameRoom(room.id, to: "Porch")
    // The five reasons.
    await open.process(.lost(5, .subscriptionLost))
    try await open.home.rename("5", to: "Desk")
    try await open.home.move("5", to: room.id)
    lamp.endpoints[1]?.clusters[LevelControl.id] = nil
    await open.process(lamp.report(of: [1]))
    lamp.endpoints[1]?.types = [DeviceTypes.onOffPlugInUnit.id]
    await open.process(lamp.report(of: [1]))
    // A change of the offline reason is none.
    await open.process(.lost(5, .sessionRefused))
    await open.home.close()
    let seen = await rest(changes, of: Changes.self).map { change -> [String] in
      guard case .updated(let old, let new) = change else { return ["\(change)"] }
      var reasons: [String] = []
      if old.sourceConnectivity != new.sourceConnectivity { reasons.append("connectivity") }
      if old.name != new.name { reasons.append("name") }
      if old.roomID != new.roomID { reasons.append("room") }
      if old.traits.ids != new.traits.ids { reasons.append("traits") }
      if old.types.map(\.id) != new.types.map(\.id) { reasons.append("types") }
      return reasons
    }
    #expect(seen == [["connectivity"], ["name"], ["room"], ["traits"], ["types"]])
  }

  @Test func unreachablePartChangesDevice() async throws {
    var bridge = NodeModel.bridge(7)
    bridge.endpoints[0]?.parts.append(4)
    bridge.endpoints[1]?.parts.append(4)
    bridge.addBridged(2, "Composed", parts: [4])
    bridge.addLight(4)
    let reachable = BridgedDeviceBasicInformation.reachable.path(on: 4)
    bridge[reachable] = true.tlv
    let open = try await OpenHome(bridge)
    let changes = open.home.devices().stream().makeAsyncIterator()
    await open.process(NodeModel.report(7, reachable, false.tlv))
    await open.home.close()
    #expect(
      await rest(changes, of: Changes.self).map(text) == ["7/2 Composed online > Composed partiallyOnline"])
  }

  /// A change of the settled connectivity is not a change of the device, but an update of the home.
  @Test func settledStateIsNoReason() async throws {
    let open = try await OpenHome(.lamp(5), grace: .milliseconds(50))
    let batches = open.home.devices().batched().makeAsyncIterator()
    let updates = open.home.updates()
    await open.process(.lost(5, .subscriptionLost))
    #expect(
      await eventually {
        await open.home.backend.device("5")?.settledConnectivity.connectivityState == .offline
      })
    await open.home.close()
    let seen = await rest(batches, of: Batches.self).flatMap { $0 }
    #expect(seen.map(\.sourceConnectivity.connectivityState) == [.online, .offline])
    #expect(seen.map(\.settledConnectivity.connectivityState) == [.online, .online])
    let settled = await rest(updates.makeAsyncIterator(), of: HomeEvents.self).filter { !$0.settled.isEmpty }
    #expect(settled.map(\.settled) == [["5"]])
  }

  // MARK: Types

  @Test func typeSubscriptionDeliversOneValuePerReport() async throws {
    var lamp = NodeModel.lamp(5)
    lamp[level] = Nullable<UInt8>.value(1).tlv
    let open = try await OpenHome(lamp)
    let device = try await open.device("5")
    let updates = device.types.subscribe(OnOffLightDeviceType.self).makeAsyncIterator()
    let none = device.types.subscribe(DimmableLightDeviceType.self).makeAsyncIterator()
    // Two attributes in one report, the same report again, an attribute of another endpoint, the device's name.
    lamp[level] = Nullable<UInt8>.value(2).tlv
    lamp[isOn] = false.tlv
    await open.process(lamp.report())
    await open.process(lamp.report())
    await open.process(NodeModel.report(5, BasicInformation.nodeLabel.path(on: 0), "x".tlv))
    try await open.home.rename("5", to: "Desk")
    await open.process(NodeModel.report(5, level, Nullable<UInt8>.value(3).tlv))
    await open.process(.lost(5, .subscriptionLost))
    #expect(await rest(none, of: DeviceUpdates<DimmableLightDeviceType>.self).isEmpty)
    await open.process(.nodeRemoved(5))
    let seen = await rest(updates, of: DeviceUpdates<OnOffLightDeviceType>.self)
    #expect(seen.map { $0.matterTraits.onOffTrait?.attributes.onOff } == [true, false, false, false])
    #expect(seen.map { $0.matterTraits.levelControlTrait?.attributes.currentLevel } == [1, 2, 3, 3])
    #expect(seen.map(\.metadata.sourceConnectivity.connectivityState) == [.online, .online, .online, .offline])
    await open.home.close()
  }

  @Test func typeSubscriptionSwitchesToOtherSource() async throws {
    let open = try await OpenHome(.lamp(5, uniqueID: "lamp"), .lamp(6, uniqueID: "lamp"))
    #expect(try await open.home.devices().list().map(\.id) == ["5"])
    let updates = try await open.device("5").types.subscribeAll().makeAsyncIterator()
    await open.process(NodeModel.report(6, isOn, false.tlv))
    await open.process(.nodeRemoved(5))
    await open.home.close()
    let seen = await rest(updates, of: DeviceUpdates<DeviceTypeCollection>.self)
    #expect(seen.map { $0.get(OnOffLightDeviceType.self)?.matterTraits.onOffTrait?.attributes.onOff } == [true, false])
  }

  // MARK: Observers

  private final class Recorder: Sendable {
    let values = Mutex<[String]>([])
    var all: [String] { values.withLock { $0 } }
  }

  @Test func sinkEndsWhenHandleIsCanceledOrReleased() async throws {
    let open = try await OpenHome(.lamp(5))
    let (canceled, released) = (Recorder(), Recorder())
    // Retained by the closures, as long as these may be called.
    var token: Recorder? = Recorder()
    weak let retained = token
    let handle = open.home.devices().batched().sink { [token] devices in
      withExtendedLifetime(token) { canceled.values.withLock { $0.append(devices[0].name) } }
    }
    var other: ObservationHandle? = open.home.devices().stream().sink { [token] change in
      withExtendedLifetime(token) { released.values.withLock { $0.append(change.item.name) } }
    }
    token = nil
    try await open.home.rename("5", to: "A")
    #expect(await eventually { canceled.all == ["Device 5", "A"] && released.all == ["A"] })
    handle.cancel()
    try await open.home.rename("5", to: "B")
    #expect(await eventually { released.all == ["A", "B"] })
    #expect(other != nil)
    other = nil
    #expect(await eventually { retained == nil })
    try await open.home.rename("5", to: "C")
    #expect(canceled.all == ["Device 5", "A"] && released.all == ["A", "B"])
    await open.home.close()
  }

  @Test func slowObserverDelaysNoOther() async throws {
    let open = try await OpenHome(.lamp(5))
    let slow = open.home.devices().stream().makeAsyncIterator()
    let (stuck, fast) = (Recorder(), Recorder())
    let first = open.home.devices().batched().sink { _ in
      stuck.values.withLock { $0.append("") }
      // Until it is canceled.
      try? await Task.sleep(for: .seconds(3600))
    }
    let second = open.home.devices().stream().sink { change in fast.values.withLock { $0.append(change.item.name) } }
    let names = (0..<100).map { "N\($0)" }
    for name in names { try await open.home.rename("5", to: name) }
    #expect(await eventually { fast.all == names })
    #expect(stuck.all.count == 1)
    first.cancel()
    second.cancel()
    await open.home.close()
    // The slow observer gets all changes.
    #expect(await rest(slow, of: Changes.self).map(\.item.name) == names)
  }

  @Test func sequencesOfClosedHomeEndAtOnce() async throws {
    let open = try await OpenHome(.lamp(5))
    let device = try await open.device("5")
    await open.home.close()
    #expect(await rest(open.home.devices().batched().makeAsyncIterator(), of: Batches.self).isEmpty)
    let types = device.types.subscribe(OnOffLightDeviceType.self).makeAsyncIterator()
    #expect(await rest(types, of: DeviceUpdates<OnOffLightDeviceType>.self).isEmpty)
  }

  @Test("describes devices and sequences by a few words") func descriptionsAreShort() async throws {
    let open = try await OpenHome(.lamp(5))
    let devices = open.home.devices()
    #expect("\(try await open.device("5"))" == "Device 5 (5)")
    #expect("\(devices)" == "Query<HomeDevice>")
    #expect("\(devices.stream())" == "CollectionChanges<HomeDevice>")
    #expect("\(devices.batched())" == "CollectionSnapshots<HomeDevice>")
    await open.home.close()
  }

  @Test func createsObserverQueryWithoutPredicate() {
    let query = ObserverQuery(sampleType: .attribute, predicate: nil) { _, completion, _ in completion() }
    var all = SampleFilter.all
    all.type = .attribute
    #expect(query.sampleType == .attribute && query.predicate == all)
  }

  // MARK: Names

  @Test func setNameReturnsNewValue() async throws {
    let open = try await OpenHome(.lamp(5), .lamp(6))
    let device = try await open.device("5")
    let renamed = try await device.setName("Desk")
    #expect(renamed.name == "Desk" && !renamed.isNameTruncated)
    #expect(device.name == "Device 5" && device != renamed)
    let long = try await renamed.setName(String(repeating: "ä", count: 70))
    #expect(long.isNameTruncated && long.name == String(repeating: "ä", count: 60))
    await #expect(throws: HomeError.self) { try await open.device("6").setName(long.name) }
    await #expect(throws: HomeError.self) { try await device.setName(" ") }
    let current = try await open.device("5")
    #expect(current.name == long.name && !current.isNameTruncated)
    await open.home.close()
  }

  @Test func nameIsIndependentOfNodeLabel() async throws {
    var lamp = NodeModel.lamp(5)
    lamp[BasicInformation.nodeLabel.path(on: 0)] = "Own".tlv
    let open = try await OpenHome(lamp)
    func names() async throws -> [String?] {
      let device = try await open.device("5")
      return [device.name, device.basicInformation?.attributes.nodeLabel, device.identity.nodeLabel]
    }
    // The initial name is the node label.
    #expect(try await names() == ["Own", "Own", "Own"])
    _ = try await open.device("5").setName(String(repeating: "x", count: 40))
    #expect(try await names() == [String(repeating: "x", count: 40), "Own", "Own"])
    await open.process(NodeModel.report(5, BasicInformation.nodeLabel.path(on: 0), "Other".tlv))
    #expect(try await names().prefix(2) == [String(repeating: "x", count: 40), "Other"])
    await open.home.close()
  }
}
