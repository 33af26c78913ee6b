import Glibc
import Home
import Synchronization
import VirtualDevices

/// Where a command's words go: results to standard output, everything else to standard error.
struct Output: Sendable {
  var json = false
  /// Less on standard error: errors only.
  var isQuiet = false
  /// How often -v was given.
  var verbosity = 0

  // MARK: Standard output

  /// One line, or several, of a result; at once, so that whoever reads a pipe sees it. What a device says of itself may be in it:
  /// it comes to no terminal as anything but letters.
  func text(_ text: String) {
    if json { return Self.write(text.shownAsJSON() + "\n", to: STDOUT_FILENO) }
    let shown = text.shown(lines: true)
    Self.write((Terminal.hasColors(STDOUT_FILENO) ? Paint.result(shown) : shown) + "\n", to: STDOUT_FILENO)
  }

  /// What has a terminal do something; all else in it is to be as ``text(_:)`` has it.
  func screen(_ text: String) { Self.write(text + "\n", to: STDOUT_FILENO) }

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
      note("hearth: \(Self.sentence(error))")
      if verbosity > 0, let cause = error.cause { note("  cause: \(cause)") }
    }
  }

  // MARK: Standard error

  /// What is being done.
  func progress(_ text: String) { if !isQuiet { note(text) } }
  /// What only the curious want to know.
  func detail(_ text: String) { if verbosity > 0 { note(text) } }
  func note(_ text: String) {
    let shown = text.shown(lines: true)
    Self.write((Terminal.hasColors(STDERR_FILENO) ? Paint.message(shown) : shown) + "\n", to: STDERR_FILENO)
  }

  // MARK: Errors as text and as JSON

  /// How many names “did you mean” has at most. All that an ambiguous one may mean are listed.
  private static let suggestionCount = 3

  /// The error with its candidates, for people.
  static func sentence(_ error: HomeError) -> String {
    guard !error.candidates.isEmpty else { return error.description }
    switch error.code {
    case .ambiguousTarget: return error.description + ":\n" + error.candidates.map { "  \($0)" }.joined(separator: "\n")
    default:
      let quoted = error.candidates.prefix(suggestionCount).map { "“\($0)”" }
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
    let candidates = error.code == .ambiguousTarget ? error.candidates[...] : error.candidates.prefix(suggestionCount)
    if !candidates.isEmpty { object = object.adding("candidates", .array(candidates.map { .string($0) })) }
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

  /// The error number of the first result that could not be written; 0: all were.
  private static let lost = Atomic<Int32>(0)

  /// Why a result is lost; nil: none is.
  static var lostResults: String? {
    let number = lost.load(ordering: .relaxed)
    return number == 0 ? nil : "standard output can't be written: \(String(cString: strerror(number)))"
  }

  private static let (readers, readersEnd) = AsyncStream.makeStream(of: Void.self)

  /// PendingWork until a result can't be written: nobody reads it any more, or there is no room for it. Whoever goes on telling results
  /// ends then.
  static func waitForLoss() async { for await _ in readers {} }

  private static func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else {
          guard descriptor == STDOUT_FILENO else { return }
          readersEnd.finish()
          // Where nobody reads any more there is no one to tell. A full disk is another thing: somebody will read what is there.
          if count < 0, errno != EPIPE {
            _ = lost.compareExchange(expected: 0, desired: errno, ordering: .relaxed)
          }
          return
        }
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
    }
  }
}
