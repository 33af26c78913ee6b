import MatterClusters
import MatterModel
import Testing

@testable import MatterDevice

extension TestNode {
  fileprivate func addGroup(
    _ group: GroupID, _ name: String, on endpoint: EndpointID = 1, fabric: FabricIndex = 1
  ) throws -> StatusCode? {
    let answer = try invoke(Groups.addGroup, .init(groupID: group, groupName: name), on: endpoint, fabric: fabric)
    #expect(answer?.groupID == group)
    return answer?.status
  }

  fileprivate func viewGroup(_ group: GroupID, on endpoint: EndpointID = 1, fabric: FabricIndex = 1) throws -> String {
    let answer = try #require(try invoke(Groups.viewGroup, .init(groupID: group), on: endpoint, fabric: fabric))
    #expect(answer.groupID == group)
    return answer.status == .success ? answer.groupName : "\(answer.status)"
  }

  fileprivate func removeGroup(_ group: GroupID, on endpoint: EndpointID = 1) throws -> StatusCode? {
    try invoke(Groups.removeGroup, .init(groupID: group), on: endpoint)?.status
  }

  fileprivate func membership(_ groups: [GroupID] = [], on endpoint: EndpointID = 1) throws -> [GroupID]? {
    let answer = try invoke(Groups.getGroupMembership, .init(groupList: groups), on: endpoint)
    #expect(answer?.capacity == .null)
    return answer?.groupList
  }
}

@Test func reservesFourGroupsPerEndpoint() throws {
  var table = GroupTable()
  table.raiseMaximum(forServers: 3)
  #expect(table.maximumPerFabric == 16)
  table.raiseMaximum(forServers: 7)
  #expect(table.maximumPerFabric == 28)
  var added = 0
  for group in 1...29 as ClosedRange<UInt16> {
    if table.add(GroupID(group), fabric: 1, endpoint: EndpointID(group % 7 + 1), name: "") { added += 1 }
  }
  #expect(added == 28)
  let isAddedToAnother = table.add(29, fabric: 2, endpoint: 1, name: "")
  #expect(isAddedToAnother)
}

/// Based on the public certification scripts TC-G-2.1 to 2.4.
struct GroupsTests {
  @Test func addsViewsAndRemovesGroups() throws {
    let node = TestNode()
    let limit = GroupID(UInt16(GroupTable().maximumPerFabric))
    #expect(node[Groups.nameSupport] == .groupNames)
    for group in 1...limit.rawValue { #expect(try node.addGroup(GroupID(group), "Gp\(group)") == .success) }
    #expect(try node.addGroup(GroupID(limit.rawValue + 1), "GpUnused") == .resourceExhausted, "7b")
    #expect(try node.addGroup(1, "Gp1") == .success, "an existing group needs no capacity")
    #expect(try node.addGroup(0, "Gp0") == .constraintError, "9")
    #expect(try node.addGroup(21, "Gp5") == .unsupportedAccess, "10: the group has no keys")
    #expect(try node.viewGroup(1) == "Gp1")
    #expect(try node.viewGroup(0) == "\(StatusCode.constraintError)")
    #expect(try node.removeGroup(1) == .success)
    #expect(try node.viewGroup(1) == "\(StatusCode.notFound)")
    #expect(try node.removeGroup(0) == .constraintError)
    #expect(try node.removeGroup(1) == .notFound)
    try node.invoke(Groups.removeAllGroups)
    #expect(try node.viewGroup(2) == "\(StatusCode.notFound)")
    #expect(node.context.groupTable.entries.isEmpty)
    #expect(try node.addGroup(1, "Gp123456789123456") == .constraintError, "23: 17 characters")
    #expect(try node.addGroup(1, "Gp12345678912345") == .success)
  }

  @Test func sharesTableBetweenEndpoints() throws {
    let node = TestNode()
    #expect(try node.addGroup(1, "Gp1") == .success)
    #expect(try node.addGroup(1, "Gp2", on: TestNode.plug) == .success)
    #expect(node.context.groupTable.entries.map(\.endpoints) == [[1, 2]])
    #expect(try node.viewGroup(1) == "Gp2")
    #expect(try node.viewGroup(1, on: TestNode.plug) == "Gp2")
    #expect(try node.removeGroup(1) == .success)
    #expect(node.context.groupTable.entries.map(\.endpoints) == [[2]])
    #expect(try node.viewGroup(1) == "\(StatusCode.notFound)")
    #expect(try node.removeGroup(1, on: TestNode.plug) == .success)
    #expect(node.context.groupTable.entries.isEmpty)
    #expect(try !node.takeReports(of: GroupKeyManagement.groupTable, on: 0).isEmpty)
  }

  @Test func scopesMembershipToEndpointAndFabric() throws {
    let node = TestNode()
    #expect(try node.addGroup(1, "") == .success)
    #expect(try node.addGroup(3, "") == .success)
    #expect(try node.addGroup(2, "", on: TestNode.plug) == .success)
    #expect(try node.addGroup(4, "", fabric: 2) == .success)
    #expect(try node.membership() == [1, 3])
    #expect(try node.membership([2, 3, 4]) == [3])
    #expect(try node.membership([2, 4]) == [])
    #expect(try node.membership(on: TestNode.plug) == [2])
    #expect(try node.viewGroup(4) == "\(StatusCode.notFound)")
    try node.invoke(Groups.removeAllGroups)
    #expect(try node.viewGroup(4, fabric: 2) == "")
    #expect(try node.membership(on: TestNode.plug) == [2])
    #expect(try node.restarted().membership(on: TestNode.plug) == [2], "the table is restored")
  }

  @Test func addsGroupOnlyWhileIdentifying() throws {
    let node = TestNode()
    let request = Groups.AddGroupIfIdentifyingRequest(groupID: 1, groupName: "found")
    try node.invoke(Groups.addGroupIfIdentifying, request)
    #expect(try node.membership() == [])
    try node.invoke(Identify.identify, .init(identifyTime: 1))
    try node.invoke(Groups.addGroupIfIdentifying, request)
    #expect(try node.viewGroup(1) == "found")
    #expect(throws: StatusError(.unsupportedAccess)) {
      try node.invoke(Groups.addGroupIfIdentifying, .init(groupID: 21, groupName: ""))
    }
    #expect(throws: StatusError(.constraintError)) {
      try node.invoke(Groups.addGroupIfIdentifying, .init(groupID: 0, groupName: ""))
    }
    node.wait(1000)
    try node.invoke(Groups.addGroupIfIdentifying, .init(groupID: 2, groupName: ""))
    #expect(try node.membership() == [1])
  }
}
