internal import MatterProtocol

/// A snapshot of a whole home: names, rooms, devices, their descriptions and last values.
///
/// Modified only by applying changes. Times of last contact are not part of it; see ``Contact``.
public struct HomeState: Equatable, Sendable {
  /// The structures, in the order in which they were added.
  public private(set) var structures: [Structure] = []
  /// The structure that is used where none is named: the last selected one, or the first if that was removed or none
  /// was selected. Nil if there is none.
  public private(set) var primaryStructureID: String?
  /// The rooms, in the order in which they were added.
  public private(set) var rooms: [Room] = []
  /// The devices, by their ids.
  public private(set) var devices: [String: DeviceEntry] = [:]
  /// The last known attribute values, by node.
  public private(set) var values: [NodeID: NodeValues] = [:]
  /// The number of the last event that each node reported.
  package private(set) var lastEvents: [NodeID: UInt64] = [:]
  // Indexes derived from the devices, because a home may have thousands of them.

  /// Each report needs it.
  private var nodes: [NodeID: NodeParts] = [:]
  /// The devices by their names in lower case.
  private var namesakes = SortedGroups<String, String>()
  /// The sources by the unique ids of their identities.
  private var uniqueIDs = SortedGroups<String, SourceID>()

  /// The owners of the parts of a node.
  private struct NodeParts: Sendable {
    /// The devices that its sources belong to, by the sources' endpoints.
    var devices: [EndpointID: String] = [:]
    /// The sources that its endpoints belong to.
    var sources: [EndpointID: EndpointID] = [:]
  }

  package init() {}

  public static func == (left: Self, right: Self) -> Bool {
    left.structures == right.structures && left.primaryStructureID == right.primaryStructureID
      && left.rooms == right.rooms && left.devices == right.devices
      && left.values == right.values && left.lastEvents == right.lastEvents
  }

  // MARK: Queries

  /// Returns the devices with a name, in any case, by id.
  package func devices(named name: String) -> [DeviceEntry] { namesakes[name.lowercased()].compactMap { devices[$0] } }

  /// Returns the sources whose identity has a unique id, by id.
  package func sources(withUniqueID id: String) -> [DeviceSource] { uniqueIDs[id].compactMap { source($0) } }

  /// Returns the structure with this id; nil if there is none.
  public func structure(_ id: String) -> Structure? { structures.first { $0.id == id } }
  /// The structure with the ``primaryStructureID``.
  public var primaryStructure: Structure? { primaryStructureID.flatMap { structure($0) } }
  /// Returns the room with this id; nil if there is none. The room for the entire home is not among them.
  public func room(_ id: String) -> Room? { rooms.first { $0.id == id } }

  /// The devices, in the order of the nodes of their first sources.
  public var orderedDevices: [DeviceEntry] { devices.values.sorted { $0.precedes($1) } }

  /// Returns the device of a source.
  public func device(of source: SourceID) -> DeviceEntry? { deviceID(of: source).flatMap { devices[$0] } }

  private func deviceID(of source: SourceID) -> String? { nodes[source.node]?.devices[source.endpoint] }

  /// Returns the id of the device that an endpoint of a node belongs to.
  public func deviceID(of node: NodeID, _ endpoint: EndpointID) -> String? {
    guard let parts = nodes[node] else { return nil }
    return parts.devices[parts.sources[endpoint] ?? .root]
  }

  /// Returns the sources of a node, in order.
  package func sources(of node: NodeID) -> [DeviceSource] {
    (nodes[node]?.devices ?? [:]).sorted { $0.key < $1.key }
      .compactMap { endpoint, device in devices[device]?.source(SourceID(node, endpoint)) }
  }

  /// Whether a node has a single source, without bridged ones, with this status.
  package func hasOnly(_ status: SourceStatus, of node: NodeID) -> Bool {
    guard let owners = nodes[node]?.devices, owners.count == 1, let device = owners[.root] else { return false }
    return devices[device]?.sources.contains { $0.id == SourceID(node, .root) && $0.status == status } ?? false
  }

  /// Returns the source with this id, of any device.
  public func source(_ id: SourceID) -> DeviceSource? { device(of: id)?.source(id) }

  /// The device of a change, in the current state: a removed source or value no longer has one.
  package func deviceID(about change: HomeChange) -> String? {
    if let id = change.device { return id }
    return switch change {
    case .sourceRemoved(let source), .topology(let source, _, _), .connectivity(let source, _): deviceID(of: source)
    case .attribute(let node, let path, _): deviceID(of: node, path.endpoint)
    case .event(let node, let data): deviceID(of: node, data.path.endpoint)
    default: nil
    }
  }

  /// Returns the last known value of an attribute.
  public func value(_ node: NodeID, _ path: ConcreteAttributePath) -> [UInt8]? { values[node]?[path] }

  /// The levels that an endpoint supports; those of a light if unknown.
  package func levels(of node: NodeID, on endpoint: EndpointID) -> LevelRange {
    LevelRange(values[node], on: endpoint) ?? .standard
  }

  // MARK: Changes

  /// Applies a change. A change that does not apply (of a device that does not exist) has no effect.
  package mutating func apply(_ change: HomeChange) {
    switch change {
    case .structureAdded(let structure):
      if !structures.contains(where: { $0.id == structure.id }) { structures.append(structure) }
      if primaryStructureID == nil { primaryStructureID = structure.id }
    case .structureRenamed(let id, let name):
      if let index = structures.firstIndex(where: { $0.id == id }) { structures[index].name = name }
    case .structureRemoved(let id):
      structures.removeAll { $0.id == id }
      if primaryStructureID == id { primaryStructureID = structures.first?.id }
    case .primaryStructureChosen(let id): if structure(id) != nil { primaryStructureID = id }
    case .roomAdded(let room):
      if !rooms.contains(where: { $0.id == room.id }) { rooms.append(room) }
    case .roomRenamed(let id, let name):
      if let index = rooms.firstIndex(where: { $0.id == id }) { rooms[index].name = name }
    case .roomRemoved(let id): rooms.removeAll { $0.id == id }
    case .deviceAdded(let id, let name, let roomID, let structureID):
      if devices[id] == nil {
        devices[id] = DeviceEntry(id: id, name: name, roomID: roomID, structureID: structureID)
        namesakes.move(id, from: nil, to: name.lowercased())
      }
    case .deviceRemoved(let id):
      for source in devices[id]?.sources ?? [] { removeSource(source.id) }
      namesakes.move(id, from: devices[id]?.name.lowercased(), to: nil)
      devices[id] = nil
    case .deviceRenamed(let id, let name):
      guard let old = devices[id]?.name else { break }
      namesakes.move(id, from: old.lowercased(), to: name.lowercased())
      devices[id]?.name = name
    case .deviceMoved(let id, let roomID): devices[id]?.roomID = roomID
    case .sourceAdded(let id, let device): addSource(id, to: device)
    case .sourceRemoved(let id): removeSource(id)
    case .topology(let id, let endpoints, let identity):
      guard let known = source(id) else { break }
      uniqueIDs.move(id, from: known.identity.uniqueID, to: identity.uniqueID)
      withSource(id) {
        $0.endpoints = endpoints
        $0.identity = identity
      }
      release(id)
      for endpoint in endpoints { nodes[id.node]?.sources[endpoint.id] = id.endpoint }
    case .connectivity(let id, let status): withSource(id) { $0.status = status }
    case .attribute(let node, let path, let value?): values[node, default: NodeValues()][path] = value
    case .attribute(let node, let path, nil):
      values[node]?[path] = nil
      if values[node]?.isEmpty == true { values[node] = nil }
    case .event(let node, let event): lastEvents[node] = max(lastEvents[node] ?? 0, event.number)
    }
  }

  private mutating func addSource(_ id: SourceID, to device: String) {
    guard devices[device] != nil, deviceID(of: id) != device else { return }
    // A source that moves from another device keeps its description and status.
    let source = source(id) ?? DeviceSource(id)
    if let other = deviceID(of: id) { devices[other]?.sources.removeAll { $0.id == id } }
    nodes[id.node, default: NodeParts()].devices[id.endpoint] = device
    devices[device]?.sources.append(source)
    devices[device]?.sources.sort { $0.id < $1.id }
  }

  private mutating func removeSource(_ id: SourceID) {
    guard let device = nodes[id.node]?.devices.removeValue(forKey: id.endpoint) else { return }
    let source = devices[device]?.source(id)
    uniqueIDs.move(id, from: source?.identity.uniqueID, to: nil)
    for endpoint in source?.endpoints ?? [] { values[id.node]?.remove(endpoint.id) }
    if values[id.node]?.isEmpty == true { values[id.node] = nil }
    devices[device]?.sources.removeAll { $0.id == id }
    release(id)
    // Removing the last source of a node also removes its values.
    if nodes[id.node]?.devices.isEmpty == true {
      nodes[id.node] = nil
      values[id.node] = nil
      lastEvents[id.node] = nil
    }
  }

  /// Removes all endpoints of a source from the index.
  private mutating func release(_ id: SourceID) {
    guard let known = nodes[id.node]?.sources else { return }
    nodes[id.node]?.sources = known.filter { $0.value != id.endpoint }
  }

  private mutating func withSource(_ id: SourceID, _ body: (inout DeviceSource) -> Void) {
    guard let device = deviceID(of: id), let index = devices[device]?.sources.firstIndex(where: { $0.id == id }) else {
      return
    }
    devices[device]?.sources.update(at: index, body)
  }

  // MARK: Restoration

  /// Restores the stored values of a cluster, without a change for each value.
  package mutating func restore(_ values: ClusterValues, of path: ClusterPath, on node: NodeID) {
    self.values[node, default: NodeValues()][path.endpoint, path.cluster] = values
  }

  /// Restores the stored number of a node's last event.
  package mutating func restore(lastEvent number: UInt64, of node: NodeID) { lastEvents[node] = number }
}

extension Array {
  fileprivate mutating func update(at index: Int, _ body: (inout Element) -> Void) { body(&self[index]) }
}

extension DeviceEntry {
  /// The order of the nodes of the first sources.
  package func precedes(_ other: DeviceEntry) -> Bool {
    guard let own = sources.first?.id, let others = other.sources.first?.id, own != others else { return id < other.id }
    return own < others
  }
}
