internal import MatterClusters

extension Sequence<DeviceEndpoint> {
  /// The endpoints of bridged devices that are unreachable for their bridge, with all their parts.
  /// - Parameter values: the values of their node.
  package func unreachable(_ values: NodeValues) -> Set<EndpointID> {
    var open: [EndpointID] = []
    for endpoint in self where endpoint.servers.contains(BridgedDeviceBasicInformation.id) {
      if values.value(BridgedDeviceBasicInformation.reachable, on: endpoint.id) == false { open.append(endpoint.id) }
    }
    var result: Set<EndpointID> = []
    while let next = open.popLast() {
      guard result.insert(next).inserted else { continue }
      for endpoint in self where endpoint.id == next { open += endpoint.parts }
    }
    return result
  }
}

extension DeviceEntry {
  /// Aggregates the connectivity over the traits of the included endpoints. All traits of an endpoint of a source have
  /// the same connectivity and repetition doesn't affect an aggregate, so one value is added for them.
  /// - Parameters:
  ///   - parts: the ``parts`` of the device.
  ///   - values: returns the values of a node.
  package func connectivity(
    _ parts: DeviceParts, values: (NodeID) -> NodeValues?, where isIncluded: (EndpointID) -> Bool = { _ in true }
  ) -> SourceConnectivity {
    guard let active else { return .unknown }
    let unreachable = active.unreachable(values(active.id.node) ?? NodeValues())
    let own = active.endpoints.filter { !$0.servers.isEmpty && isIncluded($0.id) }.map {
      active.connectivity(of: $0.id, unreachable)
    }
    let added = parts.additions.filter { isIncluded($0.key.endpoint) }.compactMap { _, place in
      source(place.source).map { $0.connectivity(of: place.endpoint, values($0.id.node) ?? NodeValues()) }
    }
    return SourceConnectivity(of: own + added)
  }
}

extension DeviceSource {
  /// The connectivity of the traits of an endpoint: that of their subscription, or offline if the endpoint, or one that
  /// contains it, is a bridged device that is unreachable for its bridge.
  package func connectivity(of endpoint: EndpointID, _ values: NodeValues) -> SourceConnectivity {
    connectivity(of: endpoint, unreachable(values))
  }

  /// The same connectivity, with the offline reason.
  package func metadata(of endpoint: EndpointID, _ values: NodeValues) -> TraitMetadata {
    let own = connectivity(of: endpoint, values)
    let isPart = own.connectivityState == .offline && status.connectivity.connectivityState == .online
    return TraitMetadata(sourceConnectivity: own, offlineReason: isPart ? .bridgeSaysUnreachable : status.reason)
  }

  fileprivate func unreachable(_ values: NodeValues) -> Set<EndpointID> {
    status.connectivity.connectivityState == .online ? endpoints.unreachable(values) : []
  }

  fileprivate func connectivity(of endpoint: EndpointID, _ unreachable: Set<EndpointID>) -> SourceConnectivity {
    unreachable.contains(endpoint)
      ? SourceConnectivity(.offline, status.connectivity.dataSourceLocality) : status.connectivity
  }
}
