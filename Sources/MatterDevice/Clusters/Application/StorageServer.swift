package import MatterClusters
import MatterModel
import MatterProtocol

/// The servers of a battery storage: the Power Source of its battery, and electrical sensors whose power the battery
/// limits. Device Library § 14.4.
public enum StorageServer {
  /// Requests a power in milliwatts, positive to charge; nil passes the present one to the electrical sensors.
  package static let request = ServerHook<PowerSource, Int64?>("request")
  /// Replaces the requested power by that of energy management; nil ends that.
  private static let adjust = ServerHook<PowerSource, Int64?>("adjust")

  private static let chargeKey = "charge"
  /// The voltages of an empty and of a full battery, in millivolts.
  public static let voltage: ClosedRange<UInt32> = 44_000...54_000
  private static let nominalVoltage: Int64 = 48_000

  private typealias DEM = DeviceEnergyManagement

  /// Returns the Power Source server of the battery.
  public static func make(_ battery: StorageBattery) -> ClusterServer {
    ClusterServer(PowerSource.self, features: [PowerSource.battery, PowerSource.rechargeable])
      .initial(PowerSource.status, .active)
      .initial(PowerSource.order, 1)
      .initial(PowerSource.description, "Battery")
      .initial(PowerSource.batPresent, true)
      .initial(PowerSource.batReplaceability, .notReplaceable)
      .initial(PowerSource.batCapacity, UInt32(clamping: battery.capacity / (nominalVoltage / 1000)))
      .initial(PowerSource.batFunctionalWhileCharging, true)
      .initial(PowerSource.batChargeState, .isNotCharging)
      .initial(PowerSource.activeBatFaults, [])
      .initial(PowerSource.activeBatChargeFaults, [])
      .serving(
        PowerSource.batVoltage, PowerSource.batPercentRemaining, PowerSource.batTimeRemaining,
        PowerSource.batTimeToFullCharge, PowerSource.batChargingCurrent
      )
      .suppliesItself()
      // The charge of the battery determines it.
      .resetting(PowerSource.batPercentRemaining)
      .reportingQuietly()
      .onStart { context in
        var battery = battery
        let stored = context[stored: chargeKey].flatMap { try? [Int64](tlv: $0) }
        battery.start(stored: stored, at: context.now)
        // A behavior of the power may have started earlier.
        battery.request(context[scratch: Request.self]?.power ?? 0, at: context.now)
        (context[scratch: Adjustment.self], context[scratch: Flow.self]) = (nil, nil)
        context[scratch: StorageBattery.self] = battery
        update(&context)
      }
      .onPoweredTimer(.tick) { update(&$0) }
      .onStop { context in
        // Without a power, the charge is that of the definition or the stored one.
        guard var battery = context[scratch: StorageBattery.self], battery.power != 0 else { return }
        battery.advance(to: context.now)
        context[stored: chargeKey] = battery.stored.tlv
      }
      .hook(request) { context, power in
        guard let power else { return update(&context) }
        context[scratch: Request.self] = Request(power: power)
        let adjusted = context[scratch: Adjustment.self]?.power
        update(&context) { $0.request(adjusted ?? power, at: $1) }
      }
      .hook(adjust) { context, power in
        context[scratch: Adjustment.self] = power.map { Adjustment(power: $0) }
        let requested = context[scratch: Request.self]?.power ?? 0
        update(&context) { $0.request(power ?? requested, at: $1) }
      }
      .onAct(PowerSource.batPercentRemaining) { context, percent in
        if let percent = percent.wrapped { update(&context) { $0.set(charge: Double(percent) / 2, at: $1) } }
      }
  }

  /// Returns the Device Energy Management server, for the endpoint that the battery is a part of.
  public static func energyManagement(_ battery: StorageBattery) -> ClusterServer {
    let appliance = EnergyAppliance(
      .batteryStorage, -battery.discharging...battery.charging,
      features: [
        DEM.powerAdjustment, DEM.powerForecastReporting, DEM.forecastAdjustment, DEM.constraintBasedAdjustment,
      ])
    return EnergyManagementServer.make(appliance) { context, demand in
      let power = demand.isPaused ? 0 : demand.power
      for endpoint in context.family { context.call(adjust, power, on: endpoint) }
    }
  }

  private static func report(_ battery: StorageBattery, _ context: inout ServerContext) {
    var report = EnergyReport()
    report.power = battery.power
    let range = (lowest: battery.energy > 0 ? -battery.discharging : 0, highest: battery.isFull ? 0 : battery.charging)
    if range.lowest < range.highest {
      report.capability = [
        .init(minPower: range.lowest, maxPower: range.highest, minDuration: 1, maxDuration: 86_400)
      ]
    }
    report.forecast = forecast(battery, &context)
    context.call(EnergyManagementServer.report, report, on: context.parent)
  }

  /// The lowest power of an adjusted forecast, as a part of the highest one.
  private static let lowestPart: Int64 = 10

  /// Returns the forecast: the present power until the battery is full or empty, in one slot; nil without a power or a
  /// known time.
  private static func forecast(
    _ battery: StorageBattery, _ context: inout ServerContext
  ) -> DeviceEnergyManagement.ForecastStruct? {
    let (now, power) = (context.now, battery.power)
    guard let time = battery.timeToEnd else {
      context[scratch: Flow.self] = nil
      return nil
    }
    var flow = context[scratch: Flow.self] ?? Flow(power: power, start: now, end: now + time)
    if flow.power != power { flow = Flow(power: power, start: now, end: now + time) }
    // Rounding moves the end by nanoseconds, a charge that is set moves it further.
    if abs((now + time - flow.end).milliseconds) > 1000 { flow.end = now + time }
    context[scratch: Flow.self] = flow
    guard let start = context.epochSeconds(at: flow.start), let end = context.epochSeconds(at: flow.end),
      let present = context.epochSeconds
    else { return nil }
    let highest = power > 0 ? battery.charging : -battery.discharging
    let lowest = highest / lowestPart
    let (elapsed, remaining) = (present.saturatingSubtract(start), end.saturatingSubtract(present))
    let total = elapsed.saturatingAdd(remaining)
    // The durations of the whole slot, so that its progress does not change them.
    func seconds(_ other: Int64) -> UInt32 {
      other == 0 ? total : UInt32(clamping: Int128(total) * Int128(power) / Int128(other))
    }
    let (shortest, longest) = (min(seconds(highest), total), max(seconds(lowest), total))
    let powers = (lowest: min(lowest, highest), highest: max(lowest, highest))
    let slot = DeviceEnergyManagement.SlotStruct(
      minDuration: shortest, maxDuration: longest, defaultDuration: total, elapsedSlotTime: elapsed,
      remainingSlotTime: remaining, slotIsPausable: false, nominalPower: power, minPower: min(powers.lowest, power),
      maxPower: max(powers.highest, power),
      nominalEnergy: Int64(clamping: Int128(total) * Int128(power) / 3600), minPowerAdjustment: powers.lowest,
      maxPowerAdjustment: powers.highest, minDurationAdjustment: 1, maxDurationAdjustment: longest)
    return .init(
      forecastID: 0, activeSlotNumber: .value(0), startTime: start, endTime: end, earliestStartTime: .value(start),
      latestEndTime: start.saturatingAdd(longest), isPausable: false, slots: [slot],
      forecastUpdateReason: .internalOptimization)
  }

  /// A constant power until the battery is full or empty.
  private struct Flow: Sendable {
    let power: Int64
    let start: Instant
    var end: Instant
  }

  /// Returns the Power Source server of a connection to the grid.
  public static func wired(_ description: String) -> ClusterServer {
    ClusterServer(PowerSource.self, features: [PowerSource.wired])
      .initial(PowerSource.status, .active)
      .initial(PowerSource.description, description)
      .initial(PowerSource.wiredCurrentType, .ac)
      .initial(PowerSource.wiredNominalVoltage, 230_000)
      .initial(PowerSource.wiredPresent, true)
      .suppliesItself()
  }

  /// Returns an Electrical Power Measurement server that measures the power of the battery, and requests a power that is
  /// set.
  /// - Parameter isLeading: whether its initial power is requested.
  public static func power(_ server: ClusterServer, isLeading: Bool = false) -> ClusterServer {
    server
      .onStart { context in
        // The request of a bridged device outlasts a loss of power.
        let isFirst = context[scratch: Request.self] == nil
        let initial = context[ElectricalPowerMeasurement.activePower].wrapped ?? 0
        context[scratch: Request.self] = Request(power: initial)
        forward(isLeading && isFirst ? initial : nil, &context)
      }
      .onAct(ElectricalPowerMeasurement.activePower) { context, power throws(StatusError) in
        guard let power = power.wrapped, ElectricalPowerServer.range.contains(power) else {
          throw StatusError(.constraintError)
        }
        forward(power, &context)
      }
  }

  private static func forward(_ power: Int64?, _ context: inout ServerContext) {
    for endpoint in context.siblings { context.call(request, power, on: endpoint) }
  }

  // MARK: State

  private struct Request: Sendable { let power: Int64 }
  private struct Adjustment: Sendable { let power: Int64 }

  private static func update(
    _ context: inout ServerContext, _ change: (inout StorageBattery, Instant) -> Void = { _, _ in }
  ) {
    guard var battery = context[scratch: StorageBattery.self] else { return }
    let (now, power) = (context.now, battery.power)
    battery.advance(to: now)
    change(&battery, now)
    context[scratch: StorageBattery.self] = battery
    let isUrgent = (battery.power > 0) != (power > 0) || (battery.power < 0) != (power < 0)
    if battery.halfPercent != context[PowerSource.batPercentRemaining].wrapped || isUrgent {
      context[stored: chargeKey] = battery.stored.tlv
    }
    show(battery, isUrgent: isUrgent, &context)
    for endpoint in context.siblings { context.call(ElectricalPowerServer.load, battery.power, on: endpoint) }
    context.cancel(.tick)
    if let next = battery.nextChange { context.schedule(.tick, at: next) }
    report(battery, &context)
  }

  private static func show(_ battery: StorageBattery, isUrgent: Bool, _ context: inout ServerContext) {
    func set<Value: ModelValue & Equatable>(_ attribute: Attribute<PowerSource, Nullable<Value>>, _ value: Value?) {
      context.set(
        attribute, Nullable(value), reportedEvery: PowerSourceServer.reportInterval, isUrgent: isUrgent)
    }
    let (power, percent) = (battery.power, battery.halfPercent)
    let seconds = battery.timeToEnd.map { UInt32(clamping: $0.milliseconds / 1000) }
    let volts = voltage.lowerBound + (voltage.upperBound - voltage.lowerBound) / 200 * UInt32(percent)
    set(PowerSource.batPercentRemaining, percent)
    set(PowerSource.batTimeRemaining, power < 0 ? seconds : nil)
    set(PowerSource.batTimeToFullCharge, power > 0 ? seconds : nil)
    context[PowerSource.batVoltage] = .value(volts)
    let current = power > 0 ? UInt32(clamping: ElectricalReading.current(power, at: Int64(volts))) : nil
    context[PowerSource.batChargingCurrent] = Nullable(current)
    context[PowerSource.batChargeState] = power > 0 ? .isCharging : battery.isFull ? .isAtFullCharge : .isNotCharging
    context[PowerSource.batChargeLevel] = .init(halfPercent: percent)
  }
}

extension ServerContext {
  /// The handler's own endpoint and its parts.
  var family: [EndpointID] { [endpoint] + parts }
}

extension ClusterServer {
  /// Limits EndpointList of a Power Source to its own endpoint.
  fileprivate func suppliesItself() -> Self { onRead(PowerSource.endpointList) { [$0.endpoint] } }
}
