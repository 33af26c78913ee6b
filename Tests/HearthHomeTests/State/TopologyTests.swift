import HearthHome
import HomeText
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import HomeModel

/// Mapping of nodes to devices, and its changes.
@Suite("Topology") struct TopologyTests {
  private let isOn3 = OnOff.onOff.path(on: 3)

  @Test func addsAndRemovesBridgedDevices() {
    var home = CheckedReducer()
    var bridge = NodeModel.bridge(7)
    home.meet(bridge)
    #expect(home.ids == ["7", "7/2", "7/3"])
    #expect(home.state.devices["7/3"]?.name == "Right")
    #expect(home.state.value(7, isOn3) == true.tlv)

    bridge.endpoints[3] = nil
    bridge.endpoints[0]?.parts = [1, 2]
    bridge.endpoints[1]?.parts = [2]
    let removal = home.process(bridge.report())
    #expect(removal?.changes.contains(.deviceRemoved(id: "7/3")) == true)
    #expect(home.ids == ["7", "7/2"])
    #expect(home.state.values[7]?.endpointIDs == [0, 1, 2])

    bridge.addBridged(4, "New", isReachable: false)
    bridge.endpoints[0]?.parts = [1, 2, 4]
    bridge.endpoints[1]?.parts = [2, 4]
    home.process(bridge.report())
    #expect(home.ids == ["7", "7/2", "7/4"])
    // With the state that the bridge reports.
    #expect(home.status("7/4")?.reason == .bridgeSaysUnreachable)
    #expect(home.connectivity("7/2") == .online)
    #expect(home.faults.isEmpty)
  }

  /// A reader that applies the changes one by one, as the log does, can assign each value to a device.
  @Test func newDevicesPrecedeTheirValues() throws {
    var home = CheckedReducer()
    var bridge = NodeModel.bridge(7)
    var known = HomeState()
    func read(_ update: HomeUpdate?) throws {
      for change in try #require(update).changes {
        if case .attribute = change {
          let owner = known.deviceID(about: change)
          #expect(owner != nil && owner == home.state.deviceID(about: change), "\(change)")
        }
        known.apply(change)
      }
      #expect(known == home.state)
    }
    try read(home.process(bridge.report()))
    bridge.addBridged(4, "New")
    bridge.endpoints[0]?.parts = [1, 2, 3, 4]
    bridge.endpoints[1]?.parts = [2, 3, 4]
    try read(home.process(bridge.report()))
    #expect(home.ids == ["7", "7/2", "7/3", "7/4"])
  }

  @Test(arguments: [true, false]) func supportsFlatAndTreePartsLists(_ isTree: Bool) {
    var home = CheckedReducer()
    // Endpoint 1 is an aggregator with a composed device, 2, of 3 and 4, and a nested bridge, 5, with 6.
    var bridge = NodeModel(7, parts: isTree ? [1] : [1, 2, 3, 4, 5, 6])
    bridge.endpoints[1] = .init(types: [DeviceTypes.aggregator.id], parts: isTree ? [2, 5] : [2, 3, 4, 5, 6])
    bridge.addBridged(2, "Composed", parts: [3, 4])
    bridge.addLight(3)
    bridge.addLight(4)
    bridge.addBridged(5, "Inner bridge", parts: [6])
    bridge.addBridged(6, "Nested")
    home.meet(bridge)
    #expect(home.ids == ["7", "7/2", "7/5", "7/6"])
    #expect(home.state.devices["7"]?.active?.endpoints.map(\.id) == [0, 1])
    #expect(home.state.devices["7/2"]?.active?.endpoints.map(\.id) == [2, 3, 4])
    #expect(home.state.devices["7/5"]?.active?.endpoints.map(\.id) == [5])
    #expect(home.state.devices["7/6"]?.active?.endpoints.map(\.id) == [6])
    // Devices behind an unreachable nested bridge are unreachable.
    home.process(NodeModel.report(7, BridgedDeviceBasicInformation.reachable.path(on: 5), false.tlv))
    #expect(home.connectivity("7/5") == .offline)
    #expect(home.status("7/6")?.reason == .bridgeSaysUnreachable)
    #expect(home.connectivity("7/2") == .online)
    home.process(NodeModel.report(7, BridgedDeviceBasicInformation.reachable.path(on: 5), true.tlv))
    #expect(home.connectivity("7/6") == .online)
    #expect(home.faults.isEmpty)
  }

  @Test func partialReportsRemoveNoEndpoints() {
    var home = CheckedReducer()
    let bridge = NodeModel.bridge(7)
    home.meet(bridge)
    let before = home.state
    // Some endpoints; one attribute; a parts list with an endpoint that is not described yet.
    home.process(bridge.report(of: [0], isWhole: false))
    home.process(bridge.report(of: [2], isWhole: false))
    #expect(home.state == before)
    var larger = bridge
    larger.endpoints[0]?.parts = [1, 2, 3, 4]
    larger.endpoints[1]?.parts = [2, 3, 4]
    home.process(larger.report(of: [0, 1], isWhole: false))
    #expect(home.ids == ["7", "7/2", "7/3"])
    #expect(home.state.devices["7"]?.active?.endpoints == before.devices["7"]?.active?.endpoints)
    larger.addBridged(4, "New")
    home.process(larger.report(of: [4], isWhole: false))
    #expect(home.ids == ["7", "7/2", "7/3", "7/4"])
    #expect(home.faults.isEmpty)
  }

  @Test func newNodeBecomesDeviceOnceDescribed() {
    var home = CheckedReducer()
    let lamp = NodeModel.lamp(5)
    home.process(.established(5, deadline: 9))
    home.process(lamp.report(of: [1], isWhole: false))
    #expect(home.ids.isEmpty)
    home.process(lamp.report(of: [0], isWhole: false))
    #expect(home.state.devices["5"]?.name == "Device 5")
    // The node was online before it became a device.
    #expect(home.connectivity("5") == .online)
    #expect(home.faults.isEmpty)
  }

  @Test func removesValuesOfRemovedCluster() {
    var home = CheckedReducer()
    var lamp = NodeModel.lamp(5)
    lamp[LevelControl.currentLevel.path(on: 1)] = Nullable<UInt8>.value(3).tlv
    home.meet(lamp)
    #expect(home.state.value(5, LevelControl.currentLevel.path(on: 1)) != nil)
    lamp.endpoints[1]?.clusters[LevelControl.id] = nil
    let update = home.process(lamp.report(of: [1]))
    #expect(update?.changes.contains(.attribute(5, LevelControl.currentLevel.path(on: 1), value: nil)) == true)
    #expect(home.state.value(5, LevelControl.currentLevel.path(on: 1)) == nil)
    #expect(home.state.value(5, OnOff.onOff.path(on: 1)) != nil)
    // The same for a removed endpoint.
    lamp.endpoints[1] = nil
    lamp.endpoints[0]?.parts = []
    home.process(lamp.report())
    #expect(home.state.values[5]?.endpointIDs == [0])
    #expect(home.state.devices["5"]?.active?.endpoints.map(\.id) == [0])
    #expect(home.faults.isEmpty)
  }

  @Test func endpointKeepsValuesInAnotherDevice() {
    var home = CheckedReducer()
    var bridge = NodeModel.bridge(7)
    home.meet(bridge)
    // Endpoint 3 is no longer a separate device, but a part of the bridge.
    bridge.endpoints[3]?.types = [DeviceTypes.onOffLight.id]
    home.process(bridge.report(of: [3]))
    #expect(home.ids == ["7", "7/2"])
    #expect(home.state.devices["7"]?.active?.endpoints.map(\.id) == [0, 1, 3])
    #expect(home.state.value(7, isOn3) == true.tlv)
    #expect(home.faults.isEmpty)
  }

  @Test func removesAllDevicesOfNode() {
    var home = CheckedReducer()
    home.meet(.bridge(7))
    home.meet(.lamp(5))
    home.process(.nodeRemoved(7))
    #expect(home.ids == ["5"])
    #expect(home.state.values[7] == nil && home.reducer.contacts[7] == nil)
    #expect(home.faults.isEmpty)
  }

  @Test func numbersThousandEqualNames() {
    var state = HomeState()
    state.apply(.structureAdded(HomeReducer.firstStructure))
    for number in 0..<1_000 {
      let name = state.availableName("Light", in: nil, of: "home", except: "\(number)")
      state.apply(.deviceAdded(id: "\(number)", name: name, roomID: nil, structureID: "home"))
    }
    #expect(state.devices["0"]?.name == "Light" && state.devices["999"]?.name == "Light 1000")
    #expect(Set(state.devices.values.map(\.name)).count == 1_000)
  }

  // MARK: Several sources of one device

  @Test func mergesSourcesWithSameUniqueID() {
    var home = CheckedReducer()
    // As a node, with its vendor, and behind a bridge that knows only the unique id.
    home.meet(.lamp(5, uniqueID: "lamp", vendor: 0xFFF1))
    var bridge = NodeModel.bridge(7)
    bridge[BridgedDeviceBasicInformation.uniqueID.path(on: 3)] = "lamp".tlv
    home.meet(bridge)
    #expect(home.ids == ["5", "7", "7/2"])
    #expect(home.state.devices["5"]?.sources.map(\.id) == [SourceID(5), SourceID(7, 3)])
    #expect(home.state.devices["5"]?.active?.id == SourceID(5))
    // The reachable source is the active one.
    home.process(.lost(5, .subscriptionLost))
    #expect(home.state.devices["5"]?.active?.id == SourceID(7, 3))
    #expect(home.reducer.settledConnectivity(of: "5").connectivityState == .online)
    home.process(.lost(7, .subscriptionLost))
    #expect(home.state.devices["5"]?.active?.id == SourceID(5))
    #expect(home.reducer.settledConnectivity(of: "5").connectivityState == .offline)
    // One source is removed; the device keeps its id and name.
    home.process(.nodeRemoved(5))
    #expect(home.state.devices["5"]?.sources.map(\.id) == [SourceID(7, 3)])
    #expect(home.faults.isEmpty)
  }

  @Test func separatesDevicesOfDifferentVendors() {
    var home = CheckedReducer()
    home.meet(.lamp(5, uniqueID: "1", vendor: 0xFFF1))
    home.meet(.lamp(6, uniqueID: "1", vendor: 0xFFF2))
    home.meet(.lamp(8, uniqueID: "", vendor: 0xFFF1))
    home.meet(.lamp(9, uniqueID: "", vendor: 0xFFF1))
    #expect(home.ids == ["5", "6", "8", "9"])
  }

  @Test func keepsValuesOfMergedDevice() {
    var home = CheckedReducer()
    home.meet(.lamp(5, uniqueID: "lamp"))
    home.meet(.bridge(7))
    home.process(NodeModel.report(7, BridgedDeviceBasicInformation.uniqueID.path(on: 3), "lamp".tlv))
    #expect(home.ids == ["5", "7", "7/2"])
    #expect(home.state.devices["5"]?.sources.map(\.id) == [SourceID(5), SourceID(7, 3)])
    #expect(home.state.value(7, isOn3) == true.tlv)
    #expect(home.state.source(SourceID(7, 3))?.status.connectivity == SourceConnectivity(.online, .peer))
    #expect(home.faults.isEmpty)
  }

  @Test func appliesNameAndRoomToMergedDevice() {
    var home = CheckedReducer()
    var bridge = NodeModel.bridge(7)
    bridge[BridgedDeviceBasicInformation.uniqueID.path(on: 3)] = "lamp".tlv
    home.meet(bridge)
    let rooms = [
      Room(id: "k", name: "Kitchen", structureID: "home"), Room(id: "c", name: "Kitchen", structureID: "cottage"),
    ]
    home.process(
      .update(
        HomeUpdate([.structureAdded(Structure(id: "cottage", name: "Cottage"))] + rooms.map { .roomAdded($0) }, at: 1)))
    home.meet(.lamp(9, uniqueID: "lamp"), name: "Left", roomID: "k")
    #expect(home.ids == ["7", "7/2", "7/3"])
    let lamp = home.state.devices["7/3"]
    #expect(lamp?.sources.map(\.id) == [SourceID(7, 3), SourceID(9)])
    #expect(lamp?.name == "Left" && lamp?.roomID == "k")
    // A source without a bridge is preferred.
    #expect(lamp?.active?.id == SourceID(9))
    home.process(.lost(9, .timedOut))
    #expect(home.state.devices["7/3"]?.active?.id == SourceID(7, 3))
    // A third source: a room of another structure is ignored, and a name that is in use gets a number.
    home.process(
      .update(HomeUpdate([.deviceMoved(id: "7/2", roomID: "k"), .deviceRenamed(id: "7/2", name: "Desk")], at: 1)))
    home.meet(.lamp(11, uniqueID: "lamp"), name: "desk", roomID: "c")
    #expect(home.state.devices["7/3"]?.sources.count == 3)
    #expect(home.state.devices["7/3"]?.name == "desk 2" && home.state.devices["7/3"]?.roomID == "k")
    home.meet(.lamp(12, uniqueID: "lamp"))
    #expect(home.state.devices["7/3"]?.name == "desk 2")
    // The device is in the home before it is commissioned.
    home.meet(.lamp(13))
    #expect(home.state.devices["13"]?.name == "Device 13")
    home.process(NodeModel.lamp(13).commissioned(name: "Shelf", roomID: "k"))
    #expect(home.state.devices["13"]?.name == "Shelf" && home.state.devices["13"]?.roomID == "k")
    #expect(home.faults.isEmpty)
  }

  @Test func reusedEndpointIsNewDevice() throws {
    var home = CheckedReducer()
    let uniqueID = BridgedDeviceBasicInformation.uniqueID.path(on: 3)
    var bridge = NodeModel.bridge(7)
    bridge[uniqueID] = "lamp".tlv
    home.meet(bridge)
    home.meet(.lamp(9, uniqueID: "lamp"))
    home.process(.update(HomeUpdate([.deviceRenamed(id: "7/3", name: "Desk")], at: 1)))
    #expect(home.ids == ["7", "7/2", "7/3"])
    // The bridge removes the endpoint, and later has another device there.
    var without = bridge
    without.endpoints[3] = nil
    without.endpoints[0]?.parts = [1, 2]
    without.endpoints[1]?.parts = [2]
    home.process(without.report())
    #expect(home.state.devices["7/3"]?.sources.map(\.id) == [SourceID(9)])
    bridge[uniqueID] = nil
    bridge[isOn3] = false.tlv
    home.process(bridge.report())
    #expect(home.ids == ["7", "7/2", "7/3-2", "7/3"])
    #expect(home.state.devices["7/3-2"]?.sources.map(\.id) == [SourceID(7, 3)])
    #expect(home.state.devices["7/3-2"]?.name == "Right" && home.connectivity("7/3-2") == .online)
    #expect(home.state.devices["7/3"]?.sources.map(\.id) == [SourceID(9)])
    #expect(home.state.devices["7/3"]?.name == "Desk")
    // The node and endpoint number is ambiguous now.
    let registry = HomeRegistry(home.state)
    let error = #expect(throws: HomeError.self) { try registry.resolve("7/3") }
    #expect(error?.code == .ambiguousTarget && error?.candidates == ["Desk (node 9)", "Right (node 7/3-2)"])
    #expect(try registry.resolve("7/3-2").device.name == "Right")
    #expect(try registry.resolve("9").device.name == "Desk")
    // The bridge removes the endpoint again, and then adds the original device.
    home.process(without.report())
    #expect(home.ids == ["7", "7/2", "7/3"])
    bridge[uniqueID] = "lamp".tlv
    home.process(bridge.report())
    #expect(home.ids == ["7", "7/2", "7/3"] && home.state.devices["7/3"]?.sources.count == 2)
    #expect(home.faults.isEmpty)
  }

  @Test func replacedBridgedDeviceIsNewDevice() throws {
    var home = CheckedReducer()
    let uniqueID = BridgedDeviceBasicInformation.uniqueID.path(on: 3)
    var bridge = NodeModel.bridge(7)
    bridge[uniqueID] = "lamp".tlv
    home.meet(bridge)
    home.meet(.lamp(9, uniqueID: "lamp"))
    // The removal was not observed.
    bridge[uniqueID] = "fan".tlv
    bridge[isOn3] = false.tlv
    home.process(bridge.report())
    #expect(home.ids == ["7", "7/2", "7/3-2", "7/3"])
    #expect(home.state.devices["7/3"]?.sources.map(\.id) == [SourceID(9)])
    #expect(home.state.value(7, isOn3) == false.tlv && home.connectivity("7/3-2") == .online)
    // A device with a single source keeps its identity when the unique id changes, because nothing indicates another
    // device.
    bridge[uniqueID] = "other".tlv
    home.process(bridge.report())
    #expect(home.ids == ["7", "7/2", "7/3-2", "7/3"])
    #expect(home.faults.isEmpty)
    let scratch = try TestDatabase()
    let database = try scratch.open()
    try database.commit(home.log)
    #expect(try database.load().state == home.state)
  }

  @Test func mergeKeepsNameAndRoomSetByUser() {
    func merged(_ changes: [HomeChange]) -> CheckedReducer {
      var home = CheckedReducer()
      home.meet(.lamp(5, uniqueID: "lamp"))
      home.meet(.lamp(9))
      let structure: [HomeChange] = [
        .structureAdded(Structure(id: "cottage", name: "Cottage")),
        .roomAdded(Room(id: "k", name: "Kitchen", structureID: "home")),
        .roomAdded(Room(id: "h", name: "Hall", structureID: "home")),
      ]
      home.process(.update(HomeUpdate(structure + changes, at: 1)))
      home.process(NodeModel.report(9, BasicInformation.uniqueID.path(on: 0), "lamp".tlv))
      #expect(home.state.devices.count == 1 && home.faults.isEmpty)
      #expect(home.state.devices.values.first?.sources.map(\.id) == [SourceID(5), SourceID(9)])
      return home
    }
    // No choice by the user; the choice for the newer device; that for the older device takes precedence.
    #expect(merged([]).state.devices["5"]?.name == "Device 5")
    let named = HomeChange.deviceRenamed(id: "9", name: "Desk")
    let moved = HomeChange.deviceMoved(id: "9", roomID: "k")
    var lamp = merged([named, moved]).state.devices["5"]
    #expect(lamp?.name == "Desk" && lamp?.roomID == "k")
    lamp = merged([named, moved, .deviceRenamed(id: "5", name: "Shelf")]).state.devices["5"]
    #expect(lamp?.name == "Shelf" && lamp?.roomID == "k")
    lamp = merged([named, moved, .deviceMoved(id: "5", roomID: "h")]).state.devices["5"]
    #expect(lamp?.name == "Desk" && lamp?.roomID == "h")
    // A device in a room of another structure stays there.
    var home = CheckedReducer()
    home.meet(.lamp(5, uniqueID: "lamp"))
    let cottage: [HomeChange] = [
      .structureAdded(Structure(id: "cottage", name: "Cottage")),
      .roomAdded(Room(id: "b", name: "Bath", structureID: "cottage")),
    ]
    home.process(.update(HomeUpdate(cottage, at: 1)))
    home.meet(.lamp(9), name: "Mirror", roomID: "b")
    home.process(NodeModel.report(9, BasicInformation.uniqueID.path(on: 0), "lamp".tlv))
    lamp = home.state.devices["9"]
    #expect(home.ids == ["9"] && lamp?.sources.map(\.id) == [SourceID(5), SourceID(9)])
    #expect(lamp?.name == "Mirror" && lamp?.roomID == "b" && lamp?.structureID == "cottage")
    #expect(home.connectivity("9") == .online && home.faults.isEmpty)
  }

  @Test func recognizesGeneratedNames() {
    let long = String(repeating: "x", count: 60)
    #expect(HomeNames.isNumbered("Lamp", "Lamp") && HomeNames.isNumbered("Lamp 12", "Lamp"))
    #expect(HomeNames.isNumbered("Lamp 2", "Lamp 2") && !HomeNames.isNumbered("Lamp 1", "Lamp"))
    #expect(!HomeNames.isNumbered("Lamps", "Lamp") && !HomeNames.isNumbered("Lamp two", "Lamp"))
    #expect(HomeNames.isNumbered(long.dropLast(2) + " 2", long) && !HomeNames.isNumbered(long.dropLast(3) + " 2", long))
  }

  @Test func keepsEventNumbersOfMergedNode() throws {
    var home = CheckedReducer()
    home.meet(.lamp(5, uniqueID: "lamp"))
    let lamp = NodeModel.lamp(9)
    home.meet(lamp)
    home.process(lamp.report(events: [NodeModel.shutDown(41)]))
    home.process(.established(9, deadline: 9))
    let values = home.state.values[9]
    #expect(home.state.lastEvents[9] == 41 && home.ids == ["5", "9"])
    home.process(NodeModel.report(9, BasicInformation.uniqueID.path(on: 0), "lamp".tlv))
    #expect(home.ids == ["5"])
    #expect(home.state.devices["5"]?.sources.map(\.id) == [SourceID(5), SourceID(9)])
    #expect(home.state.source(SourceID(9))?.status.connectivity == SourceConnectivity(.online, .peer))
    var known = try #require(home.state.values[9])
    known[BasicInformation.uniqueID.path(on: 0)] = nil
    #expect(known == values)
    // Repeated events are ignored, also after a restart.
    #expect(home.state.lastEvents[9] == 41)
    #expect(home.process(lamp.report(of: [], events: [NodeModel.shutDown(41)])) == nil)
    let scratch = try TestDatabase()
    let database = try scratch.open()
    try database.commit(home.log)
    #expect(try database.load().state == home.state)
    #expect(home.faults.isEmpty)
  }

  @Test func nearestReachableSourceIsActive() {
    func entry(_ statuses: SourceStatus...) -> DeviceEntry {
      var entry = DeviceEntry(id: "1", name: "x", structureID: "home")
      for (number, status) in statuses.enumerated() {
        var source = DeviceSource(SourceID(NodeID(UInt64(number + 1))))
        source.status = status
        entry.sources.append(source)
      }
      return entry
    }
    func status(_ state: ConnectivityState, _ locality: DataSourceLocality) -> SourceStatus {
      SourceStatus(SourceConnectivity(state, locality))
    }
    #expect(entry(status(.online, .local), status(.online, .peer)).active?.id.node == 2)
    #expect(entry(status(.offline, .peer), status(.online, .remote)).active?.id.node == 2)
    #expect(entry(status(.online, .remote), status(.online, .local)).active?.id.node == 2)
    #expect(entry(status(.offline, .local), status(.offline, .peer)).active?.id.node == 2)
    #expect(entry(status(.online, .peer), status(.online, .peer)).active?.id.node == 1)
    #expect(entry().active == nil)
  }
}
