internal import MatterClusters
package import MatterModel
internal import MatterProtocol
internal import MatterTLV

/// A CASE authenticated tag of certificates that the controller issued to other nodes, and the privilege that devices grant
/// it. A later version revokes the certificates of earlier ones. Matter Core § 6.6.2.1.2.
package struct TagRecord: Hashable, Sendable {
  /// The upper 16 bits of the tag.
  let identifier: UInt16
  /// The version of the next certificate, and of the access entries.
  package internal(set) var version: UInt16 = 1
  /// The privilege in the access entries.
  package let privilege: Privilege
  /// Whether a certificate with this version was issued.
  var isIssued = false
  /// Whether the entries are removed, because no client is left. The next certificate adds them again.
  package internal(set) var isRetired = false
  /// The nodes whose access control list has an entry for this version, or no entry if the tag is retired, in order.
  package internal(set) var holders: [NodeID] = []

  init(_ identifier: UInt16, _ privilege: Privilege) { (self.identifier, self.privilege) = (identifier, privilege) }

  package var tag: CASEAuthenticatedTag { CASEAuthenticatedTag(UInt32(identifier) << 16 | UInt32(version)) }

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

  /// Whether an access control list has the entry for this version, and none for another one; none at all if it is retired.
  func isGranted(by list: [AccessChange.Entry]) -> Bool {
    let own = list.filter(isVersion)
    return own.count == (isRetired ? 0 : 1) && own.allSatisfy(isCurrent)
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
      $0.write(isRetired, .context(4))
    }
    return writer.bytes
  }

  /// Returns nil if the bytes are not a valid encoding.
  init?(tlv: [UInt8]) {
    guard let element = try? TLVElement(decoding: tlv), case .unsigned(let tag)? = element[0]?.value,
      case .unsigned(let number)? = element[1]?.value, let privilege = Privilege(rawValue: UInt8(clamping: number)),
      case .boolean(let isIssued)? = element[2]?.value, case .array(let holders)? = element[3]?.value,
      case .boolean(let isRetired)? = element[4]?.value
    else { return nil }
    self.init(UInt16(truncatingIfNeeded: tag >> 16), privilege)
    (version, self.isIssued, self.isRetired) = (UInt16(truncatingIfNeeded: tag), isIssued, isRetired)
    self.holders = holders.compactMap { if case .unsigned(let number) = $0.value { NodeID(number) } else { nil } }
  }
}
