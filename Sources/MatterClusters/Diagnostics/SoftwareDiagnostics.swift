public import MatterModel

/// Software Diagnostics (0x0034). Threads and heap of the node's software. Matter Core § 11.13.
public enum SoftwareDiagnostics: Cluster {
  public static let id: ClusterID = 0x0034, revision: UInt16 = 1, name = "SoftwareDiagnostics"
  public static let quality: Quality = .diagnostics

  public static let watermarks = Feature(0, "WTRMRK", "Watermarks")
  public static let features: [Feature] = [watermarks]

  // MARK: Attributes

  public static let threadMetrics = Attribute<Self, [ThreadMetricsStruct]>(
    0x0000, "ThreadMetrics", initial: [], conformance: .optional, constraint: .entries(64))
  public static let currentHeapFree = Attribute<Self, UInt64>(0x0001, "CurrentHeapFree", conformance: .optional)
  public static let currentHeapUsed = Attribute<Self, UInt64>(0x0002, "CurrentHeapUsed", conformance: .optional)
  public static let currentHeapHighWatermark = Attribute<Self, UInt64>(
    0x0003, "CurrentHeapHighWatermark", conformance: .features(watermarks.mask))

  // MARK: Commands

  public static let resetWatermarks = Command<Self, NoFields, NoFields>(
    0x00, "ResetWatermarks", privilege: .manage, conformance: .features(watermarks.mask))

  // MARK: Events

  public static let softwareFault = Event<Self, SoftwareFaultEvent>(0x00, "SoftwareFault", conformance: .optional)

  public static let elements: [any ClusterElement] = [
    threadMetrics, currentHeapFree, currentHeapUsed, currentHeapHighWatermark, resetWatermarks, softwareFault,
  ]

  // MARK: Types

  /// Matter Core § 11.13.5.1.
  public struct ThreadMetricsStruct: ModelStruct {
    public var id: UInt64 = 0
    public var name: String?
    public var stackFreeCurrent: UInt32?
    public var stackFreeMinimum: UInt32?
    public var stackSize: UInt32?
    public static let fields: [Field<Self>] = [
      .init(0, "ID", \.id), .init(1, "Name", \.name), .init(2, "StackFreeCurrent", \.stackFreeCurrent),
      .init(3, "StackFreeMinimum", \.stackFreeMinimum), .init(4, "StackSize", \.stackSize),
    ]

    public init() {}

    public init(
      id: UInt64, name: String? = nil, stackFreeCurrent: UInt32? = nil, stackFreeMinimum: UInt32? = nil,
      stackSize: UInt32? = nil
    ) {
      self.id = id
      self.name = name
      self.stackFreeCurrent = stackFreeCurrent
      self.stackFreeMinimum = stackFreeMinimum
      self.stackSize = stackSize
    }
  }

  // MARK: Fields of commands and events

  /// Matter Core § 11.13.8.1.
  public struct SoftwareFaultEvent: ModelStruct {
    public var id: UInt64 = 0
    public var name: String?
    public var faultRecording: OctetString?
    public static let fields: [Field<Self>] = [
      .init(0, "ID", \.id), .init(1, "Name", \.name), .init(2, "FaultRecording", \.faultRecording),
    ]

    public init() {}

    public init(id: UInt64, name: String? = nil, faultRecording: OctetString? = nil) {
      self.id = id
      self.name = name
      self.faultRecording = faultRecording
    }
  }
}
