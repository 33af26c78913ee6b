import MatterCrypto
import Testing

@testable import MatterProtocol

@Suite struct DeadlinesTests {
  private static func time(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }

  @Test func returnsDueSubjectsInOrder() {
    var deadlines = Deadlines<Int>()
    #expect(deadlines.first == nil && deadlines.due(at: Self.time(9)).isEmpty)
    for (subject, seconds) in [(3, 1), (1, 2), (2, 2), (4, 5)] { deadlines[subject] = Self.time(seconds) }
    #expect(deadlines.first == Self.time(1) && deadlines.due(at: .zero).isEmpty)
    #expect(deadlines.due(at: Self.time(2)) == [1, 2, 3], "sorted by subject, at the exact time")
    #expect(deadlines.due(at: Self.time(2)) == [1, 2, 3], "until they are changed")
    deadlines[3] = nil
    deadlines[1] = Self.time(7)
    #expect(deadlines.first == Self.time(2) && deadlines.due(at: Self.time(6)) == [2, 4])
    deadlines[1] = Self.time(2)
    #expect(deadlines.due(at: Self.time(9)) == [1, 2, 4], "also after a change back")
  }

  @Test("agrees with a search of all deadlines, and keeps few stale entries", arguments: 1...8 as ClosedRange<UInt64>)
  func agreesWithSearch(seed: UInt64) {
    var random = SeededRandomSource(seed: seed)
    var deadlines = Deadlines<Int>()
    var times: [Int: Instant] = [:]
    for step in 0..<2_000 {
      let subject = Int.random(in: 0..<40, using: &random)
      let time = Int.random(in: 0..<4, using: &random) == 0 ? nil : Self.time(Int.random(in: 0..<20, using: &random))
      deadlines[subject] = time
      times[subject] = time
      #expect(deadlines[subject] == time && deadlines.first == times.values.min())
      guard step % 16 == 0 else { continue }
      let now = Self.time(Int.random(in: 0..<20, using: &random))
      #expect(deadlines.due(at: now) == times.filter { $0.value <= now }.keys.sorted())
      #expect(deadlines.entries.count <= 2 * times.count + 32)
    }
  }
}

@Suite struct SortedGroupsTests {
  @Test func movesMembersBetweenKeys() {
    var groups = SortedGroups<String, Int>()
    for member in [5, 1, 3, 1] { groups.move(member, from: nil, to: "a") }
    #expect(groups["a"] == [1, 3, 5] && !groups.contains("b"))
    groups.move(3, from: "a", to: "b")
    groups.move(2, from: "b", to: "b")
    #expect(groups["a"] == [1, 5] && groups["b"] == [3])
    groups.move(4, from: "a", to: nil)
    groups.move(3, from: "b", to: nil)
    #expect(groups["a"] == [1, 5] && !groups.contains("b"), "a key without members is removed")
  }
}
