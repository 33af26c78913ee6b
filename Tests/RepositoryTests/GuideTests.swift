import Foundation
import Testing

/// Checks that README.md and CONTRIBUTING.md name existing Makefile targets and scripts.
@Suite("Guides") struct GuideTests {
  private static func text(_ path: String) throws -> String {
    try String(contentsOf: PackageManifest.root.appending(path: path), encoding: .utf8)
  }

  @Test(arguments: ["README.md", "CONTRIBUTING.md"])
  func nameExistingTargetsAndScripts(_ guide: String) throws {
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
        #expect(targets.contains(words[1]), "\(guide): the Makefile has no target for “\(code)”")
      }
      if let script = words.first, script.hasPrefix("scripts/"), !script.contains("](") {
        count += 1
        let path = PackageManifest.root.appending(path: String(script)).path
        #expect(FileManager.default.fileExists(atPath: path), "\(guide): \(script) does not exist")
      }
    }
    #expect(count > 3)
  }

  @Test("no document lists software updates as missing in the hub, which performs update_node")
  func softwareUpdatesAreNotMissing() throws {
    #expect(try Self.text("Sources/Hub/MatterServer/HubServer+Commands.swift").contains(#"case "update_node": return"#))
    for path in ["README.md", "Sources/Hub/Hub.docc/SharingAHome.md"] {
      let sentences = try Self.text(path).replacing("\n", with: " ").split(separator: ". ")
      for sentence in sentences where ["missing", "doesn't"].contains(where: sentence.contains) {
        #expect(!["firmware updates", "serve software"].contains(where: sentence.contains), "\(path): \(sentence)")
      }
    }
  }
}
