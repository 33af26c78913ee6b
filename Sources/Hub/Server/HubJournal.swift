internal import HomeModel
internal import MatterModel
internal import MatterProtocol

/// What a hub told last, for clients that were away for a moment.
struct HubJournal {
  struct Entry {
    var update: HomeUpdate
    var contacts: [NodeID: Contact]
  }

  /// How many updates, how many changes in them, and about how many bytes, are kept at most.
  private let limit: Int
  private let changeLimit: Int
  private let byteLimit: Int
  private var hub: UInt64
  private var entries: [Entry] = []
  private var changeCount = 0
  private var byteCount = 0
  /// Of all updates that there were.
  private var count: UInt64 = 0

  init(hub: UInt64, limit: Int, byteLimit: Int = 1 << 24) {
    self.hub = hub
    self.limit = limit
    changeLimit = limit * 8
    self.byteLimit = byteLimit
  }

  /// Begins anew, as another: what was told before is nobody's place any more.
  mutating func restart(as hub: UInt64) {
    self.hub = hub
    (entries, changeCount, byteCount, count) = ([], 0, 0, 0)
  }

  var position: HubPosition { HubPosition(hub: hub, count: count) }

  mutating func append(_ entry: Entry) {
    entries.append(entry)
    count += 1
    changeCount += entry.update.changes.count
    byteCount += entry.byteCount
    // Some at a time: taking one from the front moves all.
    guard
      entries.count > limit + limit / 4 || changeCount > changeLimit + changeLimit / 4
        || byteCount > byteLimit + byteLimit / 4
    else { return }
    var first = 0
    while first < entries.count,
      entries.count - first > limit || changeCount > changeLimit || byteCount > byteLimit
    {
      byteCount -= entries[first].byteCount
      changeCount -= entries[first].update.changes.count
      first += 1
    }
    entries.removeFirst(first)
  }

  /// What was told after a place, each with the place behind it; nil where nobody knows it any more.
  func entries(after position: HubPosition) -> [(Entry, HubPosition)]? {
    guard position.hub == hub, position.count <= count, count - position.count <= UInt64(entries.count) else {
      return nil
    }
    let missed = entries.suffix(Int(count - position.count))
    return missed.enumerated().map { ($1, HubPosition(hub: hub, count: position.count + UInt64($0) + 1)) }
  }
}

extension HubJournal.Entry {
  /// About what it takes up.
  fileprivate var byteCount: Int { update.changes.reduce(0) { $0 + $1.byteCount } }
}

extension HomeChange {
  /// About what it takes up.
  fileprivate var byteCount: Int {
    switch self {
    case .attribute(_, _, let value): 128 + (value?.count ?? 0)
    case .event(_, let data): 128 + (data.payload?.count ?? 0)
    case .topology(_, let endpoints, _): 256 + endpoints.reduce(0) { $0 + 64 + 4 * $1.servers.count }
    default: 128
    }
  }
}
