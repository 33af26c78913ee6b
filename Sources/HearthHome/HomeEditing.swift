/// Edits of the rooms of a home, as a caller of ``Home`` or as a client with a ``HomeManager``.
public protocol HomeEditing: Sendable {
  /// Performs several edits in one step: all of them or, if it throws, none.
  @discardableResult
  func perform(_ edits: [HomeEdit]) async throws(HomeError) -> [HomeEdit.Result]
}

extension HomeEditing {
  /// Adds a room.
  /// - Parameter structureID: the structure; nil: the primary one, which is created if there is none.
  @discardableResult
  public func addRoom(_ name: String, to structureID: String? = nil) async throws(HomeError) -> Room {
    try await perform(.addRoom(name: name, structureID: structureID), \.room)
  }

  /// Renames a room; the name is truncated to 60 Unicode code points.
  /// - Throws: ``HomeError`` `notFound`; `badArguments` for the room for the entire home, and if another room of the
  ///   structure has the name.
  public func renameRoom(_ id: String, to name: String) async throws(HomeError) {
    try await perform([.renameRoom(id: id, name: name)])
  }

  /// Removes a room; its devices move to the room for the entire home.
  public func removeRoom(_ id: String) async throws(HomeError) { try await perform([.removeRoom(id: id)]) }

  /// Moves a device to a room; nil removes it from its room.
  public func move(_ device: String, to roomID: String?) async throws(HomeError) {
    try await perform([.moveDevice(id: device, roomID: roomID)])
  }

  func perform<Added>(
    _ edit: HomeEdit, _ added: KeyPath<HomeEdit.Result, Added?>
  ) async throws(HomeError) -> Added {
    guard let added = try await perform([edit]).first?[keyPath: added] else { throw .unexpectedReply }
    return added
  }
}
