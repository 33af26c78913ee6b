import ArgumentParser
import Home
import MatterModel

/// Converts the argument parser's errors to the style of all other errors.
enum UsageError {
  /// Converts a message to lower case without a full stop.
  static func error(_ message: String) -> HomeError {
    var text = message.replacing(". Did you mean", with: "; did you mean")
    while text.last == "." || text.last?.isWhitespace == true { text.removeLast() }
    if text.hasSuffix("<time>'") { text += ": \(TimeSpan.example)" }
    // A word in capitals is not changed.
    if let first = text.first, text.dropFirst().first?.isUppercase != true {
      text = first.lowercased() + text.dropFirst()
    }
    return HomeError(.badArguments, text)
  }

  /// Returns the usage lines of a message.
  static func usage(_ fullMessage: String) -> String {
    let lines = fullMessage.split(separator: "\n", omittingEmptySubsequences: false)
    guard let start = lines.firstIndex(where: { $0.hasPrefix("Usage:") }) else { return "" }
    return lines[start...].joined(separator: "\n")
  }

  /// Returns the error for an unknown command name, or nil if all names are known.
  static func unknownCommand(_ arguments: [String]) -> HomeError? {
    var command: any ParsableCommand.Type = Hearth.self
    var path = ""
    for argument in arguments where !argument.hasPrefix("-") {
      let commands = command.configuration.subcommands
      guard !commands.isEmpty else { return nil }
      var names: [String] = []
      var next: (any ParsableCommand.Type)?
      for candidate in commands {
        names.append(candidate._commandName)
        if candidate._commandName == argument { next = candidate }
      }
      if let next {
        command = next
        path += "\(argument) "
        continue
      }
      guard command.configuration.defaultSubcommand == nil, argument != "help" else { return nil }
      return HomeError(
        .badArguments, "unknown command “\(path)\(argument)”",
        candidates: NearestName.suggestions(for: argument, in: names).map { path + $0 })
    }
    return nil
  }
}

/// Counts -v options before the command line is parsed.
enum Verbosity {
  static func count(in arguments: [String]) -> Int {
    arguments.prefix { $0 != "--" }.reduce(0) { count, argument in
      if argument == "--verbose" { return count + 1 }
      let flags = argument.dropFirst()
      guard argument.first == "-", !flags.isEmpty, flags.allSatisfy({ "vq".contains($0) }) else { return count }
      return count + flags.count { $0 == "v" }
    }
  }
}
