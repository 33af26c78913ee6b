public import MatterModel

/// On/Off (0x0006). Switches a device on and off. Application Clusters § 1.5.
public enum OnOff: Cluster {
  public static let id: ClusterID = 0x0006, revision: UInt16 = 6, name = "OnOff"

  public static let lighting = Feature(0, "LT", "Lighting")
  public static let deadFrontBehavior = Feature(1, "DF", "DeadFrontBehavior")
  public static let offOnly = Feature(2, "OFFONLY", "OffOnly")
  public static let features: [Feature] = [lighting, deadFrontBehavior, offOnly]

  // MARK: Attributes

  public static let onOff = Attribute<Self, Bool>(0x0000, "OnOff", initial: false, quality: [.nonVolatile, .scene])
  public static let globalSceneControl = Attribute<Self, Bool>(
    0x4000, "GlobalSceneControl", initial: true, conformance: .features(lighting.mask))
  public static let onTime = Attribute<Self, UInt16>(
    0x4001, "OnTime", initial: 0, write: .operate, conformance: .features(lighting.mask))
  public static let offWaitTime = Attribute<Self, UInt16>(
    0x4002, "OffWaitTime", initial: 0, write: .operate, conformance: .features(lighting.mask))
  public static let startUpOnOff = Attribute<Self, Nullable<StartUpOnOff>>(
    0x4003, "StartUpOnOff", initial: .null, quality: .nonVolatile, write: .manage,
    conformance: .features(lighting.mask))

  // MARK: Commands

  public static let off = Command<Self, NoFields, NoFields>(0x00, "Off")
  public static let on = Command<Self, NoFields, NoFields>(0x01, "On", conformance: .when(.init(none: offOnly.mask)))
  public static let toggle = Command<Self, NoFields, NoFields>(
    0x02, "Toggle", conformance: .when(.init(none: offOnly.mask)))
  public static let offWithEffect = Command<Self, OffWithEffectRequest, NoFields>(
    0x40, "OffWithEffect", conformance: .features(lighting.mask))
  public static let onWithRecallGlobalScene = Command<Self, NoFields, NoFields>(
    0x41, "OnWithRecallGlobalScene", conformance: .features(lighting.mask))
  public static let onWithTimedOff = Command<Self, OnWithTimedOffRequest, NoFields>(
    0x42, "OnWithTimedOff", conformance: .features(lighting.mask))

  public static let elements: [any ClusterElement] = [
    onOff, globalSceneControl, onTime, offWaitTime, startUpOnOff, off, on, toggle, offWithEffect,
    onWithRecallGlobalScene, onWithTimedOff,
  ]

  // MARK: Types

  /// Application Clusters § 1.5.5.1.
  public struct OnOffControl: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let acceptOnlyWhenOn = Self(rawValue: 1 << 0)
    public static let names: [Int: String] = [0: "AcceptOnlyWhenOn"]
  }

  /// Application Clusters § 1.5.5.2.
  public struct StartUpOnOff: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let off = Self(0), on = Self(1), toggle = Self(2)
    public static let names: [UInt64: String] = [0: "Off", 1: "On", 2: "Toggle"]
  }

  /// Application Clusters § 1.5.5.3.
  public struct EffectIdentifier: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let delayedAllOff = Self(0), dyingLight = Self(1)
    public static let names: [UInt64: String] = [0: "DelayedAllOff", 1: "DyingLight"]
  }

  /// Application Clusters § 1.5.5.4.
  public struct DelayedAllOffEffectVariant: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let delayedOffFastFade = Self(0), noFade = Self(1), delayedOffSlowFade = Self(2)
    public static let names: [UInt64: String] = [0: "DelayedOffFastFade", 1: "NoFade", 2: "DelayedOffSlowFade"]
  }

  /// Application Clusters § 1.5.5.5.
  public struct DyingLightEffectVariant: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let dyingLightFadeOff = Self(0)
    public static let names: [UInt64: String] = [0: "DyingLightFadeOff"]
  }

  // MARK: Fields of commands and events

  /// Application Clusters § 1.5.7.4.
  public struct OffWithEffectRequest: ModelStruct {
    public var effectIdentifier: EffectIdentifier = .delayedAllOff
    public var effectVariant: UInt8 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "EffectIdentifier", \.effectIdentifier), .init(1, "EffectVariant", \.effectVariant),
    ]

    public init() {}

    public init(effectIdentifier: EffectIdentifier, effectVariant: UInt8) {
      self.effectIdentifier = effectIdentifier
      self.effectVariant = effectVariant
    }
  }

  /// Application Clusters § 1.5.7.6.
  public struct OnWithTimedOffRequest: ModelStruct {
    public var onOffControl: OnOffControl = []
    public var onTime: UInt16 = 0
    public var offWaitTime: UInt16 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "OnOffControl", \.onOffControl), .init(1, "OnTime", \.onTime), .init(2, "OffWaitTime", \.offWaitTime),
    ]

    public init() {}

    public init(onOffControl: OnOffControl, onTime: UInt16, offWaitTime: UInt16) {
      self.onOffControl = onOffControl
      self.onTime = onTime
      self.offWaitTime = offWaitTime
    }
  }
}
