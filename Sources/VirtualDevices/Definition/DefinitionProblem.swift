/// A place in a definition file.
public struct SourceMark: Hashable, Sendable, CustomStringConvertible {
  /// The file's name as it was given to the loader.
  public var file: String
  /// From 1.
  public var line: Int
  /// From 1, in Unicode scalars.
  public var column: Int

  public init(file: String, line: Int, column: Int) { (self.file, self.line, self.column) = (file, line, column) }

  /// `file:line:column`, which editors and terminals make a link of.
  public var description: String { "\(file):\(line):\(column)" }
}

/// One thing that is wrong in a definition file.
public struct DefinitionProblem: Hashable, Sendable, CustomStringConvertible {
  public var mark: SourceMark
  /// What stands there, ready to be printed.
  public var found: String
  /// What could stand there.
  public var expected: String
  /// Known names that are close to what was found.
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

/// Why definition files can't be used: all that is wrong in them, by file and line.
public struct DefinitionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Never empty.
  public var problems: [DefinitionProblem]

  public init(problems: [DefinitionProblem]) { self.problems = problems }

  /// One line for each problem.
  public var description: String { problems.map(\.description).joined(separator: "\n") }
}
