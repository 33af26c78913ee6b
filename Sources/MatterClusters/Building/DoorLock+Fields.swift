public import MatterModel

// The fields of the commands and events of Door Lock. Application Clusters § 5.2.

extension DoorLock {
  /// Application Clusters § 5.2.10.1.
  public struct LockDoorRequest: ModelStruct {
    public var pinCode: OctetString?
    public static let fields: [Field<Self>] = [.init(0, "PINCode", \.pinCode)]

    public init() {}

    public init(pinCode: OctetString? = nil) { self.pinCode = pinCode }
  }

  /// Application Clusters § 5.2.10.2.
  public struct UnlockDoorRequest: ModelStruct {
    public var pinCode: OctetString?
    public static let fields: [Field<Self>] = [.init(0, "PINCode", \.pinCode)]

    public init() {}

    public init(pinCode: OctetString? = nil) { self.pinCode = pinCode }
  }

  /// Application Clusters § 5.2.10.3.
  public struct UnlockWithTimeoutRequest: ModelStruct {
    public var timeout: UInt16 = 0
    public var pinCode: OctetString?
    public static let fields: [Field<Self>] = [.init(0, "Timeout", \.timeout), .init(1, "PINCode", \.pinCode)]

    public init() {}

    public init(timeout: UInt16, pinCode: OctetString? = nil) {
      self.timeout = timeout
      self.pinCode = pinCode
    }
  }

  /// Application Clusters § 5.2.10.4.
  public struct SetPINCodeRequest: ModelStruct {
    public var userID: UInt16 = 0
    public var userStatus: Nullable<UserStatus> = .null
    public var userType: Nullable<UserType> = .null
    public var pin: OctetString = []
    public static let fields: [Field<Self>] = [
      .init(0, "UserID", \.userID), .init(1, "UserStatus", \.userStatus), .init(2, "UserType", \.userType),
      .init(3, "PIN", \.pin),
    ]

    public init() {}

    public init(userID: UInt16, userStatus: Nullable<UserStatus>, userType: Nullable<UserType>, pin: OctetString) {
      self.userID = userID
      self.userStatus = userStatus
      self.userType = userType
      self.pin = pin
    }
  }

  /// Application Clusters § 5.2.10.5.
  public struct GetPINCodeRequest: ModelStruct {
    public var userID: UInt16 = 0
    public static let fields: [Field<Self>] = [.init(0, "UserID", \.userID)]

    public init() {}

    public init(userID: UInt16) { self.userID = userID }
  }

  /// Application Clusters § 5.2.10.6.
  public struct GetPINCodeResponse: ModelStruct {
    public var userID: UInt16 = 0
    public var userStatus: Nullable<UserStatus> = .null
    public var userType: Nullable<UserType> = .null
    public var pinCode: Nullable<OctetString> = .null
    public static let fields: [Field<Self>] = [
      .init(0, "UserID", \.userID), .init(1, "UserStatus", \.userStatus), .init(2, "UserType", \.userType),
      .init(3, "PINCode", \.pinCode),
    ]

    public init() {}

    public init(
      userID: UInt16, userStatus: Nullable<UserStatus>, userType: Nullable<UserType>, pinCode: Nullable<OctetString>
    ) {
      self.userID = userID
      self.userStatus = userStatus
      self.userType = userType
      self.pinCode = pinCode
    }
  }

  /// Application Clusters § 5.2.10.7.
  public struct ClearPINCodeRequest: ModelStruct {
    public var pinSlotIndex: UInt16 = 0
    public static let fields: [Field<Self>] = [.init(0, "PINSlotIndex", \.pinSlotIndex)]

    public init() {}

    public init(pinSlotIndex: UInt16) { self.pinSlotIndex = pinSlotIndex }
  }

  /// Application Clusters § 5.2.10.9.
  public struct SetUserStatusRequest: ModelStruct {
    public var userID: UInt16 = 0
    public var userStatus: UserStatus = .available
    public static let fields: [Field<Self>] = [.init(0, "UserID", \.userID), .init(1, "UserStatus", \.userStatus)]

    public init() {}

    public init(userID: UInt16, userStatus: UserStatus) {
      self.userID = userID
      self.userStatus = userStatus
    }
  }

  /// Application Clusters § 5.2.10.10.
  public struct GetUserStatusRequest: ModelStruct {
    public var userID: UInt16 = 0
    public static let fields: [Field<Self>] = [.init(0, "UserID", \.userID)]

    public init() {}

    public init(userID: UInt16) { self.userID = userID }
  }

  /// Application Clusters § 5.2.10.11.
  public struct GetUserStatusResponse: ModelStruct {
    public var userID: UInt16 = 0
    public var userStatus: UserStatus = .available
    public static let fields: [Field<Self>] = [.init(0, "UserID", \.userID), .init(1, "UserStatus", \.userStatus)]

    public init() {}

    public init(userID: UInt16, userStatus: UserStatus) {
      self.userID = userID
      self.userStatus = userStatus
    }
  }

  /// Application Clusters § 5.2.10.12.
  public struct SetWeekDayScheduleRequest: ModelStruct {
    public var weekDayIndex: UInt8 = 0
    public var userIndex: UInt16 = 0
    public var daysMask: DaysMask = []
    public var startHour: UInt8 = 0
    public var startMinute: UInt8 = 0
    public var endHour: UInt8 = 0
    public var endMinute: UInt8 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "WeekDayIndex", \.weekDayIndex), .init(1, "UserIndex", \.userIndex), .init(2, "DaysMask", \.daysMask),
      .init(3, "StartHour", \.startHour), .init(4, "StartMinute", \.startMinute), .init(5, "EndHour", \.endHour),
      .init(6, "EndMinute", \.endMinute),
    ]

    public init() {}

    public init(
      weekDayIndex: UInt8, userIndex: UInt16, daysMask: DaysMask, startHour: UInt8, startMinute: UInt8, endHour: UInt8,
      endMinute: UInt8
    ) {
      self.weekDayIndex = weekDayIndex
      self.userIndex = userIndex
      self.daysMask = daysMask
      self.startHour = startHour
      self.startMinute = startMinute
      self.endHour = endHour
      self.endMinute = endMinute
    }
  }

  /// Application Clusters § 5.2.10.13.
  public struct GetWeekDayScheduleRequest: ModelStruct {
    public var weekDayIndex: UInt8 = 0
    public var userIndex: UInt16 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "WeekDayIndex", \.weekDayIndex), .init(1, "UserIndex", \.userIndex),
    ]

    public init() {}

    public init(weekDayIndex: UInt8, userIndex: UInt16) {
      self.weekDayIndex = weekDayIndex
      self.userIndex = userIndex
    }
  }

  /// Application Clusters § 5.2.10.14.
  public struct GetWeekDayScheduleResponse: ModelStruct {
    public var weekDayIndex: UInt8 = 0
    public var userIndex: UInt16 = 0
    public var status: LockStatus = .success
    public var daysMask: DaysMask?
    public var startHour: UInt8?
    public var startMinute: UInt8?
    public var endHour: UInt8?
    public var endMinute: UInt8?
    public static let fields: [Field<Self>] = [
      .init(0, "WeekDayIndex", \.weekDayIndex), .init(1, "UserIndex", \.userIndex), .init(2, "Status", \.status),
      .init(3, "DaysMask", \.daysMask), .init(4, "StartHour", \.startHour), .init(5, "StartMinute", \.startMinute),
      .init(6, "EndHour", \.endHour), .init(7, "EndMinute", \.endMinute),
    ]

    public init() {}

    public init(
      weekDayIndex: UInt8, userIndex: UInt16, status: LockStatus, daysMask: DaysMask? = nil, startHour: UInt8? = nil,
      startMinute: UInt8? = nil, endHour: UInt8? = nil, endMinute: UInt8? = nil
    ) {
      self.weekDayIndex = weekDayIndex
      self.userIndex = userIndex
      self.status = status
      self.daysMask = daysMask
      self.startHour = startHour
      self.startMinute = startMinute
      self.endHour = endHour
      self.endMinute = endMinute
    }
  }

  /// Application Clusters § 5.2.10.15.
  public struct ClearWeekDayScheduleRequest: ModelStruct {
    public var weekDayIndex: UInt8 = 0
    public var userIndex: UInt16 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "WeekDayIndex", \.weekDayIndex), .init(1, "UserIndex", \.userIndex),
    ]

    public init() {}

    public init(weekDayIndex: UInt8, userIndex: UInt16) {
      self.weekDayIndex = weekDayIndex
      self.userIndex = userIndex
    }
  }

  /// Application Clusters § 5.2.10.16.
  public struct SetYearDayScheduleRequest: ModelStruct {
    public var yearDayIndex: UInt8 = 0
    public var userIndex: UInt16 = 0
    public var localStartTime: UInt32 = 0
    public var localEndTime: UInt32 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "YearDayIndex", \.yearDayIndex), .init(1, "UserIndex", \.userIndex),
      .init(2, "LocalStartTime", \.localStartTime), .init(3, "LocalEndTime", \.localEndTime),
    ]

    public init() {}

    public init(yearDayIndex: UInt8, userIndex: UInt16, localStartTime: UInt32, localEndTime: UInt32) {
      self.yearDayIndex = yearDayIndex
      self.userIndex = userIndex
      self.localStartTime = localStartTime
      self.localEndTime = localEndTime
    }
  }

  /// Application Clusters § 5.2.10.17.
  public struct GetYearDayScheduleRequest: ModelStruct {
    public var yearDayIndex: UInt8 = 0
    public var userIndex: UInt16 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "YearDayIndex", \.yearDayIndex), .init(1, "UserIndex", \.userIndex),
    ]

    public init() {}

    public init(yearDayIndex: UInt8, userIndex: UInt16) {
      self.yearDayIndex = yearDayIndex
      self.userIndex = userIndex
    }
  }

  /// Application Clusters § 5.2.10.18.
  public struct GetYearDayScheduleResponse: ModelStruct {
    public var yearDayIndex: UInt8 = 0
    public var userIndex: UInt16 = 0
    public var status: LockStatus = .success
    public var localStartTime: UInt32?
    public var localEndTime: UInt32?
    public static let fields: [Field<Self>] = [
      .init(0, "YearDayIndex", \.yearDayIndex), .init(1, "UserIndex", \.userIndex), .init(2, "Status", \.status),
      .init(3, "LocalStartTime", \.localStartTime), .init(4, "LocalEndTime", \.localEndTime),
    ]

    public init() {}

    public init(
      yearDayIndex: UInt8, userIndex: UInt16, status: LockStatus, localStartTime: UInt32? = nil,
      localEndTime: UInt32? = nil
    ) {
      self.yearDayIndex = yearDayIndex
      self.userIndex = userIndex
      self.status = status
      self.localStartTime = localStartTime
      self.localEndTime = localEndTime
    }
  }

  /// Application Clusters § 5.2.10.19.
  public struct ClearYearDayScheduleRequest: ModelStruct {
    public var yearDayIndex: UInt8 = 0
    public var userIndex: UInt16 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "YearDayIndex", \.yearDayIndex), .init(1, "UserIndex", \.userIndex),
    ]

    public init() {}

    public init(yearDayIndex: UInt8, userIndex: UInt16) {
      self.yearDayIndex = yearDayIndex
      self.userIndex = userIndex
    }
  }

  /// Application Clusters § 5.2.10.20.
  public struct SetHolidayScheduleRequest: ModelStruct {
    public var holidayIndex: UInt8 = 0
    public var localStartTime: UInt32 = 0
    public var localEndTime: UInt32 = 0
    public var operatingMode: OperatingMode = .normal
    public static let fields: [Field<Self>] = [
      .init(0, "HolidayIndex", \.holidayIndex), .init(1, "LocalStartTime", \.localStartTime),
      .init(2, "LocalEndTime", \.localEndTime), .init(3, "OperatingMode", \.operatingMode),
    ]

    public init() {}

    public init(holidayIndex: UInt8, localStartTime: UInt32, localEndTime: UInt32, operatingMode: OperatingMode) {
      self.holidayIndex = holidayIndex
      self.localStartTime = localStartTime
      self.localEndTime = localEndTime
      self.operatingMode = operatingMode
    }
  }

  /// Application Clusters § 5.2.10.21.
  public struct GetHolidayScheduleRequest: ModelStruct {
    public var holidayIndex: UInt8 = 0
    public static let fields: [Field<Self>] = [.init(0, "HolidayIndex", \.holidayIndex)]

    public init() {}

    public init(holidayIndex: UInt8) { self.holidayIndex = holidayIndex }
  }

  /// Application Clusters § 5.2.10.22.
  public struct GetHolidayScheduleResponse: ModelStruct {
    public var holidayIndex: UInt8 = 0
    public var status: LockStatus = .success
    public var localStartTime: Nullable<UInt32>?
    public var localEndTime: Nullable<UInt32>?
    public var operatingMode: Nullable<OperatingMode>?
    public static let fields: [Field<Self>] = [
      .init(0, "HolidayIndex", \.holidayIndex), .init(1, "Status", \.status),
      .init(2, "LocalStartTime", \.localStartTime), .init(3, "LocalEndTime", \.localEndTime),
      .init(4, "OperatingMode", \.operatingMode),
    ]

    public init() {}

    public init(
      holidayIndex: UInt8, status: LockStatus, localStartTime: Nullable<UInt32>? = nil,
      localEndTime: Nullable<UInt32>? = nil, operatingMode: Nullable<OperatingMode>? = nil
    ) {
      self.holidayIndex = holidayIndex
      self.status = status
      self.localStartTime = localStartTime
      self.localEndTime = localEndTime
      self.operatingMode = operatingMode
    }
  }

  /// Application Clusters § 5.2.10.23.
  public struct ClearHolidayScheduleRequest: ModelStruct {
    public var holidayIndex: UInt8 = 0
    public static let fields: [Field<Self>] = [.init(0, "HolidayIndex", \.holidayIndex)]

    public init() {}

    public init(holidayIndex: UInt8) { self.holidayIndex = holidayIndex }
  }

  /// Application Clusters § 5.2.10.24.
  public struct SetUserTypeRequest: ModelStruct {
    public var userID: UInt16 = 0
    public var userType: UserType = .unrestrictedUser
    public static let fields: [Field<Self>] = [.init(0, "UserID", \.userID), .init(1, "UserType", \.userType)]

    public init() {}

    public init(userID: UInt16, userType: UserType) {
      self.userID = userID
      self.userType = userType
    }
  }

  /// Application Clusters § 5.2.10.25.
  public struct GetUserTypeRequest: ModelStruct {
    public var userID: UInt16 = 0
    public static let fields: [Field<Self>] = [.init(0, "UserID", \.userID)]

    public init() {}

    public init(userID: UInt16) { self.userID = userID }
  }

  /// Application Clusters § 5.2.10.26.
  public struct GetUserTypeResponse: ModelStruct {
    public var userID: UInt16 = 0
    public var userType: UserType = .unrestrictedUser
    public static let fields: [Field<Self>] = [.init(0, "UserID", \.userID), .init(1, "UserType", \.userType)]

    public init() {}

    public init(userID: UInt16, userType: UserType) {
      self.userID = userID
      self.userType = userType
    }
  }

  /// Application Clusters § 5.2.10.27.
  public struct SetRFIDCodeRequest: ModelStruct {
    public var userID: UInt16 = 0
    public var userStatus: Nullable<UserStatus> = .null
    public var userType: Nullable<UserType> = .null
    public var rfidCode: OctetString = []
    public static let fields: [Field<Self>] = [
      .init(0, "UserID", \.userID), .init(1, "UserStatus", \.userStatus), .init(2, "UserType", \.userType),
      .init(3, "RFIDCode", \.rfidCode),
    ]

    public init() {}

    public init(userID: UInt16, userStatus: Nullable<UserStatus>, userType: Nullable<UserType>, rfidCode: OctetString) {
      self.userID = userID
      self.userStatus = userStatus
      self.userType = userType
      self.rfidCode = rfidCode
    }
  }

  /// Application Clusters § 5.2.10.28.
  public struct GetRFIDCodeRequest: ModelStruct {
    public var userID: UInt16 = 0
    public static let fields: [Field<Self>] = [.init(0, "UserID", \.userID)]

    public init() {}

    public init(userID: UInt16) { self.userID = userID }
  }

  /// Application Clusters § 5.2.10.29.
  public struct GetRFIDCodeResponse: ModelStruct {
    public var userID: UInt16 = 0
    public var userStatus: Nullable<UserStatus> = .null
    public var userType: Nullable<UserType> = .null
    public var rfidCode: Nullable<OctetString> = .null
    public static let fields: [Field<Self>] = [
      .init(0, "UserID", \.userID), .init(1, "UserStatus", \.userStatus), .init(2, "UserType", \.userType),
      .init(3, "RFIDCode", \.rfidCode),
    ]

    public init() {}

    public init(
      userID: UInt16, userStatus: Nullable<UserStatus>, userType: Nullable<UserType>, rfidCode: Nullable<OctetString>
    ) {
      self.userID = userID
      self.userStatus = userStatus
      self.userType = userType
      self.rfidCode = rfidCode
    }
  }

  /// Application Clusters § 5.2.10.30.
  public struct ClearRFIDCodeRequest: ModelStruct {
    public var rfidSlotIndex: UInt16 = 0
    public static let fields: [Field<Self>] = [.init(0, "RFIDSlotIndex", \.rfidSlotIndex)]

    public init() {}

    public init(rfidSlotIndex: UInt16) { self.rfidSlotIndex = rfidSlotIndex }
  }

  /// Application Clusters § 5.2.10.32.
  public struct SetUserRequest: ModelStruct {
    public var operationType: DataOperationType = .add
    public var userIndex: UInt16 = 0
    public var userName: Nullable<String> = .null
    public var userUniqueID: Nullable<UInt32> = .null
    public var userStatus: Nullable<UserStatus> = .null
    public var userType: Nullable<UserType> = .null
    public var credentialRule: Nullable<CredentialRule> = .null
    public static let fields: [Field<Self>] = [
      .init(0, "OperationType", \.operationType), .init(1, "UserIndex", \.userIndex), .init(2, "UserName", \.userName),
      .init(3, "UserUniqueID", \.userUniqueID), .init(4, "UserStatus", \.userStatus), .init(5, "UserType", \.userType),
      .init(6, "CredentialRule", \.credentialRule),
    ]

    public init() {}

    public init(
      operationType: DataOperationType, userIndex: UInt16, userName: Nullable<String>, userUniqueID: Nullable<UInt32>,
      userStatus: Nullable<UserStatus>, userType: Nullable<UserType>, credentialRule: Nullable<CredentialRule>
    ) {
      self.operationType = operationType
      self.userIndex = userIndex
      self.userName = userName
      self.userUniqueID = userUniqueID
      self.userStatus = userStatus
      self.userType = userType
      self.credentialRule = credentialRule
    }
  }

  /// Application Clusters § 5.2.10.33.
  public struct GetUserRequest: ModelStruct {
    public var userIndex: UInt16 = 0
    public static let fields: [Field<Self>] = [.init(0, "UserIndex", \.userIndex)]

    public init() {}

    public init(userIndex: UInt16) { self.userIndex = userIndex }
  }

  /// Application Clusters § 5.2.10.34.
  public struct GetUserResponse: ModelStruct {
    public var userIndex: UInt16 = 0
    public var userName: Nullable<String> = .null
    public var userUniqueID: Nullable<UInt32> = .null
    public var userStatus: Nullable<UserStatus> = .null
    public var userType: Nullable<UserType> = .null
    public var credentialRule: Nullable<CredentialRule> = .null
    public var credentials: Nullable<[CredentialStruct]> = .null
    public var creatorFabricIndex: Nullable<FabricIndex> = .null
    public var lastModifiedFabricIndex: Nullable<FabricIndex> = .null
    public var nextUserIndex: Nullable<UInt16> = .null
    public static let fields: [Field<Self>] = [
      .init(0, "UserIndex", \.userIndex), .init(1, "UserName", \.userName), .init(2, "UserUniqueID", \.userUniqueID),
      .init(3, "UserStatus", \.userStatus), .init(4, "UserType", \.userType),
      .init(5, "CredentialRule", \.credentialRule), .init(6, "Credentials", \.credentials),
      .init(7, "CreatorFabricIndex", \.creatorFabricIndex),
      .init(8, "LastModifiedFabricIndex", \.lastModifiedFabricIndex), .init(9, "NextUserIndex", \.nextUserIndex),
    ]

    public init() {}

    public init(
      userIndex: UInt16, userName: Nullable<String>, userUniqueID: Nullable<UInt32>, userStatus: Nullable<UserStatus>,
      userType: Nullable<UserType>, credentialRule: Nullable<CredentialRule>,
      credentials: Nullable<[CredentialStruct]>, creatorFabricIndex: Nullable<FabricIndex>,
      lastModifiedFabricIndex: Nullable<FabricIndex>, nextUserIndex: Nullable<UInt16>
    ) {
      self.userIndex = userIndex
      self.userName = userName
      self.userUniqueID = userUniqueID
      self.userStatus = userStatus
      self.userType = userType
      self.credentialRule = credentialRule
      self.credentials = credentials
      self.creatorFabricIndex = creatorFabricIndex
      self.lastModifiedFabricIndex = lastModifiedFabricIndex
      self.nextUserIndex = nextUserIndex
    }
  }

  /// Application Clusters § 5.2.10.35.
  public struct ClearUserRequest: ModelStruct {
    public var userIndex: UInt16 = 0
    public static let fields: [Field<Self>] = [.init(0, "UserIndex", \.userIndex)]

    public init() {}

    public init(userIndex: UInt16) { self.userIndex = userIndex }
  }

  /// Application Clusters § 5.2.10.36.
  public struct SetCredentialRequest: ModelStruct {
    public var operationType: DataOperationType = .add
    public var credential: CredentialStruct = .init()
    public var credentialData: OctetString = []
    public var userIndex: Nullable<UInt16> = .null
    public var userStatus: Nullable<UserStatus> = .null
    public var userType: Nullable<UserType> = .null
    public static let fields: [Field<Self>] = [
      .init(0, "OperationType", \.operationType), .init(1, "Credential", \.credential),
      .init(2, "CredentialData", \.credentialData), .init(3, "UserIndex", \.userIndex),
      .init(4, "UserStatus", \.userStatus), .init(5, "UserType", \.userType),
    ]

    public init() {}

    public init(
      operationType: DataOperationType, credential: CredentialStruct, credentialData: OctetString,
      userIndex: Nullable<UInt16>, userStatus: Nullable<UserStatus>, userType: Nullable<UserType>
    ) {
      self.operationType = operationType
      self.credential = credential
      self.credentialData = credentialData
      self.userIndex = userIndex
      self.userStatus = userStatus
      self.userType = userType
    }
  }

  /// Application Clusters § 5.2.10.37.
  public struct SetCredentialResponse: ModelStruct {
    public var status: LockStatus = .success
    public var userIndex: Nullable<UInt16> = .null
    public var nextCredentialIndex: Nullable<UInt16>?
    public static let fields: [Field<Self>] = [
      .init(0, "Status", \.status), .init(1, "UserIndex", \.userIndex),
      .init(2, "NextCredentialIndex", \.nextCredentialIndex),
    ]

    public init() {}

    public init(status: LockStatus, userIndex: Nullable<UInt16>, nextCredentialIndex: Nullable<UInt16>? = nil) {
      self.status = status
      self.userIndex = userIndex
      self.nextCredentialIndex = nextCredentialIndex
    }
  }

  /// Application Clusters § 5.2.10.38.
  public struct GetCredentialStatusRequest: ModelStruct {
    public var credential: CredentialStruct = .init()
    public static let fields: [Field<Self>] = [.init(0, "Credential", \.credential)]

    public init() {}

    public init(credential: CredentialStruct) { self.credential = credential }
  }

  /// Application Clusters § 5.2.10.39.
  public struct GetCredentialStatusResponse: ModelStruct {
    public var credentialExists: Bool = false
    public var userIndex: Nullable<UInt16> = .null
    public var creatorFabricIndex: Nullable<FabricIndex> = .null
    public var lastModifiedFabricIndex: Nullable<FabricIndex> = .null
    public var nextCredentialIndex: Nullable<UInt16>?
    public var credentialData: Nullable<OctetString>?
    public static let fields: [Field<Self>] = [
      .init(0, "CredentialExists", \.credentialExists), .init(1, "UserIndex", \.userIndex),
      .init(2, "CreatorFabricIndex", \.creatorFabricIndex),
      .init(3, "LastModifiedFabricIndex", \.lastModifiedFabricIndex),
      .init(4, "NextCredentialIndex", \.nextCredentialIndex), .init(5, "CredentialData", \.credentialData),
    ]

    public init() {}

    public init(
      credentialExists: Bool, userIndex: Nullable<UInt16>, creatorFabricIndex: Nullable<FabricIndex>,
      lastModifiedFabricIndex: Nullable<FabricIndex>, nextCredentialIndex: Nullable<UInt16>? = nil,
      credentialData: Nullable<OctetString>? = nil
    ) {
      self.credentialExists = credentialExists
      self.userIndex = userIndex
      self.creatorFabricIndex = creatorFabricIndex
      self.lastModifiedFabricIndex = lastModifiedFabricIndex
      self.nextCredentialIndex = nextCredentialIndex
      self.credentialData = credentialData
    }
  }

  /// Application Clusters § 5.2.10.40.
  public struct ClearCredentialRequest: ModelStruct {
    public var credential: Nullable<CredentialStruct> = .null
    public static let fields: [Field<Self>] = [.init(0, "Credential", \.credential)]

    public init() {}

    public init(credential: Nullable<CredentialStruct>) { self.credential = credential }
  }

  /// Application Clusters § 5.2.10.41.
  public struct UnboltDoorRequest: ModelStruct {
    public var pinCode: OctetString?
    public static let fields: [Field<Self>] = [.init(0, "PINCode", \.pinCode)]

    public init() {}

    public init(pinCode: OctetString? = nil) { self.pinCode = pinCode }
  }

  /// Application Clusters § 5.2.10.42.
  public struct SetAliroReaderConfigRequest: ModelStruct {
    public var signingKey: OctetString = []
    public var verificationKey: OctetString = []
    public var groupIdentifier: OctetString = []
    public var groupResolvingKey: OctetString?
    public static let fields: [Field<Self>] = [
      .init(0, "SigningKey", \.signingKey), .init(1, "VerificationKey", \.verificationKey),
      .init(2, "GroupIdentifier", \.groupIdentifier), .init(3, "GroupResolvingKey", \.groupResolvingKey),
    ]

    public init() {}

    public init(
      signingKey: OctetString, verificationKey: OctetString, groupIdentifier: OctetString,
      groupResolvingKey: OctetString? = nil
    ) {
      self.signingKey = signingKey
      self.verificationKey = verificationKey
      self.groupIdentifier = groupIdentifier
      self.groupResolvingKey = groupResolvingKey
    }
  }

  /// Application Clusters § 5.2.11.1.
  public struct DoorLockAlarmEvent: ModelStruct {
    public var alarmCode: AlarmCode = .lockJammed
    public static let fields: [Field<Self>] = [.init(0, "AlarmCode", \.alarmCode)]

    public init() {}

    public init(alarmCode: AlarmCode) { self.alarmCode = alarmCode }
  }

  /// Application Clusters § 5.2.11.2.
  public struct DoorStateChangeEvent: ModelStruct {
    public var doorState: DoorState = .doorOpen
    public static let fields: [Field<Self>] = [.init(0, "DoorState", \.doorState)]

    public init() {}

    public init(doorState: DoorState) { self.doorState = doorState }
  }

  /// Application Clusters § 5.2.11.3.
  public struct LockOperationEvent: ModelStruct {
    public var lockOperationType: LockOperationType = .lock
    public var operationSource: OperationSource = .unspecified
    public var userIndex: Nullable<UInt16> = .null
    public var fabricIndex: Nullable<FabricIndex> = .null
    public var sourceNode: Nullable<NodeID> = .null
    public var credentials: Nullable<[CredentialStruct]>?
    public static let fields: [Field<Self>] = [
      .init(0, "LockOperationType", \.lockOperationType), .init(1, "OperationSource", \.operationSource),
      .init(2, "UserIndex", \.userIndex), .init(3, "FabricIndex", \.fabricIndex), .init(4, "SourceNode", \.sourceNode),
      .init(5, "Credentials", \.credentials),
    ]

    public init() {}

    public init(
      lockOperationType: LockOperationType, operationSource: OperationSource, userIndex: Nullable<UInt16>,
      fabricIndex: Nullable<FabricIndex>, sourceNode: Nullable<NodeID>,
      credentials: Nullable<[CredentialStruct]>? = nil
    ) {
      self.lockOperationType = lockOperationType
      self.operationSource = operationSource
      self.userIndex = userIndex
      self.fabricIndex = fabricIndex
      self.sourceNode = sourceNode
      self.credentials = credentials
    }
  }

  /// Application Clusters § 5.2.11.4.
  public struct LockOperationErrorEvent: ModelStruct {
    public var lockOperationType: LockOperationType = .lock
    public var operationSource: OperationSource = .unspecified
    public var operationError: OperationError = .unspecified
    public var userIndex: Nullable<UInt16> = .null
    public var fabricIndex: Nullable<FabricIndex> = .null
    public var sourceNode: Nullable<NodeID> = .null
    public var credentials: Nullable<[CredentialStruct]>?
    public static let fields: [Field<Self>] = [
      .init(0, "LockOperationType", \.lockOperationType), .init(1, "OperationSource", \.operationSource),
      .init(2, "OperationError", \.operationError), .init(3, "UserIndex", \.userIndex),
      .init(4, "FabricIndex", \.fabricIndex), .init(5, "SourceNode", \.sourceNode),
      .init(6, "Credentials", \.credentials),
    ]

    public init() {}

    public init(
      lockOperationType: LockOperationType, operationSource: OperationSource, operationError: OperationError,
      userIndex: Nullable<UInt16>, fabricIndex: Nullable<FabricIndex>, sourceNode: Nullable<NodeID>,
      credentials: Nullable<[CredentialStruct]>? = nil
    ) {
      self.lockOperationType = lockOperationType
      self.operationSource = operationSource
      self.operationError = operationError
      self.userIndex = userIndex
      self.fabricIndex = fabricIndex
      self.sourceNode = sourceNode
      self.credentials = credentials
    }
  }

  /// Application Clusters § 5.2.11.5.
  public struct LockUserChangeEvent: ModelStruct {
    public var lockDataType: LockDataType = .unspecified
    public var dataOperationType: DataOperationType = .add
    public var operationSource: OperationSource = .unspecified
    public var userIndex: Nullable<UInt16> = .null
    public var fabricIndex: Nullable<FabricIndex> = .null
    public var sourceNode: Nullable<NodeID> = .null
    public var dataIndex: Nullable<UInt16> = .null
    public static let fields: [Field<Self>] = [
      .init(0, "LockDataType", \.lockDataType), .init(1, "DataOperationType", \.dataOperationType),
      .init(2, "OperationSource", \.operationSource), .init(3, "UserIndex", \.userIndex),
      .init(4, "FabricIndex", \.fabricIndex), .init(5, "SourceNode", \.sourceNode), .init(6, "DataIndex", \.dataIndex),
    ]

    public init() {}

    public init(
      lockDataType: LockDataType, dataOperationType: DataOperationType, operationSource: OperationSource,
      userIndex: Nullable<UInt16>, fabricIndex: Nullable<FabricIndex>, sourceNode: Nullable<NodeID>,
      dataIndex: Nullable<UInt16>
    ) {
      self.lockDataType = lockDataType
      self.dataOperationType = dataOperationType
      self.operationSource = operationSource
      self.userIndex = userIndex
      self.fabricIndex = fabricIndex
      self.sourceNode = sourceNode
      self.dataIndex = dataIndex
    }
  }
}
