/// The devices of a home by path and by name, ignoring case.
struct DeviceIndex {
  /// A device of the home.
  struct Entry {
    let device: DeviceDefinition
    /// The position of the device, or of its bridge, in the definition.
    let position: Int
  }

  /// All devices, each bridge before the devices behind it.
  let entries: [Entry]
  private var paths: [String: Int] = [:]
  /// Nil for a name of several devices.
  private var names: [String: Int?] = [:]

  init(_ devices: [DeviceDefinition]) {
    entries = devices.enumerated().flatMap { position, device in
      ([device] + device.bridged).map { Entry(device: $0, position: position) }
    }
    for (index, entry) in entries.enumerated() {
      paths[entry.device.path.lowercased()] = index
      let name = entry.device.name.lowercased()
      names[name] = .some(names[name] == nil ? index : nil)
    }
  }

  /// Returns the device with a path, or with a name that no other device has.
  func find(_ text: String) -> Entry? {
    (paths[text.lowercased()] ?? names[text.lowercased()] ?? nil).map { entries[$0] }
  }
}
