public import MatterModel

/// Identify (0x0003). Lets a device identify itself. Application Clusters § 1.2.
public enum Identify: Cluster {
  public static let id: ClusterID = 0x0003, revision: UInt16 = 6, name = "Identify"

  // MARK: Attributes

  public static let identifyTime = Attribute<Self, UInt16>(
    0x0000, "IdentifyTime", initial: 0, quality: .quieter, write: .operate)
  public static let identifyType = Attribute<Self, IdentifyType>(0x0001, "IdentifyType")

  // MARK: Commands

  public static let identify = Command<Self, IdentifyRequest, NoFields>(0x00, "Identify", privilege: .manage)
  public static let triggerEffect = Command<Self, TriggerEffectRequest, NoFields>(
    0x40, "TriggerEffect", privilege: .manage, conformance: .optional)

  public static let elements: [any ClusterElement] = [identifyTime, identifyType, identify, triggerEffect]

  // MARK: Types

  /// Application Clusters § 1.2.4.1.
  public struct IdentifyType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let none = Self(0), lightOutput = Self(1), visibleIndicator = Self(2), audibleBeep = Self(3)
    public static let display = Self(4), actuator = Self(5)
    public static let names: [UInt64: String] = [
      0: "None", 1: "LightOutput", 2: "VisibleIndicator", 3: "AudibleBeep", 4: "Display", 5: "Actuator",
    ]
  }

  /// Application Clusters § 1.2.4.2.
  public struct EffectIdentifier: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let blink = Self(0), breathe = Self(1), okay = Self(2), channelChange = Self(11)
    public static let finishEffect = Self(254), stopEffect = Self(255)
    public static let names: [UInt64: String] = [
      0: "Blink", 1: "Breathe", 2: "Okay", 11: "ChannelChange", 254: "FinishEffect", 255: "StopEffect",
    ]
  }

  /// Application Clusters § 1.2.4.3.
  public struct EffectVariant: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let `default` = Self(0)
    public static let names: [UInt64: String] = [0: "Default"]
  }

  // MARK: Fields of commands and events

  /// Application Clusters § 1.2.6.1.
  public struct IdentifyRequest: ModelStruct {
    public var identifyTime: UInt16 = 0
    public static let fields: [Field<Self>] = [.init(0, "IdentifyTime", \.identifyTime)]

    public init() {}

    public init(identifyTime: UInt16) { self.identifyTime = identifyTime }
  }

  /// Application Clusters § 1.2.6.2.
  public struct TriggerEffectRequest: ModelStruct {
    public var effectIdentifier: EffectIdentifier = .blink
    public var effectVariant: EffectVariant = .default
    public static let fields: [Field<Self>] = [
      .init(0, "EffectIdentifier", \.effectIdentifier), .init(1, "EffectVariant", \.effectVariant),
    ]

    public init() {}

    public init(effectIdentifier: EffectIdentifier, effectVariant: EffectVariant) {
      self.effectIdentifier = effectIdentifier
      self.effectVariant = effectVariant
    }
  }
}
