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
  var map: [MapEntry] = []
  var access: [AccessEntry] = []

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
      return .read(ReadRequest(attributePaths: [Self.mapPath, Self.accessPath].map { AttributePath($0) }))
    case .writeMap: return newMap.flatMap { write(Self.mapPath, $0.tlv) }
    case .addGroup:
      let fields = Groups.AddGroupRequest(groupID: group, groupName: name).tlv
      return .invoke([CommandData(Groups.addGroup.path(on: member.endpoint), fields: fields)], timed: nil)
    case .removeGroup:
      let fields = Groups.RemoveGroupRequest(groupID: group).tlv
      return .invoke([CommandData(Groups.removeGroup.path(on: member.endpoint), fields: fields)], timed: nil)
    case .writeAccess: return newAccess.flatMap { write(Self.accessPath, $0.tlv) }
    }
  }

  private static let mapPath = GroupKeyManagement.groupKeyMap.path(on: .root)
  private static let accessPath = AccessControl.acl.path(on: .root)

  private func write(_ path: ConcreteAttributePath, _ value: [UInt8]) -> NodeRequest? {
    guard let chunks = try? WriteRequestChunks([AttributeWrite(path, value: value)], isTimed: false) else { return nil }
    return .write(chunks, timed: nil)
  }

  /// Nil if it is right as it is.
  private var newMap: [MapEntry]? {
    let others = map.filter { $0.groupId != group }
    let wanted =
      isJoining
      ? others + [MapEntry(groupId: group, groupKeySetID: Self.keySet, fabricIndex: map.first?.fabricIndex ?? .none)]
      : othersStay ? map : others
    return Set(wanted.map(\.numbers)) == Set(map.map(\.numbers)) ? nil : wanted
  }

  /// Nil if it is right as it is.
  private var newAccess: [AccessEntry]? {
    let subject = NodeID(UInt64(group.rawValue))
    func isOurs(_ entry: AccessEntry) -> Bool {
      entry.authMode == .group && entry.privilege == .operate && entry.targets == .null
    }
    var entries = access
    let holders = entries.indices.filter {
      isOurs(entries[$0]) && entries[$0].subjects.wrapped?.contains(subject) == true
    }
    if isJoining {
      guard holders.isEmpty else { return nil }
      // Entries are few: one takes four groups.
      let roomy = entries.firstIndex { isOurs($0) && (1..<4).contains($0.subjects.wrapped?.count ?? 0) }
      if let roomy {
        entries[roomy].subjects = .value((entries[roomy].subjects.wrapped ?? []) + [subject])
      } else {
        entries.append(
          AccessEntry(privilege: .operate, authMode: .group, subjects: .value([subject]), targets: .null))
      }
      return entries
    }
    guard !holders.isEmpty, !othersStay else { return nil }
    for index in holders.reversed() {
      let rest = (entries[index].subjects.wrapped ?? []).filter { $0 != subject }
      // Without subjects it would stand for all groups.
      if rest.isEmpty { entries.remove(at: index) } else { entries[index].subjects = .value(rest) }
    }
    return entries
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
      guard let map = report[Self.mapPath]?.value, let access = report[Self.accessPath]?.value,
        let entries = try? [MapEntry](tlv: map), let list = try? [AccessEntry](tlv: access)
      else { throw .unexpectedResponse("no group keys or no access control") }
      (self.map, self.access) = (entries, list)
      return goOn(from: .look)
    case (.writeMap, .written(let statuses)):
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
      try statuses.check()
      return true
    default: throw .unexpectedResponse("an answer to another kind of request")
    }
    return false
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

extension GroupKeyManagement.GroupKeyMapStruct {
  fileprivate var numbers: UInt32 { UInt32(groupId.rawValue) << 16 | UInt32(groupKeySetID) }
}
