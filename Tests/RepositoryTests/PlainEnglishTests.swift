import Foundation
import Glibc
import Testing

/// Text for readers: comments, strings and names of tests in Swift, comments and strings of scripts, comments of
/// definitions, and documents.
enum Prose {
  struct Passage {
    let path: String
    let line: Int
    let text: String
  }

  private struct Line {
    let path: String
    let number: Int
    let text: Substring

    func with(_ part: String) -> Passage { Passage(path: path, line: number, text: part) }
  }

  private static func lines(_ text: String, _ path: String) -> [Line] {
    text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { index, line in
      Line(path: path, number: index + 1, text: line)
    }
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
    source(text, path, comment: "//", quotes: "\"")
      + (path.hasPrefix("Tests/")
        ? lines(text, path).compactMap { line in testName(line.text).map { line.with($0) } } : [])
  }

  /// The string literals and comments of a source file. Literals in triple quotes span lines.
  static func source(_ text: String, _ path: String, comment: String, quotes: String) -> [Passage] {
    var isInLiteral = false
    return lines(text, path).flatMap { line in
      guard isInLiteral || !line.text.offsets(of: "\"\"\"").isEmpty else {
        return parts(of: line.text, comment: comment, quotes: quotes).texts.map { line.with($0) }
      }
      var found: [String] = []
      for (index, part) in line.text.components(separatedBy: "\"\"\"").enumerated() {
        if index > 0 { isInLiteral.toggle() }
        guard !isInLiteral else {
          found.append(part)
          continue
        }
        let parts = parts(of: Substring(part), comment: comment, quotes: quotes)
        found += parts.texts
        if parts.hasComment { break }
      }
      return found.map { line.with($0) }
    }
  }

  /// The string literals of a line, and its comment at the end, if any. Interpolations of Swift and escapes end a part of
  /// a literal. The mark of a comment is at the start of a word, or `//`.
  static func parts(
    of line: Substring, comment: String, quotes: String
  ) -> (texts: [String], hasComment: Bool) {
    let bytes = Array(line.utf8)
    let (mark, quotes) = (Array(comment.utf8), Array(quotes.utf8))
    let isSwift = comment == "//"
    var texts: [String] = []
    var current: (quote: UInt8, text: [UInt8])?
    var index = 0
    if isSwift, line.offsets(of: "\"").isEmpty { index = line.offsets(of: "//").first ?? bytes.count }
    while index < bytes.count {
      let byte = bytes[index]
      let next = index + 1 < bytes.count ? bytes[index + 1] : nil
      if current == nil, byte == mark[0], bytes[index...].starts(with: mark),
        isSwift || index == 0 || bytes[index - 1] == UInt8(ascii: " ")
      {
        return (texts + [String(decoding: bytes[index...].drop { $0 == mark[0] }, as: UTF8.self)], true)
      }
      index += 1
      if current.map({ byte == $0.quote }) ?? quotes.contains(byte) {
        if let text = current?.text { texts.append(String(decoding: text, as: UTF8.self)) }
        current = current == nil ? (byte, []) : nil
      } else if byte == UInt8(ascii: "\\"), current != nil {
        current?.text.append(UInt8(ascii: " "))
        guard isSwift, next == UInt8(ascii: "(") else {
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
        current?.text.append(byte)
      }
    }
    return (texts, false)
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

  /// The comments of a definition file.
  static func comments(_ text: String, _ path: String, mark: String = "# ") -> [Passage] {
    lines(text, path).compactMap { line in
      line.text.offsets(of: mark).first.map { start in
        line.with(String(line.text[line.text.index(utf8: start + mark.utf8.count)...]))
      }
    }
  }

  static func passages(_ folder: String) -> [Passage] {
    let base = Repository.root.appending(path: folder)
    // The enumerator of a file is empty.
    let files =
      FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
    return (files.isEmpty ? [base] : files).sorted { $0.path < $1.path }.flatMap { file -> [Passage] in
      let path = String(file.path.dropFirst(Repository.root.path.count).drop { $0 == "/" })
      let isArticle = file.pathExtension == "md"
      guard isArticle || !excluded.contains(where: path.hasPrefix),
        let text = try? String(contentsOf: file, encoding: .utf8)
      else { return [] }
      switch file.pathExtension {
      // This file quotes the phrases.
      case "swift": return file.lastPathComponent == "PlainEnglishTests.swift" ? [] : swift(text, path)
      case "md": return document(text, path)
      case "cluster", "base", "devices": return comments(text, path) + comments(text, path, mark: "// ")
      case "py", "sh", "": return source(text, path, comment: "#", quotes: "\"'")
      // Tables of the scripts consist of names and reasons that they print.
      case "yaml" where path.hasPrefix("scripts/"), "toml": return lines(text, path).map { $0.with(String($0.text)) }
      case "yaml": return comments(text, path)
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
    let folders =
      part == "documents"
      ? ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "docs", "Makefile", "Package.swift"] : [part]
    let passages = folders.flatMap { folder in
      let found = Prose.passages(folder)
      #expect(found.count > 10, "no text was found in \(folder)")
      return found
    }
    var findings: [String] = []
    var words = 0
    for passage in passages {
      let found = Prose.scan(passage.text)
      words += found.words
      findings += found.findings.map { "\(passage.path):\(passage.line): “\($0)”: \(passage.text)" }
    }
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
    #expect(found == ["whoever", "is told", "nobody", ", too", "the one that", "is no", "any more", "who", "is gone"])
  }

  @Test("finds phrases in literals of several lines and in scripts")
  func findsPhrasesInScripts() {
    let swift = """
      let a = \"\"\"
        one "two" of which
        // no comment, nobody
        \"\"\"  // whoever
      let who = a + "any more"
      """
    #expect(
      Prose.swift(swift, "A.swift").map { "\($0.line)\(Prose.scan($0.text).findings)" } == [
        "1[]", "2[\"of which\"]", "3[\"nobody\"]", "4[]", "4[\"whoever\"]", "5[\"any more\"]",
      ])
    let script = """
      def who(): # nobody's
        \"\"\"What is
      so long\"\"\"
        say('whatever "it" takes in', f"${#whoever}#") # who
      """
    #expect(
      Prose.source(script, "a.py", comment: "#", quotes: "\"'").flatMap { Prose.scan($0.text).findings } == [
        "what is", "so long", "whatever", "takes in", "whoever", "who",
      ])
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
