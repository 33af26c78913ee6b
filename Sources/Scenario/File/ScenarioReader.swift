internal import HearthHome
internal import MatterClusters
internal import MatterModel
internal import MatterProtocol
internal import Simulation
internal import VirtualDevices
internal import Yams

/// Parses a scenario file, collecting all problems instead of stopping at the first.
struct ScenarioReader: DocumentReader {
  static let keys = [
    "scenario", "home", "rooms", "clusters", "devices", "paired", "limit", "defect", "mutant", "vary", "always",
    "never", "steps",
  ]

  var problems: [DefinitionProblem] = []
  let document: YAMLDocument
  /// The devices that steps add, and their bridges.
  private var added: [(bridge: String, device: DeviceDefinition)] = []
  /// The devices of the home by name.
  var names = DeviceNames()
  /// The limit of steps in a file, counting repetitions by `times:`.
  static let stepLimit = 100_000
  private var stepCount = 0

  init(_ file: SourceFile) { document = YAMLDocument(file: file.name, text: file.text) }

  /// Parses all fields but the home, which the caller has loaded.
  mutating func read(_ fields: [String: Node], into scenario: inout ScenarioDefinition) {
    names = DeviceNames(scenario.home)
    refuseHubs()
    if let node = fields["paired"] { scenario.isPaired = boolean(node) ?? true }
    if let node = fields["limit"] { scenario.limit = duration(node) ?? scenario.limit }
    // “mutant” is the older name of the key.
    if let node = fields["defect"] ?? fields["mutant"] {
      scenario.defect = one(of: SeededDefect.self, node)
    }
    if let node = fields["always"] { scenario.always = claims(listed: node) }
    if let node = fields["never"] { scenario.never = claims(listed: node) }
    guard let node = fields["steps"] else {
      return report(at: document.mark(line: 1, column: 1), found: "no steps", expected: "“steps:” and a list of steps")
    }
    guard case .sequence(let steps) = node else {
      return report(node, expected: "a list of steps such as “- power: {lamp: off}”")
    }
    // Aliases can expand a short file into many steps.
    for (index, step) in steps.enumerated() where max(index, stepCount) <= Self.stepLimit {
      scenario.steps += self.steps(step)
    }
    for (bridge, device) in added {
      guard let index = scenario.home.devices.firstIndex(where: { $0.path == bridge }) else { continue }
      scenario.home.devices[index].bridged.append(device)
    }
    var last = Duration.zero
    for step in scenario.steps {
      guard case .at(let time) = step.time else { continue }
      if time < last {
        report(
          at: step.mark, found: "“at: \(TimeText.text(time))” after “at: \(TimeText.text(last))”",
          expected: "steps in the order of their times")
      }
      last = max(last, time)
    }
  }

  // MARK: Steps

  private static let actions = [
    "power", "cut", "net", "fault", "add", "remove", "move", "clock", "drift", "do", "set", "press", "compete", "rival",
    "wait",
    "expect",
  ]

  /// Returns one step per device of an entry of the file.
  private mutating func steps(_ node: Node) -> [ScenarioStep] {
    let known = Self.actions + ["at", "after", "within", "times", "every"]
    guard let fields = fields(of: node, known: known, what: "a step") else { return [] }
    let mark = document.mark(of: node)
    var time = ScenarioStep.Time.after(.zero)
    if let node = fields["at"] { time = .at(duration(node) ?? .zero) }
    if let node = fields["after"] {
      if fields["at"] != nil { report(node, expected: "either “at” or “after”") }
      time = .after(duration(node) ?? .zero)
    }
    let found = Self.actions.filter { fields[$0] != nil }
    guard found.count == 1, let key = found.first, let value = fields[key] else {
      report(
        at: mark, found: found.isEmpty ? "a step that does nothing" : "\(found.joined(separator: " and ")) in one step",
        expected: "one of \(Self.actions.joined(separator: ", "))")
      return []
    }
    if let node = fields["within"], key != "expect" { report(node, expected: "“within” only beside “expect”") }
    let actions = self.actions(key, value, within: fields["within"])
    let steps = actions.enumerated().map { index, action in
      ScenarioStep(
        time: index == 0 ? time : .after(.zero), action: action.0, mark: mark, text: action.1, isFirst: index == 0)
    }
    return repeated(steps, fields["times"], fields["every"])
  }

  /// Returns the steps, repeated as `times` and `every` say.
  private mutating func repeated(_ steps: [ScenarioStep], _ times: Node?, _ every: Node?) -> [ScenarioStep] {
    guard let times else {
      if let every { report(every, expected: "“every” only beside “times”") }
      return checked(steps, 1, nil)
    }
    guard let count = times.scalar.flatMap({ Int($0.string) }), (1...Self.stepLimit).contains(count) else {
      report(times, expected: "a number from 1 to \(Self.stepLimit)")
      return steps
    }
    guard !checked(steps, count, times).isEmpty else { return [] }
    let pause = every.flatMap { duration($0) } ?? .zero
    return (0..<count).flatMap { turn in
      steps.enumerated().map { index, step in
        var step = step
        guard turn > 0 else { return step }
        step.isFirst = false
        if index == 0 { step.time = .after(pause) }
        return step
      }
    }
  }

  /// Counts steps before they are repeated; returns none if the file has too many.
  private mutating func checked(_ steps: [ScenarioStep], _ count: Int, _ times: Node?) -> [ScenarioStep] {
    let before = stepCount
    stepCount += steps.count * count
    guard stepCount > Self.stepLimit else { return steps }
    // Reported once per file.
    if before <= Self.stepLimit, let mark = times.map({ document.mark(of: $0) }) ?? steps.first?.mark {
      report(at: mark, found: "\(stepCount) steps so far", expected: "at most \(Self.stepLimit) in all")
    }
    return []
  }

  private mutating func actions(_ key: String, _ node: Node, within: Node?) -> [(ScenarioStep.Action, String)] {
    switch key {
    case "wait":
      guard let time = duration(node) else { return [] }
      return [(.wait(time), "wait \(TimeText.text(time))")]
    case "expect": return expectation(node, within)
    case "do":
      guard let command = command(node) else { return [] }
      return [(.command(command), "do \(node.scalar?.string ?? "")")]
    case "move": return machine(node).map { [(.address(device: $0), "move \($0) to another address")] } ?? []
    default: break
    }
    guard case .mapping(let mapping) = node else {
      report(node, expected: "a mapping such as {lamp: …}")
      return []
    }
    if mapping.isEmpty { report(node, expected: "a mapping such as {lamp: …}") }
    return mapping.compactMap { nameNode, value in
      action(key, nameNode, value).map { ($0, "\(key) \(nameNode.scalar?.string ?? "")\(Self.words(value))") }
    }
  }

  /// Returns a value as shown in reports: “ off”, or “: loss 30%, latency 80ms”.
  static func words(_ node: Node) -> String {
    guard case .mapping(let mapping) = node else { return " " + node.words }
    return ": " + mapping.map { "\($0.scalar?.string ?? "") \($1.scalar?.string ?? "")" }.joined(separator: ", ")
  }

  private mutating func action(_ key: String, _ nameNode: Node, _ value: Node) -> ScenarioStep.Action? {
    switch key {
    case "power":
      guard let device = device(nameNode, orHub: true), let power = one(of: PowerAction.self, value) else { return nil }
      return .power(device: device, power)
    case "cut":
      guard let device = machine(nameNode) else { return nil }
      guard let count = value.scalar.flatMap({ Int($0.string) }), count >= 0 else {
        report(value, expected: "the number of effects before the power cut")
        return nil
      }
      return .powerCut(device: device, afterEffects: count)
    case "net":
      guard let device = machine(nameNode), let fault = fault(value) else { return nil }
      return .network(device: device, fault)
    case "fault":
      guard let device = device(nameNode) else { return nil }
      return faults(of: device, value)
    case "add":
      guard let bridge = device(nameNode) else { return nil }
      return added(to: bridge, nameNode, value)
    case "remove":
      guard let bridge = device(nameNode), let device = device(value) else { return nil }
      guard names.bridge(of: device) == bridge,
        names.devices.contains(where: { $0.path == bridge && $0.kind == .bridge })
      else {
        report(value, expected: "a device behind “\(bridge)”")
        return nil
      }
      return .remove(bridge: bridge, device: device)
    case "compete", "rival":
      guard let device = device(nameNode) else { return nil }
      return compete(for: device, value)
    case "clock":
      guard let device = machine(nameNode), let time = duration(value, signed: true) else { return nil }
      return .clock(device: device, by: time)
    case "drift":
      guard let device = machine(nameNode), let drift = drift(value) else { return nil }
      return .drift(device: device, millionths: drift)
    case "press":
      guard let device = device(nameNode) else { return nil }
      guard names.hasButtons(device) else {
        report(nameNode, expected: "a device with buttons: a switch; “\(device)” has none")
        return nil
      }
      return press(device, value)
    case "set":
      if let path = part(nameNode) {
        guard let part = path.part else { return nil }
        let state = part.states.isEmpty ? scalar(value) : one(of: part.states, value)
        return state.map { .part(device: path.device, name: part.name, on: path.endpoint, state: $0) }
      }
      guard let (device, place) = attribute(nameNode), let encoded = encoded(value, place) else { return nil }
      return .set(device: device, place, value: encoded)
    default: return nil
    }
  }

  /// Parses an entry of `devices`: `{ name: Spot, type: on/off light }`. Later steps know the devices.
  private mutating func added(to bridge: String, _ nameNode: Node, _ node: Node) -> ScenarioStep.Action? {
    guard let definition = names.devices.first(where: { $0.path == bridge }), definition.kind == .bridge else {
      report(nameNode, expected: "a bridge")
      return nil
    }
    do throws(DefinitionError) {
      let devices = try definition.bridgedDevices(node, in: document)
      for var device in devices where names.bridge(of: device.path) != bridge {
        if names.devices.contains(where: { $0.path.lowercased() == device.path.lowercased() }) {
          report(node, expected: "another name than that of a device of the home")
          return nil
        }
        device.isAbsent = true
        names.add(device, behind: bridge)
        added.append((bridge, device))
      }
      return .add(bridge: bridge, devices)
    } catch {
      problems += error.problems
      return nil
    }
  }

  /// Parses `{ slow: 2s }` as in a definition file, or `heal`.
  private mutating func faults(of device: String, _ node: Node) -> ScenarioStep.Action? {
    if node.scalar?.string == "heal" { return .faults(device: device, DeviceFaults()) }
    guard case .mapping = node else {
      report(node, expected: "faults such as { slow: 2s }, or heal")
      return nil
    }
    let whole = names.whole(of: device)
    let definition = names.devices.first { $0.path == device }
    let faults = readFaults(node, of: definition?.kind, isBridged: whole != nil)
    if let definition { problems += faults.problems(of: definition, in: whole) }
    return .faults(device: device, faults)
  }

  /// Parses `long`, or for a switch with several buttons `{ press: long, button: Off }`, with a name or number from 1.
  private mutating func press(_ device: String, _ node: Node) -> ScenarioStep.Action? {
    guard case .mapping = node else {
      return one(of: Press.self, node).map { .press(device: device, $0, button: 0) }
    }
    guard let fields = fields(of: node, known: ["press", "button"], what: "a press"),
      let press = fields["press"].map({ one(of: Press.self, $0) }) ?? .short
    else { return nil }
    guard let wanted = fields["button"] else { return .press(device: device, press, button: 0) }
    return button(wanted, of: device).map { .press(device: device, press, button: $0) }
  }

  /// Parses a button's name, or its number from 1.
  /// - Returns: the index of the button, from 0.
  mutating func button(_ wanted: Node, of device: String) -> Int? {
    let buttons = names.buttons(of: device)
    let text = wanted.scalar?.string ?? ""
    if let index = buttons.firstIndex(where: { $0.lowercased() == text.lowercased() }) { return index }
    if let number = Int(text), (1...max(1, buttons.count)).contains(number) { return number - 1 }
    report(
      wanted,
      expected: buttons.isEmpty ? "1, as it has one button" : "one of \(buttons.joined(separator: ", ")), or its number"
    )
    return nil
  }

  /// Parses the load from a second administrator: a number of sessions, or `{ subscriptions: 80 }`.
  private mutating func compete(for device: String, _ node: Node) -> ScenarioStep.Action? {
    var (number, wantsSubscriptions) = (node, false)
    if case .mapping(let mapping) = node {
      guard let fields = fields(of: node, known: ["subscriptions"], what: "the load of the second administrator") else {
        return nil
      }
      guard let asked = fields["subscriptions"] else {
        if mapping.isEmpty { report(node, expected: "a mapping such as {subscriptions: 80}") }
        return nil
      }
      (number, wantsSubscriptions) = (asked, true)
    }
    guard let count = number.scalar.flatMap({ Int($0.string) }), (1...10_000).contains(count) else {
      report(number, expected: "a number of sessions from 1 to 10000, or {subscriptions: 80}")
      return nil
    }
    return wantsSubscriptions ? .subscriptions(device: device, count: count) : .compete(device: device, times: count)
  }

  // MARK: Building blocks

  mutating func duration(_ node: Node, signed: Bool = false) -> Duration? {
    let text = node.scalar?.string ?? ""
    let isNegative = signed && text.hasPrefix("-")
    let digits = signed && (text.hasPrefix("-") || text.hasPrefix("+")) ? String(text.dropFirst()) : text
    // Signed durations set clocks, which may be years off; other durations are waits.
    let years =
      signed && digits.hasSuffix("y") ? Int64(digits.dropLast()).flatMap { (0...100).contains($0) ? $0 : nil } : nil
    guard let duration = years.map({ .seconds($0 * 31_536_000) }) ?? TimeText.duration(digits) else {
      report(node, expected: "a time such as 2s, 150ms, 3m or 1h\(signed ? ", or -50y" : "")")
      return nil
    }
    return isNegative ? .zero - duration : duration
  }

  mutating func text(_ node: Node, _ expected: String) -> String? {
    guard let text = node.scalar?.string, !node.isNull else {
      report(node, expected: expected)
      return nil
    }
    return text
  }

  mutating func scalar(_ node: Node) -> String? { text(node, "a single value") }

  private mutating func one<Choice: CaseIterable & RawRepresentable<String>>(
    of _: Choice.Type, _ node: Node
  ) -> Choice? {
    choice(node, Choice.allCases.map { ($0.rawValue, $0) })
  }
}
