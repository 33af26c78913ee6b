/// A position in a definition file.
public struct SourceMark: Hashable, Codable, Sendable, CustomStringConvertible {
  /// The name of the file, as passed to the loader.
  public var file: String
  /// The line, from 1.
  public var line: Int
  /// The column, from 1, in Unicode scalars.
  public var column: Int

  public init(file: String, line: Int, column: Int) { (self.file, self.line, self.column) = (file, line, column) }

  /// `file:line:column`, which editors and terminals turn into a link.
  public var description: String { "\(file):\(line):\(column)" }
}

/// One problem in a definition file.
public struct DefinitionProblem: Hashable, Sendable, CustomStringConvertible {
  public var mark: SourceMark
  /// The text that was found, for display.
  public var found: String
  /// The text that was expected, for display.
  public var expected: String
  /// Known names that are similar to the text.
  public var suggestions: [String]

  public init(at mark: SourceMark, found: String, expected: String, suggestions: [String] = []) {
    (self.mark, self.found, self.expected, self.suggestions) = (mark, found, expected, suggestions)
  }

  /// `file:line:column: found …, expected …, did you mean “…”?`
  public var description: String {
    let question = suggestions.map { "“\($0)”" }.joined(separator: " or ")
    return "\(mark): found \(found), expected \(expected)" + (question.isEmpty ? "" : ", did you mean \(question)?")
  }
}

/// The problems of definition files, in the order of files and lines.
public struct DefinitionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The problems; never empty.
  public var problems: [DefinitionProblem]

  public init(problems: [DefinitionProblem]) { self.problems = problems }

  /// Creates an error with one problem.
  package init(at mark: SourceMark, found: String, expected: String, suggestions: [String] = []) {
    problems = [DefinitionProblem(at: mark, found: found, expected: expected, suggestions: suggestions)]
  }

  /// The problems, one a line.
  public var description: String { problems.map(\.description).joined(separator: "\n") }
}
