import Foundation
import GRDB
import MatterModel
import Testing

@testable import Home

/// A loss of power may take the last changes back, and nobody misses anything without a sign.
@Suite("Gaps of the log") struct LogGapTests {
  private func update(_ number: Int) -> HomeUpdate {
    HomeUpdate([.attribute(5, .init(1, 6, 0), value: [0x05, UInt8(number)])], at: Int64(number))
  }

  private func open(_ place: TestDatabase, boot: Int64) throws -> HomeDatabase {
    try HomeDatabase.open(place.path, boot: boot)
  }

  private func times(_ database: HomeDatabase, after anchor: Anchor?) throws -> [Int64]? {
    if case .samples(let samples, _, _) = try database.samples(after: anchor) { samples.map(\.time) } else { nil }
  }

  @Test func anAnchorOfWhatIsLostGetsAReset() throws {
    let place = try TestDatabase()
    var database = try open(place, boot: 1)
    for number in 1...5 { try database.commit([update(number)]) }
    let durable = try database.anchor()
    try database.close()
    let copy = place.path + ".copy"
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: place.path + suffix) {
      try FileManager.default.copyItem(atPath: place.path + suffix, toPath: copy + suffix)
    }
    database = try open(place, boot: 1)
    #expect(try database.anchor() == durable, "the machine was not started in between")
    for number in 6...9 { try database.commit([update(number)]) }
    let early = try database.samples(after: nil, limit: 3).next
    let lost = try database.samples(after: durable, limit: 2).next
    let last = try database.anchor()
    try database.close()
    // The power fails: the last four never came to the disk.
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: place.path + suffix) }
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: copy + suffix) {
      try FileManager.default.moveItem(atPath: copy + suffix, toPath: place.path + suffix)
    }

    database = try open(place, boot: 2)
    let begin = try database.anchor()
    for number in 11...20 { try database.commit([update(number)]) }
    // As many happened since as were lost: the numbers alone would not tell.
    for anchor in [lost, last] {
      guard case .reset(let home) = try database.samples(after: anchor) else {
        Issue.record("a silent gap behind \(anchor)")
        continue
      }
      #expect(home.anchor == (try database.anchor()))
      #expect(try database.updates(after: anchor).mustReload)
      #expect(try database.hasSamples(after: anchor, SampleFilter(.event)))
    }
    // Nobody else loses anything.
    #expect(try times(database, after: nil) == Array(1...5) + Array(11...20))
    #expect(try times(database, after: early) == [4, 5] + Array(11...20))
    #expect(try times(database, after: durable) == Array(11...20))
    #expect(try times(database, after: begin) == Array(11...20))
    #expect(try times(database, after: database.anchor()) == [])
  }

  @Test func startsInWhichNothingHappensLoseNothing() throws {
    let place = try TestDatabase()
    var anchors: [Anchor] = []
    for boot in 1...4 {
      let database = try open(place, boot: Int64(boot))
      anchors.append(try database.anchor())
      try database.close()
    }
    #expect(Set(anchors).count == 4 && anchors[0].sequence == 0)
    let database = try open(place, boot: 5)
    try database.commit([update(1)])
    for anchor in anchors { #expect(try times(database, after: anchor) == [1]) }
  }

  @Test func shorteningCountsWhatIsThere() throws {
    let place = try TestDatabase()
    var database = try open(place, boot: 1)
    for boot in 1...3 {
      try database.close()
      database = try open(place, boot: Int64(boot))
      for number in 1...10 { try database.commit([update(boot * 10 + number)]) }
    }
    func gaps() throws -> Int { try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM gap") ?? -1 } }
    #expect(try times(database, after: nil)?.count == 30 && gaps() == 2)
    #expect(try database.compact(keeping: 30) == 0)
    #expect(try database.compact(keeping: 25) == 5)
    #expect(try times(database, after: nil) == nil && gaps() == 2)
    // To the very beginning of a run: who read all of the one before goes on.
    let between = try #require(try database.read { try Int64.fetchOne($0, sql: "SELECT max(last) FROM gap") })
    let anchor = Anchor(log: database.logID, sequence: between)
    #expect(try database.compact(keeping: 10) == 15)
    #expect(try times(database, after: anchor) == Array(31...40))
    #expect(try database.compact(keeping: 4) == 6)
    #expect(try times(database, after: anchor) == nil && gaps() == 0)
    #expect(try database.compact(keeping: 0) == 4)
    #expect(try times(database, after: database.anchor()) == [])
  }

  @Test func thisRunOfTheMachineIsAlwaysTheSame() throws {
    let place = try TestDatabase()
    try place.open().close()
    let text = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
    let digits = text.filter(\.isHexDigit).prefix(16)
    #expect(UInt64(bitPattern: LogGaps.boot) == UInt64(digits, radix: 16))
    #expect(try place.open().anchor().sequence == 0)
  }
}
