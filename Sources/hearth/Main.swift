import ArgumentParser
import Glibc
import Home

/// Starts the command that was asked for, and turns whatever comes of it into an exit code of the contract.
@main enum Main {
  static func main() async {
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
      output.text(Hearth.fullMessage(for: error))
      return .success
    }
    if isUsage(error) {
      let message = Hearth.message(for: error)
      if output.json {
        output.failure(HomeError(.badArguments, message))
      } else {
        output.note(Hearth.fullMessage(for: error))
      }
      return .badArguments
    }
    output.failure(HomeError(error))
    return .internalError
  }

  private static func isUsage(_ error: any Error) -> Bool {
    error is ValidationError || Hearth.exitCode(for: error) == .validationFailure
  }
}
