import MatterDevice

/// A value and where it stands.
struct Marked<Value: Sendable>: Sendable {
  let value: Value
  let mark: SourceMark
}

/// What one file says, before anything is derived.
struct FileDraft: Sendable {
  var home: String?
  /// Nil where the file lists none, and devices may name any.
  var rooms: [String]?
  var devices: [DeviceDraft] = []
}

/// What one entry of `devices` says.
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
  var labels: [DeviceLabel] = []
  var switchKind: SwitchKind?
  var buttons: [String] = []
  /// The devices behind a bridge.
  var bridged: [DeviceDraft] = []
  /// Nil: one device with just this name.
  var count: Marked<Int>?
  var mark: SourceMark

  /// How many devices it stands for.
  var number: Int { count?.value ?? 1 }
  /// The same with those behind bridges.
  var total: Int { number * (1 + bridged.reduce(0) { $0 + $1.number }) }
}
