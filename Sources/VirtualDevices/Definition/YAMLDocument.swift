package import Yams

/// A definition file parsed by Yams, with its errors converted to ``DefinitionError``.
package struct YAMLDocument {
  let file: String
  let text: String

  package init(file: String, text: String) {
    self.file = file
    // With an explicit encoding, libYAML takes a byte order mark for a character.
    self.text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
  }

  /// Returns the root node, or nil for a file without content.
  package func root() throws(DefinitionError) -> Node? {
    do {
      return try Yams.compose(yaml: text, .default, .default, .utf8)
    } catch let error as YamlError {
      throw DefinitionError(problems: [problem(from: error)])
    } catch {
      throw DefinitionError(problems: [notYAML("\(error)", at: mark(line: 1, column: 1))])
    }
  }

  package func mark(line: Int, column: Int) -> SourceMark { SourceMark(file: file, line: line, column: column) }

  package func mark(of node: Node) -> SourceMark {
    node.mark.map { mark(line: $0.line, column: $0.column) } ?? mark(line: 1, column: 1)
  }

  private func problem(from error: YamlError) -> DefinitionProblem {
    switch error {
    case .scanner(let context, let problem, let location, _), .parser(let context, let problem, let location, _):
      let details = context.map { ", \($0.text) that begins in line \($0.mark.line)" } ?? ""
      return notYAML(problem + details, at: mark(line: location.line, column: location.column))
    case .composer(_, let problem, let location, _):
      if problem == "but found another document" {
        return DefinitionProblem(
          at: mark(line: location.line, column: location.column), found: "a second document (---)",
          expected: "one for each file")
      }
      return notYAML(problem, at: mark(line: location.line, column: location.column))
    case .reader(let problem, let offset, _, _):
      return notYAML(problem, at: mark(ofCharacter: offset ?? 0))
    case .duplicatedKeysInMapping(let duplicates, let context):
      return duplicate(duplicates.first ?? "", first: context.mark)
    default:
      return notYAML("\(error)", at: mark(line: 1, column: 1))
    }
  }

  private func notYAML(_ reason: String, at mark: SourceMark) -> DefinitionProblem {
    let lines = self.lines
    let isTab =
      lines.indices.contains(mark.line - 1)
      && lines[mark.line - 1].prefix { $0 == " " || $0 == "\t" }.contains("\t")
    return DefinitionProblem(
      at: mark, found: "text that is not YAML (\(reason))",
      expected: isTab ? "blanks: a tab can't indent" : "“key: value” lines with consistent indentation"
    )
  }

  // MARK: Positions that Yams does not report

  private var lines: [[Unicode.Scalar]] {
    text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { Array($0.unicodeScalars) }
  }

  private func mark(ofCharacter offset: Int) -> SourceMark {
    let before = text.prefix(offset).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    return mark(line: max(1, before.count), column: (before.last?.unicodeScalars.count ?? 0) + 1)
  }

  /// Reports a duplicate key. Yams reports the position of the first occurrence only: the second one is in the next
  /// line with the key in the same column in a block, or the next one that follows in braces.
  private func duplicate(_ key: String, first: Mark) -> DefinitionProblem {
    let lines = self.lines
    let wanted = Array(key.unicodeScalars)
    func isKey(_ line: [Unicode.Scalar], at column: Int) -> Bool {
      var remaining = line.dropFirst(column)
      if remaining.first == "\"" || remaining.first == "'" { remaining = remaining.dropFirst() }
      guard remaining.starts(with: wanted) else { return false }
      return remaining.dropFirst(wanted.count).first { $0 != " " && $0 != "\"" && $0 != "'" } == ":"
    }
    var again = (line: first.line, column: first.column)
    let column = first.column - 1
    if let later = lines.indices.dropFirst(first.line).first(where: { index in
      lines[index].prefix(column).allSatisfy { $0 == " " } && isKey(lines[index], at: column)
    }) {
      again = (later + 1, first.column)
    } else {
      search: for index in lines.indices.dropFirst(first.line - 1) {
        let start = index == first.line - 1 ? first.column : 0
        for column in lines[index].indices.dropFirst(start) where isKey(lines[index], at: column) {
          if column == 0 || " ,{\"'".unicodeScalars.contains(lines[index][column - 1]) {
            again = (index + 1, column + 1)
            break search
          }
        }
      }
    }
    return DefinitionProblem(
      at: mark(line: again.line, column: again.column), found: "the key “\(key)” again",
      expected: "each key once; it is in line \(first.line) already")
  }
}
