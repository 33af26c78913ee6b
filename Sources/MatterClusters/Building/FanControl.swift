public import MatterModel

/// Fan Control (0x0202). Mode, speed and airflow direction of a fan. Application Clusters § 4.4.
public enum FanControl: Cluster {
  public static let id: ClusterID = 0x0202, revision: UInt16 = 5, name = "FanControl"

  public static let multiSpeed = Feature(0, "SPD", "MultiSpeed")
  public static let auto = Feature(1, "AUT", "Auto")
  public static let rocking = Feature(2, "RCK", "Rocking")
  public static let wind = Feature(3, "WND", "Wind")
  public static let stepFeature = Feature(4, "STEP", "Step")
  public static let airflowDirectionFeature = Feature(5, "DIR", "AirflowDirection")
  public static let features: [Feature] = [multiSpeed, auto, rocking, wind, stepFeature, airflowDirectionFeature]

  // MARK: Attributes

  public static let fanMode = Attribute<Self, FanMode>(
    0x0000, "FanMode", initial: .off, quality: .nonVolatile, write: .operate)
  public static let fanModeSequence = Attribute<Self, FanModeSequence>(0x0001, "FanModeSequence", quality: .fixed)
  public static let percentSetting = Attribute<Self, Nullable<UInt8>>(
    0x0002, "PercentSetting", initial: .value(0), write: .operate, constraint: .range(0...100))
  public static let percentCurrent = Attribute<Self, UInt8>(0x0003, "PercentCurrent", constraint: .range(0...100))
  public static let speedMax = Attribute<Self, UInt8>(
    0x0004, "SpeedMax", quality: .fixed, conformance: .features(multiSpeed.mask), constraint: .range(1...100))
  public static let speedSetting = Attribute<Self, Nullable<UInt8>>(
    0x0005, "SpeedSetting", initial: .value(0), write: .operate, conformance: .features(multiSpeed.mask),
    constraint: .range(0...254))
  public static let speedCurrent = Attribute<Self, UInt8>(
    0x0006, "SpeedCurrent", conformance: .features(multiSpeed.mask))
  public static let rockSupport = Attribute<Self, Rock>(
    0x0007, "RockSupport", initial: [], quality: .fixed, conformance: .features(rocking.mask))
  public static let rockSetting = Attribute<Self, Rock>(
    0x0008, "RockSetting", initial: [], write: .operate, conformance: .features(rocking.mask))
  public static let windSupport = Attribute<Self, Wind>(
    0x0009, "WindSupport", initial: [], quality: .fixed, conformance: .features(wind.mask))
  public static let windSetting = Attribute<Self, Wind>(
    0x000A, "WindSetting", initial: [], write: .operate, conformance: .features(wind.mask))
  public static let airflowDirection = Attribute<Self, AirflowDirection>(
    0x000B, "AirflowDirection", initial: .forward, write: .operate,
    conformance: .features(airflowDirectionFeature.mask))

  // MARK: Commands

  public static let step = Command<Self, StepRequest, NoFields>(0x00, "Step", conformance: .features(stepFeature.mask))

  public static let elements: [any ClusterElement] = [
    fanMode, fanModeSequence, percentSetting, percentCurrent, speedMax, speedSetting, speedCurrent, rockSupport,
    rockSetting, windSupport, windSetting, airflowDirection, step,
  ]

  // MARK: Types

  /// Application Clusters § 4.4.5.1.
  public struct Rock: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let rockLeftRight = Self(rawValue: 1 << 0), rockUpDown = Self(rawValue: 1 << 1)
    public static let rockRound = Self(rawValue: 1 << 2)
    public static let names: [Int: String] = [0: "RockLeftRight", 1: "RockUpDown", 2: "RockRound"]
  }

  /// Application Clusters § 4.4.5.2.
  public struct Wind: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let sleepWind = Self(rawValue: 1 << 0), naturalWind = Self(rawValue: 1 << 1)
    public static let names: [Int: String] = [0: "SleepWind", 1: "NaturalWind"]
  }

  /// Application Clusters § 4.4.5.3.
  public struct StepDirection: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let increase = Self(0), decrease = Self(1)
    public static let names: [UInt64: String] = [0: "Increase", 1: "Decrease"]
  }

  /// Application Clusters § 4.4.5.4.
  public struct AirflowDirection: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let forward = Self(0), reverse = Self(1)
    public static let names: [UInt64: String] = [0: "Forward", 1: "Reverse"]
  }

  /// Application Clusters § 4.4.5.5.
  public struct FanMode: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let off = Self(0), low = Self(1), medium = Self(2), high = Self(3), on = Self(4), auto = Self(5)
    public static let smart = Self(6)
    public static let names: [UInt64: String] = [
      0: "Off", 1: "Low", 2: "Medium", 3: "High", 4: "On", 5: "Auto", 6: "Smart",
    ]
  }

  /// Application Clusters § 4.4.5.6.
  public struct FanModeSequence: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let offLowMedHigh = Self(0), offLowHigh = Self(1), offLowMedHighAuto = Self(2)
    public static let offLowHighAuto = Self(3), offHighAuto = Self(4), offHigh = Self(5)
    public static let names: [UInt64: String] = [
      0: "OffLowMedHigh", 1: "OffLowHigh", 2: "OffLowMedHighAuto", 3: "OffLowHighAuto", 4: "OffHighAuto", 5: "OffHigh",
    ]
  }

  // MARK: Fields of commands and events

  /// Application Clusters § 4.4.7.1.
  public struct StepRequest: ModelStruct {
    public var direction: StepDirection = .increase
    public var wrap: Bool?
    public var lowestOff: Bool?
    public static let fields: [Field<Self>] = [
      .init(0, "Direction", \.direction), .init(1, "Wrap", \.wrap), .init(2, "LowestOff", \.lowestOff),
    ]

    public init() {}

    public init(direction: StepDirection, wrap: Bool? = nil, lowestOff: Bool? = nil) {
      self.direction = direction
      self.wrap = wrap
      self.lowestOff = lowestOff
    }
  }
}
