public import MatterModel

/// Switch (0x003B). The position of a switch and the events of its use. Application Clusters § 1.13.
public enum Switch: Cluster {
  public static let id: ClusterID = 0x003B, revision: UInt16 = 2, name = "Switch"

  public static let latchingSwitch = Feature(0, "LS", "LatchingSwitch")
  public static let momentarySwitch = Feature(1, "MS", "MomentarySwitch")
  public static let momentarySwitchRelease = Feature(2, "MSR", "MomentarySwitchRelease")
  public static let momentarySwitchLongPress = Feature(3, "MSL", "MomentarySwitchLongPress")
  public static let momentarySwitchMultiPress = Feature(4, "MSM", "MomentarySwitchMultiPress")
  public static let actionSwitch = Feature(5, "AS", "ActionSwitch")
  public static let features: [Feature] = [
    latchingSwitch, momentarySwitch, momentarySwitchRelease, momentarySwitchLongPress, momentarySwitchMultiPress,
    actionSwitch,
  ]

  // MARK: Attributes

  public static let numberOfPositions = Attribute<Self, UInt8>(
    0x0000, "NumberOfPositions", quality: .fixed, constraint: .range(2...255))
  public static let currentPosition = Attribute<Self, UInt8>(0x0001, "CurrentPosition", quality: .nonVolatile)
  public static let multiPressMax = Attribute<Self, UInt8>(
    0x0002, "MultiPressMax", quality: .fixed, conformance: .features(momentarySwitchMultiPress.mask),
    constraint: .range(2...255))

  // MARK: Events

  public static let switchLatched = Event<Self, SwitchLatchedEvent>(
    0x00, "SwitchLatched", conformance: .features(latchingSwitch.mask))
  public static let initialPress = Event<Self, InitialPressEvent>(
    0x01, "InitialPress", conformance: .features(momentarySwitch.mask))
  public static let longPress = Event<Self, LongPressEvent>(
    0x02, "LongPress", conformance: .features(momentarySwitchLongPress.mask))
  public static let shortRelease = Event<Self, ShortReleaseEvent>(
    0x03, "ShortRelease", conformance: .features(momentarySwitchRelease.mask))
  public static let longRelease = Event<Self, LongReleaseEvent>(
    0x04, "LongRelease", conformance: .features(momentarySwitchLongPress.mask))
  public static let multiPressOngoing = Event<Self, MultiPressOngoingEvent>(
    0x05, "MultiPressOngoing", conformance: .when(.init(all: momentarySwitchMultiPress.mask, none: actionSwitch.mask)))
  public static let multiPressComplete = Event<Self, MultiPressCompleteEvent>(
    0x06, "MultiPressComplete", conformance: .features(momentarySwitchMultiPress.mask))

  public static let elements: [any ClusterElement] = [
    numberOfPositions, currentPosition, multiPressMax, switchLatched, initialPress, longPress, shortRelease,
    longRelease, multiPressOngoing, multiPressComplete,
  ]

  // MARK: Fields of commands and events

  /// Application Clusters § 1.13.6.1.
  public struct SwitchLatchedEvent: ModelStruct {
    public var newPosition: UInt8 = 0
    public static let fields: [Field<Self>] = [.init(0, "NewPosition", \.newPosition)]

    public init() {}

    public init(newPosition: UInt8) { self.newPosition = newPosition }
  }

  /// Application Clusters § 1.13.6.2.
  public struct InitialPressEvent: ModelStruct {
    public var newPosition: UInt8 = 0
    public static let fields: [Field<Self>] = [.init(0, "NewPosition", \.newPosition)]

    public init() {}

    public init(newPosition: UInt8) { self.newPosition = newPosition }
  }

  /// Application Clusters § 1.13.6.3.
  public struct LongPressEvent: ModelStruct {
    public var newPosition: UInt8 = 0
    public static let fields: [Field<Self>] = [.init(0, "NewPosition", \.newPosition)]

    public init() {}

    public init(newPosition: UInt8) { self.newPosition = newPosition }
  }

  /// Application Clusters § 1.13.6.4.
  public struct ShortReleaseEvent: ModelStruct {
    public var previousPosition: UInt8 = 0
    public static let fields: [Field<Self>] = [.init(0, "PreviousPosition", \.previousPosition)]

    public init() {}

    public init(previousPosition: UInt8) { self.previousPosition = previousPosition }
  }

  /// Application Clusters § 1.13.6.5.
  public struct LongReleaseEvent: ModelStruct {
    public var previousPosition: UInt8 = 0
    public static let fields: [Field<Self>] = [.init(0, "PreviousPosition", \.previousPosition)]

    public init() {}

    public init(previousPosition: UInt8) { self.previousPosition = previousPosition }
  }

  /// Application Clusters § 1.13.6.6.
  public struct MultiPressOngoingEvent: ModelStruct {
    public var newPosition: UInt8 = 0
    public var currentNumberOfPressesCounted: UInt8 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "NewPosition", \.newPosition),
      .init(1, "CurrentNumberOfPressesCounted", \.currentNumberOfPressesCounted),
    ]

    public init() {}

    public init(newPosition: UInt8, currentNumberOfPressesCounted: UInt8) {
      self.newPosition = newPosition
      self.currentNumberOfPressesCounted = currentNumberOfPressesCounted
    }
  }

  /// Application Clusters § 1.13.6.7.
  public struct MultiPressCompleteEvent: ModelStruct {
    public var previousPosition: UInt8 = 0
    public var totalNumberOfPressesCounted: UInt8 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "PreviousPosition", \.previousPosition),
      .init(1, "TotalNumberOfPressesCounted", \.totalNumberOfPressesCounted),
    ]

    public init() {}

    public init(previousPosition: UInt8, totalNumberOfPressesCounted: UInt8) {
      self.previousPosition = previousPosition
      self.totalNumberOfPressesCounted = totalNumberOfPressesCounted
    }
  }
}
