public import MatterModel

/// What a home knows of a device's place: its names, the node and the endpoints that it is found at.
public struct DeviceRecord: Hashable, Sendable {
  /// As the device's Descriptor tells it.
  public typealias Endpoint = DeviceEndpoint

  /// One way to it: a node, or an endpoint of a bridge.
  public struct Way: Hashable, Sendable {
    /// The node, and of a bridge the endpoint that stands for the device.
    public var id: SourceID
    /// In the order of their ids.
    public var endpoints: [Endpoint]
    /// As it is told by this way.
    public var identity: DeviceIdentity
  }

  /// Stays the same as long as the device is in the home: `5`, or `7/3` for what is behind a bridge.
  public var id: String
  public var nodeID: NodeID
  /// `.root` for a whole node; of what is behind a bridge, the endpoint that stands for it.
  public var mainEndpoint: EndpointID = .root
  /// The home's name for the device, which is not its NodeLabel.
  public var name: String
  /// What to call it in a message: its name, with the room in front where another device of the home has the same name.
  public var label: String
  /// Nil: in no room.
  public var room: String?
  /// In the order of their ids.
  public var endpoints: [Endpoint]
  public var identity = DeviceIdentity()
  /// All ways to it, in the order of their ids; node and endpoints are those of one of them.
  public private(set) var ways: [Way]

  /// A whole node, reached directly; its label is its name.
  public init(nodeID: NodeID, name: String, room: String? = nil, endpoints: [Endpoint] = []) {
    id = SourceID(nodeID).description
    self.nodeID = nodeID
    (self.name, label) = (name, name)
    self.room = room
    self.endpoints = endpoints
    ways = [Way(id: SourceID(nodeID), endpoints: endpoints, identity: identity)]
  }

  /// The device by the way that counts.
  /// - Returns: nil for a device without a way to it.
  public init?(_ entry: DeviceEntry, room: String?) {
    guard let source = entry.active else { return nil }
    id = entry.id
    nodeID = source.id.node
    mainEndpoint = source.mainEndpoint
    (name, label) = (entry.name, entry.name)
    self.room = room
    endpoints = source.endpoints
    identity = source.identity
    ways = entry.sources.map { Way(id: $0.id, endpoints: $0.endpoints, identity: $0.identity) }
  }

  /// The same device by another way.
  func by(_ way: Way) -> DeviceRecord {
    var copy = self
    (copy.nodeID, copy.mainEndpoint) = (way.id.node, way.id.endpoint)
    (copy.endpoints, copy.identity) = (way.endpoints, way.identity)
    return copy
  }

  /// The same by the first of its ways of which that is true; nil: it is true of none.
  func by(where isMeant: (Way) -> Bool) -> DeviceRecord? { ways.first(where: isMeant).map { by($0) } }

  /// Whether it is behind a bridge.
  public var isBridged: Bool { mainEndpoint != .root }

  /// The way that counts, as people name it: `10`, or `7/3` for what is behind a bridge. The device's id is its first one's.
  public var way: SourceID { SourceID(nodeID, mainEndpoint) }

  /// The name with the room in front: `kitchen/lamp`.
  public var fullName: String { room.map { "\($0)/\(name)" } ?? name }

  /// The endpoints that do something for people: all but the root.
  public var applicationEndpoints: [Endpoint] { endpoints.filter { $0.id != .root } }

  /// The endpoint to send a cluster's commands to where nobody named one: the first that has it, the root last.
  public func endpoint(serving cluster: ClusterID) -> EndpointID? {
    (applicationEndpoints + endpoints.filter { $0.id == .root }).first { $0.servers.contains(cluster) }?.id
  }
}
