import Foundation
import HearthHome
import MatterClusters
import Scenario
import VirtualDevices

/// An example of a definition file: one of the files in `devices`, which the executable contains.
enum ExampleDefinition: String, CaseIterable {
  case light, bridge, switches, sensors, alarms, appliances, lock, climate
  case covers, water, energy, media, software, faults, maker, house, composed

  static let list = allCases.map(\.rawValue).joined(separator: ", ")

  /// The examples with devices of various types.
  private static let mixed: [Self] = [.bridge, .house, .composed]

  /// The types that occur in most examples, although these are about other types.
  private static let common: [DeviceKind] = [.onOffLight, .onOffPlugInUnit, .colorTemperatureLight]

  /// Finds an example by its name, or the first one about a type of device, or else the first one with such a device.
  init?(argument: String) {
    let kind = DeviceKind.named(argument)
    if let example = Self(rawValue: argument) ?? kind.flatMap({ Self(rawValue: $0.name) }) {
      self = example
      return
    }
    let special = Self.allCases.filter { !Self.mixed.contains($0) }
    guard let kind,
      let example = (Self.common.contains(kind) ? Self.mixed + special : special + Self.mixed)
        .first(where: { $0.contains(kind) })
    else { return nil }
    self = example
  }

  /// Returns the error for a text that is neither an example nor a type of device.
  static func unknown(_ text: String) -> HomeError {
    if DeviceKind.isUnstandardized(text) {
      return HomeError(
        .badArguments, "unknown kind “\(text)”; Matter \(SpecificationVersion.text) has no device type for it")
    }
    return HomeError(
      .badArguments, "unknown kind “\(text)”; expected \(list), or a type of `hearth types`",
      candidates: DeviceKind.suggestions(for: text, in: allCases.map(\.rawValue) + DeviceKind.all.map(\.name)))
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
      .map { $0.replacing("devices/", with: folder) }.joined(separator: file.shellWord)
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
