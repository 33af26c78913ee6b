public import MatterClusters
public import MatterModel

/// An endpoint of a device: what it is, and how its clusters behave. Descriptor is added to each by the engine.
public struct EndpointDefinition: Sendable {
  public var id: EndpointID
  public var deviceTypes: [DeviceType]
  public var servers: [ClusterServer]
  /// Clusters that the endpoint uses as a client.
  public var clients: [ClusterID]
  /// The endpoints that this one is composed of; those of the root are all the others, whatever this says.
  public var parts: [EndpointID]
  /// Tags that tell it from its siblings.
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
