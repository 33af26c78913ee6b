/// What there is to say of a running device, for people and for `hearth sim ps --json`.
public struct DeviceStatus: Codable, Sendable, Hashable {
  /// As the definition has it.
  public var name: String
  /// Empty: in no room.
  public var room: String
  /// As the Device Library writes it.
  public var type: String
  /// The UDP port.
  public var port: UInt16
  /// Of the label. Matter Core § 5.1.7.
  public var passcode: UInt32
  /// 12 bits.
  public var discriminator: UInt16
  /// 11 or 21 digits. Matter Core § 5.1.4.
  public var manualCode: String
  /// `MT:` and what follows. Matter Core § 5.1.3.
  public var qrCode: String
  /// A test vendor's, unless the definition says otherwise.
  public var vendorID: UInt16
  /// Given by the vendor.
  public var productID: UInt16
  /// As Basic Information has it.
  public var serialNumber: String
  /// As Basic Information has it; the name of the place where its state is kept.
  public var uniqueID: String
  /// The fabrics that the device is on.
  public var fabrics: [FabricStatus] = []
  /// Whether it can be commissioned now.
  public var isCommissionable = false
  /// Whether it has its power; without, the rest is as it was last.
  public var isPowered = true
  /// What is wrong with the network around it; nil: nothing is.
  public var network: DeviceNetwork?
  /// Nil: it has none.
  public var onOff: Bool?
  /// 1 to 254; nil: it has none.
  public var level: UInt8?
  /// Where its switch is; nil: it has none.
  public var position: UInt8?
  /// The names of its buttons where it has several, in the order of their endpoints.
  public var buttons: [String] = []
  /// The devices behind it.
  public var bridged: [BridgedStatus] = []
  /// How many messages were not taken in since it started, and how many commands to what it is bound to came to nothing
  /// (`undeliveredCommand`, `refusedCommand`), by reason.
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

  /// One fabric that a device is on.
  public struct FabricStatus: Codable, Sendable, Hashable {
    /// The device's own number for the fabric.
    public var index: UInt8
    /// 16 hex digits, as all ids of 64 bits.
    public var fabricID: String
    /// 16 hex digits.
    public var nodeID: String
    /// What the fabric's administrator calls it; may be empty.
    public var label: String
  }

  /// Node ids on all fabrics, nothing before commissioning.
  public var nodeIDs: [String] { fabrics.map(\.nodeID) }

  /// "on", "off", "on 40%", "no power"; empty for a device that has no such thing.
  public var state: String { isPowered ? stateText(onOff, level, position) : "no power" }

  /// `room/name`, or the name alone.
  public var path: String { room.isEmpty ? name : "\(room)/\(name)" }
}

/// A device behind a bridge.
public struct BridgedStatus: Codable, Sendable, Hashable {
  /// As the definition has it.
  public var name: String
  /// Empty: in no room.
  public var room: String
  /// As the Device Library writes it.
  public var type: String
  /// The endpoint of its bridged node.
  public var endpoint: UInt16
  /// Whether the bridge reaches it.
  public var isReachable = true
  /// The names of its buttons where it has several, in the order of their endpoints.
  public var buttons: [String] = []
  /// Nil: it has nothing to switch.
  public var onOff: Bool?
  /// 1 to 254; nil: it has nothing to dim.
  public var level: UInt8?
  /// Where its switch is; nil: it has none.
  public var position: UInt8?

  init(name: String, room: String, type: String, endpoint: UInt16, buttons: [String]) {
    (self.name, self.room, self.type, self.endpoint, self.buttons) = (name, room, type, endpoint, buttons)
  }

  /// As ``DeviceStatus/state``, and "unreachable".
  public var state: String { isReachable ? stateText(onOff, level, position) : "unreachable" }

  /// `room/name`, or the name alone.
  public var path: String { room.isEmpty ? name : "\(room)/\(name)" }
}

private func stateText(_ onOff: Bool?, _ level: UInt8?, _ position: UInt8?) -> String {
  guard let onOff else { return position.map { "position \($0)" } ?? "" }
  guard onOff else { return "off" }
  return level.map { "on \((Int($0) * 100 + 127) / 254)%" } ?? "on"
}
