import Foundation

/// A running command and its output.
struct Follower {
  let process: ChildProcess
  private let output: URL

  init(_ hearth: Hearth, _ arguments: String...) throws { try self.init(hearth, arguments) }

  init(_ hearth: Hearth, _ arguments: [String]) throws {
    output = URL(filePath: hearth.state).appending(path: "follower-\(UUID().uuidString).out")
    process = try hearth.start(arguments, output: output, errors: output.appendingPathExtension("err"))
  }

  /// The lines of standard output so far.
  var lines: [String] {
    ((try? String(contentsOf: output, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
  }

  /// The standard error so far.
  var errors: String { (try? String(contentsOf: output.appendingPathExtension("err"), encoding: .utf8)) ?? "" }

  /// Waits until enough lines of the output contain a text.
  /// - Returns: false if the process ends before, or the time elapses.
  func waits(for text: String, times: Int = 1) async -> Bool {
    func isFound() -> Bool { lines.count { $0.contains(text) } >= times }
    return await eventually { isFound() || !process.isRunning } && isFound()
  }

  /// Waits until the standard error contains a text.
  /// - Returns: false if the process ends before, or the time elapses.
  func reports(_ text: String) async -> Bool {
    await eventually { errors.contains(text) || !process.isRunning } && errors.contains(text)
  }

  /// Sends SIGINT and waits for the end of the command.
  func interrupt() async -> ChildProcess.End {
    process.interrupt()
    return await process.end()
  }
}
