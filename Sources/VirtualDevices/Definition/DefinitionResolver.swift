internal import MatterModel

/// Turns drafts into devices: writes `count` out, finds clashes, and derives what was left out.
struct DefinitionResolver {
  private(set) var problems: [DefinitionProblem] = []

  private static let discriminatorCount = 4096
  /// The most devices of all files, those behind bridges included.
  static let deviceLimit = 16_384

  /// One device of a draft; `index` is nil where the draft is for one device only.
  private struct Item {
    let draft: DeviceDraft
    let index: Int?
    var bridged: [Item] = []
    /// What everything derived of the bridge in front of it depends on: nil where there is none.
    var bridge: String?

    var name: String { index.map { "\(draft.name.value) \($0 + 1)" } ?? draft.name.value }
    var path: String { draft.room.map { "\($0)/\(name)" } ?? name }
    /// What everything derived depends on. A device behind a bridge is another one than that of the same name in front of it.
    var seed: String { (bridge.map { $0 + "/" } ?? "") + "\(draft.room ?? "")/\(name)" }
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
    // Before `count` is written out: it may be a typing error, and each device takes memory.
    guard checkNumbers(files.flatMap(\.devices)) else { return home }
    var items: [Item] = []
    for file in files {
      file.rooms?.forEach(add)
      for draft in file.devices { items += Self.items(of: draft, add: add, spelling: { spelling[$0.lowercased()] }) }
    }
    checkClashes(items + items.filter { ($0.index ?? 0) == 0 }.flatMap(\.bridged))
    home.devices = derive(items)
    return home
  }

  /// A draft with `count` written out, and all that is behind it.
  private static func items(
    of draft: DeviceDraft, add: (String) -> Void, spelling: (String) -> String?
  ) -> [Item] {
    var draft = draft
    if let room = draft.room {
      add(room)
      draft.room = spelling(room)
    }
    let bridged = draft.bridged.flatMap { items(of: $0, add: add, spelling: spelling) }
    let indices: [Int?] = draft.count.map { Array(0..<$0.value) } ?? [nil]
    return indices.map { index in
      var item = Item(draft: draft, index: index)
      let seed = item.seed
      item.bridged = bridged.map { behind in
        var behind = behind
        behind.bridge = seed
        return behind
      }
      return item
    }
  }

  // MARK: Limits

  /// The most devices that one bridge has: its list of parts must fit a report.
  private static let bridgedLimit = 250

  /// Reports more devices than there may be.
  /// - Returns: whether `count` may be written out.
  private mutating func checkNumbers(_ drafts: [DeviceDraft]) -> Bool {
    let before = problems.count
    for draft in drafts {
      let bridged = draft.bridged.reduce(0) { $0 + $1.number }
      if bridged > Self.bridgedLimit {
        report(draft.mark, found: "\(bridged) devices behind one bridge", expected: "at most \(Self.bridgedLimit)")
      }
      if draft.number > 1, !draft.bridged.isEmpty {
        report(
          draft.count?.mark ?? draft.mark, found: "several bridges with the same devices behind them",
          expected: "an entry of its own for each bridge that has devices")
      }
    }
    checkTotal(
      drafts, limit: Self.discriminatorCount, because: "each needs a discriminator of its own", \.number)
    guard problems.count == before else { return false }
    checkTotal(drafts, limit: Self.deviceLimit, because: "with those behind bridges", \.total)
    return problems.count == before
  }

  /// Reports the draft with which the devices become more than `limit`.
  private mutating func checkTotal(
    _ drafts: [DeviceDraft], limit: Int, because reason: String, _ number: (DeviceDraft) -> Int
  ) {
    var total = 0
    var first: DeviceDraft?
    for draft in drafts {
      total += number(draft)
      if total > limit, first == nil { first = draft }
    }
    guard let first else { return }
    report(
      first.count?.mark ?? first.mark, found: "\(total) devices in all", expected: "at most \(limit): \(reason)")
  }

  private mutating func report(_ mark: SourceMark, found: String, expected: String) {
    problems.append(DefinitionProblem(at: mark, found: found, expected: expected))
  }

  // MARK: Clashes

  private mutating func checkClashes(_ items: [Item]) {
    report(
      items, at: { $0.draft.name.mark }, by: { $0.path.lowercased() }, found: { "device “\($0.path)” again" })
    report(items, at: { $0.draft.port?.mark }, by: { $0.port }, found: { "port \($0.port ?? 0)" })
    report(
      items, at: { $0.draft.discriminator?.mark }, by: { $0.discriminator },
      found: { "discriminator \($0.discriminator ?? 0)" })
    report(
      items, at: { $0.draft.serialNumber?.mark }, by: { $0.serialNumber },
      found: { "serial “\($0.serialNumber ?? "")”" })
    // The same once behind a bridge and once in front of it, or behind another one, is one device that can be reached both ways.
    func reportUniqueIDs(_ items: [Item]) {
      report(
        items, at: { $0.draft.uniqueID?.mark }, by: { $0.draft.uniqueID?.value },
        found: { "unique id “\($0.draft.uniqueID?.value ?? "")”" })
    }
    reportUniqueIDs(items.filter { $0.bridge == nil })
    for bridge in items { reportUniqueIDs(bridge.bridged) }
  }

  /// Reports what occurs a second time, once for each draft.
  private mutating func report<Key: Hashable>(
    _ items: [Item], at mark: (Item) -> SourceMark?, by key: (Item) -> Key?, found: (Item) -> String
  ) {
    var first: [Key: Item] = [:]
    var reported: Set<SourceMark> = []
    for item in items {
      guard let place = mark(item), let key = key(item) else { continue }
      guard let other = first[key], let otherPlace = mark(other) else {
        first[key] = item
        continue
      }
      guard reported.insert(place).inserted else { continue }
      problems.append(
        DefinitionProblem(
          at: place, found: found(item),
          expected: "another one: “\(other.path)” has it (\(otherPlace.file):\(otherPlace.line))"))
    }
  }

  // MARK: Derived values

  private func derive(_ items: [Item]) -> [DeviceDefinition] {
    var discriminators = Set(items.compactMap(\.discriminator))
    var serials = Set((items + items.flatMap(\.bridged)).compactMap(\.serialNumber))
    func definition(_ item: Item, isBridged: Bool) -> DeviceDefinition {
      let draft = item.draft
      return DeviceDefinition(
        name: item.name, room: draft.room, kind: draft.kind,
        passcode: isBridged ? 0 : draft.passcode ?? Self.passcode(for: item.seed),
        discriminator: isBridged
          ? 0 : item.discriminator ?? Self.discriminator(for: item.seed, taken: &discriminators),
        port: item.port, vendorID: draft.vendorID ?? 0xFFF1, productID: draft.productID ?? draft.kind.productID,
        vendorName: draft.vendorName ?? "Hearth", productName: draft.productName ?? draft.kind.title,
        serialNumber: item.serialNumber ?? Self.serialNumber(for: item.seed, taken: &serials),
        uniqueID: draft.uniqueID?.value
          ?? StableHash.hexadecimal(StableHash.value(of: item.seed, for: "unique id 1"), digits: 16)
          + StableHash.hexadecimal(StableHash.value(of: item.seed, for: "unique id 2"), digits: 16),
        enableKey: draft.enableKey, servesProvisional: draft.servesProvisional ?? false,
        resumesSubscriptions: draft.resumesSubscriptions ?? true, initialValues: draft.initialValues,
        labels: draft.labels,
        switchKind: draft.switchKind,
        buttons: draft.buttons, bridged: item.bridged.map { definition($0, isBridged: true) }, mark: draft.mark)
    }
    return items.map { definition($0, isBridged: false) }
  }

  private static func passcode(for seed: String) -> UInt32 {
    passcode(from: StableHash.value(of: seed, for: "passcode"))
  }

  /// The next one from the hash on that is valid and not that of the Matter SDK's examples.
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

  /// The next free one from the hash on; there is one, because there are at most as many devices. That of the Matter SDK's
  /// examples comes last.
  static func discriminator(from hash: UInt16, taken: inout Set<UInt16>) -> UInt16 {
    var value = hash & 0xFFF
    // The last one that is free must do, whichever it is.
    let avoided = taken.count < discriminatorCount - 1 ? WellKnown.discriminator : nil
    for _ in 0..<discriminatorCount where taken.contains(value) || value == avoided { value = (value + 1) & 0xFFF }
    taken.insert(value)
    return value
  }

  /// The codes of the Matter SDK's examples, which everybody would try first. No device gets them that does not ask for them.
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
