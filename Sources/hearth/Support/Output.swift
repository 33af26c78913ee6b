import Glibc
import HearthHome
import Synchronization
import VirtualDevices

/// The output of a command: results on standard output, everything else on standard error.
struct Output: Sendable {
  var json = false
  /// Whether only errors are printed on standard error.
  var isQuiet = false
  /// The number of -v options.
  var verbosity = 0

  // MARK: Standard output

  /// Prints one or more lines of a result, unbuffered, so that the reader of a pipe gets them at once.
  ///
  /// Control characters are escaped, because the text may contain strings from devices.
  func text(_ text: String) {
    if json { return Self.write(text.shownAsJSON() + "\n", to: STDOUT_FILENO) }
    let shown = text.shown(lines: true)
    Self.write((Terminal.hasColors(STDOUT_FILENO) ? Paint.result(shown) : shown) + "\n", to: STDOUT_FILENO)
  }

  /// Prints text with control sequences. The caller has to escape strings from devices as ``text(_:)`` does.
  func screen(_ text: String) { Self.write(text + "\n", to: STDOUT_FILENO) }

  /// Prints a result, as JSON with `--json` and otherwise as text.
  func result(_ data: JSON, _ text: @autoclosure () -> String) {
    if json {
      self.text((["ok": true, "data": data] as JSON).description)
    } else {
      let text = text()
      if !text.isEmpty { self.text(text) }
    }
  }

  /// Prints the results and errors of a command that failed in part, as one JSON object.
  func partialResult(_ data: [JSON], _ error: HomeError, _ failures: [HomeError]) {
    let object: JSON = [
      "ok": false, "error": Self.object(error), "data": .array(data), "failures": .array(failures.map(Self.object)),
    ]
    text(object.description)
  }

  /// Prints an error, with `--json` as an object on standard output.
  func failure(_ error: HomeError) {
    if json {
      self.text((["ok": false, "error": Self.object(error)] as JSON).description)
    } else {
      note("hearth: \(Self.sentence(error))")
      if verbosity > 0, let cause = error.cause { note("  cause: \(cause)") }
    }
  }

  // MARK: Standard error

  /// Prints a progress message unless --quiet is given.
  func progress(_ text: String) { if !isQuiet { note(text) } }
  /// Prints a message if --verbose is given.
  func detail(_ text: String) { if verbosity > 0 { note(text) } }
  func note(_ text: String) {
    let shown = text.shown(lines: true)
    Self.write((Terminal.hasColors(STDERR_FILENO) ? Paint.message(shown) : shown) + "\n", to: STDERR_FILENO)
  }

  // MARK: Errors as text and as JSON

  /// The maximum number of names after “did you mean”. The candidates of an ambiguous name are all listed.
  private static let suggestionCount = 3

  /// Returns the error with its candidates as text.
  static func sentence(_ error: HomeError) -> String {
    let text = (error.device.map { "\($0): " } ?? "") + error.messageAndHint
    guard !error.candidates.isEmpty else { return text }
    switch error.code {
    case .ambiguousTarget: return text + ":\n" + error.candidates.map { "  \($0)" }.joined(separator: "\n")
    default:
      let quoted = error.candidates.prefix(suggestionCount).map { "“\($0)”" }
      return text + "; did you mean "
        + (quoted.count == 1
          ? quoted[0] : quoted.dropLast().joined(separator: ", ") + " or " + quoted[quoted.count - 1])
        + "?"
    }
  }

  static func object(_ error: HomeError) -> JSON {
    var object: JSON = [
      "code": .string(error.code.rawValue), "message": .string(error.messageAndHint), "device": .optional(error.device),
    ]
    let candidates = error.code == .ambiguousTarget ? error.candidates[...] : error.candidates.prefix(suggestionCount)
    if !candidates.isEmpty { object = object.adding("candidates", .texts(candidates)) }
    if let definition = error.cause as? DefinitionError {
      object = object.adding("problems", .array(definition.problems.map(problem)))
    }
    return object
  }

  private static func problem(_ problem: DefinitionProblem) -> JSON {
    [
      "file": .string(problem.mark.file), "line": .int(problem.mark.line), "column": .int(problem.mark.column),
      "found": .string(problem.found), "expected": .string(problem.expected),
      "suggestions": .texts(problem.suggestions),
    ]
  }

  /// The error number of the first failed write of a result; 0 if there was none.
  private static let writeError = Atomic<Int32>(0)

  /// Why a result could not be written; nil if all were written.
  static var lostResults: String? {
    let number = writeError.load(ordering: .relaxed)
    return number == 0 ? nil : "standard output can't be written: \(String(cString: strerror(number)))"
  }

  private static let (writeFailure, writeFailureContinuation) = AsyncStream.makeStream(of: Void.self)

  /// Waits until a result can't be written because the reader closed the pipe or the disk is full. Streaming commands end then.
  static func waitForWriteFailure() async { for await _ in writeFailure {} }

  private static func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else {
          guard descriptor == STDOUT_FILENO else { return }
          writeFailureContinuation.finish()
          // If the reader closed the pipe, exit quietly. Other errors, such as a full disk, are reported.
          if count < 0, errno != EPIPE {
            _ = writeError.compareExchange(expected: 0, desired: errno, ordering: .relaxed)
          }
          return
        }
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
    }
  }
}
