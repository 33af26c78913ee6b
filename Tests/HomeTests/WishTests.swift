import Foundation
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import Home
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

  @Test func twoProcessesAddDeviceOnce() throws {
    let scratch = try TestDatabase()
    let (first, second) = (try scratch.open(), try scratch.open())
    _ = try first.keep(Self.sun, for: [5], besides: [5])
    // Both have loaded the home and miss each other's updates. In the home of the second one another device has the
    // name.
    let anchor = try first.anchor()
    var reducers = [HomeReducer(), HomeReducer()]
    let other: [HomeChange] = [
      .structureAdded(HomeReducer.firstStructure), .roomAdded(Self.kitchen),
      .deviceAdded(id: "8", name: "Sun", roomID: "k", structureID: "home"),
    ]
    _ = reducers[1].reduce(.update(HomeUpdate(other, at: 1)), at: 1)
    for (index, database) in [first, second].enumerated() {
      _ = reducers[index].reduce(.node(5, wish: Self.sun), at: 2)
      let update = reducers[index].reduce(NodeModel.lamp(5).report(), at: 3)
      try database.commit([try #require(update)])
    }
    let stored = try first.load()
    #expect(stored.wishes.isEmpty)
    #expect(stored.state.devices["5"]?.name == "Sun" && stored.state.devices["5"]?.roomID == "k")
    #expect(stored.state.rooms == [Self.kitchen])
    // The log has one addition, and the second process reads the stored name.
    let samples = try first.samples(after: nil, SampleFilter(.topology)).added
    #expect(samples.count { if case .deviceAdded("5", _, _, _) = $0.change { true } else { false } } == 1)
    #expect(reducers[1].state.devices["5"]?.name == "Sun 2")
    for logged in try second.updates(after: anchor).updates {
      _ = reducers[1].reduce(.update(logged.update), at: 4)
    }
    #expect(reducers[1].state.devices["5"]?.name == "Sun")
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

/// Adoption of nodes that another process paired before it was killed.
@Suite("Adoption", .timeLimit(.minutes(10))) struct AdoptingTests {
  /// A stored peer record of the controller.
  private static let record: [UInt8] = [0x15, 0x24, 0x00, 0x09, 0x18]

  @Test func followerAdoptsUnreportedNodes() async throws {
    let directory = ScratchDirectory()
    let machine = ChangedMachine()
    let open = try await OpenHome(directory, machine: machine)
    try await open.home.follow()
    let other = try HomeDatabase.open(directory.state.database)
    // A directory in the place of the journal can't be read.
    let journal = directory.state.controller + "/journal"
    try FileManager.default.createDirectory(atPath: journal, withIntermediateDirectories: true)
    let lock = try await HomeLock.acquire(directory.state)
    let room = Room(id: "k", name: "Kitchen", structureID: "home")
    _ = try other.keep(PairingWish(name: "Sun", room: room), for: [9], besides: [9])
    #expect(await eventually { await open.controller.isAdoptionDue })
    _ = consume lock
    // The adoption fails and is retried.
    #expect(await eventually { machine.failures.count > 0 })
    #expect(await eventually { await open.controller.isAdoptionDue })
    #expect(await open.controller.nodes.isEmpty)
    // With the lock, because an adoption between the removal and the commit would find no node and end the wish.
    let exchange = try await HomeLock.acquire(directory.state)
    try FileManager.default.removeItem(atPath: directory.state.controller)
    let store = try HostMachine().openStore(directory.state.controller)
    try store.commit([StoreChange("peer/0000000000000009", Self.record)])
    _ = consume exchange
    #expect(await eventually { await open.home.awaited().devices.map(\.id) == ["9"] })
    let awaited = await open.home.awaited()
    #expect(awaited.devices.map(\.name) == ["Sun"] && awaited.home.rooms == [room])
    await open.take(NodeModel.lamp(9).report())
    #expect(try await open.device("9").name == "Sun")
    #expect(await eventually { (try? other.wishes().isEmpty) == true })
    await open.home.close()
  }

  /// The removal of a node that never became a device is not logged.
  @Test func forgetsNodeRemovedBeforeFirstReport() async throws {
    let directory = ScratchDirectory()
    let open = try await OpenHome(directory)
    try await open.home.follow()
    let other = try HomeDatabase.open(directory.state.database)
    let store = try HostMachine().openStore(directory.state.controller)
    try store.commit([StoreChange("peer/0000000000000009", Self.record)])
    _ = try other.keep(PairingWish(name: "Sun"), for: [9], besides: [9])
    #expect(await eventually { await open.home.awaited().devices.map(\.id) == ["9"] })
    try store.commit([StoreChange("peer/0000000000000009", nil)])
    try other.forgetWishes(besides: [])
    #expect(await eventually { await open.home.awaited().devices.isEmpty })
    await open.home.close()
  }

  /// A request for adoption that arrives while the wishes are read may not be covered by that read.
  @Test func keepsAdoptionRequestedDuringAdoption() async throws {
    let worker = ResultHoldingWorker(of: [NodeID: PairingWish].self)
    let open = try await OpenHome(ScratchDirectory(), machine: ChangedMachine(worker: worker))
    worker.holdNext()
    async let adopted: Void = open.controller.adopt()
    #expect(await eventually { worker.isHolding })
    #expect(await open.controller.isAdoptionDue == false)
    await open.controller.noteAdoption()
    worker.release()
    await adopted
    #expect(await open.controller.isAdoptionDue)
    await open.home.close()
  }
}

extension HomeController {
  fileprivate func noteAdoption() { isAdoptionDue = true }
}
