internal import MatterModel
internal import MatterProtocol

/// The tags of a controller's fabric.
struct TagTable: Sendable {
  private(set) var records: [UInt16: TagRecord]
  /// The tags for which the access control list of a node has no space, or an entry with an unexpected version.
  private var refused: [NodeID: Set<CASEAuthenticatedTag>] = [:]
  /// The identifiers whose version was raised beyond that of a list, which happens once. The table is older than the lists if
  /// a copy of the home was restored; then certificates of the later version may have been issued.
  private var raisedBeyondList: Set<UInt16> = []
  /// How many versions a list may be ahead of the table.
  private static let maximumLead: UInt16 = 256
  /// Earliest time of the next attempt to change the access entries of a reporting node.
  private var retries: [NodeID: Instant] = [:]

  init(_ state: StoredState) { records = TagRecord.records(in: state) }

  /// The tags, by identifier.
  var tags: [TagRecord] { records.values.sorted { $0.identifier < $1.identifier } }

  /// Notes that a certificate is issued.
  /// - Returns: the tag of the certificate, and the changes of the store.
  mutating func issue(_ identifier: UInt16, _ privilege: Privilege) -> (TagRecord, [StoreChange]) {
    var record = records[identifier] ?? TagRecord(identifier, privilege)
    guard !record.isIssued else { return (record, []) }
    record.isIssued = true
    if record.isRetired { (record.isRetired, record.holders) = (false, []) }
    records[identifier] = record
    return (record, [record.stored])
  }

  /// Raises the version of a tag if a certificate with the present one was issued.
  /// - Parameter isRetired: whether the entries are removed.
  /// - Returns: the changes of the store.
  mutating func raise(_ identifier: UInt16, isRetired: Bool = false) throws(ControllerError) -> [StoreChange] {
    guard var record = records[identifier], record.isIssued || isRetired && !record.isRetired else { return [] }
    if record.isIssued {
      guard record.version < .max else { throw .invalidRequest("tag \(record.tag): no version left") }
      record.version += 1
    }
    (record.isIssued, record.isRetired, record.holders) = (false, isRetired, [])
    records[identifier] = record
    return [record.stored]
  }

  /// Returns the tags for which a node has no access entry, or one to be removed.
  func missing(on node: NodeID) -> [TagRecord] { tags.filter { !$0.holders.contains(node) } }

  /// Whether a node lacks an access entry for which its list may have space, or has one to be removed.
  func isPending(_ node: NodeID) -> Bool {
    missing(on: node).contains { refused[node]?.contains($0.tag) != true }
  }

  /// Whether the access entries of a reporting node are to be changed now.
  mutating func mustUpdate(_ node: NodeID, at now: Instant) -> Bool {
    guard !records.isEmpty, isPending(node) else {
      retries[node] = nil
      return false
    }
    if let retry = retries[node], now < retry { return false }
    retries[node] = now + GroupTable.leavingInterval
    return true
  }

  /// Applies a completed change. Tags that were raised in the meantime are still missing.
  mutating func complete(_ change: AccessChange) -> [StoreChange] {
    var changes: [StoreChange] = []
    var refused = Set(change.refused.map(\.tag))
    for (identifier, version) in change.later.sorted(by: { $0.key < $1.key }) {
      guard var record = records[identifier], record.version < version else { continue }
      // Another administrator or a defective device could use up all versions.
      guard version < .max, version - record.version <= Self.maximumLead, raisedBeyondList.insert(identifier).inserted
      else {
        refused.insert(record.tag)
        continue
      }
      (record.version, record.isIssued, record.holders) = (version + 1, false, [])
      records[identifier] = record
      changes.append(record.stored)
    }
    self.refused[change.node] = refused.isEmpty ? nil : refused
    for tag in change.granted {
      guard var record = records[tag.identifier], record.version == tag.version, record.isRetired == tag.isRetired,
        !record.holders.contains(change.node)
      else { continue }
      record.holders.append(change.node)
      record.holders.sort()
      records[tag.identifier] = record
      changes.append(record.stored)
    }
    return changes
  }

  /// Notes that the access control list of a node may have space again.
  mutating func noteSpace(on node: NodeID) { refused[node] = nil }

  /// Removes a node that left the fabric, or whose access control list was overwritten.
  mutating func remove(_ node: NodeID) -> [StoreChange] {
    noteSpace(on: node)
    retries[node] = nil
    return removeHolder(node) { _ in true }
  }

  /// Removes a node from the holders of tags for which its access control list has no entry.
  mutating func note(_ list: [AccessChange.Entry], of node: NodeID) -> [StoreChange] {
    noteSpace(on: node)
    return removeHolder(node) { !$0.isGranted(by: list) }
  }

  private mutating func removeHolder(_ node: NodeID, where isLost: (TagRecord) -> Bool) -> [StoreChange] {
    var changes: [StoreChange] = []
    for var record in tags where record.holders.contains(node) && isLost(record) {
      record.holders.removeAll { $0 == node }
      records[record.identifier] = record
      changes.append(record.stored)
    }
    return changes
  }
}
