/// A building. See <doc:TheHomeModel>, “Objects”.
public struct Structure: Hashable, Sendable, Identifiable, Codable {
  /// Stays the same whatever it is called.
  public var id: String
  /// As people gave it, 60 Unicode code points at most.
  public var name: String

  public init(id: String, name: String) { (self.id, self.name) = (id, name) }

  /// The room of all devices that nobody put into another: it can't be renamed or removed, and is not among the rooms.
  public var roomForEntireHome: Room { Room(id: "\(id)/*", name: name, structureID: id) }
}

/// A room of a structure.
public struct Room: Hashable, Sendable, Identifiable, Codable {
  /// Stays the same whatever it is called.
  public var id: String
  /// As people gave it, 60 Unicode code points at most; no two rooms of a structure have the same.
  public var name: String
  /// The building that it is in.
  public var structureID: String

  public init(id: String, name: String, structureID: String) {
    (self.id, self.name, self.structureID) = (id, name, structureID)
  }

  /// Whether it stands for the entire home.
  public var isForEntireHome: Bool { id == "\(structureID)/*" }
}
