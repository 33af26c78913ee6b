import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

/// Groups, their keys and the nodes that may have them.
@Suite struct GroupTableTests {
  private var random: any RandomSource = SeededRandomSource(seed: 1)
  private var table = GroupTable([:])

  private mutating func create(
    _ id: GroupID? = nil, _ name: String = "Den", isInFabric: (NodeID) -> Bool = { _ in true }
  ) throws(ControllerError) -> GroupRecord {
    try table.create(id, name: name, random: &random, isInFabric: isInFabric).0
  }

  /// Adds an endpoint and completes the change.
  private mutating func join(_ node: NodeID, _ endpoint: EndpointID, _ group: GroupID) throws {
    let (change, _) = try table.join(node, endpoint, group)
    _ = try table.complete(change)
  }

  private func leave(_ node: NodeID, _ endpoints: [EndpointID], _ group: GroupID) throws -> GroupChange {
    GroupChange(try table.group(group), node, endpoints, isJoining: false)
  }

  // MARK: Creation

  @Test mutating func assignsFreeIDs() throws {
    let ids = try [create(2, "A"), create(nil, "B"), create(nil, "C"), create(0x7FFF, "D")].map(\.id)
    #expect(ids == [2, 1, 3, 0x7FFF])
    #expect(table.groups.map(\.name) == ["B", "A", "C", "D"])
  }

  @Test mutating func rejectsInvalidParameters() throws {
    _ = try create(2, "Den")
    let errors: [(GroupID?, String, String)] = [
      (nil, "dEN", "group name 'Den': in use by group 2"), (2, "Hall", "group 2: already exists"),
      (0, "Hall", "group id: out of range; expected 1 to 32767"),
      (0x8000, "Hall", "group id: out of range; expected 1 to 32767"),
      (nil, String(repeating: "ä", count: 9), "group name: longer than 16 bytes"),
    ]
    for (id, name, message) in errors {
      #expect(throws: ControllerError.invalidRequest(message)) { try create(id, name) }
    }
    _ = try create(nil, String(repeating: "ä", count: 8))
    #expect(throws: ControllerError.invalidRequest("group 9: not found")) { try table.delete(9) }
  }

  @Test("stores a new key before the first group, and shares it with the next groups") mutating func sharesKeys() throws
  {
    let (first, changes) = try table.create(nil, name: "A", random: &random, isInFabric: { _ in true })
    #expect(changes.map(\.key) == ["group-key/1", "group/1"] && changes.allSatisfy(\.isDurable))
    #expect(changes.first?.value == table.epochKey(1) && table.epochKey(1).count == 16)
    let (second, more) = try table.create(nil, name: "B", random: &random, isInFabric: { _ in true })
    #expect(more.map(\.key) == ["group/2"] && first.keySet == second.keySet)
  }

  @Test("uses a new key if a node outside of the fabric or of the groups may have the old one")
  mutating func replacesExposedKeys() throws {
    _ = try create(1, "A")
    try join(7, 1, 1)
    let inside = try create(nil, "B", isInFabric: { $0 == 7 })
    #expect(inside.keySet == 1)
    let outside = try create(nil, "C", isInFabric: { _ in false })
    #expect(outside.keySet == 2 && table.epochKey(2) != table.epochKey(1))
    _ = try table.delete(1)
    let afterDeletion = try create(nil, "D")
    #expect(afterDeletion.keySet == 2, "the deleted group has a holder")
  }

  // MARK: Deletion

  @Test mutating func removesGroupWithoutHolders() throws {
    _ = try create(1, "A")
    _ = try create(2, "B")
    let (record, changes) = try table.delete(1)
    #expect(record.isDeleted && changes.map(\.key) == ["group/1"] && changes.first?.value == nil)
    let (_, last) = try table.delete(2)
    #expect(last.map(\.key) == ["group/2", "group-key/1"] && last.allSatisfy { $0.value == nil && $0.isDurable })
    #expect(table.deletedGroups.isEmpty && table.epochKey(1).isEmpty)
  }

  @Test("reserves the id and the key of a deleted group until its nodes have left") mutating func reservesID() throws {
    _ = try create(1)
    try join(7, 1, 1)
    try join(7, 2, 1)
    _ = try table.delete(1)
    #expect(table.groups.isEmpty && table.deletedGroups.map(\.id) == [1])
    #expect(
      throws: ControllerError.invalidRequest("group 1: deleted, but devices may still be in it; choose another id")
    ) { try create(1) }
    #expect(throws: ControllerError.self) { try table.delete(1) }
    #expect(throws: ControllerError.self) { try table.join(8, 1, 1) }
    let change = try table.leaving(7, 1)
    #expect(change.endpoints == [1, 2] && !change.isJoining)
    let (_, changes) = try table.complete(change)
    #expect(changes.map(\.key) == ["group/1", "group-key/1"] && changes.allSatisfy { $0.value == nil })
    #expect(throws: ControllerError.invalidRequest("group 1: not found")) { try table.leaving(7, 1) }
    #expect(throws: ControllerError.invalidRequest("group 1: deleted in the meantime")) { try table.complete(change) }
  }

  // MARK: Members

  @Test("records a node as a holder before its first endpoint joins") mutating func recordsHolders() throws {
    _ = try create(1)
    let (first, changes) = try table.join(7, 2, 1)
    #expect(first.isFirst && changes.count == 1 && table.groups[0].holders == [7] && table.groups[0].members.isEmpty)
    _ = try table.complete(first)
    let (second, noChanges) = try table.join(7, 1, 1)
    #expect(!second.isFirst && noChanges.isEmpty)
    _ = try table.complete(second)
    #expect(table.groups[0].members == [.init(7, 1), .init(7, 2)])
    let (record, _) = try table.complete(try leave(7, [1], 1))
    #expect(record.members == [.init(7, 2)] && record.holders == [7])
    let (last, _) = try table.complete(try leave(7, [2], 1))
    #expect(last.members.isEmpty && last.holders.isEmpty)
  }

  @Test("forgets a holder that has nothing of the group after a failed change") mutating func failedChanges() throws {
    _ = try create(1)
    func holders(_ table: GroupTable) -> [NodeID] { table.groups[0].holders }
    let (probe, _) = try table.join(7, 1, 1)
    let changes = table.fail(probe, .unreachable)
    #expect(changes.count == 1 && holders(table).isEmpty)

    var (sent, _) = try table.join(7, 1, 1)
    (sent.step, sent.hasSent) = (.writeKeys, true)
    let unknown = table.fail(sent, .connectionLost)
    #expect(unknown.isEmpty && holders(table) == [7], "the keys may have been written")
    let refused = table.fail(sent, .status(Status(.resourceExhausted)))
    #expect(refused.count == 1 && holders(table).isEmpty)

    var (later, _) = try table.join(7, 1, 1)
    later.step = .writeMap
    let late = table.fail(later, .status(Status(.failure)))
    let (second, _) = try table.join(7, 2, 1)
    let other = table.fail(second, .unreachable)
    #expect(late.isEmpty && other.isEmpty && holders(table) == [7])
  }

  @Test("keeps a removed node as a holder unless it removed the fabric", arguments: [true, false])
  mutating func removesNode(fabricRemoved: Bool) throws {
    for id in [3, 1, 2] as [GroupID] { _ = try create(id, "\(id)") }
    for group in [3, 1] as [GroupID] { try join(7, 1, group) }
    try join(8, 1, 1)
    let changes = table.remove(7, fabricRemoved: fabricRemoved)
    #expect(changes.map { $0.map(\.key) } == [["group/1"], ["group/3"]])
    #expect(table.groups.map(\.members) == [[.init(8, 1)], [], []])
    #expect(table.groups.map(\.holders) == (fabricRemoved ? [[8], [], []] : [[7, 8], [], [7]]))
  }

  @Test("renews a change that waited for another one") mutating func renewsChange() throws {
    _ = try create(1)
    try join(7, 1, 1)
    let (joining, _) = try table.join(8, 1, 1)
    let leaving = try leave(7, [1], 1)
    #expect(!leaving.otherEndpointsRemain)
    try join(7, 2, 1)
    #expect(try table.renewed(leaving).otherEndpointsRemain, "another endpoint joined")
    #expect(try table.renewed(joining).isFirst)
    _ = try table.delete(1)
    #expect(try table.renewed(leaving).endpoints == [1, 2], "all endpoints leave a deleted group")
    #expect(throws: ControllerError.invalidRequest("group 1: deleted in the meantime")) { try table.renewed(joining) }
  }

  // MARK: Deleted groups

  @Test("asks a reporting node to leave deleted groups, every 30 s") mutating func leavingInterval() throws {
    _ = try create(1)
    try join(7, 1, 1)
    let before = table.mustLeave(7, at: .zero)
    #expect(!before)
    _ = try table.delete(1)
    let asked = [0, 29.9, 30, 59.9, 60].map { table.mustLeave(7, at: .at($0)) }
    #expect(asked == [true, false, true, false, true])
    let other = table.mustLeave(8, at: .zero)
    #expect(!other)
    _ = try table.complete(try table.leaving(7, 1))
    let after = table.mustLeave(7, at: .at(120))
    #expect(!after)
  }

  // MARK: Keys and storage

  @Test("installs the key sets of groups that are not deleted") mutating func keySets() throws {
    _ = try create(1, "A")
    try join(7, 1, 1)
    _ = try table.delete(1)
    #expect(table.keySets([], compressedFabricID: 5).isEmpty)
    _ = try create(2, "B")
    _ = try create(3, "C")
    let sets = table.keySets([], compressedFabricID: 5)
    #expect(sets.map(\.id) == [2] && sets.first?.groups == [2, 3])
    #expect(sets.first?.keys.map(\.epochKey) == [table.epochKey(2)])
    // A known key is not derived again, so the fabric does not matter.
    let known = table.keySets(sets, compressedFabricID: 6)
    #expect(known.first?.keys.first?.sessionID == sets.first?.keys.first?.sessionID)
    #expect(table.keySets([], compressedFabricID: 6).first?.keys.first?.sessionID != sets.first?.keys.first?.sessionID)
  }

  @Test mutating func restoresGroups() throws {
    var store: StoredState = [:]
    for name in ["A", "B"] {
      for change in try table.create(nil, name: name, random: &random, isInFabric: { _ in true }).1 {
        store[change.key] = change.value
      }
    }
    store["group/zz"] = [1, 2]
    store["peer/0000000000000001"] = [1]
    let restored = GroupTable(store)
    #expect(restored.groups == table.groups && restored.epochKey(1) == table.epochKey(1))
  }
}
