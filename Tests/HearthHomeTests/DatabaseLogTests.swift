import Foundation
import GRDB
import HearthHome
import HomeAutomation
import HomeModel
import HomeStore
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@Suite("Change log") struct DatabaseLogTests {
  private static func value(_ number: Int, node: NodeID = 5, attribute: AttributeID = 0) -> HomeChange {
    .attribute(node, .init(1, 6, attribute), value: [0x05, UInt8(truncatingIfNeeded: number), UInt8(number >> 8)])
  }

  private static func samples(_ result: AnchoredResult) -> [HomeSample]? {
    if case .samples(let samples, _, _) = result { samples } else { nil }
  }

  @Test func parsesAnchorsAndRejectsThoseOfOtherLogs() throws {
    let anchor = Anchor(log: 0x1F03_A9C2, sequence: 4711)
    #expect(anchor.description == "h1f03a9c2-4711")
    #expect(Anchor("h1f03a9c2-4711") == anchor)
    let later = Anchor(log: 0x1F03_A9C2, sequence: 4711, generation: 0x5D20)
    #expect(later.description == "h1f03a9c2-4711-5d20" && Anchor("h1f03a9c2-4711-5d20") == later)
    for text in [
      "", "h-1", "1f-1", "hx-1", "h1--1", "h1-1-x", "h1-1--1", "h1-1-1-1", "h1ffffffff-1", "h1-99999999999999999999",
    ] {
      #expect(Anchor(text) == nil, "\(text)")
    }
    #expect(try JSONDecoder().decode(Anchor.self, from: JSONEncoder().encode(anchor)) == anchor)

    let (one, other) = (try TestDatabase(), try TestDatabase())
    let (database, otherDatabase) = (try one.open(), try other.open())
    let foreign = try otherDatabase.anchor()
    #expect(failure { () throws(HomeError) in _ = try database.samples(after: foreign) }?.code == .badArguments)
  }

  /// A log restored from a copy assigns its sequence numbers again, so anchors issued after the copy are invalid.
  @Test func rejectsAnchorsAfterRestoreFromCopy() throws {
    let scratch = try TestDatabase()
    var database = try scratch.open()
    try database.commit([HomeUpdate(HomeSamples.lamp(5), at: 0)])
    let before = try database.anchor()
    let copy = scratch.path + ".copy"
    let file = try DatabaseQueue(path: scratch.path)
    try file.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [copy]) }
    try file.close()
    let anchors = try (1...5).map { number in
      try database.commit([HomeUpdate([Self.value(number)], at: 1)])
      return try database.anchor()
    }
    #expect(try database.samples(after: anchors[1]).added.count == 3)
    try database.close()
    for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: scratch.path + ending) }
    try FileManager.default.moveItem(atPath: copy, toPath: scratch.path)
    // More changes than the copy lacks.
    database = try scratch.open()
    try database.commit((11...19).map { HomeUpdate([Self.value($0)], at: 2) })
    for anchor in anchors + [Anchor(log: before.log, sequence: anchors[4].sequence)] {
      guard case .reset = try database.samples(after: anchor) else {
        Issue.record("\(anchor) is accepted for another change")
        continue
      }
      #expect(try database.hasSamples(after: anchor, SampleFilter(.event)))
    }
    // Anchors from before the copy remain valid.
    #expect(try database.samples(after: before).added.count == 9)
  }

  @Test func pagesThroughLogInOrder() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    for batch in 0..<20 {
      try database.commit((0..<3).map { HomeUpdate([Self.value(batch * 3 + $0)], at: Int64(batch)) })
    }
    for limit in [1, 7, 60, 1000] {
      var anchor: Anchor?
      var all: [HomeSample] = []
      while true {
        guard case .samples(let samples, let next, let isComplete) = try database.samples(after: anchor, limit: limit)
        else { throw HomeError(.internalError, "reset") }
        #expect(samples.count <= limit)
        all += samples
        anchor = next
        if isComplete { break }
      }
      #expect(all.map(\.change) == (0..<60).map { Self.value($0) })
      #expect(anchor == (try database.anchor()))
      #expect(try Self.samples(database.samples(after: anchor)) == [])
    }
  }

  @Test func resetsAnchorsBeforeCompactedRange() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    try database.commit([HomeUpdate(HomeSamples.lamp(5), at: 0)])
    let early = try database.anchor()
    var state = try database.load().state
    for number in 0..<50 {
      let update = HomeUpdate([Self.value(number), Self.value(number, attribute: 1)], at: Int64(number))
      for change in update.changes { state.apply(change) }
      try database.commit([update])
    }
    let middle = try database.samples(after: early, limit: 62).next
    // The limit is inside of an update, which is removed or kept as a whole.
    #expect(try database.compact(keeping: 41) == 5 + 58)
    guard case .reset(let home) = try database.samples(after: early) else {
      Issue.record("no reset")
      return
    }
    #expect(home.state == state)
    #expect(home.anchor == (try database.anchor()))
    guard case .reset = try database.samples(after: nil) else {
      Issue.record("no reset for the beginning of the log")
      return
    }
    #expect(try Self.samples(database.samples(after: middle))?.count == 100 - 62)
    #expect(try Self.samples(database.samples(after: home.anchor)) == [])
    // By age, then all; sequence numbers are not reused.
    #expect(try database.compact(keeping: 1000, since: 45) == 42 - 10)
    #expect(try database.compact(keeping: 0) == 10)
    try database.commit([HomeUpdate([Self.value(1)], at: 99)])
    let next = try database.anchor()
    #expect(next.sequence == home.anchor.sequence + 1)
    #expect(try Self.samples(database.samples(after: home.anchor))?.count == 1)
    #expect(
      try database.load().state.values
        == {
          var expected = state
          expected.apply(Self.value(1))
          return expected.values
        }())
    // An anchor beyond the end, of changes lost in a power failure.
    guard
      case .reset = try database.samples(
        after: Anchor(log: next.log, sequence: next.sequence + 1, generation: next.generation))
    else {
      Issue.record("no reset for an anchor beyond the end")
      return
    }
  }

  @Test func queryResetsOnceAfterCompaction() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    try database.commit([HomeUpdate(HomeSamples.lamp(5), at: 0)])
    var query = AnchoredQuery(.attribute, SampleFilter(devices: ["5"]), after: try database.anchor())
    for number in 0..<20 { try database.commit([HomeUpdate([Self.value(number)], at: Int64(number))]) }
    try database.compact(keeping: 3)
    guard case .reset(let home) = try database.samples(after: query.anchor, query.filter) else {
      Issue.record("no reset")
      return
    }
    // The snapshot includes the changes of the removed samples and of the remaining ones.
    #expect(home.state == (try database.load().state))
    #expect(home.state.value(5, .init(1, 6, 0)) == [0x05, 19, 0])
    query.anchor = home.anchor
    #expect(try Self.samples(database.samples(after: query.anchor, query.filter)) == [])
    try database.commit([HomeUpdate([Self.value(20), .structureRenamed(id: "home", name: "x")], at: 20)])
    #expect(try database.samples(after: query.anchor, query.filter).added.map(\.change) == [Self.value(20)])
  }

  @Test func equalityIgnoresDerivedFields() {
    let update = HomeUpdate([Self.value(1)], at: 1, origin: "phone")
    var other = update
    other.settled = ["5"]
    other.isLogged = true
    #expect(other == update)
    other.origin = nil
    #expect(other != update)
  }

  @Test(arguments: 0..<10) func sqlFilterMatchesValueFilter(_ seed: UInt64) throws {
    var random = SeededRandomSource(seed: 900 + seed)
    let scratch = try TestDatabase()
    let database = try scratch.open()
    var generator = ChangeGenerator()
    for round in 0..<40 { try database.commit([HomeUpdate(generator.next(&random), at: Int64(round))]) }
    let all = try #require(try Self.samples(database.samples(after: nil)))
    var found = 0
    for _ in 0..<40 {
      func some<Value: Hashable>(_ values: [Value]) -> Set<Value>? {
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1, 2: nil
        default: Set(values.filter { _ in Bool.random(using: &random) })
        }
      }
      let filter = SampleFilter(
        SampleType.allCases[Int.random(in: 0..<5, using: &random)], devices: some((0..<6).map { "d\($0)" }),
        endpoints: some([0, 1, 2, 3]), clusters: some([6, 8, 0x3B]), attributes: some([0, 1, 0xFFFD]))
      let expected = all.filter { filter.contains($0.change, device: $0.device) }
      #expect(try Self.samples(database.samples(after: nil, filter)) == expected, "\(filter)")
      #expect(try database.hasSamples(after: Anchor(log: database.logID, sequence: 0), filter) == !expected.isEmpty)
      #expect(try JSONDecoder().decode(SampleFilter.self, from: JSONEncoder().encode(filter)) == filter)
      found += expected.count
    }
    #expect(found > 10)
  }

  @Test func samplesHaveDeviceAndDeletions() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let bridged = SourceID(7, 3)
    try database.commit([
      HomeUpdate(
        HomeSamples.lamp(7, device: "bridge") + [
          .deviceAdded(id: "7/3", name: "Behind", roomID: nil, structureID: "home"),
          .sourceAdded(bridged, device: "7/3"),
          .topology(bridged, [DeviceEndpoint(id: 3), DeviceEndpoint(id: 4)], DeviceIdentity()),
        ], at: 1),
      HomeUpdate(
        [
          .attribute(7, .init(1, 6, 0), value: [9]), .attribute(7, .init(4, 6, 0), value: [9]),
          .attribute(7, .init(4, 6, 0), value: nil), .sourceRemoved(bridged), .deviceRemoved(id: "7/3"),
        ], at: 2, origin: "phone"),
    ])
    let result = try database.samples(after: nil)
    let samples = try #require(Self.samples(result)).suffix(5)
    #expect(samples.map(\.device) == ["bridge", "7/3", "7/3", "7/3", "7/3"])
    #expect(samples.map(\.isDeletion) == [false, false, true, true, true])
    #expect(Set(samples.map(\.origin)) == ["phone"] && Set(samples.map(\.update)).count == 1)
    #expect(result.deleted.count == 3 && result.added.count == 10)
    // The name of a removed device is stored only here.
    #expect(samples.map(\.name) == [nil, nil, nil, nil, "Behind"])
    // The sample of a removal has no name if the device is unknown.
    try database.commit([HomeUpdate([.deviceRemoved(id: "9")], at: 3)])
    let nameless = try #require(try database.samples(after: result.next).deleted.first)
    #expect(nameless.name == nil && nameless.change == .deviceRemoved(id: "9"))
  }
}
