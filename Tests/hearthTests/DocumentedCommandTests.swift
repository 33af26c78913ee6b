import ArgumentParser
import Foundation
import Testing

@testable import hearth

/// Parses the commands in the documentation with the command line's own parser.
@Suite("Documented commands") struct DocumentedCommandTests {
  /// The documents of the repository, including the articles.
  private static let documents: [String] = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let articles = ["Sources", "docs"].flatMap { folder -> [URL] in
      let files = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
      return (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "md" }
    }
    return (["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"].map { root.appending(path: $0) } + articles)
      .compactMap { try? String(contentsOf: $0, encoding: .utf8) }
  }()

  /// Returns the arguments of a shell command `hearth`, or nil for another command.
  private static func arguments(_ line: some StringProtocol) -> [String]? {
    var words: [String] = []
    var quote: Character?
    var isOpen = false
    for character in line {
      if let open = quote {
        if character == open { quote = nil } else { words[words.count - 1].append(character) }
      } else if character == " " {
        isOpen = false
      } else {
        if !isOpen { words.append("") }
        isOpen = true
        if "'\"".contains(character) { quote = character } else { words[words.count - 1].append(character) }
      }
    }
    let command = words.drop { $0 == "$" || $0.contains("=") }
    guard command.first == "hearth" else { return nil }
    return command.dropFirst().prefix { !["#", "&", "|", ">", "&&", "…"].contains($0) }.map { String($0) }
  }

  /// Returns the error of a command, or nil if it is valid.
  /// - Parameter isWhole: whether required arguments may not be missing.
  private static func fault(_ arguments: [String], isWhole: Bool) -> String? {
    do {
      _ = try hearth.Hearth.parseAsRoot(arguments)
      return nil
    } catch {
      let message = hearth.Hearth.message(for: error)
      if hearth.Hearth.exitCode(for: error) == .success { return nil }
      // In running text a command may be mentioned without its required arguments.
      let isShort = ["Missing expected", "expected either"].contains { message.hasPrefix($0) }
      return isShort && !isWhole ? nil : message
    }
  }

  @Test func parsesShellExamples() {
    var count = 0
    var checked: Set<[String]> = []
    for text in Self.documents {
      for block in text.components(separatedBy: "\n```").enumerated().filter({ $0.offset % 2 == 1 }).map(\.element) {
        for line in block.split(separator: "\n") where line.contains("hearth ") {
          guard line.hasPrefix("$ "), let arguments = Self.arguments(line) else { continue }
          count += 1
          guard checked.insert(arguments).inserted else { continue }
          if let fault = Self.fault(arguments, isWhole: true) { Issue.record("\(line): \(fault)") }
        }
      }
    }
    #expect(count > 20)
  }

  @Test func parsesMentionedCommands() {
    var count = 0
    var checked: Set<[String]> = []
    for text in Self.documents {
      for code in text.split(separator: "\n").flatMap({ $0.split(separator: "`", omittingEmptySubsequences: false) })
      where code.hasPrefix("hearth ") && !code.contains("$") {
        guard let arguments = Self.arguments(code) else { continue }
        count += 1
        guard checked.insert(arguments).inserted else { continue }
        if let fault = Self.fault(arguments, isWhole: false) { Issue.record("\(code): \(fault)") }
      }
    }
    #expect(count > 20)
  }

  @Test func detectsInvalidCommands() {
    let line = "$ TOKEN=1 hearth hub invite 'Ada L' --role member & # on"
    #expect(Self.arguments(line) == ["hub", "invite", "Ada L", "--role", "member"])
    #expect(Self.arguments("make run") == nil)
    #expect(Self.fault(["hub", "invite", "Ada", "--role", "member"], isWhole: true) == nil)
    #expect(Self.fault(["hub", "invite", "Ada", "--role", "cook"], isWhole: true) != nil)
    #expect(
      Self.fault(["hub", "invite"], isWhole: true) != nil && Self.fault(["hub", "invite"], isWhole: false) == nil)
    #expect(Self.fault(["sing"], isWhole: false) != nil)
    #expect(Self.fault(["sim", "sing"], isWhole: false) != nil)
    #expect(Self.fault(["observe", "add", "--sometimes"], isWhole: false) != nil)
    #expect(Self.fault(["help", "observe"], isWhole: true) == nil)
  }
}
