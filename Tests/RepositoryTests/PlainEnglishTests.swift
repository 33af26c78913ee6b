import Foundation
import Glibc
import Testing

/// Text for readers: comments, strings and names of tests in Swift, comments of scripts and definitions, and documents.
enum Prose {
  struct Passage {
    let path: String
    let line: Int
    let text: String
  }

  /// Phrases that hide the subject or the verb of a sentence.
  static let phrases = [
    "who", "whoever", "whatever", "nobody", "somebody", "anybody", "any more", "so many", "so long", "by then",
    "of which",
    "is no", "is told", "is heard", "what is", "what there is", "what comes", "what becomes", "goes on", "is gone",
    "comes to",
    "takes in", "those that", "the one that",
  ]

  /// Paths that are not counted: files of the home that are being rewritten, and inputs of the fuzzer.
  static let excluded = [
    "Sources/HomeAutomation/ObserverCenter", "Sources/HomeControl/Controller/", "Sources/HomeStore/HomeDatabase+Wishes",
    "Sources/Hub/Client/", "Sources/HomeText/", "Sources/HearthHome/Registry/", "Tests/Fuzz/",
  ]

  /// The phrases of a text, each as often as it occurs.
  static func findings(in text: String) -> [String] {
    let words = text.lowercased().split { !$0.isLetter && $0 != "'" && $0 != "’" && $0 != "," }.map(String.init)
    var result: [String] = []
    for (index, word) in words.enumerated() {
      let bare = word.filter { $0 != "," }
      if bare == "too", index > 0, words[index - 1].hasSuffix(",") { result.append(", too") }
      for phrase in phrases {
        let parts = phrase.split(separator: " ").map(String.init)
        let candidate = words[index...].prefix(parts.count).map { $0.filter { $0 != "," } }
        if Array(candidate) == parts { result.append(phrase) }
      }
    }
    return result
  }

  /// The passages of a Swift file.
  static func swift(_ text: String, _ path: String) -> [Passage] {
    text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { index, line in
      let (strings, comment) = parts(of: line)
      let name = path.hasPrefix("Tests/") ? testName(line) : nil
      return (strings + [comment, name].compactMap(\.self)).map { Passage(path: path, line: index + 1, text: $0) }
    }
  }

  /// The string literals and the comment of a line. Interpolations and escapes end a part of a literal.
  static func parts(of line: Substring) -> (strings: [String], comment: String?) {
    var strings: [String] = []
    var current: String?
    var rest = line
    while let character = rest.popFirst() {
      if current == nil, character == "/", rest.first == "/" {
        return (strings, String(rest.drop { $0 == "/" }))
      } else if character == "\"" {
        if let text = current { strings.append(text) }
        current = current == nil ? "" : nil
      } else if character == "\\", current != nil {
        current?.append(" ")
        if rest.first == "(" {
          var depth = 0
          while let inner = rest.popFirst() {
            depth += inner == "(" ? 1 : inner == ")" ? -1 : 0
            if depth == 0 { break }
          }
        } else {
          _ = rest.popFirst()
        }
      } else {
        current?.append(character)
      }
    }
    return (strings, nil)
  }

  /// The words of the name of a test function that is declared on the line.
  static func testName(_ line: Substring) -> String? {
    guard let keyword = line.firstRange(of: "func "), line.contains("@Test") || line.hasPrefix("  func ") else {
      return nil
    }
    var words = ""
    for character in line[keyword.upperBound...].prefix(while: { $0.isLetter || $0.isNumber }) {
      words += character.isUppercase ? " " + character.lowercased() : String(character)
    }
    return words
  }

  /// The paragraphs of a document, without code.
  static func document(_ text: String, _ path: String) -> [Passage] {
    var isCode = false
    return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
      if line.hasPrefix("```") { isCode.toggle() }
      guard !isCode else { return nil }
      // The parts between pairs of code marks.
      let parts = line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      return Passage(
        path: path, line: index + 1,
        text: parts.filter { $0.offset % 2 == 0 }.map { String($0.element) }.joined(separator: " "))
    }
  }

  /// The comments of a script or a definition file.
  static func script(_ text: String, _ path: String, mark: String = "# ") -> [Passage] {
    text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
      guard let mark = line.firstRange(of: mark) else { return nil }
      return Passage(path: path, line: index + 1, text: String(line[mark.upperBound...]))
    }
  }

  static func passages(_ folder: String) -> [Passage] {
    let base = Repository.root.appending(path: folder)
    let files =
      FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? [base]
    return files.sorted { $0.path < $1.path }.flatMap { file -> [Passage] in
      let path = String(file.path.dropFirst(Repository.root.path.count).drop { $0 == "/" })
      let isArticle = file.pathExtension == "md"
      guard isArticle || !excluded.contains(where: path.hasPrefix),
        let text = try? String(contentsOf: file, encoding: .utf8)
      else { return [] }
      switch file.pathExtension {
      // This file quotes the phrases.
      case "swift": return file.lastPathComponent == "PlainEnglishTests.swift" ? [] : swift(text, path)
      case "md": return document(text, path)
      case "cluster", "devices": return script(text, path) + script(text, path, mark: "// ")
      case "py", "yaml", "sh", "": return script(text, path)
      default: return []
      }
    }
  }
}

@Suite("Plain English") struct PlainEnglishTests {
  @Test(
    "text has at most 10 of the phrases in 10,000 words",
    arguments: ["Sources", "Tests", "devices", "scripts", "documents"])
  func phrasesAreRare(_ part: String) {
    let folders = part == "documents" ? ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "docs"] : [part]
    let passages = folders.flatMap(Prose.passages)
    var findings: [String] = []
    var words = 0
    for passage in passages {
      words += passage.text.split { !$0.isLetter }.count
      findings += Prose.findings(in: passage.text).map { "\(passage.path):\(passage.line): “\($0)”: \(passage.text)" }
    }
    #expect(words > 100, "no text was found in \(part)")
    let limit = max(1, words * 10 / 10_000)
    #expect(
      findings.count <= limit,
      "\(findings.count) in \(words) words, at most \(limit); rewrite with a noun as the subject and a verb that says what happens:\n\(findings.joined(separator: "\n"))"
    )
  }

  @Test("finds phrases in comments, literals and names of tests")
  func findsPhrases() {
    let text = """
      /// Whoever asks is told.
      let a = "nobody: \\(b.map { "x" })" // fine, too
        @Test func whoIsGone() {}
      """
    let found = Prose.swift(text, "Tests/A.swift").flatMap { Prose.findings(in: $0.text) }
    #expect(found == ["whoever", "is told", "nobody", ", too", "who", "is gone"])
  }

  @Test("subjects of the last commits have at most 72 characters")
  func commitSubjects() throws {
    // Not Foundation's `Process`, which can crash while this process has many open files.
    let command = "git -C '\(Repository.root.path)' log -30 --no-merges --format=%s 2>/dev/null"
    let output = try #require(popen(command, "r"))
    var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
    while case let count = fread(&buffer, 1, buffer.count, output), count > 0 { bytes += buffer[..<count] }
    // An export without a history has no commits.
    guard pclose(output) == 0 else { return }
    for subject in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      #expect(subject.count <= 72, "“\(subject)” has \(subject.count) characters")
    }
  }
}
