internal import MatterClusters
internal import MatterProtocol

/// Reduces inputs to changes of a home. The only writer of connectivity and locality; a value without I/O and clock,
/// with times in microseconds since 1970.
package struct HomeReducer: Sendable {
  package private(set) var state: HomeState
  /// The times of contact, by node; not part of the state, because they change with each message.
  package private(set) var contacts: [NodeID: Contact]
  /// The status of each node; that of its bridged devices may be worse.
  private(set) var nodes: [NodeID: SourceStatus] = [:]
  /// The node that is being added, with the requested name and room.
  private var pairing: (node: NodeID, placement: DevicePlacement)?
  package var debouncer: ConnectivityDebouncer
  /// Whether the nodes are not followed: then their stored connectivity is valid only for nodes that answered since.
  package private(set) var isRestored = false
  /// The nodes whose reachability was confirmed since ``isRestored`` began.
  package private(set) var seen: Set<NodeID> = []
  /// The statuses of the reachable sources when the last route to the owner of the home was lost; nil: a route works,
  /// or none is needed.
  var beforeLoss: [SourceID: SourceStatus]?

  /// Restores a stored home.
  /// - Parameters:
  ///   - contacts: the times of contact, by node.
  ///   - grace: the time for which a device must be unreachable before its settled connectivity changes.
  ///   - trials: the devices that have been unreachable for a shorter time.
  ///   - time: now, in microseconds since 1970.
  package init(
    _ state: HomeState = HomeState(), contacts: [NodeID: Contact] = [:], grace: Duration = .zero,
    trials: [String: DebounceTrial] = [:], at time: Int64 = 0
  ) {
    self.state = state
    self.contacts = contacts
    debouncer = ConnectivityDebouncer(grace: grace)
    for device in state.devices.values {
      debouncer.restore(device.id, connectivity(of: device), trials[device.id], at: time)
      for source in device.sources where !source.id.isBridged { nodes[source.id.node] = source.status }
    }
    _ = debouncer.advance(to: time)
  }

  /// Handles an input.
  /// - Parameter time: now, in microseconds since 1970.
  /// - Returns: the resulting changes; nil if there are none.
  package mutating func reduce(_ input: HomeInput, at time: Int64) -> HomeUpdate? {
    var update = HomeUpdate([], at: time)
    if isRestored, let node = input.showing, seen.insert(node).inserted { update.settled = Set(devices(of: node)) }
    switch input {
    case .commissioned(let report, let placement): add(report, placement, &update)
    case .nodeRemoved(let node): remove(node, &update)
    case .started:
      // The deadlines of subscriptions of the previous process don't apply any longer.
      for node in contacts.keys { contacts[node]?.nextReport = nil }
      for node in nodes.keys.sorted() { set(.unknown, of: node, &update) }
    case .report(let report): handle(report, &update)
    case .established(let node, let deadline):
      contacts[node] = Contact(last: time, nextReport: deadline)
      set(.online(by: node), of: node, &update)
    case .heard(let node, let deadline):
      contacts[node] = Contact(last: time, nextReport: deadline)
    case .asleep(let node, let deadline):
      contacts[node]?.nextReport = deadline
      set(.online(by: node), of: node, &update)
    case .answered(let node):
      contacts[node, default: Contact()].last = time
      set(.online(by: node), of: node, &update)
    case .lost(let node, let reason): lose(node, reason, &update)
    case .update(let edit):
      update = HomeUpdate([], at: edit.time, origin: edit.origin)
      update.isLogged = true
      let known = nodes.keys.filter { !state.sources(of: $0).isEmpty }
      for change in edit.changes { make(change, &update) }
      // Removed nodes and added sources.
      for node in known where state.sources(of: node).isEmpty { nodes[node] = nil }
      for device in state.devices.values {
        for source in device.sources where nodes[source.id.node] == nil { nodes[source.id.node] = source.status }
      }
    case .route(let input):
      handle(input, at: time, &update)
      update.isLogged = true
      update.trials = debouncer.takeTrials()
      return update.changes.isEmpty && update.settled.isEmpty ? nil : update
    }
    if update.changes.isEmpty && update.versions.isEmpty && update.settled.isEmpty { return nil }
    settle(&update, at: update.time)
    update.trials = debouncer.takeTrials()
    return update
  }

  /// Notes the time of any authenticated message of a node, including acknowledgments.
  package mutating func heard(_ node: NodeID, at time: Int64) { contacts[node]?.last = time }

  /// Adopts the contact times of the process that follows the nodes.
  package mutating func merge(_ known: [NodeID: Contact]) { contacts.merge(known) { $1 } }

  /// Adjusts deadlines to a set clock, so that their remaining time is unchanged.
  package mutating func moveClock(by step: Int64) {
    debouncer.moveClock(by: step)
    for (node, contact) in contacts {
      if let next = contact.nextReport { contacts[node]?.nextReport = next &+ step }
    }
  }

  /// Sets whether no process follows the nodes.
  /// - Returns: an update with the devices whose presented connectivity may change.
  package mutating func setRestored(_ isRestored: Bool, at time: Int64) -> HomeUpdate? {
    guard isRestored != self.isRestored else { return nil }
    self.isRestored = isRestored
    seen = []
    var update = HomeUpdate([], at: time)
    update.settled = Set(state.devices.keys)
    return update.settled.isEmpty ? nil : update
  }

  /// Copies the confirmation state of another reducer of the same home.
  package mutating func copyVisibility(of other: HomeReducer) { (isRestored, seen) = (other.isRestored, other.seen) }

  private func devices(of node: NodeID) -> [String] {
    state.sources(of: node).compactMap { state.device(of: $0.id)?.id }
  }

  package mutating func make(_ change: HomeChange, _ update: inout HomeUpdate) {
    switch change {
    case .sourceAdded(let source, _), .sourceRemoved(let source):
      if let device = state.device(of: source), update.previousDevices[source] == nil {
        update.previousDevices[source] = device.id
      }
    default: break
    }
    state.apply(change)
    update.changes.append(change)
  }

  // MARK: Reports

  private mutating func handle(_ report: NodeReport, _ update: inout HomeUpdate) {
    let node = report.node
    nodes[node] = nodes[node] ?? .unknown
    let before = contacts[node]?.last
    // A report of a cloud is not a contact with the device.
    if !node.isTemporaryLocal { contacts[node, default: Contact()].last = update.time }
    if let deadline = report.deadline { contacts[node]?.nextReport = deadline }
    // One report is one update, even if it also reestablishes the connectivity.
    if report.isOfEstablished { set(.online(by: node), of: node, &update) }
    let first = update.changes.count
    var isTopology = false
    var reachability = false
    var wasReachable = false
    var unknown: [ConcreteAttributePath] = []
    for attribute in report.attributes {
      let old = state.value(node, attribute.path)
      if old == attribute.value || isViolation(attribute, old) { continue }
      make(.attribute(node, attribute.path, value: attribute.value), &update)
      if attribute.path.attribute == GlobalAttribute.attributeList {
        unknown += applyList(attribute, of: node, &update)
      }
      isTopology = isTopology || Topology.isPart(attribute.path.cluster)
      guard attribute.path == Self.reachable(attribute.path.endpoint) else { continue }
      reachability = true
      wasReachable = wasReachable || old != nil
    }
    if report.isWhole { update.versions = Self.versions(report) }
    // A commissioning reports the description only.
    if pairing?.node != node {
      for path in unknown where state.value(node, path) == nil {
        update.unread[node, default: []].insert(path.endpoint)
        // With its version, the cluster would not be reported again after a restart.
        update.versions[node]?[ClusterPath(path.endpoint, path.cluster)] = nil
      }
    }
    if isTopology {
      // A commissioning reads the whole description.
      describe(node, isWhole: report.isWhole || pairing?.node == node, &update)
      Self.moveValuesBehindSources(of: node, in: &update.changes[first...])
    }
    var isShutDown = false
    for event in report.events where state.lastEvents[node].map({ event.number > $0 }) ?? true {
      make(.event(node, event), &update)
      isShutDown =
        isShutDown
        || (event.path.endpoint == .root && event.path.cluster == BasicInformation.id
          && event.path.event == BasicInformation.shutDown.id)
    }
    if isTopology || reachability { propagateStatus(of: node, lastContact: wasReachable ? before : nil, &update) }
    // Ignores an old event that is reported when a subscription begins.
    if isShutDown, nodes[node]?.connectivity.connectivityState == .online {
      lose(node, .poweredOffAnnounced, &update)
    }
  }

  /// Removes the attributes that are not in a new attribute list, for example after a software update, except the
  /// mandatory ones of the description.
  /// - Returns: the listed attributes whose values are not known yet.
  private mutating func applyList(
    _ list: AttributeData, of node: NodeID, _ update: inout HomeUpdate
  ) -> [ConcreteAttributePath] {
    guard let listed = try? [AttributeID](tlv: list.value) else { return [] }
    func path(_ attribute: AttributeID) -> ConcreteAttributePath {
      .init(list.path.endpoint, list.path.cluster, attribute)
    }
    let values = state.values[node]?[list.path.endpoint, list.path.cluster]
    for entry in values?.entries ?? []
    where !listed.contains(entry.attribute) && entry.attribute < GlobalAttribute.generatedCommandList
      && !Topology.isList(path(entry.attribute))
    {
      make(.attribute(node, path(entry.attribute), value: nil), &update)
    }
    return listed.filter { $0 < GlobalAttribute.generatedCommandList && values?[$0] == nil }.map(path)
  }

  private static func reachable(_ endpoint: EndpointID) -> ConcreteAttributePath {
    BridgedDeviceBasicInformation.reachable.path(on: endpoint)
  }

  /// The data versions of the clusters in a report, except clusters that changed during the report.
  private static func versions(_ report: NodeReport) -> [NodeID: [ClusterPath: UInt32]] {
    var versions: [ClusterPath: UInt32] = [:]
    var torn: Set<ClusterPath> = []
    for attribute in report.attributes {
      let path = ClusterPath(attribute.path.endpoint, attribute.path.cluster)
      if let known = versions.updateValue(attribute.dataVersion, forKey: path), known != attribute.dataVersion {
        torn.insert(path)
      }
    }
    for path in torn { versions[path] = nil }
    return versions.isEmpty ? [:] : [report.node: versions]
  }

  // MARK: Devices

  /// Updates the devices that a node consists of.
  private mutating func describe(_ node: NodeID, isWhole: Bool, _ update: inout HomeUpdate) {
    guard let values = state.values[node] else { return }
    let topology = Topology(node, values)
    if pairing?.node != node { noteUnread(topology, values, of: node, &update) }
    // An incomplete description would remove the other devices.
    guard !topology.sources.isEmpty, isWhole || topology.isComplete else { return }
    for endpoint in topology.strayEndpoints { forget(node, endpoint, &update) { _ in true } }
    for endpoint in topology.sources.lazy.flatMap(\.endpoints) {
      // A Descriptor cluster exists even if it doesn't list itself.
      guard let servers = values.value(Descriptor.serverList, on: endpoint.id) else { continue }
      forget(node, endpoint.id, &update) { $0 != Descriptor.id && !servers.contains($0) }
    }
    let known = state.values[node] ?? NodeValues()
    for source in topology.sources { describe(source, &update) }
    let current = Set(topology.sources.map(\.id))
    for source in state.sources(of: node) where !current.contains(source.id) { removeSource(source.id, &update) }
    restore(known, of: node, &update)
  }

  /// Moves values behind the sources that they belong to, so that a consumer of single changes knows the device of each
  /// value. If a source was removed, the order is kept.
  private static func moveValuesBehindSources(of node: NodeID, in changes: inout ArraySlice<HomeChange>) {
    var isNew = false
    for change in changes {
      switch change {
      case .sourceAdded(let source, _) where source.node == node: isNew = true
      case .sourceRemoved: return
      default: break
      }
    }
    guard isNew else { return }
    let values = changes.filter { $0.sampleType == .attribute }
    changes.removeAll { $0.sampleType == .attribute }
    changes += values
  }

  /// Restores the values of endpoints that moved from a removed source to another one.
  private mutating func restore(_ known: NodeValues, of node: NodeID, _ update: inout HomeUpdate) {
    guard known != state.values[node] else { return }
    let endpoints = Set(state.sources(of: node).flatMap(\.endpoints).map(\.id))
    for (path, value) in known.all where endpoints.contains(path.endpoint) && state.value(node, path) == nil {
      make(.attribute(node, path, value: value), &update)
    }
  }

  private mutating func describe(_ source: DeviceSource, _ update: inout HomeUpdate) {
    if isReplaced(source) { make(.sourceRemoved(source.id), &update) }
    let known = state.source(source.id)
    let existing = (source.identity.uniqueID.map { state.sources(withUniqueID: $0) } ?? [])
      .filter { $0.id.node != source.id.node && $0.identity.isSameDevice(as: source.identity) }
      .compactMap { state.device(of: $0.id) }.min { $0.id < $1.id }
    if known == nil {
      add(source, to: existing, &update)
    } else if let existing, let own = state.device(of: source.id), own.id != existing.id, own.sources.count == 1 {
      merge(own, existing, &update)
    }
    let now = state.source(source.id)
    if now?.endpoints != source.endpoints || now?.identity != source.identity {
      make(.topology(source.id, source.endpoints, source.identity), &update)
    }
  }

  private mutating func add(_ source: DeviceSource, to existing: DeviceEntry?, _ update: inout HomeUpdate) {
    let id = state.availableID(for: source.id)
    let placement = source.id.isBridged || pairing?.node != source.id.node ? nil : pairing?.placement
    if let existing {
      make(.sourceAdded(source.id, device: existing.id), &update)
      if let placement { apply(placement, to: existing, &update) }
      return
    }
    if state.primaryStructureID == nil { make(.structureAdded(Self.firstStructure), &update) }
    let room = placement?.room.map { makeRoom($0, &update) }
    let structureID = room?.structureID ?? state.primaryStructureID ?? Self.firstStructure.id
    let wanted = placement?.name ?? source.identity.defaultName(by: source.id)
    let name = state.availableName(wanted, in: room?.id, of: structureID, except: id)
    make(.deviceAdded(id: id, name: name, roomID: room?.id, structureID: structureID), &update)
    make(.sourceAdded(source.id, device: id), &update)
  }

  /// Adds the devices of a commissioned node.
  private mutating func add(_ report: NodeReport, _ placement: DevicePlacement, _ update: inout HomeUpdate) {
    let node = report.node
    let known = state.device(of: SourceID(node))
    var report = report
    report.attributes.removeAll { !Topology.isPart($0.path.cluster) }
    pairing = (node, placement)
    defer { pairing = nil }
    handle(report, &update)
    if let known {
      // The node was removed from the fabric without the home, and gets its earlier id again.
      apply(placement, to: state.devices[known.id] ?? known, &update)
    } else if state.source(SourceID(node)) == nil {
      // The description is incomplete; a later report completes it.
      let identity = DeviceIdentity(state.values[node] ?? NodeValues(), of: .root)
      add(DeviceSource(SourceID(node), [], identity), to: nil, &update)
      propagateStatus(of: node, &update)
    }
  }

  /// The default structure of a new home.
  package static let firstStructure = Structure(id: "home", name: "Home")

  private mutating func forget(
    _ node: NodeID, _ endpoint: EndpointID, _ update: inout HomeUpdate, where isRemoved: (ClusterID) -> Bool
  ) {
    let clusters = (state.values[node]?[endpoint] ?? [:]).filter { isRemoved($0.key) }
    for (cluster, values) in clusters.sorted(by: { $0.key < $1.key }) {
      for entry in values.entries {
        make(.attribute(node, .init(endpoint, cluster, entry.attribute), value: nil), &update)
      }
    }
  }

  private mutating func removeSource(_ id: SourceID, _ update: inout HomeUpdate) {
    let device = state.device(of: id)
    make(.sourceRemoved(id), &update)
    if let device, device.sources.count == 1 { make(.deviceRemoved(id: device.id), &update) }
  }

  private mutating func remove(_ node: NodeID, _ update: inout HomeUpdate) {
    for source in state.sources(of: node).reversed() { removeSource(source.id, &update) }
    nodes[node] = nil
    contacts[node] = nil
  }

  // MARK: Connectivity

  /// Returns the status of a node, without that of its bridged devices.
  package func status(of node: NodeID) -> SourceStatus { nodes[node] ?? .unknown }

  private mutating func lose(_ node: NodeID, _ reason: OfflineReason, _ update: inout HomeUpdate) {
    let old = nodes[node] ?? .unknown
    contacts[node]?.nextReport = nil
    // Keeps the first reason; only a reason that comes from a response replaces it.
    if old.connectivity.connectivityState == .offline, old.reason == reason || !reason.isAnswer { return }
    // A device that was not reached since the start has no locality.
    set(
      SourceStatus(SourceConnectivity(.offline, old.connectivity.dataSourceLocality), reason: reason), of: node, &update
    )
  }

  private mutating func set(_ status: SourceStatus, of node: NodeID, _ update: inout HomeUpdate) {
    nodes[node] = status
    propagateStatus(of: node, &update)
  }

  /// Propagates the status of a node to all its sources.
  /// - Parameter lastContact: the last contact with a bridged device that has just become unreachable for its bridge.
  private mutating func propagateStatus(of node: NodeID, lastContact: Int64? = nil, _ update: inout HomeUpdate) {
    guard let status = nodes[node], !state.hasOnly(status, of: node) else { return }
    let sources = state.sources(of: node)
    let unreachable = Self.unreachable(among: sources, state.values[node] ?? NodeValues())
    for source in sources {
      var now = status
      if source.id.isBridged, unreachable.contains(source.mainEndpoint) {
        if status.connectivity.connectivityState == .online {
          now = SourceStatus(
            SourceConnectivity(.offline, status.connectivity.dataSourceLocality), reason: .bridgeSaysUnreachable)
        }
        // The bridge is in contact, but the bridged device is not.
        now.lastContact = source.status.lastContact ?? lastContact
      }
      if now != source.status { make(.connectivity(source.id, now), &update) }
    }
  }

  /// A bridged device has the status of its bridge, unless the bridge reports it, or a device that contains it, as
  /// unreachable. Matter Core § 9.13.5.
  private static func unreachable(among sources: [DeviceSource], _ values: NodeValues) -> Set<EndpointID> {
    sources.contains { $0.id.isBridged } ? sources.flatMap(\.endpoints).unreachable(values) : []
  }

  // MARK: ConnectivityDebouncer

  /// Returns the connectivity of a device that lasted at least for the grace time.
  package func settledConnectivity(of device: String) -> SourceConnectivity {
    if isRestored, state.devices[device]?.sources.contains(where: { seen.contains($0.id.node) }) != true {
      return .unknown
    }
    return debouncer[device]
  }

  /// Advances the time.
  /// - Returns: an update with the devices whose settled connectivity changed.
  package mutating func advance(to time: Int64) -> HomeUpdate? {
    let settled = debouncer.advance(to: time)
    guard !settled.isEmpty else { return nil }
    var update = HomeUpdate([], at: time)
    update.settled = settled
    update.trials = debouncer.takeTrials()
    return update
  }

  /// - Parameter time: the time of the change, in microseconds since 1970.
  package mutating func settle(_ update: inout HomeUpdate, at time: Int64) {
    for change in update.changes {
      switch change {
      case .connectivity(let source, _), .topology(let source, _, _):
        note(state.device(of: source), &update, time)
      case .sourceAdded(_, let id): note(state.devices[id], &update, time)
      case .attribute(let node, let path, _) where path == Self.reachable(path.endpoint):
        note(state.deviceID(of: node, path.endpoint).flatMap { state.devices[$0] }, &update, time)
      case .sourceRemoved(let source):
        // The active source of its device may have changed.
        note(update.previousDevices[source].flatMap { state.devices[$0] }, &update, time)
      case .deviceRemoved(let id): debouncer.forget(id)
      default: break
      }
    }
  }

  private mutating func note(_ device: DeviceEntry?, _ update: inout HomeUpdate, _ time: Int64) {
    guard let device else { return }
    if debouncer.note(device.id, connectivity(of: device), at: time) { update.settled.insert(device.id) }
  }

  /// The connectivity of a device, aggregated over all traits.
  package func connectivity(of device: DeviceEntry) -> SourceConnectivity {
    device.connectivity(device.parts, values: { state.values[$0] })
  }
}
