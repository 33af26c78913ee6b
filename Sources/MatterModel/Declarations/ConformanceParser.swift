/// Parses conformance expressions. Matter Core § 7.3.
///
///     expression   part {"," part}
///     part         "M" | "P" | "D" | "X" | "desc" | "O" [choice] | "[" any "]" [choice] | any
///     choice       "." letter [number] ["+" | "-"]
///     any          one {"|" one}
///     one          all {"^" all}
///     all          term {"&" term}
///     term         "!" term | "(" any ")" | operand [comparison operand]
///     operand      name | number
struct ConformanceParser {
  private let text: String
  private let bytes: [UInt8]
  private let features: [Feature]
  private var position = 0

  private static let keywords: [String: Conformance.Requirement] = [
    "M": .mandatory, "O": .optional, "P": .provisional, "D": .deprecated, "X": .notAllowed, "desc": .undetermined,
  ]

  init(_ text: String, _ features: [Feature]) {
    (self.text, self.features) = (text, features)
    bytes = Array(text.utf8)
  }

  mutating func parts() throws(ConformanceError) -> [Conformance.Part] {
    var parts = [try part()]
    while takes(",") { parts.append(try part()) }
    guard position == bytes.count else { throw error("an operator, a comma or the end") }
    return parts
  }

  private mutating func part() throws(ConformanceError) -> Conformance.Part {
    let start = position
    if let requirement = Self.keywords[word()], isEndOfPart {
      return Conformance.Part(requirement: requirement, choice: requirement == .optional ? try choice() : nil)
    }
    position = start
    let isOptional = takes("[")
    let conditionStart = position
    let condition = try anyCondition()
    let conditionText = describe(condition, from: conditionStart)
    guard isOptional else {
      return Conformance.Part(requirement: .mandatory, condition: condition, conditionText: conditionText)
    }
    guard takes("]") else { throw error("]") }
    return Conformance.Part(
      requirement: .optional, condition: condition, conditionText: conditionText, choice: try choice())
  }

  /// Whether a comma, a choice or the end follows.
  private var isEndOfPart: Bool {
    guard let next = bytes[position...].first(where: { $0 != UInt8(ascii: " ") }) else { return true }
    return next == UInt8(ascii: ",") || next == UInt8(ascii: ".")
  }

  /// Returns the condition with blanks around its operators.
  private func describe(_ condition: Conformance.Condition, from start: Int) -> String {
    let text = String(decoding: bytes[start..<position], as: UTF8.self).split(separator: " ").joined()
    if case .feature = condition { return "feature \(text)" }
    return text.reduce(into: "") { $0 += "&|^".contains($1) ? " \($1) " : "\($1)" }
  }

  private mutating func choice() throws(ConformanceError) -> Conformance.Choice? {
    guard takes(".") else { return nil }
    guard let letter = bytes[position...].first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter) else {
      throw error("the letter of a choice")
    }
    position += 1
    let name = String(decoding: [letter], as: UTF8.self)
    let digits = word()
    guard let number = digits.isEmpty ? 1 : Int(digits) else { throw error("a number, +, - or the end of the part") }
    if takes("+") { return Conformance.Choice(name: name, minimum: number) }
    if takes("-") { return Conformance.Choice(name: name, minimum: 0, maximum: number) }
    return Conformance.Choice(name: name, minimum: number, maximum: number)
  }

  // MARK: Conditions

  private mutating func anyCondition() throws(ConformanceError) -> Conformance.Condition {
    var conditions = [try oneCondition()]
    while takes("|") { conditions.append(try oneCondition()) }
    return conditions.count == 1 ? conditions[0] : .any(conditions)
  }

  private mutating func oneCondition() throws(ConformanceError) -> Conformance.Condition {
    var conditions = [try allCondition()]
    while takes("^") { conditions.append(try allCondition()) }
    return conditions.count == 1 ? conditions[0] : .exactlyOne(conditions)
  }

  private mutating func allCondition() throws(ConformanceError) -> Conformance.Condition {
    var conditions = [try term()]
    while takes("&") { conditions.append(try term()) }
    return conditions.count == 1 ? conditions[0] : .all(conditions)
  }

  private mutating func term() throws(ConformanceError) -> Conformance.Condition {
    if takes("!") { return .not(try term()) }
    if takes("(") {
      let condition = try anyCondition()
      guard takes(")") else { throw error(")") }
      return condition
    }
    let start = position
    let name = word()
    guard !name.isEmpty else { throw error("the name of a feature or element") }
    let operand = Int64(name).map { Conformance.Operand.number($0) } ?? .attribute(name)
    for comparison in Conformance.Comparison.allCases where takes(comparison.rawValue) {
      let other = word()
      guard !other.isEmpty else { throw error("a number or the name of an attribute") }
      return .comparison(operand, comparison, Int64(other).map { .number($0) } ?? .attribute(other))
    }
    guard case .attribute = operand else {
      position = start
      throw error("the name of a feature or element")
    }
    return features.first { $0.code == name }.map { .feature($0.mask) } ?? .element(name)
  }

  // MARK: Characters

  /// Removes the token if it is next, after blanks.
  private mutating func takes(_ token: String) -> Bool {
    skipBlanks()
    guard bytes[position...].starts(with: token.utf8) else { return false }
    position += token.utf8.count
    return true
  }

  /// Removes and returns letters, digits and underscores, after blanks.
  private mutating func word() -> String {
    skipBlanks()
    let word = bytes[position...].prefix { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    position += word.count
    return String(decoding: word, as: UTF8.self)
  }

  private mutating func skipBlanks() {
    while position < bytes.count, bytes[position] == UInt8(ascii: " ") { position += 1 }
  }

  private func error(_ expected: String) -> ConformanceError {
    ConformanceError(text: text, position: position, expected: expected)
  }
}
