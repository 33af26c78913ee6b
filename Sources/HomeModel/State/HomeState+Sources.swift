internal import MatterClusters
package import MatterModel

// The sources of a device may have different endpoints: maps the endpoints of one source to those of another.
extension HomeState {
  /// Maps a cluster of one source of a device to another source.
  ///
  /// The corresponding endpoint has the cluster and an application type in common, and is the only such endpoint in
  /// both directions; if several match, the only one with the same semantic tags. Basic Information of a node
  /// corresponds to Bridged Device Basic Information of a bridged device, for attributes that both have with the same
  /// write privilege.
  /// - Parameter attribute: the attribute; nil for a command.
  /// - Throws: ``HomeError`` `notFound` if no endpoint corresponds, `ambiguousTarget` if several may.
  package func path(
    _ path: ClusterPath, _ attribute: AttributeID?, of device: DeviceEntry, by old: SourceID, now new: DeviceSource
  ) throws(HomeError) -> ClusterPath {
    guard old != new.id else { return path }
    guard let old = device.source(old), let endpoint = old.endpoint(path.endpoint) else {
      throw missing(path, of: device)
    }
    if path.cluster == old.identityCluster, path.endpoint == old.mainEndpoint {
      guard new.endpoint(new.mainEndpoint)?.servers.contains(new.identityCluster) == true, let attribute,
        let known = ElementNames.info(attribute, of: path.cluster),
        let other = ElementNames.info(attribute, of: new.identityCluster), known.write == other.write
      else { throw missing(path, of: device) }
      return ClusterPath(new.mainEndpoint, new.identityCluster)
    }
    let matches = new.endpoints.filter { $0.corresponds(to: endpoint, in: path.cluster) }
    guard let first = matches.first else { throw missing(path, of: device) }
    let alternatives = old.endpoints.filter { endpoint in
      matches.contains { $0.corresponds(to: endpoint, in: path.cluster) }
    }
    if matches.count == 1, alternatives.count == 1 { return ClusterPath(first.id, path.cluster) }
    let tags = tags(of: endpoint.id, on: old.id.node)
    let alike = matches.filter { self.tags(of: $0.id, on: new.id.node) == tags }
    guard !tags.isEmpty, alike.count == 1,
      alternatives.count(where: { self.tags(of: $0.id, on: old.id.node) == tags }) == 1
    else {
      throw HomeError(
        .ambiguousTarget,
        "the active source has changed, and \(name(path)) matches \(matches.count) endpoints; "
          + "read it again", device: device.name, candidates: matches.map { name(ClusterPath($0.id, path.cluster)) }
      )
    }
    return ClusterPath(alike[0].id, path.cluster)
  }

  private func missing(_ path: ClusterPath, of device: DeviceEntry) -> HomeError {
    HomeError(
      .notFound, "the active source has changed, and has no \(name(path)); read the device again",
      device: device.name)
  }

  private func name(_ path: ClusterPath) -> String { "\(path.endpoint)/\(ElementNames.cluster(path.cluster))" }

  /// The semantic tags, which distinguish endpoints of one type. Matter Core § 9.5.6.5.
  private func tags(of endpoint: EndpointID, on node: NodeID) -> Set<[UInt8]> {
    Set((values[node]?.value(Descriptor.tagList, on: endpoint) ?? []).map(\.tlv))
  }
}

extension DeviceSource {
  /// The cluster with the identity of the device.
  fileprivate var identityCluster: ClusterID { id.isBridged ? BridgedDeviceBasicInformation.id : BasicInformation.id }
}

extension DeviceEndpoint {
  /// Whether both endpoints may be the same part of a device, regarding a cluster.
  fileprivate func corresponds(to other: DeviceEndpoint, in cluster: ClusterID) -> Bool {
    servers.contains(cluster) && other.servers.contains(cluster)
      && applicationTypes.contains { other.applicationTypes.contains($0) }
  }
}
