public import HomeModel
public import MatterClusters
public import MatterModel

// The commands of Door Lock that have fields, with labels. Application Clusters § 5.2.

extension Trait where C == DoorLock {
  /// Application Clusters § 5.2.10.1.
  /// - Parameter pinCode: the code as the lock takes it, usually digits.
  public func lockDoor(
    pinCode: OctetString? = nil
  ) async throws(HomeError) {
    try await invoke(DoorLock.lockDoor, .init(pinCode: pinCode))
  }

  /// Application Clusters § 5.2.10.2.
  /// - Parameter pinCode: the code as the lock takes it, usually digits.
  public func unlockDoor(
    pinCode: OctetString? = nil
  ) async throws(HomeError) {
    try await invoke(DoorLock.unlockDoor, .init(pinCode: pinCode))
  }

  /// Application Clusters § 5.2.10.3.
  /// - Parameters:
  ///   - timeout: seconds until it locks again.
  ///   - pinCode: the code as the lock takes it, usually digits.
  public func unlockWithTimeout(
    timeout: UInt16, pinCode: OctetString? = nil
  ) async throws(HomeError) {
    try await invoke(DoorLock.unlockWithTimeout, .init(timeout: timeout, pinCode: pinCode))
  }

  /// Application Clusters § 5.2.10.4.
  public func setPINCode(
    userID: UInt16, userStatus: DoorLock.UserStatus?, userType: DoorLock.UserType?, pin: OctetString
  ) async throws(HomeError) {
    try await invoke(
      DoorLock.setPINCode,
      .init(userID: userID, userStatus: Nullable(userStatus), userType: Nullable(userType), pin: pin))
  }

  /// Application Clusters § 5.2.10.5.
  @discardableResult
  public func getPINCode(
    userID: UInt16
  ) async throws(HomeError) -> DoorLock.GetPINCodeResponse {
    try await invoke(DoorLock.getPINCode, .init(userID: userID))
  }

  /// Application Clusters § 5.2.10.7.
  public func clearPINCode(
    pinSlotIndex: UInt16
  ) async throws(HomeError) {
    try await invoke(DoorLock.clearPINCode, .init(pinSlotIndex: pinSlotIndex))
  }

  /// Application Clusters § 5.2.10.9.
  public func setUserStatus(
    userID: UInt16, userStatus: DoorLock.UserStatus
  ) async throws(HomeError) {
    try await invoke(DoorLock.setUserStatus, .init(userID: userID, userStatus: userStatus))
  }

  /// Application Clusters § 5.2.10.10.
  @discardableResult
  public func getUserStatus(
    userID: UInt16
  ) async throws(HomeError) -> DoorLock.GetUserStatusResponse {
    try await invoke(DoorLock.getUserStatus, .init(userID: userID))
  }

  /// Application Clusters § 5.2.10.12.
  public func setWeekDaySchedule(
    weekDayIndex: UInt8, userIndex: UInt16, daysMask: DoorLock.DaysMask, startHour: UInt8, startMinute: UInt8,
    endHour: UInt8, endMinute: UInt8
  ) async throws(HomeError) {
    try await invoke(
      DoorLock.setWeekDaySchedule,
      .init(
        weekDayIndex: weekDayIndex, userIndex: userIndex, daysMask: daysMask, startHour: startHour,
        startMinute: startMinute, endHour: endHour, endMinute: endMinute))
  }

  /// Application Clusters § 5.2.10.13.
  @discardableResult
  public func getWeekDaySchedule(
    weekDayIndex: UInt8, userIndex: UInt16
  ) async throws(HomeError) -> DoorLock.GetWeekDayScheduleResponse {
    try await invoke(DoorLock.getWeekDaySchedule, .init(weekDayIndex: weekDayIndex, userIndex: userIndex))
  }

  /// Application Clusters § 5.2.10.15.
  public func clearWeekDaySchedule(
    weekDayIndex: UInt8, userIndex: UInt16
  ) async throws(HomeError) {
    try await invoke(DoorLock.clearWeekDaySchedule, .init(weekDayIndex: weekDayIndex, userIndex: userIndex))
  }

  /// Application Clusters § 5.2.10.16.
  /// - Parameters:
  ///   - localStartTime: seconds since 2000 in local time.
  ///   - localEndTime: seconds since 2000 in local time.
  public func setYearDaySchedule(
    yearDayIndex: UInt8, userIndex: UInt16, localStartTime: UInt32, localEndTime: UInt32
  ) async throws(HomeError) {
    try await invoke(
      DoorLock.setYearDaySchedule,
      .init(
        yearDayIndex: yearDayIndex, userIndex: userIndex, localStartTime: localStartTime, localEndTime: localEndTime))
  }

  /// Application Clusters § 5.2.10.17.
  @discardableResult
  public func getYearDaySchedule(
    yearDayIndex: UInt8, userIndex: UInt16
  ) async throws(HomeError) -> DoorLock.GetYearDayScheduleResponse {
    try await invoke(DoorLock.getYearDaySchedule, .init(yearDayIndex: yearDayIndex, userIndex: userIndex))
  }

  /// Application Clusters § 5.2.10.19.
  public func clearYearDaySchedule(
    yearDayIndex: UInt8, userIndex: UInt16
  ) async throws(HomeError) {
    try await invoke(DoorLock.clearYearDaySchedule, .init(yearDayIndex: yearDayIndex, userIndex: userIndex))
  }

  /// Application Clusters § 5.2.10.20.
  /// - Parameters:
  ///   - localStartTime: seconds since 2000 in local time.
  ///   - localEndTime: seconds since 2000 in local time.
  public func setHolidaySchedule(
    holidayIndex: UInt8, localStartTime: UInt32, localEndTime: UInt32, operatingMode: DoorLock.OperatingMode
  ) async throws(HomeError) {
    try await invoke(
      DoorLock.setHolidaySchedule,
      .init(
        holidayIndex: holidayIndex, localStartTime: localStartTime, localEndTime: localEndTime,
        operatingMode: operatingMode))
  }

  /// Application Clusters § 5.2.10.21.
  @discardableResult
  public func getHolidaySchedule(
    holidayIndex: UInt8
  ) async throws(HomeError) -> DoorLock.GetHolidayScheduleResponse {
    try await invoke(DoorLock.getHolidaySchedule, .init(holidayIndex: holidayIndex))
  }

  /// Application Clusters § 5.2.10.23.
  public func clearHolidaySchedule(
    holidayIndex: UInt8
  ) async throws(HomeError) {
    try await invoke(DoorLock.clearHolidaySchedule, .init(holidayIndex: holidayIndex))
  }

  /// Application Clusters § 5.2.10.24.
  public func setUserType(
    userID: UInt16, userType: DoorLock.UserType
  ) async throws(HomeError) {
    try await invoke(DoorLock.setUserType, .init(userID: userID, userType: userType))
  }

  /// Application Clusters § 5.2.10.25.
  @discardableResult
  public func getUserType(
    userID: UInt16
  ) async throws(HomeError) -> DoorLock.GetUserTypeResponse {
    try await invoke(DoorLock.getUserType, .init(userID: userID))
  }

  /// Application Clusters § 5.2.10.27.
  public func setRFIDCode(
    userID: UInt16, userStatus: DoorLock.UserStatus?, userType: DoorLock.UserType?, rfidCode: OctetString
  ) async throws(HomeError) {
    try await invoke(
      DoorLock.setRFIDCode,
      .init(userID: userID, userStatus: Nullable(userStatus), userType: Nullable(userType), rfidCode: rfidCode))
  }

  /// Application Clusters § 5.2.10.28.
  @discardableResult
  public func getRFIDCode(
    userID: UInt16
  ) async throws(HomeError) -> DoorLock.GetRFIDCodeResponse {
    try await invoke(DoorLock.getRFIDCode, .init(userID: userID))
  }

  /// Application Clusters § 5.2.10.30.
  public func clearRFIDCode(
    rfidSlotIndex: UInt16
  ) async throws(HomeError) {
    try await invoke(DoorLock.clearRFIDCode, .init(rfidSlotIndex: rfidSlotIndex))
  }

  /// Application Clusters § 5.2.10.32.
  public func setUser(
    operationType: DoorLock.DataOperationType, userIndex: UInt16, userName: String?, userUniqueID: UInt32?,
    userStatus: DoorLock.UserStatus?, userType: DoorLock.UserType?, credentialRule: DoorLock.CredentialRule?
  ) async throws(HomeError) {
    try await invoke(
      DoorLock.setUser,
      .init(
        operationType: operationType, userIndex: userIndex, userName: Nullable(userName),
        userUniqueID: Nullable(userUniqueID), userStatus: Nullable(userStatus), userType: Nullable(userType),
        credentialRule: Nullable(credentialRule)))
  }

  /// Application Clusters § 5.2.10.33.
  @discardableResult
  public func getUser(
    userIndex: UInt16
  ) async throws(HomeError) -> DoorLock.GetUserResponse {
    try await invoke(DoorLock.getUser, .init(userIndex: userIndex))
  }

  /// Application Clusters § 5.2.10.35.
  public func clearUser(
    userIndex: UInt16
  ) async throws(HomeError) {
    try await invoke(DoorLock.clearUser, .init(userIndex: userIndex))
  }

  /// Application Clusters § 5.2.10.36.
  @discardableResult
  public func setCredential(
    operationType: DoorLock.DataOperationType, credential: DoorLock.CredentialStruct, credentialData: OctetString,
    userIndex: UInt16?, userStatus: DoorLock.UserStatus?, userType: DoorLock.UserType?
  ) async throws(HomeError) -> DoorLock.SetCredentialResponse {
    try await invoke(
      DoorLock.setCredential,
      .init(
        operationType: operationType, credential: credential, credentialData: credentialData,
        userIndex: Nullable(userIndex), userStatus: Nullable(userStatus), userType: Nullable(userType)))
  }

  /// Application Clusters § 5.2.10.38.
  @discardableResult
  public func getCredentialStatus(
    credential: DoorLock.CredentialStruct
  ) async throws(HomeError) -> DoorLock.GetCredentialStatusResponse {
    try await invoke(DoorLock.getCredentialStatus, .init(credential: credential))
  }

  /// Application Clusters § 5.2.10.40.
  public func clearCredential(
    credential: DoorLock.CredentialStruct?
  ) async throws(HomeError) {
    try await invoke(DoorLock.clearCredential, .init(credential: Nullable(credential)))
  }

  /// Application Clusters § 5.2.10.41.
  /// - Parameter pinCode: the code as the lock takes it, usually digits.
  public func unboltDoor(
    pinCode: OctetString? = nil
  ) async throws(HomeError) {
    try await invoke(DoorLock.unboltDoor, .init(pinCode: pinCode))
  }

  /// Application Clusters § 5.2.10.42.
  public func setAliroReaderConfig(
    signingKey: OctetString, verificationKey: OctetString, groupIdentifier: OctetString,
    groupResolvingKey: OctetString? = nil
  ) async throws(HomeError) {
    try await invoke(
      DoorLock.setAliroReaderConfig,
      .init(
        signingKey: signingKey, verificationKey: verificationKey, groupIdentifier: groupIdentifier,
        groupResolvingKey: groupResolvingKey))
  }
}
