internal import MatterCrypto
public import MatterModel
public import MatterProtocol

// Groups of the fabric and group messages. Matter Core § 4.16, § 11.2.
extension ControllerEngine {
  /// The groups that are not deleted, by id.
  public var groups: [GroupRecord] { records { !$0.isDeleted } }

  /// Deleted groups whose keys, memberships or access entries nodes may still have, by id.
  public var deletedGroups: [GroupRecord] { records { $0.isDeleted } }

  private func records(_ isIncluded: (GroupRecord) -> Bool) -> [GroupRecord] {
    groupRecords.values.filter(isIncluded).sorted { $0.id < $1.id }
  }

  /// Creates a group without members. Ids and keys of deleted groups are not reused while a node may still have them.
  /// - Parameters:
  ///   - id: 1 to 0x7FFF, or nil for the next free one.
  ///   - name: the name stored on the members, at most 16 bytes; unique, ignoring case.
  /// - Throws: ``ControllerError/invalidRequest(_:)`` if the id or name is in use, or a parameter is out of range.
  @discardableResult
  public mutating func createGroup(_ id: GroupID? = nil, name: String) throws(ControllerError) -> GroupRecord {
    guard name.utf8.count <= 16 else { throw .invalidRequest("group name: longer than 16 bytes") }
    if let known = groups.first(where: { $0.name.lowercased() == name.lowercased() }) {
      throw .invalidRequest("group name '\(known.name)': in use by group \(known.id.rawValue)")
    }
    let free = (1...0x7FFF).lazy.map { GroupID($0) }.first { self.groupRecords[$0] == nil }
    guard let id = id ?? free, 1...0x7FFF ~= id.rawValue else {
      throw .invalidRequest("group id: out of range; expected 1 to 32767")
    }
    if let known = groupRecords[id] {
      throw .invalidRequest(
        known.isDeleted
          ? "group \(id.rawValue): deleted, but devices may still be in it; choose another id"
          : "group \(id.rawValue): already exists")
    }
    var changes: [StoreChange] = []
    let keySet = try keySetForNewGroup(&changes)
    let record = GroupRecord(id, name, keySet: keySet)
    groupRecords[id] = record
    changes.append(StoreChange(record.key, record.tlv, isDurable: true))
    perform(.store(changes))
    installGroupKeys()
    return record
  }

  /// Returns the key set of the other groups, or a new one if a node outside of the groups may still have it.
  private mutating func keySetForNewGroup(_ changes: inout [StoreChange]) throws(ControllerError) -> UInt16 {
    let exposed = groupRecords.values.filter { record in
      record.isDeleted || record.holders.contains { peers[$0]?.isStored != true }
    }
    let unsafe = Set(exposed.map(\.keySet))
    if let known = groupEpochKeys.keys.sorted().last(where: { !unsafe.contains($0) }) { return known }
    // Key set 0 is the IPK.
    guard let new = (1...UInt16.max).first(where: { self.groupEpochKeys[$0] == nil }) else {
      throw .invalidRequest("group key sets: too many")
    }
    let key = random.bytes(16)
    groupEpochKeys[new] = key
    changes.append(StoreChange(GroupRecord.epochKeyKey(new), key, isDurable: true))
    return new
  }

  /// Deletes a group. Its id and keys stay reserved until every node that may have them has left, either by
  /// ``leaveGroup(_:_:timeout:at:)`` or when the next session with the node opens.
  /// - Returns: the group with the nodes that still have to leave it.
  @discardableResult
  public mutating func deleteGroup(_ id: GroupID) throws(ControllerError) -> GroupRecord {
    guard var record = groupRecords[id], !record.isDeleted else {
      throw .invalidRequest("group \(id.rawValue): not found")
    }
    record.isDeleted = true
    update(record)
    return record
  }

  /// Stores a group, or removes it from the store if it is deleted and has no holders.
  private mutating func update(_ record: GroupRecord) {
    let isObsolete = record.isDeleted && record.holders.isEmpty
    groupRecords[record.id] = isObsolete ? nil : record
    var changes = [StoreChange(record.key, isObsolete ? nil : record.tlv, isDurable: true)]
    if isObsolete, !groupRecords.values.contains(where: { $0.keySet == record.keySet }) {
      groupEpochKeys[record.keySet] = nil
      changes.append(StoreChange(GroupRecord.epochKeyKey(record.keySet), nil, isDurable: true))
    }
    perform(.store(changes))
    installGroupKeys()
  }

  // MARK: Members

  /// Adds an endpoint of a node to a group: writes keys and key map, adds the membership, and grants the group operate
  /// privilege. Completes with ``OperationOutcome/groupChanged(_:)``.
  public mutating func addMember(
    _ node: NodeID, endpoint: EndpointID, to group: GroupID, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    guard var record = groupRecords[group], !record.isDeleted else {
      return refuse(.invalidRequest("group \(group.rawValue): not found"))
    }
    guard peers[node]?.isStored == true else { return refuse(.unknownNode(node)) }
    // Recorded before the first request: if the operation fails half-way, the keys still have to be removed.
    var change = GroupChange(record, node, [endpoint], isJoining: true)
    change.isFirst = !record.holders.contains(node)
    if change.isFirst {
      record.addHolder(node)
      update(record)
    }
    return start(.changeGroup(change), node, timeout, at: now)
  }

  /// Removes an endpoint from a group. With the last endpoint of a node, also removes the node's keys, key map entry
  /// and access entry. Completes with ``OperationOutcome/groupChanged(_:)``.
  public mutating func removeMember(
    _ node: NodeID, endpoint: EndpointID, from group: GroupID, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    guard let record = groupRecords[group], !record.isDeleted else {
      return refuse(.invalidRequest("group \(group.rawValue): not found"))
    }
    return start(.changeGroup(GroupChange(record, node, [endpoint], isJoining: false)), node, timeout, at: now)
  }

  /// Removes a node's memberships, keys, key map entry and access entry of a group. Completes with
  /// ``OperationOutcome/groupChanged(_:)``.
  public mutating func leaveGroup(
    _ node: NodeID, _ group: GroupID, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    guard let record = groupRecords[group] else {
      return refuse(.invalidRequest("group \(group.rawValue): not found"))
    }
    let change = GroupChange(record, node, record.endpoints(of: node), isJoining: false)
    return start(.changeGroup(change), node, timeout, at: now)
  }

  /// Removes a node with a session from the groups that were deleted while it was unreachable.
  mutating func leaveDeletedGroups(_ node: NodeID, at now: Instant) {
    guard configuration.mayStore else { return }
    for record in deletedGroups where record.holders.contains(node) && !isChanging(record.id, node) {
      _ = leaveGroup(node, record.id, at: now)
    }
  }

  /// Removes a node that reports from the groups that were deleted while it was unreachable, because a session may
  /// outlive an outage. A failure is retried at the first report after ``leavingInterval``.
  mutating func leaveDeletedGroups(reporting node: NodeID, at now: Instant) {
    guard groupRecords.values.contains(where: { $0.isDeleted && $0.holders.contains(node) }) else {
      leavingRetries[node] = nil
      return
    }
    if let retry = leavingRetries[node], now < retry { return }
    leavingRetries[node] = now + Self.leavingInterval
    leaveDeletedGroups(node, at: now)
  }

  /// Delay before the next attempt to remove a node from a deleted group.
  public static var leavingInterval: Duration { .seconds(30) }

  private func isChanging(_ group: GroupID, _ node: NodeID) -> Bool {
    operations.values.contains {
      if case .changeGroup(let change) = $0.task { change.group == group && change.node == node } else { false }
    }
  }

  /// Whether an earlier change of the node's groups is in progress. Changes are serialized because each depends on the
  /// lists that the previous one left.
  func mustWaitForGroupChange(_ id: OperationID) -> Bool {
    guard let operation = operations[id], case .changeGroup(let change) = operation.task else { return false }
    return groupChanges(of: change.node).contains { $0 < id }
  }

  /// Starts the next queued change of a node's groups. The group may have changed since the change was requested.
  mutating func runNextGroupChange(_ node: NodeID, at now: Instant) {
    guard let next = groupChanges(of: node).min(), case .changeGroup(let change)? = operations[next]?.task else {
      return
    }
    guard let record = groupRecords[change.group], !(record.isDeleted && change.isJoining) else {
      return fail(next, .invalidRequest("group \(change.group.rawValue): deleted in the meantime"), at: now)
    }
    let endpoints = record.isDeleted ? record.endpoints(of: node) : change.endpoints
    var renewed = GroupChange(record, node, endpoints, isJoining: change.isJoining)
    renewed.isFirst = change.isFirst
    operations[next]?.task = .changeGroup(renewed)
    run(next, at: now)
  }

  private func groupChanges(of node: NodeID) -> [OperationID] {
    operations.values.compactMap {
      if case .changeGroup(let change) = $0.task, change.node == node { $0.id } else { nil }
    }
  }

  /// Handles an answer to a step of a group change.
  mutating func resolveGroupChange(_ id: OperationID, _ change: GroupChange, _ reply: Reply, at now: Instant) {
    var change = change
    do throws(ControllerError) {
      guard try change.handle(reply) else {
        operations[id]?.task = .changeGroup(change)
        return run(id, at: now)
      }
    } catch {
      return fail(id, error, at: now)
    }
    guard var record = groupRecords[change.group] else {
      return fail(id, .invalidRequest("group \(change.group.rawValue): deleted in the meantime"), at: now)
    }
    let changed = change.endpoints.map { GroupRecord.Member(change.node, $0) }
    record.members.removeAll { changed.contains($0) }
    if change.isJoining {
      record.members += changed
      record.members.sort()
    } else if !change.otherEndpointsRemain {
      record.holders.removeAll { $0 == change.node }
    }
    update(record)
    complete(id, .success(.groupChanged(record)), at: now)
  }

  /// Handles a failed group change. A node that could not be reached, has no Groups cluster, or refused the keys has
  /// nothing of the group and is removed from the holders.
  mutating func failedGroupChange(_ change: GroupChange, _ error: ControllerError) {
    guard change.isFirst, change.step == .probe || change.step == .writeKeys, var record = groupRecords[change.group]
    else { return }
    if change.hasSent { guard case .status = error else { return } }
    record.holders.removeAll { $0 == change.node }
    update(record)
  }

  /// Removes a node that left the fabric from all groups.
  /// - Parameter fabricRemoved: whether the node removed the fabric; otherwise it may still have keys and memberships.
  mutating func leaveGroups(_ node: NodeID, fabricRemoved: Bool) {
    for var record in groupRecords.values.sorted(by: { $0.id < $1.id }) where record.holders.contains(node) {
      record.members.removeAll { $0.node == node }
      if fabricRemoved { record.holders.removeAll { $0 == node } }
      update(record)
    }
  }

  // MARK: Messages

  /// Sends a command to all members of a group. Group messages have no answer; read the members to check the effect.
  /// - Parameter fields: encoded, one anonymous structure.
  /// - Throws: ``ControllerError/invalidRequest(_:)`` if the group does not exist or the fields are too long.
  public mutating func invoke(
    group: GroupID, cluster: ClusterID, command: CommandID, fields: [UInt8]? = [0x15, 0x18],
    at now: Instant
  ) throws(ControllerError) {
    let path = CommandPath(endpoint: nil, cluster: cluster, command: command)
    let request = InvokeRequest([CommandData(path, fields: fields)], suppressResponse: true)
    try send(InvokeRequest.opcode.rawValue, request.encoded, to: group, at: now)
  }

  /// Writes attributes on all members of a group. The paths must not name an endpoint.
  /// - Throws: ``ControllerError/invalidRequest(_:)`` if the group does not exist or the writes exceed one message.
  public mutating func write(group: GroupID, _ writes: [AttributeWrite], at now: Instant) throws(ControllerError) {
    guard writes.allSatisfy({ $0.path.endpoint == nil }) else {
      throw .invalidRequest("group write: paths must not name an endpoint")
    }
    var request = WriteRequest(writes)
    request.suppressResponse = true
    try send(WriteRequest.opcode.rawValue, request.encoded, to: group, at: now)
  }

  private mutating func send(
    _ opcode: UInt8, _ payload: [UInt8], to group: GroupID, at now: Instant
  ) throws(ControllerError) {
    guard groupRecords[group]?.isDeleted == false else { throw .invalidRequest("group \(group.rawValue): not found") }
    guard core.sendToGroup(group, fabric: FabricAuthority.fabricIndex, opcode, payload: payload) else {
      throw .invalidRequest("group message: too long")
    }
    settle(at: now)
  }

  /// Installs the keys of the groups in the messaging core.
  mutating func installGroupKeys() {
    let known = core.groupKeys(of: fabric.index)
    let sets = groupEpochKeys.keys.sorted().compactMap { (keySet) -> GroupKeySet? in
      let used = groups.filter { $0.keySet == keySet }.map(\.id)
      guard !used.isEmpty, let epochKey = groupEpochKeys[keySet],
        let key = known.first(where: { $0.id == keySet })?.keys.first
          ?? (try? GroupKey(epochKey: epochKey, compressedFabricID: fabric.compressedFabricID))
      else { return nil }
      return GroupKeySet(id: keySet, keys: [key], groups: used)
    }
    core.setGroupKeys(sets, of: fabric.index)
  }
}
