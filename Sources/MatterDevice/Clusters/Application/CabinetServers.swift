internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

// Parts of appliances with a temperature of their own: compartments, cavities, surfaces.
extension ApplianceServers {
  /// The temperature of the room, in degrees Celsius.
  private static let room = 21.0

  /// What determines the temperature of a cabinet may have changed.
  static let targetChanged = ServerHook<TemperatureMeasurement, NoFields>("targetChanged")

  /// Whether the door of a cabinet is open.
  private struct Door: Sendable { var isOpen = false }

  /// Returns Temperature Measurement of a cabinet. Application Clusters § 2.3.
  /// - Parameters:
  ///   - initial: The temperature at the start, in degrees Celsius.
  ///   - insulation: The time constant towards the temperature of the room without power.
  ///   - target: Returns the temperature that the cabinet approaches, and its time constant.
  ///   - moved: Runs after the door was moved; nil for a cabinet without a door.
  static func cabinetTemperature(
    _ initial: Double, insulation: Duration, moved: (@Sendable (inout ServerContext, String) -> Void)? = nil,
    _ target: @escaping @Sendable (inout ServerContext) -> (celsius: Double, constant: Duration)
  ) -> ClusterServer {
    let measure: @Sendable (inout ServerContext) -> Void = { context in
      guard context.hasPower else { return }
      let now = context.now
      let isOpen = context[scratch: Door.self, default: Door()].isOpen
      let (celsius, constant) = isOpen ? (room, openConstant) : target(&context)
      var temperature = temperature(at: now, &context)
      temperature.approach(celsius, timeConstant: constant, at: now)
      context[scratch: CabinetTemperature.self] = temperature
      // Tenths of a degree.
      context[TemperatureMeasurement.measuredValue] = .value(
        Int16(clamping: Int((temperature.value * 10).rounded()) * 10))
      context.cancel(.tick)
      if !temperature.isSettled { context.schedule(.tick, at: now + max(.seconds(10), constant / 60)) }
    }
    let server = ClusterServer(TemperatureMeasurement.self)
      .initial(TemperatureMeasurement.measuredValue, .value(Int16(clamping: Int(initial * 100))))
      .initial(TemperatureMeasurement.minMeasuredValue, .value(-4000))
      .initial(TemperatureMeasurement.maxMeasuredValue, .value(30_000))
      .limiting(
        TemperatureMeasurement.measuredValue, from: TemperatureMeasurement.minMeasuredValue,
        to: TemperatureMeasurement.maxMeasuredValue
      )
      .onStart { context in
        measure(&context)
        // That of an earlier stop, if the power of a bridged device returned.
        _ = TemperatureAtStop(taking: &context)
      }
      .onTimer(.tick, measure)
      .onStop { context in
        let now = context.now
        var temperature = temperature(at: now, &context)
        temperature.advance(to: now)
        let isOpen = context[scratch: Door.self]?.isOpen == true
        TemperatureAtStop(temperature.value, timeConstant: isOpen ? openConstant : insulation).store(in: &context)
      }
      .onPowerLoss { context in
        let now = context.now
        var temperature = temperature(at: now, &context)
        let isOpen = context[scratch: Door.self]?.isOpen == true
        temperature.approach(room, timeConstant: isOpen ? openConstant : insulation, at: now)
        context[scratch: CabinetTemperature.self] = temperature
      }
      .hook(targetChanged) { context, _ in measure(&context) }
      .onAct(TemperatureMeasurement.measuredValue) { context, value throws(StatusError) in
        guard let value = value.wrapped else { throw StatusError(.constraintError) }
        let temperature = CabinetTemperature(Double(value) / 100, at: context.now)
        context[scratch: CabinetTemperature.self] = temperature
        measure(&context)
      }
    guard let moved else { return server }
    return server.onPart("door", ["closed", "open"]) { context, state throws(StatusError) in
      context[scratch: Door.self] = Door(isOpen: state == "open")
      measure(&context)
      moved(&context, state)
    }
  }

  /// The time constant towards the temperature of the room while the door is open.
  private static let openConstant = Duration.seconds(600)

  /// Returns the temperature of a cabinet. At the start, it has approached that of the room since the last stop; without
  /// a stop, it is that of the attribute.
  private static func temperature(at now: Instant, _ context: inout ServerContext) -> CabinetTemperature {
    if let temperature = context[scratch: CabinetTemperature.self] { return temperature }
    if let last = TemperatureAtStop(taking: &context) {
      var temperature = CabinetTemperature(last.celsius, at: .zero)
      temperature.approach(room, timeConstant: last.timeConstant, at: .zero)
      temperature.advance(to: .zero + last.elapsed)
      return CabinetTemperature(temperature.value, at: now)
    }
    return CabinetTemperature(
      context[TemperatureMeasurement.measuredValue].wrapped.map { Double($0) / 100 } ?? room, at: now)
  }

  /// Returns the server with a set point that the temperature of the endpoint follows.
  private static func reportingTarget(_ server: ClusterServer) -> ClusterServer {
    server.onChange(TemperatureControl.temperatureSetpoint) { context in context.call(targetChanged, NoFields()) }
  }

  private static func setpoint(_ context: inout ServerContext) -> Double {
    Double(context[TemperatureControl.temperatureSetpoint]) / 100
  }

  // MARK: Refrigerator

  private typealias CoolingMode = RefrigeratorAndTemperatureControlledCabinetMode

  /// Returns the servers of a refrigerator besides its compartments.
  public static func refrigerator(_ program: ApplianceProgram) -> [ClusterServer] {
    let mode = ModeServer(RefrigeratorAndTemperatureControlledCabinetMode.self, program.modes).make()
      .onChange(ModeBase<CoolingMode>.currentMode) { context in
        for part in context.parts { context.call(targetChanged, NoFields(), on: part) }
      }
    let alarm = AlarmServer(
      RefrigeratorAlarm.self,
      [
        .init(
          "door", ["closed", "open"], when: "open", bit: RefrigeratorAlarm.Alarm.doorOpen.rawValue,
          after: program.doorAlarm, isOfParts: true)
      ])
    return [mode, alarm.make()]
  }

  /// Returns the servers of a compartment of a refrigerator with these modes.
  public static func compartment(_ cabinet: ApplianceCabinet, _ modes: [ApplianceMode]) -> [ClusterServer] {
    let rapid =
      cabinet.isFreezer ? CoolingMode.ModeTag.rapidFreeze.rawValue : CoolingMode.ModeTag.rapidCool.rawValue
    return [
      reportingTarget(temperatureSetpoint(cabinet.range, step: 100, cabinet.setpoint)),
      cabinetTemperature(
        Double(cabinet.setpoint) / 100, insulation: .seconds(14_400),
        moved: { context, state in
          guard let whole = context.parent else { return }
          let door = PartMove(part: "door", state: state, endpoint: context.endpoint)
          context.call(AlarmServer<RefrigeratorAlarm>.partMoved, door, on: whole)
        }
      ) { context in
        let mode = context.parent.flatMap { context.value(ModeBase<CoolingMode>.currentMode, on: $0) }
        let isRapid = mode.map { modes.indices.contains(Int($0)) && modes[Int($0)].tags.contains(rapid) } ?? false
        return (isRapid ? Double(cabinet.range.lowerBound) / 100 : setpoint(&context), .seconds(1800))
      },
    ]
  }

  // MARK: Oven and cooktop

  /// The time constants of a cavity and of a surface that cool down.
  private static let ovenConstant = Duration.seconds(1800), surfaceConstant = Duration.seconds(600)

  /// Returns the servers of the cavity of an oven, which is hot during a run.
  public static func ovenCavity(_ cabinet: ApplianceCabinet, _ program: ApplianceProgram) -> [ClusterServer] {
    running(
      OvenCavityOperationalState.self, OvenMode.self, program, [],
      onChange: { context, _ in context.call(targetChanged, NoFields()) })
      + [
        reportingTarget(temperatureSetpoint(cabinet.range, step: 500, cabinet.setpoint)),
        cabinetTemperature(room, insulation: ovenConstant, moved: { _, _ in }) { context in
          let isHot = context[OvenCavityOperationalState.operationalState] == .running
          return isHot ? (setpoint(&context), .seconds(240)) : (room, ovenConstant)
        },
      ]
  }

  /// Returns the server of a cooktop, which switches all of its surfaces off. Application Clusters § 1.5, Device Library
  /// § 12.6.
  public static func cooktop() -> [ClusterServer] {
    [
      OnOffServer.make(features: [OnOff.offOnly]).onChange(OnOff.onOff) { context in
        guard !context[OnOff.onOff] else { return }
        for part in context.parts { context[OnOff.onOff, on: part] = false }
      }
    ]
  }

  /// Switches the cooktop on if its surface is on.
  @Sendable private static func switchWhole(_ context: inout ServerContext) {
    if context[OnOff.onOff], let whole = context.parent { context[OnOff.onOff, on: whole] = true }
  }

  /// Returns the servers of a surface of a cooktop, which is hot while it is on.
  public static func cookSurface() -> [ClusterServer] {
    let levels = [("Warm", 60.0), ("Low", 100), ("Medium", 150), ("High", 230)]
    return [
      OnOffServer.make(features: [OnOff.offOnly]).onStart(switchWhole).onChange(OnOff.onOff) { context in
        switchWhole(&context)
        context.call(targetChanged, NoFields())
      },
      temperatureLevels(levels.map(\.0), selected: 1, of: OperationalState.self)
        .onChange(TemperatureControl.selectedTemperatureLevel) { context in context.call(targetChanged, NoFields()) },
      cabinetTemperature(room, insulation: surfaceConstant) { context in
        let level = Int(context[TemperatureControl.selectedTemperatureLevel])
        guard context[OnOff.onOff], levels.indices.contains(level) else { return (room, surfaceConstant) }
        return (levels[level].1, .seconds(60))
      },
    ]
  }
}

extension ServerContext {
  /// The endpoints that the handler's own endpoint consists of.
  var parts: [EndpointID] {
    let endpoint = endpoint
    return node.endpoint(endpoint)?.parts ?? []
  }
}
