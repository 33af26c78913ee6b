import HomeModel
import MatterClusters
import MatterController
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import HearthHome

/// Access control lists: reading, changing and writing a whole list.
@Suite struct AdministrationTests {
  private let own: NodeID = 0xC0_0000_0001

  private func entry(
    _ privilege: AccessPrivilege, _ subjects: [NodeID], endpoint: EndpointID? = nil, cluster: ClusterID? = nil,
    mode: AccessControl.AccessControlEntryAuthMode = .case
  ) -> AccessEntry {
    let target = AccessControl.AccessControlTargetStruct(
      cluster: Nullable(cluster), endpoint: Nullable(endpoint), deviceType: .null)
    return AccessEntry(
      privilege: privilege, authMode: mode, subjects: subjects.isEmpty ? .null : .value(subjects),
      targets: endpoint == nil && cluster == nil ? .null : .value([target]))
  }

  /// Expects a mutating call to return true; `#expect` can't take one.
  private func expectTrue(_ value: Bool, _ location: SourceLocation = #_sourceLocation) {
    #expect(value, sourceLocation: location)
  }

  private func list(_ entries: AccessEntry...) -> [ScopedEntry<AccessEntry>] { entries.map { ScopedEntry($0) } }

  @Test func findsEntriesThatAllowAdministration() {
    #expect(list(entry(.administer, [own])).allowsAdministration(own))
    #expect(list(entry(.administer, [])).allowsAdministration(own))
    #expect(list(entry(.administer, [own], endpoint: 0)).allowsAdministration(own))
    #expect(list(entry(.administer, [own], cluster: AccessControl.id)).allowsAdministration(own))
    #expect(!list(entry(.administer, [7])).allowsAdministration(own))
    #expect(!list(entry(.manage, [own])).allowsAdministration(own))
    #expect(!list(entry(.administer, [own], endpoint: 1)).allowsAdministration(own))
    #expect(!list(entry(.administer, [own], cluster: OnOff.id)).allowsAdministration(own))
    #expect(!list(entry(.administer, [own], mode: .group)).allowsAdministration(own))
    #expect(!list().allowsAdministration(own))
  }

  @Test func mergesGrantsIntoExistingEntries() {
    var list = list(entry(.administer, [own]))
    expectTrue(list.grant(entry(.operate, [7], endpoint: 1), own: own))
    expectTrue(!list.grant(entry(.operate, [7], endpoint: 1), own: own))
    // The same target for further subjects: up to four subjects in one entry.
    for node: NodeID in [8, 9, 10] {
      expectTrue(list.grant(entry(.operate, [node], endpoint: 1), own: own))
    }
    #expect(list.count == 2)
    #expect(list[1].entry.subjects == .value([7, 8, 9, 10]))
    expectTrue(list.grant(entry(.operate, [11], endpoint: 1), own: own))
    #expect(list.count == 3)
    // The same subject for further targets: up to three targets in one entry.
    expectTrue(list.grant(entry(.operate, [11], endpoint: 2), own: own))
    expectTrue(list.grant(entry(.operate, [11], endpoint: 3), own: own))
    #expect(list[2].entry.targets.wrapped?.count == 3)
    expectTrue(list.grant(entry(.operate, [11], endpoint: 4), own: own))
    #expect(list.count == 4)
    // An entry for all subjects covers a single one; another privilege is another entry.
    expectTrue(list.grant(entry(.view, []), own: own))
    expectTrue(!list.grant(entry(.view, [99], endpoint: 5), own: own))
    expectTrue(list.grant(entry(.manage, [99], endpoint: 5), own: own))
    // Our own entry gets no other subject.
    expectTrue(list.grant(entry(.administer, [50]), own: own))
    #expect(list[0].entry == entry(.administer, [own]))
    #expect(list.allowsAdministration(own))
  }

  @Test func revokesGrantedEntries() {
    var list = list(entry(.administer, [own]))
    let begin = list.map(\.entry)
    for node: NodeID in [7, 8] { _ = list.grant(entry(.operate, [node], endpoint: 1), own: own) }
    _ = list.grant(entry(.operate, [9], endpoint: 2), own: own)
    _ = list.grant(entry(.operate, [9], endpoint: 3), own: own)
    expectTrue(list.revoke(entry(.operate, [7], endpoint: 1)))
    expectTrue(!list.revoke(entry(.operate, [7], endpoint: 1)))
    expectTrue(list.revoke(entry(.operate, [9], endpoint: 2)))
    #expect(list.map(\.entry) == begin + [entry(.operate, [8], endpoint: 1), entry(.operate, [9], endpoint: 3)])
    expectTrue(list.revoke(entry(.operate, [8], endpoint: 1)))
    expectTrue(list.revoke(entry(.operate, [9], endpoint: 3)))
    #expect(list.map(\.entry) == begin)
    // Entries for all subjects, or for all targets, are not revoked for one.
    list = self.list(entry(.operate, []), entry(.operate, [7]))
    expectTrue(!list.revoke(entry(.operate, [7], endpoint: 1)))
  }

  @Test("removes an entry by number and ignores invalid numbers")
  func removesByNumber() {
    var list = list(entry(.administer, [own]), entry(.operate, [7]))
    for number in [Int.min, -1, 0, 3, Int.max] {
      let removed = list.remove(number: number)
      #expect(removed == nil && list.count == 2, "\(number)")
    }
    let removed = list.remove(number: 2)
    #expect(removed?.entry == entry(.operate, [7]))
    #expect(list.map(\.entry) == [entry(.administer, [own])])
  }

  /// Unknown fields of an entry are kept, the fabric index is not written, and entries of other fabrics are not taken
  /// over.
  @Test func keepsUnknownFieldsOfEntries() throws {
    func structure(_ node: UInt64, _ fabric: UInt64, extra: Bool) -> TLVElement {
      var members: [TLVElement] = [
        .init(.unsigned(3), tag: .context(1)), .init(.unsigned(2), tag: .context(2)),
        .init(.array([.init(.unsigned(node))]), tag: .context(3)), .init(.null, tag: .context(4)),
      ]
      if extra { members.append(.init(.string("new"), tag: .context(9))) }
      members.append(.init(.unsigned(fabric), tag: .context(254)))
      return TLVElement(.structure(members))
    }
    let value = TLVElement(
      .array([structure(5, 2, extra: true), structure(6, 1, extra: false), structure(7, 2, extra: false)]))
    let list = try ScopedList<AccessEntry>(value.encoded, dataVersion: 1, fabric: 2)
    #expect(list.entries.map(\.entry.subjects.wrapped) == [[5], [7]])
    let written = try TLVElement(decoding: list.encoded)
    guard case .array(let entries) = written.value else {
      Issue.record("no array")
      return
    }
    #expect(entries.count == 2)
    #expect(entries[0][9]?.value == .string("new"))
    #expect(entries.allSatisfy { $0[254] == nil })
    // Also if other fields of the entry are changed.
    let changed = list.entries[0].changing { $0.subjects = .value([8]) }
    #expect(changed.entry.subjects == .value([8]))
    let element = try TLVElement(decoding: changed.encoded)
    #expect(element[3]?.value == .array([.init(.unsigned(8))]) && element[9]?.value == .string("new"))
    #expect(element[254] == nil)
    #expect(throws: (any Error).self) { try ScopedList<AccessEntry>([0x14], dataVersion: 1, fabric: 2) }
  }

  @Test func mapsResponseStatusesToErrors() throws {
    func answer(_ cluster: ClusterID, _ command: CommandID, _ fields: some ModelStruct) -> HomeError? {
      CommandOutcome.failure(
        CommandData(CommandPath(endpoint: 1, cluster: cluster, command: command), fields: fields.tlv))
    }
    var group = Groups.AddGroupResponse()
    #expect(answer(Groups.id, 0, group) == nil)
    group.status = .resourceExhausted
    let refused = try #require(answer(Groups.id, 0, group))
    #expect(refused.code == .refused)
    #expect(refused.message.contains("RESOURCE_EXHAUSTED"))
    var noc = OperationalCredentials.NOCResponse()
    #expect(answer(OperationalCredentials.id, 8, noc) == nil)
    noc.statusCode = .fabricConflict
    noc.debugText = "twice"
    #expect(
      answer(OperationalCredentials.id, 8, noc)?.message == "the device refused: FabricConflict (statusCode 9): twice")
    var complete = GeneralCommissioning.CommissioningCompleteResponse()
    complete.errorCode = .noFailSafe
    #expect(answer(GeneralCommissioning.id, 5, complete)?.message.contains("NoFailSafe") == true)
    let mode = RvcRunMode.ChangeToModeResponse(status: 1, statusText: "no such mode")
    #expect(
      answer(RvcRunMode.id, 1, mode)?.message == "the device refused: UnsupportedMode (status 1): no such mode")
    let state = OperationalState.OperationalCommandResponse(commandResponseState: .init(errorStateID: 3))
    #expect(
      answer(OperationalState.id, 4, state)?.message
        == "the device refused: CommandInvalidInState (commandResponseState 3)")
    #expect(answer(OperationalState.id, 4, OperationalState.OperationalCommandResponse()) == nil)
    // Responses of undeclared clusters are not interpreted.
    #expect(answer(0xFFF1_FC00, 1, noc) == nil)
  }
}
