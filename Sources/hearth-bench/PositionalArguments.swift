import Foundation

/// The positional arguments after the name of a command.
struct PositionalArguments {
  private let words = Array(CommandLine.arguments.dropFirst(2))

  subscript(index: Int) -> String? { index < words.count ? words[index] : nil }

  /// Returns a whole number, or nil if the argument is missing; exits if it is not a number.
  func number(_ index: Int, _ name: String) -> UInt64? {
    guard let word = self[index] else { return nil }
    if let number = UInt64(word) { return number }
    refuse("found “\(word)” for \(name), expected a whole number from 0 to \(UInt64.max)")
  }

  /// Prints a usage error and exits with status 64.
  func refuse(_ reason: String) -> Never {
    FileHandle.standardError.write(Data("hearth-bench \(CommandLine.arguments[1]): \(reason)\n".utf8))
    exit(64)
  }
}
