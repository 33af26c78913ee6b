import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterController

/// The access entries of tags in lists that have other entries.
@Suite struct AccessChangeTests {
  private typealias Entry = AccessControl.AccessControlEntryStruct
  private static let acl = AccessControl.acl.path(on: .root)
  private static let limit = AccessControl.accessControlEntriesPerFabric.path(on: .root)
  private static let fabric = OperationalCredentials.currentFabricIndex.path(on: .root)

  private static func entry(
    _ privilege: Privilege, _ subjects: [NodeID], _ mode: AccessControl.AccessControlEntryAuthMode = .case
  ) -> Entry {
    Entry(
      privilege: .init(rawValue: privilege.rawValue), authMode: mode, subjects: .value(subjects), targets: .null,
      fabricIndex: 2)
  }

  private static func tag(_ identifier: UInt16, _ privilege: Privilege, version: UInt16 = 1) -> TagRecord {
    var record = TagRecord(identifier, privilege)
    record.version = version
    return record
  }

  private func report(_ entries: [Entry], limit: UInt16 = 4, version: UInt32 = 7) throws -> Reply {
    var report = ReassembledReport()
    try report.append(
      ReportData(attributeReports: [
        .data(.init(Self.acl, dataVersion: version, value: entries.tlv)),
        .data(.init(Self.limit, dataVersion: 1, value: limit.tlv)),
        .data(.init(Self.fabric, dataVersion: 1, value: FabricIndex(2).tlv)),
      ]))
    return .report(report)
  }

  private func answer(_ code: StatusCode) -> Reply {
    .written([AttributeStatus(AttributePath(Self.acl), status: Status(code))])
  }

  private func written(_ change: AccessChange) throws -> [Entry] {
    guard case .write(let chunks, _)? = change.request else { throw ControllerError.invalidRequest("no write") }
    let message = try #require(chunks.messages.first)
    let write = try #require(try WriteRequest(decoding: message).writes.first)
    #expect(write.dataVersion != nil)
    return try [Entry](tlv: write.value)
  }

  private static let admin = entry(.administer, [0xC0_0000_0001])
  private static let group = entry(.operate, [1], .group)

  @Test func addsEntriesAndKeepsOthers() throws {
    let tags = [Self.tag(0x48E0, .view), Self.tag(0x48E1, .operate)]
    var change = AccessChange(5, tags)
    #expect(try !change.handle(report([Self.admin, Self.group])))
    let entries = try written(change)
    #expect(entries.map(\.privilege) == [.administer, .operate, .view, .operate])
    #expect(entries.map(\.authMode) == [.case, .group, .case, .case])
    #expect(entries[3].subjects == .value([.tag(0x48E1_0001)]))
    #expect(try change.handle(answer(.success)))
    #expect(change.refused.isEmpty && change.granted == tags)
  }

  @Test func replacesEarlierVersion() throws {
    let old = Self.entry(.operate, [.tag(0x48E1_0001)])
    let other = Self.entry(.operate, [.tag(0x48E2_0001)])
    var change = AccessChange(5, [Self.tag(0x48E1, .operate, version: 2)])
    #expect(try !change.handle(report([Self.admin, old, other])))
    #expect(
      try written(change).map(\.subjects) == [
        .value([0xC0_0000_0001]), .value([.tag(0x48E1_0002)]), .value([.tag(0x48E2_0001)]),
      ])
  }

  @Test func removesEntriesOfRetiredTag() throws {
    var table = TagTable([:])
    _ = table.issue(0x48E1, .operate)
    _ = try table.raise(0x48E1, isRetired: true)
    let stored = try #require(table.tags.first)
    #expect(TagRecord(tlv: stored.tlv) == stored)
    let old = Self.entry(.operate, [.tag(0x48E1_0001)])
    var change = AccessChange(5, table.tags)
    #expect(try !change.handle(report([Self.admin, old, Self.group, old])))
    #expect(try written(change).map(\.subjects) == [Self.admin, Self.group].map(\.subjects))
    #expect(try change.handle(answer(.success)) && change.granted == [stored])
    _ = table.complete(change)
    #expect(!table.isPending(5))
    // The entry is back after the device returned to an earlier state.
    _ = table.note([Self.admin, old], of: 5)
    #expect(table.isPending(5))
    // A device without the entry is not written.
    var again = AccessChange(5, table.tags)
    #expect(try again.handle(report([Self.admin])))
    // A change that began before the next certificate does not count.
    _ = table.issue(0x48E1, .operate)
    _ = table.complete(again)
    #expect(table.missing(on: 5).map(\.tag) == [0x48E1_0002])
  }

  @Test("does not undo a revocation") func keepsLaterVersion() throws {
    let later = Self.entry(.operate, [.tag(0x48E1_0003)])
    var change = AccessChange(5, [Self.tag(0x48E0, .view), Self.tag(0x48E1, .operate, version: 2)])
    #expect(try !change.handle(report([Self.admin, later])))
    #expect(
      try written(change).map(\.subjects) == [
        .value([0xC0_0000_0001]), .value([.tag(0x48E1_0003)]), .value([.tag(0x48E0_0001)]),
      ])
    #expect(change.refused.isEmpty && change.granted.map(\.identifier) == [0x48E0])
    #expect(change.later == [0x48E1: 3])
  }

  @Test("raises the version beyond one that it does not know, as after the return to a copy of the home")
  func raisesVersionBeyondLaterOne() throws {
    var table = TagTable([:])
    _ = table.issue(1, .operate)
    var change = AccessChange(5, table.tags)
    #expect(try change.handle(report([Self.admin, Self.entry(.operate, [.tag(0x0001_0005)])])))
    #expect(table.complete(change).count == 1)
    #expect(table.missing(on: 5).map(\.tag) == [0x0001_0006] && table.isPending(5))
    // The same answer again has no effect.
    #expect(table.complete(change).isEmpty)
    // Only once: a device must not use up all versions.
    var again = AccessChange(5, table.tags)
    _ = try again.handle(report([Self.admin, Self.entry(.operate, [.tag(0x0001_0007)])]))
    #expect(table.complete(again).isEmpty && !table.isPending(5) && table.missing(on: 5).count == 1)
  }

  @Test("leaves an entry with a version that is far ahead", arguments: [0x0001_0102, 0x0001_FFFF] as [UInt32])
  func ignoresUnexpectedVersion(tag: UInt32) throws {
    var table = TagTable([:])
    _ = table.issue(1, .operate)
    var change = AccessChange(5, table.tags)
    #expect(try change.handle(report([Self.admin, Self.entry(.operate, [.tag(CASEAuthenticatedTag(tag))])])))
    #expect(table.complete(change).isEmpty && !table.isPending(5) && table.missing(on: 5).map(\.version) == [1])
  }

  @Test func refusesListWithoutAdministrator() throws {
    var change = AccessChange(5, [Self.tag(0x48E1, .operate)])
    #expect(throws: ControllerError.self) { _ = try change.handle(report([Self.group])) }
  }

  @Test("waits for space in a list for each tag alone") func retriesOtherTagsOfFullList() throws {
    var table = TagTable([:])
    for (tag, privilege) in [(UInt16(1), Privilege.view), (2, .operate)] { _ = table.issue(tag, privilege) }
    var change = AccessChange(5, table.tags)
    _ = try change.handle(report([Self.admin, Self.group, Self.entry(.view, [7])]))
    #expect(change.granted.map(\.identifier) == [1] && change.refused.map(\.identifier) == [2])
    _ = table.complete(change)
    #expect(!table.isPending(5) && table.missing(on: 5).map(\.identifier) == [2])
    // A revocation is due also while the list is full.
    _ = try table.raise(1)
    #expect(table.isPending(5))
    // A change of the earlier version that ends later does not delay it.
    _ = table.complete(change)
    #expect(table.isPending(5))
    var next = AccessChange(5, table.tags)
    _ = try next.handle(
      report([Self.admin, Self.group, Self.entry(.view, [7]), Self.entry(.view, [.tag(0x0001_0001)])]))
    _ = table.complete(next)
    #expect(!table.isPending(5))
    table.noteSpace(on: 5)
    #expect(table.isPending(5))
  }

  @Test("leaves a list that requires several messages unchanged") func doesNotSplitList() throws {
    let entries = (1...60 as ClosedRange<UInt64>).map {
      Self.entry(.view, [NodeID($0), 0xC0_0000_0002, 0xC0_0000_0003])
    }
    var change = AccessChange(5, [Self.tag(0x48E1, .operate)])
    #expect(try !change.handle(report([Self.admin] + entries, limit: 100)))
    #expect(change.request == nil)
  }

  @Test func notesLostEntries() throws {
    var table = TagTable([:])
    for (tag, privilege) in [(UInt16(1), Privilege.view), (2, .operate)] { _ = table.issue(tag, privilege) }
    var change = AccessChange(5, table.tags)
    _ = try change.handle(report([Self.admin]))
    #expect(table.complete(change).count == 2)
    let both = table.tags.map { Self.entry($0.privilege, [.tag($0.tag)]) }
    #expect(table.note([Self.admin] + both, of: 5).isEmpty)
    #expect(table.note([Self.admin, both[0]], of: 5).count == 1)
    #expect(table.missing(on: 5).map(\.identifier) == [2])
    // The list may have been overwritten.
    #expect(table.remove(5).count == 1 && table.missing(on: 5).count == 2)
    // An entry of another version is not kept beside the current one.
    _ = table.complete(change)
    #expect(table.note([Self.admin, Self.entry(.view, [.tag(0x0001_0002)])] + both, of: 5).count == 1)
    #expect(table.missing(on: 5).map(\.identifier) == [1])
  }

  @Test func completesWithoutWriteIfEntryExists() throws {
    var change = AccessChange(5, [Self.tag(0x48E1, .operate)])
    #expect(try change.handle(report([Self.admin, Self.entry(.operate, [.tag(0x48E1_0001)])])))
    #expect(change.refused.isEmpty)
  }

  @Test func leavesFullListUnchanged() throws {
    let entries = [Self.admin, Self.group, Self.entry(.view, [7]), Self.entry(.view, [8])]
    var change = AccessChange(5, [Self.tag(0x48E1, .operate)])
    #expect(try change.handle(report(entries)))
    #expect(change.refused.map(\.identifier) == [0x48E1] && change.granted.isEmpty)
    // One of two tags fits.
    var second = AccessChange(5, [Self.tag(0x48E0, .view), Self.tag(0x48E1, .operate)])
    #expect(try !second.handle(report(Array(entries.prefix(3)))))
    #expect(try written(second).count == 4)
    #expect(second.refused.count == 1 && second.granted.map(\.identifier) == [0x48E0])
  }

  @Test func readsAgainAfterConflict() throws {
    var change = AccessChange(5, [Self.tag(0x48E1, .operate)])
    #expect(try !change.handle(report([Self.admin])))
    #expect(try !change.handle(answer(.dataVersionMismatch)))
    guard case .read? = change.request else {
      Issue.record("expected another read")
      return
    }
    #expect(try !change.handle(report([Self.admin, Self.group])))
    #expect(try written(change).map(\.authMode) == [.case, .group, .case])
    #expect(throws: ControllerError.self) { _ = try change.handle(answer(.unsupportedAccess)) }
  }

  @Test func tagTableSurvivesRestartAndRaisesVersions() throws {
    var table = TagTable([:])
    #expect(try table.raise(1).isEmpty)
    let (record, changes) = table.issue(1, .operate)
    #expect(record.tag == 0x0001_0001 && changes.count == 1)
    #expect(table.issue(1, .operate).1.isEmpty)
    var change = AccessChange(5, table.tags)
    _ = try change.handle(report([Self.admin]))
    #expect(table.complete(change).count == 1)
    #expect(table.missing(on: 5).isEmpty && !table.missing(on: 6).isEmpty)
    let raised = try table.raise(1)
    // Nothing was issued with the new version.
    #expect(try table.raise(1).isEmpty)
    #expect(table.complete(change).isEmpty, "the written entry has the earlier version")
    var state: StoredState = [:]
    for change in raised { state[change.key] = change.value }
    let again = TagTable(state)
    #expect(again.tags == table.tags && again.tags.first?.version == 2)
    #expect(again.missing(on: 5).map(\.tag) == [0x0001_0002])
  }
}
