import ArgumentParser
import HearthHome
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
      if argument == "help" { continue }
      guard command.configuration.defaultSubcommand == nil else { return nil }
      return HomeError(
        .badArguments, "unknown command “\(path)\(argument)”",
        candidates: NearestName.suggestions(for: argument, in: names).map { path + $0 })
    }
    return nil
  }

  /// The error for an option that the command does not have; nil: there is none. The argument parser reports missing
  /// arguments first.
  static func unknownOption(_ arguments: [String]) -> HomeError? {
    let help = commands(arguments).map { $0.helpMessage(includeHidden: true) }.joined(separator: "\n")
    let names = Set(
      help.split { !$0.isLetter && !$0.isNumber && $0 != "-" }.filter { $0.hasPrefix("-") }.map { String($0) })
    for argument in arguments.prefix(while: { $0 != "--" }) where argument.hasPrefix("-") {
      let name = String(argument.prefix { $0 != "=" })
      // A negative number is not an option.
      guard name.first(where: { $0 != "-" })?.isLetter == true, !names.contains(name) else { continue }
      let isLong = name.hasPrefix("--")
      if !isLong, name.dropFirst().allSatisfy({ names.contains("-\($0)") }) { continue }
      let near = isLong ? NearestName.suggestions(for: name, in: names.filter { $0.hasPrefix("--") }.sorted()) : []
      return HomeError(.badArguments, "unknown option '\(name)'", candidates: near)
    }
    return nil
  }

  /// The commands that the arguments name, from the root.
  private static func commands(_ arguments: [String]) -> [any ParsableCommand.Type] {
    var path: [any ParsableCommand.Type] = [Hearth.self]
    for argument in arguments where !argument.hasPrefix("-") {
      let next = path.last?.configuration.subcommands.first { $0._commandName == argument }
      guard let next else { break }
      path.append(next)
    }
    while let next = path.last?.configuration.defaultSubcommand { path.append(next) }
    return path
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
