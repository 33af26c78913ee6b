public import MatterClusters
public import MatterModel
import MatterProtocol

/// The Thermostat server with occupancy, presets and schedules. It switches heating and cooling by the temperature that
/// the device measures, as ThermostatRunningState shows. Application Clusters § 4.3.
public enum ThermostatServer {
  /// Reports the measured temperature in hundredths of a degree, before its calibration; null if the sensor fails.
  public static let measured = ServerHook<Thermostat, Nullable<Int16>>("measured")
  /// Reports that the device was switched on or off, or that the setting of its fan changed.
  static let switched = ServerHook<Thermostat, Void>("switched")
  /// Reports that the device began or ceased to follow its schedules.
  static let modeChanged = ServerHook<Thermostat, Void>("modeChanged")

  /// The temperatures from absolute zero on, in hundredths of a degree.
  private static let temperatures: ClosedRange<Int64> = -27_315...32_767

  /// Returns the server.
  /// - Parameters:
  ///   - heats: Whether the thermostat can heat.
  ///   - cools: Whether it can cool. It does at least one of both.
  ///   - hasFan: Whether it can also run a fan alone.
  public static func make(heats: Bool = true, cools: Bool = true, hasFan: Bool = false) -> ClusterServer {
    make(heats: heats, cools: cools, hasFan: hasFan, .room).initial(Thermostat.outdoorTemperature, .value(1000))
      .limiting(Thermostat.outdoorTemperature, to: temperatures)
  }

  /// Returns the server of a radiator's valve: it opens the valve as far as PIHeatingDemand.
  public static func radiator() -> ClusterServer {
    make(heats: true, cools: false).deriving(Thermostat.piHeatingDemand)
  }

  /// Returns the server of a water heater, which decides itself when to heat.
  /// - Parameter temperature: The temperature of the water at the start, in hundredths of a degree.
  static func waterHeater(_ temperature: Int16) -> ClusterServer {
    make(heats: true, cools: false, hasFan: false, .water).initial(Thermostat.localTemperature, .value(temperature))
      .limiting(Thermostat.localTemperature, to: 0...10_000)
      .hook(modeChanged) { context, _ in ThermostatSchedules.restart(&context) }
  }

  private static func make(heats: Bool, cools: Bool, hasFan: Bool, _ range: ThermostatRange) -> ClusterServer {
    let sides = (heats ? [ThermostatSetpoints.Side.heat] : []) + (cools ? [.cool] : [])
    var features = [
      Thermostat.occupancyFeature, Thermostat.presetsFeature, Thermostat.matterScheduleConfiguration,
    ]
    if heats { features.append(Thermostat.heating) }
    if cools { features.append(Thermostat.cooling) }
    if heats && cools { features.append(Thermostat.autoMode) }
    let modes =
      [Thermostat.SystemMode.off] + (heats ? [.heat] : []) + (cools ? [.cool] : [])
      + (heats && cools ? [.auto] : []) + (hasFan ? [.fanOnly] : [])
    var server = ClusterServer(Thermostat.self, features: features)
      .initial(Thermostat.localTemperature, .value(2000))
      .initial(
        Thermostat.controlSequenceOfOperation, heats && cools ? .coolingAndHeating : heats ? .heatingOnly : .coolingOnly
      )
      .initial(Thermostat.systemMode, heats && cools ? .auto : heats ? .heat : .cool)
      .serving(
        Thermostat.localTemperatureCalibration, Thermostat.setpointChangeSource, Thermostat.setpointChangeAmount,
        Thermostat.setpointChangeSourceTimestamp, Thermostat.temperatureSetpointHold,
        Thermostat.temperatureSetpointHoldDuration, Thermostat.setpointHoldExpiryTimestamp
      )
      .deriving(Thermostat.thermostatRunningState)
      .on(Thermostat.setpointRaiseLower, raiseOrLower)
      .limiting(Thermostat.systemMode, to: modes)
      .limiting(Thermostat.localTemperature, to: temperatures)
      // Writes have no effect (§ 4.3.9.24).
      .onWrite(Thermostat.controlSequenceOfOperation) { context, sequence throws(StatusError) in
        sequence = context[Thermostat.controlSequenceOfOperation]
      }
      .hook(measured) { context, temperature in
        context[scratch: Measured.self] = Measured(temperature: temperature)
        calibrate(&context)
        // The demand depends on the time.
        if context.serves(Thermostat.piHeatingDemand) { decide(&context) }
      }
      .hook(switched) { context, _ in decide(&context) }
      .onChange(Thermostat.localTemperatureCalibration, calibrate)
      .onChange(Thermostat.localTemperature, decide)
      .onChange(Thermostat.systemMode, decide)
      .onChange(Thermostat.occupancy, decide)
      .onChange(Thermostat.temperatureSetpointHold) { context in hold(&context) }
      .onChange(Thermostat.temperatureSetpointHoldDuration) { context in hold(&context) }
      .onTimer(.setpointHoldEnd) { context in context[Thermostat.temperatureSetpointHold] = .setpointHoldOff }
      .onStart { context in
        hold(untilStoredEnd: true, &context)
        decide(&context)
      }
    if heats && cools {
      server =
        server
        .deriving(Thermostat.thermostatRunningMode)
        // Writes have no effect (§ 4.3.9.22).
        .onWrite(Thermostat.minSetpointDeadBand) { context, band throws(StatusError) in
          band = context[Thermostat.minSetpointDeadBand]
        }
    }
    for side in sides { server = serve(side, range, server) }
    server = ThermostatPresets.serve(sides, range, server)
    server = ThermostatSchedules.serve(modes.filter { $0 != .off && $0 != .fanOnly }, server)
    return ThermostatAtomicWrite.serve(server)
  }

  private static func serve(
    _ side: ThermostatSetpoints.Side, _ range: ThermostatRange, _ server: ClusterServer
  ) -> ClusterServer {
    let attributes = ThermostatSideAttributes.of(side)
    let limits: ClosedRange<Int16> = side == .heat ? range.heating : 1600...3200
    var server =
      server
      .initial(attributes.absoluteLowest, limits.lowerBound)
      .initial(attributes.absoluteHighest, limits.upperBound)
      .initial(attributes.lowest, limits.lowerBound)
      .initial(attributes.highest, limits.upperBound)
      .initial(attributes.occupied, side == .heat ? range.occupied : 2600)
      .initial(attributes.unoccupied, side == .heat ? range.unoccupied : 2800)
      .limiting(attributes.lowest, from: attributes.absoluteLowest, to: attributes.absoluteHighest)
      .limiting(attributes.highest, from: attributes.absoluteLowest, to: attributes.absoluteHighest)
    for setpoint in [attributes.occupied, attributes.unoccupied] {
      server = server.limiting(setpoint, from: attributes.lowest, to: attributes.highest)
    }
    for (attribute, member) in attributes.members {
      server =
        server
        .onWrite(attribute) { context, value throws(StatusError) in
          var setpoints = context.thermostatSetpoints
          try setpoints.set(member, of: side, to: Int(value))
          apply(setpoints, .external, &context)
        }
        .onAct(attribute) { context, value in
          var setpoints = context.thermostatSetpoints
          // A device ignores a turn of its knob that it can't follow.
          if (try? setpoints.set(member, of: side, to: Int(value))) != nil { apply(setpoints, .manual, &context) }
        }
    }
    return server
  }

  // MARK: Set points

  private static func raiseOrLower(
    _ context: inout ServerContext, _ request: Thermostat.SetpointRaiseLowerRequest
  ) throws(StatusError) {
    let sides: [ThermostatSetpoints.Side] =
      switch request.mode {
      case .heat: [.heat]
      case .cool: [.cool]
      case .both: [.heat, .cool]
      default: throw StatusError(.constraintError)
      }
    var setpoints = context.thermostatSetpoints
    try setpoints.step(sides, by: Int(request.amount) * 10)
    apply(setpoints, context.subject.kind == .device ? .manual : .external, &context)
  }

  /// Changes the set points and the attributes that describe the change.
  /// - Parameter preset: The preset that has these set points. Any other change deactivates the active preset.
  static func apply(
    _ setpoints: ThermostatSetpoints, _ source: Thermostat.SetpointChangeSource, preset: OctetString? = nil,
    _ context: inout ServerContext
  ) {
    let old = context.thermostatSetpoints
    context.thermostatSetpoints = setpoints
    let amounts = ThermostatSetpoints.Side.allCases.flatMap { side -> [Int] in
      guard let old = old[side], let new = setpoints[side] else { return [] }
      return [new.occupied - old.occupied, new.unoccupied - old.unoccupied]
    }
    if let amount = amounts.first(where: { $0 != 0 }) {
      context[Thermostat.setpointChangeSource] = source
      context[Thermostat.setpointChangeAmount] = .value(Int16(clamping: amount))
      context[Thermostat.setpointChangeSourceTimestamp] = context.epochSeconds ?? 0
      if preset == nil { context[Thermostat.activePresetHandle] = .null }
    }
    if let preset { context[Thermostat.activePresetHandle] = .value(preset) }
    decide(&context)
  }

  // MARK: Control

  private struct Measured: Sendable { var temperature: Nullable<Int16> }

  private static func calibrate(_ context: inout ServerContext) {
    guard let measured = context[scratch: Measured.self] else { return }
    let offset = Int(context[Thermostat.localTemperatureCalibration]) * 10
    context[Thermostat.localTemperature] = Nullable(
      measured.temperature.wrapped.map { Int16(clamping: Int($0) + offset) })
  }

  /// Switches heating, cooling and the fan.
  private static func decide(_ context: inout ServerContext) {
    if context.call(WaterHeaterServer.thermostatChanged, ()) { return }
    let setpoints = context.thermostatSetpoints
    let isOccupied = context[Thermostat.occupancy].contains(.occupied)
    let mode = context.value(OnOff.onOff) == false ? .off : context[Thermostat.systemMode]
    let heat = mode == .heat || mode == .auto ? setpoints.heat.map { isOccupied ? $0.occupied : $0.unoccupied } : nil
    let cool = mode == .cool || mode == .auto ? setpoints.cool.map { isOccupied ? $0.occupied : $0.unoccupied } : nil
    let temperature = context[Thermostat.localTemperature].wrapped.map { Int($0) }
    if context.serves(Thermostat.piHeatingDemand) { return openValve(temperature, setpoint: heat, &context) }
    var control = context[scratch: ThermostatControl.self, default: ThermostatControl()]
    control.advance(to: temperature, heat: heat, cool: cool)
    context[scratch: ThermostatControl.self] = control
    // The farther from the set point, the faster the fan in the mode Auto: 50 percent for each degree.
    let distance = abs((temperature ?? 0) - ((control.action == .heat ? heat : cool) ?? 0))
    let isIdle = control.action == .idle
    context.call(
      FanControlServer.automatic,
      isIdle ? (mode == .fanOnly ? 20 : 0) : UInt8(clamping: max(20, min(100, distance / 2))))
    var relays: Thermostat.RelayState = control.action == .heat ? .heat : control.action == .cool ? .cool : []
    if let speed = context.value(FanControl.percentCurrent) {
      // Without its fan, the device neither heats nor cools.
      if speed == 0 { relays = [] } else { relays.insert(.fan) }
    }
    context[Thermostat.thermostatRunningState] = relays
    context[Thermostat.thermostatRunningMode] =
      relays.contains(.heat) ? .heat : relays.contains(.cool) ? .cool : .off
  }

  private static func openValve(_ temperature: Int?, setpoint: Int?, _ context: inout ServerContext) {
    var valve = context[scratch: ThermostatValve.self, default: ThermostatValve()]
    valve.advance(to: temperature, setpoint: setpoint, at: context.now)
    context[scratch: ThermostatValve.self] = valve
    context[Thermostat.piHeatingDemand] = valve.demand
    context[Thermostat.thermostatRunningState] = valve.demand > 0 ? .heat : []
  }

  // MARK: Hold

  /// Begins or ends the time for which the thermostat does not follow its schedule.
  private static func hold(untilStoredEnd: Bool = false, _ context: inout ServerContext) {
    context.cancel(.setpointHoldEnd)
    let isHeld = context[Thermostat.temperatureSetpointHold] == .setpointHoldOn
    guard isHeld, let minutes = context[Thermostat.temperatureSetpointHoldDuration].wrapped else {
      context[Thermostat.setpointHoldExpiryTimestamp] = .null
      ThermostatSchedules.follow(&context)
      return
    }
    var rest = Int64(minutes) * 60
    let now = context.epochSeconds.map { Int64($0) }
    if untilStoredEnd, let now, let end = context[Thermostat.setpointHoldExpiryTimestamp].wrapped {
      rest = min(rest, max(0, Int64(end) - now))
    }
    context[Thermostat.setpointHoldExpiryTimestamp] = Nullable(now.map { UInt32(clamping: $0 + rest) })
    context.schedule(.setpointHoldEnd, at: context.now + .seconds(rest))
  }
}

/// The limits and the usual values of the set points for heating, in hundredths of a degree.
struct ThermostatRange: Sendable {
  let heating: ClosedRange<Int16>
  let occupied, unoccupied: Int16

  static let room = ThermostatRange(heating: 700...3000, occupied: 2000, unoccupied: 1600)
  static let water = ThermostatRange(heating: 3000...7500, occupied: 5500, unoccupied: 4000)
}

/// The Thermostat User Interface Configuration server: the unit of the display, and the lock of the keypad.
public enum ThermostatUserInterfaceServer {
  /// Returns a server whose settings survive a restart.
  public static func make() -> ClusterServer {
    ClusterServer(ThermostatUserInterfaceConfiguration.self)
      .storing(ThermostatUserInterfaceConfiguration.temperatureDisplayMode)
      .storing(ThermostatUserInterfaceConfiguration.keypadLockout)
      .storing(ThermostatUserInterfaceConfiguration.scheduleProgrammingVisibility)
  }
}
