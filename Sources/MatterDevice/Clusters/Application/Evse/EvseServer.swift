import MatterClusters
import MatterModel
import MatterProtocol

/// The Energy EVSE server of a charging station with its vehicle. Application Clusters § 9.3.
///
/// As physical actions, State plugs the vehicle in and out, and lets it ask for energy or not; FaultState is a fault of
/// the station. Its parts are the cable, the charge of the vehicle (`40%`) and the RFID reader (a tag in hexadecimal).
public enum EvseServer {
  typealias Evse = EnergyEvse

  /// A setting outside of the server changed, such as the mode.
  static let changed = ServerHook<EnergyEvse, Void>("changed")
  /// Energy management demands another operation.
  static let demand = ServerHook<EnergyEvse, EnergyDemand>("demand")

  /// The time that the diagnostics take.
  static let diagnosticsTime = Duration.seconds(60)
  /// The time between two updates of the session while energy flows.
  static let updateInterval = Duration.seconds(60)
  /// The range of currents in milliamperes.
  static let currents: ClosedRange<Int64> = 0...80_000
  /// The highest currents of the circuit and the cable, in milliamperes.
  static let circuitCapacity: Int64 = 32_000
  private static let cableLimit: Int64 = 63_000
  private static let stationKey = "station", currentKey = "current"

  /// Returns the server.
  /// - Parameters:
  ///   - vehicle: the vehicle at the first start.
  ///   - reportsCharge: whether the vehicle reports its state of charge, a provisional feature.
  public static func make(_ vehicle: ElectricVehicle = .init(), reportsCharge: Bool = false) -> ClusterServer {
    let server = ClusterServer(
      Evse.self,
      features: [Evse.chargingPreferences, Evse.rfidFeature] + (reportsCharge ? [Evse.soCReporting] : [])
    )
    .initial(Evse.state, .value(.notPluggedIn))
    .initial(Evse.circuitCapacity, circuitCapacity)
    .initial(Evse.userMaximumChargeCurrent, circuitCapacity)
    .initial(Evse.approximateEVEfficiency, .null)
    .serving(Evse.rfid)
    .limiting(Evse.state, to: [.notPluggedIn, .pluggedInNoDemand, .pluggedInDemand])
    .limiting(Evse.circuitCapacity, to: ChargingStation.minimumCurrent...currents.upperBound)
    .limiting(Evse.userMaximumChargeCurrent, to: currents)
    .onRead(Evse.sessionDuration) { context in
      guard context[Evse.sessionID] != .null, let state = context[scratch: EvseState.self] else { return .null }
      return .value(UInt32(clamping: state.station.sessionDuration(at: context.now).milliseconds / 1000))
    }
    .onRead(Evse.sessionEnergyCharged) { context in
      guard context[Evse.sessionID] != .null, var station = context[scratch: EvseState.self]?.station else {
        return .null
      }
      station.advance(to: context.now)
      return .value(station.sessionEnergy)
    }
    return tests(acting(commands(running(server, vehicle))), reportsCharge: reportsCharge)
  }

  /// Returns an Electrical Power Measurement server that measures the power of the station that its endpoint is a
  /// part of.
  public static func power(_ server: ClusterServer) -> ClusterServer {
    // The station starts before it.
    server.onStart { context in
      if let station = context.parent { context.call(changed, (), on: station) }
    }
  }

  private static func running(_ server: ClusterServer, _ vehicle: ElectricVehicle) -> ClusterServer {
    server
      .onStart { context in
        let initial = context[Evse.state].wrapped
        let stored = context[stored: stationKey].flatMap { try? [Int64](tlv: $0) }
        var station = ChargingStation(vehicle, at: context.now)
        station.start(stored: stored, at: context.now)
        context[scratch: EvseState.self] = EvseState(station: station)
        context[Evse.faultState] = .noError
        update(&context) { station, now in
          guard stored == nil, initial != .notPluggedIn else { return }
          station.plugIn(at: now, afterTrip: false)
          station.setReady(initial != .pluggedInNoDemand, at: now)
        }
      }
      .onPoweredTimer(.tick) { update(&$0) }
      .onPowerLoss { $0.passLoad(0) }
      .onStop { context in
        guard var station = context[scratch: EvseState.self]?.station else { return }
        station.advance(to: context.now)
        context[stored: stationKey] = station.stored.tlv
      }
      .onClockChange { update(&$0) }
      .onChange(Evse.userMaximumChargeCurrent) { update(&$0) }
      .onChange(Evse.circuitCapacity) { update(&$0) }
      .hook(changed) { context, _ in update(&context) }
      .hook(demand) { context, demand in
        context[scratch: EvseState.self]?.demand = demand
        update(&context)
      }
  }

  // MARK: Commands

  private static func commands(_ server: ClusterServer) -> ClusterServer {
    targets(server)
      .on(Evse.enableCharging) { context, request throws(StatusError) in
        let (lowest, highest) = (request.minimumChargeCurrent, request.maximumChargeCurrent)
        guard lowest >= ChargingStation.minimumCurrent, lowest <= highest else { throw StatusError(.constraintError) }
        try checkReady(context)
        context[Evse.chargingEnabledUntil] = request.chargingEnabledUntil
        context[Evse.minimumChargeCurrent] = lowest
        context[stored: currentKey] = highest.tlv
        update(&context)
      }
      .on(Evse.disable) { context, _ throws(StatusError) in
        try checkReady(context)
        disable(&context)
        update(&context)
      }
      .on(Evse.startDiagnostics) { context, _ throws(StatusError) in
        guard let state = context[scratch: EvseState.self], state.station.supplyState == .disabled else {
          throw StatusError(.failure)
        }
        let end = context.now + diagnosticsTime
        context[scratch: EvseState.self]?.diagnosticsEnd = end
        update(&context)
      }
  }

  /// Throws during a fault and while the station diagnoses itself.
  private static func checkReady(_ context: ServerContext) throws(StatusError) {
    let controls = context[scratch: EvseState.self]?.station.controls
    guard controls?.fault == .noError, controls?.isDiagnosing == false else { throw StatusError(.failure) }
  }

  /// Disables charging, without an update.
  static func disable(_ context: inout ServerContext) {
    context[Evse.chargingEnabledUntil] = .value(0)
    context[Evse.minimumChargeCurrent] = 0
    context[stored: currentKey] = nil
  }

  // MARK: Physical actions

  private static func acting(_ server: ClusterServer) -> ClusterServer {
    server
      .onAct(Evse.state) { context, state throws(StatusError) in
        switch state.wrapped {
        case .notPluggedIn: update(&context) { $0.unplug(at: $1) }
        case .pluggedInNoDemand: plugIn(asking: false, &context)
        case .pluggedInDemand: plugIn(asking: true, &context)
        default: throw StatusError(.constraintError)
        }
      }
      .onAct(Evse.faultState) { context, fault in set(fault, &context) }
      .onPart("cable", ["unplugged", "plugged in"]) { context, state in
        update(&context) { state == "unplugged" ? $0.unplug(at: $1) : $0.plugIn(at: $1) }
      }
      .onPart("charge", [], expected: "a percentage such as 40%") { context, text throws(StatusError) in
        guard text.hasSuffix("%"), let percent = Double(text.dropLast()), (0...100).contains(percent) else {
          throw StatusError(.constraintError)
        }
        update(&context) { $0.set(charge: percent, at: $1) }
      }
      .onPart("reader", [], expected: "a tag of 1 to 10 bytes in hexadecimal digits") {
        (context, text) throws(StatusError) in
        guard let tag = [UInt8](hexadecimalDigits: text), (1...10).contains(tag.count) else {
          throw StatusError(.constraintError)
        }
        context.emit(Evse.rfid, .init(uid: OctetString(tag)))
      }
  }

  /// Plugs the vehicle in, and lets it ask for energy or not.
  static func plugIn(asking isReady: Bool, afterTrip: Bool = true, _ context: inout ServerContext) {
    update(&context) { station, now in
      station.plugIn(at: now, afterTrip: afterTrip)
      station.setReady(isReady, at: now)
    }
  }

  /// Begins, replaces or ends a fault.
  static func set(_ fault: EnergyEvse.FaultState, _ context: inout ServerContext) {
    guard let state = context[scratch: EvseState.self], context[Evse.faultState] != fault else { return }
    context.emit(
      Evse.fault,
      .init(
        sessionID: context[Evse.sessionID], state: state.station.state,
        faultStatePreviousState: context[Evse.faultState], faultStateCurrentState: fault))
    context[Evse.faultState] = fault
    update(&context)
  }

  // MARK: State

  /// Advances the station, changes it, and updates attributes, events, sensors and timers.
  static func update(
    _ context: inout ServerContext, _ change: (inout ChargingStation, Instant) -> Void = { _, _ in }
  ) {
    guard var state = context[scratch: EvseState.self] else { return }
    let (before, now) = (state.station, context.now)
    state.station.advance(to: now)
    change(&state.station, now)
    if let end = state.diagnosticsEnd, end <= now { state.diagnosticsEnd = nil }
    if let until = context[Evse.chargingEnabledUntil].wrapped, until > 0, let time = context.epochSeconds,
      until <= time
    {
      disable(&context)
    }
    let limits = limits(&context)
    var controls = ChargingStation.Controls(isEnabled: limits.isEnabled, current: limits.current)
    (controls.fault, controls.isDiagnosing) = (context[Evse.faultState], state.diagnosticsEnd != nil)
    state.station.control(controls, at: now)
    state.plan = plan(state, &context)
    let isHeld = isHeld(by: state.plan, &context)
    (controls.isHeld, controls.power) = (
      state.demand.isPaused || isHeld && state.demand.power == nil, state.demand.power
    )
    state.station.control(controls, at: now)
    context[Evse.maximumChargeCurrent] = limits.isEnabled ? limits.current : 0
    if !before.isPluggedIn, state.station.isPluggedIn {
      let id = context[Evse.sessionID].wrapped.map { $0 &+ 1 } ?? 1
      context[Evse.sessionID] = .value(id)
      context.emit(Evse.evConnected, .init(sessionID: id))
    }
    noteTransfer(&state, since: before, &context)
    context[scratch: EvseState.self] = state
    show(state, since: before, &context)
    schedule(since: before, &context)
    report(&context)
  }

  /// Returns whether charging is enabled, and its highest current: that of the last command, the circuit, the cable and
  /// the user. In the mode for the minimum, it is the minimum of the command.
  private static func limits(_ context: inout ServerContext) -> (isEnabled: Bool, current: Int64) {
    let requested = context[stored: currentKey].flatMap { try? Int64(tlv: $0) } ?? .max
    let current = min(
      context[Evse.circuitCapacity], context[Evse.userMaximumChargeCurrent], min(cableLimit, requested),
      context.chargesSlowly ? max(context[Evse.minimumChargeCurrent], ChargingStation.minimumCurrent) : .max)
    return (context[Evse.chargingEnabledUntil] != .value(0), current)
  }

  /// Returns whether a plan prevents the transfer at present.
  private static func isHeld(by plan: ChargingPlan?, _ context: inout ServerContext) -> Bool {
    guard let plan, context.followsTargets else { return false }
    guard let start = plan.start, let now = context.epochSeconds else { return true }
    return start > now
  }

  /// Emits the events of the start and the end of a transfer, and of the end of a session. A fault interrupts a
  /// transfer, but does not end it.
  private static func noteTransfer(
    _ state: inout EvseState, since before: ChargingStation, _ context: inout ServerContext
  ) {
    let (station, session) = (state.station, context[Evse.sessionID].wrapped ?? 0)
    let isOver = !station.isPluggedIn || station.controls.fault == .noError
    if let start = state.transferStart, isOver, !station.isTransferring {
      let reason: EnergyEvse.EnergyTransferStoppedReason =
        !station.isPluggedIn ? .other : !station.hasDemand ? .evStopped : .evseStopped
      context.emit(
        Evse.energyTransferStopped,
        .init(
          sessionID: session, state: before.state, reason: reason, energyTransferred: station.sessionEnergy - start))
      state.transferStart = nil
    } else if state.transferStart == nil, station.isTransferring {
      context.emit(
        Evse.energyTransferStarted,
        .init(sessionID: session, state: station.state, maximumCurrent: station.controls.current))
      (state.transferStart, state.transferTime) = (station.sessionEnergy, context.now)
    }
    if before.isPluggedIn, !station.isPluggedIn {
      context.emit(
        Evse.evNotDetected,
        .init(
          sessionID: session, state: before.state,
          sessionDuration: UInt32(clamping: station.sessionDuration(at: context.now).milliseconds / 1000),
          sessionEnergyCharged: station.sessionEnergy))
    }
  }

  private static func show(_ state: EvseState, since before: ChargingStation, _ context: inout ServerContext) {
    let (station, plan) = (state.station, state.plan)
    context[Evse.state] = .value(station.state)
    context[Evse.supplyState] = station.supplyState
    context[Evse.nextChargeStartTime] = Nullable(plan?.start)
    context[Evse.nextChargeTargetTime] = Nullable(plan?.target)
    context[Evse.nextChargeRequiredEnergy] = Nullable(plan?.energy)
    context[Evse.nextChargeTargetSoC] = Nullable(plan?.stateOfCharge)
    let isKnown = station.isPluggedIn && state.knowsCharge
    context[Evse.stateOfCharge] = Nullable(isKnown ? station.percent : nil)
    context[Evse.batteryCapacity] = Nullable(isKnown ? station.battery.capacity : nil)
    if before.power > 0 || station.power > 0 || before.isPluggedIn != station.isPluggedIn {
      context.markChanged(Evse.sessionDuration)
      context.markChanged(Evse.sessionEnergyCharged)
    }
    context[stored: stationKey] = station.stored.tlv
    for endpoint in context.family { context.call(ElectricalPowerServer.load, station.power, on: endpoint) }
  }

  private static func schedule(since before: ChargingStation, _ context: inout ServerContext) {
    context.cancel(.tick)
    guard var state = context[scratch: EvseState.self] else { return }
    if before.power == 0 || state.updateTime + updateInterval <= context.now { state.updateTime = context.now }
    context[scratch: EvseState.self] = state
    let until = context[Evse.chargingEnabledUntil].wrapped.flatMap { $0 > 0 ? $0 : nil }
    let times = [until, state.plan?.target, state.plan?.start].compactMap { $0 }
    var next = Instant?.earlier(state.station.nextChange, state.diagnosticsEnd)
    for time in times {
      guard let instant = context.node.utc?.instant(of: UInt64(time) * 1_000_000), instant > context.now else {
        continue
      }
      next = .earlier(next, instant)
    }
    if state.station.power > 0 {
      next = .earlier(next, state.updateTime + updateInterval)
      if let plan = state.plan, plan.remaining ?? 0 > 0, context.followsTargets {
        next = .earlier(next, plan.timeToEnd(of: state.station).map { context.now + $0 })
      }
    }
    if let next { context.schedule(.tick, at: next) }
  }
}

/// The state of a charging station until the restart.
struct EvseState: Sendable {
  var station: ChargingStation
  /// The next charge; nil without a target, a vehicle or permission to charge.
  var plan: ChargingPlan?
  /// The end of the diagnostics; nil if there are none.
  var diagnosticsEnd: Instant?
  /// The energy of the session at the start of the present transfer; nil without a transfer.
  var transferStart: Int64?
  /// The time of that.
  var transferTime: Instant?
  /// The last regular update of the session.
  var updateTime = Instant.zero
  /// The demand of energy management.
  var demand = EnergyDemand()
  /// Whether the vehicle reports its charge.
  var knowsCharge = true
}
