import MatterDevice

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
  var name: Marked<String>
  var room: String?
  var kind: DeviceKind
  var passcode: UInt32?
  var discriminator: Marked<UInt16>?
  var port: Marked<UInt16>?
  var vendorID: UInt16?
  var productID: UInt16?
  var vendorName: String?
  var productName: String?
  var serialNumber: Marked<String>?
  var uniqueID: Marked<String>?
  var enableKey: [UInt8]?
  var servesProvisional: Bool?
  var resumesSubscriptions: Bool?
  var initialValues: [InitialValue] = []
  var behaviors: [BehaviorDefinition] = []
  var battery: Battery?
  var sleep: SleepConfiguration?
  var faults = DeviceFaults()
  var labels: [DeviceLabel] = []
  var makers: [MakersServer] = []
  var climate = ClimateDefinition()
  var energy = EnergyDefinition()
  var switchKind: SwitchKind?
  var buttons: [String] = []
  var program: ApplianceProgram?
  var motors: MotorSettings?
  var closure: ClosureDefinition?
  var images: [ProvidedImage] = []
  var modes: [String]?
  var sounds: [String]?
  var media: MediaSettings?
  /// The devices behind a bridge, or the parts of another device.
  var bridged: [DeviceDraft] = []
  /// The number of devices; nil for one device with the unchanged name.
  var count: Marked<Int>?
  var mark: SourceMark

  /// The number of devices of the entry.
  var number: Int { count?.value ?? 1 }
  /// The number of devices including bridged ones and parts.
  var total: Int { number * (1 + bridged.reduce(0) { $0 + $1.number }) }
}
