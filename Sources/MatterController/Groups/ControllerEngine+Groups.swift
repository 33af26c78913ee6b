public import MatterModel
public import MatterProtocol

// Groups of the fabric and group messages. Matter Core § 4.16, § 11.2.
extension ControllerEngine {
  /// The groups that are not deleted, by id.
  public var groups: [GroupRecord] { groupTable.groups }

  /// Deleted groups whose keys, memberships or access entries nodes may still have, by id.
  public var deletedGroups: [GroupRecord] { groupTable.deletedGroups }

  /// Creates a group without members. Ids and keys of deleted groups are not reused while a node may still have them.
  /// - Parameters:
  ///   - id: 1 to 0x7FFF, or nil for the next free one.
  ///   - name: the name stored on the members, at most 16 bytes; unique, ignoring case.
  /// - Throws: ``ControllerError/invalidRequest(_:)`` if the id or name is in use, or a parameter is out of range.
  @discardableResult
  public mutating func createGroup(_ id: GroupID? = nil, name: String) throws(ControllerError) -> GroupRecord {
    let peers = peers
    let (record, changes) = try groupTable.create(id, name: name, random: &random) { peers[$0]?.isStored == true }
    storeGroups(changes)
    return record
  }

  /// Deletes a group. Its id and keys stay reserved until every node that may have them has left, either by
  /// ``leaveGroup(_:_:timeout:at:)`` or when the next session with the node opens.
  /// - Returns: the group with the nodes that still have to leave it.
  @discardableResult
  public mutating func deleteGroup(_ id: GroupID) throws(ControllerError) -> GroupRecord {
    let (record, changes) = try groupTable.delete(id)
    storeGroups(changes)
    return record
  }

  // MARK: Members

  /// Adds an endpoint of a node to a group: writes keys and key map, adds the membership, and grants the group operate
  /// privilege. Completes with ``OperationOutcome/groupChanged(_:)``.
  public mutating func addMember(
    _ node: NodeID, endpoint: EndpointID, to group: GroupID, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    do throws(ControllerError) {
      _ = try groupTable.group(group)
      guard peers[node]?.isStored == true else { throw .unknownNode(node) }
      let (change, changes) = try groupTable.join(node, endpoint, group)
      storeGroups(changes)
      return start(.changeGroup(change), node, timeout, at: now)
    } catch {
      return refuse(error)
    }
  }

  /// Removes an endpoint from a group. With the last endpoint of a node, also removes the node's keys, key map entry
  /// and access entry. Completes with ``OperationOutcome/groupChanged(_:)``.
  public mutating func removeMember(
    _ node: NodeID, endpoint: EndpointID, from group: GroupID, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    do throws(ControllerError) {
      let change = GroupChange(try groupTable.group(group), node, [endpoint], isJoining: false)
      return start(.changeGroup(change), node, timeout, at: now)
    } catch {
      return refuse(error)
    }
  }

  /// Removes a node's memberships, keys, key map entry and access entry of a group. Completes with
  /// ``OperationOutcome/groupChanged(_:)``.
  public mutating func leaveGroup(
    _ node: NodeID, _ group: GroupID, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    do throws(ControllerError) {
      return start(.changeGroup(try groupTable.leaving(node, group)), node, timeout, at: now)
    } catch {
      return refuse(error)
    }
  }

  /// Removes a node from the groups that were deleted while it was unreachable, when a session with it opens.
  mutating func leaveDeletedGroups(_ node: NodeID, at now: Instant) {
    guard configuration.mayStore else { return }
    for record in deletedGroups where record.holders.contains(node) && !operations.isChanging(record.id, of: node) {
      _ = leaveGroup(node, record.id, at: now)
    }
  }

  /// Starts the next queued change of a node's groups. The group may have changed since the change was requested.
  mutating func runNextGroupChange(_ node: NodeID, at now: Instant) {
    guard let next = operations.firstGroupChange(of: node) else { return }
    do throws(ControllerError) {
      operations[next.id]?.task = .changeGroup(try groupTable.renewed(next.change))
      run(next.id, at: now)
    } catch {
      fail(next.id, error, at: now)
    }
  }

  /// Stores changed groups and installs their keys in the messaging core.
  mutating func storeGroups(_ changes: [StoreChange]) {
    guard !changes.isEmpty else { return }
    perform(.store(changes))
    installGroupKeys()
  }

  mutating func installGroupKeys() {
    let known = core.groupKeys(of: fabric.index)
    core.setGroupKeys(groupTable.keySets(known, compressedFabricID: fabric.compressedFabricID), of: fabric.index)
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
    try send(InvokeRequest([CommandData(path, fields: fields)], suppressResponse: true), to: group, at: now)
  }

  /// Writes attributes on all members of a group. The paths must not name an endpoint.
  /// - Throws: ``ControllerError/invalidRequest(_:)`` if the group does not exist or the writes exceed one message.
  public mutating func write(group: GroupID, _ writes: [AttributeWrite], at now: Instant) throws(ControllerError) {
    guard writes.allSatisfy({ $0.path.endpoint == nil }) else {
      throw .invalidRequest("group write: paths must not name an endpoint")
    }
    var request = WriteRequest(writes)
    request.suppressResponse = true
    try send(request, to: group, at: now)
  }

  private mutating func send<Message: InteractionMessage>(
    _ message: Message, to group: GroupID, at now: Instant
  ) throws(ControllerError) {
    _ = try groupTable.group(group)
    let payload = message.encoded
    guard core.sendToGroup(group, fabric: FabricAuthority.fabricIndex, Message.opcode.rawValue, payload: payload) else {
      throw .invalidRequest("group message: too long")
    }
    settle(at: now)
  }
}
