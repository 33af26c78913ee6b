internal import MakersClusters
internal import MatterClusters
internal import MatterModel
internal import Yams

/// Reads one definition file and collects all problems instead of stopping at the first.
struct DefinitionReader: DocumentReader {
  var problems: [DefinitionProblem] = []
  let document: YAMLDocument
  private(set) var catalogue: AttributeCatalogue?
  /// The declared clusters of manufacturers.
  private(set) var makers: [MakersCluster] = []
  /// Whether a declaration of a cluster can't be read, so that its names are unknown.
  private(set) var lacksMakers = false
  private var rooms: [Marked<String>]?
  /// The rooms of the file by lowercased name.
  private var roomsByName: [String: Marked<String>] = [:]
  /// The number of entries read; limited, since aliases can expand a short file into many.
  private var entryCount = 0

  /// Keys of the file that another reader handles.
  private let ignored: [String]
  let open: HomeDefinition.FileReader

  init(
    file: String, text: String, catalogue: AttributeCatalogue?, ignoring ignored: [String] = [],
    opening open: @escaping HomeDefinition.FileReader
  ) {
    (self.ignored, self.open) = (ignored, open)
    document = YAMLDocument(file: file, text: text)
    self.catalogue = catalogue
  }

  mutating func read() -> FileDraft {
    var draft = FileDraft()
    let node: Node?
    do throws(DefinitionError) {
      node = try document.root()
    } catch {
      problems += error.problems
      return draft
    }
    let start = document.mark(line: 1, column: 1)
    guard let root = node, !root.isNull else {
      report(at: start, found: "an empty file", expected: "“devices:” and a list of devices")
      return draft
    }
    let problemCount = problems.count
    let own = ["home", "rooms", "devices", "clusters"].filter { !ignored.contains($0) }
    guard let fields = fields(of: root, known: own + ignored, what: "a home") else { return draft }
    if !ignored.contains("home") { draft.home = name(fields["home"], what: "the home's name")?.value }
    if let node = fields["rooms"] {
      rooms = readRooms(node)
      draft.rooms = rooms?.map(\.value)
    }
    // Before the devices, which name them.
    if let node = fields["clusters"] { readClusters(node) }
    if let node = fields["devices"] {
      if case .sequence(let sequence) = node {
        draft.devices = sequence.compactMap { readDevice($0) }
      } else {
        report(node, expected: "a list of devices, each beginning with “- name: ”")
      }
    } else if problems.count == problemCount {
      report(at: document.mark(of: root), found: "no devices", expected: "“devices:” and a list of devices")
    }
    return draft
  }

  // MARK: Parts of a file

  private mutating func readRooms(_ node: Node) -> [Marked<String>]? {
    guard case .sequence(let sequence) = node else {
      report(node, expected: "a list of rooms such as [Kitchen, Hall]")
      return nil
    }
    var rooms: [Marked<String>] = []
    for (index, node) in sequence.enumerated() {
      guard index < DefinitionResolver.roomLimit else {
        report(
          at: document.mark(of: node), found: "more than \(DefinitionResolver.roomLimit) rooms",
          expected: "at most that many")
        break
      }
      guard let room = name(node, what: "a room's name") else { continue }
      if let first = roomsByName[room.value.lowercased()] {
        report(
          at: room.mark, found: "room “\(room.value)” again",
          expected: "each room once; it is in line \(first.mark.line) already")
      } else {
        roomsByName[room.value.lowercased()] = room
        rooms.append(room)
      }
    }
    return rooms
  }

  static let deviceKeys = [
    "name", "room", "type", "passcode", "discriminator", "port", "vendor", "product", "vendorName", "productName",
    "serial", "uniqueID", "enableKey", "attributes", "behave", "battery", "count", "labels", "switch", "buttons",
    "devices", "parts", "provisional", "resumesSubscriptions", "climate", "filters", "tank", "phases", "modes", "areas",
    "compartments", "doorAlarm", "travel", "encoder", "faults", "load", "solar", "storage", "vehicle", "images",
    "media", "clusters", "sleepy", "sounds", "tariff", "closure",
  ]
  /// The keys of a bridged device; codes and ports are those of the bridge.
  private static let bridgedKeys = deviceKeys.filter {
    !["passcode", "discriminator", "port", "enableKey", "devices", "parts", "resumesSubscriptions", "sleepy"].contains(
      $0)
  }
  /// The keys of a part of a composed device; it has the room, the identity and the battery of the device.
  private static let partKeys = bridgedKeys.filter {
    ![
      "room", "count", "vendor", "product", "vendorName", "productName", "serial", "uniqueID", "battery", "provisional",
    ].contains($0)
  }

  /// The position of a device in a file.
  enum Position: Hashable {
    /// A node of its own.
    case node
    /// Behind a bridge.
    case bridged
    /// A part of a composed device with this vendor.
    case part(vendor: UInt16)
  }

  mutating func readDevice(_ node: Node, as position: Position = .node) -> DeviceDraft? {
    entryCount += 1
    guard entryCount <= HomeDefinition.deviceLimit else {
      if entryCount == HomeDefinition.deviceLimit + 1 {
        report(
          at: document.mark(of: node), found: "more than \(HomeDefinition.deviceLimit) entries",
          expected: "at most that many, including bridged devices")
      }
      return nil
    }
    guard
      let fields =
        switch position {
        case .node: fields(of: node, known: Self.deviceKeys, what: "a device")
        case .bridged: fields(of: node, known: Self.bridgedKeys, what: "a device behind a bridge")
        case .part: fields(of: node, known: Self.partKeys, what: "a part of a device")
        }
    else { return nil }
    let mark = document.mark(of: node)
    for key in ["name", "type"] where fields[key] == nil {
      report(at: mark, found: "a device without \(key)", expected: "“\(key): …”")
    }
    let name = name(fields["name"], what: "the device's name")
    let kind = fields["type"].flatMap { readKind($0, at: position) }
    if position != .node, kind?.sharesNode == false, let node = fields["type"] {
      report(node, expected: "a device that can be \(position == .bridged ? "behind a bridge" : "a part of another")")
    }
    let room = fields["room"].flatMap { readRoom($0) }
    let passcode = fields["passcode"].flatMap { readPasscode($0) }
    let discriminator = number(fields["discriminator"], in: 0...4095, expected: "a number from 0 to 4095")
    let port = number(fields["port"], in: 1...65535, expected: "a number from 1 to 65535")
    let vendor = number(fields["vendor"], in: 1...0xFFF4, expected: "a vendor id from 0x0001 to 0xFFF4")
    let product = number(fields["product"], in: 1...0xFFFF, expected: "a product id from 0x0001 to 0xFFFF")
    let vendorName = text(fields["vendorName"])
    let productName = text(fields["productName"])
    let serial = text(fields["serial"])
    let uniqueID = fields["uniqueID"].flatMap { readUniqueID($0) }
    if let uniqueID, fields["count"] != nil {
      report(
        at: uniqueID.mark, found: "one unique id for several devices",
        expected: "a unique id only in an entry without count")
    }
    let enableKey = fields["enableKey"].flatMap { readKey($0) }
    let provisional = boolean(fields["provisional"])
    let resumes = boolean(fields["resumesSubscriptions"])
    let maker =
      if case .part(let maker) = position { maker } else {
        vendor.map { UInt16(clamping: $0.value) } ?? DeviceDefinition.defaultVendor
      }
    let makers = fields["clusters"].map { readMakers($0, vendor: maker) }
    let count = number(fields["count"], in: 1...16_384, expected: "a number from 1 to 16384")
    var values = fields["attributes"].map { readAttributes($0) } ?? []
    var behaviors = fields["behave"].map { readBehaviors($0, besides: values) } ?? []
    if let load = fields["load"] { readLoad(load, of: kind, &values, &behaviors) }
    let battery = fields["battery"].flatMap { readBattery($0) }
    let sleep = fields["sleepy"].flatMap { readSleep($0, of: kind) }
    let faults = fields["faults"].map { readFaults($0, of: kind, isBridged: position != .node) } ?? DeviceFaults()
    let labels = fields["labels"].map { readLabels($0) } ?? []
    let climate = readClimate(fields, of: kind)
    var parts = readParts(fields, of: kind, at: position, maker: maker, mark: mark)
    if kind != .bridge {
      // They share the room and the node.
      for index in parts.others.indices {
        parts.others[index].definition.room = room
        parts.others[index].definition.servesProvisional = provisional ?? false
      }
    }
    checkLast(port, of: count, limit: 65535, what: "port")
    checkLast(discriminator, of: count, limit: 4095, what: "discriminator")
    guard let name, let kind else { return nil }
    let definition = DeviceDefinition(
      name: name.value, room: room, kind: kind, passcode: 0, discriminator: 0,
      vendorID: vendor?.narrowed().value ?? DeviceDefinition.defaultVendor,
      productID: product?.narrowed().value ?? kind.productID, vendorName: vendorName?.value ?? "Hearth",
      productName: productName?.value ?? kind.title, serialNumber: "", uniqueID: "", enableKey: enableKey,
      servesProvisional: provisional ?? false, resumesSubscriptions: resumes ?? true, initialValues: values,
      behaviors: behaviors, battery: battery, sleep: sleep, faults: faults, labels: labels, makers: makers ?? [],
      switchKind: parts.switchKind, climate: climate, energy: readEnergy(fields, of: kind), buttons: parts.buttons,
      program: parts.program, motors: readMotors(fields, of: kind), closure: readClosure(fields, of: kind),
      images: readImages(fields, of: kind), modes: readModes(fields, of: kind), sounds: readSounds(fields, of: kind),
      media: readMedia(fields, of: kind), mark: mark)
    return DeviceDraft(
      definition: definition, name: name, passcode: passcode, discriminator: discriminator?.narrowed(),
      port: port?.narrowed(), serialNumber: serial, uniqueID: uniqueID, bridged: parts.others,
      count: count.map { Marked(value: Int($0.value), mark: $0.mark) })
  }

  /// With `count`, ports and discriminators count up from the given one; the last one must still be in range.
  private mutating func checkLast(_ first: Marked<Int64>?, of count: Marked<Int64>?, limit: Int64, what: String) {
    guard let first, let count, first.value + count.value - 1 > limit else { return }
    report(
      at: first.mark, found: "\(what) \(first.value) for the first of \(count.value) devices",
      expected: "at most \(limit - count.value + 1), so that the last one has \(limit)")
  }

  private mutating func readKey(_ node: Node) -> [UInt8]? {
    let bytes = AttributeReading.octets(node.scalar?.string ?? "") ?? []
    guard bytes.count == 16, bytes.contains(where: { $0 != 0 }) else {
      report(node, expected: "a key of 32 hexadecimal digits in quotation marks, not all of them 0")
      return nil
    }
    return bytes
  }

  /// The MAC address of the device is derived from the unique ID as well.
  private mutating func readUniqueID(_ node: Node) -> Marked<String>? {
    let text = node.scalar?.string ?? ""
    guard text.utf8.count == 32, text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
      report(node, expected: "a unique id of 32 hexadecimal digits in quotation marks")
      return nil
    }
    return Marked(value: text.uppercased(), mark: document.mark(of: node))
  }

  mutating func readKind(_ node: Node, at position: Position = .node) -> DeviceKind? {
    guard let text = node.scalar?.string, let kind = DeviceKind.named(text) else {
      let names = DeviceKind.all.filter { position == .node || $0.sharesNode }.map(\.name)
      let text = node.scalar?.string ?? ""
      if DeviceKind.isUnstandardized(text) {
        report(
          at: document.mark(of: node), found: "device type \(node.summary)",
          expected: "a device type of Matter \(SpecificationVersion.text), which has none for it")
        return nil
      }
      let suggestions = DeviceKind.suggestions(for: text, in: names)
      report(
        at: document.mark(of: node), found: node.isNull ? "nothing" : "device type \(node.summary)",
        expected: suggestions.isEmpty ? Self.list(names.map { "“\($0)”" }) : "a known device type",
        suggestions: suggestions)
      return nil
    }
    return kind
  }

  private mutating func readRoom(_ node: Node) -> String? {
    guard let room = name(node, what: "the room's name") else { return nil }
    guard let rooms else { return room.value }
    if let known = roomsByName[room.value.lowercased()] { return known.value }
    let names = rooms.map(\.value)
    report(
      at: room.mark, found: "room “\(room.value)”",
      expected: "one of the file's rooms (\(names.prefix(8).joined(separator: ", "))\(names.count > 8 ? ", …" : ""))",
      suggestions: NearestName.suggestions(for: room.value, in: names))
    return nil
  }

  private mutating func readPasscode(_ node: Node) -> UInt32? {
    let expected = "a passcode from 1 to 99999998 that is not trivial like 11111111 or 12345678"
    guard let value = integer(node), let passcode = UInt32(exactly: value), SetupPasscode.isValid(passcode) else {
      report(node, expected: expected)
      return nil
    }
    return passcode
  }

  private mutating func readAttributes(_ node: Node) -> [InitialValue] {
    guard case .mapping(let mapping) = node else {
      report(node, expected: "a mapping such as { onOff.onOff: true }")
      return []
    }
    var values: [InitialValue] = []
    for (key, node) in mapping {
      let mark = document.mark(of: key)
      do throws(DefinitionError) {
        let value = try AttributeReading.read(
          key: key.scalar?.string ?? key.summary, mark: mark, node: node, valueMark: document.mark(of: node),
          catalogue: catalogue)
        if let first = values.first(where: { $0.isSameAttribute(as: value) }) {
          report(
            at: mark, found: "attribute “\(key.scalar?.string ?? "")” again",
            expected: "each attribute once; it is in line \(first.mark.line) already")
        } else {
          values.append(value)
        }
      } catch {
        problems += error.problems
      }
    }
    return values
  }

  // MARK: Building blocks

  private func integer(_ node: Node) -> Int64? { node.scalar.flatMap { ScalarReading.integer($0.string) } }

  mutating func number(_ node: Node?, in range: ClosedRange<Int64>, expected: String) -> Marked<Int64>? {
    guard let node else { return nil }
    guard let value = integer(node), range.contains(value) else {
      report(node, expected: expected)
      return nil
    }
    return Marked(value: value, mark: document.mark(of: node))
  }

  /// Reads a text for an attribute of Basic Information.
  mutating func text(_ node: Node?) -> Marked<String>? {
    guard let node else { return nil }
    guard let scalar = node.scalar, !node.isNull, (1...32).contains(scalar.string.utf8.count) else {
      report(node, expected: "a text of 1 to 32 bytes")
      return nil
    }
    return Marked(value: scalar.string, mark: document.mark(of: node))
  }

  /// Reads the name of a home, room or device. Names become parts of paths such as `kitchen/lamp`.
  private mutating func name(_ node: Node?, what: String) -> Marked<String>? {
    guard let node else { return nil }
    let text = node.scalar?.string ?? ""
    let isPlain = text.unicodeScalars.allSatisfy { $0 != "/" && $0.value >= 0x20 && $0.value != 0x7F }
    guard node.scalar != nil, !node.isNull, !text.allSatisfy(\.isWhitespace), isPlain,
      (1...60).contains(text.unicodeScalars.count)
    else {
      report(node, expected: "\(what): 1 to 60 characters, none of them “/”")
      return nil
    }
    return Marked(value: text, mark: document.mark(of: node))
  }

  mutating func add(_ cluster: MakersCluster) {
    makers.append(cluster)
    catalogue?.add(ClusterCatalogue.add(cluster))
  }

  /// Names of clusters and attributes are not checked after an error in a declaration.
  mutating func noteUnreadMaker() { (lacksMakers, catalogue) = (true, nil) }

  /// Returns the words as "a, b or c".
  static func list(_ words: [String], last: String = "or") -> String {
    guard let final = words.last, words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " \(last) " + final
  }

  /// The names of an enumeration with their numbers: `Off (0), On (1) or Toggle (2)`; nil if there are none.
  static func list(_ names: [UInt64: String]) -> String? {
    names.isEmpty ? nil : list(names.sorted { $0.key < $1.key }.map { "\($0.value) (\($0.key))" })
  }
}

extension Schema {
  /// Some values of an enumeration, or the bits of a bitmap, by name and number, or some numbers, for messages; nil for
  /// another type, and for all numbers.
  /// - Parameter values: nil for all.
  func namedValues(among values: Set<UInt64>?) -> String? {
    switch self {
    case .enumeration(_, let names): DefinitionReader.list(names.filter { values?.contains($0.key) ?? true })
    case .bitmap(_, let names, isInverted: false) where !names.isEmpty:
      (names.count > 1 ? "0 or a sum of " : "0 or ")
        + DefinitionReader.list(Schema.fields(names).map { "\($0.name) (\($0.mask))" }, last: "and")
    case .unsigned: values.map { DefinitionReader.list($0.sorted().map { "\($0)" }) }
    case .nullable(let wrapped): wrapped.namedValues(among: values)
    default: nil
    }
  }
}

extension Marked where Value == Int64 {
  /// The same number in 16 bits; the range was checked on reading.
  fileprivate func narrowed() -> Marked<UInt16> { Marked<UInt16>(value: UInt16(clamping: value), mark: mark) }
}
