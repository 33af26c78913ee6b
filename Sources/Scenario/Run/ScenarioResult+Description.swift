internal import Foundation
internal import HearthHome
internal import MatterProtocol
internal import VirtualDevices

extension ScenarioResult: CustomStringConvertible {
  /// The report that `hearth test` prints, for use as a test comment, `#expect(result.isPassed, "\(result)")`: the
  /// failure with its position, the last events, and the command that repeats the run.
  public var description: String {
    let name = seed.map { "\(scenario), seed \($0)" } ?? scenario
    let failed = commands.reduce(0) { $0 + ($1.error == nil ? 0 : $1.count) }
    let note = failed == 0 ? "" : " (\(failed) command\(failed == 1 ? "" : "s") failed)"
    var lines = ["passed\(note)  \(name)  (\(TimeText.text(duration)))"]
    if let failure {
      lines = ["FAILED  \(name)", "  \(failure.place)"]
      lines += failure.excerpt?.split(separator: "\n").map { "  \($0)" } ?? []
      lines += failure.timeline.suffix(12).map { "    \($0)" }
      lines += section("commands:", commands.map(\.description))
      lines += section("lost on the network:", losses.map(\.description))
      if let again = failure.again { lines.append("  again: \(again)") }
    }
    return (lines + remarks.map { "  \($0)" }).joined(separator: "\n")
  }

  /// Returns the last lines below a heading.
  private func section(_ heading: String, _ lines: [String]) -> [String] {
    if lines.isEmpty { return [] }
    let most = 12
    let left = lines.count > most ? ["    … \(lines.count - most) more before"] : []
    return ["  " + heading] + left + lines.suffix(most).map { "    \($0)" }
  }
}

extension ScenarioResult.Failure {
  /// The position in the file and the message.
  var place: String { (mark.map { "\($0): " } ?? "") + message }
}

extension ScenarioDefinition {
  /// Returns the shell command that repeats a run; nil if the scenario was not read from a file.
  /// - Parameters:
  ///   - seed: the seed; nil for a run in real time.
  ///   - defect: the seeded defect of the run.
  public func again(seed: UInt64?, defect: SeededDefect? = nil) -> String? {
    guard let file = files.first else { return nil }
    var words = ["hearth test", file.name.shellWord, seed.map { "--seed \($0)" } ?? "--realtime"]
    if let variant { words.append("--variant \(variant)") }
    if let defect { words.append("--defect \(defect.rawValue)") }
    return words.joined(separator: " ")
  }

  /// Returns the line at a position, with its number and a mark below the column; nil if the file is unknown.
  func excerpt(at mark: SourceMark) -> String? {
    guard let file = files.first(where: { $0.name == mark.file }) else { return nil }
    let lines = file.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    guard lines.indices.contains(mark.line - 1) else { return nil }
    // In flow style a whole file may be one line.
    let most = 160
    let line = lines[mark.line - 1].prefix(most).replacing("\t", with: " ")
    let (number, column) = ("\(mark.line)", mark.column - 1)
    let text = "\(number) | \(line)"
    guard (0..<line.unicodeScalars.count).contains(column) else { return text }
    let pad = String(repeating: " ", count: number.count)
    return text + "\n\(pad) | \(String(repeating: " ", count: column))^"
  }
}

extension String {
  /// The text as one word of a shell command, quoted if necessary.
  package var shellWord: String {
    let isPlain = allSatisfy { $0.isLetter || $0.isNumber || "/._-+:@%,".contains($0) }
    return isPlain && !isEmpty ? self : "'" + replacing("'", with: "'\\''") + "'"
  }
}
