internal import MatterClusters
package import MatterModel
package import MatterProtocol

// The conversion of states in QUERY and EXECUTE responses to attributes of Matter.

extension CloudNode {
  /// The attributes of the node for the states of its devices, by their ids; nil if all are offline. If one of several
  /// is offline, its Reachable attribute says so.
  package func attributes(_ states: [String: CloudJSON]) -> [AttributeData]? {
    func isOnline(_ part: CloudPart) -> Bool { states[part.device.id].map(CloudIntent.isOnline) ?? false }
    guard parts.values.contains(where: isOnline) else { return nil }
    var table = CloudAttributeTable()
    var attributes: [AttributeData] = []
    for (endpoint, part) in orderedParts {
      if parts.count > 1 { table.set(BridgedDeviceBasicInformation.reachable, isOnline(part), on: endpoint) }
      guard isOnline(part), let state = states[part.device.id] else { continue }
      attributes += self.attributes(state, of: part, on: endpoint)
    }
    return table.attributes + attributes
  }

  /// The attributes for the state of one of its devices.
  package func attributes(_ state: CloudJSON, of part: CloudPart, on endpoint: EndpointID) -> [AttributeData] {
    let all = part.attributes(state, on: endpoint)
    return endpoint == batteryEndpoint ? all : all.filter { $0.path.cluster != PowerSource.id }
  }
}

extension CloudPart {
  /// The attributes for a state; members without a counterpart, and invalid ones, are ignored.
  package func attributes(_ state: CloudJSON, on endpoint: EndpointID) -> [AttributeData] {
    var table = CloudAttributeTable()
    for cluster in device.matter.clusters {
      switch cluster.id {
      case OnOff.id: if let isOn = state["on"]?.isTrue { table.set(OnOff.onOff, isOn, on: endpoint) }
      case LevelControl.id:
        // Some clouds report no brightness for a light that is off; its level is unchanged.
        guard let percent = state["brightness"]?.number, percent > 0 else { break }
        table.set(LevelControl.currentLevel, Nullable(CloudUnits.level(percent)), on: endpoint)
      case ColorControl.id: state["color"].map { table.color($0, of: device, on: endpoint) }
      case DoorLock.id: table.lock(state, on: endpoint)
      case Thermostat.id: table.thermostat(state, on: endpoint)
      case FanControl.id:
        guard let percent = state["currentFanSpeedPercent"]?.number else { break }
        table.set(FanControl.percentSetting, Nullable(CloudUnits.percent(percent)), on: endpoint)
        table.set(FanControl.percentCurrent, CloudUnits.percent(percent), on: endpoint)
      case WindowCovering.id:
        // Matter's 100 % is closed. Application Clusters § 5.3.
        guard let open = state.openPercent else { break }
        table.set(
          WindowCovering.currentPositionLiftPercent100ths, Nullable(CloudUnits.hundredths(percent: 100 - open)),
          on: endpoint)
      case BooleanState.id: booleanState(state).map { table.set(BooleanState.stateValue, $0, on: endpoint) }
      case OccupancySensing.id:
        switch state["occupancy"]?.text {
        case "OCCUPIED": table.set(OccupancySensing.occupancy, .init(rawValue: 1), on: endpoint)
        case "UNOCCUPIED": table.set(OccupancySensing.occupancy, [], on: endpoint)
        default: break
        }
      case TemperatureMeasurement.id:
        guard let celsius = state["temperatureAmbientCelsius"]?.number else { break }
        table.set(TemperatureMeasurement.measuredValue, Nullable(CloudUnits.hundredths(celsius)), on: endpoint)
      case RelativeHumidityMeasurement.id:
        guard let percent = state["humidityAmbientPercent"]?.number else { break }
        table.set(
          RelativeHumidityMeasurement.measuredValue, Nullable(CloudUnits.hundredths(percent: percent)), on: endpoint)
      default: break
      }
    }
    if device.has("EnergyStorage") { table.battery(state) }
    return table.attributes
  }

  /// The state, whose meaning depends on the device type. Application Clusters § 1.7.
  private func booleanState(_ state: CloudJSON) -> Bool? {
    // True is a closed contact.
    if device.has("OpenClose") { return state.openPercent.map { $0 == 0 } }
    for sensor in state["currentSensorStateData"]?.array ?? [] {
      switch (sensor["name"]?.text, sensor["currentSensorState"]?.text) {
      case ("WaterLeak", "leak"), ("RainDetection", "rain detected"): return true
      case ("WaterLeak", "no leak"), ("RainDetection", "no rain detected"): return false
      default: break
      }
    }
    return nil
  }
}

extension CloudJSON {
  /// The position of a device that opens in one or several directions.
  fileprivate var openPercent: Double? {
    self["openPercent"]?.number ?? self["openState"]?.array?.first?["openPercent"]?.number
  }
}

extension CloudAttributeTable {
  /// Sets the color, which has one of three forms; some clouds use the member names of commands.
  fileprivate mutating func color(_ color: CloudJSON, of device: CloudDevice, on endpoint: EndpointID) {
    let place: HueAndSaturation
    if let kelvin = color["temperatureK"]?.number ?? color["temperature"]?.number {
      let range = device.attributes.colorTemperatureRange
      // A white mixed from colors has any temperature; the attribute is limited to the range.
      let least = Double(range?.temperatureMinK ?? 0)
      let white = min(max(kelvin, least), max(least, Double(range?.temperatureMaxK ?? 1_000_000)))
      set(ColorControl.colorTemperatureMireds, CloudUnits.mireds(white), on: endpoint)
      return set(ColorControl.colorMode, .colorTemperatureMireds, on: endpoint)
    } else if let hsv = color["spectrumHsv"] ?? color["spectrumHSV"] {
      guard let degrees = hsv["hue"]?.number, let saturation = hsv["saturation"]?.number else { return }
      place = HueAndSaturation(hue: degrees / 360, saturation: saturation)
    } else if let number = (color["spectrumRgb"] ?? color["spectrumRGB"])?.number {
      guard (0...0xFF_FFFF).contains(number) else { return }
      let bits = UInt32(number)
      func part(_ shift: UInt32) -> Double { Double(bits >> shift & 0xFF) / 255 }
      place = HueAndSaturation(red: part(16), green: part(8), blue: part(0))
    } else {
      return
    }
    set(ColorControl.currentHue, CloudUnits.eighth(place.hue), on: endpoint)
    set(ColorControl.currentSaturation, CloudUnits.eighth(place.saturation), on: endpoint)
    set(ColorControl.colorMode, .currentHueAndCurrentSaturation, on: endpoint)
  }

  fileprivate mutating func lock(_ state: CloudJSON, on endpoint: EndpointID) {
    if state["isJammed"]?.isTrue == true {
      set(DoorLock.lockState, Nullable(.notFullyLocked), on: endpoint)
    } else if let isLocked = state["isLocked"]?.isTrue {
      set(DoorLock.lockState, Nullable(isLocked ? .locked : .unlocked), on: endpoint)
    }
  }

  fileprivate mutating func thermostat(_ state: CloudJSON, on endpoint: EndpointID) {
    if let ambient = state["thermostatTemperatureAmbient"]?.number {
      set(Thermostat.localTemperature, Nullable(CloudUnits.hundredths(ambient)), on: endpoint)
    }
    let mode = state["thermostatMode"]?.text
    if let mode, let known = CloudThermostat.modes[mode] { set(Thermostat.systemMode, known, on: endpoint) }
    let heating =
      state["thermostatTemperatureSetpointLow"]?.number
      ?? (mode == "heat" ? state["thermostatTemperatureSetpoint"]?.number : nil)
    let cooling =
      state["thermostatTemperatureSetpointHigh"]?.number
      ?? (mode == "cool" ? state["thermostatTemperatureSetpoint"]?.number : nil)
    if let heating { set(Thermostat.occupiedHeatingSetpoint, CloudUnits.hundredths(heating), on: endpoint) }
    if let cooling { set(Thermostat.occupiedCoolingSetpoint, CloudUnits.hundredths(cooling), on: endpoint) }
  }

  /// Sets the battery of the node.
  fileprivate mutating func battery(_ state: CloudJSON) {
    let percents = (state["capacityRemaining"]?.array ?? []).filter { $0["unit"]?.text == "PERCENTAGE" }
    if let percent = percents.first?["rawValue"]?.number {
      set(PowerSource.batPercentRemaining, Nullable(CloudUnits.halves(percent: percent)), on: .root)
    }
    switch state["descriptiveCapacityRemaining"]?.text {
    case "CRITICALLY_LOW": set(PowerSource.batChargeLevel, .critical, on: .root)
    case "LOW": set(PowerSource.batChargeLevel, .warning, on: .root)
    case "MEDIUM", "HIGH", "FULL": set(PowerSource.batChargeLevel, .ok, on: .root)
    default: break
    }
    if let isCharging = state["isCharging"]?.isTrue {
      set(PowerSource.batChargeState, isCharging ? .isCharging : .isNotCharging, on: .root)
    }
  }
}

/// The names of thermostat modes.
enum CloudThermostat {
  static let modes: [String: Thermostat.SystemMode] = [
    "off": .off, "heat": .heat, "cool": .cool, "heatcool": .auto, "auto": .auto, "fan-only": .fanOnly, "dry": .dry,
  ]
}
