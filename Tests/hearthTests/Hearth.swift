import Foundation
import Glibc
import Testing

/// Runs the executable with a state directory of its own. Requires a suite with the trait `.processes`.
struct Hearth: Sendable {
  struct Result {
    var end: ChildProcess.End
    var output: String
    var errors: String

    /// The exit status; nil if a signal ended the process.
    var status: Int32? { if case .exit(let status) = end { status } else { nil } }
  }

  let state: String

  init(state: String = FileManager.default.temporaryDirectory.path + "/hearth-cli-" + UUID().uuidString) {
    self.state = state
    ProcessScope.add(directory: state)
  }

  /// The executable under test: `HEARTH` of the environment, for the optimized build; otherwise the one beside the test
  /// runner.
  static var executable: URL {
    get throws { try #require(path, "the executable is not beside the tests") }
  }

  private static let path: URL? = {
    if let path = ProcessInfo.processInfo.environment["HEARTH"] { return URL(filePath: path) }
    let runner = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    var directory = runner.deletingLastPathComponent()
    // On some hosts the runner is inside a bundle.
    for _ in 0..<4 {
      let candidate = directory.appending(path: "hearth")
      if FileManager.default.isExecutableFile(atPath: candidate.path),
        (try? candidate.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true
      {
        return candidate
      }
      directory = directory.deletingLastPathComponent()
    }
    return nil
  }()

  /// The benchmarks, beside the executable.
  static var bench: URL {
    get throws { try executable.deletingLastPathComponent().appending(path: "hearth-bench") }
  }

  /// Starts a command. Its output goes to files, so that it never blocks on a pipe.
  /// - Parameter environment: variables in addition to those of this process.
  func start(
    _ arguments: [String], output: URL, errors: URL, environment: [String: String] = [:]
  ) throws -> ChildProcess {
    // Arguments after --run belong to another command.
    let own = arguments.firstIndex(of: "--run") ?? arguments.count
    let place = ["--help", "--version"].contains(arguments[0]) ? [] : ["--state", state]
    // A separate runtime directory, so that fleets of other tests cause no warnings.
    var variables: [String: String?] = ["XDG_RUNTIME_DIR": state]
    variables.merge(environment) { $1 }
    return try Self.start(
      try Self.executable, arguments[..<own] + place + arguments[own...], environment: variables, output: output,
      errors: errors)
  }

  private static func start(
    _ executable: URL, _ arguments: some Sequence<String>, environment: [String: String?], output: URL, errors: URL
  ) throws -> ChildProcess {
    let files = [output, errors].map { open($0.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600) }
    defer { for file in files where file >= 0 { close(file) } }
    try #require(files.allSatisfy { $0 >= 0 }, "\(output.path) or \(errors.path) can't be opened")
    return try ChildProcess(
      executable, Array(arguments), environment: environment, output: files[0], errors: files[1])
  }

  /// Runs a command and waits for its end.
  func callAsFunction(_ arguments: String...) async throws -> Result { try await run(arguments) }

  /// Runs a command and waits for its end.
  func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Result {
    try await Self.result { try start(arguments, output: $0, errors: $1, environment: environment) }
  }

  /// Runs another executable and waits for its end.
  static func run(
    _ executable: URL, _ arguments: [String], environment: [String: String] = [:]
  ) async throws -> Result {
    try await result { try start(executable, arguments, environment: environment, output: $0, errors: $1) }
  }

  private static func result(_ start: (_ output: URL, _ errors: URL) throws -> ChildProcess) async throws -> Result {
    let base = FileManager.default.temporaryDirectory.appending(path: "hearth-out-" + UUID().uuidString)
    let (output, errors) = (base.appendingPathExtension("out"), base.appendingPathExtension("err"))
    defer { for file in [output, errors] { try? FileManager.default.removeItem(at: file) } }
    let end = try await start(output, errors).end()
    return Result(
      end: end, output: try String(contentsOf: output, encoding: .utf8),
      errors: try String(contentsOf: errors, encoding: .utf8))
  }
}
