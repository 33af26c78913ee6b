internal import MatterClusters
internal import MatterModel
internal import MatterProtocol
internal import WebClient

// The conversion of states in QUERY and EXECUTE responses to attributes of Matter.
extension CloudDevice {
  /// The attributes for a state; members without a counterpart, and invalid ones, are ignored.
  func attributes(_ state: JSONValue, on endpoint: EndpointID) -> [AttributeData] {
    var report = CloudReport(endpoint)
    for cluster in clusters {
      switch cluster.id {
      case OnOff.id: report.set(OnOff.onOff, state["on"]?.bool)
      case LevelControl.id:
        // Some clouds report no brightness for a light that is off; its level is unchanged.
        let percent = state["brightness"]?.number.flatMap { $0 > 0 ? $0 : nil }
        report.set(LevelControl.currentLevel, percent.map { UInt8(rounding: $0 * 2.54, in: 1...254) })
      case ColorControl.id: if let color = state["color"] { setColor(color, &report) }
      case DoorLock.id:
        let locked: DoorLock.LockState? = state["isLocked"]?.bool.map { $0 ? .locked : .unlocked }
        report.set(DoorLock.lockState, state["isJammed"]?.bool == true ? .notFullyLocked : locked)
      case Thermostat.id: setThermostat(state, &report)
      case FanControl.id:
        let percent = state["currentFanSpeedPercent"]?.number.map { UInt8(rounding: $0, in: 0...100) }
        report.set(FanControl.percentSetting, percent)
        report.set(FanControl.percentCurrent, percent)
      case WindowCovering.id:
        // In Matter, 100 % means closed. Application Clusters § 5.3.
        report.set(
          WindowCovering.currentPositionLiftPercent100ths,
          Self.openPercent(state).map { UInt16(rounding: (100 - $0) * 100, in: 0...10_000) })
      case BooleanState.id: report.set(BooleanState.stateValue, booleanState(state))
      case OccupancySensing.id:
        switch state["occupancy"]?.text {
        case "OCCUPIED": report.set(OccupancySensing.occupancy, .init(rawValue: 1))
        case "UNOCCUPIED": report.set(OccupancySensing.occupancy, [])
        default: break
        }
      case TemperatureMeasurement.id:
        report.set(
          TemperatureMeasurement.measuredValue, state["temperatureAmbientCelsius"]?.number.map(Self.hundredths))
      case RelativeHumidityMeasurement.id:
        report.set(
          RelativeHumidityMeasurement.measuredValue,
          state["humidityAmbientPercent"]?.number.map { UInt16(rounding: $0 * 100, in: 0...10_000) })
      default: break
      }
    }
    return report.attributes
  }

  /// The position of a device that opens in one or several directions.
  private static func openPercent(_ state: JSONValue) -> Double? {
    state["openPercent"]?.number ?? state["openState"]?.array?.first?["openPercent"]?.number
  }

  /// The state, whose meaning depends on the device type. Application Clusters § 1.7.
  private func booleanState(_ state: JSONValue) -> Bool? {
    // True is a closed contact.
    if has("OpenClose") { return Self.openPercent(state).map { $0 == 0 } }
    for sensor in state["currentSensorStateData"]?.array ?? [] {
      switch (sensor["name"]?.text, sensor["currentSensorState"]?.text) {
      case ("WaterLeak", "leak"), ("RainDetection", "rain detected"): return true
      case ("WaterLeak", "no leak"), ("RainDetection", "no rain detected"): return false
      default: break
      }
    }
    return nil
  }

  /// Sets the color, which has one of three forms; some clouds use the member names of commands.
  private func setColor(_ color: JSONValue, _ report: inout CloudReport) {
    let place: HueAndSaturation
    if let kelvin = (color["temperatureK"] ?? color["temperature"])?.number {
      // A white mixed from colors has any temperature; the attribute is limited to the range.
      let white = temperatures.map { min(max(kelvin, $0.lowerBound), $0.upperBound) } ?? kelvin
      report.set(ColorControl.colorTemperatureMireds, Self.mireds(white))
      return report.set(ColorControl.colorMode, .colorTemperatureMireds)
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
    report.set(ColorControl.currentHue, UInt8(rounding: place.hue * 254, in: 0...254))
    report.set(ColorControl.currentSaturation, UInt8(rounding: place.saturation * 254, in: 0...254))
    report.set(ColorControl.colorMode, .currentHueAndCurrentSaturation)
  }

  private func setThermostat(_ state: JSONValue, _ report: inout CloudReport) {
    func celsius(_ name: String) -> Int16? { state["thermostatTemperature\(name)"]?.number.map(Self.hundredths) }
    let mode = state["thermostatMode"]?.text
    report.set(Thermostat.localTemperature, celsius("Ambient"))
    report.set(Thermostat.systemMode, mode.flatMap { Self.systemModes[$0] })
    report.set(
      Thermostat.occupiedHeatingSetpoint, celsius("SetpointLow") ?? (mode == "heat" ? celsius("Setpoint") : nil))
    report.set(
      Thermostat.occupiedCoolingSetpoint, celsius("SetpointHigh") ?? (mode == "cool" ? celsius("Setpoint") : nil))
  }

  static let systemModes: [String: Thermostat.SystemMode] = [
    "off": .off, "heat": .heat, "cool": .cool, "heatcool": .auto, "auto": .auto, "fan-only": .fanOnly, "dry": .dry,
  ]

  /// The attributes of the node for the state of its battery.
  static func battery(_ state: JSONValue) -> [AttributeData] {
    var report = CloudReport(.root)
    let percent = state["capacityRemaining"]?.array?.first { $0["unit"]?.text == "PERCENTAGE" }?["rawValue"]?.number
    report.set(PowerSource.batPercentRemaining, percent.map { UInt8(rounding: $0 * 2, in: 0...200) })
    switch state["descriptiveCapacityRemaining"]?.text {
    case "CRITICALLY_LOW": report.set(PowerSource.batChargeLevel, .critical)
    case "LOW": report.set(PowerSource.batChargeLevel, .warning)
    case "MEDIUM", "HIGH", "FULL": report.set(PowerSource.batChargeLevel, .ok)
    default: break
    }
    report.set(PowerSource.batChargeState, state["isCharging"]?.bool.map { $0 ? .isCharging : .isNotCharging })
    return report.attributes
  }

  // MARK: Units

  static func mireds(_ kelvin: Double) -> UInt16 {
    kelvin > 0 ? UInt16(rounding: 1_000_000 / kelvin, in: 1...65279) : 65279
  }

  /// Converts degrees Celsius to hundredths.
  static func hundredths(_ celsius: Double) -> Int16 { Int16(rounding: celsius * 100, in: -27315...32767) }
}

extension FixedWidthInteger {
  /// Rounds a number, and limits it to a range.
  init(rounding value: Double, in limits: ClosedRange<Self>) {
    let value = Swift.min(Swift.max(value.rounded(), Double(limits.lowerBound)), Double(limits.upperBound))
    self = Self(exactly: value) ?? limits.lowerBound
  }
}
