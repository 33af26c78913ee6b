internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol

/// The groups of the fabric and their keys. Ids and keys of deleted groups stay reserved while a node may still have
/// them. Matter Core § 4.16, § 11.2.
struct GroupTable: Sendable {
  private var records: [GroupID: GroupRecord] = [:]
  /// The epoch keys by key set, 16 bytes each.
  private var epochKeys: [UInt16: [UInt8]] = [:]
  /// Earliest time at which a reporting node is asked again to leave the deleted groups.
  private var leavingRetries: [NodeID: Instant] = [:]

  init(_ stored: StoredState) {
    for (key, value) in stored where key.hasPrefix(GroupRecord.prefix) {
      if let record = GroupRecord(tlv: value) { records[record.id] = record }
    }
    for (key, value) in stored where key.hasPrefix(GroupRecord.epochKeyPrefix) {
      if let keySet = GroupRecord.keySet(ofKey: key) { epochKeys[keySet] = value }
    }
  }

  /// The groups that are not deleted, by id.
  var groups: [GroupRecord] { sorted { !$0.isDeleted } }
  /// Deleted groups that nodes may still be in, by id.
  var deletedGroups: [GroupRecord] { sorted { $0.isDeleted } }

  private func sorted(_ isIncluded: (GroupRecord) -> Bool) -> [GroupRecord] {
    records.values.filter(isIncluded).sorted { $0.id < $1.id }
  }

  /// Returns a group that is not deleted.
  func group(_ id: GroupID) throws(ControllerError) -> GroupRecord {
    guard let record = records[id], !record.isDeleted else { throw Self.error(id, "not found") }
    return record
  }

  private static func error(_ id: GroupID, _ reason: String) -> ControllerError {
    .invalidRequest("group \(id.rawValue): \(reason)")
  }

  // MARK: Creation and deletion

  /// Creates a group without members; see ``ControllerEngine/createGroup(_:name:)``.
  /// - Parameter isInFabric: whether a holder is a node of the fabric.
  /// - Returns: the group and the changes of the store.
  mutating func create(
    _ id: GroupID?, name: String, random: inout any RandomSource, isInFabric: (NodeID) -> Bool
  ) throws(ControllerError) -> (GroupRecord, [StoreChange]) {
    guard name.utf8.count <= 16 else { throw .invalidRequest("group name: longer than 16 bytes") }
    if let known = groups.first(where: { $0.name.lowercased() == name.lowercased() }) {
      throw .invalidRequest("group name '\(known.name)': in use by group \(known.id.rawValue)")
    }
    let free = (1...0x7FFF).lazy.map { GroupID($0) }.first { self.records[$0] == nil }
    guard let id = id ?? free, 1...0x7FFF ~= id.rawValue else {
      throw .invalidRequest("group id: out of range; expected 1 to 32767")
    }
    if let known = records[id] {
      throw Self.error(
        id,
        known.isDeleted ? "deleted, but devices may still be in it; choose another id" : "already exists")
    }
    var changes: [StoreChange] = []
    let record = GroupRecord(id, name, keySet: try keySetForNewGroup(random: &random, isInFabric, &changes))
    records[id] = record
    changes.append(StoreChange(record.key, record.tlv, isDurable: true))
    return (record, changes)
  }

  /// Returns the key set of the other groups, or a new one if a node outside of the groups may still have it.
  private mutating func keySetForNewGroup(
    random: inout any RandomSource, _ isInFabric: (NodeID) -> Bool, _ changes: inout [StoreChange]
  ) throws(ControllerError) -> UInt16 {
    let exposed = records.values.filter { $0.isDeleted || !$0.holders.allSatisfy(isInFabric) }
    let unsafe = Set(exposed.map(\.keySet))
    if let known = epochKeys.keys.sorted().last(where: { !unsafe.contains($0) }) { return known }
    // Key set 0 is the IPK.
    guard let new = (1...UInt16.max).first(where: { self.epochKeys[$0] == nil }) else {
      throw .invalidRequest("group key sets: too many")
    }
    let key = random.bytes(16)
    epochKeys[new] = key
    changes.append(StoreChange(GroupRecord.epochKeyKey(new), key, isDurable: true))
    return new
  }

  /// Marks a group as deleted, and removes it if it has no holders.
  /// - Returns: the group and the changes of the store.
  mutating func delete(_ id: GroupID) throws(ControllerError) -> (GroupRecord, [StoreChange]) {
    var record = try group(id)
    record.isDeleted = true
    return (record, update(record))
  }

  /// Replaces a group, or removes it if it is deleted and has no holders.
  private mutating func update(_ record: GroupRecord) -> [StoreChange] {
    let isObsolete = record.isDeleted && record.holders.isEmpty
    records[record.id] = isObsolete ? nil : record
    var changes = [StoreChange(record.key, isObsolete ? nil : record.tlv, isDurable: true)]
    if isObsolete, !records.values.contains(where: { $0.keySet == record.keySet }) {
      epochKeys[record.keySet] = nil
      changes.append(StoreChange(GroupRecord.epochKeyKey(record.keySet), nil, isDurable: true))
    }
    return changes
  }

  // MARK: Members

  /// Returns the change that adds an endpoint to a group, and makes its node a holder.
  ///
  /// The holder is recorded before the first request: if the change fails half-way, the keys still have to be removed.
  mutating func join(
    _ node: NodeID, _ endpoint: EndpointID, _ group: GroupID
  ) throws(ControllerError) -> (GroupChange, [StoreChange]) {
    var record = try self.group(group)
    var change = GroupChange(record, node, [endpoint], isJoining: true)
    change.isFirst = !record.holders.contains(node)
    guard change.isFirst else { return (change, []) }
    record.addHolder(node)
    return (change, update(record))
  }

  /// Returns the change that removes all endpoints of a node from a group, which may be deleted.
  func leaving(_ node: NodeID, _ group: GroupID) throws(ControllerError) -> GroupChange {
    guard let record = records[group] else { throw Self.error(group, "not found") }
    return GroupChange(record, node, record.endpoints(of: node), isJoining: false)
  }

  /// Returns a change that waited for another one, for the current state of the group.
  func renewed(_ change: GroupChange) throws(ControllerError) -> GroupChange {
    guard let record = records[change.group], !(record.isDeleted && change.isJoining) else {
      throw Self.error(change.group, "deleted in the meantime")
    }
    let endpoints = record.isDeleted ? record.endpoints(of: change.node) : change.endpoints
    var renewed = GroupChange(record, change.node, endpoints, isJoining: change.isJoining)
    renewed.isFirst = change.isFirst
    return renewed
  }

  /// Applies a completed change.
  /// - Returns: the group and the changes of the store.
  mutating func complete(_ change: GroupChange) throws(ControllerError) -> (GroupRecord, [StoreChange]) {
    guard var record = records[change.group] else { throw Self.error(change.group, "deleted in the meantime") }
    let changed = change.endpoints.map { GroupRecord.Member(change.node, $0) }
    record.members.removeAll { changed.contains($0) }
    if change.isJoining {
      record.members += changed
      record.members.sort()
    } else if !change.otherEndpointsRemain {
      record.holders.removeAll { $0 == change.node }
    }
    return (record, update(record))
  }

  /// Handles a failed change. A node that could not be reached, has no Groups cluster, or refused the keys has nothing
  /// of the group and is removed from the holders.
  /// - Returns: the changes of the store.
  mutating func fail(_ change: GroupChange, _ error: ControllerError) -> [StoreChange] {
    guard change.isFirst, change.step == .probe || change.step == .writeKeys, var record = records[change.group] else {
      return []
    }
    if change.hasSent { guard case .status = error else { return [] } }
    record.holders.removeAll { $0 == change.node }
    return update(record)
  }

  /// Removes a node that left the fabric from all groups.
  /// - Parameter fabricRemoved: whether the node removed the fabric; otherwise it may still have keys and memberships.
  /// - Returns: the changes of the store for each group, in order.
  mutating func remove(_ node: NodeID, fabricRemoved: Bool) -> [[StoreChange]] {
    sorted { $0.holders.contains(node) }.map {
      var record = $0
      record.members.removeAll { $0.node == node }
      if fabricRemoved { record.holders.removeAll { $0 == node } }
      return update(record)
    }
  }

  // MARK: Deleted groups

  /// Delay before the next attempt to remove a reporting node from a deleted group.
  static let leavingInterval: Duration = .seconds(30)

  /// Whether a reporting node has to leave a deleted group now. After a failure this is the case again at the first
  /// report after ``leavingInterval``.
  mutating func mustLeave(_ node: NodeID, at now: Instant) -> Bool {
    guard records.values.contains(where: { $0.isDeleted && $0.holders.contains(node) }) else {
      leavingRetries[node] = nil
      return false
    }
    if let retry = leavingRetries[node], now < retry { return false }
    leavingRetries[node] = now + Self.leavingInterval
    return true
  }

  // MARK: Keys

  /// The epoch key of a key set; empty if there is none.
  func epochKey(_ keySet: UInt16) -> [UInt8] { epochKeys[keySet] ?? [] }

  /// Returns the key sets that groups use.
  /// - Parameter known: key sets whose keys need not be derived again.
  func keySets(_ known: [GroupKeySet], compressedFabricID: UInt64) -> [GroupKeySet] {
    epochKeys.keys.sorted().compactMap { keySet in
      let used = groups.filter { $0.keySet == keySet }.map(\.id)
      guard !used.isEmpty, let epochKey = epochKeys[keySet],
        let key = known.first(where: { $0.id == keySet })?.keys.first
          ?? (try? GroupKey(epochKey: epochKey, compressedFabricID: compressedFabricID))
      else { return nil }
      return GroupKeySet(id: keySet, keys: [key], groups: used)
    }
  }
}
