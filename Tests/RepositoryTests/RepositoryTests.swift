import Foundation
import Testing

/// The rules of the house, kept by a test that names the remedy. The table is the design's: one-way dependencies.
enum House {
  /// What each target may import of ours directly; what those import comes with it.
  static let imports: [String: [String]] = [
    "MatterTLV": [],
    "MatterCrypto": ["COpenSSL"],
    "MatterCertificates": ["MatterTLV", "MatterCrypto"],
    "MatterModel": ["MatterTLV"],
    "MatterClusters": ["MatterModel"],
    "MatterProtocol": ["MatterTLV", "MatterCrypto", "MatterCertificates", "MatterModel"],
    "MatterDevice": ["MatterProtocol", "MatterClusters"],
    "MatterController": ["MatterProtocol", "MatterClusters"],
    "Runtime": ["MatterProtocol", "CAvahi"],
    "Simulation": ["Runtime"],
    "VirtualDevices": ["MatterDevice", "Runtime"],
    "Home": ["MatterController", "Runtime"],
    "Scenario": ["VirtualDevices", "Home", "Simulation"],
    "Hub": ["Home"],
    "hearth": ["Scenario", "VirtualDevices", "Hub", "Simulation"],
    "CBench": [],
    "hearth-bench": ["Scenario", "VirtualDevices", "Home", "Simulation", "CBench"],
    "hearth-fuzz": ["VirtualDevices", "MatterController", "Hub"],
  ]

  /// Packages of others, and who may use them.
  static let packages: [String: [String]] = [
    "NIOCore": [
      "Runtime", "Simulation", "Scenario", "VirtualDevices", "Home", "Hub", "hearth", "hearth-bench", "hearth-fuzz",
    ],
    "NIOEmbedded": ["hearth-fuzz"],
    "NIOPosix": ["Runtime", "VirtualDevices", "Home", "Hub", "hearth", "hearth-bench"],
    "Logging": ["Runtime", "Simulation", "Scenario", "VirtualDevices", "Home", "Hub", "hearth", "hearth-bench"],
    "Yams": ["VirtualDevices", "Scenario"],
    "GRDB": ["Home"], "GRDBSQLite": ["Home"], "FoundationNetworking": ["Home"],
    "ArgumentParser": ["hearth"],
    "Dispatch": ["Home", "Simulation", "hearth"],
    "Foundation": [
      "Runtime", "VirtualDevices", "Home", "Hub", "Simulation", "Scenario", "hearth", "hearth-bench", "hearth-fuzz",
    ],
    "Glibc": ["Runtime", "Simulation", "VirtualDevices", "Home", "Hub", "hearth", "hearth-bench"],
    "Synchronization": [
      "MatterCrypto", "Runtime", "Simulation", "Scenario", "VirtualDevices", "Home", "Hub", "hearth", "hearth-bench",
    ],
  ]

  /// Words that have no business in a target, and what to use instead.
  static let forbidden: [(word: String, exceptIn: [String], remedy: String)] = [
    ("Task.detached", ["Runtime"], "start tasks on the event loop's executor"),
    ("Task.sleep", ["Runtime", "hearth", "Home"], "take an injected clock"),
    ("ContinuousClock", ["Runtime", "hearth"], "time comes in as an Instant"),
    ("Date()", ["Runtime", "hearth"], "time comes in as an Instant, or as epoch seconds in a configuration"),
    (" Task {", ["Runtime", "Simulation", "hearth", "hearth-bench", "hearth-fuzz"], "Tasks.start, or a task group"),
    (" Task(", ["Runtime", "Simulation", "hearth", "hearth-bench", "hearth-fuzz"], "Tasks.start, or a task group"),
    ("SuspendingClock", ["Runtime"], "time comes in as an Instant"),
    ("DispatchTime", ["Runtime"], "time comes in as an Instant"),
    ("Date.now", ["Runtime"], "time comes in as an Instant, or as epoch seconds in a configuration"),
    ("gettimeofday", ["Runtime"], "time comes in as an Instant"),
    ("@MainActor", [], "confine it to the event loop that owns the engine"),
    (".randomElement()", [], "draw from a RandomSource: randomElement(using:)"),
    (".shuffled()", [], "draw from a RandomSource: shuffled(using:)"),
    ("SystemRandomNumberGenerator", ["MatterCrypto"], "take a RandomSource"),
    ("try!", [], "throw, or handle the error"),
    ("fatalError(", [], "throw, or return nil"),
    ("as!", [], "cast with as? and handle the failure"),
    ("precondition(", [], "throw: nothing from outside may end the process"),
    ("clock_gettime", ["Runtime"], "time comes in as an Instant"),
    ("DeterministicSignatures", ["MatterCrypto", "Simulation", "hearth-fuzz"], "sign as the machine does"),
  ]

  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Every Swift file of our own targets, by target.
  static let sources = files(in: "Sources")
  /// Every Swift file of the tests, by target.
  static let tests = files(in: "Tests")

  private static func files(in folder: String) -> [(target: String, path: String, text: String)] {
    let base = root.appending(path: folder)
    var result: [(String, String, String)] = []
    // The example package may have been built, in a hidden directory.
    let found = FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
    let files = found?.compactMap { $0 as? URL } ?? []
    for file in files.sorted(by: { $0.path < $1.path }) where file.pathExtension == "swift" {
      let path = file.path.dropFirst(base.path.count + 1)
      guard let target = path.split(separator: "/").first, let text = try? String(contentsOf: file, encoding: .utf8)
      else { continue }
      result.append((String(target), String(path), text))
    }
    return result
  }

  /// A target's imports with all that comes with them.
  static func reachable(from target: String) -> Set<String> {
    var result: Set<String> = []
    var open = imports[target] ?? []
    while let next = open.popLast() {
      if result.insert(next).inserted { open += imports[next] ?? [] }
    }
    return result
  }

  /// The modules a file imports, with line numbers.
  static func imports(in text: String) -> [(line: Int, module: String)] {
    text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
      let words = line.split(separator: " ")
      guard let position = words.firstIndex(of: "import"), position <= 2, position + 1 < words.count,
        words[..<position].allSatisfy({
          ["public", "internal", "package", "@testable", "@preconcurrency"].contains($0)
        })
      else { return nil }
      return (index + 1, String(words[words.count - 1].split(separator: ".")[0]))
    }
  }

  /// A line without its comment and without the texts in it.
  static func code(_ line: Substring) -> Substring {
    let body = line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line
    return body
  }
}

@Suite("The house") struct RepositoryTests {
  @Test func everyTargetHasItsPlace() {
    let known = Set(House.imports.keys)
    for target in Set(House.sources.map(\.target)).sorted() {
      #expect(
        known.contains(target), "Sources/\(target) is in no row of the table: add it to House.imports and to the design"
      )
    }
    #expect(House.sources.count > 50, "the sources were not found below \(House.root.path)")
  }

  @Test func importsGoOneWay() {
    for (target, path, text) in House.sources {
      let allowed = House.reachable(from: target)
      for (line, module) in House.imports(in: text) {
        if House.imports[module] != nil || ["COpenSSL", "CAvahi"].contains(module) {
          #expect(
            allowed.contains(module),
            "\(path):\(line): \(target) may not import \(module); it may import \(allowed.sorted().joined(separator: ", "))"
          )
        } else {
          let users = House.packages[module] ?? []
          #expect(
            users.contains(target),
            "\(path):\(line): \(target) may not import \(module); \(users.isEmpty ? "nobody may" : "only \(users.joined(separator: ", ")) may")"
          )
        }
      }
    }
  }

  /// The standard library's own dice are thrown where nobody says whose.
  @Test func whoDrawsSaysFromWhat() {
    for (_, path, text) in House.sources {
      for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        let code = House.code(line)
        #expect(!code.contains(".random(in:") || code.contains("using:"), "\(path):\(number + 1)")
      }
    }
  }

  @Test func noClocksDiceOrTraps() {
    for (target, path, text) in House.sources {
      for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        let code = House.code(line)
        for (word, exceptions, remedy) in House.forbidden where code.contains(word) && !exceptions.contains(target) {
          Issue.record("\(path):\(number + 1): \(word) does not belong in \(target); \(remedy)")
        }
      }
    }
  }

  @Test func filesStaySmall() {
    for (target, path, text) in House.sources {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).count
      // A cluster's declarations are a table of facts: it is as long as the standard makes it.
      #expect(
        lines <= (target == "MatterClusters" ? 900 : 500),
        "\(path) has \(lines) lines: give each subject a file of its own")
    }
  }
}
