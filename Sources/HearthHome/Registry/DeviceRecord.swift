package import HomeModel
package import MatterModel

/// The names of a device, and the node and endpoints where it is reached.
package struct DeviceRecord: Hashable, Sendable {
  /// An endpoint, described by its Descriptor cluster.
  package typealias Endpoint = DeviceEndpoint

  /// The id, constant while the device is in the home: `5`, or `7/3` for a bridged device.
  package var id: String
  package var nodeID: NodeID
  /// `.root` for a node; for a bridged device its endpoint.
  package var mainEndpoint: EndpointID = .root
  /// The name in the home, which is not its NodeLabel.
  package var name: String
  /// The name for messages, with the room if another device of the home has the same name.
  package var label: String
  /// The name of the room; nil: none.
  package var room: String?
  /// In the order of their ids.
  package var endpoints: [Endpoint]
  package var identity = DeviceIdentity()
  /// All sources, in the order of their ids; `nodeID` and `endpoints` are those of one of them.
  package private(set) var ways: [DeviceSource]

  /// Creates a record of a node, whose label is its name.
  package init(nodeID: NodeID, name: String, room: String? = nil, endpoints: [Endpoint] = []) {
    id = SourceID(nodeID).description
    self.nodeID = nodeID
    (self.name, label) = (name, name)
    self.room = room
    self.endpoints = endpoints
    ways = [DeviceSource(SourceID(nodeID))]
    ways[0].endpoints = endpoints
  }

  /// Creates a record of a device with its active source.
  /// - Returns: nil for a device without a source.
  package init?(_ entry: DeviceEntry, room: String?) {
    guard let source = entry.active else { return nil }
    id = entry.id
    nodeID = source.id.node
    mainEndpoint = source.mainEndpoint
    (name, label) = (entry.name, entry.name)
    self.room = room
    endpoints = source.endpoints
    identity = source.identity
    ways = entry.sources
  }

  /// The same device by another way.
  package func by(_ way: DeviceSource) -> DeviceRecord {
    var copy = self
    (copy.nodeID, copy.mainEndpoint) = (way.id.node, way.id.endpoint)
    (copy.endpoints, copy.identity) = (way.endpoints, way.identity)
    return copy
  }

  /// The same by the first of its ways of which that is true; nil: it is true of none.
  package func by(where isMeant: (DeviceSource) -> Bool) -> DeviceRecord? { ways.first(where: isMeant).map { by($0) } }

  /// Returns the same device by the first source that serves a cluster, if the selected one does not.
  package func serving(_ cluster: ClusterID) -> DeviceRecord {
    if endpoint(serving: cluster) != nil { return self }
    return by { $0.endpoints.contains { $0.servers.contains(cluster) } } ?? self
  }

  /// Whether the device is bridged.
  package var isBridged: Bool { mainEndpoint != .root }

  /// The id of the selected source: `10`, or `7/3` for a bridged device. The device's id is that of its first source.
  package var way: SourceID { SourceID(nodeID, mainEndpoint) }

  /// The name with its room: `kitchen/lamp`.
  package var fullName: String { room.map { "\($0)/\(name)" } ?? name }

  /// The application endpoints: all but the root.
  package var applicationEndpoints: [Endpoint] { endpoints.filter { $0.id != .root } }

  /// Returns the endpoint for commands of a cluster if none was named: the first that has it, with the root last.
  package func endpoint(serving cluster: ClusterID) -> EndpointID? {
    (applicationEndpoints + endpoints.filter { $0.id == .root }).first { $0.servers.contains(cluster) }?.id
  }
}

extension HomeDevice {
  /// Returns the record of the device with its names, nodes and endpoints.
  package func record(room: String?) -> DeviceRecord? { DeviceRecord(entry, room: room) }
}

extension HomeError {
  /// Returns the same error for this device, with its label.
  package func about(_ device: DeviceRecord) -> HomeError {
    var copy = self
    if copy.device == nil || copy.device == device.name { copy.device = device.label }
    return copy
  }
}
