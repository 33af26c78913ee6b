internal import MatterClusters
internal import MatterDevice
internal import MatterModel
internal import Yams

// The key `closure`: the panels, the latch and the positions of a closure.
extension DefinitionReader {
  private static let latches: [(name: String, value: LatchControlModes?)] = [
    ("none", nil), ("remote", [.remoteLatching, .remoteUnlatching]), ("remote latching", .remoteLatching),
    ("remote unlatching", .remoteUnlatching), ("by hand", []),
  ]

  /// Returns the settings of a closure; nil without the key.
  mutating func readClosure(_ fields: [String: Node], of kind: DeviceKind?) -> ClosureDefinition? {
    guard let node = fields["closure"], isPlaced(node, "closure", kind, in: [.closure]) else { return nil }
    var closure = ClosureDefinition()
    let keys = ["kind", "latch", "speeds", "ventilation", "pedestrian", "signature", "position", "latched", "panels"]
    guard let fields = self.fields(of: node, known: keys, what: "a closure") else { return closure }
    let uses = ClosureDefinition.Use.allCases
    closure.use = choice(fields["kind"], uses.map { ($0.rawValue, $0) }) ?? closure.use
    if let node = fields["latch"], let found = choice(node, Self.latches) { closure.settings.latch = found }
    closure.settings.hasSpeeds = boolean(fields["speeds"]) ?? closure.settings.hasSpeeds
    if let node = fields["ventilation"] { closure.settings.ventilation = readPosition(node, orNone: true) }
    if let node = fields["pedestrian"] { closure.settings.pedestrian = readPosition(node, orNone: true) }
    if let node = fields["signature"], let position = readPosition(node) { closure.settings.signature = position }
    if let node = fields["position"] { closure.settings.position = node.isNull ? nil : readPercent(node) }
    if let node = fields["latched"], let isLatched = boolean(node) {
      closure.settings.isLatched = isLatched
      if isLatched, closure.settings.latch == nil { report(node, expected: "false for a closure without a latch") }
    }
    checkPositions(closure.settings, at: node)
    if let node = fields["panels"] {
      closure.settings.panels = entries(node, 0...8, bytes: 64, example: "{ Door: { moves: upward } }").compactMap {
        readPanel($0, $1)
      }
    }
    return closure
  }

  /// Reports positions that a position alone does not name.
  private mutating func checkPositions(_ settings: ClosureSettings, at node: Node) {
    let positions = [settings.ventilation, settings.pedestrian, settings.signature].compactMap(\.self)
    guard Set(positions).count < positions.count else { return }
    report(
      at: document.mark(of: node), found: "the same position twice",
      expected: "different positions for ventilation, pedestrians and the signature")
  }

  /// Reads a share in hundredths of a percent.
  private mutating func readPercent(_ node: Node) -> UInt16? {
    readPercentage(node, expected: "a share from 0% (open) to 100% (closed)").map { UInt16(($0 * 100).rounded()) }
  }

  /// Reads a position between the ends.
  private mutating func readPosition(_ node: Node, orNone: Bool = false) -> UInt16? {
    if orNone, node.scalar?.string == "none" { return nil }
    let expected = "a position from 1% to 99% closed" + (orNone ? ", or “none”" : "")
    guard let percent = readPercentage(node, expected: expected) else { return nil }
    guard (1...99).contains(percent) else {
      report(node, expected: expected)
      return nil
    }
    return UInt16((percent * 100).rounded())
  }

  // MARK: Panels

  private mutating func readPanel(_ name: String, _ node: Node) -> ClosurePanelSettings? {
    let keys = ["moves", "rotates", "modulates", "overflow", "travel", "range", "limits", "resolution", "step"]
    guard let fields = fields(of: node, known: keys, what: "a panel") else { return nil }
    guard let motion = readMotion(fields, at: node) else { return nil }
    var panel = ClosurePanelSettings(name, motion, unit: nil, unitRange: 0...0)
    if let node = fields["travel"] { panel.travel = readTravel(node, at: node) }
    if let node = fields["range"], let range = readRange(node) { (panel.unit, panel.unitRange) = range }
    if let node = fields["resolution"], let resolution = readPercent(node) {
      panel.resolution = resolution
      if !(1...5000).contains(resolution) { report(node, expected: "a resolution from 0.01% to 50%") }
    }
    if let node = fields["step"], let step = readPercent(node) { panel.step = step }
    if let node = fields["limits"], case .sequence(let ends) = node, ends.count == 2, let low = readPercent(ends[0]),
      let high = readPercent(ends[1]), low < high
    {
      panel.limits = low...high
    } else if let node = fields["limits"] {
      report(node, expected: "two ascending shares such as [0%, 90%]")
    }
    let resolution = max(panel.resolution, 1)
    for (key, values) in [
      ("step", [panel.step]), ("limits", panel.limits.map { [$0.lowerBound, $0.upperBound] } ?? []),
    ] where values.contains(where: { $0 % resolution != 0 }) || (key == "step" && panel.step == 0) {
      report(fields[key] ?? node, expected: "multiples of the resolution for “\(key)”")
    }
    return panel
  }

  /// Reads the direction of a translation, the axis of a rotation or the kind of a modulation, exactly one of them.
  private mutating func readMotion(_ fields: [String: Node], at node: Node) -> ClosurePanelSettings.Motion? {
    let keys = ["moves", "rotates", "modulates"].filter { fields[$0] != nil }
    guard keys.count == 1 else {
      report(
        at: document.mark(of: node), found: keys.isEmpty ? "a panel without a movement" : Self.list(keys, last: "and"),
        expected: "one of “moves: upward”, “rotates: left” or “modulates: opacity”")
      return nil
    }
    let axis = named(fields["rotates"], ClosureDimension.RotationAxis.self)
    if let node = fields["overflow"], fields["rotates"] == nil {
      report(at: document.mark(of: node), found: "“overflow”", expected: "this key only beside “rotates”")
    }
    if let axis {
      let sides: [ClosureDimension.Overflow] = [.noOverflow, .inside, .outside]
      let isCentered = [.centeredVertical, .centeredHorizontal].contains(axis)
      let usual: ClosureDimension.Overflow =
        axis == .centeredVertical ? .leftOutside : axis == .centeredHorizontal ? .topOutside : .outside
      let overflow = named(fields["overflow"], ClosureDimension.Overflow.self)
      if let overflow, isCentered, sides.contains(overflow), let node = fields["overflow"] {
        report(node, expected: "the side of a centered axis, such as left outside or top inside")
      }
      return .rotation(axis, overflow ?? usual)
    }
    if let direction = named(fields["moves"], ClosureDimension.TranslationDirection.self) {
      return .translation(direction)
    }
    return named(fields["modulates"], ClosureDimension.ModulationType.self).map { .modulation($0) }
  }

  /// Returns the value of an enumeration with this name.
  mutating func named<Code: WireCode>(_ node: Node?, _: Code.Type) -> Code? where Code.RawValue == UInt8 {
    choice(node, Code.names.sorted { $0.key < $1.key }.map { ($0.value, Code(UInt8(clamping: $0.key))) })
  }

  /// Reads the range of a panel in millimeters or degrees, open first or last.
  private mutating func readRange(_ node: Node) -> (ClosureDimension.ClosureUnit, ClosedRange<Int16>)? {
    let units: [(suffix: String, unit: ClosureDimension.ClosureUnit, range: ClosedRange<Int64>, span: Int64)] = [
      ("mm", .millimeter, 0...32_767, 32_767), ("°", .degree, -360...360, 360), ("deg", .degree, -360...360, 360),
    ]
    if case .sequence(let sequence) = node, sequence.count == 2 {
      let texts = sequence.map { $0.scalar?.string ?? "" }
      for (suffix, unit, range, span) in units {
        let numbers = texts.compactMap { text in
          text.hasSuffix(suffix) ? ScalarReading.integer(String(text.dropLast(suffix.count))) : nil
        }
        guard numbers.count == 2, let low = numbers.first, let high = numbers.last, range.contains(low),
          range.contains(high), low < high, high - low <= span
        else { continue }
        return (unit, Int16(clamping: low)...Int16(clamping: high))
      }
    }
    report(node, expected: "two ascending lengths or angles such as [0mm, 2000mm] or [0°, 90°]")
    return nil
  }
}
