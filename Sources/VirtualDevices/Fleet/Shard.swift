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

extension HomeDefinition {
  /// Returns the home with only the devices in a part of it.
  /// - Throws: ``DefinitionError`` if one process can't run as many.
  public func part(_ shard: Shard) throws(DefinitionError) -> HomeDefinition {
    var part = self
    part.devices = positions(in: shard).map { devices[$0] }
    let count = part.devices.reduce(0) { $0 + 1 + $1.bridged.count }
    guard count > Self.deviceLimit, let first = part.devices.first else { return part }
    throw DefinitionError(
      at: first.mark, found: "\(count) devices in the part \(shard.number)/\(shard.count)",
      expected: "at most \(Self.deviceLimit) for one process, including bridged devices")
  }

  /// Returns the positions of the devices in a part of the home, in ascending order. Devices that share the air of a room
  /// or follow each other's attributes are in one part, since only the devices of a process share these; the parts are
  /// otherwise of equal size.
  public func positions(in shard: Shard) -> [Int] {
    guard shard.count > 1 else { return Array(devices.indices) }
    // Large groups first. Without groups, the parts are those of a list.
    let groups = connected.sorted { ($1.count, $0.first ?? 0) < ($0.count, $1.first ?? 0) }
    var loads = [Int](repeating: 0, count: min(shard.count, groups.count))
    var own: [Int] = []
    for group in groups {
      guard let least = loads.indices.min(by: { loads[$0] < loads[$1] }) else { break }
      loads[least] += group.count
      if least == shard.number - 1 { own += group }
    }
    return own.sorted()
  }

  /// The positions of devices that belong together, by the first one.
  private var connected: [[Int]] {
    var parents = Array(devices.indices)
    func first(of position: Int) -> Int {
      var position = position
      while parents[position] != position {
        parents[position] = parents[parents[position]]
        position = parents[position]
      }
      return position
    }
    func join(_ one: Int, _ other: Int) {
      let (one, other) = (first(of: one), first(of: other))
      parents[max(one, other)] = min(one, other)
    }
    let index = DeviceIndex(devices)
    let conditioned = Set(index.entries.filter(\.device.kind.conditionsRoom).map { $0.device.air.lowercased() })
    var rooms: [String: Int] = [:]
    for entry in index.entries {
      for room in entry.device.sharedAirs where conditioned.contains(room) {
        join(rooms[room] ?? entry.position, entry.position)
        rooms[room] = entry.position
      }
      for operand in entry.device.expressions.flatMap({ $0.expression.operands }) {
        if let other = index.find(operand.device) { join(other.position, entry.position) }
      }
    }
    let groups = Dictionary(grouping: devices.indices, by: first)
    return devices.indices.compactMap { groups[$0] }
  }
}

extension DeviceDefinition {
  /// The names of the air that the device heats, cools or measures, in lower case.
  fileprivate var sharedAirs: [String] {
    let own = kind.conditionsRoom || kind == .fan ? [air] : []
    let followed = behaviors.compactMap { if case .room(let name, _) = $0.course { name } else { nil } }
    return (own + followed).map { $0.lowercased() }
  }
}
