// Devices as presented to users.
extension HomeReducer {
  /// Returns the device with its stored connectivity replaced by unknown, unless it was confirmed since the restart.
  package func shown(_ entry: DeviceEntry) -> DeviceEntry {
    guard isRestored else { return entry }
    var entry = entry
    for index in entry.sources.indices where !seen.contains(entry.sources[index].id.node) {
      entry.sources[index].status = entry.sources[index].status.unconfirmed
    }
    return entry
  }

  /// Returns a state with the connectivity to show: unknown for restored devices that were not reached yet.
  /// - Parameter wanted: the nodes whose connectivity is needed; nil: all.
  package func shown(_ state: HomeState, of wanted: Set<NodeID>? = nil) -> HomeState {
    guard isRestored else { return state }
    var result = state
    // Copies the state only if it must.
    for node in wanted ?? Set(nodes.keys) where !seen.contains(node) {
      for source in state.sources(of: node) where source.status != source.status.unconfirmed {
        result.apply(.connectivity(source.id, source.status.unconfirmed))
      }
    }
    return result
  }

  /// Returns an update with the changes of the connectivity that users see.
  package func shown(_ update: HomeUpdate) -> HomeUpdate {
    guard isRestored else { return update }
    var result = update
    result.changes.removeAll { change in
      if case .connectivity(let source, _) = change { !seen.contains(source.node) } else { false }
    }
    // The first answer of a node confirms its stored connectivity, which is not a change.
    for source in update.settled.sorted().compactMap({ state.devices[$0] }).flatMap(\.sources)
    where seen.contains(source.id.node) {
      result.changes.append(.connectivity(source.id, source.status))
    }
    return result
  }

  /// The times of contact with a device through a source. For a bridged device that is reachable, these are the times
  /// of its bridge.
  package func contact(by source: DeviceSource?) -> Contact { Self.contact(by: source, contacts) }

  package static func contact(by source: DeviceSource?, _ contacts: [NodeID: Contact]) -> Contact {
    guard let source else { return Contact() }
    if let last = source.status.lastContact { return Contact(last: last) }
    // The bridge has never reached the device.
    if source.status.reason == .bridgeSaysUnreachable { return Contact() }
    return contacts[source.id.node] ?? Contact()
  }
}

extension SourceStatus {
  /// The status until the source is reached after a restart.
  fileprivate var unconfirmed: SourceStatus { SourceStatus(.unknown, lastContact: lastContact) }
}

extension HomeInput {
  /// The node whose reachability is known from this input.
  package var showing: NodeID? {
    switch self {
    case .established, .asleep, .answered, .lost: node
    case .report(let report): report.isOfEstablished ? node : nil
    case .commissioned, .nodeRemoved, .started, .heard, .update, .route: nil
    }
  }
}
