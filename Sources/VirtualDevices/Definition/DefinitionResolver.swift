internal import MatterModel

/// Turns drafts into devices: expands `count`, reports conflicts, and derives missing values.
struct DefinitionResolver {
  private(set) var problems: [DefinitionProblem] = []

  private static let discriminatorCount = 4096
  /// The maximum number of devices in all files, including bridged devices and parts.
  var deviceLimit = HomeDefinition.deviceLimit
  /// The limit of entries in a file's list of rooms.
  static let roomLimit = 4096

  /// One device of a draft; `index` is nil without `count`. A part has the index of its device.
  private struct Item {
    let draft: DeviceDraft
    var index: Int?
    var bridged: [Item] = []
    /// The seed of the bridge in front of the device, for derived values; nil if it is not bridged.
    var bridge: String?

    var name: String { index.map { "\(draft.name.value) \($0 + 1)" } ?? draft.name.value }
    var path: String { draft.definition.room.map { "\($0)/\(name)" } ?? name }
    /// The seed of all derived values. It differs for a bridged device and one of the same name without a bridge.
    var seed: String { (bridge.map { $0 + "/" } ?? "") + "\(draft.definition.room ?? "")/\(name)" }
    var discriminator: UInt16? { draft.discriminator.map { $0.value &+ UInt16(clamping: index ?? 0) } }
    var port: UInt16? { draft.port.map { $0.value &+ UInt16(clamping: index ?? 0) } }
    var serialNumber: String? {
      draft.serialNumber.map { serial in index.map { "\(serial.value)-\($0 + 1)" } ?? serial.value }
    }
  }

  mutating func resolve(_ files: [FileDraft]) -> HomeDefinition {
    var home = HomeDefinition(name: files.lazy.compactMap(\.home).first ?? "Home")
    var spelling: [String: String] = [:]
    func add(room: String) {
      guard spelling[room.lowercased()] == nil else { return }
      spelling[room.lowercased()] = room
      home.rooms.append(room)
    }
    // Before `count` is expanded: it may be a typing error, and each device takes memory.
    guard checkNumbers(files.flatMap(\.devices)) else { return home }
    var items: [Item] = []
    for file in files {
      file.rooms?.forEach(add)
      for draft in file.devices { items += Self.items(of: draft, add: add, spelling: { spelling[$0.lowercased()] }) }
    }
    checkConflicts(items + items.flatMap(\.bridged))
    home.devices = derive(items)
    return home
  }

  /// Returns the devices of a draft, with `count` expanded, and their bridged devices.
  private static func items(
    of draft: DeviceDraft, add: (String) -> Void, spelling: (String) -> String?
  ) -> [Item] {
    var draft = draft
    if let room = draft.definition.room {
      add(room)
      draft.definition.room = spelling(room)
    }
    let bridged = draft.bridged.flatMap { items(of: $0, add: add, spelling: spelling) }
    let indices: [Int?] = draft.count.map { Array(0..<$0.value) } ?? [nil]
    return indices.map { index in
      var item = Item(draft: draft, index: index)
      let seed = item.seed
      item.bridged = bridged.map { behind in
        var behind = behind
        behind.bridge = seed
        if draft.definition.kind != .bridge { behind.index = index }
        return behind
      }
      return item
    }
  }

  // MARK: Limits

  /// The maximum number of devices of a bridge, or of parts of a device: the list of endpoints must fit a report.
  static let bridgedLimit = 250

  /// Reports too many devices.
  /// - Returns: whether `count` can be expanded.
  private mutating func checkNumbers(_ drafts: [DeviceDraft]) -> Bool {
    let before = problems.count
    for draft in drafts {
      let bridged = draft.bridged.reduce(0) { $0 + $1.number }
      let isBridge = draft.definition.kind == .bridge
      if bridged > Self.bridgedLimit {
        report(
          draft.definition.mark, found: "\(bridged) \(isBridge ? "devices behind one bridge" : "parts of one device")",
          expected: "at most \(Self.bridgedLimit)")
      }
      if isBridge, draft.number > 1, !draft.bridged.isEmpty {
        report(
          draft.count?.mark ?? draft.definition.mark, found: "several bridges with the same devices behind them",
          expected: "an entry of its own for each bridge that has devices")
      }
    }
    checkTotal(drafts)
    return problems.count == before
  }

  /// Reports the draft at which the number of devices exceeds the limit.
  private mutating func checkTotal(_ drafts: [DeviceDraft]) {
    var total = 0
    var first: DeviceDraft?
    for draft in drafts {
      total += draft.total
      if total > deviceLimit, first == nil { first = draft }
    }
    guard let first else { return }
    report(
      first.count?.mark ?? first.definition.mark, found: "\(total) devices in all",
      expected: "at most \(deviceLimit), including bridged devices")
  }

  private mutating func report(_ mark: SourceMark, found: String, expected: String) {
    problems.append(DefinitionProblem(at: mark, found: found, expected: expected))
  }

  // MARK: Conflicts

  private mutating func checkConflicts(_ items: [Item]) {
    report(
      items, at: { $0.draft.name.mark }, by: { $0.path.lowercased() }, found: { "device “\($0.path)” again" })
    report(items, at: { $0.draft.port?.mark }, by: { $0.port }, found: { "port \($0.port ?? 0)" })
    report(
      items, at: { $0.draft.discriminator?.mark }, by: { $0.discriminator },
      found: { "discriminator \($0.discriminator ?? 0)" })
    report(
      items, at: { $0.draft.serialNumber?.mark }, by: { $0.serialNumber },
      found: { "serial “\($0.serialNumber ?? "")”" })
    // Unique IDs are compared only behind the same bridge, or without one: the same ID elsewhere is the same device
    // with another source.
    func reportUniqueIDs(_ items: [Item]) {
      report(
        items, at: { $0.draft.uniqueID?.mark }, by: { $0.draft.uniqueID?.value },
        found: { "unique id “\($0.draft.uniqueID?.value ?? "")”" })
    }
    reportUniqueIDs(items.filter { $0.bridge == nil })
    for bridge in items { reportUniqueIDs(bridge.bridged) }
  }

  /// Reports duplicates, once for each draft.
  private mutating func report<Key: Hashable>(
    _ items: [Item], at mark: (Item) -> SourceMark?, by key: (Item) -> Key?, found: (Item) -> String
  ) {
    var first: [Key: Item] = [:]
    var reported: Set<SourceMark> = []
    for item in items {
      guard let position = mark(item), let key = key(item) else { continue }
      guard let other = first[key], let otherPosition = mark(other) else {
        first[key] = item
        continue
      }
      guard reported.insert(position).inserted else { continue }
      problems.append(
        DefinitionProblem(
          at: position, found: found(item),
          expected: "another one: “\(other.path)” has it (\(otherPosition.file):\(otherPosition.line))"))
    }
  }

  // MARK: Derived values

  private func derive(_ items: [Item]) -> [DeviceDefinition] {
    var discriminators = Set(items.compactMap(\.discriminator))
    var serials = Set((items + items.flatMap(\.bridged)).compactMap(\.serialNumber))
    func definition(_ item: Item, isBridged: Bool) -> DeviceDefinition {
      let draft = item.draft
      var device = draft.definition
      device.name = item.name
      device.passcode = isBridged ? 0 : draft.passcode ?? Self.passcode(for: item.seed)
      device.discriminator =
        isBridged ? 0 : item.discriminator ?? Self.discriminator(for: item.seed, taken: &discriminators)
      device.port = item.port
      device.serialNumber = item.serialNumber ?? Self.serialNumber(for: item.seed, taken: &serials)
      device.uniqueID =
        draft.uniqueID?.value
        ?? StableHash.hexadecimal(StableHash.value(of: item.seed, for: "unique id 1"), digits: 16)
        + StableHash.hexadecimal(StableHash.value(of: item.seed, for: "unique id 2"), digits: 16)
      device.bridged = item.bridged.map { definition($0, isBridged: true) }
      return device
    }
    return items.map { definition($0, isBridged: false) }
  }

  private static func passcode(for seed: String) -> UInt32 {
    passcode(from: StableHash.value(of: seed, for: "passcode"))
  }

  /// Returns the first valid passcode from the hash on, except that of the Matter SDK's examples.
  static func passcode(from hash: UInt64) -> UInt32 {
    let count = UInt64(SetupPasscode.range.count)
    var offset = hash % count
    while true {
      let passcode = SetupPasscode.range.lowerBound + UInt32(truncatingIfNeeded: offset)
      if SetupPasscode.isValid(passcode), passcode != WellKnown.passcode { return passcode }
      offset = (offset + 1) % count
    }
  }

  private static func discriminator(for seed: String, taken: inout Set<UInt16>) -> UInt16 {
    discriminator(
      from: UInt16(truncatingIfNeeded: StableHash.value(of: seed, for: "discriminator") & 0xFFF), taken: &taken)
  }

  /// Returns the first free discriminator from the hash on. When all are taken, further devices share them, which the
  /// standard permits: a commissioner tries all devices with the discriminator of a code. That of the Matter SDK's
  /// examples is used last.
  static func discriminator(from hash: UInt16, taken: inout Set<UInt16>) -> UInt16 {
    var value = hash & 0xFFF
    if taken.count >= discriminatorCount { taken.removeAll(keepingCapacity: true) }
    // The last free one is used in any case.
    let avoided = taken.count < discriminatorCount - 1 ? WellKnown.discriminator : nil
    for _ in 0..<discriminatorCount {
      guard taken.contains(value) || value == avoided else { break }
      value = (value + 1) & 0xFFF
    }
    taken.insert(value)
    return value
  }

  /// The codes of the Matter SDK's examples, which users would try first. Only definitions that specify them get them.
  private enum WellKnown {
    static let passcode: UInt32 = 20_202_021, discriminator: UInt16 = 3840
  }

  private static func serialNumber(for seed: String, taken: inout Set<String>) -> String {
    var value = StableHash.value(of: seed, for: "serial")
    while true {
      let serial = "HRT-" + StableHash.hexadecimal(value, digits: 12)
      if taken.insert(serial).inserted { return serial }
      value &+= 1 << 16
    }
  }
}
