package import MatterModel

/// The group memberships of the endpoints, by fabric. Shared by the Groups servers and Group Key Management.
package struct GroupTable: Hashable, Sendable {
  /// A group with at least one endpoint of this node.
  package struct Entry: Hashable, Sendable {
    /// The fabric of the group. Another fabric may have a group of the same number.
    package let fabric: FabricIndex
    package let group: GroupID
    /// Sorted; never empty.
    package internal(set) var endpoints: [EndpointID]
    /// The name that an administrator set, at most 16 bytes; may be empty.
    package internal(set) var name: String
  }

  /// The maximum number of groups per fabric: MaxGroupsPerFabric. At least four for each endpoint with a Groups server.
  /// Matter Core § 2.11.1.2.
  private(set) var maximumPerFabric = 16

  /// Sorted by fabric and group.
  private(set) var entries: [Entry] = []

  init() {}

  /// Returns the group; nil if it has no endpoints.
  package func entry(_ group: GroupID, fabric: FabricIndex) -> Entry? {
    entries.first { $0.group == group && $0.fabric == fabric }
  }

  /// Returns whether the endpoint is in the group.
  package func contains(_ group: GroupID, fabric: FabricIndex, endpoint: EndpointID) -> Bool {
    entry(group, fabric: fabric)?.endpoints.contains(endpoint) ?? false
  }

  /// Returns the groups of an endpoint, sorted.
  func groups(of endpoint: EndpointID, fabric: FabricIndex) -> [GroupID] {
    entries.filter { $0.fabric == fabric && $0.endpoints.contains(endpoint) }.map(\.group)
  }

  /// Adds the endpoint to the group and names the group.
  /// - Returns: false if the fabric already has the maximum number of groups.
  mutating func add(_ group: GroupID, fabric: FabricIndex, endpoint: EndpointID, name: String) -> Bool {
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

  /// Removes the endpoint from the group.
  /// - Returns: Whether the endpoint was in the group.
  @discardableResult
  package mutating func remove(_ group: GroupID, fabric: FabricIndex, endpoint: EndpointID) -> Bool {
    guard let index = entries.firstIndex(where: { $0.group == group && $0.fabric == fabric }),
      let position = entries[index].endpoints.firstIndex(of: endpoint)
    else { return false }
    entries[index].endpoints.remove(at: position)
    if entries[index].endpoints.isEmpty { entries.remove(at: index) }
    return true
  }

  /// Raises the maximum for a node with this number of Groups servers.
  mutating func raiseMaximum(forServers count: Int) {
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
