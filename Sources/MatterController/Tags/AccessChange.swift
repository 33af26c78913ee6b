internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// State machine that writes the entries of tags to a node's access control list: adds missing ones, and replaces earlier
/// versions, but not later ones. All other entries are written back byte for byte. Matter Core § 9.10.
struct AccessChange: Sendable {
  typealias Entry = AccessControl.AccessControlEntryStruct

  let node: NodeID
  let tags: [TagRecord]
  /// The tags that have an entry.
  private(set) var granted: [TagRecord] = []
  /// The node's list, once it was read.
  private var list: ScopedList<Entry>?
  private var limit = 4
  /// Writes that failed because another administrator changed the list after it was read.
  private var conflicts = 0
  private static let maximumConflicts = 4

  init(_ node: NodeID, _ tags: [TagRecord]) { (self.node, self.tags) = (node, tags) }

  /// Whether the list had no space for a tag.
  private(set) var isFull = false

  private static let path = AccessControl.acl.path(on: .root)
  private static let limitPath = AccessControl.accessControlEntriesPerFabric.path(on: .root)
  private static let fabricPath = OperationalCredentials.currentFabricIndex.path(on: .root)

  /// The next request; nil if the list doesn't fit one write.
  var request: NodeRequest? {
    guard let list else {
      let paths = [Self.path, Self.limitPath, Self.fabricPath]
      return .read(ReadRequest(attributePaths: paths.map { AttributePath($0) }))
    }
    let write = AttributeWrite(Self.path, dataVersion: list.dataVersion, value: list.encoded)
    // In several messages, only the first part would be conditional, and the list incomplete if a later one fails.
    guard let chunks = try? WriteRequestChunks([write], isTimed: false), chunks.messages.count == 1 else { return nil }
    return .write(chunks, timed: nil)
  }

  /// Handles an answer.
  /// - Returns: whether the change is complete.
  mutating func handle(_ reply: Reply) throws(ControllerError) -> Bool {
    switch reply {
    case .report(let report):
      guard let access = report[Self.path],
        let fabric = report[Self.fabricPath].flatMap({ try? FabricIndex(tlv: $0.value) }),
        let list = try? ScopedList<Entry>(access.value, dataVersion: access.dataVersion, fabric: fabric)
      else { throw .unexpectedResponse("access control list missing") }
      if let number = report[Self.limitPath].flatMap({ try? UInt16(tlv: $0.value) }) { limit = Int(number) }
      self.list = list
      return !grant()
    case .written(let statuses):
      if statuses.contains(where: { $0.status.code == .dataVersionMismatch }), conflicts < Self.maximumConflicts {
        conflicts += 1
        (list, granted, isFull) = (nil, [], false)
        return false
      }
      try statuses.check()
      return true
    default: throw .unexpectedResponse("an answer to another kind of request")
    }
  }

  /// Changes the list.
  /// - Returns: whether it differs from that of the node.
  private mutating func grant() -> Bool {
    guard var entries = list?.entries else { return false }
    var isChanged = false
    for tag in tags {
      let wanted = Entry(
        privilege: .init(rawValue: tag.privilege.rawValue), authMode: .case, subjects: .value([.tag(tag.tag)]),
        targets: .null)
      let known = entries.indices.filter { index in
        entries[index].entry.authMode == .case
          && entries[index].entry.subjects.wrapped?.contains(where: tag.isVersion) == true
      }
      // An entry of a later version revokes this one, and must not be replaced.
      if known.contains(where: { entries[$0].entry.subjects.wrapped?.contains(where: tag.isEarlier(than:)) == true }) {
        continue
      }
      // Only the controller uses the identifier: an entry with it is replaced as a whole.
      if let first = known.first {
        let entry = entries[first].entry
        let isCurrent =
          entry.subjects.wrapped == wanted.subjects.wrapped && entry.privilege == wanted.privilege
          && entry.targets == .null && known.count == 1
        if !isCurrent {
          for index in known.dropFirst().reversed() { entries.remove(at: index) }
          entries[first] = ScopedEntry(wanted)
          isChanged = true
        }
      } else if entries.count < limit {
        entries.append(ScopedEntry(wanted))
        isChanged = true
      } else {
        isFull = true
        continue
      }
      granted.append(tag)
    }
    list?.entries = entries
    return isChanged
  }
}
