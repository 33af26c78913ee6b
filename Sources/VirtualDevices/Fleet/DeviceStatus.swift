/// What there is to say of a running device, for people and for `hearth sim ps --json`.
public struct DeviceStatus: Codable, Sendable, Hashable {
  public var name: String
  /// Empty: in no room.
  public var room: String
  /// As the Device Library writes it.
  public var type: String
  public var port: UInt16
  public var passcode: UInt32
  public var discriminator: UInt16
  public var manualCode: String
  public var qrCode: String
  public var vendorID: UInt16
  public var productID: UInt16
  public var serialNumber: String
  public var uniqueID: String
  /// The fabrics that the device is on.
  public var fabrics: [FabricStatus]
  /// Whether it can be commissioned now.
  public var isCommissionable: Bool
  /// Nil: it has none.
  public var onOff: Bool?
  /// 1 to 254; nil: it has none.
  public var level: UInt8?

  public struct FabricStatus: Codable, Sendable, Hashable {
    public var index: UInt8
    /// 16 hex digits, as all ids of 64 bits.
    public var fabricID: String
    public var nodeID: String
    public var label: String
  }

  /// Node ids on all fabrics, nothing before commissioning.
  public var nodeIDs: [String] { fabrics.map(\.nodeID) }

  /// "on", "off", "on 40%"; empty for a device that has no such thing.
  public var state: String {
    guard let onOff else { return "" }
    guard onOff else { return "off" }
    return level.map { "on \((Int($0) * 100 + 127) / 254)%" } ?? "on"
  }
}
