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

  /// Runs `scripts/interop --list` with stubs of the other scripts, and without a Python for the client.
  @Test("scripts/interop fails without a Python for the client, unless it is skipped", .enabled(if: getuid() == 0))
  func interopRequiresClient() throws {
    let root = FileManager.default.temporaryDirectory.appending(path: "interop-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: root) }
    for (path, text) in [
      ("scripts/interop", try Self.text("scripts/interop")), ("scripts/bootstrap", "#!/bin/sh\n"),
      ("scripts/interop-data/find-python", "#!/bin/sh\nexit 1\n"), ("scripts/interop-data/requirements.txt", ""),
      (".venv-interop/installed.txt", ""), (".venv-interop/bin/python", "#!/bin/sh\necho ran\n"),
    ] {
      let file = root.appending(path: path)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
    }
    func run(_ arguments: String...) throws -> (status: Int32, output: String) {
      let (process, pipe) = (Process(), Pipe())
      process.executableURL = root.appending(path: "scripts/interop")
      process.arguments = arguments
      process.standardOutput = pipe
      try process.run()
      let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
    let (failed, skipped) = (try run("--list"), try run("--list", "--without-client"))
    #expect(failed.status == 1 && failed.output == "0 passed, 1 failed\n")
    #expect(skipped.status == 0 && skipped.output == "ran\n")
  }
}
