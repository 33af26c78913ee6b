internal import MatterClusters
public import MatterModel
internal import MatterProtocol
internal import MatterTLV

/// A CASE authenticated tag of certificates that the controller issued to other nodes, and the privilege that devices grant
/// it. A later version revokes the certificates of earlier ones. Matter Core § 6.6.2.1.2.
public struct TagRecord: Hashable, Sendable {
  /// The upper 16 bits of the tag.
  public let identifier: UInt16
  /// The version of the next certificate, and of the access entries.
  public internal(set) var version: UInt16 = 1
  /// The privilege in the access entries.
  public let privilege: Privilege
  /// Whether a certificate with this version was issued.
  public internal(set) var isIssued = false
  /// The nodes whose access control list has an entry for this version, in order.
  public internal(set) var holders: [NodeID] = []

  init(_ identifier: UInt16, _ privilege: Privilege) { (self.identifier, self.privilege) = (identifier, privilege) }

  public var tag: CASEAuthenticatedTag { CASEAuthenticatedTag(UInt32(identifier) << 16 | UInt32(version)) }

  /// Returns the versions of the tag among the subjects of an access entry.
  func versions(in entry: AccessChange.Entry) -> [UInt16] {
    guard entry.authMode == .case else { return [] }
    return (entry.subjects.wrapped ?? [])
      .filter { $0.isTag && UInt16(truncatingIfNeeded: $0.rawValue >> 16) == identifier }
      .map { UInt16(truncatingIfNeeded: $0.rawValue) }
  }

  /// Whether an access entry is for a version of the tag.
  func isVersion(_ entry: AccessChange.Entry) -> Bool { !versions(in: entry).isEmpty }

  /// Whether an access entry is the one for this version.
  func isCurrent(_ entry: AccessChange.Entry) -> Bool {
    entry.authMode == .case && entry.subjects.wrapped == [.tag(tag)] && entry.targets == .null
      && entry.privilege == .init(rawValue: privilege.rawValue)
  }

  /// Whether an access control list has the entry for this version, and none for another one.
  func isGranted(by list: [AccessChange.Entry]) -> Bool {
    let own = list.filter(isVersion)
    return own.count == 1 && own.allSatisfy(isCurrent)
  }

  // MARK: Storage

  private static let prefix = "tag/"
  var stored: StoreChange { StoreChange(Self.prefix + String(identifier, radix: 16), tlv, isDurable: true) }

  /// Returns the tags in a controller's store.
  static func records(in state: StoredState) -> [UInt16: TagRecord] {
    let records = state.filter { $0.key.hasPrefix(prefix) }.compactMap { TagRecord(tlv: $0.value) }
    return Dictionary(records.map { ($0.identifier, $0) }) { $1 }
  }

  var tlv: [UInt8] {
    var writer = TLVWriter()
    writer.structure {
      $0.write(UInt64(tag.rawValue), .context(0))
      $0.write(UInt64(privilege.rawValue), .context(1))
      $0.write(isIssued, .context(2))
      $0.array(.context(3)) { for holder in holders { $0.write(holder.rawValue) } }
    }
    return writer.bytes
  }

  /// Returns nil if the bytes are not a valid encoding.
  init?(tlv: [UInt8]) {
    guard let element = try? TLVElement(decoding: tlv), case .unsigned(let tag)? = element[0]?.value,
      case .unsigned(let number)? = element[1]?.value, let privilege = Privilege(rawValue: UInt8(clamping: number)),
      case .boolean(let isIssued)? = element[2]?.value, case .array(let holders)? = element[3]?.value
    else { return nil }
    self.init(UInt16(truncatingIfNeeded: tag >> 16), privilege)
    (version, self.isIssued) = (UInt16(truncatingIfNeeded: tag), isIssued)
    self.holders = holders.compactMap { if case .unsigned(let number) = $0.value { NodeID(number) } else { nil } }
  }
}

/// The tags of a controller's fabric.
struct TagTable: Sendable {
  private(set) var records: [UInt16: TagRecord]
  /// The tags for which the access control list of a node has no space, or an entry with an unexpected version.
  private var refused: [NodeID: Set<CASEAuthenticatedTag>] = [:]
  /// The identifiers whose version was raised beyond that of a list, which happens once. The table is older than the lists if
  /// a copy of the home was restored; then certificates of the later version may have been issued.
  private var followed: Set<UInt16> = []
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
    records[identifier] = record
    return (record, [record.stored])
  }

  /// Raises the version of a tag if a certificate with the present one was issued.
  /// - Returns: the changes of the store.
  mutating func raise(_ identifier: UInt16) throws(ControllerError) -> [StoreChange] {
    guard var record = records[identifier], record.isIssued else { return [] }
    guard record.version < .max else { throw .invalidRequest("tag \(record.tag): no version left") }
    record.version += 1
    (record.isIssued, record.holders) = (false, [])
    records[identifier] = record
    return [record.stored]
  }

  /// Returns the tags for which a node has no access entry.
  func missing(on node: NodeID) -> [TagRecord] { tags.filter { !$0.holders.contains(node) } }

  /// Whether a node lacks an access entry for which its list may have space.
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
      guard version < .max, version - record.version <= Self.maximumLead, followed.insert(identifier).inserted else {
        refused.insert(record.tag)
        continue
      }
      (record.version, record.isIssued, record.holders) = (version + 1, false, [])
      records[identifier] = record
      changes.append(record.stored)
    }
    self.refused[change.node] = refused.isEmpty ? nil : refused
    for tag in change.granted {
      guard var record = records[tag.identifier], record.version == tag.version,
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
