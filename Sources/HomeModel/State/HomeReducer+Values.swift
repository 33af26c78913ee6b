package import MatterModel

// Devices as presented to users.
extension HomeReducer {
  /// The nodes whose connectivity is up to date.
  package struct Visibility: Sendable {
    /// See ``HomeReducer/isRestored``.
    package var isRestored = false
    package var seen: Set<NodeID> = []

    /// Returns the device with its stored connectivity replaced by unknown, unless it was confirmed since the restart.
    package func shown(_ entry: DeviceEntry) -> DeviceEntry {
      guard isRestored else { return entry }
      var entry = entry
      for index in entry.sources.indices where !seen.contains(entry.sources[index].id.node) {
        entry.sources[index].status = SourceStatus(.unknown, lastContact: entry.sources[index].status.lastContact)
      }
      return entry
    }
  }

  package var visibility: Visibility { Visibility(isRestored: isRestored, seen: seen) }

  /// See ``Visibility/shown(_:)``.
  package func shown(_ entry: DeviceEntry) -> DeviceEntry { visibility.shown(entry) }

  /// The times of contact with a device through a source. For a bridged device that is reachable, these are the times
  /// of its bridge.
  package func contact(by way: DeviceSource?) -> Contact { Self.contact(by: way, contacts) }

  package static func contact(by way: DeviceSource?, _ contacts: [NodeID: Contact]) -> Contact {
    guard let way else { return Contact() }
    if let last = way.status.lastContact { return Contact(last: last) }
    // The bridge has never reached the device.
    if way.status.reason == .bridgeSaysUnreachable { return Contact() }
    return contacts[way.id.node] ?? Contact()
  }
}

extension HomeInput {
  /// The node whose reachability is known from this input.
  package var showing: NodeID? {
    switch self {
    case .established(let node, _), .answered(let node), .lost(let node, _): node
    case .report(let report): report.isOfEstablished ? report.node : nil
    case .commissioned, .nodeRemoved, .started, .heard, .update, .route: nil
    }
  }
}
