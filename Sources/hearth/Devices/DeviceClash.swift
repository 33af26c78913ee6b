import HearthHome
import VirtualDevices

/// A device of a definition that controllers can't distinguish from a running one.
struct DeviceClash: Equatable {
  /// `room/name` in the definition.
  var device: String
  /// The property that both devices have: `unique id` or `setup code`.
  var shared: String
  /// `room/name` of the running device.
  var other: String
  /// The home of the running device.
  var home: String
  var process: Int32

  /// Returns the clashes of a definition with running devices, in the order of the definition.
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
      + "controllers can't distinguish them; rename one"
  }

  var json: JSON {
    [
      "device": .string(device), "shared": .string(shared), "other": .string(other), "home": .string(home),
      "process": .int(process),
    ]
  }
}
