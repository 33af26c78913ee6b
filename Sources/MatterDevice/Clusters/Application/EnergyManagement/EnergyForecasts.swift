import MatterClusters
import MatterModel
import MatterProtocol

// Changes of forecasts by clients, and forecasts for tests. The codes of the test events are those of the Matter SDK.
extension EnergyManagementServer {
  // MARK: Slots

  static func forecastAdjustments(_ server: ClusterServer) -> ClusterServer {
    server
      .on(DEM.modifyForecastRequest) { context, request throws(StatusError) in
        try check(request.cause, &context)
        guard let state = context[scratch: EnergyManagement.self], let forecast = state.shownForecast else {
          throw StatusError(.failure)
        }
        for adjustment in request.slotAdjustments {
          try check(adjustment, of: forecast, needsPower: context.has(DEM.powerForecastReporting))
        }
        guard request.forecastID == state.forecastID else { throw StatusError(.failure) }
        let windows = request.slotAdjustments.compactMap { adjustment -> EnergyManagement.Window? in
          guard let power = adjustment.nominalPower else { return nil }
          let start = forecast.start(of: Int(adjustment.slotIndex))
          return window(from: start, adjustment.duration, power: power, context)
        }
        update(&context, isUrgent: true) {
          $0.plan = .init(cause: request.cause, windows: windows, adjustments: request.slotAdjustments)
        }
      }
      .onTest(0x0A, "forecastAdjustment") { testForecast(&$0) }
      .onTest(0x0B, "forecastAdjustmentNextSlot") { context in
        update(&context) { $0.testForecast?.activeSlotNumber = .value(1) }
      }
      .onTest(0x0C, "forecastAdjustmentEnd") { endForecastTest(&$0) }
  }

  /// Throws unless the slot exists, is not over, and allows the adjustment.
  private static func check(
    _ adjustment: DeviceEnergyManagement.SlotAdjustmentStruct, of forecast: DeviceEnergyManagement.ForecastStruct,
    needsPower: Bool
  ) throws(StatusError) {
    let index = Int(adjustment.slotIndex)
    guard forecast.slots.indices.contains(index) else { throw StatusError(.failure) }
    let slot = forecast.slots[index]
    if let active = forecast.activeSlotNumber.wrapped, index < Int(active) { throw StatusError(.constraintError) }
    if needsPower {
      guard let power = adjustment.nominalPower, let lowest = slot.minPowerAdjustment,
        let highest = slot.maxPowerAdjustment, lowest <= power, power <= highest
      else { throw StatusError(.constraintError) }
    }
    guard let shortest = slot.minDurationAdjustment, let longest = slot.maxDurationAdjustment,
      shortest <= adjustment.duration, adjustment.duration <= longest
    else { throw StatusError(.constraintError) }
  }

  // MARK: Constraints

  static func constraints(_ server: ClusterServer) -> ClusterServer {
    server
      .on(DEM.requestConstraintBasedForecast) { context, request throws(StatusError) in
        try check(request.cause, &context)
        guard let now = context.epochSeconds else { throw StatusError(.failure) }
        var earliest = now
        var windows: [EnergyManagement.Window] = []
        for constraint in request.constraints {
          guard constraint.startTime >= earliest else { throw StatusError(.constraintError) }
          // The next one begins after the end of this one.
          earliest = constraint.startTime.saturatingAdd(constraint.duration).saturatingAdd(1)
          if context.has(DEM.powerForecastReporting) {
            let power = try limit(of: constraint, context[DEM.absMinPower], context[DEM.absMaxPower])
            windows.append(window(from: constraint.startTime, constraint.duration, power: power, context))
          } else {
            guard let load = constraint.loadControl else { throw StatusError(.invalidCommand) }
            guard -100...100 ~= load else { throw StatusError(.constraintError) }
          }
        }
        update(&context, isUrgent: true) { $0.plan = .init(cause: request.cause, windows: windows) }
      }
      .onTest(0x0D, "constraintBasedAdjustment") { testForecast(startsIn: 600, &$0) }
      .onTest(0x0E, "constraintBasedAdjustmentEnd") { endForecastTest(&$0) }
  }

  /// Returns the power of a constraint in milliwatts: its nominal power, or the lower one that uses its energy; nil if the
  /// appliance can't run with so little energy.
  private static func limit(
    of constraint: DeviceEnergyManagement.ConstraintsStruct, _ lowest: Int64, _ highest: Int64
  ) throws(StatusError) -> Int64? {
    guard let power = constraint.nominalPower, let energy = constraint.maximumEnergy else {
      throw StatusError(.invalidCommand)
    }
    guard lowest <= power, power <= highest else { throw StatusError(.constraintError) }
    let allowed = Int64(clamping: Int128(energy) * 3600 / Int128(max(constraint.duration, 1)))
    return min(power, allowed) < lowest ? nil : min(power, allowed)
  }

  private static func window(
    from start: UInt32, _ seconds: UInt32, power: Int64?, _ context: ServerContext
  ) -> EnergyManagement.Window {
    let begin = context.now + .seconds(Int64(start) - Int64(context.epochSeconds ?? start))
    return .init(start: begin, end: begin + .seconds(Int64(seconds)), power: power)
  }

  // MARK: Cancellation

  static func cancellations(_ server: ClusterServer) -> ClusterServer {
    server.on(DEM.cancelRequest) { context, _ throws(StatusError) in
      guard let state = context[scratch: EnergyManagement.self], state.shownForecast != nil || state.plan != nil else {
        throw StatusError(.failure)
      }
      guard state.shift != nil || state.plan != nil else { throw StatusError(.invalidInState) }
      update(&context, isUrgent: true) { ($0.shift, $0.plan) = (nil, nil) }
    }
  }

  // MARK: Forecasts for tests

  static func forecastTests(_ server: ClusterServer) -> ClusterServer {
    server
      .onTest(0x0F, "forecast") { testForecast(&$0) }
      .onTest(0x10, "forecastEnd") { endForecastTest(&$0) }
  }

  /// Replaces the forecast by one of two slots, of which the first one may be paused.
  /// - Parameter delay: The seconds until its start.
  static func testForecast(startsIn delay: UInt32 = 0, _ context: inout ServerContext) {
    // Without a known time, the time since the start.
    let now =
      context.epochSeconds ?? UInt32(clamping: (context.now - context.startedAt).milliseconds / 1000)
    let reportsPower = context.has(DEM.powerForecastReporting)
    let isAdjustable = context.has(DEM.forecastAdjustment)
    func slot(_ seconds: UInt32, isPausable: Bool) -> DeviceEnergyManagement.SlotStruct {
      .init(
        minDuration: seconds, maxDuration: 2 * seconds, defaultDuration: seconds, elapsedSlotTime: 0,
        remainingSlotTime: seconds, slotIsPausable: isPausable, minPauseDuration: 10, maxPauseDuration: 60,
        manufacturerESAState: reportsPower ? nil : 1, nominalPower: reportsPower ? 2_500_000 : nil,
        minPower: reportsPower ? 1_200_000 : nil, maxPower: reportsPower ? 7_600_000 : nil,
        nominalEnergy: reportsPower ? Int64(2_500_000) * Int64(seconds) / 3600 : nil,
        minPowerAdjustment: isAdjustable && reportsPower ? 1_200_000 : nil,
        maxPowerAdjustment: isAdjustable && reportsPower ? 7_600_000 : nil,
        minDurationAdjustment: isAdjustable ? seconds / 2 : nil, maxDurationAdjustment: isAdjustable ? 2 * seconds : nil
      )
    }
    let slots = [slot(1800, isPausable: true), slot(3600, isPausable: false)]
    let start = now.saturatingAdd(delay)
    let end = start.saturatingAdd(slots.reduce(0) { $0.saturatingAdd($1.defaultDuration) })
    let forecast = DeviceEnergyManagement.ForecastStruct(
      forecastID: 0, activeSlotNumber: delay == 0 ? .value(0) : .null, startTime: start, endTime: end,
      earliestStartTime: .value(now), latestEndTime: end.saturatingAdd(60), isPausable: true, slots: slots,
      forecastUpdateReason: .internalOptimization)
    update(&context, isUrgent: true) { state in
      (state.testForecast, state.shift, state.plan) = (forecast, nil, nil)
    }
  }

  static func endForecastTest(_ context: inout ServerContext) {
    endPause(.cancelled, &context)
    update(&context, isUrgent: true) { state in
      (state.testForecast, state.shift, state.plan) = (nil, nil, nil)
    }
  }
}
