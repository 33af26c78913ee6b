/// The syntax tree of a value, independent of its type: JSON with optional quotes.
package indirect enum ValueSyntax: Hashable, Sendable {
  /// An unquoted token: a number, a name, `true`, `null` or octets.
  case word(String)
  case quoted(String)
  case list([ValueSyntax])
  case object([Member])

  package struct Member: Hashable, Sendable {
    package var name: String
    package var value: ValueSyntax

    package init(name: String, value: ValueSyntax) { (self.name, self.value) = (name, value) }
  }

  /// The text for error messages.
  var errorText: String {
    switch self {
    case .word(let text), .quoted(let text): text
    case .list: "[…]"
    case .object: "{…}"
    }
  }

  package static func parse(_ text: String) throws(ValueTextError) -> ValueSyntax {
    var parser = ValueSyntaxParser(characters: Array(text))
    let value = try parser.value(depth: 0)
    try parser.end()
    return value
  }

  /// Parses the members of an object without braces: `level: 128, transitionTime: null`.
  static func parseMembers(_ text: String) throws(ValueTextError) -> ValueSyntax {
    var parser = ValueSyntaxParser(characters: Array(text))
    let value = try parser.members(until: nil, depth: 0)
    try parser.end()
    return value
  }
}

/// A recursive-descent parser, limited to ``maximumDepth``.
private struct ValueSyntaxParser {
  static let maximumDepth = 16

  let characters: [Character]
  var offset = 0

  init(characters: [Character]) { self.characters = characters }

  var next: Character? { offset < characters.count ? characters[offset] : nil }

  mutating func blanks() { while let next, next.isWhitespace { offset += 1 } }

  func unexpected(_ expected: String) -> ValueTextError {
    .syntax(found: next.map { "'\($0)'" } ?? "the end", expected: expected, offset: offset)
  }

  mutating func end() throws(ValueTextError) {
    blanks()
    guard next == nil else { throw unexpected("the end") }
  }

  mutating func value(depth: Int) throws(ValueTextError) -> ValueSyntax {
    guard depth < Self.maximumDepth else { throw .tooDeep }
    blanks()
    switch next {
    case "[":
      offset += 1
      return try list(depth: depth)
    case "{":
      offset += 1
      return try members(until: "}", depth: depth)
    case "\"": return .quoted(try quoted())
    default: return .word(try word(stops: ",]}"))
    }
  }

  mutating func list(depth: Int) throws(ValueTextError) -> ValueSyntax {
    var entries: [ValueSyntax] = []
    blanks()
    while next != "]" {
      entries.append(try value(depth: depth + 1))
      blanks()
      if next == "," {
        offset += 1
        blanks()
      } else if next != "]" {
        throw unexpected("',' or ']'")
      }
    }
    offset += 1
    return .list(entries)
  }

  mutating func members(until close: Character?, depth: Int) throws(ValueTextError) -> ValueSyntax {
    var members: [ValueSyntax.Member] = []
    blanks()
    while next != close {
      let name = next == "\"" ? try quoted() : try word(stops: ":=,]}")
      blanks()
      guard next == ":" || next == "=" else { throw unexpected("':'") }
      offset += 1
      members.append(.init(name: name, value: try value(depth: depth + 1)))
      blanks()
      if next == "," {
        offset += 1
        blanks()
      } else if next != close {
        throw unexpected(close.map { "',' or '\($0)'" } ?? "','")
      }
    }
    if close != nil { offset += 1 }
    return .object(members)
  }

  mutating func word(stops: String) throws(ValueTextError) -> String {
    let start = offset
    while let next, !stops.contains(next) && next != "\"" && next != "[" && next != "{" { offset += 1 }
    var end = offset
    while end > start, characters[end - 1].isWhitespace { end -= 1 }
    guard end > start else { throw unexpected("a value") }
    return String(characters[start..<end])
  }

  mutating func quoted() throws(ValueTextError) -> String {
    offset += 1
    var text = ""
    while let character = next {
      offset += 1
      switch character {
      case "\"": return text
      case "\\": text += try escape()
      default: text.append(character)
      }
    }
    throw unexpected("'\"'")
  }

  mutating func escape() throws(ValueTextError) -> String {
    guard let character = next else { throw unexpected("an escaped character") }
    offset += 1
    switch character {
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "b": return "\u{8}"
    case "f": return "\u{C}"
    case "\"", "\\", "/": return String(character)
    case "u":
      var unit = try hexUnit()
      if (0xD800..<0xDC00).contains(unit), next == "\\" {
        offset += 1
        guard next == "u" else { throw unexpected("the second half of a surrogate pair") }
        offset += 1
        let low = try hexUnit()
        guard (0xDC00..<0xE000).contains(low) else { throw unexpected("the second half of a surrogate pair") }
        unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
      }
      guard let scalar = Unicode.Scalar(unit) else { throw unexpected("a Unicode character") }
      return String(Character(scalar))
    default:
      offset -= 1
      throw unexpected("one of n r t b f u \" \\ /")
    }
  }

  mutating func hexUnit() throws(ValueTextError) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = next?.hexDigitValue else { throw unexpected("four hexadecimal digits") }
      unit = unit << 4 | UInt32(digit)
      offset += 1
    }
    return unit
  }
}
