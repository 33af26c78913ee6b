import Foundation
import Testing

/// README.md and CONTRIBUTING.md refer to existing files, targets and modules.
@Suite("Guides") struct GuideTests {
  private static func text(_ path: String) throws -> String {
    try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
  }

  @Test(arguments: ["README.md", "CONTRIBUTING.md"])
  func linksResolve(_ guide: String) throws {
    let links = try Self.text(guide).components(separatedBy: "](").dropFirst().compactMap { part in
      part.split(separator: ")", omittingEmptySubsequences: false).first.map(String.init)
    }
    #expect(!links.isEmpty)
    for link in links where !link.contains("://") {
      let path = Repository.root.appending(path: link).path
      #expect(FileManager.default.fileExists(atPath: path), "\(guide) links to \(link), which does not exist")
    }
  }

  @Test(arguments: ["README.md", "CONTRIBUTING.md"])
  func targetsAndScriptsExist(_ guide: String) throws {
    let targets = Set(
      try Self.text("Makefile").split(separator: "\n").compactMap { line -> Substring? in
        let name = line.prefix { $0.isLetter || $0 == "-" }
        return !name.isEmpty && line[name.endIndex...].first == ":" ? name : nil
      })
    #expect(targets.contains("test"))
    var count = 0
    let lines = try Self.text(guide).split(separator: "\n")
    for code in lines.flatMap({ $0.split(separator: "`", omittingEmptySubsequences: false) }) {
      let words = code.split(separator: " ")
      if words.first == "make", words.count > 1, !code.hasSuffix(" "), words[1].allSatisfy({ $0.isLetter }) {
        count += 1
        #expect(targets.contains(words[1]), "\(guide) says “\(code)”, and the Makefile has no such target")
      }
      if let script = words.first, script.hasPrefix("scripts/"), !script.contains("](") {
        count += 1
        let path = Repository.root.appending(path: String(script)).path
        #expect(FileManager.default.fileExists(atPath: path), "\(guide) names \(script), which does not exist")
      }
    }
    #expect(count > 3)
  }

  @Test func tableListsAllTargets() throws {
    let rows = try Self.text("CONTRIBUTING.md").split(separator: "\n").filter { $0.hasPrefix("| `") }
      .compactMap { $0.split(separator: "|").first }
    for target in Repository.imports.keys.sorted() {
      #expect(rows.contains { $0.contains("`\(target)`") }, "CONTRIBUTING.md has no row for \(target)")
    }
  }
}
