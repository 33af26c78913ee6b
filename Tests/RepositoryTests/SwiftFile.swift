import Glibc
import Testing

/// A Swift file, searched by bytes: in a debug build, searches by character take a hundred times as long.
struct SwiftFile {
  let target: String
  /// The path below Sources or Tests.
  let path: String
  let text: String

  /// The number of lines, counting an empty one after a final line break.
  var lineCount: Int { text.offsets(of: "\n").count + 1 }

  /// The lines whose code contains a word, with their numbers. Comments are removed.
  func code(containing word: String) -> [(line: Int, text: Substring)] {
    let hits = text.offsets(of: word)
    if hits.isEmpty { return [] }
    let breaks = text.offsets(of: "\n")
    var result: [(line: Int, text: Substring)] = []
    for hit in hits {
      let line = (breaks.firstIndex { $0 >= hit } ?? breaks.count) + 1
      guard result.last?.line != line else { continue }
      let start = line == 1 ? 0 : breaks[line - 2] + 1
      let end = line > breaks.count ? text.utf8.count : breaks[line - 1]
      let code = Self.code(text[text.index(utf8: start)..<text.index(utf8: end)])
      if start + code.utf8.count >= hit + word.utf8.count { result.append((line, code)) }
    }
    return result
  }

  /// A line without its comment.
  static func code(_ line: Substring) -> Substring {
    guard let comment = line.offsets(of: "//").first else { return line }
    return line[..<line.utf8.index(line.startIndex, offsetBy: comment)]
  }
}

extension StringProtocol {
  /// The byte offsets of the occurrences of a word, which may not overlap.
  func offsets(of word: String) -> [Int] {
    String(self).withCString { text in
      var result: [Int] = []
      var rest = text
      while let hit = strstr(rest, word) {
        result.append(UnsafePointer(hit) - text)
        rest = UnsafePointer(hit) + word.utf8.count
      }
      return result
    }
  }

  /// The index of a byte.
  func index(utf8 offset: Int) -> Index { utf8.index(startIndex, offsetBy: offset) }
}

@Suite("Swift files") struct SwiftFileTests {
  @Test("finds words in code, not in comments") func findsWords() {
    let file = SwiftFile(target: "A", path: "A/B.swift", text: "word // word\n// word\né word word\n\nno // “\nword")
    let found = file.code(containing: "word")
    #expect(found.map(\.line) == [1, 3, 6] && found.map { String($0.text) } == ["word ", "é word word", "word"])
    #expect(file.lineCount == 6 && SwiftFile(target: "", path: "", text: "a\n").lineCount == 2)
    #expect(file.code(containing: "words").isEmpty && "".offsets(of: "a").isEmpty)
  }
}
