import HearthHome
import HomeModel
import MatterModel
import Testing

/// The devices that a commissioned node becomes, with the requested name and room.
@Suite("Pairing") struct PairingTests {
  private static let kitchen = Room(id: "k", name: "Kitchen", structureID: "home")
  private static let sun = DevicePlacement(name: "Sun", room: kitchen)

  /// Commissions a lamp in a home with the changes.
  private func device(_ placement: DevicePlacement, in changes: [HomeChange]) -> (
    device: DeviceEntry?, state: HomeState
  ) {
    var home = CheckedReducer()
    home.process(.update(HomeUpdate(changes, at: 1)))
    home.process(NodeModel.lamp(5).commissioned(placement))
    #expect(home.faults.isEmpty)
    return (home.state.devices["5"], home.state)
  }

  @Test func resolvesRoom() {
    let home = HomeChange.structureAdded(HomeReducer.firstStructure)
    // In an empty home.
    var (sun, state) = device(Self.sun, in: [])
    #expect(sun?.name == "Sun" && sun?.roomID == "k" && state.rooms == [Self.kitchen])
    #expect(state.structures == [HomeReducer.firstStructure])
    // A room that was renamed, removed, or created again with another id.
    (sun, state) = device(Self.sun, in: [home, .roomAdded(Self.kitchen), .roomRenamed(id: "k", name: "Bar")])
    #expect(sun?.roomID == "k" && state.rooms.map(\.name) == ["Bar"])
    (sun, state) = device(Self.sun, in: [home, .roomAdded(Self.kitchen), .roomRemoved(id: "k")])
    #expect(sun?.roomID == "k" && state.rooms == [Self.kitchen])
    let other = Room(id: "o", name: "kitchen", structureID: "home")
    (sun, state) = device(Self.sun, in: [home, .roomAdded(other)])
    #expect(sun?.roomID == "o" && state.rooms == [other])
    // The structure was removed: the primary one is used.
    let cottage = DevicePlacement(name: "Sun", room: Room(id: "c", name: "Bath", structureID: "cottage"))
    (sun, state) = device(cottage, in: [home])
    #expect(sun?.name == "Sun" && sun?.roomID == "c" && sun?.structureID == "home")
    #expect(state.rooms == [Room(id: "c", name: "Bath", structureID: "home")])
  }

  @Test func addsEachDeviceOfBridge() {
    var home = CheckedReducer()
    home.process(NodeModel.bridge(7).commissioned(name: "Bridge", roomID: "k"))
    #expect(home.ids == ["7", "7/2", "7/3"])
    #expect(home.state.devices["7"]?.name == "Bridge" && home.state.devices["7"]?.roomID == "k")
    #expect(home.state.devices["7/2"]?.roomID == nil)
    // The same description again changes nothing.
    let before = home.state.devices.mapValues(\.name)
    home.process(NodeModel.bridge(7).report())
    #expect(home.state.devices.mapValues(\.name) == before && home.faults.isEmpty)
  }

  @Test func addsDeviceWithoutDescription() {
    var home = CheckedReducer()
    home.process(.commissioned(NodeReport(5, [], isWhole: false), Self.sun))
    #expect(home.state.devices["5"]?.name == "Sun" && home.state.devices["5"]?.roomID == "k")
    #expect(home.state.devices["5"]?.sources.map(\.endpoints) == [[]])
    home.process(NodeModel.lamp(5).report())
    #expect(home.ids == ["5"] && home.state.devices["5"]?.name == "Sun")
    #expect(home.state.devices["5"]?.sources.first?.endpoints.isEmpty == false && home.faults.isEmpty)
  }

  @Test func storesOnlyDescriptionOfReport() {
    var home = CheckedReducer()
    home.process(NodeModel.lamp(5).commissioned(Self.sun))
    #expect(home.state.value(5, .init(1, 6, 0)) == nil && home.state.values[5] != nil)
    #expect(home.connectivity("5") == .unknown)
  }
}
