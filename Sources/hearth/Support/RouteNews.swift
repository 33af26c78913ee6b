import Home

/// What is to be told of how devices are reached that a client makes of its routes: another one is used now, or none leads to the
/// home. It is in no log: that of the hub has what happened to the devices.
struct RouteNews {
  private var known: [String: SourceStatus]

  init(_ home: HomeState) { known = Self.statuses(home) }

  /// - Parameter home: as it is now.
  /// - Returns: the devices that are reached otherwise than before, for no other reason than that.
  mutating func take(_ home: HomeState) -> [String] {
    let now = Self.statuses(home)
    defer { known = now }
    return now.keys.sorted().filter { id in
      guard let new = now[id], let old = known[id], old != new else { return false }
      return Self.isNews(old, new)
    }
  }

  /// Whether devices may be reached otherwise after an update: not where it tells of values alone, as most do.
  static func mayFollow(from update: HomeUpdate) -> Bool {
    update.changes.isEmpty
      || !update.changes.allSatisfy {
        switch $0 {
        case .attribute, .event: true
        default: false
        }
      }
  }

  private static func isNews(_ old: SourceStatus, _ new: SourceStatus) -> Bool {
    if new.reason == .hubUnreachable { return true }
    // One that is away for another reason went meanwhile, and that is in the log.
    if old.reason == .hubUnreachable { return new.connectivity.connectivityState != .offline }
    let (old, new) = (old.connectivity, new.connectivity)
    return old.connectivityState == new.connectivityState && old.dataSourceLocality != new.dataSourceLocality
  }

  private static func statuses(_ home: HomeState) -> [String: SourceStatus] {
    home.devices.compactMapValues { $0.active?.status }
  }
}
