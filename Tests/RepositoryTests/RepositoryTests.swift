import Foundation
import Testing

/// The rules of the repository, with a remedy for each violation. The table has the one-way dependencies of the design.
enum Repository {
  /// The targets that each target may import directly; transitive imports are allowed as well.
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

  /// External modules, and the targets that may import them.
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

  /// Words that are forbidden in a target, and their replacements.
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

  /// Every Swift file below Sources, with its target.
  static let sources = files(in: "Sources")
  /// Every Swift file below Tests, with its target.
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

  /// The transitive imports of a target.
  static func reachable(from target: String) -> Set<String> {
    var result: Set<String> = []
    var open = imports[target] ?? []
    while let next = open.popLast() {
      if result.insert(next).inserted { open += imports[next] ?? [] }
    }
    return result
  }

  /// The modules that a file imports, with line numbers.
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

  /// A line without its comment.
  static func code(_ line: Substring) -> Substring {
    let body = line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line
    return body
  }
}

@Suite("Repository") struct RepositoryTests {
  @Test func everyTargetIsInTheTable() {
    let known = Set(Repository.imports.keys)
    for target in Set(Repository.sources.map(\.target)).sorted() {
      #expect(
        known.contains(target),
        "Sources/\(target) is in no row of the table: add it to Repository.imports and to the design"
      )
    }
    #expect(Repository.sources.count > 50, "the sources were not found below \(Repository.root.path)")
  }

  @Test func importsFollowTheTable() {
    for (target, path, text) in Repository.sources {
      let allowed = Repository.reachable(from: target)
      for (line, module) in Repository.imports(in: text) {
        if Repository.imports[module] != nil || ["COpenSSL", "CAvahi"].contains(module) {
          #expect(
            allowed.contains(module),
            "\(path):\(line): \(target) may not import \(module); it may import \(allowed.sorted().joined(separator: ", "))"
          )
        } else {
          let users = Repository.packages[module] ?? []
          #expect(
            users.contains(target),
            "\(path):\(line): \(target) may not import \(module); \(users.isEmpty ? "no target may" : "only \(users.joined(separator: ", ")) may")"
          )
        }
      }
    }
  }

  /// The default generator of the standard library can't be seeded.
  @Test func randomNumbersHaveASource() {
    for (_, path, text) in Repository.sources {
      for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        let code = Repository.code(line)
        #expect(!code.contains(".random(in:") || code.contains("using:"), "\(path):\(number + 1)")
      }
    }
  }

  @Test func targetsUseNoForbiddenWords() {
    for (target, path, text) in Repository.sources {
      for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        let code = Repository.code(line)
        for (word, exceptions, remedy) in Repository.forbidden where code.contains(word) && !exceptions.contains(target)
        {
          Issue.record("\(path):\(number + 1): \(word) does not belong in \(target); \(remedy)")
        }
      }
    }
  }

  @Test func filesStaySmall() {
    for (target, path, text) in Repository.sources {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).count
      // Declarations of a cluster are as long as the standard requires.
      #expect(
        lines <= (target == "MatterClusters" ? 900 : 500),
        "\(path) has \(lines) lines: give each subject a file of its own")
    }
  }
}
