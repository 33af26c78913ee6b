import ArgumentParser
import Glibc
import Home
import MatterProtocol

/// Starts the command that was asked for, and turns whatever comes of it into an exit code of the contract.
@main enum Main {
  private static let start = ContinuousClock.now

  /// Whether -v was given twice.
  private static let isTracing = Verbosity.count(in: Array(CommandLine.arguments.dropFirst())) > 1

  static func main() async {
    _ = start
    // Else what is opened next, a socket or a file, is where results are written to.
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // To be read only: who writes a result to it is told.
      _ = open("/dev/null", O_RDONLY)
    }
    // Whoever started us may ignore the ends of his children; we want to know of ours.
    signal(SIGCHLD, SIG_DFL)
    // A command that has something to put in order takes the signal over.
    signal(SIGINT) { _ in _exit(ProcessExit.interrupted.rawValue) }
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
      var command = try Hearth.parseAsRoot(arguments)
      if isTracing {
        Output().note("hearth \(HearthVersion.text), process \(getpid()): \(type(of: command)._commandName)")
      }
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

  /// A command whose results went nowhere is not done, whatever it says itself.
  private static func end(_ status: Int32) -> Never {
    if isTracing {
      let time = TimeSpan.text(.milliseconds((ContinuousClock.now - start).milliseconds))
      Output().note("hearth: exit code \(status) after \(time)")
    }
    guard let lost = Output.lostResults else { exit(status) }
    Output().note("hearth: \(lost)")
    exit(status == ProcessExit.success.rawValue ? ProcessExit.internalError.rawValue : status)
  }

  /// Tells the user what went wrong.
  private static func finish(_ error: any Error, _ arguments: [String]) -> ProcessExit {
    let output = Output(json: arguments.prefix { $0 != "--" }.contains("--json"))
    if let error = error as? HomeError {
      output.failure(error)
      return ProcessExit(error.code)
    }
    if error is CancellationError { return .interrupted }
    // What is left is the argument parser's: a request for help, or arguments that don't fit.
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
