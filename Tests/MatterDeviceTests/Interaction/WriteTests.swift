import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

private func write<C, Value>(
  _ attribute: Attribute<C, Value>, _ value: Value, on endpoint: EndpointID = 0
) -> AttributeWrite {
  AttributeWrite(attribute.path(on: endpoint), value: value.tlv)
}

@Test func checksWritesIndividually() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let commits = lab.commits
  let statuses = try lab.write(
    [
      write(BasicInformation.nodeLabel, "Desk"),
      write(BasicInformation.nodeLabel, String(repeating: "x", count: 33)),
      write(BasicInformation.vendorName, "Somebody"),
      AttributeWrite(BasicInformation.nodeLabel.path(on: 0), value: [0x09]),
      AttributeWrite(ConcreteAttributePath(1, 6, 0x4001), value: [0x06, 0, 0, 1, 0]),
      AttributeWrite(ConcreteAttributePath(1, 6, 0x4003), value: [0x04, 9]),
      AttributeWrite(BasicInformation.nodeLabel.path(on: 0), dataVersion: 1, value: "Late".tlv),
      AttributeWrite(ConcreteAttributePath(7, 6, 0x4001), value: [0x04, 0]),
    ], on: session)
  #expect(
    statuses.map(\.code) == [
      .success, .constraintError, .unsupportedWrite, .invalidDataType, .constraintError, .constraintError,
      .dataVersionMismatch, .unsupportedEndpoint,
    ])
  #expect(try lab.read(BasicInformation.nodeLabel, on: session) == "Desk")
  #expect(lab.store["attribute/0/28/5"] == "Desk".tlv)
  #expect(lab.commits == commits + 1, "one commit per message")
}

@Test func replacesACLEntryByEntry() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let admin = AccessControl.AccessControlEntryStruct(
    privilege: .administer, authMode: .case, subjects: .value([0x1_0001]), targets: .null)
  let viewer = AccessControl.AccessControlEntryStruct(
    privilege: .view, authMode: .case, subjects: .value([0x1_0002]), targets: .null)
  let path = AttributePath(AccessControl.acl.path(on: 0))
  let statuses = try lab.write(
    [
      AttributeWrite(path, value: [AccessControl.AccessControlEntryStruct]().tlv),
      AttributeWrite(path, .append, value: admin.tlv), AttributeWrite(path, .append, value: viewer.tlv),
    ], on: session)
  #expect(statuses.map(\.code) == [.success, .success, .success])
  let list = try lab.read(AccessControl.acl, on: session)
  #expect(list.map(\.privilege) == [.administer, .view])
  #expect(list.map(\.fabricIndex) == [1, 1])
}

@Test func validatesACLEntries() throws {
  typealias Entry = AccessControl.AccessControlEntryStruct
  typealias Target = AccessControl.AccessControlTargetStruct
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let path = AttributePath(AccessControl.acl.path(on: 0))
  let bad: [(Entry, StatusCode)] = [
    (Entry(privilege: .view, authMode: .pase, subjects: .null, targets: .null), .constraintError),
    (Entry(privilege: .administer, authMode: .group, subjects: .null, targets: .null), .constraintError),
    (Entry(privilege: .view, authMode: .case, subjects: .value([0]), targets: .null), .constraintError),
    (Entry(privilege: .init(6), authMode: .case, subjects: .null, targets: .null), .constraintError),
    (
      Entry(privilege: .view, authMode: .case, subjects: .value([0xFFFF_FFFD_0001_0000]), targets: .null),
      .constraintError
    ),
    (
      Entry(
        privilege: .view, authMode: .case, subjects: .null,
        targets: .value([Target(cluster: .null, endpoint: .null, deviceType: .null)])), .constraintError
    ),
    (
      Entry(
        privilege: .view, authMode: .case, subjects: .null,
        targets: .value([Target(cluster: .null, endpoint: .value(1), deviceType: .value(0x100))])), .constraintError
    ),
    (
      Entry(privilege: .view, authMode: .case, subjects: .value([1, 2, 3, 4, 5]), targets: .null),
      .resourceExhausted
    ),
  ]
  for (entry, code) in bad {
    #expect(try lab.write([AttributeWrite(path, .append, value: entry.tlv)], on: session).map(\.code) == [code])
  }
  let fine = Entry(privilege: .view, authMode: .case, subjects: .value([5]), targets: .null)
  for _ in 0..<3 {
    #expect(try lab.write([AttributeWrite(path, .append, value: fine.tlv)], on: session) == [.success])
  }
  #expect(
    try lab.write([AttributeWrite(path, .append, value: fine.tlv)], on: session) == [Status(.resourceExhausted)])
  #expect(try lab.read(AccessControl.acl, on: session).count == 4)
}

@Test func writesListInSeveralMessages() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let path = AttributePath(GroupKeyManagement.groupKeyMap.path(on: 0))
  let entries = (1...3).map { GroupKeyManagement.GroupKeyMapStruct(groupId: GroupID($0), groupKeySetID: 1) }
  var answers = try lab.sendRequest(
    WriteRequest([AttributeWrite(path, value: [entries[0]].tlv)], moreChunkedMessages: true), on: session)
  let exchange = try #require(answers.first?.exchange)
  answers = try lab.sendRequest(WriteRequest([AttributeWrite(path, .append, value: entries[1].tlv)]), on: exchange)
  #expect(try WriteResponse(decoding: #require(answers.first).bytes).statuses.map(\.status) == [.success])
  #expect(try lab.read(GroupKeyManagement.groupKeyMap, on: session).map(\.groupId) == [1, 2])
}
