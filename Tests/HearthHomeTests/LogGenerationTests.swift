import Foundation
import GRDB
import HearthHome
import HomeModel
import HomeStore
import MatterModel
import Testing

/// A power failure may lose the last changes; readers that had seen them get a reset.
@Suite("Log generations") struct LogGenerationTests {
  private func update(_ number: Int) -> HomeUpdate {
    HomeUpdate([.attribute(5, .init(1, 6, 0), value: [0x05, UInt8(number)])], at: Int64(number))
  }

  private func times(_ database: HomeDatabase, after anchor: Anchor?) throws -> [Int64]? {
    if case .samples(let samples, _, _) = try database.samples(after: anchor) { samples.map(\.time) } else { nil }
  }

  @Test func resetsAnchorsOfLostChanges() throws {
    let scratch = try TestDatabase()
    var database = try scratch.open()
    for number in 1...5 { try database.commit([update(number)]) }
    let durable = try database.anchor()
    try database.close()
    let copy = scratch.path + ".copy"
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: scratch.path + suffix) {
      try FileManager.default.copyItem(atPath: scratch.path + suffix, toPath: copy + suffix)
    }
    database = try scratch.open()
    #expect(try database.anchor() == durable, "an opening alone changes no anchor")
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

    database = try scratch.open()
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

  @Test func openingsWithoutChangesKeepAnchors() throws {
    let scratch = try TestDatabase()
    for _ in 1...4 {
      let database = try scratch.open()
      #expect(try database.anchor() == Anchor(log: database.logID, sequence: 0))
      try database.close()
    }
    let database = try scratch.open()
    let begin = try database.anchor()
    try database.commit([update(1)])
    #expect(try times(database, after: begin) == [1] && generations(database) == 1)
  }

  private func generations(_ database: HomeDatabase) throws -> Int? {
    try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM opening") }
  }

  @Test func compactionKeepsGenerationsInUse() throws {
    let scratch = try TestDatabase()
    var ends: [Anchor] = []
    for opening in 1...3 {
      let database = try scratch.open()
      for number in 1...10 { try database.commit([update(opening * 10 + number)]) }
      ends.append(try database.anchor())
      try database.close()
    }
    #expect(Set(ends.map(\.generation)).count == 3)
    let database = try scratch.open()
    #expect(try times(database, after: nil)?.count == 30 && generations(database) == 3)
    #expect(try database.compact(keeping: 30) == 0)
    #expect(try database.compact(keeping: 25) == 5)
    #expect(try times(database, after: nil) == nil && generations(database) == 3)
    // Compaction up to the first change of an opening: an anchor at the end of the previous one stays valid.
    #expect(try database.compact(keeping: 10) == 15)
    #expect(try times(database, after: ends[1]) == Array(31...40) && generations(database) == 2)
    #expect(try database.compact(keeping: 4) == 6)
    #expect(try times(database, after: ends[1]) == nil && generations(database) == 1)
    #expect(try database.compact(keeping: 0) == 4)
    #expect(try times(database, after: ends[2]) == [] && database.anchor() == ends[2])
  }
}
