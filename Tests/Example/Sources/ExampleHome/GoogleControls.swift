import Foundation
import HearthHome
import MatterClusters

/// A protocol of the application that several device types conform to.
protocol LightDeviceType: HomeDeviceType {
  var levelControlTrait: Matter.LevelControlTrait? { get }
}

extension OnOffLightDeviceType: LightDeviceType {
  var levelControlTrait: Matter.LevelControlTrait? { nil }
}

extension DimmableLightDeviceType: LightDeviceType {
  var levelControlTrait: Matter.LevelControlTrait? { matterTraits.levelControlTrait }
}

/// The control of a device on a screen, in the form of the samples for the Google Home APIs for iOS.
protocol DeviceControl: Sendable {
  init(_ device: HomeDevice) throws
  var status: String { get }
}

struct BrightnessControl<Light: LightDeviceType>: DeviceControl {
  let light: Light

  init(_ device: HomeDevice) throws {
    guard let light = device.types.get(Light.self) else {
      throw HomeError.notFound("\(device.name) lacks the type \(Light.identifier)")
    }
    self.light = light
  }

  var status: String { light.levelControlTrait?.attributes.currentLevel.map { "level \($0)" } ?? "not dimmable" }
}

struct LockControl: DeviceControl {
  let lock: Matter.DoorLockTrait

  init(_ device: HomeDevice) throws {
    guard let lock = device.types.get(DoorLockDeviceType.self)?.matterTraits.doorLockTrait else {
      throw HomeError.notFound("\(device.name) is no lock")
    }
    self.lock = lock
  }

  var status: String {
    switch lock.attributes.lockState {
    case .locked: "locked"
    case .unlocked: "unlocked"
    default: "unknown"
    }
  }

  func toggle(code: String) async throws {
    guard let code = code.data(using: .utf8) else { throw HomeError.internal("the code is no text") }
    if case .locked = lock.attributes.lockState {
      try await lock.unlockDoor { $0.setPinCode(code) }
    } else {
      try await lock.lockDoor { $0.setPinCode(code) }
    }
  }

  func setRelockTime(_ seconds: UInt32) async throws {
    _ = try await lock.update { $0.setAutoRelockTime(seconds) }
  }
}

enum GoogleControls {
  /// The more specific types first.
  private static let supportedTypes: [any HomeDeviceType.Type] = [
    DimmableLightDeviceType.self, OnOffLightDeviceType.self, DoorLockDeviceType.self,
  ]

  private static let controls: [String: any DeviceControl.Type] = [
    DimmableLightDeviceType.identifier: BrightnessControl<DimmableLightDeviceType>.self,
    OnOffLightDeviceType.identifier: BrightnessControl<OnOffLightDeviceType>.self,
    DoorLockDeviceType.identifier: LockControl.self,
  ]

  static func make(_ device: HomeDevice) throws -> any DeviceControl {
    guard let type = supportedTypes.first(where: { device.types.contains($0) }), let control = controls[type.identifier]
    else { throw HomeError.notFound("\(device.name) has no control") }
    return try control.init(device)
  }

  static func modes(of thermostat: Matter.ThermostatTrait) -> Set<Thermostat.SystemMode> {
    var modes: Set<Thermostat.SystemMode> = [.off, thermostat.attributes.systemMode ?? .unrecognized_]
    guard let features = thermostat.attributes.featureMap else { return modes }
    if features.contains(.heating) { modes.insert(.heat) }
    if features.contains(.cooling) { modes.insert(.cool) }
    if features.contains(.autoMode) { modes.insert(.auto) }
    return modes
  }

  /// Removes all devices without a side effect on others.
  static func removeSingleDevices(_ devices: Set<HomeDevice>) async throws -> Set<String> {
    var removed: Set<String> = []
    for device in devices {
      switch try await device.decommissionEligibility {
      case .eligible: removed.formUnion(try await device.decommission())
      case .eligibleWithSideEffects, .ineligible: continue
      }
    }
    return removed
  }
}
