internal import Foundation
internal import Home
public import MatterProtocol

extension ScenarioResult: CustomStringConvertible {
  /// As `hearth test` prints it, for what a test says of a run that fails, `#expect(result.isPassed, "\(result)")`: why it did not
  /// pass, with its place, the last that happened, and the command that repeats it.
  public var description: String {
    let name = seed.map { "\(scenario), seed \($0)" } ?? scenario
    var lines = ["passed  \(name)  (\(TimeText.text(duration)))"]
    if let failure {
      lines = ["FAILED  \(name)", "  \(failure.mark.map { "\($0): " } ?? "")\(failure.message)"]
      lines += failure.timeline.suffix(12).map { "    \($0)" }
      if let again = failure.again { lines.append("  again: \(again)") }
    }
    return (lines + remarks.map { "  \($0)" }).joined(separator: "\n")
  }
}

extension ScenarioDefinition {
  /// The command that repeats a run of it, for a shell; nil: it was not read from a file.
  /// - Parameters:
  ///   - seed: nil: in real time.
  ///   - mutant: the fault that was built in.
  public func again(seed: UInt64?, mutant: Mutant? = nil) -> String? {
    guard let file = files.first else { return nil }
    var words = ["hearth test", Self.quoted(file.name), seed.map { "--seed \($0)" } ?? "--realtime"]
    if let variant { words.append("--variant \(variant)") }
    if let mutant { words.append("--mutant \(mutant.rawValue)") }
    return words.joined(separator: " ")
  }

  /// A word for a shell.
  private static func quoted(_ word: String) -> String {
    let isPlain = word.allSatisfy { $0.isLetter || $0.isNumber || "/._-+:@%,".contains($0) }
    return isPlain && !word.isEmpty ? word : "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'"
  }
}
