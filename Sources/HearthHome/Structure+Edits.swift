// Edits as methods of a structure or room from a query or a ``HomeManager``, as in the Google Home APIs.

extension Structure {
  /// Renames the structure.
  /// - Returns: a new value; its name is truncated to 60 Unicode code points.
  /// - Throws: ``HomeError`` `badArguments` if another structure has the name.
  public func setName(_ name: String) async throws(HomeError) -> Structure {
    try await home.edit(.renameStructure(id: id, name: name))
    var renamed = self
    renamed.name = try HomeNames.checked(name).name
    return renamed
  }

  /// Adds a room.
  @discardableResult
  public func createRoom(name: String) async throws(HomeError) -> Room {
    guard let room = try await home.edit(.addRoom(name: name, structureID: id)).room else { throw .unexpectedReply }
    return room
  }

  /// Removes a room; its devices move to the room for the entire home.
  public func deleteRoom(_ room: Room) async throws(HomeError) { try await home.edit(.removeRoom(id: room.id)) }

  /// Moves a device to a room of the structure.
  /// - Throws: ``HomeError`` `badArguments` if the device is in another structure.
  public func move(device: String, to roomID: String) async throws(HomeError) {
    try await home.edit(.moveDevice(id: device, roomID: roomID))
  }
}

extension Room {
  /// Renames the room.
  /// - Returns: a new value; its name is truncated to 60 Unicode code points.
  /// - Throws: ``HomeError`` `badArguments` for the room for the entire home, or if another room of the structure has the
  ///   name.
  public func setName(_ name: String) async throws(HomeError) -> Room {
    try await home.edit(.renameRoom(id: id, name: name))
    var renamed = self
    renamed.name = try HomeNames.checked(name).name
    return renamed
  }
}

extension HomeAccess {
  /// The home for other requests, and their origin: the client that the access belongs to, if any.
  var opened: (home: Home, origin: String?) {
    get throws(HomeError) {
      if let client = self as? HomeClient { return (Home(client.backend), client.id) }
      guard let backend = self as? any HomeBackend else { throw .withoutHome }
      return (Home(backend), nil)
    }
  }

  /// Performs edits. Added objects send their own edits through this access.
  func apply(_ edits: [HomeEdit]) async throws(HomeError) -> [HomeEdit.Result] {
    try await edit(edits).map { result in
      modified(result) {
        $0.structure?.home = self
        $0.room?.home = self
      }
    }
  }
}

extension (any HomeAccess)? {
  @discardableResult
  fileprivate func edit(_ edit: HomeEdit) async throws(HomeError) -> HomeEdit.Result {
    guard let self else { throw .withoutHome }
    guard let result = try await self.apply([edit]).first else { throw .unexpectedReply }
    return result
  }
}

extension HomeError {
  static let withoutHome = HomeError(
    .badArguments, "the value belongs to no home; use a value of a query or of a manager")
}
