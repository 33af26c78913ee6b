public import HomeModel
public import MatterClusters
public import MatterModel

// The commands of Thermostat that have fields, with labels. Application Clusters § 4.3.

extension Trait where C == Thermostat {
  /// Application Clusters § 4.3.10.1.
  /// - Parameter amount: tenths of a degree Celsius.
  public func setpointRaiseLower(
    mode: Thermostat.SetpointRaiseLowerMode, amount: Int8
  ) async throws(HomeError) {
    try await invoke(Thermostat.setpointRaiseLower, .init(mode: mode, amount: amount))
  }

  /// Application Clusters § 4.3.10.2.
  public func setWeeklySchedule(
    numberOfTransitionsForSequence: UInt8, dayOfWeekForSequence: Thermostat.ScheduleDayOfWeek,
    modeForSequence: Thermostat.ScheduleMode, transitions: [Thermostat.WeeklyScheduleTransitionStruct]
  ) async throws(HomeError) {
    try await invoke(
      Thermostat.setWeeklySchedule,
      .init(
        numberOfTransitionsForSequence: numberOfTransitionsForSequence, dayOfWeekForSequence: dayOfWeekForSequence,
        modeForSequence: modeForSequence, transitions: transitions))
  }

  /// Application Clusters § 4.3.10.3.
  @discardableResult
  public func getWeeklySchedule(
    daysToReturn: Thermostat.ScheduleDayOfWeek, modeToReturn: Thermostat.ScheduleMode
  ) async throws(HomeError) -> Thermostat.GetWeeklyScheduleResponse {
    try await invoke(Thermostat.getWeeklySchedule, .init(daysToReturn: daysToReturn, modeToReturn: modeToReturn))
  }

  /// Application Clusters § 4.3.10.8.
  public func setActiveScheduleRequest(
    scheduleHandle: OctetString
  ) async throws(HomeError) {
    try await invoke(Thermostat.setActiveScheduleRequest, .init(scheduleHandle: scheduleHandle))
  }

  /// Application Clusters § 4.3.10.9.
  /// - Parameter presetHandle: nil: none.
  public func setActivePresetRequest(
    presetHandle: OctetString?
  ) async throws(HomeError) {
    try await invoke(Thermostat.setActivePresetRequest, .init(presetHandle: Nullable(presetHandle)))
  }

  /// Application Clusters § 4.3.
  /// - Parameter timeout: milliseconds.
  @discardableResult
  public func atomicRequest(
    requestType: Thermostat.AtomicRequestType, attributeRequests: [AttributeID], timeout: UInt16? = nil
  ) async throws(HomeError) -> Thermostat.AtomicResponse {
    try await invoke(
      Thermostat.atomicRequest, .init(requestType: requestType, attributeRequests: attributeRequests, timeout: timeout))
  }
}
