import ArgumentParser
import Home
import MatterModel

/// What is wrong with a command line, in the style of all other errors.
enum UsageError {
  /// The argument parser's message: lower case, without a full stop.
  static func error(_ message: String) -> HomeError {
    var text = message.replacing(". Did you mean", with: "; did you mean")
    while text.last == "." || text.last?.isWhitespace == true { text.removeLast() }
    if text.hasSuffix("<time>'") { text += ": \(TimeSpan.example)" }
    // A name in capitals stays.
    if let first = text.first, text.dropFirst().first?.isUppercase != true {
      text = first.lowercased() + text.dropFirst()
    }
    return HomeError(.badArguments, text)
  }

  /// The lines that say how the command is written.
  static func usage(_ fullMessage: String) -> String {
    let lines = fullMessage.split(separator: "\n", omittingEmptySubsequences: false)
    guard let start = lines.firstIndex(where: { $0.hasPrefix("Usage:") }) else { return "" }
    return lines[start...].joined(separator: "\n")
  }

  /// The error for a word where the name of a command is expected; nil: there is none.
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

/// How often -v is among the arguments of a command line, before it is parsed.
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
