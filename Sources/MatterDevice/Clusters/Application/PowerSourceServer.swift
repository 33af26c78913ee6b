import MatterClusters
public import MatterModel
import MatterProtocol

/// The Power Source server of a battery. Matter Core § 11.7.
public enum PowerSourceServer {
  /// The shortest interval between two reports of a charge or a remaining time. Matter Core § 11.7.7.13.
  static let reportInterval = Duration.seconds(10)
  private static let chargeKey = "charge"

  /// Returns the server.
  /// - Parameters:
  ///   - battery: The battery in the factory. Its charge survives a restart.
  ///   - endpoints: The endpoints that it supplies, with its own; empty for all of the node.
  public static func make(_ battery: Battery, endpoints: [EndpointID] = []) -> ClusterServer {
    let cell = battery.cell
    var server = ClusterServer(
      PowerSource.self,
      features: [PowerSource.battery, cell.isRechargeable ? PowerSource.rechargeable : PowerSource.replaceable]
    )
    .initial(PowerSource.status, .active)
    .initial(PowerSource.description, "Battery")
    .initial(PowerSource.endpointList, endpoints)
    .initial(PowerSource.batPresent, true)
    .initial(PowerSource.batReplaceability, cell.isRechargeable ? .notReplaceable : .userReplaceable)
    .initial(PowerSource.batCapacity, cell.capacity)
    .serving(PowerSource.batVoltage, PowerSource.batPercentRemaining)
    if battery.lifetime != nil { server = server.serving(PowerSource.batTimeRemaining) }
    server =
      cell.isRechargeable
      ? charging(server)
      : server
        .initial(PowerSource.batQuantity, battery.quantity)
        .initial(PowerSource.batReplacementDescription, "\(battery.quantity) × \(cell.name)")
        .initial(PowerSource.batCommonDesignation, cell.designation)
        .initial(PowerSource.batApprovedChemistry, cell.chemistry)
    if battery.drainPerUse > 0 {
      server = server.hook(used) { context, count in change(&context) { $0.use(count, at: $1) } }
    }
    return running(initial(server, battery), battery)
  }

  /// A number of reported changes, each of which takes charge.
  static let used = ServerHook<PowerSource, Int>("used")

  private static func initial(_ server: ClusterServer, _ battery: Battery) -> ClusterServer {
    server
      .initial(PowerSource.batVoltage, .value(battery.voltage))
      .initial(PowerSource.batPercentRemaining, .value(battery.halfPercent))
      .initial(PowerSource.batChargeLevel, battery.level)
      .initial(PowerSource.batReplacementNeeded, isReplacementNeeded(battery))
  }

  private static func charging(_ server: ClusterServer) -> ClusterServer {
    server
      .initial(PowerSource.batChargeState, .isNotCharging)
      .initial(PowerSource.batFunctionalWhileCharging, true)
      .serving(PowerSource.batTimeToFullCharge)
      .onAct(PowerSource.batChargeState) { context, state in
        change(&context) { $0.setOnCharger(state == .isCharging || state == .isAtFullCharge, at: $1) }
      }
  }

  private static func running(_ server: ClusterServer, _ battery: Battery) -> ClusterServer {
    server
      .onStart { context in
        var battery = battery
        battery.start(at: context.now)
        // An initial value of the definition replaces the charge of the battery.
        if let percent = context[PowerSource.batPercentRemaining].wrapped, percent != battery.halfPercent {
          battery.set(charge: Double(percent) / 2, at: context.now)
        }
        if let stored = context[stored: chargeKey].flatMap({ try? Int64(tlv: $0) }) {
          battery.restore(stored, at: context.now)
        }
        context[scratch: Battery.self] = battery
        update(&context)
        noteLevel(&context)
      }
      .onTimer(.tick) { context in update(&context) }
      .onStop { context in
        // A battery that keeps its charge has the one of the definition or the stored one.
        guard var battery = context[scratch: Battery.self], battery.nextChange != nil || battery.drainPerUse > 0 else {
          return
        }
        battery.advance(to: context.now)
        context[stored: chargeKey] = battery.stored.tlv
      }
      .reportingQuietly()
      .onAct(PowerSource.batPercentRemaining) { context, percent in
        // Null: the device can't measure the charge, which still drains.
        guard let percent = percent.wrapped else {
          context[PowerSource.batPercentRemaining] = .null
          return
        }
        change(&context) { $0.set(charge: Double(percent) / 2, at: $1) }
      }
      .onChange(PowerSource.batChargeLevel) { context in noteLevel(&context) }
  }

  // MARK: Charge

  private static func change(_ context: inout ServerContext, _ change: (inout Battery, Instant) -> Void) {
    guard var battery = context[scratch: Battery.self] else { return }
    change(&battery, context.now)
    context[scratch: Battery.self] = battery
    update(&context)
  }

  private static func update(_ context: inout ServerContext) {
    guard var battery = context[scratch: Battery.self] else { return }
    battery.advance(to: context.now)
    context[scratch: Battery.self] = battery
    if battery.halfPercent != context[PowerSource.batPercentRemaining].wrapped {
      context[stored: chargeKey] = battery.stored.tlv
    }
    set(PowerSource.batPercentRemaining, battery.halfPercent, &context)
    set(PowerSource.batTimeRemaining, battery.timeRemaining, &context)
    set(PowerSource.batTimeToFullCharge, battery.timeToFull, &context)
    context[PowerSource.batVoltage] = .value(battery.voltage)
    context[PowerSource.batChargeState] = battery.chargeState
    context[PowerSource.batReplacementNeeded] = isReplacementNeeded(battery)
    context[PowerSource.batChargeLevel] = battery.level
    context.cancel(.tick)
    if let next = battery.nextChange { context.schedule(.tick, at: next) }
  }

  private static func isReplacementNeeded(_ battery: Battery) -> Bool {
    !battery.cell.isRechargeable && battery.level == .critical
  }

  /// Passes the level to the smoke alarms that the battery supplies.
  private static func noteLevel(_ context: inout ServerContext) {
    let (level, supplied) = (context[PowerSource.batChargeLevel], context[PowerSource.endpointList])
    for endpoint in supplied.isEmpty ? context.endpoints : supplied {
      context.call(SmokeCoAlarmServer.chargeLevel, level, on: endpoint)
    }
  }

  /// Sets an attribute that is reported at most once in an interval, except a change from null or to null.
  private static func set<Value: ModelValue & Equatable>(
    _ attribute: Attribute<PowerSource, Nullable<Value>>, _ value: Value?, _ context: inout ServerContext
  ) {
    let isUrgent = value == nil || context[attribute] == .null
    context.set(attribute, Nullable(value), reportedEvery: reportInterval, isUrgent: isUrgent)
  }
}

extension ServerContext {
  /// Passes the changes since the last call to the batteries of their endpoints.
  mutating func drainBatteries() {
    guard let uses = node.uses, !uses.isEmpty else { return }
    node.uses = [:]
    for endpoint in endpoints {
      guard let supplied = value(PowerSource.endpointList, on: endpoint) else { continue }
      let count = uses.reduce(0) { $0 + (supplied.isEmpty || supplied.contains($1.key) ? $1.value : 0) }
      if count > 0 { call(PowerSourceServer.used, count, on: endpoint) }
    }
  }
}
