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
    guard var room = try await home.edit(.addRoom(name: name, structureID: id)).room else { throw .unexpectedReply }
    room.home = home
    return room
  }

  /// Removes a room; its devices move to the room for the entire home.
  public func deleteRoom(_ room: Room) async throws(HomeError) { try await home.edit(.removeRoom(id: room.id)) }

  /// Moves a device to a room of the structure.
  public func move(device: String, to roomID: String) async throws(HomeError) {
    try await home.edit(.moveDevice(id: device, roomID: roomID == roomForEntireHome.id ? nil : roomID))
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

extension (any HomeAccess)? {
  @discardableResult
  fileprivate func edit(_ edit: HomeEdit) async throws(HomeError) -> HomeEdit.Result {
    guard let self else {
      throw HomeError(.badArguments, "the value belongs to no home; use a value of a query or of a manager")
    }
    guard let result = try await self.edit([edit]).first else { throw .unexpectedReply }
    return result
  }
}
