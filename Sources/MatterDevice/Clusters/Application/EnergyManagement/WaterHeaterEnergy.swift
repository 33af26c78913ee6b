import MatterClusters
import MatterModel
import MatterProtocol

// Device Energy Management of a water heater: the forecast of its electrical power, and pauses. Application
// Clusters § 9.2.
extension WaterHeaterServer {
  /// Whether clients pause the heater.
  static let paused = ServerHook<WaterHeaterManagement, Bool>("paused")
  /// Device Energy Management started, and expects a report.
  static let managementStarted = ServerHook<WaterHeaterManagement, Void>("managementStarted")

  /// The duration of a pause in seconds.
  private static let pause: ClosedRange<UInt32> = 60...14_400
  /// How far ahead the forecast looks.
  private static let horizon = Duration.seconds(86_400)
  /// How far a predicted time moves before the forecast changes.
  private static let tolerance = Duration.seconds(60)

  /// Returns the Device Energy Management server, for the endpoint of the water heater.
  public static func energyManagement(_ settings: WaterHeaterSettings) -> ClusterServer {
    typealias DEM = DeviceEnergyManagement
    let highest = settings.sources.electricalPower
    let appliance = EnergyAppliance(.waterHeating, 0...highest, features: [DEM.powerForecastReporting, DEM.pausable])
    return EnergyManagementServer.make(appliance) { context, demand in context.call(paused, demand.isPaused) }
      .onStart { context in context.call(managementStarted, ()) }
  }

  /// A predicted heating phase.
  struct HeatingPhase: Hashable, Sendable {
    var start: Instant
    var end: Instant
    /// The electrical power in milliwatts.
    var power: Int64
    /// Whether the phase has begun.
    var isActive: Bool

    /// Whether the same phase has moved by less than the tolerance.
    func isNear(_ other: HeatingPhase) -> Bool {
      isActive == other.isActive && power == other.power
        && abs((start - other.start).nanoseconds) < WaterHeaterServer.tolerance.nanoseconds
        && abs((end - other.end).nanoseconds) < WaterHeaterServer.tolerance.nanoseconds
    }
  }

  /// Reports the power and the predicted phase to Device Energy Management.
  /// - Parameter phase: The present or the next phase; nil for none within a day.
  static func report(_ power: Int64, _ phase: HeatingPhase?, isFaulty: Bool, _ context: inout ServerContext) {
    var phase = phase.flatMap { $0.start <= context.now + horizon ? $0 : nil }
    // Rounding and the steps of the calculation don't change a forecast.
    if let last = context[scratch: HeatingPhase.self], let new = phase, last.isNear(new) {
      phase = last
      phase?.end = max(last.end, context.now)
    }
    context[scratch: HeatingPhase.self] = phase
    var report = EnergyReport()
    report.condition = isFaulty ? .fault : .online
    report.power = power
    report.forecast = phase.flatMap { forecast($0, context) }
    context.call(EnergyManagementServer.report, report)
  }

  private static func forecast(
    _ phase: HeatingPhase, _ context: ServerContext
  ) -> DeviceEnergyManagement.ForecastStruct? {
    guard phase.power > 0, let start = context.epochSeconds(at: phase.start),
      let end = context.epochSeconds(at: phase.end), let now = context.epochSeconds
    else { return nil }
    let total = end.saturatingSubtract(start)
    let elapsed = min(now.saturatingSubtract(start), total)
    let slot = DeviceEnergyManagement.SlotStruct(
      minDuration: total, maxDuration: total, defaultDuration: total, elapsedSlotTime: elapsed,
      remainingSlotTime: total - elapsed, slotIsPausable: true, minPauseDuration: pause.lowerBound,
      maxPauseDuration: pause.upperBound, nominalPower: phase.power, minPower: phase.power, maxPower: phase.power,
      nominalEnergy: Int64(clamping: Int128(total) * Int128(phase.power) / 3600))
    return .init(
      forecastID: 0, activeSlotNumber: phase.isActive ? .value(0) : .null, startTime: start, endTime: end,
      isPausable: true, slots: [slot], forecastUpdateReason: .internalOptimization)
  }
}
