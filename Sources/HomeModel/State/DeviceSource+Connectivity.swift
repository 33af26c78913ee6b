internal import MatterClusters
package import MatterModel

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

extension DeviceSource {
  /// Aggregates the connectivity over the traits of the included endpoints. All traits of an endpoint have the same
  /// connectivity and repetition doesn't affect a fold, so one value is added for each endpoint.
  /// - Parameter values: the values of its node.
  package func connectivity(_ values: NodeValues, where isIncluded: (EndpointID) -> Bool) -> SourceConnectivity {
    let isOnline = status.connectivity.connectivityState == .online
    let unreachable = isOnline ? endpoints.unreachable(values) : []
    var fold = SourceConnectivity.Fold()
    for endpoint in endpoints where !endpoint.servers.isEmpty && isIncluded(endpoint.id) {
      fold.add(connectivity(of: endpoint.id, unreachable))
    }
    return fold.value
  }

  /// The connectivity of the traits of an endpoint: that of their subscription, or offline if the endpoint, or one that
  /// contains it, is a bridged device that is unreachable for its bridge.
  package func connectivity(of endpoint: EndpointID, _ values: NodeValues) -> SourceConnectivity {
    let isOnline = status.connectivity.connectivityState == .online
    return connectivity(of: endpoint, isOnline ? endpoints.unreachable(values) : [])
  }

  /// The same connectivity, with the offline reason.
  package func metadata(of endpoint: EndpointID, _ values: NodeValues) -> TraitMetadata {
    let own = connectivity(of: endpoint, values)
    let isPart = own.connectivityState == .offline && status.connectivity.connectivityState == .online
    return TraitMetadata(sourceConnectivity: own, offlineReason: isPart ? .bridgeSaysUnreachable : status.reason)
  }

  private func connectivity(of endpoint: EndpointID, _ unreachable: Set<EndpointID>) -> SourceConnectivity {
    unreachable.contains(endpoint)
      ? SourceConnectivity(.offline, status.connectivity.dataSourceLocality) : status.connectivity
  }
}
