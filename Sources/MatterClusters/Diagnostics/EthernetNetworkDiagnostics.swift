public import MatterModel

/// Ethernet Network Diagnostics (0x0037). Counters of an Ethernet interface. Matter Core § 11.16.
public enum EthernetNetworkDiagnostics: Cluster {
  public static let id: ClusterID = 0x0037, revision: UInt16 = 1, name = "EthernetNetworkDiagnostics"
  public static let quality: Quality = .diagnostics

  public static let packetCounts = Feature(0, "PKTCNT", "PacketCounts")
  public static let errorCounts = Feature(1, "ERRCNT", "ErrorCounts")
  public static let features: [Feature] = [packetCounts, errorCounts]

  // MARK: Attributes

  public static let phyRate = Attribute<Self, Nullable<PHYRate>>(
    0x0000, "PHYRate", initial: .null, conformance: .optional)
  public static let fullDuplex = Attribute<Self, Nullable<Bool>>(
    0x0001, "FullDuplex", initial: .null, conformance: .optional)
  public static let packetRxCount = Attribute<Self, UInt64>(
    0x0002, "PacketRxCount", initial: 0, quality: .changesOmitted, conformance: .features(packetCounts.mask))
  public static let packetTxCount = Attribute<Self, UInt64>(
    0x0003, "PacketTxCount", initial: 0, quality: .changesOmitted, conformance: .features(packetCounts.mask))
  public static let txErrCount = Attribute<Self, UInt64>(
    0x0004, "TxErrCount", initial: 0, quality: .changesOmitted, conformance: .features(errorCounts.mask))
  public static let collisionCount = Attribute<Self, UInt64>(
    0x0005, "CollisionCount", initial: 0, quality: .changesOmitted, conformance: .features(errorCounts.mask))
  public static let overrunCount = Attribute<Self, UInt64>(
    0x0006, "OverrunCount", initial: 0, quality: .changesOmitted, conformance: .features(errorCounts.mask))
  public static let carrierDetect = Attribute<Self, Nullable<Bool>>(
    0x0007, "CarrierDetect", initial: .null, quality: .changesOmitted, conformance: .optional)
  public static let timeSinceReset = Attribute<Self, UInt64>(
    0x0008, "TimeSinceReset", initial: 0, quality: .changesOmitted, conformance: .optional)

  // MARK: Commands

  public static let resetCounts = Command<Self, NoFields, NoFields>(
    0x00, "ResetCounts", privilege: .manage, conformance: .features(packetCounts.mask | errorCounts.mask))

  public static let elements: [any ClusterElement] = [
    phyRate, fullDuplex, packetRxCount, packetTxCount, txErrCount, collisionCount, overrunCount, carrierDetect,
    timeSinceReset, resetCounts,
  ]

  // MARK: Types

  /// Matter Core § 11.16.5.1.
  public struct PHYRate: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let rate10M = Self(0), rate100M = Self(1), rate1G = Self(2), rate2Point5G = Self(3), rate5G = Self(4)
    public static let rate10G = Self(5), rate40G = Self(6), rate100G = Self(7), rate200G = Self(8), rate400G = Self(9)
    public static let names: [UInt64: String] = [
      0: "Rate10M", 1: "Rate100M", 2: "Rate1G", 3: "Rate2_5G", 4: "Rate5G", 5: "Rate10G", 6: "Rate40G", 7: "Rate100G",
      8: "Rate200G", 9: "Rate400G",
    ]
  }
}
