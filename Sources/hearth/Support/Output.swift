import Glibc
import Home
import VirtualDevices

/// Where a command's words go: results to standard output, everything else to standard error.
struct Output: Sendable {
  var json = false
  /// Less on standard error: errors only.
  var isQuiet = false
  /// How often -v was given.
  var verbosity = 0

  // MARK: Standard output

  /// One line, or several, of a result; at once, so that whoever reads a pipe sees it.
  func text(_ text: String) { Self.write(text + "\n", to: STDOUT_FILENO) }

  /// A result: as JSON if that was asked for, else as text.
  func result(_ data: JSON, _ text: @autoclosure () -> String) {
    if json {
      self.text((["ok": true, "data": data] as JSON).text)
    } else {
      let text = text()
      if !text.isEmpty { self.text(text) }
    }
  }

  /// An error: with `--json` as an object on standard output.
  func failure(_ error: HomeError) {
    if json {
      self.text((["ok": false, "error": Self.object(error)] as JSON).text)
    } else {
      Self.write("hearth: \(Self.sentence(error))\n", to: STDERR_FILENO)
      if verbosity > 0, let cause = error.cause { Self.write("  cause: \(cause)\n", to: STDERR_FILENO) }
    }
  }

  // MARK: Standard error

  /// What is being done.
  func progress(_ text: String) { if !isQuiet { Self.write(text + "\n", to: STDERR_FILENO) } }
  /// What only the curious want to know.
  func detail(_ text: String) { if verbosity > 0 { Self.write(text + "\n", to: STDERR_FILENO) } }
  func note(_ text: String) { Self.write(text + "\n", to: STDERR_FILENO) }

  // MARK: Errors as text and as JSON

  /// The error with its candidates, for people.
  static func sentence(_ error: HomeError) -> String {
    guard !error.candidates.isEmpty else { return error.description }
    switch error.code {
    case .ambiguousTarget: return error.description + ":\n" + error.candidates.map { "  \($0)" }.joined(separator: "\n")
    default:
      let quoted = error.candidates.map { "“\($0)”" }
      return error.description + "; did you mean "
        + (quoted.count == 1
          ? quoted[0] : quoted.dropLast().joined(separator: ", ") + " or " + quoted[quoted.count - 1])
        + "?"
    }
  }

  static func object(_ error: HomeError) -> JSON {
    var object: JSON = [
      "code": .string(error.code.rawValue), "message": .string(error.message), "device": .optional(error.device),
    ]
    if !error.candidates.isEmpty { object = object.adding("candidates", .array(error.candidates.map { .string($0) })) }
    if let definition = error.cause as? DefinitionError {
      object = object.adding("problems", .array(definition.problems.map(problem)))
    }
    return object
  }

  private static func problem(_ problem: DefinitionProblem) -> JSON {
    [
      "file": .string(problem.mark.file), "line": .integer(problem.mark.line), "column": .integer(problem.mark.column),
      "found": .string(problem.found), "expected": .string(problem.expected),
      "suggestions": .array(problem.suggestions.map { .string($0) }),
    ]
  }

  private static func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
        if count < 0 && errno == EINTR { continue }
        // Nobody reads any more: there is no one to tell.
        guard count > 0 else { return }
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
    }
  }
}
