internal import MatterClusters

/// The endpoints of a device, composed of those of its sources. See the article “The home model”, “Sources of a
/// device”.
package struct DeviceParts: Sendable {
  /// The place of a trait at a source other than the active one.
  package struct Place: Sendable {
    package var source: SourceID
    /// In the numbering of the source.
    package var endpoint: EndpointID
  }

  /// The node of the active source.
  private let node: NodeID?
  /// The endpoints of the active source, with the additional traits and types, and then the additional endpoints.
  package private(set) var endpoints: [DeviceEndpoint]
  /// The traits that the active source lacks, by their paths on the device.
  package private(set) var additions: [ClusterPath: Place] = [:]

  /// - Parameter sources: the sources, the active one first.
  init(_ sources: [DeviceSource]) {
    node = sources.first?.id.node
    endpoints = sources.first?.endpoints ?? []
    for source in sources.dropFirst() {
      for endpoint in source.endpoints.sorted(by: { $0.id < $1.id }) { add(endpoint, of: source) }
    }
  }

  /// Adds the traits of an endpoint that no nearer source offers.
  private mutating func add(_ endpoint: DeviceEndpoint, of source: DeviceSource) {
    let missing = endpoint.servers.filter { cluster in
      endpoint.isOwnTrait(cluster) && !endpoints.contains { $0.corresponds(to: endpoint, in: cluster) }
    }
    guard !missing.isEmpty, let index = counterpart(of: endpoint, of: source) ?? appendEndpoint() else { return }
    let types = endpoint.hasApplicationType ? endpoint.applicationTypes : [DeviceTypes.powerSource.id]
    for type in types where !endpoints[index].deviceTypes.contains(type) { endpoints[index].deviceTypes.append(type) }
    for cluster in missing where !endpoints[index].servers.contains(cluster) {
      endpoints[index].servers.append(cluster)
      additions[ClusterPath(endpoints[index].id, cluster)] = Place(source: source.id, endpoint: endpoint.id)
    }
  }

  /// The only endpoint with a type in common, if the source has no other endpoint with it.
  private func counterpart(of endpoint: DeviceEndpoint, of source: DeviceSource) -> Int? {
    let indices = endpoints.indices.filter { endpoints[$0].hasTypeInCommon(with: endpoint) }
    guard let index = indices.first, indices.count == 1,
      source.endpoints.count(where: { $0.hasTypeInCommon(with: endpoints[index]) }) == 1
    else { return nil }
    return index
  }

  /// Appends an endpoint with the next number after the highest; returns nil if there is none.
  private mutating func appendEndpoint() -> Int? {
    let highest = endpoints.map(\.id.rawValue).max() ?? 0
    guard highest < .max else { return nil }
    endpoints.append(DeviceEndpoint(id: EndpointID(highest + 1)))
    return endpoints.count - 1
  }

  /// Returns the path on the device of a cluster of a source's node; nil if the device has the trait from another
  /// source.
  package func path(of path: ClusterPath, on node: NodeID) -> ClusterPath? {
    if node == self.node { return path }
    return additions.first {
      $0.key.cluster == path.cluster && $0.value.endpoint == path.endpoint && $0.value.source.node == node
    }?.key
  }
}

extension DeviceEntry {
  /// The endpoints with the traits of all sources.
  package var parts: DeviceParts { DeviceParts(sources.count > 1 ? nearestSources : sources) }
}

extension DeviceEndpoint {
  /// Whether a trait belongs to the device itself. The traits of Root Node and Bridged Node belong to a source.
  fileprivate func isOwnTrait(_ cluster: ClusterID) -> Bool {
    switch cluster {
    case Descriptor.id, BasicInformation.id, BridgedDeviceBasicInformation.id: false
    case PowerSource.id: true
    default: hasApplicationType
    }
  }

  /// Whether both endpoints may be the same part of a device, regarding a cluster.
  func corresponds(to other: DeviceEndpoint, in cluster: ClusterID) -> Bool {
    // A source may have the battery of a device on any endpoint.
    servers.contains(cluster) && other.servers.contains(cluster)
      && (cluster == PowerSource.id || hasTypeInCommon(with: other))
  }

  fileprivate func hasTypeInCommon(with other: DeviceEndpoint) -> Bool {
    applicationTypes.contains { type in
      other.applicationTypes.contains { Self.basicType(of: $0) == Self.basicType(of: type) }
    }
  }

  /// The type that a type extends, because a source may offer less of a light than another.
  private static func basicType(of type: DeviceTypeID) -> DeviceTypeID {
    switch type {
    case DeviceTypes.dimmableLight.id, DeviceTypes.colorTemperatureLight.id, DeviceTypes.extendedColorLight.id:
      DeviceTypes.onOffLight.id
    case DeviceTypes.dimmablePlugInUnit.id: DeviceTypes.onOffPlugInUnit.id
    case DeviceTypes.mountedDimmableLoadControl.id: DeviceTypes.mountedOnOffControl.id
    default: type
    }
  }
}
