internal import MatterDevice
internal import MatterModel
internal import Yams

// Keys of some kinds of device only: labels, buttons, bridged devices; and the parts of a composed device.
extension DefinitionReader {
  typealias Parts = (
    switchKind: SwitchKind?, buttons: [String], program: ApplianceProgram?, others: [DeviceDraft]
  )

  /// Reads the keys of a kind, and reports those of other kinds.
  mutating func readParts(
    _ fields: [String: Node], of kind: DeviceKind?, at position: Position, maker: UInt16, mark: SourceMark
  ) -> Parts {
    var parts: Parts = (nil, [], readProgram(fields, of: kind), [])
    if let node = fields["switch"], isPlaced(node, "switch", kind, in: [.genericSwitch]) {
      parts.switchKind = choice(node, Self.switchNames)
    }
    if let node = fields["buttons"], isPlaced(node, "buttons", kind, in: [.genericSwitch]) {
      parts.buttons = readButtons(node)
    }
    if let node = fields["devices"] {
      if isPlaced(node, "devices", kind, in: [.bridge]) { parts.others = readOthers(node, as: .bridged) }
    } else if kind == .bridge, position == .node {
      report(at: mark, found: "a bridge without devices", expected: "“devices:” and a list of devices")
    }
    if let node = fields["parts"] {
      if kind?.sharesNode == false {
        report(
          at: document.mark(of: node), found: "“parts”",
          expected: kind == .bridge ? "“devices:” in a bridge" : "this key only in a device that can have parts")
      } else {
        parts.others = readOthers(node, as: .part(vendor: maker))
      }
    }
    if kind == .genericSwitch, parts.switchKind == nil { parts.switchKind = .full }
    return parts
  }

  /// Returns whether a device of the kind may have a key, and reports it otherwise.
  /// - Parameter kind: nil if it is unknown.
  mutating func isPlaced(_ node: Node, _ key: String, _ kind: DeviceKind?, in kinds: [DeviceKind]) -> Bool {
    guard let kind, !kinds.contains(kind) else { return true }
    let names = Self.list(kinds.map { "“\($0.name)”" })
    report(at: document.mark(of: node), found: "“\(key)”", expected: "this key only in a device of the type \(names)")
    return false
  }

  private mutating func readOthers(_ node: Node, as position: Position) -> [DeviceDraft] {
    guard case .sequence(let sequence) = node else {
      let what = position == .bridged ? "devices" : "parts"
      report(node, expected: "a list of \(what), each beginning with “- name: ”")
      return []
    }
    return sequence.compactMap { readDevice($0, as: position) }
  }

  // MARK: Labels

  mutating func readLabels(_ node: Node) -> [DeviceLabel] {
    guard case .mapping(let mapping) = node else {
      report(node, expected: "a mapping such as { floor: ground }")
      return []
    }
    return mapping.compactMap { key, value in
      for node in [key, value] where node.scalar == nil || node.isNull || node.scalar?.string.utf8.count ?? 0 > 16 {
        report(node, expected: "a text of at most 16 bytes")
        return nil
      }
      return DeviceLabel(key.scalar?.string ?? "", value.scalar?.string ?? "")
    }
  }

  // MARK: Switches

  /// The kinds of switch by their names in files.
  static let switchNames: [(name: String, value: SwitchKind)] = [
    ("latching", .latching), ("momentary", .momentary), ("release", .release), ("long press", .longPress),
    ("multi press", .multiPress), ("full", .full), ("action", .action),
  ]

  /// The maximum number of buttons of a device.
  private static let buttonLimit = 16

  private mutating func readButtons(_ node: Node) -> [String] {
    let expected = "a list of 1 to \(Self.buttonLimit) names of buttons, such as [On, Off]"
    guard case .sequence(let sequence) = node, (1...Self.buttonLimit).contains(sequence.count) else {
      report(node, expected: expected)
      return []
    }
    var buttons: [Marked<String>] = []
    for node in sequence {
      guard let name = text(node) else { continue }
      if let first = buttons.first(where: { $0.value.lowercased() == name.value.lowercased() }) {
        report(
          at: name.mark, found: "button “\(name.value)” again",
          expected: "each button once; it is in line \(first.mark.line) already")
      } else {
        buttons.append(name)
      }
    }
    return buttons.map(\.value)
  }
}
