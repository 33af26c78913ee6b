internal import MatterCrypto
public import MatterModel
public import MatterProtocol

// Groups of the fabric, and messages to all their members. Matter Core § 4.16, § 11.2.
extension ControllerEngine {
  /// The groups, by id, without those that were deleted.
  public var groups: [GroupRecord] { records { !$0.isDeleted } }

  /// Deleted groups that nodes may still have something of, by id.
  public var deletedGroups: [GroupRecord] { records { $0.isDeleted } }

  private func records(_ isIncluded: (GroupRecord) -> Bool) -> [GroupRecord] {
    groupRecords.values.filter(isIncluded).sorted { $0.id < $1.id }
  }

  /// Makes a group without members. Numbers and keys of deleted groups are not used while a node may still have them.
  /// - Parameters:
  ///   - id: 1 to 0x7FFF, nil for one that is free.
  ///   - name: what members call it; at most 16 bytes, and no other group's, in any case.
  /// - Throws: ``ControllerError/invalidRequest(_:)`` if the number is in use, or a parameter is out of range.
  @discardableResult
  public mutating func createGroup(_ id: GroupID? = nil, name: String) throws(ControllerError) -> GroupRecord {
    guard name.utf8.count <= 16 else { throw .invalidRequest("a group's name has at most 16 bytes") }
    if let known = groups.first(where: { $0.name.lowercased() == name.lowercased() }) {
      throw .invalidRequest("there is a group '\(known.name)' already, group \(known.id.rawValue)")
    }
    let free = (1...0x7FFF).lazy.map { GroupID($0) }.first { self.groupRecords[$0] == nil }
    guard let id = id ?? free, 1...0x7FFF ~= id.rawValue else {
      throw .invalidRequest("a group's number is from 1 to 32767")
    }
    if let known = groupRecords[id] {
      throw .invalidRequest(
        known.isDeleted
          ? "group \(id.rawValue) was deleted, and devices may still be in it; choose another number"
          : "group \(id.rawValue) exists already")
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

  /// The key set of the other groups, or a new one if a node that is not to have it any more may still have it.
  private mutating func keySetForNewGroup(_ changes: inout [StoreChange]) throws(ControllerError) -> UInt16 {
    let exposed = groupRecords.values.filter { record in
      record.isDeleted || record.holders.contains { peers[$0]?.isStored != true }
    }
    let unsafe = Set(exposed.map(\.keySet))
    if let known = groupEpochKeys.keys.sorted().last(where: { !unsafe.contains($0) }) { return known }
    // Key set 0 is not for groups.
    guard let new = (1...UInt16.max).first(where: { self.groupEpochKeys[$0] == nil }) else {
      throw .invalidRequest("there are too many key sets of groups")
    }
    let key = random.bytes(16)
    groupEpochKeys[new] = key
    changes.append(StoreChange(GroupRecord.epochKeyKey(new), key, isDurable: true))
    return new
  }

  /// Deletes a group: it can't be used any more. Its number and keys are kept until every node that may have them has left it,
  /// which ``leaveGroup(_:_:timeout:at:)`` does, and each new session with such a node.
  /// - Returns: the group with the nodes that have to leave it.
  @discardableResult
  public mutating func deleteGroup(_ id: GroupID) throws(ControllerError) -> GroupRecord {
    guard var record = groupRecords[id], !record.isDeleted else {
      throw .invalidRequest("there is no group \(id.rawValue)")
    }
    record.isDeleted = true
    update(record)
    return record
  }

  /// Stores a group as it is now, or forgets it if it was deleted and no node has anything of it.
  private mutating func update(_ record: GroupRecord) {
    let isGone = record.isDeleted && record.holders.isEmpty
    groupRecords[record.id] = isGone ? nil : record
    var changes = [StoreChange(record.key, isGone ? nil : record.tlv, isDurable: true)]
    if isGone, !groupRecords.values.contains(where: { $0.keySet == record.keySet }) {
      groupEpochKeys[record.keySet] = nil
      changes.append(StoreChange(GroupRecord.epochKeyKey(record.keySet), nil, isDurable: true))
    }
    perform(.store(changes))
    installGroupKeys()
  }

  // MARK: Members

  /// Makes an endpoint of a node a member: gives the node the keys, and the group the right to operate it. Ends with
  /// ``OperationOutcome/groupChanged(_:)``.
  public mutating func addMember(
    _ node: NodeID, endpoint: EndpointID, to group: GroupID, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    guard var record = groupRecords[group], !record.isDeleted else {
      return refuse(.invalidRequest("there is no group \(group.rawValue)"))
    }
    guard peers[node]?.isStored == true else { return refuse(.unknownNode(node)) }
    // Before the node gets anything: where the operation ends half-way, the keys have to be removed all the same.
    var change = GroupChange(record, node, [endpoint], isJoining: true)
    change.isFirst = !record.holders.contains(node)
    if change.isFirst {
      record.addHolder(node)
      update(record)
    }
    return start(.changeGroup(change), node, timeout, at: now)
  }

  /// Takes an endpoint out of a group; with the last one of a node, the node's keys, key map entry and access entry go too. Ends
  /// with ``OperationOutcome/groupChanged(_:)``.
  public mutating func removeMember(
    _ node: NodeID, endpoint: EndpointID, from group: GroupID, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    guard let record = groupRecords[group], !record.isDeleted else {
      return refuse(.invalidRequest("there is no group \(group.rawValue)"))
    }
    return start(.changeGroup(GroupChange(record, node, [endpoint], isJoining: false)), node, timeout, at: now)
  }

  /// Removes all that a node has of a group: memberships, keys, key map entry and access entry. Ends with
  /// ``OperationOutcome/groupChanged(_:)``.
  public mutating func leaveGroup(
    _ node: NodeID, _ group: GroupID, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    guard let record = groupRecords[group] else {
      return refuse(.invalidRequest("there is no group \(group.rawValue)"))
    }
    let change = GroupChange(record, node, record.endpoints(of: node), isJoining: false)
    return start(.changeGroup(change), node, timeout, at: now)
  }

  /// Has a node that there is a session with leave the groups that were deleted while it could not be reached.
  mutating func leaveDeletedGroups(_ node: NodeID, at now: Instant) {
    guard configuration.mayStore else { return }
    for record in deletedGroups where record.holders.contains(node) && !isChanging(record.id, node) {
      _ = leaveGroup(node, record.id, at: now)
    }
  }

  /// Has a node that reports leave the groups that were deleted while it could not be reached, because a session may outlive
  /// that. After a failure it is tried again with the first report after ``leavingInterval``.
  mutating func leaveDeletedGroups(reporting node: NodeID, at now: Instant) {
    guard groupRecords.values.contains(where: { $0.isDeleted && $0.holders.contains(node) }) else {
      leavingRetries[node] = nil
      return
    }
    if let retry = leavingRetries[node], now < retry { return }
    leavingRetries[node] = now + Self.leavingInterval
    leaveDeletedGroups(node, at: now)
  }

  /// How long a node that failed to leave a deleted group is left alone.
  public static var leavingInterval: Duration { .seconds(30) }

  private func isChanging(_ group: GroupID, _ node: NodeID) -> Bool {
    operations.values.contains {
      if case .changeGroup(let change) = $0.task { change.group == group && change.node == node } else { false }
    }
  }

  /// Whether an earlier change of a node's groups is under way. One at a time: each decides by what the others left.
  func mustWaitForGroupChange(_ id: OperationID) -> Bool {
    guard let operation = operations[id], case .changeGroup(let change) = operation.task else { return false }
    return groupChanges(of: change.node).contains { $0 < id }
  }

  /// Makes the next change of a node's groups, if one waits. The group may have changed since it was asked for.
  mutating func runNextGroupChange(_ node: NodeID, at now: Instant) {
    guard let next = groupChanges(of: node).min(), case .changeGroup(let change)? = operations[next]?.task else {
      return
    }
    guard let record = groupRecords[change.group], !(record.isDeleted && change.isJoining) else {
      return fail(next, .invalidRequest("there is no group \(change.group.rawValue) any more"), at: now)
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

  /// Takes an answer on the way into a group or out of it.
  mutating func resolveGroupChange(_ id: OperationID, _ change: GroupChange, _ reply: Reply, at now: Instant) {
    var change = change
    do throws(ControllerError) {
      guard try change.take(reply) else {
        operations[id]?.task = .changeGroup(change)
        return run(id, at: now)
      }
    } catch {
      return fail(id, error, at: now)
    }
    guard var record = groupRecords[change.group] else {
      return fail(id, .invalidRequest("there is no group \(change.group.rawValue) any more"), at: now)
    }
    let changed = change.endpoints.map { GroupRecord.Member(change.node, $0) }
    record.members.removeAll { changed.contains($0) }
    if change.isJoining {
      record.members += changed
      record.members.sort()
    } else if !change.othersStay {
      record.holders.removeAll { $0 == change.node }
    }
    update(record)
    complete(id, .success(.groupChanged(record)), at: now)
  }

  /// A change of groups failed. A node that could not be reached, that has no Groups cluster, or that refused the keys,
  /// has nothing of the group.
  mutating func failedGroupChange(_ change: GroupChange, _ error: ControllerError) {
    guard change.isFirst, change.step == .probe || change.step == .writeKeys, var record = groupRecords[change.group]
    else { return }
    if change.hasSent { guard case .status = error else { return } }
    record.holders.removeAll { $0 == change.node }
    update(record)
  }

  /// A node that left the fabric is in no group any more.
  /// - Parameter wasTold: whether the node itself forgot the fabric. Else it may have what it had.
  mutating func leaveGroups(_ node: NodeID, wasTold: Bool) {
    for var record in groupRecords.values.sorted(by: { $0.id < $1.id }) where record.holders.contains(node) {
      record.members.removeAll { $0.node == node }
      if wasTold { record.holders.removeAll { $0 == node } }
      update(record)
    }
  }

  // MARK: Messages

  /// Has all members of a group carry out a command. Nobody answers: whether they did can only be read from them.
  /// - Parameter fields: encoded, one anonymous structure.
  /// - Throws: ``ControllerError/invalidRequest(_:)`` if there is no such group, or the fields are too long.
  public mutating func invoke(
    group: GroupID, cluster: ClusterID, command: CommandID, fields: [UInt8]? = [0x15, 0x18],
    at now: Instant
  ) throws(ControllerError) {
    let path = CommandPath(endpoint: nil, cluster: cluster, command: command)
    let request = InvokeRequest([CommandData(path, fields: fields)], suppressResponse: true)
    try send(InvokeRequest.opcode.rawValue, request.encoded, to: group, at: now)
  }

  /// Has all members of a group write attributes, whose paths name no endpoints.
  /// - Throws: ``ControllerError/invalidRequest(_:)`` if there is no such group, or it is too much for one message.
  public mutating func write(group: GroupID, _ writes: [AttributeWrite], at now: Instant) throws(ControllerError) {
    guard writes.allSatisfy({ $0.path.endpoint == nil }) else {
      throw .invalidRequest("what is written to a group names no endpoint")
    }
    var request = WriteRequest(writes)
    request.suppressResponse = true
    try send(WriteRequest.opcode.rawValue, request.encoded, to: group, at: now)
  }

  private mutating func send(
    _ opcode: UInt8, _ payload: [UInt8], to group: GroupID, at now: Instant
  ) throws(ControllerError) {
    guard groupRecords[group]?.isDeleted == false else { throw .invalidRequest("there is no group \(group.rawValue)") }
    guard core.sendToGroup(group, fabric: FabricAuthority.fabricIndex, opcode, payload: payload) else {
      throw .invalidRequest("too long for one message to a group")
    }
    settle(at: now)
  }

  /// Makes the messaging core know the groups.
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
