public import MatterClusters
import MatterModel
import MatterProtocol

/// The servers of a water heater: Water Heater Management, Water Heater Mode, and a Thermostat whose temperature is that
/// of the water. Application Clusters § 9.5 and § 9.6, Device Library § 14.2.
///
/// The modes Off and Manual follow SystemMode of the thermostat, and SystemMode follows them. In the mode Timed, the
/// thermostat follows its schedules.
public enum WaterHeaterServer {
  private typealias Management = WaterHeaterManagement

  /// The water that is drawn in liters per minute.
  public static let flow = ServerHook<WaterHeaterManagement, Double>("flow")
  /// The measured temperature of the water in hundredths of a degree; null for a failure of the sensor.
  static let measured = ServerHook<WaterHeaterManagement, Nullable<Int16>>("measured")
  /// Attributes of the thermostat changed.
  static let thermostatChanged = ServerHook<WaterHeaterManagement, Void>("thermostatChanged")
  /// CurrentMode of Water Heater Mode changed.
  private static let modeChanged = ServerHook<WaterHeaterManagement, Void>("modeChanged")

  /// The highest flow in liters per minute.
  public static let flowLimit = 100.0
  /// The flow of an open tap without a rate, in liters per minute.
  private static let usualFlow = 8.0
  /// The time between two measurements.
  private static let interval = Duration.seconds(30)
  private static let boostEnd = TimerID.custom(0)
  private static let temperatureKey = "temperature"
  /// How far the temperature falls below the set point before heating begins, in degrees.
  private static let hysteresis = 2.0

  private static let modes = [
    ApplianceMode("Off", [WaterHeaterMode.ModeTag.off.rawValue]),
    ApplianceMode("Manual", [WaterHeaterMode.ModeTag.manual.rawValue]),
    ApplianceMode("Timed", [WaterHeaterMode.ModeTag.timed.rawValue]),
  ]
  private static let off: UInt8 = 0, manual: UInt8 = 1
  static let timed: UInt8 = 2
  private static let currentMode = ModeBase<WaterHeaterMode>.currentMode

  /// Returns the servers.
  public static func servers(_ settings: WaterHeaterSettings) -> [ClusterServer] {
    let types = settings.sources.reduce(into: Management.WaterHeaterHeatSource()) { $0.formUnion($1.type) }
    let server = ClusterServer(Management.self, features: [Management.energyManagement, Management.tankPercent])
      .initial(Management.heaterTypes, types)
      .initial(Management.tankVolume, UInt16(min(max(settings.tank.volume, 1), 65_535)))
      .onStart { start(settings, &$0) }
      .onPoweredTimer(.tick) { update(&$0) }
      .onStop { context in
        guard let heater = context[scratch: Heater.self] else { return }
        var tank = heater.before?.tank ?? heater.tank
        if heater.before == nil { tank.advance(to: context.now) }
        TemperatureAtStop(tank.temperature).store(in: &context)
      }
      .onPowerLoss { context in
        let now = context.now
        context[scratch: Heater.self]?.tank.setHeating(0, at: now)
        context[scratch: Heater.self]?.tank.setFlow(0, at: now)
      }
      .hook(thermostatChanged) { context, _ in
        followSystemMode(&context)
        update(&context)
      }
      .hook(modeChanged) { context, _ in followMode(&context) }
      .hook(measured) { context, temperature in
        let now = context.now
        update(&context) { state in
          state.hasFailed = temperature == .null
          if let value = temperature.wrapped { state.tank.setTemperature(Double(value) / 100, at: now) }
        }
      }
      .hook(paused) { context, isPaused in update(&context) { $0.isPaused = isPaused } }
      .hook(managementStarted) { context, _ in report(&context) }
      .hook(flow) { context, flow in
        let now = context.now
        update(&context) { $0.tank.setFlow(min(flow, flowLimit), at: now) }
      }
      .onPart("tap", [], expected: "open, closed or liters per minute, such as 12.5") {
        (context, text) throws(StatusError) in
        guard let rate = rate(text) else { throw StatusError(.constraintError) }
        context.cancel(.tap)
        let now = context.now
        update(&context) { $0.tank.setFlow(rate, at: now) }
      }
    return [
      tests(boosting(server)),
      ModeServer(WaterHeaterMode.self, modes).make().initial(currentMode, manual)
        .onChange(currentMode) { context in context.call(modeChanged, ()) },
      ThermostatServer.waterHeater(Int16(clamping: Int((settings.tank.temperature * 100).rounded())))
        .onAct(Thermostat.localTemperature) { context, temperature throws(StatusError) in
          let offset = Int(context[Thermostat.localTemperatureCalibration]) * 10
          let raw = temperature.wrapped.map { Int16(clamping: Int($0) - offset) }
          guard WaterTank.temperatures.contains(Double(raw ?? 0) / 100) else { throw StatusError(.constraintError) }
          context.call(measured, Nullable(raw))
        },
    ]
  }

  /// Returns the rate of a tap in liters per minute: `closed`, `open` or a number; nil for another text.
  private static func rate(_ text: String) -> Double? {
    switch text.lowercased() {
    case "closed": return 0
    case "open": return usualFlow
    default:
      guard let rate = Double(text), (0...flowLimit).contains(rate) else { return nil }
      return rate
    }
  }

  // MARK: State

  /// The heater while it has power.
  private struct Heater: Sendable {
    var tank: WaterTank
    let sources: [WaterHeaterSource]
    /// Whether the sensor fails.
    var hasFailed = false
    var isHeating = false
    /// The start of the heating phase; nil without one.
    var heatingSince: Instant?
    /// Whether a client paused the heating.
    var isPaused = false
    var boost: WaterHeaterManagement.WaterHeaterBoostInfoStruct?
    /// Whether the boost has reached its target.
    var hasReachedTarget = false
    /// The state before a simulated installation, during which the water keeps its temperature; nil otherwise.
    var before: Before?

    /// The sources that heat in a heating phase.
    var wanted: [WaterHeaterSource] { boost?.emergencyBoost == true ? sources : Array(sources.prefix(1)) }
    /// The sources that heat now.
    var active: [WaterHeaterSource] { isHeating && !isPaused ? wanted : [] }

    /// Returns the present or the next heating phase; nil for none.
    /// - Parameter target: In degrees Celsius.
    func phase(target: Double, at now: Instant) -> HeatingPhase? {
      let heat = Double(wanted.reduce(0) { $0 + $1.power })
      let power = wanted.electricalPower
      if isHeating {
        return tank.time(to: target, heating: heat).map {
          HeatingPhase(start: heatingSince ?? now, end: now + $0, power: power, isActive: true)
        }
      }
      let lowest = target - hysteresis
      guard let delay = tank.time(to: lowest, heating: 0) else { return nil }
      var later = tank
      later.setTemperature(lowest, at: now + delay)
      return later.time(to: target, heating: heat).map {
        HeatingPhase(start: now + delay, end: now + delay + $0, power: power, isActive: false)
      }
    }
  }

  private struct Before: Sendable {
    let tank: WaterTank
    let setpoint: Int16
    let mode: UInt8
  }

  private static func start(_ settings: WaterHeaterSettings, _ context: inout ServerContext) {
    let now = context.now
    let last = TemperatureAtStop(taking: &context)
    var heater = context[scratch: Heater.self] ?? Heater(tank: settings.tank, sources: settings.sources)
    if context[scratch: Heater.self] == nil {
      heater.tank.skip(to: now)
      let stored = context[stored: temperatureKey].flatMap { try? Int16(tlv: $0) }
      // Without a stored temperature, the definition determines it.
      if let last {
        var tank = settings.tank
        tank.setTemperature(last.celsius, at: .zero)
        tank.advance(to: .zero + last.elapsed)
        heater.tank.setTemperature(tank.temperature, at: now)
      } else if let stored = stored ?? context[Thermostat.localTemperature].wrapped {
        heater.tank.setTemperature(Double(stored) / 100, at: now)
      }
    }
    (heater.boost, heater.isHeating, heater.isPaused) = (nil, false, false)
    context[scratch: Heater.self] = heater
    context.cancel(boostEnd)
    context[Management.boostState] = .inactive
    let isOff = context[currentMode] == off || context[Thermostat.systemMode] == .off
    if context[currentMode] != timed { setMode(isOff ? off : manual, &context) }
    update(&context)
  }

  private static func update(_ context: inout ServerContext, _ change: (inout Heater) -> Void = { _ in }) {
    guard var heater = context[scratch: Heater.self] else { return }
    let now = context.now
    if heater.before == nil { heater.tank.advance(to: now) } else { heater.tank.skip(to: now) }
    change(&heater)
    let target = target(of: heater, context: &context)
    let isDone = decide(&heater, target: target, &context)
    heater.heatingSince = heater.isHeating ? heater.heatingSince ?? now : nil
    heater.tank.setHeating(Double(heater.active.reduce(0) { $0 + $1.power }), at: now)
    context[scratch: Heater.self] = heater
    show(heater, target: target, &context)
    context.schedule(.tick, at: now + interval)
    if isDone { endBoost(&context) }
    report(&context)
  }

  /// Reports the heater to Device Energy Management, which may pause it.
  private static func report(_ context: inout ServerContext) {
    guard let heater = context[scratch: Heater.self] else { return }
    let isOn = !heater.hasFailed && (heater.boost != nil || context[Thermostat.systemMode] == .heat)
    let target = target(of: heater, context: &context) - Double(context[Thermostat.localTemperatureCalibration]) / 10
    let power = heater.active.electricalPower
    report(power, isOn ? heater.phase(target: target, at: context.now) : nil, isFaulty: heater.hasFailed, &context)
  }

  /// Returns the temperature to heat to, in degrees Celsius.
  private static func target(of heater: Heater, context: inout ServerContext) -> Double {
    if let setpoint = heater.boost?.temporarySetpoint { return Double(setpoint) / 100 }
    let isOccupied = context[Thermostat.occupancy].contains(.occupied)
    return Double(
      context[isOccupied ? Thermostat.occupiedHeatingSetpoint : Thermostat.unoccupiedHeatingSetpoint]) / 100
  }

  /// Decides whether to heat.
  /// - Returns: whether a boost that is done once has reached its target.
  private static func decide(_ heater: inout Heater, target: Double, _ context: inout ServerContext) -> Bool {
    guard !heater.hasFailed, heater.boost != nil || context[Thermostat.systemMode] == .heat else {
      heater.isHeating = false
      return false
    }
    let temperature = heater.tank.temperature + Double(context[Thermostat.localTemperatureCalibration]) / 10
    let isReached: Bool
    if let percentage = heater.boost?.targetPercentage {
      let present = heater.tank.percentage(target: target)
      let lowest = heater.hasReachedTarget && !heater.isHeating ? heater.boost?.targetReheat ?? percentage : percentage
      isReached = present >= percentage
      heater.isHeating = present < lowest
    } else {
      isReached = temperature >= target
      let isIdle = !heater.isHeating && (heater.boost == nil || heater.hasReachedTarget)
      heater.isHeating = temperature < target - (isIdle ? hysteresis : 0)
    }
    guard let boost = heater.boost else { return false }
    heater.hasReachedTarget = heater.hasReachedTarget || isReached
    return isReached && boost.oneShot == true
  }

  private static func show(_ heater: Heater, target: Double, _ context: inout ServerContext) {
    let tank = heater.tank
    let active = heater.active.reduce(into: Management.WaterHeaterHeatSource()) { $0.formUnion($1.type) }
    context[Management.heatDemand] = active
    context[Management.tankPercentage] = tank.percentage(target: target)
    context[Management.estimatedHeatRequired] = tank.heatRequired(target: target)
    context[Thermostat.thermostatRunningState] = active.isEmpty ? [] : .heat
    // The thermostat shows tenths of a degree.
    let shown = Int16(clamping: Int((tank.temperature * 10).rounded()) * 10)
    context.call(ThermostatServer.measured, heater.hasFailed ? Nullable<Int16>.null : .value(shown))
    context.passLoad(heater.active.electricalPower)
    let stored = context[stored: temperatureKey].flatMap { try? Int16(tlv: $0) }
    // Whole degrees, to store it rarely.
    if heater.before == nil, stored.map({ abs(Int($0) - Int(shown)) >= 100 }) ?? true {
      context[stored: temperatureKey] = shown.tlv
    }
  }

  // MARK: Modes

  /// Selects the mode that SystemMode requires.
  private static func followSystemMode(_ context: inout ServerContext) {
    let (mode, isOff) = (context[currentMode], context[Thermostat.systemMode] == .off)
    // A schedule of the mode Timed switches the thermostat off.
    if mode == manual, isOff { context[currentMode] = off }
    if mode == off, !isOff { context[currentMode] = manual }
  }

  private static func followMode(_ context: inout ServerContext) {
    let mode = context[currentMode]
    context[Thermostat.systemMode] = mode == off ? .off : .heat
    context.call(ThermostatServer.modeChanged, ())
    update(&context)
  }

  private static func setMode(_ mode: UInt8, _ context: inout ServerContext) {
    context[currentMode] = mode
    followMode(&context)
  }

  // MARK: Boost

  private static func boosting(_ server: ClusterServer) -> ClusterServer {
    server
      .on(Management.boost) { context, request throws(StatusError) in
        let boost = request.boostInfo
        try check(boost, &context)
        context[Management.boostState] = .active
        context.emit(Management.boostStarted, .init(boostInfo: boost))
        context.schedule(boostEnd, at: context.now + .seconds(Int64(boost.duration)))
        update(&context) { ($0.boost, $0.hasReachedTarget, $0.isHeating) = (boost, false, false) }
      }
      .on(Management.cancelBoost) { context, _ in endBoost(&context) }
      .onPoweredTimer(boostEnd) { endBoost(&$0) }
  }

  /// Checks the fields of a boost. Application Clusters § 9.5.6.3.
  private static func check(
    _ boost: WaterHeaterManagement.WaterHeaterBoostInfoStruct, _ context: inout ServerContext
  ) throws(StatusError) {
    // OneShot excludes TargetReheat, which requires TargetPercentage.
    guard boost.targetReheat == nil || boost.oneShot == nil && boost.targetPercentage != nil else {
      throw StatusError(.invalidCommand)
    }
    let percentage = boost.targetPercentage ?? 100
    guard boost.duration >= 1, percentage <= 100, boost.targetReheat ?? 0 <= percentage else {
      throw StatusError(.constraintError)
    }
    if let setpoint = boost.temporarySetpoint {
      guard context.thermostatSetpoints.heat?.allows(Int(setpoint)) == true else {
        throw StatusError(.constraintError)
      }
    }
  }

  private static func endBoost(_ context: inout ServerContext) {
    guard context[scratch: Heater.self]?.boost != nil else { return }
    context.cancel(boostEnd)
    context[Management.boostState] = .inactive
    context.emit(Management.boostEnded, NoFields())
    update(&context) { ($0.boost, $0.isHeating) = (nil, false) }
  }

  // MARK: Test events

  private static func tests(_ server: ClusterServer) -> ClusterServer {
    let temperatures = [(2 as UInt32, 20), (3, 61), (4, 66)]
    return temperatures.reduce(server) { server, test in
      server.onTest(test.0, "waterTemperature\(test.1)") { context in
        context.call(measured, .value(Int16(test.1 * 100)))
      }
    }
    .onTest(0, "basicInstallation") { context in install(&context) }
    .onTest(1, "basicInstallationClear") { context in endInstallation(&context) }
    .onTest(5, "manualMode") { context in setMode(manual, &context) }
    .onTest(6, "offMode") { context in setMode(off, &context) }
    .onTest(7, "drawOffHotWater") { context in
      let now = context.now
      update(&context) { $0.tank.draw(share: 0.25, at: now) }
    }
  }

  /// Simulates an installation: a tank of 100 l at 20 °C, with a set point of 60 °C and in the mode Off.
  private static func install(_ context: inout ServerContext) {
    guard let heater = context[scratch: Heater.self] else { return }
    endBoost(&context)
    let (now, setpoint) = (context.now, context[Thermostat.occupiedHeatingSetpoint])
    let before = heater.before ?? Before(tank: heater.tank, setpoint: setpoint, mode: context[currentMode])
    setMode(off, &context)
    context[Management.tankVolume] = 100
    context[Thermostat.occupiedHeatingSetpoint] = Int16(
      clamping: context.thermostatSetpoints.heat?.clamped(6000) ?? 6000)
    update(&context) { state in
      (state.before, state.hasFailed) = (before, false)
      state.tank = WaterTank(volume: 100, temperature: 20, cold: 20, loss: 0, at: now)
    }
  }

  private static func endInstallation(_ context: inout ServerContext) {
    guard let before = context[scratch: Heater.self]?.before else { return }
    endBoost(&context)
    let now = context.now
    context[Management.tankVolume] = UInt16(min(max(before.tank.volume, 1), 65_535))
    context[Thermostat.occupiedHeatingSetpoint] = before.setpoint
    update(&context) { state in
      (state.before, state.tank) = (nil, before.tank)
      state.tank.skip(to: now)
    }
    setMode(before.mode, &context)
  }
}
