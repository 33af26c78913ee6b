public import MatterModel

/// Window Covering (0x0102). Lift and tilt of blinds, shades and curtains.
/// Application Clusters § 5.3.
public enum WindowCovering: Cluster {
  public static let id: ClusterID = 0x0102, revision: UInt16 = 6, name = "WindowCovering"

  public static let lift = Feature(0, "LF", "Lift")
  public static let tilt = Feature(1, "TL", "Tilt")
  public static let positionAwareLift = Feature(2, "PA_LF", "PositionAwareLift")
  public static let absolutePosition = Feature(3, "ABS", "AbsolutePosition", provisional: true)
  public static let positionAwareTilt = Feature(4, "PA_TL", "PositionAwareTilt")
  public static let features: [Feature] = [lift, tilt, positionAwareLift, absolutePosition, positionAwareTilt]

  // MARK: Attributes

  public static let type = Attribute<Self, TypeEnum>(0x0000, "Type", initial: .rollershade, quality: .fixed)
  public static let physicalClosedLimitLift = Attribute<Self, UInt16>(
    0x0001, "PhysicalClosedLimitLift", initial: 0, quality: [.fixed, .provisional],
    conformance: .optionalWhen(.init(all: lift.mask | positionAwareLift.mask | absolutePosition.mask)))
  public static let physicalClosedLimitTilt = Attribute<Self, UInt16>(
    0x0002, "PhysicalClosedLimitTilt", initial: 0, quality: [.fixed, .provisional],
    conformance: .optionalWhen(.init(all: tilt.mask | positionAwareTilt.mask | absolutePosition.mask)))
  public static let currentPositionLift = Attribute<Self, Nullable<UInt16>>(
    0x0003, "CurrentPositionLift", initial: .null, quality: [.nonVolatile, .provisional],
    conformance: .optionalWhen(.init(all: lift.mask | positionAwareLift.mask | absolutePosition.mask)))
  public static let currentPositionTilt = Attribute<Self, Nullable<UInt16>>(
    0x0004, "CurrentPositionTilt", initial: .null, quality: [.nonVolatile, .provisional],
    conformance: .optionalWhen(.init(all: tilt.mask | positionAwareTilt.mask | absolutePosition.mask)))
  public static let numberOfActuationsLift = Attribute<Self, UInt16>(
    0x0005, "NumberOfActuationsLift", initial: 0, quality: .nonVolatile, conformance: .optionalWith(lift.mask))
  public static let numberOfActuationsTilt = Attribute<Self, UInt16>(
    0x0006, "NumberOfActuationsTilt", initial: 0, quality: .nonVolatile, conformance: .optionalWith(tilt.mask))
  public static let configStatus = Attribute<Self, ConfigStatus>(
    0x0007, "ConfigStatus", initial: .init(rawValue: 3), quality: .nonVolatile)
  public static let currentPositionLiftPercentage = Attribute<Self, Nullable<UInt8>>(
    0x0008, "CurrentPositionLiftPercentage", initial: .null, quality: .nonVolatile,
    conformance: .optionalWhen(.init(all: lift.mask | positionAwareLift.mask)))
  public static let currentPositionTiltPercentage = Attribute<Self, Nullable<UInt8>>(
    0x0009, "CurrentPositionTiltPercentage", initial: .null, quality: .nonVolatile,
    conformance: .optionalWhen(.init(all: tilt.mask | positionAwareTilt.mask)))
  public static let operationalStatus = Attribute<Self, OperationalStatus>(0x000A, "OperationalStatus", initial: [])
  public static let targetPositionLiftPercent100ths = Attribute<Self, Nullable<UInt16>>(
    0x000B, "TargetPositionLiftPercent100ths", initial: .null,
    conformance: .when(.init(all: lift.mask | positionAwareLift.mask)))
  public static let targetPositionTiltPercent100ths = Attribute<Self, Nullable<UInt16>>(
    0x000C, "TargetPositionTiltPercent100ths", initial: .null,
    conformance: .when(.init(all: tilt.mask | positionAwareTilt.mask)))
  public static let endProductType = Attribute<Self, EndProductType>(
    0x000D, "EndProductType", initial: .rollerShade, quality: .fixed)
  public static let currentPositionLiftPercent100ths = Attribute<Self, Nullable<UInt16>>(
    0x000E, "CurrentPositionLiftPercent100ths", initial: .null, quality: .nonVolatile,
    conformance: .when(.init(all: lift.mask | positionAwareLift.mask)), constraint: .range(0...10000))
  public static let currentPositionTiltPercent100ths = Attribute<Self, Nullable<UInt16>>(
    0x000F, "CurrentPositionTiltPercent100ths", initial: .null, quality: .nonVolatile,
    conformance: .when(.init(all: tilt.mask | positionAwareTilt.mask)), constraint: .range(0...10000))
  public static let installedOpenLimitLift = Attribute<Self, UInt16>(
    0x0010, "InstalledOpenLimitLift", initial: 0, quality: [.nonVolatile, .provisional],
    conformance: .when(.init(all: lift.mask | positionAwareLift.mask | absolutePosition.mask)),
    constraint: .range(0...65534))
  public static let installedClosedLimitLift = Attribute<Self, UInt16>(
    0x0011, "InstalledClosedLimitLift", initial: 65534, quality: [.nonVolatile, .provisional],
    conformance: .when(.init(all: lift.mask | positionAwareLift.mask | absolutePosition.mask)),
    constraint: .range(0...65534))
  public static let installedOpenLimitTilt = Attribute<Self, UInt16>(
    0x0012, "InstalledOpenLimitTilt", initial: 0, quality: [.nonVolatile, .provisional],
    conformance: .when(.init(all: tilt.mask | positionAwareTilt.mask | absolutePosition.mask)),
    constraint: .range(0...65534))
  public static let installedClosedLimitTilt = Attribute<Self, UInt16>(
    0x0013, "InstalledClosedLimitTilt", initial: 65534, quality: [.nonVolatile, .provisional],
    conformance: .when(.init(all: tilt.mask | positionAwareTilt.mask | absolutePosition.mask)),
    constraint: .range(0...65534))
  public static let mode = Attribute<Self, Mode>(0x0017, "Mode", initial: [], quality: .nonVolatile, write: .manage)
  public static let safetyStatus = Attribute<Self, SafetyStatus>(
    0x001A, "SafetyStatus", initial: [], conformance: .optional)

  // MARK: Commands

  public static let upOrOpen = Command<Self, NoFields, NoFields>(0x00, "UpOrOpen")
  public static let downOrClose = Command<Self, NoFields, NoFields>(0x01, "DownOrClose")
  public static let stopMotion = Command<Self, NoFields, NoFields>(0x02, "StopMotion")
  public static let goToLiftValue = Command<Self, GoToLiftValueRequest, NoFields>(
    0x04, "GoToLiftValue", quality: .provisional,
    conformance: .optionalWhen(.init(all: lift.mask | absolutePosition.mask)))
  public static let goToLiftPercentage = Command<Self, GoToLiftPercentageRequest, NoFields>(
    0x05, "GoToLiftPercentage",
    conformance: .whenElseOptionalWith(.init(all: lift.mask | positionAwareLift.mask), lift.mask))
  public static let goToTiltValue = Command<Self, GoToTiltValueRequest, NoFields>(
    0x07, "GoToTiltValue", quality: .provisional,
    conformance: .optionalWhen(.init(all: tilt.mask | absolutePosition.mask)))
  public static let goToTiltPercentage = Command<Self, GoToTiltPercentageRequest, NoFields>(
    0x08, "GoToTiltPercentage",
    conformance: .whenElseOptionalWith(.init(all: tilt.mask | positionAwareTilt.mask), tilt.mask))

  public static let elements: [any ClusterElement] = [
    type, physicalClosedLimitLift, physicalClosedLimitTilt, currentPositionLift, currentPositionTilt,
    numberOfActuationsLift, numberOfActuationsTilt, configStatus, currentPositionLiftPercentage,
    currentPositionTiltPercentage, operationalStatus, targetPositionLiftPercent100ths, targetPositionTiltPercent100ths,
    endProductType, currentPositionLiftPercent100ths, currentPositionTiltPercent100ths, installedOpenLimitLift,
    installedClosedLimitLift, installedOpenLimitTilt, installedClosedLimitTilt, mode, safetyStatus, upOrOpen,
    downOrClose, stopMotion, goToLiftValue, goToLiftPercentage, goToTiltValue, goToTiltPercentage,
  ]

  // MARK: Types

  /// Application Clusters § 5.3.5.1.
  public struct ConfigStatus: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let operational = Self(rawValue: 1 << 0), onlineReserved = Self(rawValue: 1 << 1)
    public static let liftMovementReversed = Self(rawValue: 1 << 2), liftPositionAware = Self(rawValue: 1 << 3)
    public static let tiltPositionAware = Self(rawValue: 1 << 4), liftEncoderControlled = Self(rawValue: 1 << 5)
    public static let tiltEncoderControlled = Self(rawValue: 1 << 6)
    public static let names: [Int: String] = [
      0: "Operational", 1: "OnlineReserved", 2: "LiftMovementReversed", 3: "LiftPositionAware", 4: "TiltPositionAware",
      5: "LiftEncoderControlled", 6: "TiltEncoderControlled",
    ]
  }

  /// Application Clusters § 5.3.5.2.
  public struct Mode: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let motorDirectionReversed = Self(rawValue: 1 << 0), calibrationMode = Self(rawValue: 1 << 1)
    public static let maintenanceMode = Self(rawValue: 1 << 2), ledFeedback = Self(rawValue: 1 << 3)
    public static let names: [Int: String] = [
      0: "MotorDirectionReversed", 1: "CalibrationMode", 2: "MaintenanceMode", 3: "LedFeedback",
    ]
  }

  /// Application Clusters § 5.3.5.3.
  public struct OperationalStatus: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let global = Self(rawValue: 0x3), lift = Self(rawValue: 0xC), tilt = Self(rawValue: 0x30)
    public static let names: [Int: String] = [0: "Global", 2: "Lift", 4: "Tilt"]
  }

  /// Application Clusters § 5.3.5.4.
  public struct SafetyStatus: WireBitmap {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let remoteLockout = Self(rawValue: 1 << 0), tamperDetection = Self(rawValue: 1 << 1)
    public static let failedCommunication = Self(rawValue: 1 << 2), positionFailure = Self(rawValue: 1 << 3)
    public static let thermalProtection = Self(rawValue: 1 << 4), obstacleDetected = Self(rawValue: 1 << 5)
    public static let power = Self(rawValue: 1 << 6), stopInput = Self(rawValue: 1 << 7)
    public static let motorJammed = Self(rawValue: 1 << 8), hardwareFailure = Self(rawValue: 1 << 9)
    public static let manualOperation = Self(rawValue: 1 << 10), protection = Self(rawValue: 1 << 11)
    public static let names: [Int: String] = [
      0: "RemoteLockout", 1: "TamperDetection", 2: "FailedCommunication", 3: "PositionFailure", 4: "ThermalProtection",
      5: "ObstacleDetected", 6: "Power", 7: "StopInput", 8: "MotorJammed", 9: "HardwareFailure", 10: "ManualOperation",
      11: "Protection",
    ]
  }

  /// Application Clusters § 5.3.5.5.
  public struct TypeEnum: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let rollershade = Self(0), rollershade2Motor = Self(1), rollershadeExterior = Self(2)
    public static let rollershadeExterior2Motor = Self(3), drapery = Self(4), awning = Self(5), shutter = Self(6)
    public static let tiltBlindTiltOnly = Self(7), tiltBlindLift = Self(8), projectorScreen = Self(9)
    public static let unknown = Self(255)
    public static let names: [UInt64: String] = [
      0: "Rollershade", 1: "Rollershade2Motor", 2: "RollershadeExterior", 3: "RollershadeExterior2Motor", 4: "Drapery",
      5: "Awning", 6: "Shutter", 7: "TiltBlindTiltOnly", 8: "TiltBlindLift", 9: "ProjectorScreen", 255: "Unknown",
    ]
  }

  /// Application Clusters § 5.3.5.6.
  public struct EndProductType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let rollerShade = Self(0), romanShade = Self(1), balloonShade = Self(2), wovenWood = Self(3)
    public static let pleatedShade = Self(4), cellularShade = Self(5), layeredShade = Self(6), layeredShade2D = Self(7)
    public static let sheerShade = Self(8), tiltOnlyInteriorBlind = Self(9), interiorBlind = Self(10)
    public static let verticalBlindStripCurtain = Self(11), interiorVenetianBlind = Self(12)
    public static let exteriorVenetianBlind = Self(13), lateralLeftCurtain = Self(14), lateralRightCurtain = Self(15)
    public static let centralCurtain = Self(16), rollerShutter = Self(17), exteriorVerticalScreen = Self(18)
    public static let awningTerracePatio = Self(19), awningVerticalScreen = Self(20), tiltOnlyPergola = Self(21)
    public static let swingingShutter = Self(22), slidingShutter = Self(23), unknown = Self(255)
    public static let names: [UInt64: String] = [
      0: "RollerShade", 1: "RomanShade", 2: "BalloonShade", 3: "WovenWood", 4: "PleatedShade", 5: "CellularShade",
      6: "LayeredShade", 7: "LayeredShade2D", 8: "SheerShade", 9: "TiltOnlyInteriorBlind", 10: "InteriorBlind",
      11: "VerticalBlindStripCurtain", 12: "InteriorVenetianBlind", 13: "ExteriorVenetianBlind",
      14: "LateralLeftCurtain", 15: "LateralRightCurtain", 16: "CentralCurtain", 17: "RollerShutter",
      18: "ExteriorVerticalScreen", 19: "AwningTerracePatio", 20: "AwningVerticalScreen", 21: "TiltOnlyPergola",
      22: "SwingingShutter", 23: "SlidingShutter", 255: "Unknown",
    ]
  }

  /// One of the three two-bit fields of OperationalStatus. Application Clusters § 5.3.
  public struct MovementStatus: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let stopped = Self(0), opening = Self(1), closing = Self(2)
    public static let names: [UInt64: String] = [0: "Stopped", 1: "Opening", 2: "Closing"]
  }

  // MARK: Fields of commands and events

  /// Application Clusters § 5.3.7.4.
  public struct GoToLiftValueRequest: ModelStruct {
    public var liftValue: UInt16 = 0
    public static let fields: [Field<Self>] = [.init(0, "LiftValue", \.liftValue)]

    public init() {}

    public init(liftValue: UInt16) { self.liftValue = liftValue }
  }

  /// Application Clusters § 5.3.7.5.
  public struct GoToLiftPercentageRequest: ModelStruct {
    public var liftPercent100thsValue: UInt16 = 0
    public static let fields: [Field<Self>] = [.init(0, "LiftPercent100thsValue", \.liftPercent100thsValue)]

    public init() {}

    public init(liftPercent100thsValue: UInt16) { self.liftPercent100thsValue = liftPercent100thsValue }
  }

  /// Application Clusters § 5.3.7.6.
  public struct GoToTiltValueRequest: ModelStruct {
    public var tiltValue: UInt16 = 0
    public static let fields: [Field<Self>] = [.init(0, "TiltValue", \.tiltValue)]

    public init() {}

    public init(tiltValue: UInt16) { self.tiltValue = tiltValue }
  }

  /// Application Clusters § 5.3.7.7.
  public struct GoToTiltPercentageRequest: ModelStruct {
    public var tiltPercent100thsValue: UInt16 = 0
    public static let fields: [Field<Self>] = [.init(0, "TiltPercent100thsValue", \.tiltPercent100thsValue)]

    public init() {}

    public init(tiltPercent100thsValue: UInt16) { self.tiltPercent100thsValue = tiltPercent100thsValue }
  }
}
