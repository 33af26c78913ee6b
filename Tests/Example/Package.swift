// swift-tools-version: 6.2
import PackageDescription

// A package that tests a home with Hearth. Outside of this repository it would use `.package(url: …)` instead of
// `path:`.
let package = Package(
  name: "example-home",
  platforms: [.macOS(.v26)],
  dependencies: [.package(name: "hearth", path: "../..")],
  targets: [
    // An application that observes a home in each way.
    .executableTarget(name: "ExampleHome", dependencies: [.product(name: "HearthHome", package: "hearth")]),
    .testTarget(
      name: "ExampleHomeTests",
      dependencies: [
        "ExampleHome",
        .product(name: "Scenario", package: "hearth"), .product(name: "Simulation", package: "hearth"),
        .product(name: "HearthHome", package: "hearth"),
      ],
      resources: [.copy("house.yaml"), .copy("blackout.yaml")]),
  ]
)
