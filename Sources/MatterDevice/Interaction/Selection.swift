internal import MatterModel
internal import MatterProtocol

/// A selected attribute or an error status.
enum ReportItem: Sendable {
  case attribute(cluster: Int, AttributeID)
  case status(AttributePath, Status)
}

/// Selection of attributes and events by the paths of a request, as far as the subject may read them.
/// Matter Core § 8.4.3.2.
extension ServerContext {
  /// The maximum number of attributes that one request may select: more than a large node has.
  private static let itemLimit = 20_000

  /// Returns the attributes that the paths select, in the order of the paths, with error statuses for concrete paths.
  func select(_ paths: [AttributePath], filters: [DataVersionFilter]) throws(StatusError) -> [ReportItem] {
    var items: [ReportItem] = []
    for path in paths {
      if let concrete = path.concrete {
        select(concrete, filters, &items)
      } else {
        selectAll(path, filters, &items)
      }
      guard items.count <= Self.itemLimit else { throw StatusError(.pathsExhausted) }
    }
    return items
  }

  private func isFiltered(_ cluster: Int, _ filters: [DataVersionFilter]) -> Bool {
    filters.contains {
      $0.path == node.clusters[cluster].path && $0.dataVersion == node.clusters[cluster].dataVersion
    }
  }

  private func select(_ path: ConcreteAttributePath, _ filters: [DataVersionFilter], _ items: inout [ReportItem]) {
    switch lookUp(path) {
    case .success(let found):
      if !isFiltered(found.cluster, filters) { items.append(.attribute(cluster: found.cluster, path.attribute)) }
    case .failure(let error): items.append(.status(AttributePath(path), error.status))
    }
  }

  /// Looks an attribute up for reading. Without the View privilege the error does not reveal whether the cluster
  /// exists.
  func lookUp(_ path: ConcreteAttributePath) -> Result<(cluster: Int, info: AttributeInfo), StatusError> {
    let clusterPath = ClusterPath(path.endpoint, path.cluster)
    guard isAllowed(.view, clusterPath) else { return .failure(StatusError(.unsupportedAccess)) }
    guard node.hasEndpoint(path.endpoint) else { return .failure(StatusError(.unsupportedEndpoint)) }
    guard let cluster = node.index(clusterPath) else { return .failure(StatusError(.unsupportedCluster)) }
    guard let info = node.clusters[cluster].info(path.attribute), !node.isHidden(path) else {
      return .failure(StatusError(.unsupportedAttribute))
    }
    guard info.read == .view || isAllowed(info.read, clusterPath) else {
      return .failure(StatusError(.unsupportedAccess))
    }
    return .success((cluster, info))
  }

  /// Selects by a wildcard path, which skips attributes that do not exist or are not readable.
  private func selectAll(_ path: AttributePath, _ filters: [DataVersionFilter], _ items: inout [ReportItem]) {
    for cluster in node.clusters.indices {
      let state = node.clusters[cluster]
      guard path.endpoint == nil || path.endpoint == state.path.endpoint,
        path.cluster == nil || path.cluster == state.path.cluster, isAllowed(.view, state.path),
        !isFiltered(cluster, filters)
      else { continue }
      for attribute in state.attributeIDs where path.attribute == nil || path.attribute == attribute {
        let concrete = ConcreteAttributePath(state.path.endpoint, state.path.cluster, attribute)
        guard !node.isHidden(concrete), let info = state.info(attribute),
          info.read == .view || isAllowed(info.read, state.path)
        else { continue }
        items.append(.attribute(cluster: cluster, attribute))
      }
    }
  }

  /// Returns the value as the subject may read it, or that of a hook.
  mutating func visibleValue(_ cluster: Int, _ attribute: AttributeID, isFabricFiltered: Bool) -> [UInt8] {
    var value = ownValue(cluster, attribute, isFabricFiltered: isFabricFiltered)
    guard !node.hooks.violations.isEmpty else { return value }
    let path = node.clusters[cluster].path
    func concrete(_ id: AttributeID) -> ConcreteAttributePath { ConcreteAttributePath(path.endpoint, path.cluster, id) }
    if attribute == GlobalAttribute.attributeList {
      value = node.clusters[cluster].attributeIDs.filter { !node.isHidden(concrete($0)) }.tlv
    }
    guard let violation = node.hooks.violations[concrete(attribute)],
      let info = node.clusters[cluster].info(attribute)
    else { return value }
    return violation.value(instead: value, attribute == GlobalAttribute.featureMap ? .features : info.schema)
  }

  private mutating func ownValue(_ cluster: Int, _ attribute: AttributeID, isFabricFiltered: Bool) -> [UInt8] {
    let bytes = encoded(cluster, attribute) ?? [0x14]
    guard let info = node.clusters[cluster].server.attributes[attribute]?.info, info.quality.contains(.fabricScoped)
    else { return bytes }
    return FabricList.view(
      bytes, by: subject.fabric, isFiltered: isFabricFiltered, isSensitive: info.quality.contains(.fabricSensitive))
  }

  // MARK: Events

  /// Returns the recorded events from a number on that the paths select, with error statuses for concrete paths.
  func select(_ paths: [EventPath], from minimum: UInt64) -> (events: [EventRecord], statuses: [(EventPath, Status)]) {
    guard !paths.isEmpty else { return ([], []) }
    let events = node.events.records.filter { record in
      record.number >= minimum && (record.fabric == nil || record.fabric == subject.fabric)
        && paths.contains { $0.matches(record.path) }
        && isAllowed(record.read, ClusterPath(record.path.endpoint, record.path.cluster))
    }
    let statuses = paths.compactMap { path in errorStatus(path).map { (path, $0) } }
    return (events, statuses)
  }

  private func errorStatus(_ path: EventPath) -> Status? {
    guard let endpoint = path.endpoint, let cluster = path.cluster, let event = path.event else { return nil }
    let clusterPath = ClusterPath(endpoint, cluster)
    guard isAllowed(.view, clusterPath) else { return Status(.unsupportedAccess) }
    guard node.hasEndpoint(endpoint) else { return Status(.unsupportedEndpoint) }
    guard let index = node.index(clusterPath) else { return Status(.unsupportedCluster) }
    guard let info = node.clusters[index].server.events[event] else { return Status(.unsupportedEvent) }
    return isAllowed(info.read, clusterPath) ? nil : Status(.unsupportedAccess)
  }

  /// Returns whether the path can select any event that the subject may read.
  func canSelect(_ path: EventPath) -> Bool {
    node.clusters.contains { state in
      (path.endpoint == nil || path.endpoint == state.path.endpoint)
        && (path.cluster == nil || path.cluster == state.path.cluster)
        && state.server.events.values.contains {
          (path.event == nil || path.event == $0.id) && isAllowed($0.read, state.path)
        }
    }
  }
}
