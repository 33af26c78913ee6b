public import MatterController

// What a client does to its homes. It has its answer from the call; all other clients are told, and nobody is where the call
// fails.
extension HomeManager {
  // MARK: Homes

  /// - Throws: ``HomeError`` `badArguments` where the name is not allowed or taken.
  @discardableResult
  public func addHome(_ name: String) async throws(HomeError) -> Structure {
    try await home.backend.addStructure(name, origin: id)
  }

  /// Gives a home another name, cut at 60 Unicode code points.
  /// - Throws: ``HomeError`` `notFound`; `badArguments` where another home has the name.
  public func renameHome(_ homeID: String, to name: String) async throws(HomeError) {
    try await change(.renameStructure(homeID, name: name))
  }

  /// Makes a home the primary one.
  /// - Throws: ``HomeError`` `notFound`.
  public func updatePrimaryHome(_ homeID: String) async throws(HomeError) {
    try await change(.choosePrimaryStructure(homeID))
  }

  /// Removes a home with its rooms. Where it was the primary home, the first that remains is.
  /// - Throws: ``HomeError`` `badArguments` while there are devices in it.
  public func removeHome(_ homeID: String) async throws(HomeError) {
    try await change(.removeStructure(homeID))
  }

  // MARK: Rooms

  /// - Parameter homeID: nil: the primary home, which is made where there is none.
  @discardableResult
  public func addRoom(_ name: String, to homeID: String? = nil) async throws(HomeError) -> Room {
    try await home.backend.addRoom(name, to: homeID, origin: id)
  }

  /// Gives a room another name, cut at 60 Unicode code points.
  /// - Throws: ``HomeError`` `notFound`; `badArguments` for the room for the entire home, and where another room of the
  ///   home has the name.
  public func renameRoom(_ roomID: String, to name: String) async throws(HomeError) {
    try await change(.renameRoom(roomID, name: name))
  }

  /// Removes a room; its devices stay, in the room for the entire home.
  public func removeRoom(_ roomID: String) async throws(HomeError) {
    try await change(.removeRoom(roomID))
  }

  // MARK: Devices

  /// Names are cut at 60 Unicode code points.
  @discardableResult
  public func rename(_ accessory: String, to name: String) async throws(HomeError) -> NamedDevice {
    try await client.setName(name, of: accessory)
  }

  /// - Parameter roomID: nil: takes it out of its room.
  public func move(_ accessory: String, to roomID: String?) async throws(HomeError) {
    try await change(.moveDevice(accessory, roomID: roomID))
  }

  /// Commissions a device, reads what it is, and gives it a name.
  /// - Parameter name: nil: what it calls itself.
  public func addAccessory(
    _ request: CommissioningRequest, name: String? = nil, room: String? = nil,
    onStep: @escaping @Sendable (CommissioningStep, StepProgress) -> Void = { _, _ in }
  ) async throws(HomeError) -> PairedDevice {
    if try isAlone {
      return try await home.pair(request, name: name, room: room, origin: id, onStep: onStep)
    }
    return try await Home.pair(request, name: name, room: room, try options, onStep: onStep)
  }

  /// Takes a device out of the fabric and the home; of a bridge, with all that is behind it.
  /// - Parameter force: also where it can't be told.
  /// - Throws: ``HomeError`` `badArguments` for a device behind a bridge: that can't be removed by itself.
  public func removeAccessory(_ accessory: String, force: Bool = false) async throws(HomeError) {
    if try isAlone {
      _ = try await home.remove(device: accessory, force: force, origin: id)
    } else {
      _ = try await Home.remove(device: accessory, force: force, try options)
    }
  }

  /// Whether the home has its state for itself: nobody else could open it, and what another engine did it would not learn.
  private var isAlone: Bool {
    get throws(HomeError) { try home.controller.options.access == .exclusive }
  }

  /// To open the home with for a while, in this client's name.
  private var options: HomeController.Options {
    get throws(HomeError) {
      var options = try home.controller.options
      options.following.origin = id
      return options
    }
  }

  private func change(_ edit: HomeEdit) async throws(HomeError) {
    _ = try await home.backend.perform(edit, origin: id)
  }
}

extension HomeState {
  /// Its rooms go with it.
  /// - Throws: ``HomeError`` `badArguments` while there are devices in it.
  public func removingStructure(_ id: String) throws(HomeError) -> [HomeChange] {
    guard let structure = structure(id) else { throw HomeError(.notFound, "there is no structure \(id)") }
    guard !devices.values.contains(where: { $0.structureID == id }) else {
      throw HomeError(.badArguments, "“\(structure.name)” has devices; remove them first")
    }
    return rooms.filter { $0.structureID == id }.map { .roomRemoved(id: $0.id) } + [.structureRemoved(id: id)]
  }
}
