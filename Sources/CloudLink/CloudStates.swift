internal import MatterClusters
package import MatterModel
package import MatterProtocol

// What a cloud says of how a device is, as Matter's attributes: the states of QUERY, and those that EXECUTE gives back.

extension CloudNode {
  /// The attributes that the states of its devices tell of, by their ids; nil where none of them is there. One of several that is
  /// away says so by the cluster that bridges have for that.
  package func attributes(_ states: [String: CloudJSON]) -> [AttributeData]? {
    func isThere(_ part: CloudPart) -> Bool { states[part.device.id].map(CloudIntent.isOnline) ?? false }
    guard parts.values.contains(where: isThere) else { return nil }
    var table = CloudAttributeTable()
    var attributes: [AttributeData] = []
    for (endpoint, part) in orderedParts {
      if parts.count > 1 { table.set(BridgedDeviceBasicInformation.reachable, isThere(part), on: endpoint) }
      guard isThere(part), let state = states[part.device.id] else { continue }
      attributes += self.attributes(state, of: part, on: endpoint)
    }
    return table.attributes + attributes
  }

  /// The attributes that the state of one of its devices tells of.
  package func attributes(_ state: CloudJSON, of part: CloudPart, on endpoint: EndpointID) -> [AttributeData] {
    let all = part.attributes(state, on: endpoint)
    return endpoint == batteryEndpoint ? all : all.filter { $0.path.cluster != PowerSource.id }
  }
}

extension CloudPart {
  /// The attributes that a state tells of; what there is no word for, or what is not as it should be, is left out.
  package func attributes(_ state: CloudJSON, on endpoint: EndpointID) -> [AttributeData] {
    var table = CloudAttributeTable()
    for cluster in device.matter.clusters {
      switch cluster.id {
      case OnOff.id: if let isOn = state["on"]?.isTrue { table.set(OnOff.onOff, isOn, on: endpoint) }
      case LevelControl.id:
        // Of a light that is off some say that it has none: it keeps the one that it had.
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

  /// What true means depends on what it belongs to. Application Clusters § 1.7.
  private func booleanState(_ state: CloudJSON) -> Bool? {
    // A contact is closed.
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
  /// Of what opens one way, or several.
  fileprivate var openPercent: Double? {
    self["openPercent"]?.number ?? self["openState"]?.array?.first?["openPercent"]?.number
  }
}

extension CloudAttributeTable {
  /// A colour is told in one of three ways; some spell them as commands do.
  fileprivate mutating func color(_ color: CloudJSON, of device: CloudDevice, on endpoint: EndpointID) {
    let place: HueAndSaturation
    if let kelvin = color["temperatureK"]?.number ?? color["temperature"]?.number {
      let range = device.attributes.colorTemperatureRange
      // A white that was made of colours may be any; the wire's is one that it has.
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

  /// Of the device as a whole, as Matter tells it of the node.
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

/// What the modes of a thermostat are called in the cloud.
enum CloudThermostat {
  static let modes: [String: Thermostat.SystemMode] = [
    "off": .off, "heat": .heat, "cool": .cool, "heatcool": .auto, "auto": .auto, "fan-only": .fanOnly, "dry": .dry,
  ]
}
