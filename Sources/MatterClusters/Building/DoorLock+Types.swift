public import MatterModel

// The types of Door Lock. Application Clusters § 5.2.

extension DoorLock {
  /// Application Clusters § 5.2.6.1.
  public struct DaysMask: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let sunday = Self(rawValue: 1 << 0), monday = Self(rawValue: 1 << 1)
    public static let tuesday = Self(rawValue: 1 << 2), wednesday = Self(rawValue: 1 << 3)
    public static let thursday = Self(rawValue: 1 << 4), friday = Self(rawValue: 1 << 5)
    public static let saturday = Self(rawValue: 1 << 6)
    public static let names: [Int: String] = [
      0: "Sunday", 1: "Monday", 2: "Tuesday", 3: "Wednesday", 4: "Thursday", 5: "Friday", 6: "Saturday",
    ]
  }

  /// Application Clusters § 5.2.6.2.
  public struct CredentialRules: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let single = Self(rawValue: 1 << 0), dual = Self(rawValue: 1 << 1), tri = Self(rawValue: 1 << 2)
    public static let names: [Int: String] = [0: "Single", 1: "Dual", 2: "Tri"]
  }

  /// The modes that a lock does not support: a bit that is set means "not supported". Application Clusters § 5.2.6.3.
  public struct OperatingModes: WireBitmap {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let normal = Self(rawValue: 1 << 0), vacation = Self(rawValue: 1 << 1)
    public static let privacy = Self(rawValue: 1 << 2), noRemoteLockUnlock = Self(rawValue: 1 << 3)
    public static let passage = Self(rawValue: 1 << 4)
    public static let names: [Int: String] = [
      0: "Normal", 1: "Vacation", 2: "Privacy", 3: "NoRemoteLockUnlock", 4: "Passage",
    ]
    public static let isInverted = true
  }

  /// Application Clusters § 5.2.6.4.
  public struct ConfigurationRegister: WireBitmap {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let localProgramming = Self(rawValue: 1 << 0), keypadInterface = Self(rawValue: 1 << 1)
    public static let remoteInterface = Self(rawValue: 1 << 2), soundVolume = Self(rawValue: 1 << 5)
    public static let autoRelockTime = Self(rawValue: 1 << 6), ledSettings = Self(rawValue: 1 << 7)
    public static let names: [Int: String] = [
      0: "LocalProgramming", 1: "KeypadInterface", 2: "RemoteInterface", 5: "SoundVolume", 6: "AutoRelockTime",
      7: "LedSettings",
    ]
  }

  /// Application Clusters § 5.2.6.5.
  public struct LocalProgrammingFeatures: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let addUsersCredentialsSchedules = Self(rawValue: 1 << 0)
    public static let modifyUsersCredentialsSchedules = Self(rawValue: 1 << 1)
    public static let clearUsersCredentialsSchedules = Self(rawValue: 1 << 2), adjustSettings = Self(rawValue: 1 << 3)
    public static let names: [Int: String] = [
      0: "AddUsersCredentialsSchedules", 1: "ModifyUsersCredentialsSchedules", 2: "ClearUsersCredentialsSchedules",
      3: "AdjustSettings",
    ]
  }

  /// Application Clusters § 5.2.6.6.
  public struct AlarmMask: WireBitmap {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let lockJammed = Self(rawValue: 1 << 0), lockFactoryReset = Self(rawValue: 1 << 1)
    public static let lockRadioPowerCycled = Self(rawValue: 1 << 3), wrongCodeEntryLimit = Self(rawValue: 1 << 4)
    public static let frontEscutcheonRemoved = Self(rawValue: 1 << 5), doorForcedOpen = Self(rawValue: 1 << 6)
    public static let names: [Int: String] = [
      0: "LockJammed", 1: "LockFactoryReset", 3: "LockRadioPowerCycled", 4: "WrongCodeEntryLimit",
      5: "FrontEscutcheonRemoved", 6: "DoorForcedOpen",
    ]
  }

  /// Application Clusters § 5.2.6.7.
  public struct AlarmCode: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let lockJammed = Self(0), lockFactoryReset = Self(1), lockRadioPowerCycled = Self(3)
    public static let wrongCodeEntryLimit = Self(4), frontEsceutcheonRemoved = Self(5), doorForcedOpen = Self(6)
    public static let doorAjar = Self(7), forcedUser = Self(8)
    public static let names: [UInt64: String] = [
      0: "LockJammed", 1: "LockFactoryReset", 3: "LockRadioPowerCycled", 4: "WrongCodeEntryLimit",
      5: "FrontEsceutcheonRemoved", 6: "DoorForcedOpen", 7: "DoorAjar", 8: "ForcedUser",
    ]
  }

  /// Application Clusters § 5.2.6.8.
  public struct CredentialRule: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let single = Self(0), dual = Self(1), tri = Self(2)
    public static let names: [UInt64: String] = [0: "Single", 1: "Dual", 2: "Tri"]
  }

  /// Application Clusters § 5.2.6.9.
  public struct CredentialType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let programmingPIN = Self(0), pin = Self(1), rfid = Self(2), fingerprint = Self(3)
    public static let fingerVein = Self(4), face = Self(5), aliroCredentialIssuerKey = Self(6)
    public static let aliroEvictableEndpointKey = Self(7), aliroNonEvictableEndpointKey = Self(8)
    public static let names: [UInt64: String] = [
      0: "ProgrammingPIN", 1: "PIN", 2: "RFID", 3: "Fingerprint", 4: "FingerVein", 5: "Face",
      6: "AliroCredentialIssuerKey", 7: "AliroEvictableEndpointKey", 8: "AliroNonEvictableEndpointKey",
    ]
  }

  /// Application Clusters § 5.2.6.10.
  public struct DataOperationType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let add = Self(0), clear = Self(1), modify = Self(2)
    public static let names: [UInt64: String] = [0: "Add", 1: "Clear", 2: "Modify"]
  }

  /// Application Clusters § 5.2.6.11.
  public struct DoorState: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let doorOpen = Self(0), doorClosed = Self(1), doorJammed = Self(2), doorForcedOpen = Self(3)
    public static let doorUnspecifiedError = Self(4), doorAjar = Self(5)
    public static let names: [UInt64: String] = [
      0: "DoorOpen", 1: "DoorClosed", 2: "DoorJammed", 3: "DoorForcedOpen", 4: "DoorUnspecifiedError", 5: "DoorAjar",
    ]
  }

  /// Application Clusters § 5.2.6.12.
  public struct LockDataType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unspecified = Self(0), programmingCode = Self(1), userIndex = Self(2), weekDaySchedule = Self(3)
    public static let yearDaySchedule = Self(4), holidaySchedule = Self(5), pin = Self(6), rfid = Self(7)
    public static let fingerprint = Self(8), fingerVein = Self(9), face = Self(10), aliroCredentialIssuerKey = Self(11)
    public static let aliroEvictableEndpointKey = Self(12), aliroNonEvictableEndpointKey = Self(13)
    public static let names: [UInt64: String] = [
      0: "Unspecified", 1: "ProgrammingCode", 2: "UserIndex", 3: "WeekDaySchedule", 4: "YearDaySchedule",
      5: "HolidaySchedule", 6: "PIN", 7: "RFID", 8: "Fingerprint", 9: "FingerVein", 10: "Face",
      11: "AliroCredentialIssuerKey", 12: "AliroEvictableEndpointKey", 13: "AliroNonEvictableEndpointKey",
    ]
  }

  /// Application Clusters § 5.2.6.13.
  public struct LockOperationType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let lock = Self(0), unlock = Self(1), nonAccessUserEvent = Self(2), forcedUserEvent = Self(3)
    public static let unlatch = Self(4)
    public static let names: [UInt64: String] = [
      0: "Lock", 1: "Unlock", 2: "NonAccessUserEvent", 3: "ForcedUserEvent", 4: "Unlatch",
    ]
  }

  /// Application Clusters § 5.2.6.14.
  public struct OperationError: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unspecified = Self(0), invalidCredential = Self(1), disabledUserDenied = Self(2)
    public static let restricted = Self(3), insufficientBattery = Self(4)
    public static let names: [UInt64: String] = [
      0: "Unspecified", 1: "InvalidCredential", 2: "DisabledUserDenied", 3: "Restricted", 4: "InsufficientBattery",
    ]
  }

  /// Application Clusters § 5.2.6.15.
  public struct OperatingMode: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let normal = Self(0), vacation = Self(1), privacy = Self(2), noRemoteLockUnlock = Self(3)
    public static let passage = Self(4)
    public static let names: [UInt64: String] = [
      0: "Normal", 1: "Vacation", 2: "Privacy", 3: "NoRemoteLockUnlock", 4: "Passage",
    ]
  }

  /// Application Clusters § 5.2.6.16.
  public struct OperationSource: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unspecified = Self(0), manual = Self(1), proprietaryRemote = Self(2), keypad = Self(3)
    public static let auto = Self(4), button = Self(5), schedule = Self(6), remote = Self(7), rfid = Self(8)
    public static let biometric = Self(9), aliro = Self(10)
    public static let names: [UInt64: String] = [
      0: "Unspecified", 1: "Manual", 2: "ProprietaryRemote", 3: "Keypad", 4: "Auto", 5: "Button", 6: "Schedule",
      7: "Remote", 8: "RFID", 9: "Biometric", 10: "Aliro",
    ]
  }

  /// Application Clusters § 5.2.6.17.
  public struct UserStatus: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let available = Self(0), occupiedEnabled = Self(1), occupiedDisabled = Self(3)
    public static let names: [UInt64: String] = [0: "Available", 1: "OccupiedEnabled", 3: "OccupiedDisabled"]
  }

  /// Application Clusters § 5.2.6.18.
  public struct UserType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unrestrictedUser = Self(0), yearDayScheduleUser = Self(1), weekDayScheduleUser = Self(2)
    public static let programmingUser = Self(3), nonAccessUser = Self(4), forcedUser = Self(5)
    public static let disposableUser = Self(6), expiringUser = Self(7), scheduleRestrictedUser = Self(8)
    public static let remoteOnlyUser = Self(9)
    public static let names: [UInt64: String] = [
      0: "UnrestrictedUser", 1: "YearDayScheduleUser", 2: "WeekDayScheduleUser", 3: "ProgrammingUser",
      4: "NonAccessUser", 5: "ForcedUser", 6: "DisposableUser", 7: "ExpiringUser", 8: "ScheduleRestrictedUser",
      9: "RemoteOnlyUser",
    ]
  }

  /// Application Clusters § 5.2.6.19.
  public struct LockState: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let notFullyLocked = Self(0), locked = Self(1), unlocked = Self(2), unlatched = Self(3)
    public static let names: [UInt64: String] = [0: "NotFullyLocked", 1: "Locked", 2: "Unlocked", 3: "Unlatched"]
  }

  /// Application Clusters § 5.2.6.20.
  public struct LockType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let deadBolt = Self(0), magnetic = Self(1), other = Self(2), mortise = Self(3), rim = Self(4)
    public static let latchBolt = Self(5), cylindricalLock = Self(6), tubularLock = Self(7)
    public static let interconnectedLock = Self(8), deadLatch = Self(9), doorFurniture = Self(10)
    public static let eurocylinder = Self(11)
    public static let names: [UInt64: String] = [
      0: "DeadBolt", 1: "Magnetic", 2: "Other", 3: "Mortise", 4: "Rim", 5: "LatchBolt", 6: "CylindricalLock",
      7: "TubularLock", 8: "InterconnectedLock", 9: "DeadLatch", 10: "DoorFurniture", 11: "Eurocylinder",
    ]
  }

  /// Application Clusters § 5.2.6.21.
  public struct LEDSetting: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let noLedSignal = Self(0), noLedSignalAccessAllowed = Self(1), ledSignalAll = Self(2)
    public static let names: [UInt64: String] = [0: "NoLedSignal", 1: "NoLedSignalAccessAllowed", 2: "LedSignalAll"]
  }

  /// Application Clusters § 5.2.6.22.
  public struct SoundVolume: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let silent = Self(0), low = Self(1), high = Self(2), medium = Self(3)
    public static let names: [UInt64: String] = [0: "Silent", 1: "Low", 2: "High", 3: "Medium"]
  }

  /// Application Clusters § 5.2.6.23.
  public struct EventType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let operation = Self(0), programming = Self(1), alarm = Self(2)
    public static let names: [UInt64: String] = [0: "Operation", 1: "Programming", 2: "Alarm"]
  }

  /// Application Clusters § 5.2.6.24.
  public struct CredentialStruct: ModelStruct {
    public var credentialType: CredentialType = .programmingPIN
    public var credentialIndex: UInt16 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "CredentialType", \.credentialType), .init(1, "CredentialIndex", \.credentialIndex),
    ]

    public init() {}

    public init(credentialType: CredentialType, credentialIndex: UInt16) {
      self.credentialType = credentialType
      self.credentialIndex = credentialIndex
    }
  }

  /// The status codes of a lock: those of the cluster, and those of the interaction model that its responses use.
  /// Application Clusters § 5.2.7.1.
  public struct LockStatus: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let success = Self(0), failure = Self(1), duplicate = Self(2), occupied = Self(3)
    public static let invalidField = Self(0x85), resourceExhausted = Self(0x89), notFound = Self(0x8B)
    public static let names: [UInt64: String] = [
      0: "Success", 1: "Failure", 2: "Duplicate", 3: "Occupied", 0x85: "InvalidField", 0x89: "ResourceExhausted",
      0x8B: "NotFound",
    ]
  }
}
