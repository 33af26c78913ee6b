public import MatterModel

/// What a home knows of one node: the names that people gave it, and the facts read when it was paired.
public struct DeviceRecord: Hashable, Sendable {
  /// An endpoint with its types and server clusters, from its Descriptor.
  public struct Endpoint: Hashable, Sendable {
    public var id: EndpointID
    public var deviceTypes: [DeviceTypeID]
    public var servers: [ClusterID]
    public var clients: [ClusterID]
    public var parts: [EndpointID]

    public init(
      id: EndpointID, deviceTypes: [DeviceTypeID], servers: [ClusterID], clients: [ClusterID] = [],
      parts: [EndpointID] = []
    ) {
      self.id = id
      self.deviceTypes = deviceTypes
      self.servers = servers
      self.clients = clients
      self.parts = parts
    }
  }

  public var nodeID: NodeID
  public var name: String
  /// Nil: in no room.
  public var room: String?
  /// In the order of their ids.
  public var endpoints: [Endpoint]
  public var vendorID: VendorID?
  public var productID: UInt16?
  public var vendorName: String?
  public var productName: String?
  public var serialNumber: String?
  public var uniqueID: String?
  public var softwareVersion: String?

  public init(nodeID: NodeID, name: String, room: String? = nil, endpoints: [Endpoint] = []) {
    self.nodeID = nodeID
    self.name = name
    self.room = room
    self.endpoints = endpoints
  }

  /// The device's own id; the same as long as it is in the home.
  public var id: String { "\(nodeID.rawValue)" }

  /// The name with the room in front: `kitchen/lamp`.
  public var fullName: String { room.map { "\($0)/\(name)" } ?? name }

  /// The endpoints that do something for people: all but the root.
  public var applicationEndpoints: [Endpoint] { endpoints.filter { $0.id != .root } }

  /// The endpoint to send a cluster's commands to where nobody named one: the first that has it, the root last.
  public func endpoint(serving cluster: ClusterID) -> EndpointID? {
    (applicationEndpoints + endpoints.filter { $0.id == .root }).first { $0.servers.contains(cluster) }?.id
  }
}
