public import MatterController

// What a client does to its homes. It has its answer from the call; all other clients are told, and nobody is where the call
// fails.
extension HomeManager {
  // MARK: Homes

  /// - Throws: ``HomeError`` `badArguments` where the name is not allowed or taken.
  @discardableResult
  public func addHome(_ name: String) async throws(HomeError) -> Structure {
    let structureID = Identifiers.new()
    return try await home.controller.change(origin: id) { state throws(HomeError) in
      let (structure, changes) = try state.addingStructure(name, id: structureID)
      return (changes, structure)
    }
  }

  public func renameHome(_ homeID: String, to name: String) async throws(HomeError) {
    try await change { state throws(HomeError) in try state.renamingStructure(homeID, to: name) }
  }

  /// Removes a home with its rooms.
  /// - Throws: ``HomeError`` `badArguments` while there are devices in it.
  public func removeHome(_ homeID: String) async throws(HomeError) {
    try await change { state throws(HomeError) in try state.removingStructure(homeID) }
  }

  // MARK: Rooms

  /// - Parameter homeID: nil: the primary home, which is made where there is none.
  @discardableResult
  public func addRoom(_ name: String, to homeID: String? = nil) async throws(HomeError) -> Room {
    try await home.controller.change(origin: id) { state throws(HomeError) in try state.addingRoom(name, to: homeID) }
  }

  public func renameRoom(_ roomID: String, to name: String) async throws(HomeError) {
    try await change { state throws(HomeError) in try state.renamingRoom(roomID, to: name) }
  }

  /// Removes a room; its devices stay, in the room for the entire home.
  public func removeRoom(_ roomID: String) async throws(HomeError) {
    try await change { state throws(HomeError) in try state.removingRoom(roomID) }
  }

  // MARK: Devices

  /// Names are cut at 60 Unicode code points.
  @discardableResult
  public func rename(_ accessory: String, to name: String) async throws(HomeError) -> NamedDevice {
    try await client.setName(name, of: accessory)
  }

  /// - Parameter roomID: nil: takes it out of its room.
  public func move(_ accessory: String, to roomID: String?) async throws(HomeError) {
    try await change { state throws(HomeError) in try state.movingDevice(accessory, to: roomID) }
  }

  /// Commissions a device, reads what it is, and gives it a name.
  /// - Parameter name: nil: what it calls itself.
  public func addAccessory(
    _ request: CommissioningRequest, name: String? = nil, room: String? = nil,
    onStep: @escaping @Sendable (CommissioningStep, StepProgress) -> Void = { _, _ in }
  ) async throws(HomeError) -> PairedDevice {
    try await Home.pair(request, name: name, room: room, options, onStep: onStep)
  }

  /// Takes a device out of the fabric and the home; of a bridge, with all that is behind it.
  /// - Parameter force: also where it can't be told.
  /// - Throws: ``HomeError`` `badArguments` for a device behind a bridge: that can't be removed by itself.
  public func removeAccessory(_ accessory: String, force: Bool = false) async throws(HomeError) {
    _ = try await Home.remove(device: accessory, force: force, options)
  }

  /// To open the home with for a while, in this client's name.
  private var options: HomeController.Options {
    var options = home.controller.options
    options.following.origin = id
    return options
  }

  private func change(
    _ body: @escaping @Sendable (HomeState) throws(HomeError) -> [HomeChange]
  ) async throws(HomeError) {
    try await home.controller.change(origin: id) { state throws(HomeError) in (try body(state), ()) }
  }
}

extension HomeState {
  /// Its rooms go with it.
  /// - Throws: ``HomeError`` `badArguments` while there are devices in it.
  public func removingStructure(_ id: String) throws(HomeError) -> [HomeChange] {
    guard let structure = structure(id) else { throw HomeError(.notFound, "there is no structure \(id)") }
    guard !devices.values.contains(where: { $0.structureID == id }) else {
      throw HomeError(.badArguments, "there are devices in “\(structure.name)”; remove them first")
    }
    return rooms.filter { $0.structureID == id }.map { .roomRemoved(id: $0.id) } + [.structureRemoved(id: id)]
  }
}
