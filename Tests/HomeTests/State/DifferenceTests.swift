import MatterCrypto
import MatterModel
import Testing

@testable import Home

@Suite("The difference of two homes") struct DifferenceTests {
  @Test(arguments: 1...20) func makesOneOfTheOther(_ seed: Int) {
    var random = SeededRandomSource(seed: UInt64(seed))
    var generator = ChangeGenerator()
    var (one, other) = (HomeState(), HomeState())
    for _ in 0..<40 {
      for change in generator.next(&random) { one.apply(change) }
      for change in generator.next(&random) { other.apply(change) }
      // From common ground, too.
      if Int.random(in: 0..<5, using: &random) == 0 { other = one }
      var made = one
      for change in one.changes(to: other) { made.apply(change) }
      #expect(made.devices == other.devices)
      #expect(made.values == other.values)
      #expect(Set(made.structures) == Set(other.structures))
      #expect(Set(made.rooms) == Set(other.rooms))
      #expect(made.primaryStructureID == other.primaryStructureID)
      #expect(other.changes(to: other).isEmpty)
    }
  }

  @Test func aChangeIsReadAsItWasWritten() throws {
    var random = SeededRandomSource(seed: 5)
    var generator = ChangeGenerator()
    for _ in 0..<200 {
      for change in generator.next(&random) {
        var writer = BlobWriter()
        change.write(to: &writer)
        var reader = BlobReader(writer.bytes)
        #expect(try HomeChange(from: &reader) == change)
        #expect(reader.isAtEnd)
      }
    }
  }
}
