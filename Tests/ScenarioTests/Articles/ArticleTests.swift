import Foundation
import Testing

/// Checks that the Swift snippets of the documentation are compiled.
@Suite("Articles on scenarios") struct ArticleTests {
  /// Returns the nonempty lines of a text, trimmed.
  private func lines(_ text: some StringProtocol) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }

  /// - Parameter minimum: the smallest number of snippets expected.
  @Test(arguments: [
    ("Sources/Scenario/Scenario.docc/TestingAHome.md", "ArticleSnippets.swift", 6),
    ("README.md", "ReadmeSnippets.swift", 2), ("ARCHITECTURE.md", "ReadmeSnippets.swift", 1),
  ])
  func compilesEverySnippet(_ file: String, _ snippets: String, _ minimum: Int) throws {
    let here = URL(filePath: #filePath).deletingLastPathComponent()
    let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let article = try String(contentsOf: root.appending(path: file), encoding: .utf8)
    let compiled = lines(try String(contentsOf: here.appending(path: snippets), encoding: .utf8))
    let blocks = article.components(separatedBy: "```swift\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
    #expect(blocks.count >= minimum)
    for block in blocks {
      let wanted = lines(block)
      let isThere = compiled.indices.contains { start in compiled[start...].starts(with: wanted) }
      #expect(isThere, "not among the compiled snippets:\n\(block)")
    }
  }
}
