import ArgumentParser
import Glibc
import HearthHome
import MatterProtocol
import Synchronization

/// Parses the command line, runs the command, and maps its outcome to an exit code.
@main enum Main {
  private static let start = ContinuousClock.now

  /// Whether -v was given twice.
  private static let isTracing = Verbosity.count(in: Array(CommandLine.arguments.dropFirst())) > 1

  static func main() async {
    _ = start
    // Occupies closed standard descriptors; otherwise the next socket or file gets their number, and results are written to it.
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // Read-only, so that writing a result fails and is reported.
      _ = open("/dev/null", O_RDONLY)
    }
    // The parent process may have set SIG_IGN, which is inherited and would discard the exit statuses of our children.
    signal(SIGCHLD, SIG_DFL)
    // Commands with cleanup replace this handler.
    signal(SIGINT) { _ in _exit(ProcessExit.interrupted.rawValue) }
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
      var command = try Hearth.parseAsRoot(arguments)
      if isTracing {
        Output().note("hearth \(HearthVersion.text), process \(getpid()): \(type(of: command)._commandName)")
      }
      try GlobalOptions.parsed.withLock { $0 }?.loadClusters()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch let error as ArgumentParser.ExitCode {
      end(error.rawValue)
    } catch {
      end(finish(error, arguments).rawValue)
    }
    end(ProcessExit.success.rawValue)
  }

  /// Exits. A command whose results could not be written fails, even if it succeeded otherwise.
  private static func end(_ status: Int32) -> Never {
    if isTracing {
      let time = TimeSpan.text(.milliseconds((ContinuousClock.now - start).milliseconds))
      Output().note("hearth: exit code \(status) after \(time)")
    }
    guard let lost = Output.lostResults else { exit(status) }
    Output().note("hearth: \(lost)")
    exit(status == ProcessExit.success.rawValue ? ProcessExit.internalError.rawValue : status)
  }

  /// Prints an error, or the requested help.
  private static func finish(_ error: any Error, _ arguments: [String]) -> ProcessExit {
    let output = Output(json: arguments.prefix { $0 != "--" }.contains("--json"))
    if let error = error as? HomeError {
      output.failure(error)
      return ProcessExit(error.code)
    }
    if error is CancellationError { return .interrupted }
    // All other errors are the argument parser's: a request for help, or invalid arguments.
    if Hearth.exitCode(for: error) == .success {
      // The argument parser prints the help of the last command that it knows.
      if arguments.contains("help"), let failure = UsageError.unknownCommand(arguments) {
        output.failure(failure)
        return .badArguments
      }
      output.text(Hearth.fullMessage(for: error))
      return .success
    }
    if isUsage(error) {
      let failure =
        UsageError.unknownCommand(arguments) ?? UsageError.unknownOption(arguments)
        ?? UsageError.error(Hearth.message(for: error))
      output.failure(failure)
      let usage = UsageError.usage(Hearth.fullMessage(for: error))
      if !output.json, !usage.isEmpty { output.note(usage) }
      return .badArguments
    }
    output.failure(HomeError(error))
    return .internalError
  }

  private static func isUsage(_ error: any Error) -> Bool {
    error is ValidationError || Hearth.exitCode(for: error) == .validationFailure
  }
}
