import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterController

/// Joining and leaving a group while other administrators change the same lists.
@Suite struct GroupChangeTests {
  private static let acl = AccessControl.acl.path(on: .root)
  private static let map = GroupKeyManagement.groupKeyMap.path(on: .root)
  private static let fabric = OperationalCredentials.currentFabricIndex.path(on: .root)
  private static let done = Reply.invoked([
    .status(CommandStatus(GroupKeyManagement.keySetWrite.path(on: .root), status: Status(.success)))
  ])

  private func entry(_ mode: UInt64, _ subjects: [UInt64], extra: String? = nil) -> TLVElement {
    var members: [TLVElement] = [
      .init(.unsigned(mode == 3 ? 3 : 5), tag: .context(1)), .init(.unsigned(mode), tag: .context(2)),
      .init(.array(subjects.map { .init(.unsigned($0)) }), tag: .context(3)), .init(.null, tag: .context(4)),
    ]
    if let extra { members.append(.init(.string(extra), tag: .context(9))) }
    members.append(.init(.unsigned(2), tag: .context(254)))
    return TLVElement(.structure(members))
  }

  private func key(_ group: UInt64, set: UInt64, extra: String? = nil) -> TLVElement {
    var members: [TLVElement] = [
      .init(.unsigned(group), tag: .context(1)), .init(.unsigned(set), tag: .context(2)),
    ]
    if let extra { members.append(.init(.string(extra), tag: .context(9))) }
    members.append(.init(.unsigned(2), tag: .context(254)))
    return TLVElement(.structure(members))
  }

  private func listsReport(_ keys: [TLVElement], _ entries: [TLVElement], _ version: UInt32) throws -> Reply {
    var report = ReassembledReport()
    try report.append(
      ReportData(attributeReports: [
        .data(.init(Self.map, dataVersion: version, value: TLVElement(.array(keys)).encoded)),
        .data(.init(Self.acl, dataVersion: version + 1, value: TLVElement(.array(entries)).encoded)),
        .data(.init(Self.fabric, dataVersion: 1, value: TLVElement(.unsigned(2)).encoded)),
      ]))
    return .report(report)
  }

  /// The pending write: its data version and entries.
  private func written(_ change: GroupChange) throws -> (version: UInt32?, entries: [TLVElement]) {
    guard case .write(let chunks, _)? = change.request(epochKey: []) else {
      throw ControllerError.invalidRequest("nothing to write in \(change.step)")
    }
    let message = try #require(chunks.messages.first)
    let write = try #require(try WriteRequest(decoding: message).writes.first)
    guard case .array(let entries) = try TLVElement(decoding: write.value).value else { return (write.dataVersion, []) }
    return (write.dataVersion, entries)
  }

  private func answer(_ path: ConcreteAttributePath, _ code: StatusCode = .success) -> Reply {
    .written([AttributeStatus(AttributePath(path), status: Status(code))])
  }

  private func joining(_ group: GroupID = 7) throws -> GroupChange {
    var change = GroupChange(GroupRecord(group, "Den", keySet: 1), 1, [1], isJoining: true)
    var report = ReassembledReport()
    let support = AttributeData(Groups.nameSupport.path(on: 1), dataVersion: 1, value: [0x04, 0x80])
    try report.append(ReportData(attributeReports: [.data(support)]))
    #expect(try !change.handle(.report(report)))
    return change
  }

  @Test("gives no keys to an endpoint without the Groups cluster, whether or not the node sends a status")
  func noGroupsCluster() throws {
    let statuses = [
      AttributeStatus(AttributePath(Groups.nameSupport.path(on: 1)), status: Status(.unsupportedEndpoint))
    ]
    for (answers, code) in [(statuses, StatusCode.unsupportedEndpoint), ([], .unsupportedCluster)] {
      var change = GroupChange(GroupRecord(7, "Den", keySet: 1), 1, [1], isJoining: true)
      var report = ReassembledReport()
      try report.append(ReportData(attributeReports: answers.map { .status($0) }))
      #expect(throws: ControllerError.status(Status(code))) { try change.handle(.report(report)) }
    }
  }

  @Test func writesListsUnchangedAndConditionalOnVersion() throws {
    var change = try joining()
    #expect(try !change.handle(Self.done))
    let admin = entry(2, [1], extra: "theirs")
    #expect(try !change.handle(listsReport([key(5, set: 3, extra: "new")], [admin, entry(3, [4], extra: "kept")], 40)))
    #expect(change.step == .writeMap)
    let map = try written(change)
    #expect(map.version == 40)
    #expect(map.entries.map { $0[1]?.value } == [.unsigned(5), .unsigned(7)])
    #expect(map.entries[0][9]?.value == .string("new") && map.entries[0][254] == nil)
    #expect(try !change.handle(answer(Self.map)))
    #expect(change.step == .addGroup)
    let added = Groups.AddGroupResponse(status: .success, groupID: 7)
    #expect(try !change.handle(.invoked([.command(CommandData(Groups.addGroup.path(on: 1), fields: added.tlv))])))
    let access = try written(change)
    #expect(access.version == 41 && access.entries.count == 2)
    #expect(access.entries[0][9]?.value == .string("theirs"))
    // The extended entry keeps its unknown members.
    #expect(access.entries[1][3]?.value == .array([.init(.unsigned(4)), .init(.unsigned(7))]))
    #expect(access.entries[1][9]?.value == .string("kept"))
    #expect(try change.handle(answer(Self.acl)))
  }

  /// Only the first of several messages would be conditional.
  @Test func doesNotSplitLists() throws {
    var change = try joining()
    _ = try change.handle(Self.done)
    let keys = (20...60).map { key($0, set: 3, extra: String(repeating: "x", count: 60)) }
    #expect(try !change.handle(listsReport(keys, [entry(2, [1])], 40)))
    #expect(change.step == .writeMap && change.request(epochKey: []) == nil)
  }

  /// A concurrent edit is read again and kept; after too many conflicts the change fails.
  @Test func rereadsListsAfterConflict() throws {
    var change = try joining()
    _ = try change.handle(Self.done)
    _ = try change.handle(listsReport([], [entry(2, [1])], 40))
    #expect(try !change.handle(answer(Self.map, .dataVersionMismatch)))
    #expect(change.step == .readLists)
    _ = try change.handle(listsReport([key(6, set: 9)], [entry(2, [1])], 41))
    let map = try written(change)
    #expect(map.version == 41 && map.entries.map { $0[1]?.value } == [.unsigned(6), .unsigned(7)])
    for _ in 0..<3 {
      #expect(try !change.handle(answer(Self.map, .dataVersionMismatch)))
      _ = try change.handle(listsReport([], [entry(2, [1])], 50))
    }
    #expect(throws: ControllerError.status(Status(.dataVersionMismatch))) {
      try change.handle(answer(Self.map, .dataVersionMismatch))
    }
  }

  @Test func removesOnlyOwnEntries() throws {
    var change = GroupChange(GroupRecord(7, "Den", keySet: 1), 1, [1], isJoining: false)
    let left = Groups.RemoveGroupResponse(status: .success, groupID: 7)
    _ = try change.handle(.invoked([.command(CommandData(Groups.removeGroup.path(on: 1), fields: left.tlv))]))
    _ = try change.handle(
      listsReport([key(7, set: 1), key(8, set: 1)], [entry(2, [1]), entry(3, [7, 8]), entry(3, [7])], 3))
    #expect(try written(change).entries.map { $0[1]?.value } == [.unsigned(8)])
    _ = try change.handle(answer(Self.map))
    #expect(
      try written(change).entries.map { $0[3]?.value } == [
        .array([.init(.unsigned(1))]), .array([.init(.unsigned(8))]),
      ])
    #expect(try change.handle(answer(Self.acl)))
  }

  @Test("removes the key set with the last group that uses it, and all endpoints")
  func removesUnusedKeys() throws {
    var record = GroupRecord(7, "Den", keySet: 4)
    record.members = [.init(1, 1), .init(1, 2), .init(2, 1)]
    var change = GroupChange(record, 1, [1, 2], isJoining: false)
    guard case .invoke(let commands, _)? = change.request(epochKey: []) else {
      Issue.record("no RemoveGroup")
      return
    }
    #expect(commands.map(\.path.endpoint) == [1, 2])
    let answers = [(EndpointID(1), StatusCode.success), (2, .notFound)].map { endpoint, status in
      CommandResult.command(
        CommandData(
          Groups.removeGroup.path(on: endpoint), fields: Groups.RemoveGroupResponse(status: status, groupID: 7).tlv))
    }
    #expect(try !change.handle(.invoked(answers)))
    // Another group uses another key set.
    #expect(try !change.handle(listsReport([key(7, set: 4), key(8, set: 1)], [entry(2, [1]), entry(3, [7])], 3)))
    #expect(change.step == .writeMap)
    #expect(try !change.handle(answer(Self.map)))
    guard case .invoke(let removal, _)? = change.request(epochKey: []) else {
      Issue.record("no KeySetRemove")
      return
    }
    #expect(removal.first?.path == GroupKeyManagement.keySetRemove.path(on: .root))
    #expect(removal.first?.fields == GroupKeyManagement.KeySetRemoveRequest(groupKeySetID: 4).tlv)
    let gone = CommandStatus(GroupKeyManagement.keySetRemove.path(on: .root), status: Status(.notFound))
    #expect(try !change.handle(.invoked([.status(gone)])))
    #expect(try written(change).entries.map { $0[3]?.value } == [.array([.init(.unsigned(1))])])
    #expect(try change.handle(answer(Self.acl)))
  }

  @Test("replaces the keys if the node has no KeySetRemove")
  func replacesKeys() throws {
    var change = GroupChange(GroupRecord(7, "Den", keySet: 4), 1, [], isJoining: false)
    #expect(try !change.handle(listsReport([], [], 3)))
    #expect(change.step == .removeKeys)
    let path = GroupKeyManagement.keySetRemove.path(on: .root)
    let unsupported = CommandStatus(path, status: Status(.unsupportedCommand))
    #expect(try !change.handle(.invoked([.status(unsupported)])))
    guard case .invoke(let commands, _)? = change.request(epochKey: [UInt8](repeating: 9, count: 16)) else {
      Issue.record("no KeySetWrite")
      return
    }
    let written = try GroupKeyManagement.KeySetWriteRequest(tlv: try #require(commands.first?.fields))
    #expect(written.groupKeySet.groupKeySetID == 4)
    #expect(written.groupKeySet.epochKey0 == .value(OctetString([UInt8](repeating: 9, count: 16))))
    #expect(try change.handle(Self.done))
  }

  @Test("rejects an answer for fewer endpoints than requested")
  func rejectsMissingAnswers() throws {
    var change = GroupChange(GroupRecord(7, "Den", keySet: 1), 1, [1, 2], isJoining: false)
    let left = Groups.RemoveGroupResponse(status: .success, groupID: 7)
    #expect(throws: ControllerError.self) {
      try change.handle(.invoked([.command(CommandData(Groups.removeGroup.path(on: 1), fields: left.tlv))]))
    }
  }

  @Test("stores key set, holders and deletion")
  func roundTripsGroupRecord() throws {
    var record = GroupRecord(7, "Den", keySet: 4)
    record.members = [.init(1, 1)]
    record.addHolder(3)
    record.addHolder(1)
    record.isDeleted = true
    #expect(GroupRecord(tlv: record.tlv) == record)
    #expect(record.holders == [1, 3])
  }
}
