import MatterClusters
import MatterModel
import MatterProtocol

/// The schedules of a door lock: those of users, which restrict their access, and holidays, which change the operating
/// mode. Application Clusters § 5.2.10.12 to § 5.2.10.23.
enum LockSchedules {
  /// Stands for all schedules of a user, or all holidays.
  private static let all: UInt8 = 0xFE

  static func add(to server: ClusterServer) -> ClusterServer {
    server
      .on(DoorLock.setWeekDaySchedule) { context, request throws(StatusError) in
        let (start, end) = (
          minutes(request.startHour, request.startMinute), minutes(request.endHour, request.endMinute)
        )
        guard let start, let end, start < end, (1...0x7F).contains(request.daysMask.rawValue) else {
          throw StatusError(.invalidCommand)
        }
        let table = LockTables.weekDays(of: request.userIndex)
        try set(request, .weekDaySchedule, table, request.weekDayIndex, of: request.userIndex, &context)
      }
      .answer(DoorLock.getWeekDaySchedule) { context, request throws(StatusError) in
        var response = DoorLock.GetWeekDayScheduleResponse()
        (response.weekDayIndex, response.userIndex) = (request.weekDayIndex, request.userIndex)
        let table = LockTables.weekDays(of: request.userIndex)
        let found = find(table, request.weekDayIndex, of: request.userIndex, &context)
        response.status = found.status
        guard let schedule = found.entry else { return response }
        response.daysMask = schedule.daysMask
        (response.startHour, response.startMinute) = (schedule.startHour, schedule.startMinute)
        (response.endHour, response.endMinute) = (schedule.endHour, schedule.endMinute)
        return response
      }
      .on(DoorLock.clearWeekDaySchedule) { context, request throws(StatusError) in
        let table = LockTables.weekDays(of: request.userIndex)
        try clear(.weekDaySchedule, table, request.weekDayIndex, of: request.userIndex, &context)
      }
      .on(DoorLock.setYearDaySchedule) { context, request throws(StatusError) in
        guard request.localStartTime < request.localEndTime else { throw StatusError(.invalidCommand) }
        let table = LockTables.yearDays(of: request.userIndex)
        try set(request, .yearDaySchedule, table, request.yearDayIndex, of: request.userIndex, &context)
      }
      .answer(DoorLock.getYearDaySchedule) { context, request throws(StatusError) in
        var response = DoorLock.GetYearDayScheduleResponse()
        (response.yearDayIndex, response.userIndex) = (request.yearDayIndex, request.userIndex)
        let table = LockTables.yearDays(of: request.userIndex)
        let found = find(table, request.yearDayIndex, of: request.userIndex, &context)
        response.status = found.status
        (response.localStartTime, response.localEndTime) = (found.entry?.localStartTime, found.entry?.localEndTime)
        return response
      }
      .on(DoorLock.clearYearDaySchedule) { context, request throws(StatusError) in
        let table = LockTables.yearDays(of: request.userIndex)
        try clear(.yearDaySchedule, table, request.yearDayIndex, of: request.userIndex, &context)
      }
      .on(DoorLock.setHolidaySchedule, setHoliday)
      .answer(DoorLock.getHolidaySchedule, holiday)
      .on(DoorLock.clearHolidaySchedule, clearHoliday)
      .onTimer(.holiday, updateMode)
      .onClockChange(updateMode)
  }

  // MARK: Schedules of users

  private static func set<Entry: ModelStruct>(
    _ entry: Entry, _ type: DoorLock.LockDataType, _ table: LockTable<Entry>, _ index: UInt8, of user: UInt16,
    _ context: inout ServerContext
  ) throws(StatusError) {
    guard table.isValid(UInt16(index), &context), LockTables.users.isValid(user, &context) else {
      throw StatusError(.invalidCommand)
    }
    guard LockTables.users.entry(user, context) != nil else { throw StatusError(.failure) }
    let operation: DoorLock.DataOperationType = table.entry(UInt16(index), context) == nil ? .add : .modify
    table.set(entry, at: UInt16(index), &context)
    LockUserCommands.report(type, operation, user: user, data: UInt16(index), &context)
  }

  private static func find<Entry: ModelStruct>(
    _ table: LockTable<Entry>, _ index: UInt8, of user: UInt16, _ context: inout ServerContext
  ) -> (status: DoorLock.LockStatus, entry: Entry?) {
    guard table.isValid(UInt16(index), &context), LockTables.users.isValid(user, &context) else {
      return (.invalidField, nil)
    }
    let entry = table.entry(UInt16(index), context)
    return (entry == nil ? .notFound : .success, entry)
  }

  private static func clear<Entry: ModelStruct>(
    _ type: DoorLock.LockDataType, _ table: LockTable<Entry>, _ index: UInt8, of user: UInt16,
    _ context: inout ServerContext
  ) throws(StatusError) {
    guard index == all || table.isValid(UInt16(index), &context), LockTables.users.isValid(user, &context) else {
      throw StatusError(.invalidCommand)
    }
    guard LockTables.users.entry(user, context) != nil else { throw StatusError(.failure) }
    for occupied in table.occupied(context) where index == all || occupied == UInt16(index) {
      table.set(nil, at: occupied, &context)
    }
    let data = index == all ? LockUserCommands.all : UInt16(index)
    LockUserCommands.report(type, .clear, user: user, data: data, &context)
  }

  /// Returns whether the schedules of a user admit it now. A restricted user without schedules is not admitted.
  static func admit(_ user: LockUser, _ index: UInt16, _ context: inout ServerContext) -> Bool {
    let usesWeekDays = [.weekDayScheduleUser, .scheduleRestrictedUser].contains(user.type)
    let usesYearDays = [.yearDayScheduleUser, .scheduleRestrictedUser].contains(user.type)
    guard usesWeekDays || usesYearDays else { return true }
    guard let now = localSeconds(&context) else { return false }
    let weekDays = usesWeekDays ? entries(LockTables.weekDays(of: index), context) : []
    let yearDays = usesYearDays ? entries(LockTables.yearDays(of: index), context) : []
    return !(weekDays.isEmpty && yearDays.isEmpty) && (weekDays.isEmpty || weekDays.contains { contains($0, now) })
      && (yearDays.isEmpty || yearDays.contains { ($0.localStartTime..<$0.localEndTime).contains(now) })
  }

  private static func entries<Entry: ModelStruct>(_ table: LockTable<Entry>, _ context: ServerContext) -> [Entry] {
    table.occupied(context).compactMap { table.entry($0, context) }
  }

  private static func contains(_ schedule: DoorLock.SetWeekDayScheduleRequest, _ now: UInt32) -> Bool {
    guard let start = minutes(schedule.startHour, schedule.startMinute),
      let end = minutes(schedule.endHour, schedule.endMinute)
    else { return false }
    // The epoch, 2000-01-01, was a Saturday.
    let day = (now / 86_400 + 6) % 7
    return schedule.daysMask.rawValue >> UInt8(day) & 1 == 1 && (start..<end).contains(now % 86_400 / 60)
  }

  /// Returns the minute of the day; nil if there is no such time.
  private static func minutes(_ hour: UInt8, _ minute: UInt8) -> UInt32? {
    hour < 24 && minute < 60 ? UInt32(hour) * 60 + UInt32(minute) : nil
  }

  // MARK: Time

  /// Returns seconds since 2000 in local time; nil without a clock.
  private static func localSeconds(_ context: inout ServerContext) -> UInt32? {
    context.localSeconds.map { UInt32(clamping: $0) }
  }

  // MARK: Holidays

  /// The operating mode before a holiday.
  private struct ModeBefore: ModelStruct {
    var holiday: UInt16 = 0
    var mode = DoorLock.OperatingMode.normal
    static let fields: [Field<Self>] = [.init(0, "Holiday", \.holiday), .init(1, "Mode", \.mode)]
  }
  private static let modeKey = "mode"

  private static func setHoliday(
    _ context: inout ServerContext, _ request: DoorLock.SetHolidayScheduleRequest
  ) throws(StatusError) {
    let index = UInt16(request.holidayIndex)
    guard LockTables.holidays.isValid(index, &context), request.localStartTime < request.localEndTime,
      DoorLockServer.supports(request.operatingMode, &context)
    else { throw StatusError(.invalidCommand) }
    restoreMode(after: index, &context)
    LockTables.holidays.set(request, at: index, &context)
    updateMode(&context)
  }

  private static func holiday(
    _ context: inout ServerContext, _ request: DoorLock.GetHolidayScheduleRequest
  ) -> DoorLock.GetHolidayScheduleResponse {
    let index = UInt16(request.holidayIndex)
    guard LockTables.holidays.isValid(index, &context) else {
      return .init(holidayIndex: request.holidayIndex, status: .invalidField)
    }
    guard let holiday = LockTables.holidays.entry(index, context) else {
      return .init(holidayIndex: request.holidayIndex, status: .notFound)
    }
    return .init(
      holidayIndex: request.holidayIndex, status: .success, localStartTime: .value(holiday.localStartTime),
      localEndTime: .value(holiday.localEndTime), operatingMode: .value(holiday.operatingMode))
  }

  private static func clearHoliday(
    _ context: inout ServerContext, _ request: DoorLock.ClearHolidayScheduleRequest
  ) throws(StatusError) {
    let index = UInt16(request.holidayIndex)
    guard request.holidayIndex == all || LockTables.holidays.isValid(index, &context) else {
      throw StatusError(.invalidCommand)
    }
    for occupied in LockTables.holidays.occupied(context) where request.holidayIndex == all || occupied == index {
      LockTables.holidays.set(nil, at: occupied, &context)
    }
    updateMode(&context)
  }

  /// Changes the operating mode at the start of a holiday, restores it at its end, and schedules the next of both.
  static func updateMode(_ context: inout ServerContext) {
    let table = LockTables.holidays
    guard let now = localSeconds(&context) else { return }
    let holidays = table.occupied(context).compactMap { index in table.entry(index, context).map { (index, $0) } }
    let active = holidays.first { ($0.1.localStartTime..<$0.1.localEndTime).contains(now) }
    let before = context[stored: modeKey].flatMap { try? ModeBefore(tlv: $0) }
    if before?.holiday != active?.0 {
      if let before { restoreMode(after: before.holiday, &context) }
      if let (index, holiday) = active {
        context[stored: modeKey] = ModeBefore(holiday: index, mode: context[DoorLock.operatingMode]).tlv
        context[DoorLock.operatingMode] = holiday.operatingMode
      }
    }
    if let next = holidays.flatMap({ [$0.1.localStartTime, $0.1.localEndTime] }).filter({ $0 > now }).min() {
      context.schedule(.holiday, at: context.now + .seconds(Int64(next - now)))
    } else {
      context.cancel(.holiday)
    }
  }

  /// Restores the operating mode if the holiday changed it.
  private static func restoreMode(after holiday: UInt16, _ context: inout ServerContext) {
    guard let before = context[stored: modeKey].flatMap({ try? ModeBefore(tlv: $0) }), before.holiday == holiday else {
      return
    }
    context[stored: modeKey] = nil
    context[DoorLock.operatingMode] = before.mode
  }
}
