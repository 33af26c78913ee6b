import VirtualDevices

/// A device of a definition that controllers can't tell from a running one.
struct DeviceClash: Equatable {
  /// `room/name` in the definition.
  var device: String
  /// What both have: `unique id` or `setup code`.
  var shared: String
  /// `room/name` of the running one.
  var other: String
  /// The home that the running one belongs to.
  var home: String
  var process: Int32

  /// The clashes of a definition with running devices, in the order of the definition.
  static func find(_ definition: HomeDefinition, _ fleets: [FleetStatus]) -> [DeviceClash] {
    definition.devices.compactMap { device in
      for fleet in fleets {
        for other in fleet.devices {
          let hasCode = (other.passcode, other.discriminator) == (device.passcode, device.discriminator)
          guard other.uniqueID == device.uniqueID || hasCode else { continue }
          return DeviceClash(
            device: device.path, shared: other.uniqueID == device.uniqueID ? "unique id" : "setup code",
            other: other.path, home: fleet.home, process: fleet.process)
        }
      }
      return nil
    }
  }

  var warning: String {
    "warning: \(device): has the \(shared) of \(other), which runs in process \(process) (\(home)); "
      + "controllers can't tell them apart: rename one"
  }

  var json: JSON {
    [
      "device": .string(device), "shared": .string(shared), "other": .string(other), "home": .string(home),
      "process": .integer(process),
    ]
  }
}
