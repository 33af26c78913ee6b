import HearthHome
import HomeModel
import MatterCrypto
import MatterModel
import Testing

@Suite("Difference of homes") struct DifferenceTests {
  @Test(arguments: 1...20) func differenceTransformsOneHomeIntoTheOther(_ seed: Int) {
    var random = SeededRandomSource(seed: UInt64(seed))
    var generator = ChangeGenerator()
    var (one, other) = (HomeState(), HomeState())
    for _ in 0..<40 {
      for change in generator.next(&random) { one.apply(change) }
      for change in generator.next(&random) { other.apply(change) }
      // Also from a common state.
      if Int.random(in: 0..<5, using: &random) == 0 { other = one }
      var transformed = one
      for change in one.changes(to: other) { transformed.apply(change) }
      #expect(transformed.devices == other.devices)
      #expect(transformed.values == other.values)
      #expect(Set(transformed.structures) == Set(other.structures))
      #expect(Set(transformed.rooms) == Set(other.rooms))
      #expect(transformed.primaryStructureID == other.primaryStructureID)
      #expect(other.changes(to: other).isEmpty)
    }
  }
}
