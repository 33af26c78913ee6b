internal import MatterClusters
package import MatterModel

// A device that is reached two ways has other endpoints by each: what was meant by the one is found again by the other.
extension HomeState {
  /// A cluster of a device, as one way to it numbers it, as another one does.
  ///
  /// The endpoint that corresponds has the cluster and an application type in common with it, and is the only one of which
  /// that is true, seen from either side; of several alike, the only one with the same tags. What is told of the device as
  /// a whole is in Basic Information of a node, in Bridged Device Basic Information of what is behind a bridge: attributes
  /// that both have and that take the same right to write.
  /// - Parameter attribute: nil: a command is meant.
  /// - Throws: ``HomeError`` `notFound` where nothing corresponds, `ambiguousTarget` where several may.
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
    let there = new.endpoints.filter { $0.corresponds(to: endpoint, in: path.cluster) }
    guard let first = there.first else { throw missing(path, of: device) }
    let here = old.endpoints.filter { endpoint in there.contains { $0.corresponds(to: endpoint, in: path.cluster) } }
    if there.count == 1, here.count == 1 { return ClusterPath(first.id, path.cluster) }
    let tags = tags(of: endpoint.id, on: old.id.node)
    let alike = there.filter { self.tags(of: $0.id, on: new.id.node) == tags }
    guard !tags.isEmpty, alike.count == 1, here.count(where: { self.tags(of: $0.id, on: old.id.node) == tags }) == 1
    else {
      throw HomeError(
        .ambiguousTarget,
        "the active source has changed, and \(name(path)) matches \(there.count) endpoints; "
          + "read it again", device: device.name, candidates: there.map { name(ClusterPath($0.id, path.cluster)) }
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

  /// What tells endpoints of one type apart. Matter Core § 9.5.6.5.
  private func tags(of endpoint: EndpointID, on node: NodeID) -> Set<[UInt8]> {
    Set((values[node]?.value(Descriptor.tagList, on: endpoint) ?? []).map(\.tlv))
  }
}

extension DeviceSource {
  /// Where its maker is told.
  fileprivate var identityCluster: ClusterID { id.isBridged ? BridgedDeviceBasicInformation.id : BasicInformation.id }
}

extension DeviceEndpoint {
  /// Whether it may be the same part of a device that is seen another way, as far as a cluster goes.
  fileprivate func corresponds(to other: DeviceEndpoint, in cluster: ClusterID) -> Bool {
    servers.contains(cluster) && other.servers.contains(cluster)
      && applicationTypes.contains { other.applicationTypes.contains($0) }
  }
}
