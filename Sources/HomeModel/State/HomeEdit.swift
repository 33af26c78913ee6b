package import MatterCrypto

/// An edit of the names in a home. A value, so that it can be sent to the process that owns the home.
public enum HomeEdit: Hashable, Sendable, Codable {
  /// Adds a structure with an unused name.
  case addStructure(name: String)
  /// Renames the structure with this id.
  case renameStructure(id: String, name: String)
  /// Removes a structure with its rooms; it must not contain devices.
  case removeStructure(id: String)
  /// Selects the structure that is used where none is named.
  case choosePrimaryStructure(id: String)
  /// Adds a room; without a structure to the primary one, which is created if there is none.
  case addRoom(name: String, structureID: String?)
  /// Renames the room with this id, which must not be the room for the entire home.
  case renameRoom(id: String, name: String)
  /// Removes a room; its devices move to the room for the entire home.
  case removeRoom(id: String)
  /// Renames a device; names are truncated to 60 Unicode code points.
  case renameDevice(id: String, name: String)
  /// Moves a device to a room; nil removes it from its room.
  case moveDevice(id: String, roomID: String?)

  fileprivate var name: String? {
    switch self {
    case .addStructure(let name), .renameStructure(_, let name), .addRoom(let name, _), .renameRoom(_, let name),
      .renameDevice(_, let name):
      name
    case .removeStructure, .choosePrimaryStructure, .removeRoom, .moveDevice: nil
    }
  }

  /// The result of an edit.
  public struct Result: Hashable, Sendable, Codable {
    /// The added structure.
    public var structure: Structure?
    /// The added room.
    public var room: Room?
    /// Whether the name was truncated to 60 Unicode code points.
    public var wasCut = false

    package init(structure: Structure? = nil, room: Room? = nil, wasCut: Bool = false) {
      (self.structure, self.room, self.wasCut) = (structure, room, wasCut)
    }
  }
}

extension HomeState {
  /// Returns the changes that perform edits one after the other.
  /// - Parameter random: the source of ids for new objects.
  /// - Throws: ``HomeError`` `badArguments` or `notFound` if an edit is invalid.
  package func changes(
    doing edits: [HomeEdit], _ random: any RandomSource
  ) throws(HomeError) -> (changes: [HomeChange], result: [HomeEdit.Result]) {
    var random = random
    guard edits.count != 1 else {
      let (changes, result) = try self.changes(doing: edits[0], random)
      return (changes, [result])
    }
    var after = self
    var all: [HomeChange] = []
    var results: [HomeEdit.Result] = []
    for edit in edits {
      let (changes, result) = try after.changes(doing: edit, random.fork())
      for change in changes { after.apply(change) }
      all += changes
      results.append(result)
    }
    return (all, results)
  }

  private func changes(
    doing edit: HomeEdit, _ random: any RandomSource
  ) throws(HomeError) -> ([HomeChange], HomeEdit.Result) {
    var result = HomeEdit.Result()
    let changes: [HomeChange]
    switch edit {
    case .addStructure(let name):
      let (structure, made) = try addingStructure(name, id: Identifiers.new(random))
      result.structure = structure
      changes = made
    case .renameStructure(let id, let name): changes = try renamingStructure(id, to: name)
    case .removeStructure(let id): changes = try removingStructure(id)
    case .choosePrimaryStructure(let id): changes = try choosingPrimaryStructure(id)
    case .addRoom(let name, let structureID):
      let (made, room) = try addingRoom(name, to: structureID, id: Identifiers.new(random))
      result.room = room
      changes = made
    case .renameRoom(let id, let name): changes = try renamingRoom(id, to: name)
    case .removeRoom(let id): changes = try removingRoom(id)
    case .renameDevice(let id, let name): changes = try renamingDevice(id, to: name)
    case .moveDevice(let id, let roomID): changes = try movingDevice(id, to: roomID)
    }
    if let name = edit.name { result.wasCut = try HomeNames.checked(name).wasCut }
    return (changes, result)
  }
}

extension HomeState {
  /// Returns the changes that remove a structure and its rooms.
  /// - Throws: ``HomeError`` `badArguments` while there are devices in it.
  public func removingStructure(_ id: String) throws(HomeError) -> [HomeChange] {
    guard let structure = structure(id) else { throw HomeError(.notFound, "there is no structure \(id)") }
    guard !devices.values.contains(where: { $0.structureID == id }) else {
      throw HomeError(.badArguments, "“\(structure.name)” has devices; remove them first")
    }
    return rooms.filter { $0.structureID == id }.map { .roomRemoved(id: $0.id) } + [.structureRemoved(id: id)]
  }
}
