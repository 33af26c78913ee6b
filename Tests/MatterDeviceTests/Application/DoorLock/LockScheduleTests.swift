import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// Schedules of a door lock.
@Suite("Schedules of a door lock") struct LockScheduleTests {
  private func setWeekDay(
    _ node: TestNode, _ index: UInt8 = 1, user: UInt16 = 1, days: UInt8 = 2, from start: (UInt8, UInt8) = (15, 45),
    to end: (UInt8, UInt8) = (16, 55)
  ) -> Status {
    status {
      try node.invoke(
        DoorLock.setWeekDaySchedule,
        .init(
          weekDayIndex: index, userIndex: user, daysMask: .init(rawValue: days), startHour: start.0,
          startMinute: start.1, endHour: end.0, endMinute: end.1))
    }
  }

  private func weekDay(_ node: TestNode, _ index: UInt8, user: UInt16) throws -> DoorLock.GetWeekDayScheduleResponse {
    try #require(try node.invoke(DoorLock.getWeekDaySchedule, .init(weekDayIndex: index, userIndex: user)))
  }

  private func setYearDay(_ node: TestNode, _ index: UInt8, user: UInt16, _ times: ClosedRange<UInt32>) -> Status {
    status {
      try node.invoke(
        DoorLock.setYearDaySchedule,
        .init(
          yearDayIndex: index, userIndex: user, localStartTime: times.lowerBound, localEndTime: times.upperBound))
    }
  }

  private func yearDay(_ node: TestNode, _ index: UInt8, user: UInt16) throws -> DoorLock.GetYearDayScheduleResponse {
    try #require(try node.invoke(DoorLock.getYearDaySchedule, .init(yearDayIndex: index, userIndex: user)))
  }

  private func setHoliday(
    _ node: TestNode, _ index: UInt8, _ start: UInt32, _ end: UInt32, _ mode: DoorLock.OperatingMode
  ) -> Status {
    status {
      try node.invoke(
        DoorLock.setHolidaySchedule,
        .init(holidayIndex: index, localStartTime: start, localEndTime: end, operatingMode: mode))
    }
  }

  @Test("sets, reads and clears week day schedules (TC_DRLK_2_5)") func managesWeekDays() throws {
    let node = TestNode.lock()
    try node.setUser(1)
    for days in [1, 2, 64, 42, 127] as [UInt8] { #expect(setWeekDay(node, days: days) == .success) }
    let schedule = try weekDay(node, 1, user: 1)
    #expect(schedule.status == .success && schedule.daysMask?.rawValue == 127)
    #expect(schedule.startHour == 15 && schedule.startMinute == 45 && schedule.endHour == 16)
    let invalid = Status(.invalidCommand)
    #expect(setWeekDay(node, 0) == invalid && setWeekDay(node, 6) == invalid && setWeekDay(node, user: 0) == invalid)
    #expect(setWeekDay(node, days: 0) == invalid && setWeekDay(node, days: 128) == invalid)
    #expect(setWeekDay(node, from: (18, 0)) == invalid && setWeekDay(node, from: (24, 0), to: (24, 1)) == invalid)
    #expect(
      setWeekDay(node, from: (1, 0), to: (1, 60)) == invalid && setWeekDay(node, from: (1, 0), to: (1, 0)) == invalid)
    #expect(setWeekDay(node, user: 2) == Status(.failure))
    #expect(try weekDay(node, 0, user: 1).status == .invalidField)
    #expect(try weekDay(node, 1, user: 2).status == .notFound)
    #expect(try weekDay(node, 1, user: 2).daysMask == nil)
    for (index, user) in [(0, 1), (1, 0)] as [(UInt8, UInt16)] {
      let cleared = status {
        try node.invoke(DoorLock.clearWeekDaySchedule, .init(weekDayIndex: index, userIndex: user))
      }
      #expect(cleared == invalid)
    }
    #expect(setWeekDay(node, 5) == .success)
    try node.invoke(DoorLock.clearWeekDaySchedule, .init(weekDayIndex: 1, userIndex: 1))
    #expect(try weekDay(node, 1, user: 1).status == .notFound && weekDay(node, 5, user: 1).status == .success)
    try node.invoke(DoorLock.clearWeekDaySchedule, .init(weekDayIndex: 0xFE, userIndex: 1))
    #expect(try weekDay(node, 5, user: 1).status == .notFound)
    let change = try #require(try node.payloads(of: DoorLock.lockUserChange).last)
    #expect(change.lockDataType == .weekDaySchedule && change.dataOperationType == .clear)
  }

  @Test("sets, reads and clears year day schedules (TC_DRLK_2_7)") func managesYearDays() throws {
    let node = TestNode.lock()
    try node.setUser(1)
    #expect(setYearDay(node, 1, user: 1, 960...1980) == .success)
    let schedule = try yearDay(node, 1, user: 1)
    #expect(schedule.status == .success && schedule.localStartTime == 960 && schedule.localEndTime == 1980)
    #expect(setYearDay(node, 0, user: 15, 1020...2040) == Status(.invalidCommand))
    #expect(setYearDay(node, 1, user: 1, 5...5) == Status(.invalidCommand))
    #expect(try yearDay(node, 0, user: 15).status == .invalidField)
    try node.setUser(5)
    #expect(try yearDay(node, 5, user: 5).status == .notFound)
    try node.invoke(DoorLock.clearYearDaySchedule, .init(yearDayIndex: 1, userIndex: 1))
    #expect(try yearDay(node, 1, user: 1).status == .notFound)
    #expect(setYearDay(node, 1, user: 1, 1080...2100) == .success)
    try node.invoke(DoorLock.clearUser, .init(userIndex: 1))
    try node.setUser(1)
    #expect(try yearDay(node, 1, user: 1).status == .notFound, "they are cleared with the user")
  }

  @Test("sets, reads and clears holidays (TC_DRLK_2_6)") func managesHolidays() throws {
    let node = TestNode.lock()
    func holiday(_ index: UInt8) throws -> DoorLock.GetHolidayScheduleResponse {
      try #require(try node.invoke(DoorLock.getHolidaySchedule, .init(holidayIndex: index)))
    }
    #expect(setHoliday(node, 1, 20, 30, .normal) == .success)
    let schedule = try holiday(1)
    #expect(schedule.status == .success && schedule.localEndTime == .value(30))
    #expect(schedule.operatingMode == .value(.normal))
    #expect(setHoliday(node, 1, 20, 30, .init(5)) == Status(.invalidCommand))
    #expect(setHoliday(node, 1, 30, 30, .normal) == Status(.invalidCommand))
    #expect(try holiday(6).status == .invalidField && holiday(5).status == .notFound)
    let cleared = status {
      try node.invoke(DoorLock.clearHolidaySchedule, .init(holidayIndex: 0))
    }
    #expect(cleared == Status(.invalidCommand))
    try node.invoke(DoorLock.clearHolidaySchedule, .init(holidayIndex: 1))
    #expect(try holiday(1).status == .notFound)
  }

  @Test func restrictsUsersToWeekDays() throws {
    let node = TestNode.lock()
    try node.setCredential("1234", at: 1)
    try node.setUser(1, .modify, type: .weekDayScheduleUser)
    func refusal() -> Status { status { try node.unlockDoor("1234") } }
    #expect(refusal() == Status(.failure), "there is no clock")
    // Monday, 2026-11-23, 12:00 UTC.
    node.setClock(848_707_200 + 43_200)
    #expect(refusal() == Status(.failure), "there is no schedule")
    #expect(setWeekDay(node, days: 2, from: (11, 0), to: (12, 30)) == .success)
    #expect(refusal() == .success)
    node.wait(29 * 60_000)
    #expect(refusal() == .success)
    node.wait(60_000)
    #expect(refusal() == Status(.failure))
    node.setClock(848_707_200 + 86_400 + 43_200)
    #expect(refusal() == Status(.failure), "it is Tuesday")
    let errors = try node.payloads(of: DoorLock.lockOperationError)
    #expect(errors.count == 4 && errors.allSatisfy { $0.operationError == .restricted && $0.userIndex == .value(1) })
  }

  @Test func restrictsUsersToBothKinds() throws {
    let node = TestNode.lock()
    node.setClock(848_707_200 + 43_200)
    try node.setCredential("1234", at: 1)
    try node.setUser(1, .modify, type: .scheduleRestrictedUser)
    func refusal() -> Status { status { try node.unlockDoor("1234") } }
    #expect(setYearDay(node, 1, user: 1, 848_707_200...848_790_000) == .success)
    #expect(refusal() == .success)
    #expect(setWeekDay(node, days: 4, from: (11, 0), to: (12, 30)) == .success)
    #expect(refusal() == Status(.failure))
    #expect(setWeekDay(node, days: 6, from: (11, 0), to: (12, 30)) == .success)
    #expect(refusal() == .success)
  }

  @Test func changesModeDuringHoliday() throws {
    let node = TestNode.lock()
    node.setClock(1000)
    try node.write(DoorLock.operatingMode, .passage)
    #expect(setHoliday(node, 2, 1010, 1020, .privacy) == .success)
    node.wait(9000)
    #expect(node[DoorLock.operatingMode] == .passage)
    node.wait(1000)
    #expect(node[DoorLock.operatingMode] == .privacy)
    #expect(status { try node.unlockDoor() } == Status(.failure))
    let again = TestNode.lock(stored: node.stored)
    again.setClock(1015)
    #expect(setHoliday(again, 3, 5000, 5001, .normal) == .success, "another one changes nothing now")
    #expect(again[DoorLock.operatingMode] == .privacy)
    again.wait(5000)
    #expect(again[DoorLock.operatingMode] == .passage)
    node.wait(1000)
    try node.invoke(DoorLock.clearHolidaySchedule, .init(holidayIndex: 0xFE))
    #expect(node[DoorLock.operatingMode] == .passage)
  }

  @Test("a holiday follows a clock that is set later") func followsClock() throws {
    let node = TestNode.lock()
    #expect(setHoliday(node, 1, 1000, 2000, .privacy) == .success)
    node.setClock(1500)
    #expect(node[DoorLock.operatingMode] == .privacy)
    node.setClock(500)
    #expect(node[DoorLock.operatingMode] == .normal)
    node.wait(500_000)
    #expect(node[DoorLock.operatingMode] == .privacy)
  }

  @Test("schedules follow zone and daylight saving of the node") func followsZone() throws {
    let lock = EndpointDefinition(1, deviceTypes: [DeviceTypes.doorLock], servers: [DoorLockServer.make()])
    var lab = try Lab(endpoints: [lock])
    try lab.addAdministrator()
    let session = try lab.commission()
    func mode() -> DoorLock.OperatingMode? { lab.device.value(DoorLock.operatingMode, on: 1) }
    // 12:00 UTC; the holiday begins an hour later in local time.
    let noon: UInt64 = 848_707_200 + 43_200
    let start = UInt32(noon) + 3600
    #expect(
      try lab.status(
        DoorLock.setHolidaySchedule,
        .init(holidayIndex: 1, localStartTime: start, localEndTime: start + 1800, operatingMode: .privacy),
        endpoint: 1, on: session) == .success)
    #expect(
      try lab.status(
        TimeSynchronization.setUTCTime, .init(utcTime: noon * 1_000_000, granularity: .secondsGranularity), on: session)
        == .success)
    #expect(mode() == .normal)
    _ = try lab.call(TimeSynchronization.setTimeZone, .init(timeZone: [.init(offset: 3600, validAt: 0)]), on: session)
    #expect(lab.device.value(TimeSynchronization.localTime, on: 0) == Nullable<UInt64>.null)
    #expect(mode() == .privacy, "in the zone, without daylight saving")
    _ = try lab.call(TimeSynchronization.setTimeZone, .init(timeZone: [.init(offset: 0, validAt: 0)]), on: session)
    #expect(mode() == .normal)
    // Daylight saving begins in a minute.
    let saving = TimeSynchronization.DSTOffsetStruct(
      offset: 3600, validStarting: (noon + 60) * 1_000_000, validUntil: .null)
    #expect(
      try lab.status(TimeSynchronization.setDSTOffset, .init(dstOffset: [saving]), on: session) == .success)
    #expect(mode() == .normal)
    lab.advance(by: .seconds(61))
    #expect(mode() == .privacy)
  }
}
