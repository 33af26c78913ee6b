public import MatterModel

/// Which endpoints are in which groups, fabric by fabric. Shared by the Groups servers and Group Key Management.
public struct GroupTable: Hashable, Sendable {
  /// A group that this node is in.
  public struct Entry: Hashable, Sendable {
    /// Whose group it is: another fabric may have one of the same number.
    public let fabric: FabricIndex
    public let group: GroupID
    /// In order; never empty.
    public internal(set) var endpoints: [EndpointID]
    /// As an administrator gave it, at most 16 bytes; may be empty.
    public internal(set) var name: String
  }

  /// The most groups that one fabric may have here; MaxGroupsPerFabric. A node with many endpoints has room for four groups on
  /// each. Matter Core § 2.11.1.2.
  public private(set) var maximumPerFabric = 16

  /// In the order of fabric and group.
  public private(set) var entries: [Entry] = []

  public init() {}

  /// The group, nil if no endpoint is in it.
  public func entry(_ group: GroupID, fabric: FabricIndex) -> Entry? {
    entries.first { $0.group == group && $0.fabric == fabric }
  }

  /// Whether the endpoint is in the group.
  public func contains(_ group: GroupID, fabric: FabricIndex, endpoint: EndpointID) -> Bool {
    entry(group, fabric: fabric)?.endpoints.contains(endpoint) ?? false
  }

  /// The groups of an endpoint, in order.
  public func groups(of endpoint: EndpointID, fabric: FabricIndex) -> [GroupID] {
    entries.filter { $0.fabric == fabric && $0.endpoints.contains(endpoint) }.map(\.group)
  }

  /// Adds the endpoint to the group and names the group.
  /// - Returns: false if the fabric has as many groups as it may.
  public mutating func add(_ group: GroupID, fabric: FabricIndex, endpoint: EndpointID, name: String) -> Bool {
    if let index = entries.firstIndex(where: { $0.group == group && $0.fabric == fabric }) {
      entries[index].name = name
      if !entries[index].endpoints.contains(endpoint) {
        entries[index].endpoints.append(endpoint)
        entries[index].endpoints.sort()
      }
      return true
    }
    guard entries.count(where: { $0.fabric == fabric }) < maximumPerFabric else { return false }
    entries.append(Entry(fabric: fabric, group: group, endpoints: [endpoint], name: name))
    entries.sort { ($0.fabric, $0.group) < ($1.fabric, $1.group) }
    return true
  }

  /// Takes the endpoint out of the group.
  /// - Returns: whether it was in it.
  @discardableResult
  public mutating func remove(_ group: GroupID, fabric: FabricIndex, endpoint: EndpointID) -> Bool {
    guard let index = entries.firstIndex(where: { $0.group == group && $0.fabric == fabric }),
      let position = entries[index].endpoints.firstIndex(of: endpoint)
    else { return false }
    entries[index].endpoints.remove(at: position)
    if entries[index].endpoints.isEmpty { entries.remove(at: index) }
    return true
  }

  /// Has room for the groups of a node with so many Groups servers.
  mutating func makeRoom(forServers count: Int) {
    maximumPerFabric = min(max(maximumPerFabric, 4 * count), Int(UInt16.max))
  }

  mutating func removeAll(of fabric: FabricIndex) { entries.removeAll { $0.fabric == fabric } }
}

// The stored form: an array of structures.
extension GroupTable {
  init(tlv: [UInt8]) throws(TLVError) { entries = try [Stored](tlv: tlv).map(\.entry) }
  var tlv: [UInt8] { entries.map(Stored.init).tlv }

  private struct Stored: ModelStruct {
    var fabric: FabricIndex = .none
    var group: GroupID = 0
    var endpoints: [EndpointID] = []
    var name = ""
    static let fields: [Field<Self>] = [
      .init(0, "Fabric", \.fabric), .init(1, "Group", \.group), .init(2, "Endpoints", \.endpoints),
      .init(3, "Name", \.name),
    ]
    init() {}
    init(_ entry: Entry) {
      (fabric, group, endpoints, name) = (entry.fabric, entry.group, entry.endpoints, entry.name)
    }
    var entry: Entry { Entry(fabric: fabric, group: group, endpoints: endpoints, name: name) }
  }
}
