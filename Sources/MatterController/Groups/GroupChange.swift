internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// The way of one endpoint into a group, or out of it: a few requests to its node, of which each may find nothing to do.
struct GroupChange: Sendable {
  enum Step: Sendable {
    /// The key set that all our groups use.
    case writeKeys
    /// What the node has of groups and access already.
    case look
    /// Which key set the group uses.
    case writeMap
    case addGroup
    case removeGroup
    /// Members obey the group only with the privilege.
    case writeAccess
  }

  typealias MapEntry = GroupKeyManagement.GroupKeyMapStruct
  typealias AccessEntry = AccessControl.AccessControlEntryStruct

  /// Key set 0 is not for groups. One for all of them: nodes need not have room for more than two.
  static let keySet: UInt16 = 1

  let group: GroupID
  let name: String
  let member: GroupRecord.Member
  let isJoining: Bool
  /// Whether other endpoints of the node stay in the group, when this one leaves.
  let othersStay: Bool
  var step: Step
  /// What the node has, when it was looked at last.
  private var map: ScopedList<MapEntry>?
  private var access: ScopedList<AccessEntry>?
  /// How often somebody else changed a list between our look and our write.
  private var rivals = 0
  private static let mostRivals = 4

  init(_ group: GroupRecord, _ member: GroupRecord.Member, isJoining: Bool) {
    self.group = group.id
    name = group.name
    self.member = member
    self.isJoining = isJoining
    othersStay = group.members.contains { $0.node == member.node && $0 != member }
    step = isJoining ? .writeKeys : .removeGroup
  }

  // MARK: Requests

  func request(epochKey: [UInt8]) -> NodeRequest? {
    switch step {
    case .writeKeys:
      let set = GroupKeyManagement.GroupKeySetStruct(
        groupKeySetID: Self.keySet, groupKeySecurityPolicy: .trustFirst, epochKey0: .value(OctetString(epochKey)),
        epochStartTime0: .value(1), epochKey1: .null, epochStartTime1: .null, epochKey2: .null, epochStartTime2: .null)
      let fields = GroupKeyManagement.KeySetWriteRequest(groupKeySet: set).tlv
      return .invoke([CommandData(GroupKeyManagement.keySetWrite.path(on: .root), fields: fields)], timed: nil)
    case .look:
      let paths = [Self.mapPath, Self.accessPath, Self.fabricPath]
      return .read(ReadRequest(attributePaths: paths.map { AttributePath($0) }))
    case .writeMap: return newMap.flatMap { write(Self.mapPath, $0) }
    case .addGroup:
      let fields = Groups.AddGroupRequest(groupID: group, groupName: name).tlv
      return .invoke([CommandData(Groups.addGroup.path(on: member.endpoint), fields: fields)], timed: nil)
    case .removeGroup:
      let fields = Groups.RemoveGroupRequest(groupID: group).tlv
      return .invoke([CommandData(Groups.removeGroup.path(on: member.endpoint), fields: fields)], timed: nil)
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
    let isThere = map.entries.contains { $0.entry.groupId == group && $0.entry.groupKeySetID == Self.keySet }
    if isJoining {
      if isThere { return nil }
      wanted.entries.removeAll { $0.entry.groupId == group }
      wanted.entries.append(ScopedEntry(MapEntry(groupId: group, groupKeySetID: Self.keySet)))
    } else {
      if othersStay || !map.entries.contains(where: { $0.entry.groupId == group }) { return nil }
      wanted.entries.removeAll { $0.entry.groupId == group }
    }
    return wanted
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
      let response = try results.response(as: Groups.AddGroupResponse.self)
      guard response.status == .success else { throw .status(Status(response.status)) }
      return goOn(from: .addGroup)
    case (.removeGroup, .invoked(let results)):
      let response = try results.response(as: Groups.RemoveGroupResponse.self)
      guard response.status == .success || response.status == .notFound else { throw .status(Status(response.status)) }
      if othersStay { return true }
      step = .look
    case (.writeAccess, .written(let statuses)):
      if lookAgain(statuses) { return false }
      try statuses.check()
      return true
    default: throw .unexpectedResponse("an answer to another kind of request")
    }
    return false
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
    case .look, .writeMap, .addGroup:
      guard newAccess != nil else { return true }
      step = .writeAccess
    case .writeKeys, .removeGroup, .writeAccess: break
    }
    return false
  }
}
