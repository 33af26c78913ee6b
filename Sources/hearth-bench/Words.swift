import Foundation

/// What stands behind a command's name.
struct Words {
  private let words = Array(CommandLine.arguments.dropFirst(2))

  subscript(index: Int) -> String? { index < words.count ? words[index] : nil }

  /// A whole number, nil where there is none; what is no number ends the process.
  func number(_ index: Int, _ name: String) -> UInt64? {
    guard let word = self[index] else { return nil }
    if let number = UInt64(word) { return number }
    refuse("found “\(word)” for \(name), expected a whole number from 0 to \(UInt64.max)")
  }

  /// Ends the process.
  func refuse(_ why: String) -> Never {
    FileHandle.standardError.write(Data("hearth-bench \(CommandLine.arguments[1]): \(why)\n".utf8))
    exit(64)
  }
}
