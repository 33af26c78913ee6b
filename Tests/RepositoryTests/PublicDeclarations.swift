/// A public declaration, as found in the text of a source file by words and indentation, which `swift format` keeps
/// regular.
struct Declaration: Sendable {
  /// `func`, `var`, `struct`, `case` …
  let keyword: Substring
  let modifiers: Set<Substring>
  /// The name at the call site: `list`, `set(_:of:to:)`, `init(seed:)`.
  let name: String
  /// The text after the keyword, up to the end of the line.
  let rest: Substring
  /// The documentation comment without slashes, or nil.
  let comment: String?
  /// The line number, from 1.
  let line: Int
  /// The enclosing declarations, the outermost first.
  let parents: [Parent]
  /// The statements of an initializer that does not throw.
  let statements: [Substring]?

  struct Parent: Sendable {
    let keyword: Substring
    /// The unqualified name: `Options`.
    let name: String
    let indent: Int
    let isPublic: Bool
  }

  static let types: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "extension"]
  static let members: Set<Substring> = [
    "func", "var", "let", "init", "subscript", "case", "typealias", "associatedtype",
  ]
  static let access: Set<Substring> = ["private", "fileprivate", "internal", "package"]
}

/// The public declarations and the conformances in a source file.
struct SourceText {
  private let lines: [Substring]
  private(set) var declarations: [Declaration] = []
  /// The inherited types of each type, by unqualified name.
  private(set) var conformances: [String: Set<String>] = [:]

  init(_ text: String) {
    lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    var open: [Declaration.Parent] = []
    for index in lines.indices {
      guard let head = Self.head(lines[index]) else { continue }
      while let last = open.last, last.indent >= head.indent { open.removeLast() }
      if Declaration.types.contains(head.keyword) {
        let header = header(from: index, head.rest)
        let name = Self.typeName(header)
        conformances[name, default: []].formUnion(Self.inherited(header))
        if head.keyword != "extension" { record(head, name: name, at: index, in: open) }
        open.append(
          .init(
            keyword: head.keyword, name: name, indent: head.indent,
            isPublic: head.modifiers.contains("public") || head.modifiers.contains("open")))
      } else {
        record(head, name: nil, at: index, in: open)
        // Declarations in a body are not public.
        if ["func", "init", "subscript", "var", "let"].contains(head.keyword) {
          open.append(.init(keyword: head.keyword, name: "", indent: head.indent, isPublic: false))
        }
      }
    }
  }

  /// - Parameter name: the name of a type; nil: parse it.
  private mutating func record(_ head: Head, name: String?, at index: Int, in parents: [Declaration.Parent]) {
    let parent = parents.last
    let isOpen = head.modifiers.contains("public") || head.modifiers.contains("open")
    let isShared =
      switch parent?.keyword {
      case "protocol": parent?.isPublic == true
      case "extension": parent?.isPublic == true && head.modifiers.isDisjoint(with: Declaration.access)
      case "enum": parent?.isPublic == true && head.keyword == "case"
      default: false
      }
    guard isOpen || isShared else { return }
    declarations.append(
      Declaration(
        keyword: head.keyword, modifiers: head.modifiers, name: name ?? self.name(head, at: index), rest: head.rest,
        comment: comment(above: index), line: index + 1, parents: parents,
        statements: head.keyword == "init" ? statements(from: index, head.rest) : nil))
  }

  // MARK: Lines

  private struct Head {
    let indent: Int
    let modifiers: Set<Substring>
    let keyword: Substring
    let rest: Substring
  }

  private static let modifiers: Set<Substring> = [
    "public", "open", "package", "internal", "fileprivate", "private", "static", "final", "indirect", "mutating",
    "nonmutating", "override", "convenience", "required", "nonisolated", "lazy", "weak", "unowned", "consuming",
    "borrowing", "prefix", "postfix", "isolated", "distributed",
  ]

  /// Parses the first line of a declaration; nil if the line is none.
  private static func head(_ line: Substring) -> Head? {
    var rest = line.drop { $0 == " " }
    let indent = line.utf8.count - rest.utf8.count
    guard let first = rest.first, first == "@" || first.isLetter else { return nil }
    var found: Set<Substring> = []
    while true {
      let isAttribute = rest.first == "@"
      var word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "@" || $0 == "_" || $0 == "." }
      rest = rest[word.endIndex...]
      if Declaration.types.contains(word) || Declaration.members.contains(word), rest.first != ":" {
        // In `class func` the word is a modifier.
        guard word == "class", let next = rest.dropFirst().split(separator: " ").first, next == "func" || next == "var"
        else { return Head(indent: indent, modifiers: found, keyword: word, rest: rest) }
      } else if !isAttribute, !modifiers.contains(word) {
        return nil
      }
      if rest.first == "(" {
        let end = rest.firstIndex(of: ")") ?? rest.startIndex
        // `private(set)` does not restrict reading.
        if !isAttribute { word = "" }
        rest = rest[end...].dropFirst()
      }
      found.insert(word)
      rest = rest.drop { $0 == " " }
      if rest.isEmpty { return nil }
    }
  }

  /// The documentation comment above a line, skipping lines with attributes.
  private func comment(above index: Int) -> String? {
    var index = index - 1
    func trimmed(_ index: Int) -> Substring { lines[index].drop { $0 == " " } }
    while index >= 0, trimmed(index).first == "@", Self.head(lines[index]) == nil { index -= 1 }
    var result: [Substring] = []
    while index >= 0, trimmed(index).hasPrefix("///") {
      result.append(trimmed(index).dropFirst(3))
      index -= 1
    }
    return result.isEmpty ? nil : result.reversed().joined(separator: "\n")
  }

  /// The text from the keyword, with enough lines for the parameters and the body.
  private func text(from index: Int, _ rest: Substring) -> String {
    var result = String(rest)
    for line in lines[(index + 1)...].prefix(40) {
      result += "\n"
      result += line
    }
    return result
  }

  // MARK: Names

  private func name(_ head: Head, at index: Int) -> String {
    guard ["func", "init", "subscript"].contains(head.keyword) else {
      return String(head.rest.drop { $0 == " " || $0 == "`" }.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    }
    let text = text(from: index, head.rest)
    let base =
      head.keyword == "func" ? text.drop { $0 == " " || $0 == "`" }.prefix { !"<(` ".contains($0) } : head.keyword
    guard let start = text.firstIndex(of: "(") else { return String(base) }
    let end = Self.closing(text, from: start)
    let labels = Self.parts(text[text.index(after: start)..<end]).map { part -> String in
      let words = part.split { " \n".contains($0) }.drop { $0.hasPrefix("@") }
      return "\(words.first?.prefix { $0 != ":" } ?? "_"):"
    }
    return "\(base)(\(labels.joined()))"
  }

  private func header(from index: Int, _ rest: Substring) -> Substring {
    let text = text(from: index, rest)
    return Substring(text.prefix { $0 != "{" })
  }

  private static func typeName(_ header: Substring) -> String {
    let name = header.drop { $0 == " " || $0 == "`" }.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
    return name.split(separator: ".").last.map(String.init) ?? ""
  }

  private static func inherited(_ header: Substring) -> Set<String> {
    guard let colon = header.firstIndex(of: ":") else { return [] }
    // Generic parameters before the colon may have colons themselves.
    if let angle = header.firstIndex(of: "<"), angle < colon {
      let end = closing(header, from: angle, "<", ">")
      return inherited(header[end...].dropFirst())
    }
    let clause = header[colon...].dropFirst().split(separator: " where ").first ?? ""
    return Set(
      clause.split { ",&\n ".contains($0) }.compactMap { word in
        word.prefix { $0 != "<" }.split(separator: ".").last.map(String.init)
      })
  }

  /// The index of the bracket that closes the one at `start`, or of the last character.
  private static func closing<T: StringProtocol>(
    _ text: T, from start: T.Index, _ open: Character = "(", _ close: Character = ")"
  ) -> T.Index {
    var depth = 0
    for index in text.indices[start...] {
      if text[index] == open { depth += 1 }
      if text[index] == close {
        depth -= 1
        if depth == 0 { return index }
      }
    }
    return text.index(before: text.endIndex)
  }

  /// Splits a text at the commas outside of brackets.
  private static func parts(_ text: Substring) -> [Substring] {
    var (result, depth, start) = ([Substring](), 0, text.startIndex)
    for index in text.indices {
      if "([{<".contains(text[index]) { depth += 1 }
      if ")]}>".contains(text[index]) { depth -= 1 }
      if depth == 0, text[index] == "," {
        result.append(text[start..<index])
        start = text.index(after: index)
      }
    }
    result.append(text[start...])
    return result.filter { $0.contains { $0 != " " && $0 != "\n" } }
  }

  private func statements(from index: Int, _ rest: Substring) -> [Substring]? {
    let text = text(from: index, rest)
    guard let start = text.firstIndex(of: "(") else { return nil }
    let behind = text[Self.closing(text, from: start)...]
    guard let body = behind.firstIndex(of: "{"), !behind[..<body].contains("throws") else { return nil }
    let end = Self.closing(behind, from: body, "{", "}")
    return behind[body..<end].dropFirst().split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
  }
}
