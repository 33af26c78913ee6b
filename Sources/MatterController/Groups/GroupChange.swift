internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// The requests that make an endpoint of a node a member of a group, or that end the membership of some or all of its endpoints.
/// Each may find nothing to do.
struct GroupChange: Sendable {
  enum Step: Sendable {
    /// Whether the endpoints have the Groups cluster: a node without it is not given keys.
    case probe
    /// The key set that all our groups use.
    case writeKeys
    /// What the node has of groups and access already.
    case look
    /// Which key set the group uses.
    case writeMap
    case addGroup
    case removeGroup
    /// The key set, where no other group of the node uses it.
    case removeKeys
    /// The key set gets a random key, where the node has no command that removes it.
    case replaceKeys
    /// Members obey the group only with the privilege.
    case writeAccess
  }

  typealias MapEntry = GroupKeyManagement.GroupKeyMapStruct
  typealias AccessEntry = AccessControl.AccessControlEntryStruct

  let group: GroupID
  let name: String
  let keySet: UInt16
  let node: NodeID
  /// Those that join or leave.
  let endpoints: [EndpointID]
  let isJoining: Bool
  /// Whether other endpoints of the node stay in the group, when these leave.
  let othersStay: Bool
  /// Whether the node had nothing of the group before.
  var isFirst = false
  /// Whether a request that changes something may have reached the node.
  var hasSent = false
  var step: Step
  /// What the node has, when it was looked at last.
  private var map: ScopedList<MapEntry>?
  private var access: ScopedList<AccessEntry>?
  /// How often somebody else changed a list between our look and our write.
  private var rivals = 0
  private static let mostRivals = 4

  /// - Parameter endpoints: those that join or leave; none: only keys and access entries are removed.
  init(_ group: GroupRecord, _ node: NodeID, _ endpoints: [EndpointID], isJoining: Bool) {
    self.group = group.id
    name = group.name
    keySet = group.keySet
    self.node = node
    self.endpoints = endpoints
    self.isJoining = isJoining
    othersStay = group.members.contains { $0.node == node && !endpoints.contains($0.endpoint) }
    step = isJoining ? .probe : endpoints.isEmpty ? .look : .removeGroup
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
    case .look:
      let paths = [Self.mapPath, Self.accessPath, Self.fabricPath]
      return .read(ReadRequest(attributePaths: paths.map { AttributePath($0) }))
    case .writeMap: return newMap.flatMap { write(Self.mapPath, $0) }
    case .addGroup:
      let fields = Groups.AddGroupRequest(groupID: group, groupName: name).tlv
      return .invoke(endpoints.map { CommandData(Groups.addGroup.path(on: $0), fields: fields) }, timed: nil)
    case .removeGroup:
      let fields = Groups.RemoveGroupRequest(groupID: group).tlv
      return .invoke(endpoints.map { CommandData(Groups.removeGroup.path(on: $0), fields: fields) }, timed: nil)
    case .removeKeys:
      let fields = GroupKeyManagement.KeySetRemoveRequest(groupKeySetID: keySet).tlv
      return .invoke([CommandData(GroupKeyManagement.keySetRemove.path(on: .root), fields: fields)], timed: nil)
    case .writeAccess: return newAccess.flatMap { write(Self.accessPath, $0) }
    }
  }

  private static let mapPath = GroupKeyManagement.groupKeyMap.path(on: .root)
  private static let accessPath = AccessControl.acl.path(on: .root)
  private static let fabricPath = OperationalCredentials.currentFabricIndex.path(on: .root)

  private func write<Entry>(_ path: ConcreteAttributePath, _ list: ScopedList<Entry>) -> NodeRequest? {
    let write = AttributeWrite(path, dataVersion: list.dataVersion, value: list.encoded)
    guard let chunks = try? WriteRequestChunks([write], isTimed: false) else { return nil }
    return .write(chunks, timed: nil)
  }

  /// Nil if it is right as it is.
  private var newMap: ScopedList<MapEntry>? {
    guard let map else { return nil }
    var wanted = map
    let isThere = map.entries.contains { $0.entry.groupId == group && $0.entry.groupKeySetID == keySet }
    if isJoining {
      if isThere { return nil }
      wanted.entries.removeAll { $0.entry.groupId == group }
      wanted.entries.append(ScopedEntry(MapEntry(groupId: group, groupKeySetID: keySet)))
    } else {
      if othersStay || !map.entries.contains(where: { $0.entry.groupId == group }) { return nil }
      wanted.entries.removeAll { $0.entry.groupId == group }
    }
    return wanted
  }

  /// Whether no other group of the node uses the key set.
  private var areKeysUnused: Bool {
    !isJoining && !othersStay
      && map?.entries.contains { $0.entry.groupId != group && $0.entry.groupKeySetID == keySet } == false
  }

  /// Nil if it is right as it is.
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
      // Entries are few: one takes four groups.
      let roomy = list.entries.firstIndex {
        isOurs($0.entry) && (1..<4).contains($0.entry.subjects.wrapped?.count ?? 0)
      }
      if let roomy {
        list.entries[roomy] = list.entries[roomy].changing {
          $0.subjects = .value(($0.subjects.wrapped ?? []) + [subject])
        }
      } else {
        list.entries.append(
          ScopedEntry(
            AccessEntry(privilege: .operate, authMode: .group, subjects: .value([subject]), targets: .null)))
      }
      return list
    }
    guard !holders.isEmpty, !othersStay else { return nil }
    for index in holders.reversed() {
      let rest = (list.entries[index].entry.subjects.wrapped ?? []).filter { $0 != subject }
      // Without subjects it would stand for all groups.
      if rest.isEmpty {
        list.entries.remove(at: index)
      } else {
        list.entries[index] = list.entries[index].changing { $0.subjects = .value(rest) }
      }
    }
    return list
  }

  // MARK: Answers

  /// Takes an answer, and goes on to the next step that has something to do.
  /// - Returns: whether all is done.
  mutating func take(_ reply: Reply) throws(ControllerError) -> Bool {
    switch (step, reply) {
    case (.probe, .report(let report)):
      // Some nodes leave out what they don't have, instead of answering with a status.
      if endpoints.contains(where: { report[Groups.nameSupport.path(on: $0)] == nil }) {
        throw .status(report.statuses.first?.status ?? Status(.unsupportedCluster))
      }
      step = .writeKeys
    case (.writeKeys, .invoked(let results)):
      try results.checkStatus()
      step = .look
    case (.look, .report(let report)):
      guard let map = report[Self.mapPath], let access = report[Self.accessPath],
        let fabric = report[Self.fabricPath].flatMap({ try? FabricIndex(tlv: $0.value) }),
        let entries = try? ScopedList<MapEntry>(map.value, dataVersion: map.dataVersion, fabric: fabric),
        let list = try? ScopedList<AccessEntry>(access.value, dataVersion: access.dataVersion, fabric: fabric)
      else { throw .unexpectedResponse("no group keys or no access control") }
      (self.map, self.access) = (entries, list)
      return goOn(from: .look)
    case (.writeMap, .written(let statuses)):
      if lookAgain(statuses) { return false }
      try statuses.check()
      return goOn(from: .writeMap)
    case (.addGroup, .invoked(let results)):
      try check(results, as: Groups.AddGroupResponse.self) { $0.status == .success ? nil : $0.status }
      return goOn(from: .addGroup)
    case (.removeGroup, .invoked(let results)):
      try check(results, as: Groups.RemoveGroupResponse.self) {
        $0.status == .success || $0.status == .notFound ? nil : $0.status
      }
      if othersStay { return true }
      step = .look
    case (.removeKeys, .invoked(let results)):
      do throws(ControllerError) {
        try results.checkStatus()
      } catch .status(let status) where status.code == .notFound {
      } catch .status(let status) where status.code == .unsupportedCommand {
        step = .replaceKeys
        return false
      }
      return goOn(from: .removeKeys)
    case (.replaceKeys, .invoked(let results)):
      try results.checkStatus()
      return goOn(from: .removeKeys)
    case (.writeAccess, .written(let statuses)):
      if lookAgain(statuses) { return false }
      try statuses.check()
      return true
    default: throw .unexpectedResponse("an answer to another kind of request")
    }
    return false
  }

  /// Throws unless all endpoints answered, and none with a failure.
  private func check<Response: ModelStruct>(
    _ results: [CommandResult], as _: Response.Type, failure: (Response) -> StatusCode?
  ) throws(ControllerError) {
    guard results.count == endpoints.count else { throw .unexpectedResponse("not as many answers as endpoints") }
    for result in results {
      if let status = failure(try [result].response(as: Response.self)) { throw .status(Status(status)) }
    }
  }

  /// Whether somebody else was faster: then what is there now has to be looked at first.
  private mutating func lookAgain(_ statuses: [AttributeStatus]) -> Bool {
    guard statuses.contains(where: { $0.status.code == .dataVersionMismatch }), rivals < Self.mostRivals else {
      return false
    }
    rivals += 1
    step = .look
    return true
  }

  private mutating func goOn(from done: Step) -> Bool {
    switch done {
    case .look where newMap != nil: step = .writeMap
    case .look where isJoining, .writeMap where isJoining: step = .addGroup
    case .look where areKeysUnused, .writeMap where areKeysUnused: step = .removeKeys
    case .look, .writeMap, .addGroup, .removeKeys:
      guard newAccess != nil else { return true }
      step = .writeAccess
    case .probe, .writeKeys, .removeGroup, .replaceKeys, .writeAccess: break
    }
    return false
  }
}
