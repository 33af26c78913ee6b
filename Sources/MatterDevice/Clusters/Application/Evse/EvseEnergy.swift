import MatterClusters
import MatterModel
import MatterProtocol

// Device Energy Management of a charging station. Application Clusters § 9.2.
extension EvseServer {
  /// The durations of a power adjustment and of a pause, in seconds.
  private static let adjustment: ClosedRange<UInt32> = 60...86_400, pause: ClosedRange<UInt32> = 60...14_400

  /// Returns the Device Energy Management server, for the endpoint of the charging station.
  public static func energyManagement() -> ClusterServer {
    typealias DEM = DeviceEnergyManagement
    let appliance = EnergyAppliance(
      .evse, ChargingStation.power(of: ChargingStation.minimumCurrent)...ChargingStation.power(of: circuitCapacity),
      features: [
        DEM.powerAdjustment, DEM.powerForecastReporting, DEM.startTimeAdjustment, DEM.pausable, DEM.forecastAdjustment,
        DEM.constraintBasedAdjustment,
      ])
    return EnergyManagementServer.make(appliance) { context, demand in context.call(EvseServer.demand, demand) }
  }

  /// Reports the operation to Device Energy Management.
  static func report(_ context: inout ServerContext) {
    guard let state = context[scratch: EvseState.self] else { return }
    let station = state.station
    var report = EnergyReport()
    report.condition = station.controls.fault == .noError ? .online : .fault
    report.power = station.power
    let lowest = min(ChargingStation.power(of: ChargingStation.minimumCurrent), station.availablePower)
    if station.hasDemand, station.supplyState == .chargingEnabled,
      station.controls.current >= ChargingStation.minimumCurrent
    {
      report.capability = [
        .init(
          minPower: lowest, maxPower: station.availablePower, minDuration: adjustment.lowerBound,
          maxDuration: adjustment.upperBound)
      ]
      report.forecast = forecast(state, lowest, &context)
    }
    context.call(EnergyManagementServer.report, report)
  }

  /// Returns the forecast of the present or the next transfer, in one slot; nil without one or without a known time.
  /// - Parameter lowest: The lowest power in milliwatts.
  private static func forecast(
    _ state: EvseState, _ lowest: Int64, _ context: inout ServerContext
  ) -> DeviceEnergyManagement.ForecastStruct? {
    let station = state.station
    let power = station.power > 0 ? station.power : station.availablePower
    guard let now = context.epochSeconds, power > 0 else { return nil }
    let followed = context.followsTargets ? state.plan : nil
    if let followed, followed.start == nil { return nil }
    let energy = min(followed?.remaining ?? .max, station.battery.capacity - station.battery.energy)
    let isActive = state.transferStart != nil || state.demand.isPaused
    let start = isActive ? state.transferTime.flatMap { context.epochSeconds(at: $0) } ?? now : followed?.start ?? now
    let until = context[Evse.chargingEnabledUntil].wrapped.flatMap { $0 > 0 ? $0 : nil } ?? .max
    guard until > max(start, now) else { return nil }
    let longestTime = until - max(start, now)
    func seconds(_ power: Int64) -> UInt32 {
      // Milliwatt hours per milliwatt are hours. Rounded up.
      min(UInt32(clamping: (Int128(energy) * 3600 + Int128(power) - 1) / Int128(max(power, 1))), longestTime)
    }
    let (elapsed, remaining) = (isActive ? now.saturatingSubtract(start) : 0, seconds(power))
    let end = start.saturatingAdd(elapsed).saturatingAdd(remaining)
    let charged = min(energy, Int64(clamping: Int128(power) * Int128(remaining) / 3600))
    let shortest = elapsed.saturatingAdd(seconds(station.availablePower))
    let longest = elapsed.saturatingAdd(seconds(lowest))
    let slot = DeviceEnergyManagement.SlotStruct(
      minDuration: shortest, maxDuration: longest, defaultDuration: elapsed.saturatingAdd(remaining),
      elapsedSlotTime: elapsed, remainingSlotTime: remaining, slotIsPausable: true, minPauseDuration: pause.lowerBound,
      maxPauseDuration: pause.upperBound, nominalPower: power, minPower: lowest, maxPower: station.availablePower,
      nominalEnergy: charged, minPowerAdjustment: lowest, maxPowerAdjustment: station.availablePower,
      minDurationAdjustment: shortest, maxDurationAdjustment: longest)
    return .init(
      forecastID: 0, activeSlotNumber: isActive ? .value(0) : .null, startTime: start, endTime: end,
      earliestStartTime: isActive ? .value(start) : .null, latestEndTime: min(max(end, followed?.target ?? end), until),
      isPausable: true, slots: [slot], forecastUpdateReason: .internalOptimization)
  }
}
