import ArgumentParser
import Foundation
import VirtualDevices

/// An example of a definition file: one of the files in `devices`, which the executable contains.
enum ExampleDefinition: String, CaseIterable, ExpressibleByArgument {
  case light, bridge, switches, sensors, alarms, appliances, lock, climate
  case covers, water, energy, media, software, faults, maker, house, composed

  static let list = allCases.map(\.rawValue).joined(separator: ", ")

  /// Finds an example by its name, or the first one with a device of a type.
  init?(argument: String) {
    if let example = Self(rawValue: argument) {
      self = example
      return
    }
    guard let kind = DeviceKind.named(argument), let example = Self.allCases.first(where: { $0.contains(kind) }) else {
      return nil
    }
    self = example
  }

  private func contains(_ kind: DeviceKind) -> Bool {
    text.split(separator: "\n").contains { line in
      line.split(separator: "type: ", omittingEmptySubsequences: false).dropFirst().contains { rest in
        DeviceKind.named(rest.prefix { !",}".contains($0) }.trimmingCharacters(in: .whitespaces)) == kind
      }
    }
  }

  /// Returns the definition for a file.
  func text(for file: String) -> String {
    // The examples name themselves and the files beside them as in the repository.
    let folder = file.split(separator: "/", omittingEmptySubsequences: false).dropLast().map { $0 + "/" }.joined()
    return text.split(separator: "devices/\(rawValue).yaml", omittingEmptySubsequences: false)
      .map { $0.replacing("devices/", with: folder) }.joined(separator: file)
  }

  private var text: String { String(decoding: bytes, as: UTF8.self) }

  private var bytes: [UInt8] {
    switch self {
    case .light: PackageResources.light_yaml
    case .bridge: PackageResources.bridge_yaml
    case .switches: PackageResources.switches_yaml
    case .sensors: PackageResources.sensors_yaml
    case .alarms: PackageResources.alarms_yaml
    case .appliances: PackageResources.appliances_yaml
    case .lock: PackageResources.lock_yaml
    case .climate: PackageResources.climate_yaml
    case .covers: PackageResources.covers_yaml
    case .water: PackageResources.water_yaml
    case .energy: PackageResources.energy_yaml
    case .media: PackageResources.media_yaml
    case .software: PackageResources.software_yaml
    case .faults: PackageResources.faults_yaml
    case .maker: PackageResources.maker_yaml
    case .house: PackageResources.house_yaml
    case .composed: PackageResources.composed_yaml
    }
  }

  /// The files that the definition uses, by name.
  var files: [(name: String, bytes: [UInt8])] {
    switch self {
    case .sensors: [("daylight.csv", PackageResources.daylight_csv)]
    case .maker: [("acme-fan.cluster", PackageResources.acme_fan_cluster)]
    default: []
    }
  }
}
