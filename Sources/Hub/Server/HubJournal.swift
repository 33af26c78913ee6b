internal import Home
internal import MatterModel

/// What a hub told last, for clients that were away for a moment.
struct HubJournal {
  struct Entry {
    var update: HomeUpdate
    var contacts: [NodeID: Contact]
  }

  /// How many updates, and how many changes in them, are kept at most.
  private let limit: Int
  private let changeLimit: Int
  private let hub: UInt64
  private var entries: [Entry] = []
  private var changeCount = 0
  /// Of all updates that there were.
  private var count: UInt64 = 0

  init(hub: UInt64, limit: Int) {
    self.hub = hub
    self.limit = limit
    changeLimit = limit * 8
  }

  var position: HubPosition { HubPosition(hub: hub, count: count) }

  mutating func append(_ entry: Entry) {
    entries.append(entry)
    count += 1
    changeCount += entry.update.changes.count
    // Some at a time: taking one from the front moves all.
    guard entries.count > limit + limit / 4 || changeCount > changeLimit + changeLimit / 4 else { return }
    var first = 0
    while first < entries.count, entries.count - first > limit || changeCount > changeLimit {
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
