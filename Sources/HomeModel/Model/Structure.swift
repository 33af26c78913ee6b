/// A building with rooms. See the article “The home model”, “Objects”. Corresponds to a structure of Google's Home APIs and to a home
/// of HomeKit.
///
/// Values are equal if their ids and names are.
public struct Structure: Sendable, Identifiable {
  /// The id, independent of the name.
  public var id: String
  /// The name, at most 60 Unicode code points.
  public var name: String
  /// The home or the client of a ``HomeManager`` that the value belongs to; nil for a value of the caller.
  package var home: (any HomeAccess)?

  package init(id: String, name: String) { (self.id, self.name) = (id, name) }

  /// The room of all devices without another room; it can't be renamed or removed, and is not among the rooms.
  public func roomForEntireHome() -> Room {
    modified(Room(id: "\(id)/*", name: name, structureID: id)) { $0.home = home }
  }
}

/// A room of a structure.
///
/// Values are equal if their ids, names and structures are.
public struct Room: Sendable, Identifiable {
  /// The id, independent of the name.
  public var id: String
  /// The name, at most 60 Unicode code points and unique within the structure.
  public var name: String
  /// The id of its structure.
  public var structureID: String
  /// See ``Structure/home``.
  package var home: (any HomeAccess)?

  package init(id: String, name: String, structureID: String) {
    (self.id, self.name, self.structureID) = (id, name, structureID)
  }

  /// Whether this is the room for the entire home.
  package var isForEntireHome: Bool { id == "\(structureID)/*" }
}

extension Structure: Hashable, Codable {
  private enum CodingKeys: String, CodingKey { case id, name }

  public static func == (left: Self, right: Self) -> Bool { left.id == right.id && left.name == right.name }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(name)
  }
}

extension Room: Hashable, Codable {
  private enum CodingKeys: String, CodingKey { case id, name, structureID }

  public static func == (left: Self, right: Self) -> Bool {
    left.id == right.id && left.name == right.name && left.structureID == right.structureID
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(name)
    hasher.combine(structureID)
  }
}
