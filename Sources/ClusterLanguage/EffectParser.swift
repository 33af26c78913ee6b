/// An effect of a command, as a line below it declares it.
package struct EffectDeclaration {
  package var line: SourceLine
  package var action: EffectAction
}

/// What an effect does, with the names of attributes, events and fields of the cluster.
package enum EffectAction {
  case set(attribute: String, to: OperandText)
  case toggle(attribute: String)
  case add(OperandText, attribute: String)
  /// The time is a number of units; the unit is in milliseconds.
  case transition(attribute: String, to: OperandText, over: OperandText, unit: Int)
  case emit(event: String, [(field: String, value: OperandText)])
  case answer([(field: String, value: OperandText)])
}

/// A value in an effect.
package enum OperandText {
  /// A field of the command, `field.Level`.
  case field(String)
  /// An attribute of the cluster, `attribute.Speed`.
  case attribute(String)
  /// A value in the form of initial values.
  case constant(String)
}

/// Parses the effects of commands.
enum EffectParser {
  private static let keywords = ["set", "toggle", "add", "transition", "emit", "answer"]
  /// The units of times in milliseconds.
  private static let units = ["ms": 1, "tenths": 100, "s": 1000, "min": 60_000]

  static func isEffect(_ word: Substring) -> Bool { SourceLine.number(word) == nil }

  static func action(_ line: inout SourceLine) throws(CatalogueError) -> EffectAction {
    let keyword = try line.readWord("an effect")
    let action: EffectAction
    switch keyword {
    case "set":
      let name = try line.readName("the name of an attribute")
      try require("=", &line)
      action = .set(attribute: name, to: try operand(&line))
    case "toggle": action = .toggle(attribute: try line.readName("the name of an attribute"))
    case "add":
      let value = try operand(&line)
      try require("to", &line)
      action = .add(value, attribute: try line.readName("the name of an attribute"))
    case "transition":
      let name = try line.readName("the name of an attribute")
      try require("to", &line)
      let value = try operand(&line)
      try require("over", &line)
      let (time, unit) = try time(&line)
      action = .transition(attribute: name, to: value, over: time, unit: unit)
    case "emit": action = .emit(event: try line.readName("the name of an event"), try values(&line))
    case "answer": action = .answer(try values(&line))
    default:
      throw line.error(
        "“\(keyword)” is not an effect; expected \(keywords.joined(separator: ", ")), or the number of a field")
    }
    try line.end("the end of the line")
    return action
  }

  private static func require(_ word: String, _ line: inout SourceLine) throws(CatalogueError) {
    guard line.skip(word) else {
      throw line.error("\(line.next.map { "“\($0)” is unknown here" } ?? "the line ends"); expected \(word)")
    }
  }

  private static func operand(_ line: inout SourceLine) throws(CatalogueError) -> OperandText {
    let word = try line.readWord("a value, field. and a name, or attribute. and a name")
    if word.hasPrefix("field.") { return .field(String(word.dropFirst(6))) }
    if word.hasPrefix("attribute.") { return .attribute(String(word.dropFirst(10))) }
    return .constant(word)
  }

  private static func values(_ line: inout SourceLine) throws(CatalogueError) -> [(field: String, value: OperandText)] {
    var values: [(field: String, value: OperandText)] = []
    while line.next != nil {
      let name = try line.readName("the name of a field")
      try require("=", &line)
      values.append((name, try operand(&line)))
    }
    return values
  }

  /// Parses `3s`, or a field or attribute with its unit: `field.Time tenths`.
  private static func time(_ line: inout SourceLine) throws(CatalogueError) -> (OperandText, unit: Int) {
    let value = try operand(&line)
    guard case .constant(let text) = value else {
      let word = try line.readWord("the unit of the time: ms, tenths, s or min")
      guard let unit = units[word] else { throw line.error("“\(word)” is not a unit; expected ms, tenths, s or min") }
      return (value, unit)
    }
    let digits = text.prefix { $0.isNumber }
    guard !digits.isEmpty, let unit = units[String(text.dropFirst(digits.count))] else {
      throw line.error("“\(text)” is not a time; expected a number and its unit such as 3s, 500ms or 2min")
    }
    return (.constant(String(digits)), unit)
  }
}
