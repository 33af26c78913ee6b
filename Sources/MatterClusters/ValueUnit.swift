internal import Glibc
package import MatterModel

/// The unit of an encoded number that users write with a unit.
package enum ValueUnit: Hashable, CaseIterable, Sendable {
  /// ``levelStep`` is a difference of levels.
  case level, levelStep, mireds, seconds, tenthsOfSecond, milliseconds, hundredthsOfDegree, tenthsOfDegree
  case hundredthsOfPercent, halfPercent, percent
  /// 10,000 · log10(lux) + 1; 0 is too dark to be measured. Application Clusters § 2.2.5.1.
  case illuminance
  /// A tenth of a kilopascal.
  case hectopascals
  case tenthsOfCubicMeterPerHour
  case milliwatts, millivolts, milliamperes, millihertz, milliwattHours

  package struct Name: Hashable, Sendable {
    package var cluster: ClusterID
    package var name: NormalizedName
  }

  /// The units by name: in a cluster, all attributes, command fields and structure members of one name have the same.
  package static let table: [Name: ValueUnit] = {
    var table: [Name: ValueUnit] = [:]
    func add<C: Cluster>(_ cluster: C.Type, _ unit: ValueUnit, _ names: String...) {
      for name in names { table[Name(cluster: C.id, name: NormalizedName(name))] = unit }
    }
    add(LevelControl.self, .level, "Level", "CurrentLevel", "OnLevel", "StartUpCurrentLevel")
    add(LevelControl.self, .levelStep, "StepSize", "Rate")
    add(
      LevelControl.self, .tenthsOfSecond, "TransitionTime", "RemainingTime", "OnOffTransitionTime", "OnTransitionTime",
      "OffTransitionTime")
    add(OnOff.self, .tenthsOfSecond, "OnTime", "OffWaitTime")
    add(ColorControl.self, .tenthsOfSecond, "TransitionTime", "RemainingTime")
    add(ColorControl.self, .seconds, "Time")
    add(
      ColorControl.self, .mireds, "ColorTemperatureMireds", "ColorTemperatureMinimumMireds",
      "ColorTemperatureMaximumMireds", "ColorTempPhysicalMinMireds", "ColorTempPhysicalMaxMireds",
      "CoupleColorTempToLevelMinMireds", "StartUpColorTemperatureMireds")
    add(ScenesManagement.self, .milliseconds, "TransitionTime")
    add(Identify.self, .seconds, "IdentifyTime")
    add(
      TemperatureMeasurement.self, .hundredthsOfDegree, "MeasuredValue", "MinMeasuredValue", "MaxMeasuredValue",
      "Tolerance")
    add(
      RelativeHumidityMeasurement.self, .hundredthsOfPercent, "MeasuredValue", "MinMeasuredValue", "MaxMeasuredValue",
      "Tolerance")
    add(IlluminanceMeasurement.self, .illuminance, "MeasuredValue", "MinMeasuredValue", "MaxMeasuredValue")
    add(
      PressureMeasurement.self, .hectopascals, "MeasuredValue", "MinMeasuredValue", "MaxMeasuredValue", "Tolerance")
    add(
      FlowMeasurement.self, .tenthsOfCubicMeterPerHour, "MeasuredValue", "MinMeasuredValue", "MaxMeasuredValue",
      "Tolerance")
    add(OccupancySensing.self, .seconds, "HoldTime")
    add(ElectricalPowerMeasurement.self, .milliwatts, "ActivePower", "RMSPower")
    add(ElectricalPowerMeasurement.self, .millivolts, "Voltage", "RMSVoltage")
    add(
      ElectricalPowerMeasurement.self, .milliamperes, "ActiveCurrent", "ReactiveCurrent", "ApparentCurrent",
      "RMSCurrent", "NeutralCurrent")
    add(ElectricalPowerMeasurement.self, .millihertz, "Frequency")
    add(ElectricalPowerMeasurement.self, .hundredthsOfPercent, "PowerFactor")
    add(ElectricalEnergyMeasurement.self, .milliwattHours, "Energy")
    add(
      EnergyEvse.self, .milliamperes, "CircuitCapacity", "MinimumChargeCurrent", "MaximumChargeCurrent",
      "UserMaximumChargeCurrent", "MaximumDischargeCurrent", "MaximumCurrent")
    add(
      EnergyEvse.self, .milliwattHours, "NextChargeRequiredEnergy", "BatteryCapacity", "SessionEnergyCharged",
      "SessionEnergyDischarged", "AddedEnergy", "EnergyTransferred", "EnergyDischarged")
    add(EnergyEvse.self, .percent, "StateOfCharge", "NextChargeTargetSoC", "TargetSoC")
    add(EnergyEvse.self, .seconds, "SessionDuration", "RandomizationDelayWindow")
    add(
      DeviceEnergyManagement.self, .milliwatts, "AbsMinPower", "AbsMaxPower", "Power", "MinPower", "MaxPower",
      "NominalPower", "MinPowerAdjustment", "MaxPowerAdjustment")
    add(DeviceEnergyManagement.self, .milliwattHours, "EnergyUse", "NominalEnergy", "MaximumEnergy")
    add(PowerSource.self, .halfPercent, "BatPercentRemaining")
    add(PowerSource.self, .seconds, "BatTimeRemaining", "BatTimeToFullCharge")
    add(
      Thermostat.self, .hundredthsOfDegree, "LocalTemperature", "OutdoorTemperature", "AbsMinHeatSetpointLimit",
      "AbsMaxHeatSetpointLimit", "AbsMinCoolSetpointLimit", "AbsMaxCoolSetpointLimit", "OccupiedCoolingSetpoint",
      "OccupiedHeatingSetpoint", "UnoccupiedCoolingSetpoint", "UnoccupiedHeatingSetpoint", "MinHeatSetpointLimit",
      "MaxHeatSetpointLimit", "MinCoolSetpointLimit", "MaxCoolSetpointLimit", "SetpointChangeAmount",
      "ACCoilTemperature", "CoolingSetpoint", "HeatingSetpoint", "CoolSetpoint", "HeatSetpoint")
    add(
      Thermostat.self, .tenthsOfDegree, "Amount", "LocalTemperatureCalibration", "MinSetpointDeadBand",
      "OccupiedSetback", "OccupiedSetbackMin", "OccupiedSetbackMax", "UnoccupiedSetback", "UnoccupiedSetbackMin",
      "UnoccupiedSetbackMax", "EmergencyHeatDelta")
    add(Thermostat.self, .percent, "PICoolingDemand", "PIHeatingDemand")
    add(Thermostat.self, .milliseconds, "Timeout")
    add(
      WindowCovering.self, .hundredthsOfPercent, "CurrentPositionLiftPercent100ths",
      "CurrentPositionTiltPercent100ths", "TargetPositionLiftPercent100ths", "TargetPositionTiltPercent100ths",
      "LiftPercent100thsValue", "TiltPercent100thsValue")
    add(WindowCovering.self, .percent, "CurrentPositionLiftPercentage", "CurrentPositionTiltPercentage")
    add(ClosureControl.self, .seconds, "CountdownTime")
    add(ClosureDimension.self, .hundredthsOfPercent, "Position", "Resolution", "StepValue")
    add(
      ValveConfigurationAndControl.self, .percent, "CurrentLevel", "TargetLevel", "DefaultOpenLevel", "ValveLevel")
    add(
      ValveConfigurationAndControl.self, .seconds, "OpenDuration", "DefaultOpenDuration", "RemainingDuration")
    add(PumpConfigurationAndControl.self, .hundredthsOfDegree, "MinConstTemp", "MaxConstTemp")
    add(WaterHeaterManagement.self, .hundredthsOfDegree, "TemporarySetpoint")
    add(WaterHeaterManagement.self, .percent, "TankPercentage", "TargetPercentage", "TargetReheat")
    add(WaterHeaterManagement.self, .seconds, "Duration")
    add(WaterHeaterManagement.self, .milliwattHours, "EstimatedHeatRequired")
    add(HepaFilterMonitoring.self, .percent, "Condition")
    add(ActivatedCarbonFilterMonitoring.self, .percent, "Condition")
    add(SoilMeasurement.self, .percent, "SoilMoistureMeasuredValue")
    add(FanControl.self, .percent, "PercentSetting", "PercentCurrent")
    add(
      TemperatureControl.self, .hundredthsOfDegree, "TemperatureSetpoint", "MinTemperature", "MaxTemperature", "Step",
      "TargetTemperature")
    add(OperationalState.self, .seconds, "CountdownTime", "TotalOperationalTime", "PausedTime")
    add(OvenCavityOperationalState.self, .seconds, "CountdownTime", "TotalOperationalTime", "PausedTime")
    add(RvcOperationalState.self, .seconds, "CountdownTime", "TotalOperationalTime", "PausedTime")
    add(ServiceArea.self, .seconds, "TotalOperationalTime", "EstimatedTime")
    add(MicrowaveOvenControl.self, .seconds, "CookTime", "MaxCookTime", "TimeToAdd")
    add(DoorLock.self, .seconds, "Timeout", "AutoRelockTime", "UserCodeTemporaryDisableTime")
    add(AdministratorCommissioning.self, .seconds, "CommissioningTimeout")
    add(GeneralCommissioning.self, .seconds, "ExpiryLengthSeconds")
    add(IcdManagement.self, .milliseconds, "StayActiveDuration")
    add(BridgedDeviceBasicInformation.self, .milliseconds, "StayActiveDuration", "TimeoutMs")
    return table
  }()

  /// Returns the unit of an attribute, a command field or a structure member; nil if it has none.
  package init?(_ cluster: ClusterID, _ name: String) {
    guard let unit = Self.table[Name(cluster: cluster, name: NormalizedName(name))] else { return nil }
    self = unit
  }

  /// Returns the unit of an attribute; nil if it has none.
  package init?(_ cluster: ClusterID, _ attribute: AttributeID) {
    guard let name = ClusterCatalogue.cluster(cluster)?.attribute(attribute)?.name else { return nil }
    self.init(cluster, name)
  }
}

// Units of measure. Levels, colors and times have texts of their own.
extension ValueUnit {
  /// The symbols of a unit of measure, the preferred one first; empty for other units.
  package var symbols: [String] {
    switch self {
    case .hundredthsOfDegree, .tenthsOfDegree: ["°C", "°c", "C", "c"]
    case .hundredthsOfPercent, .halfPercent, .percent: ["%"]
    case .illuminance: ["lx", "lux"]
    case .hectopascals: ["hPa", "mbar"]
    case .tenthsOfCubicMeterPerHour: ["m³/h", "m3/h"]
    case .milliwatts: ["W", "kW"]
    case .millivolts: ["V"]
    case .milliamperes: ["A"]
    case .millihertz: ["Hz"]
    case .milliwattHours: ["kWh", "Wh"]
    case .level, .levelStep, .mireds, .seconds, .tenthsOfSecond, .milliseconds: []
    }
  }

  /// The encoded number of one unit of a linear scale.
  private var scale: Double {
    switch self {
    case .hundredthsOfDegree, .hundredthsOfPercent: 100
    case .tenthsOfDegree, .tenthsOfCubicMeterPerHour: 10
    case .halfPercent: 2
    case .milliwatts, .millivolts, .milliamperes, .millihertz: 1000
    case .milliwattHours: 1_000_000
    default: 1
    }
  }

  /// Returns the number of a text that ends in a symbol of the unit: 21.5 for `21.5 °C`; nil for another text.
  package func measure(_ text: String) -> Double? {
    guard let symbol = symbols.filter({ text.hasSuffix($0) }).max(by: { $0.count < $1.count }) else { return nil }
    // The limit excludes infinity, NaN and numbers that no attribute can have.
    guard let number = Double(text.dropLast(symbol.count).filter { !$0.isWhitespace }), abs(number) < 1e9 else {
      return nil
    }
    return symbol == "kW" ? number * 1000 : symbol == "Wh" ? number / 1000 : number
  }

  /// Encodes a measure: 2150 for 21.5 °C.
  package func encoded(_ measure: Double) -> Int64 {
    guard self == .illuminance else { return Self.rounded(measure * scale) }
    return measure < 1 ? 0 : Self.rounded(10_000 * log10(measure) + 1)
  }

  /// Decodes a measure: 21.5 for 2150.
  package func decoded(_ encoded: Int64) -> Double {
    guard self == .illuminance else { return Double(encoded) / scale }
    return encoded <= 0 ? 0 : pow(10, (Double(min(encoded, 65_535)) - 1) / 10_000)
  }

  private static func rounded(_ number: Double) -> Int64 {
    Int64(exactly: number.rounded()) ?? (number < 0 ? .min : .max)
  }

  /// Returns the text of an encoded measure: `21.5 °C` for 2150; nil for units that are not of a measure.
  package func text(_ encoded: Int64) -> String? {
    guard let symbol = symbols.first else { return nil }
    let blank = symbol == "%" ? "" : " "
    if self == .illuminance {
      return encoded <= 0 ? "dark" : "\(Int(decoded(encoded).rounded())) \(symbol)"
    }
    return (scale == 1 ? "\(encoded)" : "\(decoded(encoded))") + blank + symbol
  }
}
