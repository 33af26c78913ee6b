package import MatterClusters
import MatterModel
import MatterProtocol

/// The Device Energy Management server of an energy smart appliance: power adjustments, pauses, changes of the forecast,
/// and the user's opt-out. The appliance reports its operation after each change, and follows the demand.
/// Application Clusters § 9.2.
///
///     let server = EnergyManagementServer.make(appliance) { context, demand in context.call(Boiler.demand, demand) }
///     context.call(EnergyManagementServer.report, report)  // by the appliance
///
/// As a physical action, OptOutState is the choice of the user.
package enum EnergyManagementServer {
  typealias DEM = DeviceEnergyManagement

  /// The operation of the appliance. May change the demand, so an appliance calls it at the end of its own update.
  package static let report = ServerHook<DeviceEnergyManagement, EnergyReport>("report")
  /// The choice of the user.
  static let optOut = ServerHook<DeviceEnergyManagement, DeviceEnergyManagement.OptOutState>("optOut")

  /// The shortest interval between two reports of PowerAdjustmentCapability and Forecast.
  static let reportInterval = Duration.seconds(10)

  /// Returns the server.
  /// - Parameter follow: lets the appliance follow another demand.
  package static func make(
    _ appliance: EnergyAppliance, follow: @escaping @Sendable (inout ServerContext, EnergyDemand) -> Void
  ) -> ClusterServer {
    let server = ClusterServer(DEM.self, features: appliance.features)
      .initial(DEM.esaType, appliance.type)
      .initial(DEM.esaCanGenerate, appliance.powers.lowerBound < 0)
      .initial(DEM.esaState, .online)
      .initial(DEM.absMinPower, appliance.powers.lowerBound)
      .initial(DEM.absMaxPower, appliance.powers.upperBound)
      .reportingQuietly()
      .onStart { context in
        context[scratch: EnergyManagement.self] = EnergyManagement(follow: follow, at: context.now)
        update(&context)
      }
      .onPoweredTimer(.tick) { update(&$0) }
      .hook(report) { context, report in
        let now = context.now
        update(&context) { state in
          state.report = report
          state.measure(at: now)
          // A shift and adjusted slots belong to their forecast.
          if state.shownForecast == nil {
            state.shift = nil
            if state.plan?.adjustments.isEmpty == false { state.plan = nil }
          }
        }
      }
    return adjusting(server, appliance.features)
  }

  /// Serves the commands and the test events of the features.
  private static func adjusting(_ server: ClusterServer, _ features: [Feature]) -> ClusterServer {
    func has(_ feature: Feature) -> Bool { features.contains(feature) }
    var server = server
    if has(DEM.powerAdjustment) { server = powerAdjustments(server) }
    if has(DEM.startTimeAdjustment) { server = startAdjustments(server) }
    if has(DEM.pausable) { server = pauses(server) }
    if has(DEM.powerForecastReporting) || has(DEM.stateForecastReporting) { server = forecastTests(server) }
    if has(DEM.forecastAdjustment) { server = forecastAdjustments(server) }
    if has(DEM.constraintBasedAdjustment) { server = constraints(server) }
    let changes = [DEM.startTimeAdjustment, DEM.forecastAdjustment, DEM.constraintBasedAdjustment]
    if changes.contains(where: has) { server = cancellations(server) }
    return (changes + [DEM.powerAdjustment, DEM.pausable]).contains(where: has) ? optOuts(server) : server
  }

  // MARK: Opt-out

  private static func optOuts(_ server: ClusterServer) -> ClusterServer {
    server
      .storing(DEM.optOutState)
      .hook(optOut) { context, choice in choose(choice, &context) }
      .onAct(DEM.optOutState) { context, choice in choose(choice, &context) }
      .onTest(0x02, "optOutLocal") { context in choose(context[DEM.optOutState].adding(.localOptOut), &context) }
      .onTest(0x03, "optOutGrid") { context in choose(context[DEM.optOutState].adding(.gridOptOut), &context) }
      .onTest(0x04, "optOutEnd") { choose(.noOptOut, &$0) }
  }

  /// Ends the adjustments that the choice of the user does not allow.
  private static func choose(_ choice: DeviceEnergyManagement.OptOutState, _ context: inout ServerContext) {
    context[DEM.optOutState] = choice
    guard let state = context[scratch: EnergyManagement.self] else { return }
    if let cause = state.adjustment?.cause, !choice.allows(cause) { endAdjustment(.userOptOut, &context) }
    if let cause = state.pause?.cause, !choice.allows(cause) { endPause(.userOptOut, &context) }
    update(&context, isUrgent: true) { state in
      if let cause = state.shift?.cause, !choice.allows(cause) { state.shift = nil }
      if let cause = state.plan?.cause, !choice.allows(cause) { state.plan = nil }
    }
  }

  /// Throws unless the user allows adjustments for the cause.
  static func check(_ cause: DeviceEnergyManagement.AdjustmentCause, _ context: inout ServerContext) throws(StatusError)
  {
    guard cause.isKnown, context[DEM.optOutState].allows(cause) else { throw StatusError(.constraintError) }
  }

  // MARK: Ends

  /// Ends a power adjustment, without an update.
  static func endAdjustment(_ cause: DeviceEnergyManagement.Cause, _ context: inout ServerContext) {
    guard var state = context[scratch: EnergyManagement.self], let adjustment = state.adjustment else { return }
    state.meter.advance(to: context.now)
    let energy = state.meter.imported.saturatingSubtract(state.meter.exported)
    state.adjustment = nil
    context[scratch: EnergyManagement.self] = state
    let seconds = UInt32(clamping: (context.now - adjustment.start).milliseconds / 1000)
    context.emit(DEM.powerAdjustEnd, .init(cause: cause, duration: seconds, energyUse: energy))
  }

  /// Ends a pause, without an update.
  static func endPause(_ cause: DeviceEnergyManagement.Cause, _ context: inout ServerContext) {
    guard context[scratch: EnergyManagement.self]?.pause != nil else { return }
    context[scratch: EnergyManagement.self]?.pause = nil
    context.emit(DEM.resumed, .init(cause: cause))
  }

  // MARK: State

  /// Changes the state, ends expired requests, and updates the attributes, the demand and the timer.
  /// - Parameter isUrgent: whether Forecast and PowerAdjustmentCapability are reported at once.
  static func update(
    _ context: inout ServerContext, isUrgent: Bool = false, _ change: (inout EnergyManagement) -> Void = { _ in }
  ) {
    guard var changed = context[scratch: EnergyManagement.self] else { return }
    change(&changed)
    context[scratch: EnergyManagement.self] = changed
    let (now, condition) = (context.now, changed.report.condition)
    if condition != .online {
      endAdjustment(condition == .fault ? .fault : .offline, &context)
      endPause(condition == .fault ? .fault : .offline, &context)
    }
    if let end = changed.adjustment?.end, end <= now { endAdjustment(.normalCompletion, &context) }
    if let end = changed.pause?.end, end <= now { endPause(.normalCompletion, &context) }
    if let plan = changed.plan, plan.isOver(at: now) { context[scratch: EnergyManagement.self]?.plan = nil }
    show(&context, isUrgent: isUrgent)
    guard var state = context[scratch: EnergyManagement.self] else { return }
    context.cancel(.tick)
    let next = Instant?.earlier(state.adjustment?.end, state.pause?.end)
    if let next = Instant?.earlier(next, state.plan?.nextChange(after: now)) { context.schedule(.tick, at: next) }
    let demand = state.demand(at: now)
    guard demand != state.followed else { return }
    state.followed = demand
    context[scratch: EnergyManagement.self] = state
    state.follow(&context, demand)
  }

  private static func show(_ context: inout ServerContext, isUrgent: Bool) {
    guard let state = context[scratch: EnergyManagement.self] else { return }
    context[DEM.esaState] = state.esaState
    if context.has(DEM.powerAdjustment) {
      let capability = Nullable(state.shownCapability)
      context.set(
        DEM.powerAdjustmentCapability, capability, reportedEvery: reportInterval,
        isUrgent: isUrgent || (capability == .null) != (context[DEM.powerAdjustmentCapability] == .null))
    }
    guard context.has(DEM.powerForecastReporting) || context.has(DEM.stateForecastReporting) else { return }
    let last = context[DEM.forecast].wrapped
    var forecast = state.shownForecast
    if let pause = state.pause, state.testForecast == nil, let end = context.epochSeconds(at: pause.end) {
      forecast?.delay(until: end)
    }
    forecast?.forecastID = state.forecastID
    if forecast != nil, forecast?.withoutProgress != last?.withoutProgress {
      forecast?.forecastID = state.forecastID &+ 1
      context[scratch: EnergyManagement.self]?.forecastID = state.forecastID &+ 1
    }
    context.set(
      DEM.forecast, Nullable(forecast), reportedEvery: reportInterval,
      isUrgent: isUrgent || (forecast == nil) != (last == nil))
  }
}

/// The state of Device Energy Management until the restart.
struct EnergyManagement: Sendable {
  /// A power adjustment.
  struct Adjustment: Sendable {
    /// In milliwatts.
    var power: Int64
    var cause: DeviceEnergyManagement.AdjustmentCause
    let start: Instant
    var end: Instant
    /// The capability at its start.
    let capability: [DeviceEnergyManagement.PowerAdjustStruct]
  }

  /// A time with a limited power.
  struct Window: Sendable {
    let start: Instant
    let end: Instant
    /// In milliwatts; nil pauses the appliance.
    let power: Int64?
  }

  /// A change of the forecast by a client.
  struct Plan: Sendable {
    let cause: DeviceEnergyManagement.AdjustmentCause
    let windows: [Window]
    /// The adjusted slots; empty for constraints.
    var adjustments: [DeviceEnergyManagement.SlotAdjustmentStruct] = []

    func isOver(at now: Instant) -> Bool { !windows.isEmpty && windows.allSatisfy { $0.end <= now } }

    func nextChange(after now: Instant) -> Instant? {
      windows.flatMap { [$0.start, $0.end] }.filter { $0 > now }.min()
    }
  }

  let follow: @Sendable (inout ServerContext, EnergyDemand) -> Void
  /// The demand that the appliance follows.
  var followed = EnergyDemand()
  /// The last report of the appliance.
  var report = EnergyReport()
  /// The values of test events, which replace those of the report.
  var testCapability: [DeviceEnergyManagement.PowerAdjustStruct]?
  var testForecast: DeviceEnergyManagement.ForecastStruct?
  /// The requests of clients.
  var adjustment: Adjustment?
  var pause: (cause: DeviceEnergyManagement.AdjustmentCause, end: Instant)?
  var shift: (cause: DeviceEnergyManagement.AdjustmentCause, start: UInt32)?
  var plan: Plan?
  /// The energy since the start of the adjustment.
  var meter: EnergyMeter
  /// The number of the last forecast.
  var forecastID: UInt32 = 0

  init(follow: @escaping @Sendable (inout ServerContext, EnergyDemand) -> Void, at now: Instant) {
    (self.follow, meter) = (follow, EnergyMeter(at: now))
  }

  /// Measures the power of the appliance. In a test of adjustments, it is the requested one.
  mutating func measure(at now: Instant) {
    meter.setPower(testCapability == nil ? report.power : adjustment?.power ?? report.power, at: now)
  }

  /// The demand of the requests. Tests do not reach the appliance.
  func demand(at now: Instant) -> EnergyDemand {
    var demand = EnergyDemand()
    if testForecast == nil {
      (demand.isPaused, demand.start) = (pause != nil, shift?.start)
      if let window = plan?.windows.first(where: { $0.start <= now && now < $0.end }) {
        demand.power = window.power
        demand.isPaused = demand.isPaused || window.power == nil
      }
    }
    if testCapability == nil, let power = adjustment?.power { demand.power = power }
    return demand
  }

  var esaState: DeviceEnergyManagement.ESAState {
    guard report.condition == .online else { return report.condition }
    return pause != nil ? .paused : adjustment != nil ? .powerAdjustActive : .online
  }

  /// The adjustments that are possible.
  var possible: [DeviceEnergyManagement.PowerAdjustStruct]? {
    testCapability ?? adjustment?.capability ?? report.capability
  }

  var shownCapability: DeviceEnergyManagement.PowerAdjustCapabilityStruct? {
    possible.map { list in
      let cause = adjustment?.cause
      return .init(
        powerAdjustCapability: .value(list),
        cause: cause == nil
          ? .noAdjustment
          : cause == .localOptimization ? .localOptimizationAdjustment : .gridOptimizationAdjustment)
    }
  }

  var shownForecast: DeviceEnergyManagement.ForecastStruct? {
    guard var forecast = testForecast ?? report.forecast else { return nil }
    if testForecast != nil, let start = shift?.start {
      forecast.endTime = start.saturatingAdd(forecast.endTime.saturatingSubtract(forecast.startTime))
      forecast.startTime = start
    }
    forecast.adjust(plan?.adjustments ?? [])
    let cause = pause?.cause ?? shift?.cause ?? plan?.cause
    forecast.forecastUpdateReason =
      cause == nil ? .internalOptimization : cause == .localOptimization ? .localOptimization : .gridOptimization
    return forecast
  }
}

extension DeviceEnergyManagement.ForecastStruct {
  /// Returns the start of a slot in seconds since 2000.
  func start(of index: Int) -> UInt32 {
    slots.prefix(index).reduce(startTime) { $0.saturatingAdd($1.defaultDuration) }
  }

  /// Changes the slots that have not begun. The appliance itself reports the changed active slot.
  fileprivate mutating func adjust(_ adjustments: [DeviceEnergyManagement.SlotAdjustmentStruct]) {
    let first = activeSlotNumber.wrapped.map { Int($0) + 1 } ?? 0
    for adjustment in adjustments where slots.indices.contains(Int(adjustment.slotIndex)) {
      let index = Int(adjustment.slotIndex)
      guard index >= first else { continue }
      let before = slots[index].defaultDuration
      (slots[index].defaultDuration, slots[index].remainingSlotTime) = (adjustment.duration, adjustment.duration)
      if let power = adjustment.nominalPower {
        slots[index].nominalPower = power
        slots[index].nominalEnergy = Int64(clamping: Int128(power) * Int128(adjustment.duration) / 3600)
      }
      endTime = endTime.saturatingSubtract(before).saturatingAdd(adjustment.duration)
    }
  }

  /// Delays the end by a pause, after which the rest of the active slot and the later slots follow.
  fileprivate mutating func delay(until resumption: UInt32) {
    guard let active = activeSlotNumber.wrapped.map({ Int($0) }), slots.indices.contains(active) else { return }
    let rest = slots.dropFirst(active + 1).reduce(slots[active].remainingSlotTime) {
      $0.saturatingAdd($1.defaultDuration)
    }
    endTime = max(endTime, resumption.saturatingAdd(rest))
    latestEndTime = latestEndTime.map { max($0, endTime) }
  }

  /// The forecast without its number and the progress of its slots.
  fileprivate var withoutProgress: Self {
    var forecast = self
    forecast.forecastID = 0
    for index in forecast.slots.indices {
      (forecast.slots[index].elapsedSlotTime, forecast.slots[index].remainingSlotTime) = (0, 0)
    }
    return forecast
  }
}

extension DeviceEnergyManagement.OptOutState {
  /// Whether the user allows adjustments for the cause.
  fileprivate func allows(_ cause: DeviceEnergyManagement.AdjustmentCause) -> Bool {
    rawValue & (cause == .localOptimization ? Self.localOptOut : .gridOptOut).rawValue == 0
  }

  /// The values are those of two bits.
  fileprivate func adding(_ other: Self) -> Self { Self(rawValue: rawValue | other.rawValue) }
}
