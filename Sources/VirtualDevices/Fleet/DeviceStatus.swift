/// The status of a running device, for display and for `hearth sim ps --json`.
public struct DeviceStatus: Codable, Sendable, Hashable {
  /// The name in the definition.
  public var name: String
  /// The room; empty for none.
  public var room: String
  /// The device type in the spelling of the Device Library.
  public var type: String
  /// The UDP port.
  public var port: UInt16
  /// The passcode on the label. Matter Core § 5.1.7.
  public var passcode: UInt32
  /// The discriminator, 12 bits.
  public var discriminator: UInt16
  /// The manual pairing code, 11 or 21 digits. Matter Core § 5.1.4.
  public var manualCode: String
  /// The QR code text, with the prefix `MT:`. Matter Core § 5.1.3.
  public var qrCode: String
  /// The vendor ID, that of a test vendor by default.
  public var vendorID: UInt16
  /// The product ID of the vendor.
  public var productID: UInt16
  /// The serial number in Basic Information.
  public var serialNumber: String
  /// The UniqueID in Basic Information, which is also the name of the state directory.
  public var uniqueID: String
  /// The fabrics of the device.
  public var fabrics: [FabricStatus] = []
  /// Whether the device can be commissioned at present.
  public var isCommissionable = false
  /// Whether the device has power; without, the other values are the last ones.
  public var isPowered = true
  /// The faults of its network; nil for none.
  public var network: DeviceNetwork?
  /// Its own faults in the words of the definition file: “slow 2 s”.
  public var faults: [String] = []
  /// Whether it is on; nil without On/Off.
  public var onOff: Bool?
  /// The level, 1 to 254; nil without Level Control.
  public var level: UInt8?
  /// The highest level of the device; nil without Level Control.
  public var highestLevel: UInt8?
  /// The position of its switch; nil without a switch.
  public var position: UInt8?
  /// The state or measurement for display: "closed", "21.5 °C"; nil for lights, plugs and switches.
  public var reading: String?
  /// Whether an intermittently connected device is idle, so that it can't be reached; nil if it is always connected.
  public var isAsleep: Bool?
  /// The names of its buttons if it has several, in the order of their endpoints.
  public var buttons: [String] = []
  /// The devices behind the bridge, or the parts of the device.
  public var bridged: [BridgedStatus] = []
  /// Whether it is a bridge.
  package var isBridge: Bool { type == DeviceKind.bridge.title }
  /// The dropped messages since the start, and the failed commands to bound nodes (`undeliveredCommand`,
  /// `refusedCommand`), by reason.
  public var drops: [String: Int] = [:]

  init(
    name: String, room: String, type: String, port: UInt16, passcode: UInt32, discriminator: UInt16,
    manualCode: String, qrCode: String, vendorID: UInt16, productID: UInt16, serialNumber: String, uniqueID: String
  ) {
    (self.name, self.room, self.type, self.port) = (name, room, type, port)
    (self.passcode, self.discriminator, self.manualCode, self.qrCode) = (passcode, discriminator, manualCode, qrCode)
    (self.vendorID, self.productID) = (vendorID, productID)
    (self.serialNumber, self.uniqueID) = (serialNumber, uniqueID)
  }

  /// A fabric of a device.
  public struct FabricStatus: Codable, Sendable, Hashable {
    /// The device's index of the fabric.
    public var index: UInt8
    /// The fabric ID, 16 hexadecimal digits.
    public var fabricID: String
    /// The node ID, 16 hexadecimal digits.
    public var nodeID: String
    /// The label set by the administrator; may be empty.
    public var label: String
  }

  /// The node IDs on all fabrics; empty before commissioning.
  public var nodeIDs: [String] { fabrics.map(\.nodeID) }

  /// "on", "off", "on 40%", "21.5 °C", "closed, asleep", "no power"; empty for a device without a state to show.
  public var state: String {
    guard isPowered else { return "no power" }
    let text = reading ?? stateText(onOff, level, highestLevel, position)
    return isAsleep == true ? text.isEmpty ? "asleep" : "\(text), asleep" : text
  }

  /// `room/name`, or the name alone.
  public var path: String { room.isEmpty ? name : "\(room)/\(name)" }
}

/// A device behind a bridge, or a part of another device.
public struct BridgedStatus: Codable, Sendable, Hashable {
  /// The name in the definition.
  public var name: String
  /// The room; empty for none.
  public var room: String
  /// The device type in the spelling of the Device Library.
  public var type: String
  /// The endpoint of its bridged node, or its first one as a part.
  public var endpoint: UInt16
  /// The faults of its attributes: “onOff.onOff null”.
  public var faults: [String] = []
  /// Whether the bridge can reach it.
  public var isReachable = true
  /// The names of its buttons if it has several, in the order of their endpoints.
  public var buttons: [String] = []
  /// Whether it is on; nil without On/Off.
  public var onOff: Bool?
  /// The level, 1 to 254; nil without Level Control.
  public var level: UInt8?
  /// The highest level of the device; nil without Level Control.
  public var highestLevel: UInt8?
  /// The position of its switch; nil without a switch.
  public var position: UInt8?
  /// The state or the measurement of a sensor, as in ``DeviceStatus/reading``.
  public var reading: String?

  init(name: String, room: String, type: String, endpoint: UInt16, buttons: [String]) {
    (self.name, self.room, self.type, self.endpoint, self.buttons) = (name, room, type, endpoint, buttons)
  }

  /// The state as in ``DeviceStatus/state``, or "unreachable".
  public var state: String { isReachable ? reading ?? stateText(onOff, level, highestLevel, position) : "unreachable" }

  /// `room/name`, or the name alone.
  public var path: String { room.isEmpty ? name : "\(room)/\(name)" }
}

private func stateText(_ onOff: Bool?, _ level: UInt8?, _ highest: UInt8?, _ position: UInt8?) -> String {
  guard let onOff else { return position.map { "position \($0)" } ?? "" }
  guard onOff else { return "off" }
  let whole = max(Int(highest ?? 254), 1)
  return level.map { "on \(max(1, (Int($0) * 100 + whole / 2) / whole))%" } ?? "on"
}
