/// A value and its position.
struct Marked<Value: Sendable>: Sendable {
  let value: Value
  let mark: SourceMark
}

/// The contents of one file, before values are derived.
struct FileDraft: Sendable {
  var home: String?
  /// The rooms; nil if the file lists none, in which case devices may name any.
  var rooms: [String]?
  var devices: [DeviceDraft] = []
}

/// The contents of one entry of `devices`.
struct DeviceDraft: Sendable {
  /// The device. The following values are completed and checked together with those of all other devices.
  var definition: DeviceDefinition
  var name: Marked<String>
  var passcode: UInt32?
  var discriminator: Marked<UInt16>?
  var port: Marked<UInt16>?
  var serialNumber: Marked<String>?
  var uniqueID: Marked<String>?
  /// The devices behind a bridge, or the parts of another device.
  var bridged: [DeviceDraft] = []
  /// The number of devices; nil for one device with the unchanged name.
  var count: Marked<Int>?

  /// The number of devices of the entry.
  var number: Int { count?.value ?? 1 }
  /// The number of devices including bridged ones and parts.
  var total: Int { number * (1 + bridged.reduce(0) { $0 + $1.number }) }
}
