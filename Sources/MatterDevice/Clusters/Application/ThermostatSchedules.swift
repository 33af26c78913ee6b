import MatterClusters
import MatterModel
import MatterProtocol

/// The weekly schedules of a thermostat, which it follows by its local time. Application Clusters § 4.3.9.50.
enum ThermostatSchedules {
  typealias Schedule = Thermostat.ScheduleStruct

  private static let limit = 6, limitOfType: UInt8 = 3, longestName = 64
  private static let transitionLimit = 42, transitionLimitPerDay = 6
  private static let minutesPerDay = 24 * 60
  /// The key of the time of the transition that was applied last.
  private static let appliedKey = "transition"

  static func serve(_ modes: [Thermostat.SystemMode], _ server: ClusterServer) -> ClusterServer {
    server
      .initial(
        Thermostat.scheduleTypes,
        modes.map {
          Thermostat.ScheduleTypeStruct(
            systemMode: $0, numberOfSchedules: limitOfType,
            scheduleTypeFeatures: [.supportsPresets, .supportsSetpoints, .supportsNames, .supportsOff])
        }
      )
      .initial(Thermostat.numberOfSchedules, UInt8(limit))
      .initial(Thermostat.numberOfScheduleTransitions, UInt8(transitionLimit))
      .initial(Thermostat.numberOfScheduleTransitionPerDay, .value(UInt8(transitionLimitPerDay)))
      .onWrite(Thermostat.schedules, check)
      .on(Thermostat.setActiveScheduleRequest) { context, request throws(StatusError) in
        guard context.schedule(request.scheduleHandle) != nil else { throw StatusError(.invalidCommand) }
        context[Thermostat.activeScheduleHandle] = .value(request.scheduleHandle)
        restart(&context)
      }
      .onTimer(.scheduleTransition, follow)
      .onClockChange(follow)
  }

  // MARK: Changes

  /// Checks the written schedules, and completes their BuiltIn fields. § 4.3.11.2.
  private static func check(_ context: inout ServerContext, _ schedules: inout [Schedule]) throws(StatusError) {
    let present = context.committedValue(Thermostat.schedules) ?? []
    let types = context[Thermostat.scheduleTypes]
    let setpoints = context.thermostatSetpoints
    for index in schedules.indices {
      let schedule = schedules[index]
      schedules[index].builtIn = .value(
        try ThermostatPresets.isBuiltIn(
          schedule.scheduleHandle, schedule.builtIn, before: schedules[..<index].map(\.scheduleHandle),
          present: present.map { ($0.scheduleHandle, $0.builtIn) }))
      guard types.contains(where: { $0.systemMode == schedule.systemMode }),
        schedule.name.map({ $0.utf8.count <= longestName }) ?? true, !schedule.transitions.isEmpty
      else { throw StatusError(.constraintError) }
      guard schedule.transitions.count <= transitionLimit,
        (0..<7).allSatisfy({ day in schedule.transitions.count { $0.isOn(day) } <= transitionLimitPerDay })
      else { throw StatusError(.resourceExhausted) }
      for transition in schedule.transitions { try check(transition, of: schedule, setpoints) }
      let same = schedules[...index].count { $0.systemMode == schedule.systemMode }
      guard index < limit, same <= Int(limitOfType) else { throw StatusError(.resourceExhausted) }
    }
  }

  private static func check(
    _ transition: Thermostat.ScheduleTransitionStruct, of schedule: Schedule, _ setpoints: ThermostatSetpoints
  ) throws(StatusError) {
    let mode = transition.systemMode ?? schedule.systemMode
    guard (0..<7).contains(where: transition.isOn), Int(transition.transitionTime) < minutesPerDay,
      mode == schedule.systemMode || mode == .off
    else { throw StatusError(.constraintError) }
    guard mode != .off, transition.presetHandle ?? schedule.presetHandle == nil else { return }
    // Without a preset, the set points that the mode needs.
    for (side, value, other) in [
      (ThermostatSetpoints.Side.heat, transition.heatingSetpoint, Thermostat.SystemMode.cool),
      (.cool, transition.coolingSetpoint, .heat),
    ] where mode != other {
      guard let value, setpoints[side]?.allows(Int(value)) == true else { throw StatusError(.constraintError) }
    }
  }

  /// Checks schedules that are to be stored: built-in schedules and the active one must remain, and their presets must
  /// exist.
  static func checkComplete(
    _ schedules: [Schedule], _ presets: [Thermostat.PresetStruct], _ context: inout ServerContext
  ) throws(StatusError) {
    let handles = Set(schedules.compactMap(\.scheduleHandle.wrapped?.bytes))
    let present = context.committedValue(Thermostat.schedules) ?? []
    try ThermostatHandles.checkBuiltIn(present.map { ($0.scheduleHandle, $0.builtIn) }, remainIn: handles)
    let known = Set(presets.compactMap(\.presetHandle.wrapped?.bytes))
    let used = schedules.flatMap { [$0.presetHandle] + $0.transitions.map(\.presetHandle) }
    guard used.allSatisfy({ $0.map { known.contains($0.bytes) } ?? true }) else { throw StatusError(.constraintError) }
    if let active = context[Thermostat.activeScheduleHandle].wrapped, !handles.contains(active.bytes) {
      throw StatusError(.invalidInState)
    }
  }

  // MARK: Following

  /// Follows a schedule that became active or changed.
  static func restart(_ context: inout ServerContext) {
    context[stored: appliedKey] = nil
    follow(&context)
  }

  /// Applies the present transition of the active schedule, once, and waits for the next one.
  static func follow(_ context: inout ServerContext) {
    context.cancel(.scheduleTransition)
    guard context[Thermostat.temperatureSetpointHold] != .setpointHoldOn, context.isTimed,
      let handle = context[Thermostat.activeScheduleHandle].wrapped, let schedule = context.schedule(handle),
      let time = context.localSeconds
    else { return }
    let minute = time / 60
    if let (transition, start) = schedule.transition(at: minute), context[stored: appliedKey] != start.tlv {
      context[stored: appliedKey] = start.tlv
      apply(transition, of: schedule, &context)
    }
    if let next = schedule.nextTransition(after: minute) {
      context.schedule(.scheduleTransition, at: context.now + .seconds(next * 60 - time))
    }
  }

  private static func apply(
    _ transition: Thermostat.ScheduleTransitionStruct, of schedule: Schedule, _ context: inout ServerContext
  ) {
    context[Thermostat.systemMode] = transition.systemMode ?? schedule.systemMode
    let hasSetpoints = transition.heatingSetpoint != nil || transition.coolingSetpoint != nil
    let preset = transition.presetHandle ?? (hasSetpoints ? nil : schedule.presetHandle)
    if let preset, ThermostatPresets.activate(preset, .schedule, &context) { return }
    let setpoints = context.setpoints(heat: transition.heatingSetpoint, cool: transition.coolingSetpoint)
    ThermostatServer.apply(setpoints, .schedule, &context)
  }
}

extension Thermostat.ScheduleTransitionStruct {
  /// - Parameter day: 0 for Sunday to 6 for Saturday.
  fileprivate func isOn(_ day: Int) -> Bool { dayOfWeek.rawValue & 1 << day != 0 }
}

extension Thermostat.ScheduleStruct {
  /// Returns the transition that applies at a time, and when it began; nil if there is none.
  /// - Parameter minute: minutes since 2000 in local time.
  func transition(at minute: Int64) -> (transition: Thermostat.ScheduleTransitionStruct, start: Int64)? {
    for day in stride(from: minute / 1440, through: minute / 1440 - 7, by: -1) {
      let found = transitions(on: day).last { $0.start <= minute }
      if let found { return found }
    }
    return nil
  }

  /// Returns the first time after another at which a transition begins.
  func nextTransition(after minute: Int64) -> Int64? {
    for day in minute / 1440...minute / 1440 + 7 {
      if let found = transitions(on: day).first(where: { $0.start > minute }) { return found.start }
    }
    return nil
  }

  /// Returns the transitions of a day in their order.
  private func transitions(
    on day: Int64
  ) -> [(transition: Thermostat.ScheduleTransitionStruct, start: Int64)] {
    // 2000-01-01 was a Saturday.
    let weekday = Int(((day + 6) % 7 + 7) % 7)
    return transitions.filter { $0.isOn(weekday) }.map { ($0, day * 1440 + Int64($0.transitionTime)) }
      .sorted { $0.start < $1.start }
  }
}

extension ServerContext {
  /// Whether the device follows its schedules: a water heater does so in the mode Timed only.
  fileprivate var isTimed: Bool {
    mutating get { value(ModeBase<WaterHeaterMode>.currentMode).map { $0 == WaterHeaterServer.timed } ?? true }
  }

  fileprivate func schedule(_ handle: OctetString) -> Thermostat.ScheduleStruct? {
    (committedValue(Thermostat.schedules) ?? []).first { $0.scheduleHandle == .value(handle) }
  }
}
