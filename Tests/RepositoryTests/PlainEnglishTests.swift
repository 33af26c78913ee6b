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

  /// Paths that are not counted: inputs of the fuzzer.
  static let excluded = ["Tests/Fuzz/"]

  /// The phrases by their first word. Words are packed into integers, so that a search of all texts takes a second in a
  /// debug build.
  private static let phrasesByFirstWord: [UInt64: [(words: [UInt64], phrase: String)]] = Dictionary(
    grouping: phrases.map { phrase in
      (words: phrase.split(separator: " ").map { $0.utf8.reduce(0) { $0 << 8 | UInt64($1) } }, phrase: phrase)
    }, by: { $0.words[0] })
  private static let too = "too".utf8.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }

  /// The number of words of a text, and the phrases in it, each as often as it occurs.
  static func scan(_ text: String) -> (words: Int, findings: [String]) {
    // The lower-case words, 0 if longer than those of the phrases; and whether a comma precedes.
    var words: [UInt64] = []
    var commas: [Bool] = []
    var (word, length, hasComma): (UInt64, Int, Bool) = (0, 0, false)
    func end() {
      if length == 0 { return }
      words.append(length <= 8 ? word : 0)
      commas.append(hasComma)
      (word, length, hasComma) = (0, 0, false)
    }
    let bytes = Array(text.utf8)
    for (index, byte) in bytes.enumerated() {
      // The bytes of a typographic apostrophe after the first are skipped, like those of any other character.
      let isApostrophe = byte == UInt8(ascii: "'") || byte == 0xE2 && bytes[index...].starts(with: "’".utf8)
      let lower = byte | 0x20
      if isApostrophe || lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z") {
        word = word << 8 | UInt64(lower)
        length += 1
      } else if byte & 0xC0 != 0x80 {
        end()
        if byte == UInt8(ascii: ",") { hasComma = true }
      }
    }
    end()
    var findings: [String] = []
    for (index, word) in words.enumerated() {
      if word == too, index > 0, commas[index] { findings.append(", too") }
      for (parts, phrase) in phrasesByFirstWord[word] ?? [] where words[index...].starts(with: parts) {
        findings.append(phrase)
      }
    }
    return (words.count, findings)
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
    let bytes = Array(line.utf8)
    var strings: [String] = []
    var current: [UInt8]?
    var index = 0
    if line.offsets(of: "\"").isEmpty { index = line.offsets(of: "//").first ?? bytes.count }
    while index < bytes.count {
      let byte = bytes[index]
      let next = index + 1 < bytes.count ? bytes[index + 1] : nil
      index += 1
      if current == nil, byte == UInt8(ascii: "/"), next == byte {
        return (strings, String(decoding: bytes[index...].drop { $0 == UInt8(ascii: "/") }, as: UTF8.self))
      } else if byte == UInt8(ascii: "\"") {
        if let text = current { strings.append(String(decoding: text, as: UTF8.self)) }
        current = current == nil ? [] : nil
      } else if byte == UInt8(ascii: "\\"), current != nil {
        current?.append(UInt8(ascii: " "))
        guard next == UInt8(ascii: "(") else {
          index += 1
          continue
        }
        var depth = 0
        while index < bytes.count {
          depth += bytes[index] == UInt8(ascii: "(") ? 1 : bytes[index] == UInt8(ascii: ")") ? -1 : 0
          index += 1
          if depth == 0 { break }
        }
      } else {
        current?.append(byte)
      }
    }
    return (strings, nil)
  }

  /// The words of the name of a test function that is declared on the line.
  static func testName(_ line: Substring) -> String? {
    guard let keyword = line.offsets(of: "func ").first, line.contains("@Test") || line.hasPrefix("  func ") else {
      return nil
    }
    var words = ""
    for character in line[line.index(utf8: keyword + 5)...].prefix(while: { $0.isLetter || $0.isNumber }) {
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
      guard let start = line.offsets(of: mark).first else { return nil }
      return Passage(path: path, line: index + 1, text: String(line[line.index(utf8: start + mark.utf8.count)...]))
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
      case "cluster", "base", "devices": return script(text, path) + script(text, path, mark: "// ")
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
      let found = Prose.scan(passage.text)
      words += found.words
      findings += found.findings.map { "\(passage.path):\(passage.line): “\($0)”: \(passage.text)" }
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
        // The one, “that” isn’t what’s whole; it is
        // no wholesale. It is (no) more; any more?
      """
    let found = Prose.swift(text, "Tests/A.swift").flatMap { Prose.scan($0.text).findings }
    #expect(found == ["whoever", "is told", "nobody", ", too", "who", "is gone", "the one that", "is no", "any more"])
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
