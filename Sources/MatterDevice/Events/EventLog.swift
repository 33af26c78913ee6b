internal import MatterModel
internal import MatterProtocol

/// An event that happened. Matter Core § 7.14.
struct EventRecord: Sendable {
  let number: UInt64
  let path: ConcreteEventPath
  let priority: EventPriority
  /// Since the node started, in milliseconds.
  let milliseconds: UInt64
  let payload: [UInt8]
  /// The only fabric that may see it, nil for all.
  let fabric: FabricIndex?
  let read: Privilege
}

/// The events that are kept, oldest first; of each priority the latest.
struct EventLog: Sendable {
  /// How many events of one priority are kept.
  static let capacity = 64
  /// Numbers are reserved in blocks, so that the store is not written for each event.
  static let block: UInt64 = 1024

  private(set) var records: [EventRecord] = []
  private(set) var next: UInt64 = 0
  /// Below this, numbers are reserved.
  private(set) var reserved: UInt64 = 0

  /// Goes on behind all numbers that an earlier run may have used.
  mutating func resume(at number: UInt64) { (next, reserved) = (number, number) }

  /// - Returns: the new end of the reserved numbers, if it moved.
  mutating func append(_ record: (UInt64) -> EventRecord) -> UInt64? {
    let new = record(next)
    next += 1
    records.append(new)
    if records.count(where: { $0.priority == new.priority }) > Self.capacity,
      let oldest = records.firstIndex(where: { $0.priority == new.priority })
    {
      records.remove(at: oldest)
    }
    guard next > reserved else { return nil }
    reserved = next + Self.block
    return reserved
  }

  mutating func removeAll(of fabric: FabricIndex) { records.removeAll { $0.fabric == fabric } }
}
