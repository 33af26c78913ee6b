import Foundation
import GRDB
import MatterModel
import Testing

@testable import HearthHome
@testable import HomeModel
@testable import HomeStore

/// A power failure may lose the last changes; readers that had seen them get a reset.
@Suite("Log gaps") struct LogGapTests {
  private func update(_ number: Int) -> HomeUpdate {
    HomeUpdate([.attribute(5, .init(1, 6, 0), value: [0x05, UInt8(number)])], at: Int64(number))
  }

  private func open(_ scratch: TestDatabase, boot: Int64) throws -> HomeDatabase {
    try HomeDatabase.open(scratch.path, boot: boot)
  }

  private func times(_ database: HomeDatabase, after anchor: Anchor?) throws -> [Int64]? {
    if case .samples(let samples, _, _) = try database.samples(after: anchor) { samples.map(\.time) } else { nil }
  }

  @Test func resetsAnchorsOfLostChanges() throws {
    let scratch = try TestDatabase()
    var database = try open(scratch, boot: 1)
    for number in 1...5 { try database.commit([update(number)]) }
    let durable = try database.anchor()
    try database.close()
    let copy = scratch.path + ".copy"
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: scratch.path + suffix) {
      try FileManager.default.copyItem(atPath: scratch.path + suffix, toPath: copy + suffix)
    }
    database = try open(scratch, boot: 1)
    #expect(try database.anchor() == durable, "no reboot in between")
    for number in 6...9 { try database.commit([update(number)]) }
    let early = try database.samples(after: nil, limit: 3).next
    let lost = try database.samples(after: durable, limit: 2).next
    let last = try database.anchor()
    try database.close()
    // The power fails before the last four changes are written to the disk.
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: scratch.path + suffix) }
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: copy + suffix) {
      try FileManager.default.moveItem(atPath: copy + suffix, toPath: scratch.path + suffix)
    }

    database = try open(scratch, boot: 2)
    let begin = try database.anchor()
    for number in 11...20 { try database.commit([update(number)]) }
    // More changes followed than were lost, so that sequence numbers alone don't reveal the loss.
    for anchor in [lost, last] {
      guard case .reset(let home) = try database.samples(after: anchor) else {
        Issue.record("no reset for \(anchor)")
        continue
      }
      #expect(home.anchor == (try database.anchor()))
      #expect(try database.hasSamples(after: anchor, SampleFilter(.event)))
    }
    // Other anchors remain valid.
    #expect(try times(database, after: nil) == Array(1...5) + Array(11...20))
    #expect(try times(database, after: early) == [4, 5] + Array(11...20))
    #expect(try times(database, after: durable) == Array(11...20))
    #expect(try times(database, after: begin) == Array(11...20))
    #expect(try times(database, after: database.anchor()) == [])
  }

  @Test func rebootsWithoutChangesKeepAnchors() throws {
    let scratch = try TestDatabase()
    var anchors: [Anchor] = []
    for boot in 1...4 {
      let database = try open(scratch, boot: Int64(boot))
      anchors.append(try database.anchor())
      try database.close()
    }
    #expect(Set(anchors).count == 4 && anchors[0].sequence == 0)
    let database = try open(scratch, boot: 5)
    try database.commit([update(1)])
    for anchor in anchors { #expect(try times(database, after: anchor) == [1]) }
  }

  @Test func compactionCountsExistingChanges() throws {
    let scratch = try TestDatabase()
    var database = try open(scratch, boot: 1)
    for boot in 1...3 {
      try database.close()
      database = try open(scratch, boot: Int64(boot))
      for number in 1...10 { try database.commit([update(boot * 10 + number)]) }
    }
    func gaps() throws -> Int { try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM gap") ?? -1 } }
    #expect(try times(database, after: nil)?.count == 30 && gaps() == 2)
    #expect(try database.compact(keeping: 30) == 0)
    #expect(try database.compact(keeping: 25) == 5)
    #expect(try times(database, after: nil) == nil && gaps() == 2)
    // Compaction up to the first change of a boot: an anchor at the end of the boot before stays valid.
    let between = try #require(try database.read { try Int64.fetchOne($0, sql: "SELECT max(last) FROM gap") })
    let anchor = Anchor(log: database.logID, sequence: between)
    #expect(try database.compact(keeping: 10) == 15)
    #expect(try times(database, after: anchor) == Array(31...40))
    #expect(try database.compact(keeping: 4) == 6)
    #expect(try times(database, after: anchor) == nil && gaps() == 0)
    #expect(try database.compact(keeping: 0) == 4)
    #expect(try times(database, after: database.anchor()) == [])
  }

  @Test func bootIDIsStable() throws {
    let scratch = try TestDatabase()
    try scratch.open().close()
    let text = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
    let digits = text.filter(\.isHexDigit).prefix(16)
    #expect(UInt64(bitPattern: LogGaps.boot) == UInt64(digits, radix: 16))
    #expect(try scratch.open().anchor().sequence == 0)
  }
}
