// swift-tools-version: 6.2
import PackageDescription

/// The settings of the tools of the build: Swift 6 mode, warnings as errors, imports with an explicit access level.
let tool: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

/// Whether `scripts/fuzz` builds. Flags of the command line would also apply to the tools of the build, which need a
/// main function of their own.
let isFuzzing = Context.environment["HEARTH_FUZZING"] != nil
let sanitizers = ["-sanitize=fuzzer,address"]

/// The settings of all other targets.
let strict: [SwiftSetting] = tool + (isFuzzing ? [.unsafeFlags(sanitizers)] : [])

/// A target and its tests. `imports` lists all modules that the target may import; `Tests/RepositoryTests` checks it.
/// Without `tests`, the tests of another target cover it.
func module(
  _ name: String, imports: [Target.Dependency], tests: [Target.Dependency]? = [], plugins: [Target.PluginUsage] = []
) -> [Target] {
  let target = Target.target(name: name, dependencies: imports, swiftSettings: strict, plugins: plugins)
  guard let tests else { return [target] }
  return [
    target,
    .testTarget(
      name: "\(name)Tests", dependencies: [.byName(name: name)] + imports + tests,
      resources: [], swiftSettings: strict),
  ]
}

let nio: [Target.Dependency] = [
  .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
]
let web: [Target.Dependency] = [
  .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOWebSocket", package: "swift-nio"),
]
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let log: Target.Dependency = .product(name: "Logging", package: "swift-log")

let package = Package(
  name: "hearth",
  platforms: [.macOS(.v26)],
  products: [
    .executable(name: "hearth", targets: ["hearth"]),
    .library(name: "MatterDevice", targets: ["MatterDevice"]),
    .library(name: "MatterController", targets: ["MatterController"]),
    .library(name: "HearthHome", targets: ["HearthHome"]),
    .library(name: "HomeText", targets: ["HomeText"]),
    .library(name: "Hub", targets: ["Hub"]),
    .library(name: "VirtualDevices", targets: ["VirtualDevices"]),
    .library(name: "Simulation", targets: ["Simulation"]),
    .library(name: "Scenario", targets: ["Scenario"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio.git", exact: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl.git", exact: "2.37.6"),
    .package(url: "https://github.com/apple/swift-async-algorithms.git", exact: "1.1.4"),
    .package(url: "https://github.com/apple/swift-argument-parser.git", exact: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log.git", exact: "1.16.2"),
    .package(url: "https://github.com/jpsim/Yams.git", exact: "6.2.2"),
    .package(url: "https://github.com/groue/GRDB.swift.git", exact: "7.10.0"),
    .package(url: "https://github.com/swiftlang/swift-subprocess.git", exact: "1.0.2"),
    .package(url: "https://github.com/apple/swift-system.git", exact: "1.8.1"),
  ],
  targets: [
    .systemLibrary(
      name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    // Without pkg-config: the package manager warns about its flags for this library. The module map links it.
    .systemLibrary(name: "CAvahi", providers: [.apt(["libavahi-client-dev"])]),
    // Also a part of the generator, which has no sanitizers.
    .target(name: "ClusterLanguage", swiftSettings: tool),
    // Generates Swift from Sources/MatterClusters/Clusters when MatterClusters and HearthHome are built.
    .executableTarget(name: "CatalogueGenerator", dependencies: ["ClusterLanguage"], swiftSettings: tool),
    .testTarget(
      name: "CatalogueGeneratorTests", dependencies: ["CatalogueGenerator", "ClusterLanguage"],
      swiftSettings: strict),
    .plugin(
      name: "CataloguePlugin", capability: .buildTool(), dependencies: ["CatalogueGenerator"],
      path: "Sources/CataloguePlugin"),
  ]
    + module("MatterTLV", imports: [])
    + module("MatterCrypto", imports: ["COpenSSL"])
    + module("MatterCertificates", imports: ["MatterTLV", "MatterCrypto"])
    + module("MatterModel", imports: ["ClusterLanguage", "MatterTLV"])
    + module(
      "MatterClusters", imports: ["ClusterLanguage", "MatterModel"], tests: ["MatterTLV"], plugins: ["CataloguePlugin"])
    + module("MakersClusters", imports: ["ClusterLanguage", "MatterClusters", "MatterModel"], tests: ["MatterTLV"])
    + module("MatterProtocol", imports: ["MatterTLV", "MatterCrypto", "MatterCertificates", "MatterModel"])
    + module(
      "MatterDevice",
      imports: [
        "MakersClusters", "MatterProtocol", "MatterClusters", "MatterModel", "MatterTLV", "MatterCrypto",
        "MatterCertificates",
      ], tests: ["ClusterLanguage"])
    + module(
      "MatterController",
      imports: ["MatterProtocol", "MatterClusters", "MatterModel", "MatterTLV", "MatterCrypto", "MatterCertificates"])
    + module("Runtime", imports: ["CAvahi", "MatterProtocol", "MatterModel", "MatterCrypto", log] + nio)
    + module(
      "Simulation", imports: ["Runtime", "MatterProtocol", "MatterModel", "MatterCrypto", log] + nio,
      tests: [
        "MatterDevice", "MatterController", "MatterClusters", "MatterTLV", "MatterCertificates", "HearthHome",
      ])
    + module(
      "VirtualDevices",
      imports: [
        "MatterDevice", "Runtime", "MatterProtocol", "MakersClusters", "MatterClusters", "ClusterLanguage",
        "MatterModel", "MatterTLV", "MatterCrypto", "MatterCertificates", log, .product(name: "Yams", package: "Yams"),
      ] + nio)
    + module(
      "HomeModel",
      imports: ["MatterProtocol", "MatterClusters", "MatterModel", "MatterTLV", "MatterCrypto"], tests: nil)
    + module(
      "HomeStore",
      imports: [
        "HomeModel", "Runtime", "MatterProtocol", "MakersClusters", "MatterClusters", "MatterModel", "MatterCrypto",
        "MatterTLV", log, grdb,
      ], tests: nil)
    + module(
      "WebClient",
      imports: [
        .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ] + nio, tests: nil)
    + module("OpenMetrics", imports: [.product(name: "NIOHTTP1", package: "swift-nio")] + nio)
    + module(
      "HomeAutomation",
      imports: [
        "HomeStore", "HomeModel", "WebClient", "Runtime", "MatterProtocol", "MatterModel", grdb,
        .product(name: "Subprocess", package: "swift-subprocess"),
        .product(name: "SystemPackage", package: "swift-system"),
      ] + nio, tests: nil)
    + module(
      "CloudLink",
      imports: [
        "HomeStore", "HomeModel", "WebClient", "Runtime", "MatterProtocol", "MatterClusters", "MatterModel",
        "MatterCrypto", log, grdb,
      ] + nio, tests: nil)
    + module(
      "HomeControl",
      imports: [
        "CloudLink", "HomeAutomation", "HomeStore", "HomeModel", "MatterController", "Runtime", "MatterProtocol",
        "MatterClusters", "MatterModel", "MatterCrypto", "MatterCertificates", log,
      ] + nio, tests: nil)
    + module(
      "Hub",
      imports: [
        "HomeControl", "CloudLink", "HomeAutomation", "HomeStore", "HomeModel", "WebClient", "MatterController",
        "Runtime", "MatterProtocol", "MatterClusters", "MatterModel", "MatterCrypto", "MatterCertificates", "MatterTLV",
        log,
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ] + nio + web,
      tests: [
        "HearthHome", "MakersClusters", "Scenario", "Simulation", "VirtualDevices", grdb,
        .product(name: "NIOEmbedded", package: "swift-nio"),
      ])
    + module(
      "HearthHome",
      imports: [
        "Hub", "HomeControl", "CloudLink", "HomeAutomation", "HomeStore", "HomeModel", "WebClient",
        "MatterController", "Runtime", "MatterProtocol", "MatterClusters", "MatterModel", "MatterTLV", "MatterCrypto",
        "MatterCertificates", log, .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
      ] + nio, tests: ["HomeText", grdb], plugins: ["CataloguePlugin"])
    + module(
      "HomeText",
      imports: [
        "HearthHome", "HomeModel", "MatterController", "MatterProtocol", "MatterClusters", "MatterModel", "MatterTLV",
      ],
      tests: nil)
    + module(
      "Scenario",
      imports: [
        "VirtualDevices", "HomeText", "HearthHome", "Simulation", "MatterDevice", "MatterController", "Runtime",
        "MatterProtocol", "MatterClusters", "MatterModel", "MatterTLV", "MatterCrypto", log,
        .product(name: "Yams", package: "Yams"),
      ] + nio)
    + [
      .executableTarget(
        name: "hearth",
        dependencies: [
          "Hub", "Scenario", "Simulation", "HomeText", "HearthHome", "VirtualDevices", "OpenMetrics",
          "MatterController", "MatterDevice",
          "Runtime", "MatterProtocol",
          "MakersClusters", "MatterClusters",
          "MatterModel", "MatterTLV", "MatterCrypto", "MatterCertificates", log,
          .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ] + nio,
        resources: [.embedInCode("Examples")],
        swiftSettings: strict),
      .testTarget(
        name: "hearthTests",
        dependencies: [
          "hearth", "HomeText", "HearthHome", "VirtualDevices", "MatterProtocol", "MatterClusters", "MatterModel",
          "MatterTLV",
          .product(name: "ArgumentParser", package: "swift-argument-parser"),
          .product(name: "GRDB", package: "GRDB.swift"),
        ],
        swiftSettings: strict),
      .target(name: "CBench"),
      .executableTarget(
        name: "hearth-bench",
        dependencies: [
          "CBench", "Scenario", "Simulation", "HearthHome", "VirtualDevices", "MatterController", "MatterDevice",
          "Runtime",
          "MatterProtocol",
          "MatterClusters", "MatterModel", "MatterTLV", "MatterCrypto", "MatterCertificates", log,
        ] + nio,
        swiftSettings: strict),
      .testTarget(name: "RepositoryTests", swiftSettings: strict),
    ]
)

// Only the fuzzer builds it: linked without sanitizers, it would have no main function.
if isFuzzing {
  package.targets.append(
    .executableTarget(
      name: "hearth-fuzz",
      dependencies: [
        "Hub", "HearthHome", "VirtualDevices", "MatterController", "MatterDevice", "MatterProtocol", "MatterClusters",
        "MatterModel", "MatterTLV", "MatterCrypto", "MatterCertificates",
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOEmbedded", package: "swift-nio"),
      ],
      swiftSettings: strict, linkerSettings: [.unsafeFlags(sanitizers)]))
}
