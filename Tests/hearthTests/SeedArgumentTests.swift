import ArgumentParser
import Testing
import VirtualDevices

@testable import hearth

@Suite("Seed arguments") struct SeedArgumentTests {
  @Test("parses shards") func shards() throws {
    #expect(try SeedArguments.shard("2/3").number == 2)
    for text in ["0/3", "4/3", "3", "a/b"] {
      #expect(throws: ValidationError.self) { try SeedArguments.shard(text) }
    }
  }

  @Test(
    arguments: [
      ("0", 0), ("7", 7), ("007", 7), ("18446744073709551615", .max),
    ] as [(String, UInt64)]) func parsesSeed(_ text: String, _ seed: UInt64) throws
  {
    #expect(try SeedArguments.seed(text) == seed)
  }

  @Test(arguments: [
    "", " ", "-1", "+1", "0x", "0x10", "1e3", "1.5", "1_000", "18446744073709551616", "seven", "٣", "1 ", "1..2",
  ]) func rejectsInvalidSeed(_ text: String) {
    let error = #expect(throws: ValidationError.self) { try SeedArguments.seed(text) }
    #expect(error?.message == "expected a whole number from 0 to 18446744073709551615")
  }

  @Test(
    arguments: [
      ("1..1", 1...1), ("3..40", 3...40), ("0..18446744073709551615", 0 ... .max),
    ] as [(String, ClosedRange<UInt64>)]) func parsesSeedRange(_ text: String, _ range: ClosedRange<UInt64>) throws
  {
    #expect(try SeedArguments.seeds(text) == range)
  }

  @Test(arguments: [
    "", "..", "5", "1..", "..5", "a..b", "1..b", "1...3", "1..2..3", "1..2..", "..1..2", "1..2..x", "-1..2", "0x1..0x2",
    "1..18446744073709551616", "1 .. 2", "1-2", "1,2", "5..3",
  ]) func rejectsInvalidSeedRange(_ text: String) {
    let error = #expect(throws: ValidationError.self) { try SeedArguments.seeds(text) }
    let expected =
      text == "5..3"
      ? "expected the smaller number first: 3..5"
      : "expected two whole numbers from 0 to 18446744073709551615, such as 1..100"
    #expect(error?.message == expected)
  }
}
