internal import HomeModel
internal import NIOCore

/// The last updates of a hub, for clients that were disconnected for a short time.
struct HubJournal {
  struct Entry {
    var update: HomeUpdate
    var contacts: [NodeID: Contact]
  }

  /// The maximum numbers of updates, of changes in them, and of bytes (approximate).
  private let limit: Int
  private let changeLimit: Int
  private let byteLimit: Int
  private var hub: UInt64
  private var entries: CircularBuffer<Entry> = []
  private var changeCount = 0
  private var byteCount = 0
  /// The number of all updates, including discarded ones.
  private var count: UInt64 = 0

  init(hub: UInt64, limit: Int, byteLimit: Int = 1 << 24) {
    self.hub = hub
    self.limit = limit
    changeLimit = limit * 8
    self.byteLimit = byteLimit
  }

  /// Discards all entries and continues with another id, so that no earlier position is valid.
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
    while entries.count > limit || changeCount > changeLimit || byteCount > byteLimit, let first = entries.popFirst() {
      changeCount -= first.update.changes.count
      byteCount -= first.byteCount
    }
  }

  /// Returns the updates after a position, each with the position after it; nil if some of them were discarded.
  func entries(after position: HubPosition) -> [(Entry, HubPosition)]? {
    guard position.hub == hub, position.count <= count, count - position.count <= UInt64(entries.count) else {
      return nil
    }
    let missed = entries.suffix(Int(count - position.count))
    return missed.enumerated().map { ($1, HubPosition(hub: hub, count: position.count + UInt64($0) + 1)) }
  }
}

extension HubJournal.Entry {
  /// The approximate size.
  fileprivate var byteCount: Int { update.changes.reduce(0) { $0 + $1.byteCount } }
}
