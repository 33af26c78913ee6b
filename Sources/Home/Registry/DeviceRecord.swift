public import MatterModel

/// What a home knows of a device's place: its names, the node and the endpoints that it is found at.
public struct DeviceRecord: Hashable, Sendable {
  /// As the device's Descriptor tells it.
  public typealias Endpoint = DeviceEndpoint

  /// Stays the same as long as the device is in the home: `5`, or `7/3` for what is behind a bridge.
  public var id: String
  public var nodeID: NodeID
  /// `.root` for a whole node; of what is behind a bridge, the endpoint that stands for it.
  public var mainEndpoint: EndpointID = .root
  /// The home's name for the device, which is not its NodeLabel.
  public var name: String
  /// Nil: in no room.
  public var room: String?
  /// In the order of their ids.
  public var endpoints: [Endpoint]
  public var identity = DeviceIdentity()

  public init(nodeID: NodeID, name: String, room: String? = nil, endpoints: [Endpoint] = []) {
    id = SourceID(nodeID).description
    self.nodeID = nodeID
    self.name = name
    self.room = room
    self.endpoints = endpoints
  }

  /// - Returns: nil for a device without a way to it.
  public init?(_ entry: DeviceEntry, room: String?) {
    guard let source = entry.active else { return nil }
    id = entry.id
    nodeID = source.id.node
    mainEndpoint = source.mainEndpoint
    name = entry.name
    self.room = room
    endpoints = source.endpoints
    identity = source.identity
  }

  /// Whether it is behind a bridge.
  public var isBridged: Bool { mainEndpoint != .root }

  /// The name with the room in front: `kitchen/lamp`.
  public var fullName: String { room.map { "\($0)/\(name)" } ?? name }

  /// The endpoints that do something for people: all but the root.
  public var applicationEndpoints: [Endpoint] { endpoints.filter { $0.id != .root } }

  /// The endpoint to send a cluster's commands to where nobody named one: the first that has it, the root last.
  public func endpoint(serving cluster: ClusterID) -> EndpointID? {
    (applicationEndpoints + endpoints.filter { $0.id == .root }).first { $0.servers.contains(cluster) }?.id
  }
}
