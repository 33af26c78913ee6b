package import MatterModel

// Devices as they are to be shown.
extension HomeReducer {
  /// Of which nodes it is known how they are.
  package struct Visibility: Sendable {
    /// See ``HomeReducer/isRestored``.
    package var isRestored = false
    package var seen: Set<NodeID> = []

    /// A device without what was stored of how it is, where nobody says whether that still holds.
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

  /// When a device was heard by a way, and when it is to be heard again: of what is behind a bridge, as long as the bridge
  /// reaches it, when the bridge was.
  package func contact(by way: DeviceSource?) -> Contact { Self.contact(by: way, contacts) }

  package static func contact(by way: DeviceSource?, _ contacts: [NodeID: Contact]) -> Contact {
    guard let way else { return Contact() }
    if let last = way.status.lastContact { return Contact(last: last) }
    // The bridge never reached it.
    if way.status.reason == .bridgeSaysUnreachable { return Contact() }
    return contacts[way.id.node] ?? Contact()
  }
}

extension HomeInput {
  /// The node that shows by it whether it can be reached.
  package var showing: NodeID? {
    switch self {
    case .established(let node, _), .answered(let node), .lost(let node, _): node
    case .report(let report): report.isOfEstablished ? report.node : nil
    case .node, .nodeRemoved, .started, .heard, .update, .route: nil
    }
  }
}
