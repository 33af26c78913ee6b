public import MatterClusters
public import MatterModel

/// An endpoint of a device: its device types and cluster servers. The engine adds the Descriptor.
public struct EndpointDefinition: Sendable {
  public var id: EndpointID
  public var deviceTypes: [DeviceType]
  public var servers: [ClusterServer]
  /// Clusters that the endpoint uses as a client.
  public var clients: [ClusterID]
  /// The endpoints that this one is composed of. Ignored for the root, whose parts are all other endpoints.
  public var parts: [EndpointID]
  /// Semantic tags that distinguish the endpoint from its siblings.
  public var tags: [SemanticTagStruct]

  public init(
    _ id: EndpointID, deviceTypes: [DeviceType], servers: [ClusterServer], clients: [ClusterID] = [],
    parts: [EndpointID] = [], tags: [SemanticTagStruct] = []
  ) {
    self.id = id
    self.deviceTypes = deviceTypes
    self.servers = servers
    self.clients = clients
    self.parts = parts
    self.tags = tags
  }
}
