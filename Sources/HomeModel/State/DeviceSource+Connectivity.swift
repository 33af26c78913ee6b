internal import MatterClusters
package import MatterModel

extension Sequence<DeviceEndpoint> {
  /// The endpoints of bridged devices that their bridge does not reach, with all that they are made of.
  /// - Parameter values: of their node.
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
  /// The fold over all traits of the endpoints that are asked for. All traits of an endpoint come the same way, and
  /// repetitions don't count in a fold: one for each endpoint will do.
  /// - Parameter values: of its node.
  package func connectivity(_ values: NodeValues, where isIncluded: (EndpointID) -> Bool) -> SourceConnectivity {
    let isOnline = status.connectivity.connectivityState == .online
    let unreachable = isOnline ? endpoints.unreachable(values) : []
    var fold = SourceConnectivity.Fold()
    for endpoint in endpoints where !endpoint.servers.isEmpty && isIncluded(endpoint.id) {
      fold.add(connectivity(of: endpoint.id, unreachable))
    }
    return fold.value
  }

  /// Of the traits of an endpoint: that of the subscription that feeds them, but offline where the endpoint, or one that it
  /// is a part of, is a bridged device that its bridge does not reach.
  package func connectivity(of endpoint: EndpointID, _ values: NodeValues) -> SourceConnectivity {
    let isOnline = status.connectivity.connectivityState == .online
    return connectivity(of: endpoint, isOnline ? endpoints.unreachable(values) : [])
  }

  /// The same, and why it is so.
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
