import ArgumentParser
import MatterModel
import Scenario
import VirtualDevices

/// Parsers of the options for seeds, shards, variants and defects, whose errors name the expected values.
enum SeedArguments {
  /// Parses a seed: `7`.
  static func seed(_ text: String) throws -> UInt64 {
    guard let seed = number(text) else { throw ValidationError("expected a whole number from 0 to \(UInt64.max)") }
    return seed
  }

  /// Parses a range of seeds: `1..100`.
  static func seeds(_ text: String) throws -> ClosedRange<UInt64> {
    let ends = text.split(separator: "..", omittingEmptySubsequences: false).map { number(String($0)) }
    guard ends.count == 2, let first = ends[0], let last = ends[1] else {
      throw ValidationError("expected two whole numbers from 0 to \(UInt64.max), such as 1..100")
    }
    guard first <= last else { throw ValidationError("expected the smaller number first: \(last)..\(first)") }
    return first...last
  }

  /// Parses one of several parts: `1/4`.
  static func shard(_ text: String) throws -> Shard {
    guard let shard = Shard(text) else { throw ValidationError("expected a part and the number of parts, such as 1/4") }
    return shard
  }

  /// Parses the number of a variant: `12`.
  static func variant(_ text: String) throws -> Int {
    guard let variant = Int(text) else { throw ValidationError("expected a whole number, one of the file's “vary”") }
    return variant
  }

  /// Parses the name of a defect: `sendsOnce`.
  static func defect(_ text: String) throws -> SeededDefect {
    guard let defect = SeededDefect(rawValue: text) else {
      let names = SeededDefect.allCases.map(\.rawValue)
      let near = NearestName.suggestions(for: text, in: names).map { "“\($0)”" }.joined(separator: " or ")
      throw ValidationError(
        "expected one of \(names.joined(separator: ", "))" + (near.isEmpty ? "" : "; did you mean \(near)?"))
    }
    return defect
  }

  /// Parses ASCII digits only: no sign, no other base.
  private static func number(_ text: String) -> UInt64? {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? UInt64(text) : nil
  }
}
