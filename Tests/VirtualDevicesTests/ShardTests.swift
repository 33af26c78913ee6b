import Testing

@testable import VirtualDevices

/// The split of definitions and ranges of seeds.
@Suite("Shards") struct ShardTests {
  @Test("shards contain each entry once") func partitions() throws {
    let shards = try (1...3).map { try #require(Shard("\($0)/3")) }
    for position in 0..<10 { #expect(shards.count { $0.contains(position) } == 1) }
    #expect((0..<10).filter(shards[1].contains) == [1, 4, 7])
    #expect((0..<10).allSatisfy(Shard.whole.contains))
    #expect(Shard("1/1") == .whole)
  }

  @Test(
    "reject other texts", arguments: ["", "1", "0/3", "4/3", "1/0", "-1/3", "1/3/5", "a/3", "1/", "/3", "1/9999999"])
  func rejects(_ text: String) { #expect(Shard(text) == nil) }
}
