internal import Glibc
internal import HomeControl
internal import MatterClusters
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
    var members = (object.members ?? []).filter { member in
      member.name != "node_id" && member.name != "attribute_subscriptions"
        && Self.defaults.first { $0.name == member.name }?.isValid(member.value) != false
    }
    members.insert(.init("node_id", .int(id)), at: 0)
    members.append(.init("attribute_subscriptions", []))
    for (name, value, _) in Self.defaults where !members.contains(where: { $0.name == name }) {
      members.append(.init(name, value))
    }
    // A client ends its connection at a name that is not a path, and at a value of a wrong type.
    let attributes = (object["attributes"]?.members ?? []).compactMap { member in
      (try? AttributeKey.path(member.name))?.concrete.map { (path: $0, value: member.value) }
    }.filter { path, value in
      ClusterCatalogue.cluster(path.cluster)?.attribute(path.attribute)?.schema.isReadable(value) != false
    }
    all[id] = Node(members: members, attributes: attributes)
    return id
  }

  /// The values of members that a dump lacks, or has in a form that a client can't read.
  private static let defaults: [(name: String, value: JSONValue, isValid: @Sendable (JSONValue) -> Bool)] = [
    ("date_commissioned", "1970-01-01T00:00:00.000000", { isTime($0) }),
    ("last_interview", "1970-01-01T00:00:00.000000", { isTime($0) }),
    ("interview_version", 6, { if case .integer = $0 { true } else { false } }),
    ("available", true, { $0.bool != nil }), ("is_bridge", false, { $0.bool != nil }),
  ]

  /// Whether a value is a time in the form of ``NodeObject/time(_:)``; the fraction may have fewer digits, or be absent.
  private static func isTime(_ value: JSONValue) -> Bool {
    guard let text = value.text else { return false }
    let form = String(text.map { $0.isASCII && $0.isNumber ? "0" : $0 })
    guard "0000-00-00T00:00:00.000000".hasPrefix(form), form.count == 19 || form.count > 20 else { return false }
    let numbers = text.prefix(19).split { !$0.isNumber }.compactMap { Int32($0) }
    guard numbers.count == 6, numbers[0] > 0 else { return false }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (numbers[0] - 1900, numbers[1] - 1, numbers[2])
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (numbers[3], numbers[4], numbers[5])
    // Times that don't exist, such as 30 February, have another text.
    return NodeObject.time(Int64(timegm(&parts)) * 1_000_000).prefix(19) == text.prefix(19)
  }

  mutating func remove(_ id: UInt64) -> Bool { all.removeValue(forKey: id) != nil }

  mutating func setInterview(_ time: String, of id: UInt64) {
    guard let index = all[id]?.members.firstIndex(where: { $0.name == "last_interview" }) else { return }
    all[id]?.members[index].value = .string(time)
  }
}

extension Schema {
  /// Whether clients can read a value of an attribute with this schema. They replace null by a default.
  fileprivate func isReadable(_ value: JSONValue) -> Bool {
    if value.isNull { return true }
    return switch self {
    case .any: true
    case .nullable(let inner): inner.isReadable(value)
    case .boolean: value.bool != nil
    case .unsigned, .signed, .enumeration, .bitmap: if case .integer = value { true } else { false }
    case .float, .double: value.number != nil
    case .string: value.text != nil
    case .octets: value.text.flatMap { Base64.decode($0) } != nil
    case .list(let element): value.array?.allSatisfy { element.isReadable($0) } ?? false
    case .structure(let declared):
      value.members?.allSatisfy { member in
        declared.first { FieldNames.matches(member.name, $0) }?.schema.isReadable(member.value) ?? true
      } ?? false
    }
  }
}
