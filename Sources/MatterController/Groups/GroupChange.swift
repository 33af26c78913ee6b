internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// State machine that adds an endpoint of a node to a group, or removes some or all of its endpoints. Steps without
/// anything to change are skipped.
struct GroupChange: Sendable {
  enum Step: Sendable {
    /// Checks that the endpoints have the Groups cluster: a node without it gets no keys.
    case probe
    /// Writes the key set, which all groups of the fabric share.
    case writeKeys
    /// Reads the node's group key map and access control list.
    case readLists
    /// Maps the group to the key set.
    case writeMap
    case addGroup
    case removeGroup
    /// Removes the key set, if no other group of the node uses it.
    case removeKeys
    /// Overwrites the key set with a random key, if the node does not support KeySetRemove.
    case replaceKeys
    /// Grants the group operate privilege, which its members require, or revokes it.
    case writeAccess
  }

  typealias MapEntry = GroupKeyManagement.GroupKeyMapStruct
  typealias AccessEntry = AccessControl.AccessControlEntryStruct

  let group: GroupID
  let name: String
  let keySet: UInt16
  let node: NodeID
  /// The endpoints that join or leave.
  let endpoints: [EndpointID]
  let isJoining: Bool
  /// Whether other endpoints of the node stay in the group.
  let otherEndpointsRemain: Bool
  /// Whether the node was not a holder of the group before.
  var isFirst = false
  /// Whether a request that changes the node may have reached it.
  var hasSent = false
  var step: Step
  /// The node's lists at the last read.
  private var map: ScopedList<MapEntry>?
  private var access: ScopedList<AccessEntry>?
  /// Writes that failed because another administrator changed a list after it was read.
  private var conflicts = 0
  private static let maximumConflicts = 4

  /// - Parameter endpoints: the endpoints that join or leave; if empty, only keys and access entries are removed.
  init(_ group: GroupRecord, _ node: NodeID, _ endpoints: [EndpointID], isJoining: Bool) {
    self.group = group.id
    name = group.name
    keySet = group.keySet
    self.node = node
    self.endpoints = endpoints
    self.isJoining = isJoining
    otherEndpointsRemain = group.members.contains { $0.node == node && !endpoints.contains($0.endpoint) }
    step = isJoining ? .probe : endpoints.isEmpty ? .readLists : .removeGroup
  }

  // MARK: Requests

  func request(epochKey: [UInt8]) -> NodeRequest? {
    switch step {
    case .probe:
      return .read(ReadRequest(attributePaths: endpoints.map { AttributePath(Groups.nameSupport.path(on: $0)) }))
    case .writeKeys, .replaceKeys:
      let set = GroupKeyManagement.GroupKeySetStruct(
        groupKeySetID: keySet, groupKeySecurityPolicy: .trustFirst, epochKey0: .value(OctetString(epochKey)),
        epochStartTime0: .value(1), epochKey1: .null, epochStartTime1: .null, epochKey2: .null, epochStartTime2: .null)
      let fields = GroupKeyManagement.KeySetWriteRequest(groupKeySet: set).tlv
      return .invoke([CommandData(GroupKeyManagement.keySetWrite.path(on: .root), fields: fields)], timed: nil)
    case .readLists:
      let paths = [Self.mapPath, Self.accessPath, Self.fabricPath]
      return .read(ReadRequest(attributePaths: paths.map { AttributePath($0) }))
    case .writeMap: return newMap?.write(to: Self.mapPath)
    case .addGroup:
      let fields = Groups.AddGroupRequest(groupID: group, groupName: name).tlv
      return .invoke(endpoints.map { CommandData(Groups.addGroup.path(on: $0), fields: fields) }, timed: nil)
    case .removeGroup:
      let fields = Groups.RemoveGroupRequest(groupID: group).tlv
      return .invoke(endpoints.map { CommandData(Groups.removeGroup.path(on: $0), fields: fields) }, timed: nil)
    case .removeKeys:
      let fields = GroupKeyManagement.KeySetRemoveRequest(groupKeySetID: keySet).tlv
      return .invoke([CommandData(GroupKeyManagement.keySetRemove.path(on: .root), fields: fields)], timed: nil)
    case .writeAccess: return newAccess?.write(to: Self.accessPath)
    }
  }

  private static let mapPath = GroupKeyManagement.groupKeyMap.path(on: .root)
  private static let accessPath = AccessControl.acl.path(on: .root)
  private static let fabricPath = OperationalCredentials.currentFabricIndex.path(on: .root)

  /// Nil if no change is needed.
  private var newMap: ScopedList<MapEntry>? {
    guard let map else { return nil }
    var wanted = map
    let isMapped = map.entries.contains { $0.entry.groupId == group && $0.entry.groupKeySetID == keySet }
    if isJoining {
      if isMapped { return nil }
      wanted.entries.removeAll { $0.entry.groupId == group }
      wanted.entries.append(ScopedEntry(MapEntry(groupId: group, groupKeySetID: keySet)))
    } else {
      if otherEndpointsRemain || !map.entries.contains(where: { $0.entry.groupId == group }) { return nil }
      wanted.entries.removeAll { $0.entry.groupId == group }
    }
    return wanted
  }

  /// Whether no other group of the node uses the key set.
  private var areKeysUnused: Bool {
    !isJoining && !otherEndpointsRemain
      && map?.entries.contains { $0.entry.groupId != group && $0.entry.groupKeySetID == keySet } == false
  }

  /// Nil if no change is needed.
  private var newAccess: ScopedList<AccessEntry>? {
    guard var list = access else { return nil }
    let subject = NodeID(UInt64(group.rawValue))
    func isOurs(_ entry: AccessEntry) -> Bool {
      entry.authMode == .group && entry.privilege == .operate && entry.targets == .null
    }
    let holders = list.entries.indices.filter {
      isOurs(list.entries[$0].entry) && list.entries[$0].entry.subjects.wrapped?.contains(subject) == true
    }
    if isJoining {
      guard holders.isEmpty else { return nil }
      // The number of entries is limited: one entry holds up to four groups.
      let extensible = list.entries.firstIndex {
        isOurs($0.entry) && (1..<4).contains($0.entry.subjects.wrapped?.count ?? 0)
      }
      if let extensible {
        list.entries[extensible] = list.entries[extensible].changing {
          $0.subjects = .value(($0.subjects.wrapped ?? []) + [subject])
        }
      } else {
        list.entries.append(
          ScopedEntry(
            AccessEntry(privilege: .operate, authMode: .group, subjects: .value([subject]), targets: .null)))
      }
      return list
    }
    guard !holders.isEmpty, !otherEndpointsRemain else { return nil }
    for index in holders.reversed() {
      let rest = (list.entries[index].entry.subjects.wrapped ?? []).filter { $0 != subject }
      // An entry without subjects would grant access to all groups.
      if rest.isEmpty {
        list.entries.remove(at: index)
      } else {
        list.entries[index] = list.entries[index].changing { $0.subjects = .value(rest) }
      }
    }
    return list
  }

  // MARK: Answers

  /// Handles an answer and advances to the next step that has something to change.
  /// - Returns: whether the change is complete.
  mutating func handle(_ reply: Reply) throws(ControllerError) -> Bool {
    switch (step, reply) {
    case (.probe, .report(let report)):
      // Some nodes omit unsupported paths instead of answering with a status.
      if endpoints.contains(where: { report[Groups.nameSupport.path(on: $0)] == nil }) {
        throw .status(report.statuses.first?.status ?? Status(.unsupportedCluster))
      }
      step = .writeKeys
    case (.writeKeys, .invoked(let results)):
      try results.checkStatus()
      step = .readLists
    case (.readLists, .report(let report)):
      guard let map = report[Self.mapPath], let access = report[Self.accessPath],
        let fabric = report[Self.fabricPath].flatMap({ try? FabricIndex(tlv: $0.value) }),
        let entries = try? ScopedList<MapEntry>(map.value, dataVersion: map.dataVersion, fabric: fabric),
        let list = try? ScopedList<AccessEntry>(access.value, dataVersion: access.dataVersion, fabric: fabric)
      else { throw .unexpectedResponse("group key map or access control list missing") }
      (self.map, self.access) = (entries, list)
      return advance(from: .readLists)
    case (.writeMap, .written(let statuses)):
      if readAgainAfterConflict(statuses) { return false }
      try statuses.check()
      return advance(from: .writeMap)
    case (.addGroup, .invoked(let results)):
      try check(results, as: Groups.AddGroupResponse.self) { $0.status == .success ? nil : $0.status }
      return advance(from: .addGroup)
    case (.removeGroup, .invoked(let results)):
      try check(results, as: Groups.RemoveGroupResponse.self) {
        $0.status == .success || $0.status == .notFound ? nil : $0.status
      }
      if otherEndpointsRemain { return true }
      step = .readLists
    case (.removeKeys, .invoked(let results)):
      do throws(ControllerError) {
        try results.checkStatus()
      } catch .status(let status) where status.code == .notFound {
      } catch .status(let status) where status.code == .unsupportedCommand {
        step = .replaceKeys
        return false
      }
      return advance(from: .removeKeys)
    case (.replaceKeys, .invoked(let results)):
      try results.checkStatus()
      return advance(from: .removeKeys)
    case (.writeAccess, .written(let statuses)):
      if readAgainAfterConflict(statuses) { return false }
      try statuses.check()
      return true
    default: throw .unexpectedResponse("an answer to another kind of request")
    }
    return false
  }

  /// Throws unless every endpoint answered with success.
  private func check<Response: ModelStruct>(
    _ results: [CommandResult], as _: Response.Type, failure: (Response) -> StatusCode?
  ) throws(ControllerError) {
    guard results.count == endpoints.count else { throw .unexpectedResponse("fewer or more answers than endpoints") }
    for result in results {
      if let status = failure(try [result].response(as: Response.self)) { throw .status(Status(status)) }
    }
  }

  /// Returns to reading the lists if a write failed because another administrator changed them.
  private mutating func readAgainAfterConflict(_ statuses: [AttributeStatus]) -> Bool {
    guard statuses.contains(where: { $0.status.code == .dataVersionMismatch }), conflicts < Self.maximumConflicts else {
      return false
    }
    conflicts += 1
    step = .readLists
    return true
  }

  private mutating func advance(from done: Step) -> Bool {
    switch done {
    case .readLists where newMap != nil: step = .writeMap
    case .readLists where isJoining, .writeMap where isJoining: step = .addGroup
    case .readLists where areKeysUnused, .writeMap where areKeysUnused: step = .removeKeys
    case .readLists, .writeMap, .addGroup, .removeKeys:
      guard newAccess != nil else { return true }
      step = .writeAccess
    case .probe, .writeKeys, .removeGroup, .replaceKeys, .writeAccess: break
    }
    return false
  }
}
