public import MatterClusters
public import MatterModel

/// The Power Topology server: the endpoints whose power an electrical sensor measures. Application Clusters § 2.8.
public enum PowerTopologyServer {
  /// Returns the server of an endpoint that measures the power of itself and its parts, or of the whole node.
  public static func make(_ feature: Feature = PowerTopology.treeTopology) -> ClusterServer {
    ClusterServer(PowerTopology.self, features: [feature])
  }

  /// Returns the server of an endpoint that is a part of a device, and measures the power of that device.
  public static func ofParent() -> ClusterServer {
    ClusterServer(PowerTopology.self, features: [PowerTopology.setTopology])
      .onRead(PowerTopology.availableEndpoints) { context in context.parent.map { [$0] } ?? [] }
  }
}

extension ServerContext {
  /// The innermost endpoint that has the handler's own endpoint as a part; nil for an endpoint of its own.
  var parent: EndpointID? {
    let endpoint = endpoint
    return node.endpoints.filter { $0.id != .root && $0.parts.contains(endpoint) }.min {
      $0.parts.count < $1.parts.count
    }?
    .id
  }
}
