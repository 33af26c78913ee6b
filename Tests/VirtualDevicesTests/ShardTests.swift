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

  private func parts(_ devices: String, _ count: Int) throws -> [[Int]] {
    let home = try HomeDefinition.load(simulating: [("home.yaml", "devices:\n" + devices)])
    return try (1...count).map { home.positions(in: try #require(Shard("\($0)/\(count)"))) }
  }

  @Test("devices that share nothing are split like a list, also those of one room") func splitsOtherDevices() throws {
    #expect(
      try parts("  - { name: Lamp, room: Hall, type: on/off light, count: 7 }\n", 3) == [[0, 3, 6], [1, 4], [2, 5]])
    #expect(try parts("  - { name: Fan, room: Hall, type: fan, count: 2 }\n", 3) == [[0], [1], []])
    let lamps = "devices:\n  - { name: Lamp, room: Hall, type: on/off light, count: 10000 }\n"
    let large = try HomeDefinition.load(files: [("home.yaml", lamps)])
    #expect(large.positions(in: try #require(Shard("2/4"))) == Array(stride(from: 1, to: 10_000, by: 4)))
  }

  @Test("the limit of devices is that of one process") func limitsEachPart() throws {
    let lamps = (1...2).map { "  - { name: Lamp \($0), type: on/off light, count: 10000 }\n" }.joined()
    let half = try #require(Shard("1/2"))
    func load(_ devices: String, _ shard: Shard) throws -> HomeDefinition {
      try HomeDefinition.load(files: [("home.yaml", "devices:\n" + devices)], for: shard)
    }
    func problem(_ body: () throws -> Void) -> String {
      do { try body() } catch { return "\(error)" }
      return "none"
    }
    let home = try load(lamps, half)
    #expect(try home.part(half).devices.count == 10_000)
    #expect(
      problem { _ = try home.part(.whole) }.contains("found 20000 devices in the part 1/1, expected at most 16384"))
    #expect(problem { _ = try load(lamps, .whole) }.contains("found 20000 devices in all, expected at most 16384"))
    #expect(problem { _ = try load(lamps + lamps, half) }.contains("expected at most 32768"))
  }

  private let connected = """
      - { name: Lamp, room: Hall, type: on/off light, count: 3 }
      - { name: Thermostat, room: Hall, type: thermostat }
      - { name: Sensor, type: temperature sensor, behave: { temperatureMeasurement.measuredValue: { room: hall } } }
      - { name: Fan, room: Hall, type: fan }
      - { name: Fan, room: Attic, type: fan }
      - name: Bridge
        type: bridge
        devices: [{ name: Heater, type: plug }]
      - { name: Follower, type: plug, behave: { onOff.onOff: { expression: heater.onOff.onOff } } }
      - { name: Spot, type: on/off light, count: 3 }

    """

  @Test("devices that share air or an expression stay together, and the parts are balanced") func keepsGroups() throws {
    let parts = try parts(connected, 2)
    #expect(parts.map(\.count) == [6, 6])
    #expect(Set(parts.flatMap(\.self)) == Set(0..<12))
    let (air, expression) = (Set([3, 4, 5]), Set([7, 8]))
    for group in [air, expression] { #expect(parts.contains { group.isSubset(of: $0) }) }
    #expect(try self.parts(connected, 2) == parts)
    #expect(try self.parts(connected, 1) == [Array(0..<12)])
    // More parts than groups.
    #expect(try self.parts(connected, 20).count { !$0.isEmpty } == 9)
  }
}
