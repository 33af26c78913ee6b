package import HomeModel
internal import MatterClusters

extension DeviceState {
  /// One value of a sensor, an alarm, an appliance, a lock, a thermostat, a covering, a fan or a valve.
  package struct Reading: Hashable, Sendable {
    package var cluster: ClusterID
    package var attribute: AttributeID
    /// The TLV element of the attribute, with an anonymous tag.
    package var value: [UInt8]
    /// A short text: "21.5 °C", "locked", "open 40%".
    package var text: String
  }
}

extension DeviceState.Reading {
  /// Returns the known readings of an endpoint, in the order of a table.
  package static func all(of endpoint: DeviceEndpoint, _ values: NodeValues) -> [DeviceState.Reading] {
    var source = ReadingSource(endpoint: endpoint, values: values)
    source.addAlarm()
    source.addAppliance(OperationalState.operationalState, OperationalState.phaseList, OperationalState.currentPhase)
    source.addAppliance(
      OvenCavityOperationalState.operationalState, OvenCavityOperationalState.phaseList,
      OvenCavityOperationalState.currentPhase)
    source.addAppliance(
      RvcOperationalState.operationalState, RvcOperationalState.phaseList, RvcOperationalState.currentPhase)
    source.addSensors()
    source.addLock()
    source.addThermostat()
    source.addWaterHeater()
    source.addCovering()
    source.addClosure()
    source.addFan()
    source.addValve()
    source.addStation()
    source.addEnergy()
    source.addTariff()
    source.addMode()
    source.addPlayer()
    return source.readings
  }
}

/// Collects the readings of an endpoint.
private struct ReadingSource {
  let endpoint: DeviceEndpoint
  let values: NodeValues
  var readings: [DeviceState.Reading] = []

  /// - Parameter text: returns the text; nil omits the reading.
  private mutating func add<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, _ text: (Value) -> String?
  ) {
    let path = attribute.path(on: endpoint.id)
    guard let bytes = values[path], let value = try? Value(tlv: bytes), let words = text(value) else { return }
    readings.append(.init(cluster: C.id, attribute: attribute.id, value: bytes, text: words))
  }

  /// Adds a reading with its unit.
  private mutating func add<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, prefix: String = "", suffix: String = ""
  ) {
    let path = attribute.path(on: endpoint.id)
    add(attribute) { value in AttributeUnits.text(path, value.tlv).map { prefix + $0 + suffix } }
  }

  private func value<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>) -> Value? {
    values.value(attribute, on: endpoint.id)
  }

  /// Returns the name of a code as words; the kind and number of an unknown one.
  private static func words(_ code: some WireCode, _ kind: String) -> String {
    code.isKnown ? code.words : "\(kind) \(code.rawValue)"
  }

  mutating func addAlarm() {
    add(SmokeCoAlarm.expressedState) { Self.words($0, "alarm state") }
    add(AirQuality.airQuality) { $0 == .unknown ? nil : Self.words($0, "quality") + " air" }
  }

  /// - Parameters: the attributes of a cluster that derives from Operational State.
  mutating func addAppliance<C: Cluster, State: WireCode>(
    _ state: Attribute<C, State>, _ phases: Attribute<C, Nullable<[String]>>, _ phase: Attribute<C, Nullable<UInt8>>
  ) where State.RawValue == UInt8 {
    let (names, current) = (value(phases)?.wrapped ?? [], value(phase)?.wrapped)
    add(state) { OperationalState.words($0.rawValue, names, current) }
  }

  mutating func addSensors() {
    add(TemperatureMeasurement.measuredValue)
    add(RelativeHumidityMeasurement.measuredValue, suffix: " humidity")
    add(SoilMeasurement.soilMoistureMeasuredValue, suffix: " soil moisture")
    add(IlluminanceMeasurement.measuredValue)
    add(PressureMeasurement.measuredValue)
    add(FlowMeasurement.measuredValue)
    add(OccupancySensing.occupancy) { $0.contains(.occupied) ? "occupied" : "unoccupied" }
    let words = endpoint.deviceTypes.lazy.compactMap(BooleanState.words).first
    add(BooleanState.stateValue) { value in words.map { value ? $0.whenTrue : $0.whenFalse } ?? "\(value)" }
  }

  mutating func addLock() {
    add(DoorLock.lockState) { $0.wrapped.map { Self.words($0, "lock state") } }
    add(DoorLock.doorState) { $0.wrapped.map { Self.words($0, "door state") } }
  }

  mutating func addThermostat() {
    add(Thermostat.localTemperature)
    guard let mode = value(Thermostat.systemMode) else { return }
    add(Thermostat.systemMode) { Self.words($0, "mode") }
    let heats = mode == .heat || mode == .emergencyHeat || mode == .auto
    let cools = mode == .cool || mode == .precooling || mode == .auto
    if heats { add(Thermostat.occupiedHeatingSetpoint, prefix: mode == .auto ? "heat to " : "to ") }
    if cools { add(Thermostat.occupiedCoolingSetpoint, prefix: mode == .auto ? "cool to " : "to ") }
    add(Thermostat.piHeatingDemand) { $0 > 0 ? "heating \($0)%" : nil }
  }

  mutating func addWaterHeater() {
    add(WaterHeaterManagement.tankPercentage, suffix: " hot water")
    add(WaterHeaterManagement.boostState) { $0 == .active ? "boost" : nil }
  }

  mutating func addCovering() {
    addPosition(WindowCovering.currentPositionLiftPercent100ths, WindowCovering.currentPositionLiftPercentage)
    addPosition(
      WindowCovering.currentPositionTiltPercent100ths, WindowCovering.currentPositionTiltPercentage, prefix: "tilt ")
  }

  /// Adds a position, by the more precise attribute if it is known. 100% is closed. Application Clusters § 5.3.6.
  private mutating func addPosition(
    _ precise: Attribute<WindowCovering, Nullable<UInt16>>, _ coarse: Attribute<WindowCovering, Nullable<UInt8>>,
    prefix: String = ""
  ) {
    func text(_ percent: Double) -> String {
      switch percent {
      case ...0: "\(prefix)open"
      case 100...: "\(prefix)closed"
      default: "\(prefix)\(Int(percent.rounded()))% closed"
      }
    }
    if value(precise)?.wrapped != nil {
      add(precise) { $0.wrapped.map { text(Double($0) / 100) } }
    } else {
      add(coarse) { $0.wrapped.map { text(Double($0)) } }
    }
  }

  mutating func addClosure() {
    add(ClosureControl.overallCurrentState) { $0.wrapped.map(ClosureControl.words) }
    let errors = value(ClosureControl.currentErrorList) ?? []
    add(ClosureControl.mainState) { ClosureControl.words($0, errors) }
  }

  mutating func addValve() {
    add(ValveConfigurationAndControl.currentState) { $0.wrapped.map { Self.words($0, "valve state") } }
    guard value(ValveConfigurationAndControl.currentState) == .value(.open) else { return }
    add(ValveConfigurationAndControl.currentLevel)
  }

  mutating func addStation() {
    add(EnergyEvse.state) { $0.wrapped.map { Self.words($0, "charging state") } }
  }

  mutating func addEnergy() {
    add(ElectricalPowerMeasurement.activePower)
    add(PowerSource.batPercentRemaining, prefix: "battery ")
  }

  mutating func addTariff() {
    let currency = value(CommodityPrice.currency)?.wrapped
    add(CommodityPrice.currentPrice) { $0.wrapped?.text(in: currency) }
  }

  mutating func addMode() {
    let sounds = value(Chime.installedChimeSounds) ?? []
    add(Chime.selectedChime) { chime in sounds.first { $0.chimeID == chime }?.name ?? "sound \(chime)" }
    add(Chime.enabled) { $0 ? nil : "disabled" }
    let modes = value(ModeSelect.supportedModes) ?? []
    add(ModeSelect.currentMode) { mode in modes.first { $0.mode == mode }?.label ?? "mode \(mode)" }
  }

  mutating func addPlayer() {
    guard value(OnOff.onOff) != false else { return }
    let speed = value(MediaPlayback.playbackSpeed)
    add(MediaPlayback.currentState) { MediaPlayback.words($0, speed) }
    add(Channel.currentChannel) { channel in
      channel.wrapped.map { $0.name ?? "channel \($0.majorNumber).\($0.minorNumber)" }
    }
  }

  mutating func addFan() {
    add(FanControl.fanMode) { "fan " + Self.words($0, "mode") }
    guard value(FanControl.fanMode) != .off else { return }
    add(FanControl.percentCurrent) { "\($0)%" }
  }
}
