internal import MatterClusters

extension HomeDevice {
  /// The reachability and locality, aggregated over all traits.
  public var sourceConnectivity: SourceConnectivity { connectivity { _ in true } }

  /// Whether the device, or a part of it, is online.
  public var isReachable: Bool { entry.isReachable }

  /// Whether the device is only a bridge: an aggregator without an application of its own. Matter Core § 9.12.
  public var isBridge: Bool { entry.isBridge }

  /// The connectivity, aggregated over the traits of the included endpoints.
  package func connectivity(where isIncluded: (EndpointID) -> Bool) -> SourceConnectivity {
    entry.connectivity(parts, values: { values(of: $0) }, where: isIncluded)
  }

  /// Returns the attributes of the node of a source.
  package func values(of node: NodeID) -> NodeValues? { others[node] ?? (node == source?.id.node ? values : nil) }

  /// Returns the path on the device of an attribute of a source's node; nil if the trait comes from another source.
  package func path(of path: ConcreteAttributePath, on node: NodeID) -> ConcreteAttributePath? {
    parts.path(of: ClusterPath(path.endpoint, path.cluster), on: node).map {
      ConcreteAttributePath($0.endpoint, $0.cluster, path.attribute)
    }
  }

  /// Returns the same value, which sends its requests through another connection.
  package func asked(through home: any HomeAccess) -> HomeDevice { modified(self) { $0.home = home } }
}

extension DeviceEntry {
  package var isReachable: Bool {
    switch active?.status.connectivity.connectivityState {
    case .online, .partiallyOnline: true
    case .offline, .unknown, nil: false
    }
  }

  package var isBridge: Bool {
    let types = active?.endpoints.flatMap(\.applicationTypes) ?? []
    return !types.isEmpty && types.allSatisfy { $0 == DeviceTypes.aggregator.id }
  }
}
