internal import HomeModel
internal import MatterClusters
internal import MatterModel

/// The unit of an encoded number that users write with a unit.
enum ValueUnit {
  /// ``levelStep`` is a difference of levels.
  case level, levelStep, mireds, seconds, tenthsOfSecond, milliseconds, hundredthsOfDegree, tenthsOfDegree
  case hundredthsOfPercent, percent

  struct Name: Hashable {
    var cluster: ClusterID
    var name: NormalizedName
  }

  /// The units by name: in a cluster, all attributes, command fields and structure members of one name have the same.
  static let table: [Name: ValueUnit] = {
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
    add(FanControl.self, .percent, "PercentSetting", "PercentCurrent")
    add(DoorLock.self, .seconds, "Timeout")
    add(AdministratorCommissioning.self, .seconds, "CommissioningTimeout")
    add(GeneralCommissioning.self, .seconds, "ExpiryLengthSeconds")
    add(IcdManagement.self, .milliseconds, "StayActiveDuration")
    add(BridgedDeviceBasicInformation.self, .milliseconds, "StayActiveDuration", "TimeoutMs")
    return table
  }()

  /// Returns the unit of an attribute, a command field or a structure member; nil if it has none.
  init?(_ cluster: ClusterID, _ name: String) {
    guard let unit = Self.table[Name(cluster: cluster, name: NormalizedName(name))] else { return nil }
    self = unit
  }

  /// Returns the unit of an attribute; nil if it has none.
  init?(_ cluster: ClusterID, _ attribute: AttributeID) {
    guard let name = ElementNames.info(attribute, of: cluster)?.name else { return nil }
    self.init(cluster, name)
  }
}
