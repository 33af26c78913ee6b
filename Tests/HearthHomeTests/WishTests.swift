import Foundation
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import HearthHome
@testable import HomeControl
@testable import HomeModel
@testable import HomeStore

/// Names and rooms requested at pairing, stored until the device is in the home.
@Suite("Pairing wishes", .timeLimit(.minutes(10))) struct WishTests {
  private static let kitchen = Room(id: "k", name: "Kitchen", structureID: "home")
  private static let sun = PairingWish(name: "Sun", room: kitchen)

  // MARK: The database

  @Test func storesWishUntilDeviceIsAdded() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    #expect(try database.keep(Self.sun, for: [5, 6], besides: []) == [5: Self.sun, 6: Self.sun])
    #expect(try scratch.open().load().wishes == [5: Self.sun, 6: Self.sun])
    // Fields that are not set keep their previous values; wishes for nodes that are not listed are removed.
    let named = PairingWish(name: "Moon", room: Self.kitchen)
    #expect(try database.keep(PairingWish(name: "Moon"), for: [5], besides: [5]) == [5: named])
    #expect(try database.wishes() == [5: named])
    #expect(try database.keep(PairingWish(), for: [7], besides: [5]) == [7: PairingWish()])
    // The wish is removed with the source of the node, and not with that of a bridged device.
    try database.commit([HomeUpdate([.deviceAdded(id: "5", name: "Moon", roomID: nil, structureID: "home")], at: 1)])
    try database.commit([HomeUpdate([.sourceAdded(SourceID(5, 2), device: "5")], at: 1)])
    #expect(try database.wishes().count == 2)
    try database.commit([HomeUpdate([.sourceAdded(SourceID(5), device: "5")], at: 1)])
    #expect(try database.wishes() == [7: PairingWish()])
    // The node was removed before it reported.
    try database.forgetWishes(besides: [])
    #expect(try database.wishes().isEmpty)
  }

  // MARK: The home

  /// Adds a device with a wish to a home that was changed in between.
  private func device(_ wish: PairingWish, in changes: [HomeChange]) -> (device: DeviceEntry?, state: HomeState) {
    var home = CheckedReducer()
    home.take(.node(5, wish: wish))
    home.take(.update(HomeUpdate(changes, at: 1)))
    home.take(NodeModel.lamp(5).report())
    #expect(home.faults.isEmpty)
    return (home.state.devices["5"], home.state)
  }

  @Test func resolvesRoomOfWish() {
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
    let cottage = PairingWish(name: "Sun", room: Room(id: "c", name: "Bath", structureID: "cottage"))
    (sun, state) = device(cottage, in: [home])
    #expect(sun?.name == "Sun" && sun?.roomID == "c" && sun?.structureID == "home")
    #expect(state.rooms == [Room(id: "c", name: "Bath", structureID: "home")])
  }

  @Test func awaitedDevicesHaveNames() {
    var home = CheckedReducer()
    home.take(.node(5, wish: Self.sun))
    home.take(.node(6))
    home.take(.lost(6, .noAddress))
    // An unrelated change by another process.
    home.take(.update(HomeUpdate([.structureAdded(HomeReducer.firstStructure)], at: 1)))
    let whole = home.reducer.awaiting([5, 6])
    #expect(HomeRegistry(whole).devices.map(\.fullName) == ["Kitchen/Sun", "Device 6"])
    #expect(whole.devices["6"]?.active?.status.reason == .noAddress)
    #expect(home.state.devices.isEmpty && home.state.rooms.isEmpty)
    // Removing the node removes its wish.
    home.take(.nodeRemoved(5))
    home.take(.node(5))
    home.take(NodeModel.lamp(5).report())
    #expect(home.state.devices["5"]?.name == "Device 5")
  }
}
