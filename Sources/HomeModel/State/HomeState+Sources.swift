internal import MatterClusters

// The sources of a device may have different endpoints: maps the endpoints of one source to those of another.
extension HomeState {
  /// Returns the device of a node's cluster, and its path on the device; nil if the device has the trait from another
  /// source.
  package func trait(of path: ClusterPath, on node: NodeID) -> (device: String, path: ClusterPath)? {
    guard let id = deviceID(of: node, path.endpoint) else { return nil }
    return devices[id]?.parts.path(of: path, on: node).map { (id, $0) }
  }

  /// Returns the source that the traits of a device come from now, and their paths there: the nearest source to which
  /// all paths can be mapped.
  /// - Parameters:
  ///   - paths: the clusters, each with an attribute or, for a command, nil.
  ///   - old: the source that the endpoints belong to; nil: the active one.
  /// - Throws: ``HomeError`` as ``path(_:_:of:by:now:)``; `notFound` for a device without a source.
  package func place(
    of paths: [(path: ClusterPath, attribute: AttributeID?)], of device: DeviceEntry, by old: SourceID?
  ) throws(HomeError) -> (source: DeviceSource, paths: [ClusterPath]) {
    var failure: HomeError?
    for source in device.nearestSources {
      guard let old else { return (source, paths.map { $0.path }) }
      do throws(HomeError) {
        let found = try paths.map { (path, attribute) throws(HomeError) in
          try self.path(path, attribute, of: device, by: old, now: source)
        }
        return (source, found)
      } catch {
        guard error.code == .notFound else { throw error }
        failure = failure ?? error
      }
    }
    throw failure ?? HomeError(.notFound, "the device has no source", device: device.name)
  }

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
  fileprivate var identityCluster: ClusterID { id.isBridged ? BridgedDeviceBasicInformation.id : BasicInformation.id }
}
