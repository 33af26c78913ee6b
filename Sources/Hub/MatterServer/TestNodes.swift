internal import HomeControl
internal import MatterModel
internal import MatterProtocol
internal import WebClient

/// The nodes imported from diagnostics of Home Assistant, which exist in memory only.
struct TestNodes {
  /// The first id; ids in this range are not of a fabric.
  private static let firstID: UInt64 = 0xFFFF_FFFE_0000_0000

  struct Node {
    /// The members of the node object.
    var members: [JSONValue.Member]
    var attributes: [(path: ConcreteAttributePath, value: JSONValue)]

    /// Returns the node as clients with this visibility see it.
    func object(_ visibility: RoleVisibility) -> JSONValue {
      .object(
        members.map { member in
          guard member.name == "attributes" else { return member }
          return .init(member.name, .object(Self.members(attributes.filter { visibility.contains($0.path) })))
        })
    }

    func read(_ paths: [AttributePath], _ visibility: RoleVisibility) -> [JSONValue.Member] {
      Self.members(
        attributes.filter { attribute in
          visibility.contains(attribute.path) && paths.contains { $0.matches(attribute.path) }
        })
    }

    private static func members(
      _ attributes: [(path: ConcreteAttributePath, value: JSONValue)]
    ) -> [JSONValue.Member] {
      attributes.map { .init(AttributeKey.text($0.path), $0.value) }
    }
  }

  private(set) var all: [UInt64: Node] = [:]
  private var nextID = firstID

  func objects(_ visibility: RoleVisibility) -> [JSONValue] {
    all.sorted { $0.key < $1.key }.map { $0.value.object(visibility) }
  }

  /// Adds the nodes of a dump.
  /// - Returns: their ids.
  mutating func add(dump text: String) throws(MatterServerError) -> [UInt64] {
    let invalid = MatterServerError(.invalidArguments, "Invalid dump format: expected a diagnostics file with nodes")
    guard let dump = try? JSONParser.parse(Array(text.utf8)), let data = dump["data"] else { throw invalid }
    let entries: [JSONValue]
    if let node = data["node"] {
      entries = [node]
    } else {
      switch data["server"]?["nodes"] ?? data["nodes"] {
      case .array(let nodes): entries = nodes
      case .object(let members): entries = members.map(\.value)
      default: throw invalid
      }
    }
    guard entries.allSatisfy({ $0["attributes"]?.members != nil }) else { throw invalid }
    guard all.count + entries.count <= HubServer.Limits.testNodes else {
      throw MatterServerError(.invalidArguments, "too many test nodes; remove some first")
    }
    return entries.map { add($0) }
  }

  private mutating func add(_ object: JSONValue) -> UInt64 {
    let id = nextID
    nextID += 1
    var members = (object.members ?? []).filter { $0.name != "node_id" && $0.name != "attribute_subscriptions" }
    members.insert(.init("node_id", .int(id)), at: 0)
    members.append(.init("attribute_subscriptions", []))
    for (name, value) in Self.defaults where !members.contains(where: { $0.name == name }) {
      members.append(.init(name, value))
    }
    // A client ends its connection at a name that is not a path.
    let attributes = (object["attributes"]?.members ?? []).compactMap { member in
      (try? AttributeKey.path(member.name))?.concrete.map { (path: $0, value: member.value) }
    }
    all[id] = Node(members: members, attributes: attributes)
    return id
  }

  /// The values of members that a dump lacks.
  private static let defaults: [(String, JSONValue)] = [
    ("date_commissioned", "1970-01-01T00:00:00.000000"), ("last_interview", "1970-01-01T00:00:00.000000"),
    ("interview_version", 6), ("available", true), ("is_bridge", false),
  ]

  mutating func remove(_ id: UInt64) -> Bool { all.removeValue(forKey: id) != nil }

  mutating func setInterview(_ time: String, of id: UInt64) {
    guard let index = all[id]?.members.firstIndex(where: { $0.name == "last_interview" }) else { return }
    all[id]?.members[index].value = .string(time)
  }
}
