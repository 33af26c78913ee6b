internal import Foundation
internal import MatterClusters
internal import MatterModel
internal import MatterProtocol
internal import Yams

// The key `behave`: attributes with their behaviors.
extension DefinitionReader {
  private static let courses = ["sine", "walk", "steps", "file", "room", "expression"]
  /// The limit of a list of steps, since aliases can multiply a list.
  private static let stepLimit = 256
  /// The limit of lines in a file.
  private static let lineLimit = 100_000
  /// The limit of an expression, in bytes.
  private static let expressionLimit = 1000
  /// The shortest time between two values.
  private static let shortest = Duration.milliseconds(100)

  mutating func readBehaviors(_ node: Node, besides values: [InitialValue]) -> [BehaviorDefinition] {
    guard case .mapping(let mapping) = node else {
      report(node, expected: "a mapping such as { onOff.onOff: { steps: [true for 30s, false for 5m] } }")
      return []
    }
    var behaviors: [BehaviorDefinition] = []
    for (key, node) in mapping {
      do throws(DefinitionError) {
        let attribute = try AttributeReading.attribute(
          key.scalar?.string ?? key.summary, mark: document.mark(of: key), catalogue: catalogue)
        if let first = (values + behaviors.map(\.attribute)).first(where: { $0.isSameAttribute(as: attribute) }) {
          report(
            at: attribute.mark, found: "attribute “\(key.scalar?.string ?? "")” again",
            expected: "each attribute once; it is in line \(first.mark.line) already")
        } else if let behavior = readBehavior(node, of: attribute) {
          behaviors.append(behavior)
        }
      } catch {
        problems += error.problems
      }
    }
    return behaviors
  }

  mutating func readBehavior(_ node: Node, of attribute: InitialValue) -> BehaviorDefinition? {
    let before = problems.count
    guard case .mapping = node else {
      report(node, expected: "one of \(Self.list(Self.courses.map { "“\($0):”" }))")
      return nil
    }
    guard let fields = fields(of: node, known: Self.courses + ["period", "every"], what: "a behavior"),
      problems.count == before
    else { return nil }
    let found = Self.courses.filter { fields[$0] != nil }
    guard let name = found.first, let course = fields[name], found.count == 1 else {
      report(
        at: document.mark(of: node), found: found.isEmpty ? "no behavior" : found.joined(separator: " and "),
        expected: "one of \(Self.list(Self.courses.map { "“\($0):”" }))")
      return nil
    }
    for (key, course) in [("period", "file"), ("every", "expression")] where name != course {
      guard let node = fields[key] else { continue }
      report(at: document.mark(of: node), found: "“\(key)”", expected: "this key here only beside “\(course)”")
    }
    switch name {
    case "sine": return readSine(course, of: attribute)
    case "walk": return readWalk(course, of: attribute)
    case "steps": return readSteps(course, of: attribute)
    case "room": return readRoom(course, of: attribute)
    case "expression": return readExpression(course, every: fields["every"], of: attribute)
    default: return readFile(course, period: fields["period"], of: attribute)
    }
  }

  // MARK: Curves

  private mutating func readSine(_ node: Node, of attribute: InitialValue) -> BehaviorDefinition? {
    guard let fields = fields(of: node, known: ["mean", "amplitude", "period", "every"], what: "a sine"),
      let (numbers, quantity) = readNumbers(fields, ["mean", "amplitude"], at: node, of: attribute),
      let period = readTime(fields["period"], at: node, "period")
    else { return nil }
    // One value for each degree of the phase, at most one a second unless the period is short.
    let usual = max(Self.shortest, period / 360, min(.seconds(1), period / 8))
    guard let every = fields["every"].map({ readTime($0, at: node, "every") }) ?? usual else { return nil }
    let (mean, amplitude) = (numbers[0], numbers[1])
    return behavior(
      .sine(mean: mean, amplitude: amplitude, period: period, every: every, quantity), quantity,
      passing: [mean, mean - amplitude, mean + amplitude], at: node, of: attribute)
  }

  private mutating func readWalk(_ node: Node, of attribute: InitialValue) -> BehaviorDefinition? {
    let names = ["from", "to", "step"]
    guard let fields = fields(of: node, known: names + ["start", "every"], what: "a walk"),
      let (numbers, quantity) = readNumbers(
        fields, fields["start"] == nil ? names : names + ["start"], at: node, of: attribute),
      let every = fields["every"].map({ readTime($0, at: node, "every") }) ?? .seconds(60)
    else { return nil }
    let (lowest, highest, step) = (numbers[0], numbers[1], numbers[2])
    guard lowest < highest, step > 0, step <= highest - lowest else {
      report(node, expected: "“from” below “to”, and a “step” above 0 that is at most their difference")
      return nil
    }
    let start = numbers.count > 3 ? numbers[3] : (lowest + highest) / 2
    guard (lowest...highest).contains(start) else {
      report(fields["start"] ?? node, expected: "a value between “from” and “to”")
      return nil
    }
    return behavior(
      .walk(from: start, in: lowest...highest, step: step, every: every, quantity), quantity,
      passing: [start, lowest, highest], at: node, of: attribute)
  }

  /// - Parameter numbers: the first, the lowest and the highest value.
  private mutating func behavior(
    _ course: Behavior.Course, _ quantity: Behavior.Quantity, passing numbers: [Double], at node: Node,
    of attribute: InitialValue
  ) -> BehaviorDefinition? {
    var values: [InitialValue] = []
    for number in numbers {
      let encoded = if case .integer(let integer) = quantity.value(of: number) { "\(integer)" } else { "\(number)" }
      do throws(DefinitionError) {
        var value = try AttributeReading.read(
          Node(encoded), of: attribute, mark: document.mark(of: node), catalogue: catalogue)
        value.text = "\(number)" + quantity.symbol
        values.append(value)
      } catch {
        problems += error.problems
        return nil
      }
    }
    return BehaviorDefinition(attribute: values[0], course: course, values: values)
  }

  /// Reads numbers that all have the attribute's unit, or none of them.
  private mutating func readNumbers(
    _ fields: [String: Node], _ names: [String], at node: Node, of attribute: InitialValue
  ) -> (numbers: [Double], Behavior.Quantity)? {
    guard let quantity = attribute.target?.quantity else {
      if let target = attribute.target {
        let others = target.truth == nil ? "“steps” or “file”" : "“steps”, “file” or “expression”"
        report(node, expected: "\(others): the attribute is not a number")
      }
      return nil
    }
    var found: [(number: Double, quantity: Behavior.Quantity)] = []
    for name in names {
      guard let field = fields[name] else {
        report(at: document.mark(of: node), found: "no “\(name)”", expected: "“\(name): …”")
        return nil
      }
      let text = field.scalar?.string ?? ""
      if let unit = attribute.target?.unit, let measure = unit.measure(text) {
        found.append((measure, .measure(unit)))
      } else if quantity == .real, let number = ScalarReading.real(text), abs(number) < 1e9 {
        found.append((number, quantity))
      } else if let number = ScalarReading.integer(text), abs(Double(number)) < 1e9 {
        found.append((Double(number), quantity))
      } else {
        let unit = attribute.target?.unit?.symbols.first.map { " with the unit \($0), or an encoded integer" } ?? ""
        report(field, expected: "a number" + unit)
        return nil
      }
    }
    guard let first = found.first?.quantity, found.allSatisfy({ $0.quantity == first }) else {
      report(at: document.mark(of: node), found: "numbers with and without a unit", expected: "the unit with each one")
      return nil
    }
    return (found.map(\.number), first)
  }

  mutating func readTime(_ node: Node?, at parent: Node, _ name: String) -> Duration? {
    guard let node else {
      report(at: document.mark(of: parent), found: "no “\(name)”", expected: "“\(name): …”")
      return nil
    }
    guard let time = TimeText.duration(node.scalar?.string ?? ""), time >= Self.shortest else {
      report(
        node,
        expected: "a time of at least \(TimeText.text(Self.shortest)) and less than 365 days, such as 30s, 5m or 24h")
      return nil
    }
    return time
  }

  // MARK: Rooms

  private mutating func readRoom(_ node: Node, of attribute: InitialValue) -> BehaviorDefinition? {
    guard attribute.target?.unit == .hundredthsOfDegree else {
      if attribute.target != nil { report(node, expected: "“room” at a temperature only") }
      return nil
    }
    guard let name = node.scalar?.string, !node.isNull else {
      report(node, expected: "the name of a room with a thermostat, a heat pump or a room air conditioner")
      return nil
    }
    var value = attribute
    (value.value, value.text, value.valueMark) = (.null, node.summary, document.mark(of: node))
    return BehaviorDefinition(
      attribute: value, course: .room(name, .measure(.hundredthsOfDegree)), values: [value])
  }

  // MARK: Expressions

  private mutating func readExpression(_ node: Node, every: Node?, of attribute: InitialValue) -> BehaviorDefinition? {
    guard let target = attribute.target else { return nil }
    guard let quantity = target.unit.map({ Behavior.Quantity.measure($0) }) ?? target.quantity ?? target.truth else {
      report(node, expected: "“steps” or “file”: the attribute is neither a number nor true or false")
      return nil
    }
    guard let scalar = node.scalar, !node.isNull, scalar.string.utf8.count <= Self.expressionLimit else {
      report(
        node, expected: "an expression such as kitchen/lamp.onOff.onOff * 60W, of at most \(Self.expressionLimit) bytes"
      )
      return nil
    }
    guard let every = every.map({ readTime($0, at: node, "every") }) ?? .seconds(30) else { return nil }
    var mark = document.mark(of: node)
    if [.singleQuoted, .doubleQuoted].contains(scalar.style) { mark.column += 1 }
    do throws(DefinitionError) {
      let expression = try ExpressionParser.parse(
        scalar.string, at: mark, isInline: ![.literal, .folded].contains(scalar.style), catalogue: catalogue)
      return BehaviorDefinition(
        attribute: attribute, course: .expression(expression, every: every, quantity), values: [])
    } catch {
      problems += error.problems
      return nil
    }
  }

  // MARK: Lists

  private mutating func readSteps(_ node: Node, of attribute: InitialValue) -> BehaviorDefinition? {
    guard case .sequence(let sequence) = node, (1...Self.stepLimit).contains(sequence.count) else {
      report(node, expected: "a list of 1 to \(Self.stepLimit) steps, such as [true for 30s, false for 5m]")
      return nil
    }
    var list = StepList()
    var time = Duration.zero
    var isEndless = false
    for (index, entry) in sequence.enumerated() {
      let text = entry.scalar?.string ?? ""
      let parts = text.components(separatedBy: " for ")
      isEndless = index == sequence.count - 1 && parts.count == 1
      let length = parts.count > 1 ? TimeText.duration(parts.last ?? "") : isEndless ? Self.shortest : nil
      guard let length, length >= Self.shortest else {
        let value = parts[0].hasSuffix(" for") ? String(parts[0].dropLast(4)) : parts[0]
        report(entry, expected: "a value and its time, such as “\(entry.isNull ? "true" : value) for 30s”")
        return nil
      }
      let value = parts.dropLast(isEndless ? 0 : 1).joined(separator: " for ")
      let node = entry.scalar.map { Node.scalar(.init(value, $0.tag, $0.style)) } ?? entry
      guard add(node, at: time, to: &list, mark: document.mark(of: entry), of: attribute) else { return nil }
      time += length
    }
    return list.behavior(period: isEndless ? nil : time)
  }

  /// Reads a file with a time and a value in each line, separated by a comma. A first line that begins with a name is a
  /// heading. Times are durations, or dates in the format of ISO 8601; they count from the first one.
  private mutating func readFile(_ node: Node, period: Node?, of attribute: InitialValue) -> BehaviorDefinition? {
    let name = node.scalar?.string ?? ""
    let file = TextFile.path(name, besides: document.file)
    let text: String
    do { text = try open(name, document.file) } catch let error as DefinitionError {
      problems += error.problems
      return nil
    } catch {
      report(
        at: document.mark(of: node), found: "“\(name)”, which can't be read (\(TextFile.reason(error, file)))",
        expected: "a file with a time and a value in each line, by its path from here")
      return nil
    }
    var list = StepList()
    var start: Duration?
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let cells = line.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      let mark = SourceMark(file: file, line: index + 1, column: 1)
      guard !line.allSatisfy(\.isWhitespace) else { continue }
      guard index < Self.lineLimit else {
        report(at: mark, found: "a further line", expected: "at most \(Self.lineLimit) lines")
        return nil
      }
      guard cells.count == 2, !cells[1].isEmpty, let time = Self.time(cells[0]) else {
        if index == 0, cells.first?.first?.isLetter == true { continue }
        report(at: mark, found: "“\(line.prefix(60))”", expected: "a time, a comma and a value, such as “15m, 21.5C”")
        return nil
      }
      let since = time - (start ?? time)
      start = start ?? time
      guard since >= (list.steps.last.map { $0.at + Self.shortest } ?? .zero) else {
        report(at: mark, found: "“\(cells[0])”", expected: "a later time than in the line before")
        return nil
      }
      let value = line.drop { $0 != "," }.dropFirst().drop(while: \.isWhitespace)
      let column = line[..<value.startIndex].unicodeScalars.count + 1
      let valueMark = SourceMark(file: file, line: index + 1, column: column)
      guard add(.scalar(.init(cells[1], Tag(.implicit), .plain)), at: since, to: &list, mark: valueMark, of: attribute)
      else { return nil }
    }
    guard let last = list.steps.last else {
      report(
        at: document.mark(of: node), found: "an empty file", expected: "a time and a value in each line of “\(name)”")
      return nil
    }
    guard let period else { return list.behavior(period: nil) }
    guard let time = readTime(period, at: node, "period") else { return nil }
    guard time > last.at else {
      report(period, expected: "a time after the last one of the file, \(TimeText.text(last.at))")
      return nil
    }
    return list.behavior(period: time)
  }

  private static func time(_ text: String) -> Duration? {
    if let time = TimeText.duration(text) { return time }
    guard let date = try? Date(text, strategy: .iso8601) else { return nil }
    return Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()).map { .milliseconds($0) }
  }

  /// Adds a step.
  /// - Returns: whether the value is one of the attribute.
  private mutating func add(
    _ node: Node, at time: Duration, to list: inout StepList, mark: SourceMark, of attribute: InitialValue
  ) -> Bool {
    do throws(DefinitionError) {
      list.add(try AttributeReading.read(node, of: attribute, mark: mark, catalogue: catalogue), at: time)
      return true
    } catch {
      problems += error.problems
      return false
    }
  }
}

/// The steps of a behavior while they are read.
private struct StepList {
  private(set) var steps: [Behavior.Step] = []
  /// Each value once.
  private var values: [InitialValue] = []
  private var known: Set<InitialValue.Value> = []

  mutating func add(_ value: InitialValue, at time: Duration) {
    steps.append(Behavior.Step(value.value, at: time))
    // The value of a mismatch is not known.
    if value.mismatch != nil || known.insert(value.value).inserted { values.append(value) }
  }

  func behavior(period: Duration?) -> BehaviorDefinition? {
    values.first.map { BehaviorDefinition(attribute: $0, course: .steps(steps, period: period), values: values) }
  }
}

extension InitialValue {
  /// Whether two entries are for the same attribute.
  func isSameAttribute(as other: InitialValue) -> Bool {
    (endpoint, cluster.lowercased(), attribute.lowercased())
      == (other.endpoint, other.cluster.lowercased(), other.attribute.lowercased())
  }
}

extension InitialValue.Target {
  /// The quantity of numbers without a unit; nil if the attribute is not a number.
  fileprivate var quantity: Behavior.Quantity? {
    var schema = schema
    if case .nullable(let inner) = schema { schema = inner }
    switch schema {
    case .float, .double: return .real
    case .signed, .unsigned: return .integer
    default: return nil
    }
  }

  /// The quantity of true and false; nil for another type.
  fileprivate var truth: Behavior.Quantity? {
    switch schema {
    case .boolean, .nullable(.boolean): .boolean
    case .bitmap(bits: _, names: _, isInverted: false): .integer
    default: nil
    }
  }
}

extension Behavior.Quantity {
  fileprivate var symbol: String {
    if case .measure(let unit) = self { unit.symbols.first ?? "" } else { "" }
  }
}
