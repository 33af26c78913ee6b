/// One of several equal parts of a list of work, the same part wherever it runs: `2/3` is the second, fifth, eighth …
/// entry.
public struct Shard: Hashable, Sendable {
  /// The number of the part, from 1.
  public let number: Int
  /// The number of parts.
  public let count: Int

  /// The only part: all entries.
  public static let whole = Shard(number: 1, count: 1)

  private init(number: Int, count: Int) { (self.number, self.count) = (number, count) }

  /// Parses `2/3`; returns nil for other texts, and for a number that is not from 1 to the number of parts.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) }),
      let number = Int(parts[0]), let count = Int(parts[1]), (1...1_000_000).contains(count),
      (1...count).contains(number)
    else { return nil }
    self.init(number: number, count: count)
  }

  /// Returns whether the part has the entry at a position of the list, from 0.
  public func contains(_ position: Int) -> Bool { position % count == number - 1 }
}
