import MatterClusters
import MatterModel
import MatterProtocol

/// The charging targets of a charging station for the days of the week. Application Clusters § 9.3.
struct ChargingTargets: Hashable, Sendable {
  typealias Schedule = EnergyEvse.ChargingTargetScheduleStruct
  typealias Target = EnergyEvse.ChargingTargetStruct

  private static let scheduleLimit = 7, targetLimitPerDay = 10
  private static let minutesPerDay = 24 * 60, secondsPerDay: Int64 = 86_400

  /// Each day is in at most one of them.
  private(set) var schedules: [Schedule] = []

  init() {}

  init(_ schedules: [Schedule]) { self.schedules = schedules }

  // MARK: Changes

  /// Throws unless SetTargets may have the schedules.
  /// - Parameter hasSoC: whether the vehicle may report its state of charge.
  static func check(_ schedules: [Schedule], hasSoC: Bool) throws(StatusError) {
    guard schedules.count <= scheduleLimit else { throw StatusError(.constraintError) }
    var days: DayOfWeek = []
    for schedule in schedules {
      let own = schedule.dayOfWeekForSequence
      guard !own.isEmpty, own.rawValue < 0x80, days.isDisjoint(with: own) else { throw StatusError(.constraintError) }
      days.formUnion(own)
      for target in schedule.chargingTargets { try check(target, hasSoC: hasSoC) }
      guard schedule.chargingTargets.count <= targetLimitPerDay else { throw StatusError(.resourceExhausted) }
    }
  }

  private static func check(_ target: Target, hasSoC: Bool) throws(StatusError) {
    guard Int(target.targetTimeMinutesPastMidnight) < minutesPerDay, target.addedEnergy ?? 0 >= 0 else {
      throw StatusError(.constraintError)
    }
    if hasSoC {
      guard let percent = target.targetSoC else { throw StatusError(.invalidCommand) }
      guard percent <= 100 else { throw StatusError(.constraintError) }
    } else if let percent = target.targetSoC {
      guard percent == 100 else { throw StatusError(.constraintError) }
    } else if target.addedEnergy == nil {
      throw StatusError(.failure)
    }
  }

  /// Replaces the targets of the days of the schedules.
  mutating func merge(_ new: [Schedule]) {
    for schedule in new {
      for index in schedules.indices { schedules[index].dayOfWeekForSequence.subtract(schedule.dayOfWeekForSequence) }
      schedules.removeAll { $0.dayOfWeekForSequence.isEmpty }
      schedules.append(schedule)
    }
  }

  // MARK: Times

  /// Returns the next target after a time, and its time.
  /// - Parameter seconds: seconds since 2000 in local time.
  func next(after seconds: Int64) -> (target: Target, time: Int64)? {
    let today = seconds / Self.secondsPerDay
    for day in today...today + 7 {
      // 2000-01-01 was a Saturday.
      let weekday = DayOfWeek(rawValue: 1 << UInt8(((day + 6) % 7 + 7) % 7))
      let targets = schedules.filter { !$0.dayOfWeekForSequence.isDisjoint(with: weekday) }.flatMap(\.chargingTargets)
      let times = targets.map { ($0, day * Self.secondsPerDay + Int64($0.targetTimeMinutesPastMidnight) * 60) }
      if let found = times.filter({ $0.1 > seconds }).min(by: { $0.1 < $1.1 }) { return found }
    }
    return nil
  }
}

/// The next charge of a charging station, by its targets. The times are in seconds since 2000, UTC.
struct ChargingPlan: Hashable, Sendable {
  /// The time of the target.
  var target: UInt32
  /// The target in percent; nil to add an energy.
  var stateOfCharge: UInt8?
  /// The energy to add in milliwatt hours; nil to reach a state of charge.
  var energy: Int64?
  /// The energy of the session when the plan was made.
  var base: Int64
  /// The energy that is missing, in milliwatt hours; nil if it is unknown.
  var remaining: Int64?
  /// The start of the charge; nil if no energy is missing.
  var start: UInt32?

  /// Whether another plan is for the same target.
  func isFor(sameTargetAs other: ChargingPlan) -> Bool {
    target == other.target && stateOfCharge == other.stateOfCharge && energy == other.energy
  }

  /// Returns the time until the target is reached; nil if it is unknown or no power flows.
  func timeToEnd(of station: ChargingStation) -> Duration? {
    if let energy { return station.time(toSessionEnergy: base.saturatingAdd(energy)) }
    return remaining.flatMap { station.battery.time(toEnergy: station.battery.energy.saturatingAdd($0)) }
  }

  /// Sets the start: as late as the power allows.
  /// - Parameters:
  ///   - power: in milliwatts.
  ///   - begun: the start of the charge if it began already.
  mutating func schedule(at power: Int64, begun: UInt32?, now: UInt32) {
    if let remaining, remaining <= 0 {
      start = nil
    } else if let begun {
      start = begun
    } else if let remaining, power > 0 {
      // Milliwatt hours per milliwatt are hours. Rounded up.
      let seconds = (Int128(remaining) * 3600 + Int128(power) - 1) / Int128(power)
      start = UInt32(clamping: max(Int128(now), Int128(target) - seconds))
    } else {
      start = now
    }
  }
}
