internal import MatterClusters
internal import MatterDevice
internal import MatterModel
internal import MatterProtocol
internal import Yams

// The keys `phases`, `modes`, `areas`, `compartments` and `doorAlarm`: the program of an appliance.
extension DefinitionReader {
  /// The limit of CountdownTime. Application Clusters § 1.14.5.3.
  private static let longestRun = Duration.seconds(259_200)

  /// Returns the program of an appliance; nil if the device has the program of its kind.
  mutating func readProgram(_ fields: [String: Node], of kind: DeviceKind?) -> ApplianceProgram? {
    guard let kind else { return nil }
    let appliance = Appliance.of(kind)
    var program = appliance?.program ?? ApplianceProgram()
    var isChanged = false
    for key in Appliance.Key.allCases {
      guard let node = fields[key.rawValue] else { continue }
      let kinds = DeviceKind.all.filter {
        Appliance.of($0)?.keys.contains(key) == true || (key == .modes && $0 == .modeSelect)
      }
      guard isPlaced(node, key.rawValue, kind, in: kinds), let appliance else { continue }
      isChanged = true
      switch key {
      case .phases: program.phases = readPhases(node)
      case .modes: program.modes = readModes(node, appliance)
      case .areas: program.areas = readAreas(node)
      case .compartments: program.cabinets = readCompartments(node)
      case .doorAlarm:
        if let time = readTime(node, at: node, key.rawValue) { program.doorAlarm = time }
      }
    }
    guard isChanged else { return nil }
    checkLength(program, fields)
    return program
  }

  /// Reports a run that is longer than CountdownTime can state.
  private mutating func checkLength(_ program: ApplianceProgram, _ fields: [String: Node]) {
    let time = (program.phases.map(\.duration) + program.areas.map(\.duration)).reduce(Duration.zero) { $0 + $1 }
    let pace = Double(program.modes.map(\.pace).max() ?? 100) / 100
    guard time.nanoseconds > 0, Double(time.nanoseconds) * pace > Double(Self.longestRun.nanoseconds),
      let node = fields["phases"] ?? fields["areas"] ?? fields["modes"]
    else { return }
    report(
      at: document.mark(of: node), found: "a run of \(TimeText.text(time)) at a pace of \(Int(pace * 100))%",
      expected: "at most \(TimeText.text(Self.longestRun)) in each mode")
  }

  /// Reads a mapping in its order.
  /// - Parameter example: a correct value, for the error.
  mutating func entries(
    _ node: Node, _ range: ClosedRange<Int>, bytes: Int, example: String
  ) -> [(name: String, node: Node)] {
    guard case .mapping(let mapping) = node, range.contains(mapping.count) else {
      report(node, expected: "\(range.lowerBound) to \(range.upperBound) entries, such as \(example)")
      return []
    }
    var lines: [String: Int] = [:]
    return mapping.compactMap { key, value in
      guard let name = key.scalar?.string, !key.isNull, (1...bytes).contains(name.utf8.count) else {
        report(key, expected: "a name of 1 to \(bytes) bytes")
        return nil
      }
      let mark = document.mark(of: key)
      if let line = lines.updateValue(mark.line, forKey: name.lowercased()) {
        report(
          at: mark, found: "“\(name)” again",
          expected: "each name once, ignoring case; it is in line \(line) already")
      }
      return (name, value)
    }
  }

  private mutating func readSteps(_ node: Node, _ range: ClosedRange<Int>, _ example: String) -> [OperationRun.Step] {
    entries(node, range, bytes: 64, example: example).compactMap { name, node in
      readTime(node, at: node, name).map { OperationRun.Step(name, $0) }
    }
  }

  private mutating func readPhases(_ node: Node) -> [OperationRun.Step] {
    readSteps(node, 1...32, "{ Washing: 45m, Rinsing: 20m }")
  }

  private mutating func readAreas(_ node: Node) -> [ServiceAreaServer.Area] {
    readSteps(node, 1...64, "{ Kitchen: 8m, Living Room: 15m }").map { step in
      let name = NormalizedName(step.name)
      let kind = AreaTypeTag.names.first { NormalizedName($0.value) == name }?.key
      return .init(step.name, kind.map { .init(rawValue: UInt8(clamping: $0)) }, step.duration)
    }
  }

  private mutating func readCompartments(_ node: Node) -> [ApplianceCabinet] {
    entries(node, 1...8, bytes: 64, example: "{ Fresh food: 4C, Freezer: -18C }").compactMap { name, node in
      let setpoint = ValueUnit.hundredthsOfDegree.measure(node.scalar?.string ?? "")
        .map { Int16(clamping: ValueUnit.hundredthsOfDegree.encoded($0)) }
      guard let setpoint, let range = Appliance.coolingRanges.first(where: { $0.contains(setpoint) }) else {
        report(node, expected: "a temperature from 1C to 10C, or from -25C to -10C for a freezer")
        return nil
      }
      return ApplianceCabinet(name, range, setpoint: setpoint)
    }
  }

  // MARK: Modes

  private mutating func readModes(_ node: Node, _ appliance: Appliance) -> [ApplianceMode] {
    let example = "{ Normal: { tags: [normal] }, Quick: { tags: [quick], pace: 50% } }"
    let before = problems.count
    let modes = entries(node, 2...32, bytes: 64, example: example).compactMap { name, node in
      readMode(name, node, appliance)
    }
    if problems.count == before, !appliance.required.isEmpty,
      !modes.contains(where: { mode in appliance.required.contains(where: mode.tags.contains) })
    {
      let names = appliance.required.compactMap { appliance.tags[UInt64($0)] }.map(NormalizedName.camelCase)
      report(
        at: document.mark(of: node), found: "no mode with the tag \(Self.list(names))",
        expected: "at least one such mode")
    }
    return modes
  }

  private mutating func readMode(_ name: String, _ node: Node, _ appliance: Appliance) -> ApplianceMode? {
    let before = problems.count
    guard let fields = fields(of: node, known: ["tags", "pace"], what: "a mode"), problems.count == before else {
      return nil
    }
    let names = appliance.tags.sorted { $0.key < $1.key }.map { NormalizedName.camelCase($0.value) }
    guard let list = fields["tags"], case .sequence(let sequence) = list, (1...8).contains(sequence.count) else {
      report(
        fields["tags"] ?? node, expected: "“tags:” and a list such as [\(names.prefix(2).joined(separator: ", "))]")
      return nil
    }
    var tags: [UInt16] = []
    for node in sequence {
      let text = node.scalar?.string ?? ""
      guard let tag = appliance.tags.first(where: { NormalizedName($0.value) == NormalizedName(text) })?.key else {
        report(
          at: document.mark(of: node), found: "tag \(node.summary)", expected: Self.list(names),
          suggestions: NearestName.suggestions(for: text, in: names))
        return nil
      }
      tags.append(UInt16(clamping: tag))
    }
    guard let node = fields["pace"] else { return ApplianceMode(name, tags) }
    let text = node.scalar?.string ?? ""
    guard text.hasSuffix("%"), let pace = ScalarReading.integer(String(text.dropLast())), (1...1000).contains(pace)
    else {
      report(node, expected: "the time of a run in this mode from 1% to 1000% of that of the phases or areas")
      return nil
    }
    return ApplianceMode(name, tags, pace: Int(pace))
  }
}
