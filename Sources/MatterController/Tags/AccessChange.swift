internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// State machine that writes the entries of tags to a node's access control list: adds missing ones, replaces earlier
/// versions, but not later ones, and removes those of retired tags. All other entries are written back without changes.
/// Matter Core § 9.10.
struct AccessChange: Sendable {
  typealias Entry = AccessControl.AccessControlEntryStruct

  let node: NodeID
  let tags: [TagRecord]
  /// The tags that have an entry, and the retired ones that have none.
  private(set) var granted: [TagRecord] = []
  /// The tags for which the list has no space.
  private(set) var refused: [TagRecord] = []
  /// The latest versions in the list that are later than those of the tags, by identifier.
  private(set) var later: [UInt16: UInt16] = [:]
  /// The node's list, once it was read.
  private var list: ScopedList<Entry>?
  private var limit = 4
  /// Writes that failed because another administrator changed the list after it was read.
  private var conflicts = 0
  private static let maximumConflicts = 4

  init(_ node: NodeID, _ tags: [TagRecord]) { (self.node, self.tags) = (node, tags) }

  private static let path = AccessControl.acl.path(on: .root)
  private static let limitPath = AccessControl.accessControlEntriesPerFabric.path(on: .root)
  private static let fabricPath = OperationalCredentials.currentFabricIndex.path(on: .root)

  /// The next request; nil if the list doesn't fit one write.
  var request: NodeRequest? {
    guard let list else {
      let paths = [Self.path, Self.limitPath, Self.fabricPath]
      return .read(ReadRequest(attributePaths: paths.map { AttributePath($0) }))
    }
    return list.write(to: Self.path)
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
      // A list without the entry of the controller was not decoded as the device meant it: a write would exclude the controller.
      guard list.entries.contains(where: { $0.entry.authMode == .case && $0.entry.privilege == .administer }) else {
        throw .unexpectedResponse("access control list without an administrator")
      }
      if let number = report[Self.limitPath].flatMap({ try? UInt16(tlv: $0.value) }) { limit = Int(number) }
      self.list = list
      return !grant()
    case .written(let statuses):
      if statuses.contains(where: { $0.status.code == .dataVersionMismatch }), conflicts < Self.maximumConflicts {
        conflicts += 1
        (list, granted, refused, later) = (nil, [], [], [:])
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
      let known = entries.indices.filter { tag.isVersion(entries[$0].entry) }
      // An entry of a later version revokes this one, and must not be replaced.
      let latest = known.flatMap { tag.versions(in: entries[$0].entry) }.max()
      if let latest, latest > tag.version {
        later[tag.identifier] = latest
        continue
      }
      // Only the controller uses the identifier: an entry with it is replaced or removed as a whole.
      if tag.isRetired {
        for index in known.reversed() { entries.remove(at: index) }
        isChanged = isChanged || !known.isEmpty
      } else if let first = known.first {
        if known.count > 1 || !tag.isCurrent(entries[first].entry) {
          for index in known.dropFirst().reversed() { entries.remove(at: index) }
          entries[first] = ScopedEntry(wanted)
          isChanged = true
        }
      } else if entries.count < limit {
        entries.append(ScopedEntry(wanted))
        isChanged = true
      } else {
        refused.append(tag)
        continue
      }
      granted.append(tag)
    }
    list?.entries = entries
    return isChanged
  }
}
