/// A building with rooms. See the article “The home model”, “Objects”.
public struct Structure: Hashable, Sendable, Identifiable, Codable {
  /// The id, independent of the name.
  public var id: String
  /// The name, at most 60 Unicode code points.
  public var name: String

  public init(id: String, name: String) { (self.id, self.name) = (id, name) }

  /// The room of all devices without another room; it can't be renamed or removed, and is not among the rooms.
  public var roomForEntireHome: Room { Room(id: "\(id)/*", name: name, structureID: id) }
}

/// A room of a structure.
public struct Room: Hashable, Sendable, Identifiable, Codable {
  /// The id, independent of the name.
  public var id: String
  /// The name, at most 60 Unicode code points and unique within the structure.
  public var name: String
  /// The id of its structure.
  public var structureID: String

  public init(id: String, name: String, structureID: String) {
    (self.id, self.name, self.structureID) = (id, name, structureID)
  }

  /// Whether this is the room for the entire home.
  public var isForEntireHome: Bool { id == "\(structureID)/*" }
}
