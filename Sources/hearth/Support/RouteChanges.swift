import HearthHome

/// Detects changes of connectivity that are caused by the routes of a hub client: another route is used, or none works, or only
/// own sessions with the devices, which were not reached yet.
///
/// These changes are not in the log, which the hub writes.
struct RouteChanges {
  private var known: [String: SourceStatus]
  /// The devices that were online until only own sessions were left.
  private var unreached: Set<String> = []

  init(_ home: HomeState) { known = Self.statuses(home) }

  /// Records the current home.
  /// - Returns: the ids of the devices whose connectivity has changed only because of the route.
  mutating func update(to home: HomeState) -> [String] {
    let now = Self.statuses(home)
    defer { known = now }
    return now.keys.sorted().filter { id in
      guard let new = now[id], let old = known[id], old != new else { return false }
      if new.connectivity == .unknown, old.connectivity.connectivityState == .online {
        unreached.insert(id)
        return true
      }
      return unreached.remove(id) != nil || Self.isRouteChange(old, new)
    }
  }

  /// Returns whether an update can be accompanied by a change of route: not if it consists of values and events, as most do.
  static func mayResult(from update: HomeUpdate) -> Bool {
    update.changes.isEmpty
      || !update.changes.allSatisfy {
        switch $0 {
        case .attribute, .event: true
        default: false
        }
      }
  }

  private static func isRouteChange(_ old: SourceStatus, _ new: SourceStatus) -> Bool {
    if new.reason == .hubUnreachable { return true }
    // A device that is now offline for another reason went offline in the meantime, which is in the log.
    if old.reason == .hubUnreachable { return new.connectivity.connectivityState != .offline }
    let (old, new) = (old.connectivity, new.connectivity)
    return old.connectivityState == new.connectivityState && old.dataSourceLocality != new.dataSourceLocality
  }

  private static func statuses(_ home: HomeState) -> [String: SourceStatus] {
    home.devices.compactMapValues { $0.active?.status }
  }
}
