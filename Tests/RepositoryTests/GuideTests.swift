import Foundation
import Testing

/// What README.md and CONTRIBUTING.md point to is there.
@Suite("The house's guides") struct GuideTests {
  private static func text(_ path: String) throws -> String {
    try String(contentsOf: House.root.appending(path: path), encoding: .utf8)
  }

  @Test(arguments: ["README.md", "CONTRIBUTING.md"])
  func linksLeadSomewhere(_ guide: String) throws {
    let links = try Self.text(guide).components(separatedBy: "](").dropFirst().compactMap { part in
      part.split(separator: ")", omittingEmptySubsequences: false).first.map(String.init)
    }
    #expect(!links.isEmpty)
    for link in links where !link.contains("://") {
      let path = House.root.appending(path: link).path
      #expect(FileManager.default.fileExists(atPath: path), "\(guide) links to \(link), which is not there")
    }
  }

  @Test(arguments: ["README.md", "CONTRIBUTING.md"])
  func targetsAndScriptsAreThere(_ guide: String) throws {
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
        let path = House.root.appending(path: String(script)).path
        #expect(FileManager.default.fileExists(atPath: path), "\(guide) names \(script), which is not there")
      }
    }
    #expect(count > 3)
  }

  @Test func everyRoomIsInTheTable() throws {
    let rooms = try Self.text("CONTRIBUTING.md").split(separator: "\n").filter { $0.hasPrefix("| `") }
      .compactMap { $0.split(separator: "|").first }
    for target in House.imports.keys.sorted() {
      #expect(rooms.contains { $0.contains("`\(target)`") }, "CONTRIBUTING.md has no row for \(target)")
    }
  }
}
