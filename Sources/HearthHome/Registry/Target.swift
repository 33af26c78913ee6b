/// A resolved target: a device, and the endpoint if one was named.
package struct Target: Hashable, Sendable {
  package var device: DeviceRecord
  package var endpoint: EndpointID?

  package init(_ device: DeviceRecord, endpoint: EndpointID? = nil) {
    self.device = device
    self.endpoint = endpoint
  }

  /// Returns the endpoint to use for a cluster, or for an attribute of it.
  /// - Throws: `notFound` if the device has no such cluster.
  package func endpoint(
    serving cluster: ClusterID, having attribute: AttributeID? = nil
  ) throws(HomeError) -> EndpointID {
    guard let found = endpoint ?? device.endpoint(serving: cluster, having: attribute) else {
      throw HomeError(
        .notFound, "no \(ElementNames.cluster(cluster)) cluster; `hearth describe` lists the clusters",
        device: device.name)
    }
    return found
  }

  /// Returns the endpoints for a command to the whole device: the named one, else all that have the cluster.
  /// - Throws: `notFound` if there is none: also for a bridge, because its bridged devices are separate devices.
  package func endpoints(serving cluster: ClusterID) throws(HomeError) -> [EndpointID] {
    let all = device.applicationEndpoints.filter { $0.servers.contains(cluster) }.map(\.id)
    return endpoint == nil && all.count > 1 ? all : [try endpoint(serving: cluster)]
  }
}

/// A room and its devices, as a target.
package struct RoomTarget: Hashable, Sendable {
  package var name: String
  /// `Cottage/Kitchen`.
  package var fullName: String
  package var devices: [DeviceRecord]
}

/// A group and its members, as a target.
package struct GroupTarget: Hashable, Sendable {
  package var name: String
  package var number: UInt16
  package var members: [Target]
}
