import MatterClusters
import MatterModel
import MatterProtocol

// The commands and test events of Device Energy Management. The codes of the test events are those of the Matter SDK.
extension EnergyManagementServer {
  // MARK: Power

  static func powerAdjustments(_ server: ClusterServer) -> ClusterServer {
    server
      .on(DEM.powerAdjustRequest) { context, request throws(StatusError) in
        try check(request.cause, &context)
        guard let state = context[scratch: EnergyManagement.self], let possible = state.possible,
          possible.contains(where: { entry in
            entry.minPower <= request.power && request.power <= entry.maxPower
              && entry.minDuration <= request.duration && request.duration <= entry.maxDuration
          })
        else { throw StatusError(.constraintError) }
        guard state.esaState == .online || state.esaState == .powerAdjustActive else {
          throw StatusError(.invalidInState)
        }
        let now = context.now
        if state.adjustment == nil { context.emit(DEM.powerAdjustStart, NoFields()) }
        update(&context, isUrgent: true) { state in
          if state.adjustment == nil { state.meter = EnergyMeter(at: now) }
          state.adjustment = .init(
            power: request.power, cause: request.cause, start: state.adjustment?.start ?? now,
            end: now + .seconds(Int64(request.duration)), capability: possible)
          state.measure(at: now)
        }
      }
      .on(DEM.cancelPowerAdjustRequest) { context, _ throws(StatusError) in
        guard context[scratch: EnergyManagement.self]?.adjustment != nil else { throw StatusError(.invalidInState) }
        endAdjustment(.cancelled, &context)
        update(&context, isUrgent: true)
      }
      .onTest(0x00, "powerAdjustment") { context in
        update(&context) {
          $0.testCapability = [
            .init(minPower: 5_000_000, maxPower: 30_000_000, minDuration: 10, maxDuration: 60)
          ]
        }
      }
      .onTest(0x01, "powerAdjustmentEnd") { context in
        endAdjustment(.cancelled, &context)
        update(&context) { $0.testCapability = nil }
      }
  }

  // MARK: Start time

  static func startAdjustments(_ server: ClusterServer) -> ClusterServer {
    server
      .on(DEM.startTimeAdjustRequest) { context, request throws(StatusError) in
        try check(request.cause, &context)
        guard let state = context[scratch: EnergyManagement.self], let forecast = state.shownForecast,
          forecast.activeSlotNumber == .null, let earliest = forecast.earliestStartTime, let now = context.epochSeconds,
          let latest = forecast.latestEndTime
        else { throw StatusError(.failure) }
        let end = request.requestedStartTime.saturatingAdd(forecast.endTime.saturatingSubtract(forecast.startTime))
        guard request.requestedStartTime >= earliest.wrapped ?? now, end <= latest else {
          throw StatusError(.constraintError)
        }
        update(&context, isUrgent: true) { $0.shift = (request.cause, request.requestedStartTime) }
      }
      .onTest(0x05, "startTimeAdjustment") { testForecast(startsIn: 60, &$0) }
      .onTest(0x06, "startTimeAdjustmentEnd") { endForecastTest(&$0) }
  }

  // MARK: Pauses

  static func pauses(_ server: ClusterServer) -> ClusterServer {
    server
      .on(DEM.pauseRequest) { context, request throws(StatusError) in
        try check(request.cause, &context)
        guard let state = context[scratch: EnergyManagement.self], let forecast = state.shownForecast,
          let index = forecast.activeSlotNumber.wrapped, forecast.slots.indices.contains(Int(index)),
          case let slot = forecast.slots[Int(index)], slot.slotIsPausable == true,
          let shortest = slot.minPauseDuration, let longest = slot.maxPauseDuration
        else { throw StatusError(.failure) }
        guard shortest <= request.duration, request.duration <= longest else { throw StatusError(.constraintError) }
        guard state.esaState == .online || state.esaState == .paused else { throw StatusError(.invalidInState) }
        if state.pause == nil { context.emit(DEM.paused, NoFields()) }
        let end = context.now + .seconds(Int64(request.duration))
        update(&context, isUrgent: true) { $0.pause = (request.cause, end) }
      }
      .on(DEM.resumeRequest) { context, _ throws(StatusError) in
        guard context[scratch: EnergyManagement.self]?.pause != nil else { throw StatusError(.invalidInState) }
        endPause(.cancelled, &context)
        update(&context, isUrgent: true)
      }
      .onTest(0x07, "pausable") { testForecast(&$0) }
      .onTest(0x08, "pausableNextSlot") { context in
        update(&context) { $0.testForecast?.activeSlotNumber = .value(1) }
      }
      .onTest(0x09, "pausableEnd") { endForecastTest(&$0) }
  }
}
