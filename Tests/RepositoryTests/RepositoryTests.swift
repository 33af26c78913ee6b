import Foundation
import Testing

/// The rules for the sources. Package.swift has the table of imports.
enum Repository {
  /// The modules of the toolchain and the host, which Package.swift does not name, and the targets that may import them.
  static let systemModules: [String: [String]] = [
    "Dispatch": ["HomeAutomation", "HomeControl", "HearthHome", "Simulation", "hearth"],
    "Foundation": [
      "Runtime", "VirtualDevices", "HomeModel", "HomeStore", "WebClient", "HomeAutomation", "CloudLink", "HomeControl",
      "HearthHome", "HomeText", "Hub", "Simulation", "Scenario", "hearth", "hearth-bench", "hearth-fuzz",
      "CatalogueGenerator", "CataloguePlugin",
    ],
    "PackagePlugin": ["CataloguePlugin"],
    "Glibc": [
      "MatterClusters", "MatterDevice", "Runtime", "Simulation", "VirtualDevices", "HomeStore", "HomeAutomation",
      "HomeControl", "HearthHome", "Hub", "hearth", "hearth-bench",
    ],
    "Synchronization": [
      "MakersClusters", "MatterClusters", "MatterCrypto", "MatterDevice", "Runtime", "Simulation", "Scenario",
      "VirtualDevices", "HomeModel", "HomeStore", "HomeAutomation", "HomeControl", "HearthHome", "Hub", "OpenMetrics",
      "hearth",
      "hearth-bench",
    ],
  ]

  /// Words that are forbidden in a target, and their replacements.
  static let forbidden: [(word: String, exceptIn: [String], remedy: String)] = [
    ("Task.detached", ["Runtime"], "start tasks on the event loop's executor"),
    ("Task.sleep", ["hearth"], "take an injected clock"),
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

  private static func files(in folder: String) -> [SwiftFile] {
    let base = root.appending(path: folder)
    var result: [SwiftFile] = []
    // The example package may have been built, in a hidden directory.
    let found = FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
    let files = found?.compactMap { $0 as? URL } ?? []
    for file in files.sorted(by: { $0.path < $1.path }) where file.pathExtension == "swift" {
      let path = file.path.dropFirst(base.path.count + 1)
      guard let target = path.split(separator: "/").first, let text = try? String(contentsOf: file, encoding: .utf8)
      else { continue }
      result.append(SwiftFile(target: String(target), path: String(path), text: text))
    }
    return result
  }

  /// The module that a line imports.
  static func module(importedOn line: Substring) -> String? {
    let words = line.split(separator: " ")
    guard let position = words.firstIndex(of: "import"), position <= 2, position + 1 < words.count,
      words[..<position].allSatisfy({ ["public", "internal", "package", "@testable", "@preconcurrency"].contains($0) })
    else { return nil }
    return String(words[words.count - 1].split(separator: ".")[0])
  }
}

@Suite("Repository") struct RepositoryTests {
  @Test("Package.swift declares every target, after those that it imports") func declaresTargetsInOrder() {
    let manifest = PackageManifest.current
    for target in Set(Repository.sources.map(\.target)).sorted() {
      #expect(manifest.targets.contains(target), "Package.swift does not declare the target of Sources/\(target)")
    }
    for (index, target) in manifest.targets.enumerated() {
      for later in manifest.targets[index...] where manifest.imports[target, default: []].contains(later) {
        Issue.record("Package.swift: \(target) imports \(later), which is declared after it")
      }
    }
    #expect(Repository.sources.count > 50, "the sources were not found below \(Repository.root.path)")
  }

  @Test("targets import only the modules that Package.swift lists") func importsListedModulesOnly() {
    for file in Repository.sources {
      let (target, listed) = (file.target, PackageManifest.current.imports[file.target, default: []])
      for (line, text) in file.code(containing: "import ") {
        guard let module = Repository.module(importedOn: text) else { continue }
        let isAllowed = Repository.systemModules[module].map { $0.contains(target) } ?? listed.contains(module)
        #expect(isAllowed, "\(file.path):\(line): \(target) may not import \(module)")
      }
    }
  }

  @Test("only Scenario seeds defects, and only VirtualDevices injects faults") func restrictsHooks() {
    var isFound = false
    // With the default boundaries, `device.hooks` is one word.
    let assignment = #/\bhooks(\.\w+)? = (?!\w+Hooks\(\)|configuration\.hooks|newValue)/#.wordBoundaryKind(.simple)
    for file in Repository.sources {
      let lines = file.code(containing: "hooks").filter { $0.text.contains(assignment) }
      isFound = isFound || !lines.isEmpty
      let isFault = file.path.contains("VirtualDevices/Faults/")
      for (line, _) in (isFault ? [] : lines) + file.code(containing: ".configure = ") {
        #expect(file.target == "Scenario", "\(file.path):\(line): \(file.target) may not install a hook")
      }
      for (line, _) in file.code(containing: "engine.install(") {
        #expect(isFault, "\(file.path):\(line): \(file.target) may not inject a fault")
      }
    }
    #expect(isFound, "the hooks have another name")
  }

  @Test("reads the imports of Package.swift") func readsManifest() {
    let manifest = PackageManifest(
      """
      let nio: [Target.Dependency] = [
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
      ]
      let log: Target.Dependency = .product(name: "Logging", package: "swift-log")
      /// module("Comment", imports: [])
      func module(_ name: String, imports: [Target.Dependency]) -> [Target] { [.target(name: name)] }
      .systemLibrary(name: "CLib", providers: [.apt(["lib-dev"])]),
      + module("One", imports: []) + module("Two", imports: ["One", "CLib"], tests: ["Three"])
      + module(
        "Three", imports: ["Two", log, .product(name: "Yams", package: "Yams")] + nio,
        tests: ["One"])
      .executableTarget(name: "tool-x", dependencies: ["Three", log], swiftSettings: strict),
      .plugin(
        name: "Generator", capability: .buildTool(), dependencies: ["tool-x"]),
      .testTarget(name: "Tests", swiftSettings: strict),
      """)
    #expect(manifest.targets == ["CLib", "One", "Two", "Three", "tool-x", "Generator"])
    #expect(manifest.imports["CLib"] == [] && manifest.imports["One"] == [])
    #expect(manifest.imports["Two"] == ["One", "CLib"])
    #expect(manifest.imports["Three"].map(Set.init) == ["Two", "Logging", "Yams", "NIOCore", "NIOPosix"])
    #expect(manifest.imports["tool-x"].map(Set.init) == ["Three", "Logging"])
    #expect(manifest.imports["Generator"] == ["tool-x"])
  }

  /// The default generator of the standard library can't be seeded.
  @Test func randomNumbersHaveASource() {
    for file in Repository.sources {
      // A context draws from the source of its node.
      for (line, text) in file.code(containing: ".random(in:") where !text.contains("context.random(in:") {
        #expect(text.contains("using:"), "\(file.path):\(line)")
      }
    }
  }

  @Test func targetsUseNoForbiddenWords() {
    for file in Repository.sources {
      for (word, exceptions, remedy) in Repository.forbidden where !exceptions.contains(file.target) {
        for (line, _) in file.code(containing: word) {
          Issue.record("\(file.path):\(line): \(word) does not belong in \(file.target); \(remedy)")
        }
      }
    }
  }

  @Test func filesStaySmall() {
    for file in Repository.sources {
      let lines = file.lineCount
      #expect(lines <= 500, "\(file.path) has \(lines) lines: give each subject a file of its own")
    }
  }
}
