/// A strict parser of the text format of OpenMetrics 1.0: it accepts nothing that the specification does not require of
/// counters and gauges.
struct OpenMetricsParser {
  struct Failure: Error, CustomStringConvertible {
    let line: Int
    let description: String
  }

  struct Family: Equatable {
    var name: String
    var type: String
    var unit: String?
    var help: String?
    var samples: [String: Double] = [:]
  }

  private(set) var families: [Family] = []
  private var number = 0

  static func parse(_ text: String) throws(Failure) -> [Family] {
    var parser = OpenMetricsParser()
    guard text.hasSuffix("\n") else { throw parser.failure("the last line does not end") }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    guard lines.last == "# EOF" else { throw parser.failure("the last line is not # EOF") }
    for line in lines.dropLast() {
      parser.number += 1
      if line.hasPrefix("# ") { try parser.readDescription(line.dropFirst(2)) } else { try parser.readSample(line) }
    }
    for family in parser.families {
      guard family.unit.map({ family.name.hasSuffix("_" + $0) }) ?? true else {
        throw parser.failure("\(family.name) does not end with its unit")
      }
    }
    guard Set(parser.families.map(\.name)).count == parser.families.count else {
      throw parser.failure("two families have the same name")
    }
    return parser.families
  }

  private func failure(_ text: String) -> Failure { Failure(line: number, description: text) }

  private mutating func readDescription(_ line: Substring) throws(Failure) {
    let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, !parts[2].isEmpty else { throw failure("“\(line)”: expected a keyword, a name and a text") }
    let (keyword, name, text) = (parts[0], parts[1], parts[2])
    if keyword == "TYPE" {
      guard isName(name), text == "counter" || text == "gauge" else { throw failure("TYPE \(name) \(text)") }
      guard !(text == "counter" && name.hasSuffix("_total")) else { throw failure("\(name) has the suffix of samples") }
      families.append(Family(name: name, type: text))
      return
    }
    guard let last = families.indices.last, families[last].name == name, families[last].samples.isEmpty else {
      throw failure("\(keyword) \(name) does not follow its TYPE")
    }
    switch keyword {
    case "UNIT" where families[last].unit == nil && isName(text): families[last].unit = text
    case "HELP" where families[last].help == nil: families[last].help = try unescaped(text)
    default: throw failure("\(keyword) again, or unknown")
    }
  }

  private mutating func readSample(_ line: Substring) throws(Failure) {
    guard let last = families.indices.last else { throw failure("a sample without a family") }
    let expected = families[last].name + (families[last].type == "counter" ? "_total" : "")
    guard line.hasPrefix(expected) else { throw failure("“\(line)”: expected \(expected)") }
    var rest = line.dropFirst(expected.count)
    var labels = ""
    if rest.first == "{" {
      guard let end = rest.lastIndex(of: "}") else { throw failure("“\(line)”: no }") }
      labels = String(rest[...end])
      try check(labels: rest[rest.index(after: rest.startIndex)..<end])
      rest = rest[rest.index(after: end)...]
    }
    guard rest.first == " ", let value = Double(rest.dropFirst()) else { throw failure("“\(line)”: no number") }
    guard families[last].type == "gauge" || value >= 0 else { throw failure("a negative counter") }
    guard families[last].samples.updateValue(value, forKey: labels) == nil else { throw failure("\(labels) again") }
  }

  /// Checks `name="value",…`.
  private func check(labels: Substring) throws(Failure) {
    var rest = labels
    var names: Set<String> = []
    while true {
      guard let equals = rest.firstIndex(of: "=") else { throw failure("a label without a value") }
      let name = String(rest[..<equals])
      guard isName(name), !name.contains(":"), names.insert(name).inserted else { throw failure("label \(name)") }
      rest = rest[rest.index(after: equals)...]
      guard rest.first == "\"" else { throw failure("a value without quotes") }
      rest = rest.dropFirst()
      var value = ""
      while let character = rest.first, character != "\"" {
        value.append(character)
        rest = rest.dropFirst()
        guard character == "\\" else { continue }
        guard let escaped = rest.first else { throw failure("an escape at the end") }
        value.append(escaped)
        rest = rest.dropFirst()
      }
      _ = try unescaped(value)
      guard rest.first == "\"" else { throw failure("a value without its end") }
      rest = rest.dropFirst()
      if rest.isEmpty { return }
      guard rest.first == "," else { throw failure("no comma between labels") }
      rest = rest.dropFirst()
    }
  }

  private func unescaped(_ text: String) throws(Failure) -> String {
    var result = ""
    var rest = Substring(text)
    while let character = rest.popFirst() {
      guard character == "\\" else {
        guard character != "\"" else { throw failure("an unescaped quotation mark") }
        result.append(character)
        continue
      }
      switch rest.popFirst() {
      case "n": result.append("\n")
      case "\\": result.append("\\")
      case "\"": result.append("\"")
      default: throw failure("an unknown escape")
      }
    }
    return result
  }

  private func isName(_ text: String) -> Bool {
    text.first.map { $0.isASCII && ($0.isLetter || $0 == "_") } == true
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
  }
}
