public import MatterModel

/// Door Lock (0x0101). A door's lock, its users, credentials and schedules. Application Clusters § 5.2.
public enum DoorLock: Cluster {
  public static let id: ClusterID = 0x0101, revision: UInt16 = 9, name = "DoorLock"

  public static let pinCredential = Feature(0, "PIN", "PINCredential")
  public static let rfidCredential = Feature(1, "RID", "RFIDCredential")
  public static let fingerCredentials = Feature(2, "FGP", "FingerCredentials", provisional: true)
  public static let weekDayAccessSchedules = Feature(4, "WDSCH", "WeekDayAccessSchedules")
  public static let doorPositionSensor = Feature(5, "DPS", "DoorPositionSensor")
  public static let faceCredentials = Feature(6, "FACE", "FaceCredentials", provisional: true)
  public static let credentialsOverTheAirAccess = Feature(7, "COTA", "CredentialsOverTheAirAccess")
  public static let user = Feature(8, "USR", "User")
  public static let yearDayAccessSchedules = Feature(10, "YDSCH", "YearDayAccessSchedules")
  public static let holidaySchedules = Feature(11, "HDSCH", "HolidaySchedules")
  public static let unbolt = Feature(12, "UBOLT", "Unbolt")
  public static let aliroProvisioning = Feature(13, "ALIRO", "AliroProvisioning")
  public static let aliroBLEUWB = Feature(14, "ALBU", "AliroBLEUWB")
  public static let features: [Feature] = [
    pinCredential, rfidCredential, fingerCredentials, weekDayAccessSchedules, doorPositionSensor, faceCredentials,
    credentialsOverTheAirAccess, user, yearDayAccessSchedules, holidaySchedules, unbolt, aliroProvisioning,
    aliroBLEUWB,
  ]

  // MARK: Attributes

  public static let lockState = Attribute<Self, Nullable<LockState>>(0x0000, "LockState", initial: .null)
  public static let lockType = Attribute<Self, LockType>(0x0001, "LockType")
  public static let actuatorEnabled = Attribute<Self, Bool>(0x0002, "ActuatorEnabled")
  public static let doorState = Attribute<Self, Nullable<DoorState>>(
    0x0003, "DoorState", initial: .null, conformance: .features(doorPositionSensor.mask))
  public static let doorOpenEvents = Attribute<Self, UInt32>(
    0x0004, "DoorOpenEvents", write: .manage, conformance: .optionalWith(doorPositionSensor.mask))
  public static let doorClosedEvents = Attribute<Self, UInt32>(
    0x0005, "DoorClosedEvents", write: .manage, conformance: .optionalWith(doorPositionSensor.mask))
  public static let openPeriod = Attribute<Self, UInt16>(
    0x0006, "OpenPeriod", write: .manage, conformance: .optionalWith(doorPositionSensor.mask))
  public static let numberOfTotalUsersSupported = Attribute<Self, UInt16>(
    0x0011, "NumberOfTotalUsersSupported", initial: 0, quality: .fixed, conformance: .features(user.mask))
  public static let numberOfPINUsersSupported = Attribute<Self, UInt16>(
    0x0012, "NumberOfPINUsersSupported", initial: 0, quality: .fixed, conformance: .features(pinCredential.mask))
  public static let numberOfRFIDUsersSupported = Attribute<Self, UInt16>(
    0x0013, "NumberOfRFIDUsersSupported", initial: 0, quality: .fixed, conformance: .features(rfidCredential.mask))
  public static let numberOfWeekDaySchedulesSupportedPerUser = Attribute<Self, UInt8>(
    0x0014, "NumberOfWeekDaySchedulesSupportedPerUser", initial: 0, quality: .fixed,
    conformance: .features(weekDayAccessSchedules.mask), constraint: .range(0...253))
  public static let numberOfYearDaySchedulesSupportedPerUser = Attribute<Self, UInt8>(
    0x0015, "NumberOfYearDaySchedulesSupportedPerUser", initial: 0, quality: .fixed,
    conformance: .features(yearDayAccessSchedules.mask), constraint: .range(0...253))
  public static let numberOfHolidaySchedulesSupported = Attribute<Self, UInt8>(
    0x0016, "NumberOfHolidaySchedulesSupported", initial: 0, quality: .fixed,
    conformance: .features(holidaySchedules.mask), constraint: .range(0...253))
  public static let maxPINCodeLength = Attribute<Self, UInt8>(
    0x0017, "MaxPINCodeLength", quality: .fixed, conformance: .features(pinCredential.mask))
  public static let minPINCodeLength = Attribute<Self, UInt8>(
    0x0018, "MinPINCodeLength", quality: .fixed, conformance: .features(pinCredential.mask))
  public static let maxRFIDCodeLength = Attribute<Self, UInt8>(
    0x0019, "MaxRFIDCodeLength", quality: .fixed, conformance: .features(rfidCredential.mask))
  public static let minRFIDCodeLength = Attribute<Self, UInt8>(
    0x001A, "MinRFIDCodeLength", quality: .fixed, conformance: .features(rfidCredential.mask))
  public static let credentialRulesSupport = Attribute<Self, CredentialRules>(
    0x001B, "CredentialRulesSupport", initial: .init(rawValue: 1), quality: .fixed, conformance: .features(user.mask))
  public static let numberOfCredentialsSupportedPerUser = Attribute<Self, UInt8>(
    0x001C, "NumberOfCredentialsSupportedPerUser", initial: 0, quality: .fixed, conformance: .features(user.mask))
  public static let language = Attribute<Self, String>(
    0x0021, "Language", write: .manage, conformance: .optional, constraint: .length(0...3))
  public static let ledSettings = Attribute<Self, LEDSetting>(
    0x0022, "LEDSettings", initial: .noLedSignal, write: .manage, conformance: .optional)
  public static let autoRelockTime = Attribute<Self, UInt32>(
    0x0023, "AutoRelockTime", write: .manage, conformance: .optional)
  public static let soundVolume = Attribute<Self, SoundVolume>(
    0x0024, "SoundVolume", initial: .silent, write: .manage, conformance: .optional)
  public static let operatingMode = Attribute<Self, OperatingMode>(0x0025, "OperatingMode", write: .manage)
  public static let supportedOperatingModes = Attribute<Self, OperatingModes>(
    0x0026, "SupportedOperatingModes", initial: .init(rawValue: 65526), quality: .fixed)
  public static let defaultConfigurationRegister = Attribute<Self, ConfigurationRegister>(
    0x0027, "DefaultConfigurationRegister", initial: [], conformance: .optional)
  public static let enableLocalProgramming = Attribute<Self, Bool>(
    0x0028, "EnableLocalProgramming", initial: true, write: .administer, conformance: .optional)
  public static let enableOneTouchLocking = Attribute<Self, Bool>(
    0x0029, "EnableOneTouchLocking", initial: true, write: .manage, conformance: .optional)
  public static let enableInsideStatusLED = Attribute<Self, Bool>(
    0x002A, "EnableInsideStatusLED", initial: true, write: .manage, conformance: .optional)
  public static let enablePrivacyModeButton = Attribute<Self, Bool>(
    0x002B, "EnablePrivacyModeButton", initial: true, write: .manage, conformance: .optional)
  public static let localProgrammingFeatures = Attribute<Self, LocalProgrammingFeatures>(
    0x002C, "LocalProgrammingFeatures", initial: [], write: .administer, conformance: .optional)
  public static let wrongCodeEntryLimit = Attribute<Self, UInt8>(
    0x0030, "WrongCodeEntryLimit", write: .administer,
    conformance: .features(pinCredential.mask | rfidCredential.mask), constraint: .range(1...255))
  public static let userCodeTemporaryDisableTime = Attribute<Self, UInt8>(
    0x0031, "UserCodeTemporaryDisableTime", write: .administer,
    conformance: .features(pinCredential.mask | rfidCredential.mask), constraint: .range(1...255))
  public static let sendPINOverTheAir = Attribute<Self, Bool>(
    0x0032, "SendPINOverTheAir", initial: true, write: .administer,
    conformance: .optionalWhen(.init(all: pinCredential.mask, none: user.mask)))
  public static let requirePINforRemoteOperation = Attribute<Self, Bool>(
    0x0033, "RequirePINforRemoteOperation", initial: false, write: .administer,
    conformance: .when(.init(all: credentialsOverTheAirAccess.mask | pinCredential.mask)))
  public static let expiringUserTimeout = Attribute<Self, UInt16>(
    0x0035, "ExpiringUserTimeout", write: .administer, conformance: .optionalWith(user.mask),
    constraint: .range(1...2880))
  public static let aliroReaderVerificationKey = Attribute<Self, Nullable<OctetString>>(
    0x0080, "AliroReaderVerificationKey", initial: .null, read: .administer,
    conformance: .features(aliroProvisioning.mask), constraint: .length(65...65))
  public static let aliroReaderGroupIdentifier = Attribute<Self, Nullable<OctetString>>(
    0x0081, "AliroReaderGroupIdentifier", initial: .null, read: .administer,
    conformance: .features(aliroProvisioning.mask), constraint: .length(16...16))
  public static let aliroReaderGroupSubIdentifier = Attribute<Self, OctetString>(
    0x0082, "AliroReaderGroupSubIdentifier", quality: .fixed, read: .administer,
    conformance: .features(aliroProvisioning.mask), constraint: .length(16...16))
  public static let aliroExpeditedTransactionSupportedProtocolVersions = Attribute<Self, [OctetString]>(
    0x0083, "AliroExpeditedTransactionSupportedProtocolVersions", quality: .fixed, read: .administer,
    conformance: .features(aliroProvisioning.mask), constraint: .entries(16))
  public static let aliroGroupResolvingKey = Attribute<Self, Nullable<OctetString>>(
    0x0084, "AliroGroupResolvingKey", initial: .null, read: .administer, conformance: .features(aliroBLEUWB.mask),
    constraint: .length(16...16))
  public static let aliroSupportedBLEUWBProtocolVersions = Attribute<Self, [OctetString]>(
    0x0085, "AliroSupportedBLEUWBProtocolVersions", quality: .fixed, read: .administer,
    conformance: .features(aliroBLEUWB.mask), constraint: .entries(16))
  public static let aliroBLEAdvertisingVersion = Attribute<Self, UInt8>(
    0x0086, "AliroBLEAdvertisingVersion", quality: .fixed, read: .administer, conformance: .features(aliroBLEUWB.mask))
  public static let numberOfAliroCredentialIssuerKeysSupported = Attribute<Self, UInt16>(
    0x0087, "NumberOfAliroCredentialIssuerKeysSupported", quality: .fixed,
    conformance: .features(aliroProvisioning.mask))
  public static let numberOfAliroEndpointKeysSupported = Attribute<Self, UInt16>(
    0x0088, "NumberOfAliroEndpointKeysSupported", quality: .fixed, conformance: .features(aliroProvisioning.mask))

  // MARK: Commands

  public static let lockDoor = Command<Self, LockDoorRequest, NoFields>(0x00, "LockDoor", quality: .timed)
  public static let unlockDoor = Command<Self, UnlockDoorRequest, NoFields>(0x01, "UnlockDoor", quality: .timed)
  public static let unlockWithTimeout = Command<Self, UnlockWithTimeoutRequest, NoFields>(
    0x03, "UnlockWithTimeout", quality: .timed, conformance: .optional)
  public static let setPINCode = Command<Self, SetPINCodeRequest, NoFields>(
    0x05, "SetPINCode", privilege: .administer, quality: .timed,
    conformance: .when(.init(all: pinCredential.mask, none: user.mask)))
  public static let getPINCode = Command<Self, GetPINCodeRequest, GetPINCodeResponse>(
    0x06, "GetPINCode", response: 0x06, privilege: .administer,
    conformance: .when(.init(all: pinCredential.mask, none: user.mask)))
  public static let clearPINCode = Command<Self, ClearPINCodeRequest, NoFields>(
    0x07, "ClearPINCode", privilege: .administer, quality: .timed,
    conformance: .when(.init(all: pinCredential.mask, none: user.mask)))
  public static let clearAllPINCodes = Command<Self, NoFields, NoFields>(
    0x08, "ClearAllPINCodes", privilege: .administer, quality: .timed,
    conformance: .when(.init(all: pinCredential.mask, none: user.mask)))
  public static let setUserStatus = Command<Self, SetUserStatusRequest, NoFields>(
    0x09, "SetUserStatus", privilege: .administer,
    conformance: .when(.init(any: pinCredential.mask | rfidCredential.mask | fingerCredentials.mask, none: user.mask)))
  public static let getUserStatus = Command<Self, GetUserStatusRequest, GetUserStatusResponse>(
    0x0A, "GetUserStatus", response: 0x0A, privilege: .administer,
    conformance: .when(.init(any: pinCredential.mask | rfidCredential.mask | fingerCredentials.mask, none: user.mask)))
  public static let setWeekDaySchedule = Command<Self, SetWeekDayScheduleRequest, NoFields>(
    0x0B, "SetWeekDaySchedule", privilege: .administer, conformance: .features(weekDayAccessSchedules.mask))
  public static let getWeekDaySchedule = Command<Self, GetWeekDayScheduleRequest, GetWeekDayScheduleResponse>(
    0x0C, "GetWeekDaySchedule", response: 0x0C, privilege: .administer,
    conformance: .features(weekDayAccessSchedules.mask))
  public static let clearWeekDaySchedule = Command<Self, ClearWeekDayScheduleRequest, NoFields>(
    0x0D, "ClearWeekDaySchedule", privilege: .administer, conformance: .features(weekDayAccessSchedules.mask))
  public static let setYearDaySchedule = Command<Self, SetYearDayScheduleRequest, NoFields>(
    0x0E, "SetYearDaySchedule", privilege: .administer, conformance: .features(yearDayAccessSchedules.mask))
  public static let getYearDaySchedule = Command<Self, GetYearDayScheduleRequest, GetYearDayScheduleResponse>(
    0x0F, "GetYearDaySchedule", response: 0x0F, privilege: .administer,
    conformance: .features(yearDayAccessSchedules.mask))
  public static let clearYearDaySchedule = Command<Self, ClearYearDayScheduleRequest, NoFields>(
    0x10, "ClearYearDaySchedule", privilege: .administer, conformance: .features(yearDayAccessSchedules.mask))
  public static let setHolidaySchedule = Command<Self, SetHolidayScheduleRequest, NoFields>(
    0x11, "SetHolidaySchedule", privilege: .administer, conformance: .features(holidaySchedules.mask))
  public static let getHolidaySchedule = Command<Self, GetHolidayScheduleRequest, GetHolidayScheduleResponse>(
    0x12, "GetHolidaySchedule", response: 0x12, privilege: .administer, conformance: .features(holidaySchedules.mask))
  public static let clearHolidaySchedule = Command<Self, ClearHolidayScheduleRequest, NoFields>(
    0x13, "ClearHolidaySchedule", privilege: .administer, conformance: .features(holidaySchedules.mask))
  public static let setUserType = Command<Self, SetUserTypeRequest, NoFields>(
    0x14, "SetUserType", privilege: .administer,
    conformance: .when(.init(any: pinCredential.mask | rfidCredential.mask | fingerCredentials.mask, none: user.mask)))
  public static let getUserType = Command<Self, GetUserTypeRequest, GetUserTypeResponse>(
    0x15, "GetUserType", response: 0x15, privilege: .administer,
    conformance: .when(.init(any: pinCredential.mask | rfidCredential.mask | fingerCredentials.mask, none: user.mask)))
  public static let setRFIDCode = Command<Self, SetRFIDCodeRequest, NoFields>(
    0x16, "SetRFIDCode", privilege: .administer, quality: .timed,
    conformance: .when(.init(all: rfidCredential.mask, none: user.mask)))
  public static let getRFIDCode = Command<Self, GetRFIDCodeRequest, GetRFIDCodeResponse>(
    0x17, "GetRFIDCode", response: 0x17, privilege: .administer,
    conformance: .when(.init(all: rfidCredential.mask, none: user.mask)))
  public static let clearRFIDCode = Command<Self, ClearRFIDCodeRequest, NoFields>(
    0x18, "ClearRFIDCode", privilege: .administer, quality: .timed,
    conformance: .when(.init(all: rfidCredential.mask, none: user.mask)))
  public static let clearAllRFIDCodes = Command<Self, NoFields, NoFields>(
    0x19, "ClearAllRFIDCodes", privilege: .administer, quality: .timed,
    conformance: .when(.init(all: rfidCredential.mask, none: user.mask)))
  public static let setUser = Command<Self, SetUserRequest, NoFields>(
    0x1A, "SetUser", privilege: .administer, quality: .timed, conformance: .features(user.mask))
  public static let getUser = Command<Self, GetUserRequest, GetUserResponse>(
    0x1B, "GetUser", response: 0x1C, privilege: .administer, conformance: .features(user.mask))
  public static let clearUser = Command<Self, ClearUserRequest, NoFields>(
    0x1D, "ClearUser", privilege: .administer, quality: .timed, conformance: .features(user.mask))
  public static let setCredential = Command<Self, SetCredentialRequest, SetCredentialResponse>(
    0x22, "SetCredential", response: 0x23, privilege: .administer, quality: .timed, conformance: .features(user.mask))
  public static let getCredentialStatus = Command<Self, GetCredentialStatusRequest, GetCredentialStatusResponse>(
    0x24, "GetCredentialStatus", response: 0x25, privilege: .administer, conformance: .features(user.mask))
  public static let clearCredential = Command<Self, ClearCredentialRequest, NoFields>(
    0x26, "ClearCredential", privilege: .administer, quality: .timed, conformance: .features(user.mask))
  public static let unboltDoor = Command<Self, UnboltDoorRequest, NoFields>(
    0x27, "UnboltDoor", quality: .timed, conformance: .features(unbolt.mask))
  public static let setAliroReaderConfig = Command<Self, SetAliroReaderConfigRequest, NoFields>(
    0x28, "SetAliroReaderConfig", privilege: .administer, quality: .timed,
    conformance: .features(aliroProvisioning.mask))
  public static let clearAliroReaderConfig = Command<Self, NoFields, NoFields>(
    0x29, "ClearAliroReaderConfig", privilege: .administer, quality: .timed,
    conformance: .features(aliroProvisioning.mask))

  // MARK: Events

  public static let doorLockAlarm = Event<Self, DoorLockAlarmEvent>(0x00, "DoorLockAlarm", priority: .critical)
  public static let doorStateChange = Event<Self, DoorStateChangeEvent>(
    0x01, "DoorStateChange", priority: .critical, conformance: .features(doorPositionSensor.mask))
  public static let lockOperation = Event<Self, LockOperationEvent>(0x02, "LockOperation", priority: .critical)
  public static let lockOperationError = Event<Self, LockOperationErrorEvent>(
    0x03, "LockOperationError", priority: .critical)
  public static let lockUserChange = Event<Self, LockUserChangeEvent>(
    0x04, "LockUserChange", conformance: .features(user.mask))

  public static let elements: [any ClusterElement] = [
    lockState, lockType, actuatorEnabled, doorState, doorOpenEvents, doorClosedEvents, openPeriod,
    numberOfTotalUsersSupported, numberOfPINUsersSupported, numberOfRFIDUsersSupported,
    numberOfWeekDaySchedulesSupportedPerUser, numberOfYearDaySchedulesSupportedPerUser,
    numberOfHolidaySchedulesSupported, maxPINCodeLength, minPINCodeLength, maxRFIDCodeLength, minRFIDCodeLength,
    credentialRulesSupport, numberOfCredentialsSupportedPerUser, language, ledSettings, autoRelockTime, soundVolume,
    operatingMode, supportedOperatingModes, defaultConfigurationRegister, enableLocalProgramming,
    enableOneTouchLocking, enableInsideStatusLED, enablePrivacyModeButton, localProgrammingFeatures,
    wrongCodeEntryLimit, userCodeTemporaryDisableTime, sendPINOverTheAir, requirePINforRemoteOperation,
    expiringUserTimeout, aliroReaderVerificationKey, aliroReaderGroupIdentifier, aliroReaderGroupSubIdentifier,
    aliroExpeditedTransactionSupportedProtocolVersions, aliroGroupResolvingKey, aliroSupportedBLEUWBProtocolVersions,
    aliroBLEAdvertisingVersion, numberOfAliroCredentialIssuerKeysSupported, numberOfAliroEndpointKeysSupported,
    lockDoor, unlockDoor, unlockWithTimeout, setPINCode, getPINCode, clearPINCode, clearAllPINCodes, setUserStatus,
    getUserStatus, setWeekDaySchedule, getWeekDaySchedule, clearWeekDaySchedule, setYearDaySchedule,
    getYearDaySchedule, clearYearDaySchedule, setHolidaySchedule, getHolidaySchedule, clearHolidaySchedule,
    setUserType, getUserType, setRFIDCode, getRFIDCode, clearRFIDCode, clearAllRFIDCodes, setUser, getUser, clearUser,
    setCredential, getCredentialStatus, clearCredential, unboltDoor, setAliroReaderConfig, clearAliroReaderConfig,
    doorLockAlarm, doorStateChange, lockOperation, lockOperationError, lockUserChange,
  ]
}
