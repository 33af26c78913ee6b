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
package struct ConformanceParser {
  private let bytes: [UInt8]
  private let mask: (String) -> UInt32?
  private var position = 0
  /// The names of the expression.
  private(set) var names: [String] = []

  private static let keywords: [String: ConformancePart.Requirement] = [
    "M": .mandatory, "O": .optional, "P": .provisional, "D": .deprecated, "X": .notAllowed, "desc": .undetermined,
  ]

  /// - Parameter mask: the bit of a feature by its code; nil for the name of an element.
  package init(_ text: String, mask: @escaping (String) -> UInt32?) {
    (bytes, self.mask) = (Array(text.utf8), mask)
  }

  /// Returns the parts between commas.
  package mutating func parts() throws(ConformanceSyntaxError) -> [ConformancePart] {
    var parts = [try part()]
    while takes(",") { parts.append(try part()) }
    guard position == bytes.count else { throw error("an operator, a comma or the end") }
    return parts
  }

  private mutating func part() throws(ConformanceSyntaxError) -> ConformancePart {
    let start = position
    if let requirement = Self.keywords[word()] {
      skipBlanks()
      let next = position < bytes.count ? bytes[position] : UInt8(ascii: ",")
      guard next == UInt8(ascii: ",") || next == UInt8(ascii: ".") else { throw error("a comma or the end") }
      return ConformancePart(requirement: requirement, choice: requirement == .optional ? try choice() : nil)
    }
    position = start
    let isOptional = takes("[")
    let conditionStart = position
    let condition = try anyCondition()
    let conditionText = describe(condition, from: conditionStart)
    guard isOptional else {
      return ConformancePart(requirement: .mandatory, condition: condition, conditionText: conditionText)
    }
    guard takes("]") else { throw error("]") }
    return ConformancePart(
      requirement: .optional, condition: condition, conditionText: conditionText, choice: try choice())
  }

  /// Returns the condition with blanks around its operators.
  private func describe(_ condition: ConformancePart.Condition, from start: Int) -> String {
    let text = String(decoding: bytes[start..<position], as: UTF8.self).split(separator: " ").joined()
    if case .feature = condition { return "feature \(text)" }
    return text.reduce(into: "") { $0 += "&|^".contains($1) ? " \($1) " : "\($1)" }
  }

  private mutating func choice() throws(ConformanceSyntaxError) -> ConformancePart.Choice? {
    guard takes(".") else { return nil }
    guard let letter = bytes[position...].first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter) else {
      throw error("the letter of a choice")
    }
    position += 1
    let name = String(decoding: [letter], as: UTF8.self)
    let digits = word()
    guard let number = digits.isEmpty ? 1 : Int(digits) else { throw error("a number, +, - or the end of the part") }
    if takes("+") { return ConformancePart.Choice(name: name, minimum: number) }
    if takes("-") { return ConformancePart.Choice(name: name, minimum: 0, maximum: number) }
    return ConformancePart.Choice(name: name, minimum: number, maximum: number)
  }

  // MARK: Conditions

  private mutating func anyCondition() throws(ConformanceSyntaxError) -> ConformancePart.Condition {
    var conditions = [try oneCondition()]
    while takes("|") { conditions.append(try oneCondition()) }
    return conditions.count == 1 ? conditions[0] : .any(conditions)
  }

  private mutating func oneCondition() throws(ConformanceSyntaxError) -> ConformancePart.Condition {
    var conditions = [try allCondition()]
    while takes("^") { conditions.append(try allCondition()) }
    return conditions.count == 1 ? conditions[0] : .exactlyOne(conditions)
  }

  private mutating func allCondition() throws(ConformanceSyntaxError) -> ConformancePart.Condition {
    var conditions = [try term()]
    while takes("&") { conditions.append(try term()) }
    return conditions.count == 1 ? conditions[0] : .all(conditions)
  }

  private mutating func term() throws(ConformanceSyntaxError) -> ConformancePart.Condition {
    if takes("!") { return .not(try term()) }
    if takes("(") {
      let condition = try anyCondition()
      guard takes(")") else { throw error(")") }
      return condition
    }
    skipBlanks()
    let start = position
    let left = try operand("the name of a feature or element")
    for comparison in ConformancePart.Comparison.allCases where takes(comparison.rawValue) {
      return .comparison(left, comparison, try operand("a number or the name of an attribute"))
    }
    guard case .attribute(let name) = left else {
      position = start
      throw error("the name of a feature or element")
    }
    return mask(name).map { .feature($0) } ?? .element(name)
  }

  private mutating func operand(_ expected: String) throws(ConformanceSyntaxError) -> ConformancePart.Operand {
    skipBlanks()
    let start = position
    let word = word()
    if let number = Int64(word) { return .number(number) }
    guard !word.isEmpty, Self.keywords[word] == nil else {
      position = start
      throw error(expected)
    }
    names.append(word)
    return .attribute(word)
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

  private func error(_ expected: String) -> ConformanceSyntaxError {
    ConformanceSyntaxError(position: position, expected: expected)
  }
}
