// swift-tools-version: 6.2
import PackageDescription

// A package that tests a home with Hearth. Outside of this repository it would use `.package(url: …)` instead of
// `path:`.
let package = Package(
  name: "example-home",
  platforms: [.macOS(.v26)],
  dependencies: [.package(name: "hearth", path: "../..")],
  targets: [
    .testTarget(
      name: "ExampleHomeTests",
      dependencies: [
        .product(name: "Scenario", package: "hearth"), .product(name: "Simulation", package: "hearth"),
        .product(name: "Home", package: "hearth"),
      ],
      resources: [.copy("house.yaml"), .copy("blackout.yaml")])
  ]
)
