public import MatterModel

/// Occupancy Sensing (0x0406). Detects occupancy. Application Clusters § 2.7.
public enum OccupancySensing: Cluster {
  public static let id: ClusterID = 0x0406, revision: UInt16 = 5, name = "OccupancySensing"

  public static let other = Feature(0, "OTHER", "Other")
  public static let passiveInfrared = Feature(1, "PIR", "PassiveInfrared")
  public static let ultrasonic = Feature(2, "US", "Ultrasonic")
  public static let physicalContact = Feature(3, "PHY", "PhysicalContact")
  public static let activeInfrared = Feature(4, "AIR", "ActiveInfrared")
  public static let radar = Feature(5, "RAD", "Radar")
  public static let rfSensing = Feature(6, "RFS", "RFSensing")
  public static let vision = Feature(7, "VIS", "Vision")
  public static let features: [Feature] = [
    other, passiveInfrared, ultrasonic, physicalContact, activeInfrared, radar, rfSensing, vision,
  ]

  // MARK: Attributes

  public static let occupancy = Attribute<Self, Occupancy>(0x0000, "Occupancy")
  public static let occupancySensorType = Attribute<Self, OccupancySensorType>(
    0x0001, "OccupancySensorType", quality: .fixed)
  public static let occupancySensorTypeBitmap = Attribute<Self, OccupancySensorTypes>(
    0x0002, "OccupancySensorTypeBitmap", quality: .fixed)
  public static let holdTime = Attribute<Self, UInt16>(
    0x0003, "HoldTime", quality: .nonVolatile, write: .manage, conformance: .optional)
  public static let holdTimeLimits = Attribute<Self, HoldTimeLimitsStruct>(
    0x0004, "HoldTimeLimits", quality: .fixed, conformance: .optional)
  public static let pirOccupiedToUnoccupiedDelay = Attribute<Self, UInt16>(
    0x0010, "PIROccupiedToUnoccupiedDelay", initial: 0, quality: .nonVolatile, write: .manage, conformance: .optional)
  public static let pirUnoccupiedToOccupiedDelay = Attribute<Self, UInt16>(
    0x0011, "PIRUnoccupiedToOccupiedDelay", initial: 0, quality: .nonVolatile, write: .manage, conformance: .optional)
  public static let pirUnoccupiedToOccupiedThreshold = Attribute<Self, UInt8>(
    0x0012, "PIRUnoccupiedToOccupiedThreshold", initial: 1, quality: .nonVolatile, write: .manage,
    conformance: .optional, constraint: .range(1...254))
  public static let ultrasonicOccupiedToUnoccupiedDelay = Attribute<Self, UInt16>(
    0x0020, "UltrasonicOccupiedToUnoccupiedDelay", initial: 0, quality: .nonVolatile, write: .manage,
    conformance: .optional)
  public static let ultrasonicUnoccupiedToOccupiedDelay = Attribute<Self, UInt16>(
    0x0021, "UltrasonicUnoccupiedToOccupiedDelay", initial: 0, quality: .nonVolatile, write: .manage,
    conformance: .optional)
  public static let ultrasonicUnoccupiedToOccupiedThreshold = Attribute<Self, UInt8>(
    0x0022, "UltrasonicUnoccupiedToOccupiedThreshold", initial: 1, quality: .nonVolatile, write: .manage,
    conformance: .optional, constraint: .range(1...254))
  public static let physicalContactOccupiedToUnoccupiedDelay = Attribute<Self, UInt16>(
    0x0030, "PhysicalContactOccupiedToUnoccupiedDelay", initial: 0, quality: .nonVolatile, write: .manage,
    conformance: .optional)
  public static let physicalContactUnoccupiedToOccupiedDelay = Attribute<Self, UInt16>(
    0x0031, "PhysicalContactUnoccupiedToOccupiedDelay", initial: 0, quality: .nonVolatile, write: .manage,
    conformance: .optional)
  public static let physicalContactUnoccupiedToOccupiedThreshold = Attribute<Self, UInt8>(
    0x0032, "PhysicalContactUnoccupiedToOccupiedThreshold", initial: 1, quality: .nonVolatile, write: .manage,
    conformance: .optional, constraint: .range(1...254))

  // MARK: Events

  public static let occupancyChanged = Event<Self, OccupancyChangedEvent>(
    0x00, "OccupancyChanged", conformance: .optional)

  public static let elements: [any ClusterElement] = [
    occupancy, occupancySensorType, occupancySensorTypeBitmap, holdTime, holdTimeLimits, pirOccupiedToUnoccupiedDelay,
    pirUnoccupiedToOccupiedDelay, pirUnoccupiedToOccupiedThreshold, ultrasonicOccupiedToUnoccupiedDelay,
    ultrasonicUnoccupiedToOccupiedDelay, ultrasonicUnoccupiedToOccupiedThreshold,
    physicalContactOccupiedToUnoccupiedDelay, physicalContactUnoccupiedToOccupiedDelay,
    physicalContactUnoccupiedToOccupiedThreshold, occupancyChanged,
  ]

  // MARK: Types

  /// Application Clusters § 2.7.5.1.
  public struct Occupancy: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let occupied = Self(rawValue: 1 << 0)
    public static let names: [Int: String] = [0: "Occupied"]
  }

  /// Application Clusters § 2.7.5.3.
  public struct OccupancySensorType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let pir = Self(0), ultrasonic = Self(1), pirAndUltrasonic = Self(2), physicalContact = Self(3)
    public static let names: [UInt64: String] = [
      0: "PIR", 1: "Ultrasonic", 2: "PIRAndUltrasonic", 3: "PhysicalContact",
    ]
  }

  /// The sensing modalities as a bitmap. Application Clusters § 2.7.5.2.
  public struct OccupancySensorTypes: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let pir = Self(rawValue: 1 << 0), ultrasonic = Self(rawValue: 1 << 1)
    public static let physicalContact = Self(rawValue: 1 << 2)
    public static let names: [Int: String] = [0: "PIR", 1: "Ultrasonic", 2: "PhysicalContact"]
  }

  /// Application Clusters § 2.7.5.4.
  public struct HoldTimeLimitsStruct: ModelStruct {
    public var holdTimeMin: UInt16 = 0
    public var holdTimeMax: UInt16 = 0
    public var holdTimeDefault: UInt16 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "HoldTimeMin", \.holdTimeMin), .init(1, "HoldTimeMax", \.holdTimeMax),
      .init(2, "HoldTimeDefault", \.holdTimeDefault),
    ]

    public init() {}

    public init(holdTimeMin: UInt16, holdTimeMax: UInt16, holdTimeDefault: UInt16) {
      self.holdTimeMin = holdTimeMin
      self.holdTimeMax = holdTimeMax
      self.holdTimeDefault = holdTimeDefault
    }
  }

  // MARK: Fields of commands and events

  /// Application Clusters § 2.7.7.1.
  public struct OccupancyChangedEvent: ModelStruct {
    public var occupancy: Occupancy = []
    public static let fields: [Field<Self>] = [.init(0, "Occupancy", \.occupancy)]

    public init() {}

    public init(occupancy: Occupancy) { self.occupancy = occupancy }
  }
}
