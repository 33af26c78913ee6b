import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// A commissioned device with three lights and group keys, which its administrator also has.
private struct GroupLab {
  static let group: GroupID = 0x0103, other: GroupID = 0x0101
  static let keySet: UInt16 = 0x01A3
  static let epochKey = [UInt8](0xD0...0xDF)

  var lab: Lab
  let session: SessionID

  typealias Entry = AccessControl.AccessControlEntryStruct
  typealias KeySet = GroupKeyManagement.GroupKeySetStruct
  typealias MapEntry = GroupKeyManagement.GroupKeyMapStruct

  static func light(_ id: EndpointID) -> EndpointDefinition {
    EndpointDefinition(
      id, deviceTypes: [DeviceTypes.onOffLight],
      servers: [
        IdentifyServer.make(.lightOutput), GroupsServer.make(), ScenesManagementServer.make(), OnOffServer.make(),
      ])
  }

  init() throws {
    lab = try Lab(endpoints: [1, 2, 3].map { Self.light($0) })
    try lab.addAdministrator()
    session = try lab.commission()
    let fabric = try #require(lab.administrators[0].core.fabric(1))
    let key = try GroupKey(epochKey: Self.epochKey, compressedFabricID: fabric.compressedFabricID)
    lab.administrators[0].core.setGroupKeys(
      [GroupKeySet(id: 1, keys: [key], groups: [Self.group, Self.other])], of: 1)
    try writeKeys()
    #expect(try map([Self.group, Self.other]) == .success)
  }

  static func keySet(_ id: UInt16, _ key: [UInt8] = epochKey) -> KeySet {
    KeySet(
      groupKeySetID: id, groupKeySecurityPolicy: .trustFirst, epochKey0: .value(OctetString(key)),
      epochStartTime0: .value(1), epochKey1: .null, epochStartTime1: .null, epochKey2: .null, epochStartTime2: .null)
  }

  mutating func writeKeys(_ id: UInt16 = keySet, _ key: [UInt8] = epochKey) throws {
    let status = try lab.status(
      GroupKeyManagement.keySetWrite, .init(groupKeySet: Self.keySet(id, key)), on: session)
    #expect(status == .success)
  }

  mutating func map(_ groups: [GroupID], keySet: UInt16 = keySet) throws -> Status {
    let entries = groups.map { MapEntry(groupId: $0, groupKeySetID: keySet) }
    let path = AttributePath(GroupKeyManagement.groupKeyMap.path(on: 0))
    return try #require(try lab.write([AttributeWrite(path, value: entries.tlv)], on: session).first)
  }

  mutating func add(_ group: GroupID = group, to endpoint: EndpointID) throws {
    let answer = try lab.call(
      Groups.addGroup, .init(groupID: group, groupName: "lab"), endpoint: endpoint, on: session)
    #expect(answer.status == .success)
  }

  /// Sets the ACL to the administrator's entry and one with the group's privilege.
  mutating func allow(_ privilege: AccessControl.AccessControlEntryPrivilege?, _ group: GroupID = group) throws {
    var entries = [
      Entry(privilege: .administer, authMode: .case, subjects: .value([0x1_0001]), targets: .null)
    ]
    if let privilege {
      entries.append(
        Entry(
          privilege: privilege, authMode: .group, subjects: .value([NodeID(UInt64(group.rawValue))]), targets: .null))
    }
    let path = AttributePath(AccessControl.acl.path(on: 0))
    #expect(try lab.write([AttributeWrite(path, value: entries.tlv)], on: session) == [.success])
  }

  /// Sends to the group, and checks that none of the members responds.
  mutating func send(_ opcode: InteractionOpcode, _ payload: [UInt8], to group: GroupID = group) {
    lab.administrators[0].answers = []
    let isSent = lab.administrators[0].core.sendToGroup(group, fabric: 1, opcode.rawValue, payload: payload)
    #expect(isSent)
    let sent = lab.administrators[0].core
    lab.settle()
    #expect(lab.administrators[0].answers.isEmpty)
    #expect(lab.administrators[0].core.drops == sent.drops, "no response")
  }

  mutating func invoke<C, Request: ModelStruct, Response>(
    _ command: Command<C, Request, Response>, _ request: Request, to group: GroupID = group,
    endpoint: EndpointID? = nil, isTimed: Bool = false
  ) {
    let path = CommandPath(endpoint: endpoint, cluster: C.id, command: command.id)
    let request = InvokeRequest([CommandData(path, fields: request.tlv)], isTimed: isTimed)
    send(.invokeRequest, request.encoded, to: group)
  }

  mutating func on(_ group: GroupID = group) { invoke(OnOff.on, NoFields(), to: group) }
  mutating func off() { invoke(OnOff.off, NoFields()) }

  /// The lights that are on.
  mutating func lit() -> [EndpointID] { [1, 2, 3].filter { lab.device.value(OnOff.onOff, on: $0) == true } }
}

@Suite struct GroupcastTests {
  @Test func checksAccessOfGroups() throws {
    var lab = try GroupLab()
    try lab.add(to: 1)
    try lab.add(to: 3)
    lab.on()
    #expect(lab.lit() == [], "no ACL entry")
    try lab.allow(.view)
    lab.on()
    #expect(lab.lit() == [], "View is not sufficient")
    try lab.allow(.operate, GroupLab.other)
    lab.on()
    #expect(lab.lit() == [], "the privilege of another group")
    try lab.allow(.operate)
    lab.on()
    #expect(lab.lit() == [1, 3], "all members and no others")
    lab.off()
    #expect(lab.lit() == [])
    // The ACL holds the bare group number.
    let list = try lab.lab.read(AccessControl.acl, on: lab.session)
    #expect(list.last?.subjects == .value([0x0103]))
  }

  @Test func dropsInvalidGroupMessages() throws {
    var lab = try GroupLab()
    try lab.add(to: 1)
    try lab.allow(.operate)
    lab.invoke(OnOff.on, NoFields(), endpoint: 1)
    lab.invoke(OnOff.on, NoFields(), isTimed: true)
    lab.send(.readRequest, ReadRequest(attributePaths: [AttributePath(OnOff.onOff.path(on: 1))]).encoded)
    lab.send(.invokeRequest, [0x15, 0xFF, 0x18])
    lab.send(.writeRequest, [])
    #expect(lab.lit() == [])
    lab.on()
    #expect(lab.lit() == [1])
  }

  @Test func writesAttributesOfMembers() throws {
    var lab = try GroupLab()
    try lab.add(to: 1)
    try lab.add(to: 2)
    let path = AttributePath(endpoint: nil, cluster: OnOff.id, attribute: OnOff.onTime.id)
    func write(_ path: AttributePath, _ value: UInt16) -> [UInt8] {
      var request = WriteRequest([AttributeWrite(path, value: value.tlv)])
      request.suppressResponse = true
      return request.encoded
    }
    lab.send(.writeRequest, write(path, 7))
    #expect(lab.lab.device.value(OnOff.onTime, on: 1) == 0, "no ACL entry")
    try lab.allow(.operate)
    lab.send(.writeRequest, write(path, 70))
    #expect([1, 2, 3].map { lab.lab.device.value(OnOff.onTime, on: $0) } == [70, 70, 0])
    lab.send(.writeRequest, write(AttributePath(OnOff.onTime.path(on: 1)), 71))
    #expect(lab.lab.device.value(OnOff.onTime, on: 1) == 70, "a group message must not name an endpoint")
    let needsMore = AttributePath(endpoint: nil, cluster: OnOff.id, attribute: OnOff.startUpOnOff.id)
    lab.send(.writeRequest, WriteRequest([AttributeWrite(needsMore, value: [0x04, 0x01])]).encoded)
    #expect(lab.lab.device.value(OnOff.startUpOnOff, on: 1) != .value(.on), "requires the Manage privilege")
  }

  /// Based on the public certification test TC-SC-5.2.
  @Test func addsGroupByGroupMessage() throws {
    var lab = try GroupLab()
    try lab.add(to: 2)
    try lab.allow(.manage)
    lab.invoke(Groups.addGroup, .init(groupID: GroupLab.other, groupName: "Test Group 0101"))
    let seen = try lab.lab.call(Groups.viewGroup, .init(groupID: GroupLab.other), endpoint: 2, on: lab.session)
    #expect(seen.status == .success && seen.groupName == "Test Group 0101")
    let others = try lab.lab.call(Groups.viewGroup, .init(groupID: GroupLab.other), endpoint: 1, on: lab.session)
    #expect(others.status == .notFound)
    #expect(lab.lab.joined.count == 2)
    try lab.allow(.operate, GroupLab.other)
    lab.on(GroupLab.other)
    #expect(lab.lit() == [2])
  }

  @Test func joinsAddressWhileGroupHasMembersAndKeys() throws {
    var lab = try GroupLab()
    #expect(lab.lab.joined.isEmpty, "no member")
    try lab.add(to: 1)
    let address = IPAddress.multicast(fabricID: 0xFAB, group: GroupLab.group)
    #expect(lab.lab.joined == [address])
    try lab.add(to: 2)
    #expect(lab.lab.joined == [address])
    try lab.allow(.operate)
    lab.on()
    #expect(lab.lit() == [1, 2])
    let left = try lab.lab.call(
      Groups.removeGroup, .init(groupID: GroupLab.group), endpoint: 1, on: lab.session)
    #expect(left.status == .success)
    #expect(lab.lab.joined == [address])
    lab.off()
    #expect(lab.lit() == [1], "a removed endpoint no longer reacts")
    _ = try lab.lab.status(Groups.removeAllGroups, NoFields(), endpoint: 2, on: lab.session)
    #expect(lab.lab.joined.isEmpty)
    lab.off()
    #expect(lab.lit() == [1])

    try lab.add(to: 1)
    #expect(lab.lab.joined == [address])
    #expect(try lab.map([]) == .success)
    #expect(lab.lab.joined.isEmpty, "no keys")
    #expect(try lab.map([GroupLab.group]) == .success)
    #expect(lab.lab.joined == [address])
    let removed = try lab.lab.status(
      GroupKeyManagement.keySetRemove, .init(groupKeySetID: GroupLab.keySet), on: lab.session)
    #expect(removed == .success)
    #expect(lab.lab.joined.isEmpty)
    #expect(try lab.lab.read(GroupKeyManagement.groupKeyMap, on: lab.session).isEmpty)
    lab.off()
    #expect(lab.lit() == [1])
  }

  @Test func replacesKeys() throws {
    var lab = try GroupLab()
    try lab.add(to: 1)
    try lab.allow(.operate)
    try lab.writeKeys(GroupLab.keySet, [UInt8](repeating: 1, count: 16))
    lab.on()
    #expect(lab.lit() == [])
    try lab.writeKeys()
    lab.on()
    #expect(lab.lit() == [1])
  }

  @Test func restoresGroupsAfterRestart() throws {
    var lab = try GroupLab()
    try lab.add(to: 1)
    try lab.allow(.operate)
    lab.on()
    lab.lab.crash()
    #expect(lab.lab.joined == [.multicast(fabricID: 0xFAB, group: GroupLab.group)])
    lab.off()
    #expect(lab.lit() == [])
    lab.on()
    #expect(lab.lit() == [1])
  }

  @Test func removesGroupsWithFabric() throws {
    var lab = try GroupLab()
    try lab.add(to: 1)
    try lab.allow(.operate)
    _ = try lab.lab.call(OperationalCredentials.removeFabric, .init(fabricIndex: 1), on: lab.session)
    #expect(lab.lab.joined.isEmpty)
    #expect(lab.lab.device.fabrics.isEmpty)
    lab.on()
    #expect(lab.lit() == [])
    let left = lab.lab.store.keys.filter { $0.contains("keyset") }
    #expect(left.isEmpty)
    #expect(lab.lab.device.context.groupTable.entries.isEmpty)
    #expect(lab.lab.device.value(GroupKeyManagement.groupKeyMap, on: 0) == [])
  }

  @Test func enforcesLimits() throws {
    var lab = try GroupLab()
    let limit = try lab.lab.read(GroupKeyManagement.maxGroupsPerFabric, on: lab.session)
    #expect(try lab.map((1...limit).map { GroupID($0) }) == .success)
    #expect(try lab.map((1...limit + 1).map { GroupID($0) }) == Status(.resourceExhausted))
    #expect(try lab.map([1, 1]) == Status(.constraintError))
    #expect(try lab.map([0]) == Status(.constraintError))
    #expect(try lab.map([1], keySet: 0) == Status(.constraintError), "key set 0 can't be mapped")
    let sets = try lab.lab.read(GroupKeyManagement.maxGroupKeysPerFabric, on: lab.session)
    // Key set 0 and the one of the lab exist already.
    for id in 3..<(sets + 1) { try lab.writeKeys(id) }
    let full = try lab.lab.status(
      GroupKeyManagement.keySetWrite, .init(groupKeySet: GroupLab.keySet(99)), on: lab.session)
    #expect(full == Status(.resourceExhausted))
    let all = try lab.lab.call(GroupKeyManagement.keySetReadAllIndices, NoFields(), on: lab.session)
    #expect(all.groupKeySetIDs.count == Int(sets))
    let zero = try lab.lab.status(GroupKeyManagement.keySetRemove, .init(groupKeySetID: 0), on: lab.session)
    #expect(zero == Status(.invalidCommand))
  }

  @Test func rejectsInvalidGroupSubjects() throws {
    var lab = try GroupLab()
    let path = AttributePath(AccessControl.acl.path(on: 0))
    for subject in [0, 0x1_0000, 0xFFFF_FFFF_FFFF_0103] as [UInt64] {
      let entry = GroupLab.Entry(
        privilege: .operate, authMode: .group, subjects: .value([NodeID(subject)]), targets: .null)
      #expect(
        try lab.lab.write([AttributeWrite(path, .append, value: entry.tlv)], on: lab.session)
          == [Status(.constraintError)])
    }
  }
}

@Suite struct BindingTests {
  private typealias Target = Binding.TargetStruct
  private static let path = AttributePath(Binding.binding.path(on: 1))

  private func lab() throws -> (Lab, SessionID) {
    let endpoint = EndpointDefinition(
      1, deviceTypes: [DeviceTypes.onOffLight], servers: [BindingServer.make()], clients: [OnOff.id])
    var lab = try Lab(endpoints: [endpoint])
    try lab.addAdministrator()
    let session = try lab.commission()
    return (lab, session)
  }

  @Test func storesBindingsUpToLimit() throws {
    var (lab, session) = try lab()
    let good = [
      Target(node: 1, endpoint: 1, cluster: OnOff.id), Target(node: 1, endpoint: 1), Target(group: 7),
      Target(group: 7, cluster: OnOff.id),
    ]
    #expect(try lab.write([AttributeWrite(Self.path, value: good.tlv)], on: session) == [.success])
    #expect(try lab.read(Binding.binding, endpoint: 1, on: session).map(\.group) == [nil, nil, 7, 7])
    lab.crash()
    let again = lab.openCASE()
    let newSession = try #require(again)
    #expect(try lab.read(Binding.binding, endpoint: 1, on: newSession).count == 4)
    let most = [Target](repeating: Target(node: 1, endpoint: 1), count: BindingServer.maximumPerFabric)
    #expect(try lab.write([AttributeWrite(Self.path, value: most.tlv)], on: newSession) == [.success])
    let more = AttributeWrite(Self.path, .append, value: Target(group: 9).tlv)
    #expect(try lab.write([more], on: newSession) == [Status(.resourceExhausted)])
    #expect(BindingServer.maximumPerFabric >= 10)
  }

  @Test func rejectsInvalidTargets() throws {
    var (lab, session) = try lab()
    let bad = [
      Target(), Target(node: 1), Target(endpoint: 1), Target(group: 0), Target(node: 1, group: 7, endpoint: 1),
      Target(node: 0, endpoint: 1), Target(node: 1, endpoint: 1, cluster: LevelControl.id),
      Target(group: 7, cluster: 0x8000),
    ]
    for target in bad {
      #expect(
        try lab.write([AttributeWrite(Self.path, .append, value: target.tlv)], on: session)
          == [Status(.constraintError)], "\(target)")
    }
    #expect(try lab.read(Binding.binding, endpoint: 1, on: session).isEmpty)
  }
}
