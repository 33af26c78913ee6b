public import MatterModel

/// Level Control (0x0008). Sets a level within a range, immediately or over time.
/// Application Clusters § 1.6.
public enum LevelControl: Cluster {
  public static let id: ClusterID = 0x0008, revision: UInt16 = 6, name = "LevelControl"

  public static let onOff = Feature(0, "OO", "OnOff")
  public static let lighting = Feature(1, "LT", "Lighting")
  public static let frequency = Feature(2, "FQ", "Frequency", provisional: true)
  public static let features: [Feature] = [onOff, lighting, frequency]

  // MARK: Attributes

  public static let currentLevel = Attribute<Self, Nullable<UInt8>>(
    0x0000, "CurrentLevel", initial: .null, quality: [.nonVolatile, .scene, .quieter])
  public static let remainingTime = Attribute<Self, UInt16>(
    0x0001, "RemainingTime", initial: 0, quality: .quieter, conformance: .features(lighting.mask))
  public static let minLevel = Attribute<Self, UInt8>(
    0x0002, "MinLevel", initial: 1, conformance: .optional, constraint: .range(0...254))
  public static let maxLevel = Attribute<Self, UInt8>(
    0x0003, "MaxLevel", initial: 254, conformance: .optional, constraint: .range(0...254))
  public static let currentFrequency = Attribute<Self, UInt16>(
    0x0004, "CurrentFrequency", initial: 0, quality: [.scene, .quieter], conformance: .features(frequency.mask))
  public static let minFrequency = Attribute<Self, UInt16>(
    0x0005, "MinFrequency", initial: 0, conformance: .features(frequency.mask))
  public static let maxFrequency = Attribute<Self, UInt16>(
    0x0006, "MaxFrequency", initial: 0, conformance: .features(frequency.mask))
  public static let options = Attribute<Self, Options>(0x000F, "Options", initial: [], write: .operate)
  public static let onOffTransitionTime = Attribute<Self, UInt16>(
    0x0010, "OnOffTransitionTime", initial: 0, write: .operate, conformance: .optional)
  public static let onLevel = Attribute<Self, Nullable<UInt8>>(
    0x0011, "OnLevel", initial: .null, write: .operate, constraint: .range(0...254))
  public static let onTransitionTime = Attribute<Self, Nullable<UInt16>>(
    0x0012, "OnTransitionTime", initial: .null, write: .operate, conformance: .optional, constraint: .range(0...65534))
  public static let offTransitionTime = Attribute<Self, Nullable<UInt16>>(
    0x0013, "OffTransitionTime", initial: .null, write: .operate, conformance: .optional, constraint: .range(0...65534))
  public static let defaultMoveRate = Attribute<Self, Nullable<UInt8>>(
    0x0014, "DefaultMoveRate", initial: .null, write: .operate, conformance: .optional, constraint: .range(1...254))
  public static let startUpCurrentLevel = Attribute<Self, Nullable<UInt8>>(
    0x4000, "StartUpCurrentLevel", initial: .null, quality: .nonVolatile, write: .manage,
    conformance: .features(lighting.mask), constraint: .range(0...254))

  // MARK: Commands

  public static let moveToLevel = Command<Self, MoveToLevelRequest, NoFields>(0x00, "MoveToLevel")
  public static let move = Command<Self, MoveRequest, NoFields>(0x01, "Move")
  public static let step = Command<Self, StepRequest, NoFields>(0x02, "Step")
  public static let stop = Command<Self, StopRequest, NoFields>(0x03, "Stop")
  public static let moveToLevelWithOnOff = Command<Self, MoveToLevelRequest, NoFields>(0x04, "MoveToLevelWithOnOff")
  public static let moveWithOnOff = Command<Self, MoveRequest, NoFields>(0x05, "MoveWithOnOff")
  public static let stepWithOnOff = Command<Self, StepRequest, NoFields>(0x06, "StepWithOnOff")
  public static let stopWithOnOff = Command<Self, StopRequest, NoFields>(0x07, "StopWithOnOff")
  public static let moveToClosestFrequency = Command<Self, MoveToClosestFrequencyRequest, NoFields>(
    0x08, "MoveToClosestFrequency", conformance: .features(frequency.mask))

  public static let elements: [any ClusterElement] = [
    currentLevel, remainingTime, minLevel, maxLevel, currentFrequency, minFrequency, maxFrequency, options,
    onOffTransitionTime, onLevel, onTransitionTime, offTransitionTime, defaultMoveRate, startUpCurrentLevel,
    moveToLevel, move, step, stop, moveToLevelWithOnOff, moveWithOnOff, stepWithOnOff, stopWithOnOff,
    moveToClosestFrequency,
  ]

  // MARK: Types

  /// Application Clusters § 1.6.5.1.
  public struct Options: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let executeIfOff = Self(rawValue: 1 << 0), coupleColorTempToLevel = Self(rawValue: 1 << 1)
    public static let names: [Int: String] = [0: "ExecuteIfOff", 1: "CoupleColorTempToLevel"]
  }

  /// Application Clusters § 1.6.5.2.
  public struct MoveMode: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let up = Self(0), down = Self(1)
    public static let names: [UInt64: String] = [0: "Up", 1: "Down"]
  }

  /// Application Clusters § 1.6.5.3.
  public struct StepMode: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let up = Self(0), down = Self(1)
    public static let names: [UInt64: String] = [0: "Up", 1: "Down"]
  }

  // MARK: Fields of commands and events

  /// Application Clusters § 1.6.7.1.
  public struct MoveToLevelRequest: ModelStruct {
    public var level: UInt8 = 0
    public var transitionTime: Nullable<UInt16> = .null
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "Level", \.level), .init(1, "TransitionTime", \.transitionTime), .init(2, "OptionsMask", \.optionsMask),
      .init(3, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(level: UInt8, transitionTime: Nullable<UInt16>, optionsMask: Options, optionsOverride: Options) {
      self.level = level
      self.transitionTime = transitionTime
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 1.6.7.2.
  public struct MoveRequest: ModelStruct {
    public var moveMode: MoveMode = .up
    public var rate: Nullable<UInt8> = .null
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "MoveMode", \.moveMode), .init(1, "Rate", \.rate), .init(2, "OptionsMask", \.optionsMask),
      .init(3, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(moveMode: MoveMode, rate: Nullable<UInt8>, optionsMask: Options, optionsOverride: Options) {
      self.moveMode = moveMode
      self.rate = rate
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 1.6.7.3.
  public struct StepRequest: ModelStruct {
    public var stepMode: StepMode = .up
    public var stepSize: UInt8 = 0
    public var transitionTime: Nullable<UInt16> = .null
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "StepMode", \.stepMode), .init(1, "StepSize", \.stepSize), .init(2, "TransitionTime", \.transitionTime),
      .init(3, "OptionsMask", \.optionsMask), .init(4, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(
      stepMode: StepMode, stepSize: UInt8, transitionTime: Nullable<UInt16>, optionsMask: Options,
      optionsOverride: Options
    ) {
      self.stepMode = stepMode
      self.stepSize = stepSize
      self.transitionTime = transitionTime
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 1.6.7.4.
  public struct StopRequest: ModelStruct {
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "OptionsMask", \.optionsMask), .init(1, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(optionsMask: Options, optionsOverride: Options) {
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 1.6.7.5.
  public struct MoveToClosestFrequencyRequest: ModelStruct {
    public var frequency: UInt16 = 0
    public static let fields: [Field<Self>] = [.init(0, "Frequency", \.frequency)]

    public init() {}

    public init(frequency: UInt16) { self.frequency = frequency }
  }
}
