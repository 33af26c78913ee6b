internal import HomeModel
internal import MatterProtocol

/// An event of the nodes, without its JSON form.
enum NodeEvent: Hashable {
  case added(NodeID)
  case updated(NodeID)
  case removed(NodeID)
  case endpointAdded(NodeID, EndpointID)
  case endpointRemoved(NodeID, EndpointID)
  case attribute(NodeID, ConcreteAttributePath, value: [UInt8])
  case event(NodeID, EventData)

  /// Whether the ``NetworkTopology`` may be another one after the event.
  var changesTopology: Bool {
    switch self {
    case .added, .updated, .removed: true
    case .attribute(_, let path, _): NetworkTopology.clusters.contains(path.cluster)
    case .endpointAdded, .endpointRemoved, .event: false
    }
  }
}

/// The nodes that clients were informed about, and the events that result from each update of the home.
///
/// A new node is announced when all its clusters have reported, since clients derive their entities from the attributes
/// of the first node object. Nodes of clouds are not part of the projection.
struct NodeProjection {
  /// A node that was announced.
  struct Node: Hashable {
    var isAvailable: Bool
    var endpoints: Set<EndpointID>
    /// The clusters that a client has values of.
    var clusters: Set<ClusterPath>
  }

  /// The announced nodes.
  private(set) var nodes: [NodeID: Node] = [:]
  /// New nodes whose descriptions are incomplete.
  private(set) var pending: Set<NodeID> = []

  /// Creates the projection of a home; all its nodes count as announced.
  init(_ state: HomeState) {
    for id in Self.nodeIDs(state) { nodes[id] = Self.node(id, state) }
  }

  var sortedIDs: [NodeID] { nodes.keys.sorted() }

  /// Returns the events of an update, in the order in which clients can apply them: a removed part is announced before
  /// its node is updated, a new one afterward.
  /// - Parameter state: the state after the update.
  mutating func apply(_ update: HomeUpdate, _ state: HomeState) -> [NodeEvent] {
    var touched: Set<NodeID> = []
    var described: Set<NodeID> = []
    var reduced: Set<NodeID> = []
    var attributes: [NodeEvent] = []
    for change in update.changes {
      if case .deviceRemoved = change {
        // The change does not name the nodes of the device.
        touched.formUnion(nodes.keys)
        touched.formUnion(pending)
        described.formUnion(nodes.keys)
      }
      guard let node = change.node, !node.isTemporaryLocal else { continue }
      touched.insert(node)
      switch change {
      case .attribute(_, let path, let value?):
        let cluster = ClusterPath(path.endpoint, path.cluster)
        if nodes[node]?.clusters.contains(cluster) == true {
          attributes.append(.attribute(node, path, value: value))
        } else {
          described.insert(node)
        }
      // No event removes a single attribute; the published server sends the whole node.
      case .attribute(_, _, nil): reduced.insert(node)
      case .event(_, let data): attributes.append(.event(node, data))
      case .topology, .sourceAdded, .sourceRemoved: described.insert(node)
      default: break
      }
    }
    var events: [NodeEvent] = []
    for id in touched.sorted() {
      let isReduced = reduced.contains(id)
      refresh(id, isDescribed: isReduced || described.contains(id), isChanged: isReduced, state, &events)
    }
    // An attribute of a node that was not announced before is part of its node object.
    return events
      + attributes.filter { event in
        switch event {
        case .attribute(let node, _, _), .event(let node, _): nodes[node] != nil && !events.contains(.added(node))
        default: true
        }
      }
  }

  /// Returns the events after which a client knows a home that was loaded again.
  mutating func reload(_ state: HomeState) -> [NodeEvent] {
    var events: [NodeEvent] = []
    for id in Set(nodes.keys).union(Self.nodeIDs(state)).sorted() {
      refresh(id, isDescribed: true, isChanged: true, state, &events)
    }
    return events
  }

  /// Announces a pending node as it is. An available node is also updated, since clients that commission a node wait
  /// for its availability, which the published servers send separately.
  mutating func announce(_ id: NodeID, _ state: HomeState) -> [NodeEvent] {
    guard pending.remove(id) != nil, Self.contains(id, state) else { return [] }
    let node = Self.node(id, state)
    nodes[id] = node
    return node.isAvailable ? [.added(id), .updated(id)] : [.added(id)]
  }

  /// - Parameters:
  ///   - isDescribed: whether the endpoints or clusters may have changed.
  ///   - isChanged: whether the node object of an announced node has changed in any case.
  private mutating func refresh(
    _ id: NodeID, isDescribed: Bool, isChanged: Bool, _ state: HomeState, _ events: inout [NodeEvent]
  ) {
    guard Self.contains(id, state) else {
      pending.remove(id)
      if nodes.removeValue(forKey: id) != nil { events.append(.removed(id)) }
      return
    }
    guard let old = nodes[id] else {
      pending.insert(id)
      if Self.isComplete(id, state) { events += announce(id, state) }
      return
    }
    var new = old
    if isDescribed { new = Self.node(id, state) }
    new.isAvailable = Self.isAvailable(id, state)
    guard isChanged || new != old else { return }
    nodes[id] = new
    for endpoint in old.endpoints.subtracting(new.endpoints).sorted() { events.append(.endpointRemoved(id, endpoint)) }
    events.append(.updated(id))
    for endpoint in new.endpoints.subtracting(old.endpoints).sorted() { events.append(.endpointAdded(id, endpoint)) }
  }

  // MARK: The home

  private static func nodeIDs(_ state: HomeState) -> Set<NodeID> {
    Set(
      state.devices.values.lazy.flatMap(\.sources).filter { !$0.id.isBridged && !$0.id.node.isTemporaryLocal }
        .map(\.id.node))
  }

  private static func contains(_ id: NodeID, _ state: HomeState) -> Bool { state.source(SourceID(id)) != nil }

  private static func isAvailable(_ id: NodeID, _ state: HomeState) -> Bool {
    state.source(SourceID(id))?.status.connectivity.connectivityState == .online
  }

  private static func node(_ id: NodeID, _ state: HomeState) -> Node {
    let values = state.values[id] ?? NodeValues()
    var clusters: Set<ClusterPath> = []
    for endpoint in values.endpointIDs {
      for cluster in values[endpoint].keys { clusters.insert(ClusterPath(endpoint, cluster)) }
    }
    return Node(
      isAvailable: isAvailable(id, state), endpoints: Set(state.sources(of: id).flatMap(\.endpoints).map(\.id)),
      clusters: clusters)
  }

  /// Whether each endpoint that is listed is described, and each of its clusters has a value.
  private static func isComplete(_ id: NodeID, _ state: HomeState) -> Bool {
    guard isAvailable(id, state), let values = state.values[id] else { return false }
    let endpoints = state.sources(of: id).flatMap(\.endpoints)
    let described = Set(endpoints.map(\.id))
    return endpoints.allSatisfy { endpoint in
      endpoint.parts.allSatisfy { described.contains($0) }
        && endpoint.servers.allSatisfy { values[endpoint.id, $0] != nil }
    }
  }
}
