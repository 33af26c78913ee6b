// swift-tools-version: 6.2
import PackageDescription

// A package of somebody who tests a home with Hearth. It would say `.package(url: …)` where this one says `path:`.
let package = Package(
  name: "house",
  platforms: [.macOS(.v26)],
  dependencies: [.package(name: "hearth", path: "../..")],
  targets: [
    .testTarget(
      name: "HouseTests",
      dependencies: [
        .product(name: "Scenario", package: "hearth"), .product(name: "Simulation", package: "hearth"),
        .product(name: "Home", package: "hearth"),
      ],
      resources: [.copy("house.yaml"), .copy("blackout.yaml")])
  ]
)
