internal import MatterCrypto
public import MatterModel
public import MatterProtocol

// Groups of the fabric, and messages to all their members. Matter Core § 4.16, § 11.2.
extension ControllerEngine {
  /// The groups that were made, by id.
  public var groups: [GroupRecord] { groupRecords.values.sorted { $0.id < $1.id } }

  /// Makes a group without members.
  /// - Parameters:
  ///   - id: 1 to 0x7FFF, nil for one that is free.
  ///   - name: what members call it; at most 16 bytes.
  /// - Throws: ``ControllerError/invalidRequest(_:)`` if it is there already, or can't be.
  @discardableResult
  public mutating func createGroup(_ id: GroupID? = nil, name: String) throws(ControllerError) -> GroupRecord {
    guard name.utf8.count <= 16 else { throw .invalidRequest("a group's name has at most 16 bytes") }
    let free = (1...0x7FFF).lazy.map { GroupID($0) }.first { self.groupRecords[$0] == nil }
    guard let id = id ?? free, 1...0x7FFF ~= id.rawValue else {
      throw .invalidRequest("a group's number is from 1 to 32767")
    }
    guard groupRecords[id] == nil else { throw .invalidRequest("group \(id) is there already") }
    let record = GroupRecord(id, name)
    groupRecords[id] = record
    var changes = [StoreChange(record.key, record.tlv)]
    if groupEpochKey == nil {
      let key = random.bytes(16)
      groupEpochKey = key
      changes.append(StoreChange(GroupRecord.epochKey, key))
    }
    perform(.store(changes))
    installGroupKeys()
    return record
  }

  /// Forgets a group. Members that are left in it are not told, and hear nothing any more.
  public mutating func deleteGroup(_ id: GroupID) throws(ControllerError) {
    guard let record = groupRecords.removeValue(forKey: id) else { throw .invalidRequest("there is no group \(id)") }
    perform(.store([StoreChange(record.key, nil)]))
    installGroupKeys()
  }

  // MARK: Members

  /// Makes an endpoint of a node a member: gives the node the keys, and the group the right to operate it. Ends with
  /// ``OperationOutcome/groupChanged(_:)``.
  public mutating func addMember(
    _ node: NodeID, endpoint: EndpointID, to group: GroupID, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    change(group, GroupRecord.Member(node, endpoint), isJoining: true, timeout, at: now)
  }

  /// Takes an endpoint out of a group; with the last one of a node, the node's right and key map entry go too. Ends with
  /// ``OperationOutcome/groupChanged(_:)``.
  public mutating func removeMember(
    _ node: NodeID, endpoint: EndpointID, from group: GroupID, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    change(group, GroupRecord.Member(node, endpoint), isJoining: false, timeout, at: now)
  }

  private mutating func change(
    _ group: GroupID, _ member: GroupRecord.Member, isJoining: Bool, _ timeout: Duration, at now: Instant
  ) -> OperationID {
    guard let record = groupRecords[group] else { return refuse(.invalidRequest("there is no group \(group)")) }
    return start(.changeGroup(GroupChange(record, member, isJoining: isJoining)), member.node, timeout, at: now)
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
      return fail(id, .invalidRequest("there is no group \(change.group) any more"), at: now)
    }
    record.members.removeAll { $0 == change.member }
    if change.isJoining {
      record.members.append(change.member)
      record.members.sort()
    }
    groupRecords[record.id] = record
    perform(.store([StoreChange(record.key, record.tlv)]))
    complete(id, .success(.groupChanged(record)), at: now)
  }

  /// A node that left the fabric is in no group any more.
  mutating func leaveGroups(_ node: NodeID) {
    for var record in groups where record.members.contains(where: { $0.node == node }) {
      record.members.removeAll { $0.node == node }
      groupRecords[record.id] = record
      perform(.store([StoreChange(record.key, record.tlv)]))
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
    guard groupRecords[group] != nil else { throw .invalidRequest("there is no group \(group)") }
    guard core.sendToGroup(group, fabric: FabricAuthority.fabricIndex, opcode, payload: payload) else {
      throw .invalidRequest("too long for one message to a group")
    }
    settle(at: now)
  }

  /// Makes the messaging core know the groups.
  mutating func installGroupKeys() {
    guard let epochKey = groupEpochKey,
      let key = core.groupKeys(of: fabric.index).first?.keys.first
        ?? (try? GroupKey(epochKey: epochKey, compressedFabricID: fabric.compressedFabricID))
    else { return }
    let set = GroupKeySet(id: GroupChange.keySet, keys: [key], groups: groupRecords.keys.sorted())
    core.setGroupKeys([set], of: fabric.index)
  }
}
