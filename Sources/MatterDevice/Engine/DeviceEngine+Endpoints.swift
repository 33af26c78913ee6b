internal import MatterClusters
internal import MatterCrypto
internal import MatterModel
public import MatterProtocol

// Changes of the composition while the device runs, as of a bridge.
extension DeviceEngine {
  /// Replaces the application endpoints. Endpoints that existed before keep their servers and their state, except for
  /// the Descriptor. The data of removed endpoints is erased, new ones start with their initial values. Subscribers get
  /// the changes of the Descriptors and all attributes of new endpoints.
  public mutating func replaceEndpoints(_ endpoints: [EndpointDefinition], at now: Instant) {
    advance(to: now)
    let before = Hash.sha256(composition)
    let positions = context.node.replaceEndpoints(RootNode.complete(endpoints, configuration))
    context.current = 0
    for (exchange, interaction) in interactions {
      guard case .reporting(var job) = interaction else { continue }
      job.moveClusters { positions.moved[$0] }
      interactions[exchange] = .reporting(job)
    }
    for endpoint in positions.removed {
      let (attributes, servers) = StoreKey.prefixes(of: endpoint)
      let keys = storedKeys.filter { $0.hasPrefix(attributes) || $0.hasPrefix(servers) }.sorted()
      context.node.changes += keys.map { StoreChange($0, nil) }
    }
    start(positions.added)
    updateConfigurationVersion(before)
    settle()
  }
}

extension NodeState {
  /// The positions of clusters after a change of the composition.
  struct Moves {
    /// The new positions by the old ones, without removed clusters.
    var moved: [Int: Int] = [:]
    /// The positions of the clusters of new endpoints.
    var added: [Int] = []
    var removed: [EndpointID] = []
  }

  /// Replaces the endpoints and their clusters.
  mutating func replaceEndpoints(_ definitions: [EndpointDefinition]) -> Moves {
    let old = self
    let known = Set(endpoints.map(\.id))
    var moves = Moves()
    moves.removed = known.subtracting(definitions.map(\.id)).sorted()
    let fresh = Set(definitions.map(\.id)).subtracting(known)
    setEndpoints(definitions) { path, server in
      guard known.contains(path.endpoint), let position = old.index(path) else { return nil }
      // Lists of parts and tags depend on other endpoints.
      guard path.cluster == Descriptor.id else { return old.clusters[position] }
      return ClusterState(path, server, dataVersion: old.clusters[position].dataVersion)
    }
    for (position, state) in old.clusters.enumerated() {
      guard let index = index(state.path) else { continue }
      moves.moved[position] = index
      for attribute in Set(state.attributeIDs + clusters[index].attributeIDs).sorted()
      where state.value(attribute) != clusters[index].value(attribute) {
        clusters[index].dataVersion &+= 1
        dirty.append(ConcreteAttributePath(state.path.endpoint, state.path.cluster, attribute))
      }
    }
    for (index, state) in clusters.enumerated() where fresh.contains(state.path.endpoint) {
      moves.added.append(index)
      dirty += state.attributeIDs.map { ConcreteAttributePath(state.path.endpoint, state.path.cluster, $0) }
    }
    timers = timers.compactMap { timer in
      moves.moved[timer.cluster].map { ServerTimer(cluster: $0, id: timer.id, deadline: timer.deadline) }
    }
    var table = groupTable
    table.raiseMaximum(forServers: clusters.count { $0.path.cluster == Groups.id })
    for entry in table.entries {
      for endpoint in moves.removed { table.remove(entry.group, fabric: entry.fabric, endpoint: endpoint) }
    }
    if table != groupTable {
      groupTable = table
      changes.append(StoreChange(StoreKey.groups, table.tlv, isDurable: true))
      markChanged(ConcreteAttributePath(.root, GroupKeyManagement.id, GroupKeyManagement.groupTable.id))
    }
    return moves
  }
}

extension ClusterState {
  /// Returns the encoded value of an attribute that is not computed.
  fileprivate func value(_ attribute: AttributeID) -> [UInt8]? { self[attribute] ?? server.globals.values[attribute] }
}
