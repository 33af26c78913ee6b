public import MatterModel

/// Thermostat (0x0201). Heating and cooling to a set temperature. Application Clusters § 4.3.
public enum Thermostat: Cluster {
  public static let id: ClusterID = 0x0201, revision: UInt16 = 9, name = "Thermostat"

  public static let heating = Feature(0, "HEAT", "Heating")
  public static let cooling = Feature(1, "COOL", "Cooling")
  public static let occupancyFeature = Feature(2, "OCC", "Occupancy")
  public static let scheduleConfiguration = Feature(3, "SCH", "ScheduleConfiguration")
  public static let setback = Feature(4, "SB", "Setback")
  public static let autoMode = Feature(5, "AUTO", "AutoMode")
  public static let localTemperatureNotExposed = Feature(6, "LTNE", "LocalTemperatureNotExposed")
  public static let matterScheduleConfiguration = Feature(7, "MSCH", "MatterScheduleConfiguration")
  public static let presetsFeature = Feature(8, "PRES", "Presets")
  public static let features: [Feature] = [
    heating, cooling, occupancyFeature, scheduleConfiguration, setback, autoMode, localTemperatureNotExposed,
    matterScheduleConfiguration, presetsFeature,
  ]

  // MARK: Attributes

  public static let localTemperature = Attribute<Self, Nullable<Int16>>(0x0000, "LocalTemperature", initial: .null)
  public static let outdoorTemperature = Attribute<Self, Nullable<Int16>>(
    0x0001, "OutdoorTemperature", initial: .null, conformance: .optional)
  public static let occupancy = Attribute<Self, Occupancy>(
    0x0002, "Occupancy", initial: .init(rawValue: 1), conformance: .features(occupancyFeature.mask))
  public static let absMinHeatSetpointLimit = Attribute<Self, Int16>(
    0x0003, "AbsMinHeatSetpointLimit", initial: 700, quality: .fixed, conformance: .optionalWith(heating.mask))
  public static let absMaxHeatSetpointLimit = Attribute<Self, Int16>(
    0x0004, "AbsMaxHeatSetpointLimit", initial: 3000, quality: .fixed, conformance: .optionalWith(heating.mask))
  public static let absMinCoolSetpointLimit = Attribute<Self, Int16>(
    0x0005, "AbsMinCoolSetpointLimit", initial: 1600, quality: .fixed, conformance: .optionalWith(cooling.mask))
  public static let absMaxCoolSetpointLimit = Attribute<Self, Int16>(
    0x0006, "AbsMaxCoolSetpointLimit", initial: 3200, quality: .fixed, conformance: .optionalWith(cooling.mask))
  public static let piCoolingDemand = Attribute<Self, UInt8>(
    0x0007, "PICoolingDemand", conformance: .optionalWith(cooling.mask), constraint: .range(0...100))
  public static let piHeatingDemand = Attribute<Self, UInt8>(
    0x0008, "PIHeatingDemand", conformance: .optionalWith(heating.mask), constraint: .range(0...100))
  public static let localTemperatureCalibration = Attribute<Self, Int8>(
    0x0010, "LocalTemperatureCalibration", initial: 0, quality: .nonVolatile, write: .manage,
    conformance: .optionalWhen(.init(none: localTemperatureNotExposed.mask)))
  public static let occupiedCoolingSetpoint = Attribute<Self, Int16>(
    0x0011, "OccupiedCoolingSetpoint", initial: 2600, quality: .nonVolatile, write: .operate,
    conformance: .features(cooling.mask))
  public static let occupiedHeatingSetpoint = Attribute<Self, Int16>(
    0x0012, "OccupiedHeatingSetpoint", initial: 2000, quality: .nonVolatile, write: .operate,
    conformance: .features(heating.mask))
  public static let unoccupiedCoolingSetpoint = Attribute<Self, Int16>(
    0x0013, "UnoccupiedCoolingSetpoint", initial: 2600, quality: .nonVolatile, write: .operate,
    conformance: .when(.init(all: cooling.mask | occupancyFeature.mask)))
  public static let unoccupiedHeatingSetpoint = Attribute<Self, Int16>(
    0x0014, "UnoccupiedHeatingSetpoint", initial: 2000, quality: .nonVolatile, write: .operate,
    conformance: .when(.init(all: heating.mask | occupancyFeature.mask)))
  public static let minHeatSetpointLimit = Attribute<Self, Int16>(
    0x0015, "MinHeatSetpointLimit", quality: .nonVolatile, write: .manage, conformance: .optionalWith(heating.mask))
  public static let maxHeatSetpointLimit = Attribute<Self, Int16>(
    0x0016, "MaxHeatSetpointLimit", quality: .nonVolatile, write: .manage, conformance: .optionalWith(heating.mask))
  public static let minCoolSetpointLimit = Attribute<Self, Int16>(
    0x0017, "MinCoolSetpointLimit", quality: .nonVolatile, write: .manage, conformance: .optionalWith(cooling.mask))
  public static let maxCoolSetpointLimit = Attribute<Self, Int16>(
    0x0018, "MaxCoolSetpointLimit", quality: .nonVolatile, write: .manage, conformance: .optionalWith(cooling.mask))
  public static let minSetpointDeadBand = Attribute<Self, Int8>(
    0x0019, "MinSetpointDeadBand", initial: 20, quality: .nonVolatile, write: .manage,
    conformance: .features(autoMode.mask), constraint: .range(0...127))
  public static let remoteSensing = Attribute<Self, RemoteSensing>(
    0x001A, "RemoteSensing", initial: [], quality: .nonVolatile, write: .manage, conformance: .optional)
  public static let controlSequenceOfOperation = Attribute<Self, ControlSequenceOfOperation>(
    0x001B, "ControlSequenceOfOperation", initial: .coolingAndHeating, quality: .nonVolatile, write: .manage)
  public static let systemMode = Attribute<Self, SystemMode>(
    0x001C, "SystemMode", initial: .auto, quality: .nonVolatile, write: .manage)
  public static let thermostatRunningMode = Attribute<Self, ThermostatRunningMode>(
    0x001E, "ThermostatRunningMode", initial: .off, conformance: .optionalWith(autoMode.mask))
  public static let startOfWeek = Attribute<Self, StartOfWeek>(
    0x0020, "StartOfWeek", quality: .fixed, conformance: .features(scheduleConfiguration.mask))
  public static let numberOfWeeklyTransitions = Attribute<Self, UInt8>(
    0x0021, "NumberOfWeeklyTransitions", initial: 0, quality: .fixed,
    conformance: .features(scheduleConfiguration.mask))
  public static let numberOfDailyTransitions = Attribute<Self, UInt8>(
    0x0022, "NumberOfDailyTransitions", initial: 0, quality: .fixed, conformance: .features(scheduleConfiguration.mask))
  public static let temperatureSetpointHold = Attribute<Self, TemperatureSetpointHold>(
    0x0023, "TemperatureSetpointHold", initial: .setpointHoldOff, quality: .nonVolatile, write: .manage,
    conformance: .optional)
  public static let temperatureSetpointHoldDuration = Attribute<Self, Nullable<UInt16>>(
    0x0024, "TemperatureSetpointHoldDuration", initial: .null, quality: .nonVolatile, write: .manage,
    conformance: .optional, constraint: .range(0...1440))
  public static let thermostatProgrammingOperationMode = Attribute<Self, ProgrammingOperationMode>(
    0x0025, "ThermostatProgrammingOperationMode", initial: [], write: .manage, conformance: .optional)
  public static let thermostatRunningState = Attribute<Self, RelayState>(
    0x0029, "ThermostatRunningState", conformance: .optional)
  public static let setpointChangeSource = Attribute<Self, SetpointChangeSource>(
    0x0030, "SetpointChangeSource", initial: .manual, conformance: .optional)
  public static let setpointChangeAmount = Attribute<Self, Nullable<Int16>>(
    0x0031, "SetpointChangeAmount", initial: .null, conformance: .optional)
  public static let setpointChangeSourceTimestamp = Attribute<Self, UInt32>(
    0x0032, "SetpointChangeSourceTimestamp", initial: 0, conformance: .optional)
  public static let occupiedSetback = Attribute<Self, Nullable<UInt8>>(
    0x0034, "OccupiedSetback", initial: .null, quality: .nonVolatile, write: .manage,
    conformance: .features(setback.mask), constraint: .range(0...254))
  public static let occupiedSetbackMin = Attribute<Self, Nullable<UInt8>>(
    0x0035, "OccupiedSetbackMin", initial: .null, quality: .fixed, conformance: .features(setback.mask))
  public static let occupiedSetbackMax = Attribute<Self, Nullable<UInt8>>(
    0x0036, "OccupiedSetbackMax", initial: .null, quality: .fixed, conformance: .features(setback.mask))
  public static let unoccupiedSetback = Attribute<Self, Nullable<UInt8>>(
    0x0037, "UnoccupiedSetback", initial: .null, quality: .nonVolatile, write: .manage,
    conformance: .when(.init(all: setback.mask | occupancyFeature.mask)), constraint: .range(0...254))
  public static let unoccupiedSetbackMin = Attribute<Self, Nullable<UInt8>>(
    0x0038, "UnoccupiedSetbackMin", initial: .null, quality: .fixed,
    conformance: .when(.init(all: setback.mask | occupancyFeature.mask)))
  public static let unoccupiedSetbackMax = Attribute<Self, Nullable<UInt8>>(
    0x0039, "UnoccupiedSetbackMax", initial: .null, quality: .fixed,
    conformance: .when(.init(all: setback.mask | occupancyFeature.mask)))
  public static let emergencyHeatDelta = Attribute<Self, UInt8>(
    0x003A, "EmergencyHeatDelta", initial: 250, quality: .nonVolatile, write: .manage, conformance: .optional)
  public static let acType = Attribute<Self, ACType>(
    0x0040, "ACType", initial: .unknown, quality: .nonVolatile, write: .manage, conformance: .optional)
  public static let acCapacity = Attribute<Self, UInt16>(
    0x0041, "ACCapacity", initial: 0, quality: .nonVolatile, write: .manage, conformance: .optional)
  public static let acRefrigerantType = Attribute<Self, ACRefrigerantType>(
    0x0042, "ACRefrigerantType", initial: .unknown, quality: .nonVolatile, write: .manage, conformance: .optional)
  public static let acCompressorType = Attribute<Self, ACCompressorType>(
    0x0043, "ACCompressorType", initial: .unknown, quality: .nonVolatile, write: .manage, conformance: .optional)
  public static let acErrorCode = Attribute<Self, ACErrorCode>(
    0x0044, "ACErrorCode", initial: [], write: .manage, conformance: .optional)
  public static let acLouverPosition = Attribute<Self, ACLouverPosition>(
    0x0045, "ACLouverPosition", initial: .init(0), quality: .nonVolatile, write: .manage, conformance: .optional)
  public static let acCoilTemperature = Attribute<Self, Nullable<Int16>>(
    0x0046, "ACCoilTemperature", initial: .null, conformance: .optional)
  public static let acCapacityformat = Attribute<Self, ACCapacityFormat>(
    0x0047, "ACCapacityformat", initial: .btUh, quality: .nonVolatile, write: .manage, conformance: .optional)
  public static let presetTypes = Attribute<Self, [PresetTypeStruct]>(
    0x0048, "PresetTypes", quality: .fixed, conformance: .features(presetsFeature.mask))
  public static let scheduleTypes = Attribute<Self, [ScheduleTypeStruct]>(
    0x0049, "ScheduleTypes", quality: .fixed, conformance: .features(matterScheduleConfiguration.mask))
  public static let numberOfPresets = Attribute<Self, UInt8>(
    0x004A, "NumberOfPresets", initial: 0, quality: .fixed, conformance: .features(presetsFeature.mask))
  public static let numberOfSchedules = Attribute<Self, UInt8>(
    0x004B, "NumberOfSchedules", initial: 0, quality: .fixed, conformance: .features(matterScheduleConfiguration.mask))
  public static let numberOfScheduleTransitions = Attribute<Self, UInt8>(
    0x004C, "NumberOfScheduleTransitions", initial: 0, quality: .fixed,
    conformance: .features(matterScheduleConfiguration.mask))
  public static let numberOfScheduleTransitionPerDay = Attribute<Self, Nullable<UInt8>>(
    0x004D, "NumberOfScheduleTransitionPerDay", initial: .null, quality: .fixed,
    conformance: .features(matterScheduleConfiguration.mask))
  public static let activePresetHandle = Attribute<Self, Nullable<OctetString>>(
    0x004E, "ActivePresetHandle", initial: .null, quality: .nonVolatile, conformance: .features(presetsFeature.mask),
    constraint: .length(0...16))
  public static let activeScheduleHandle = Attribute<Self, Nullable<OctetString>>(
    0x004F, "ActiveScheduleHandle", initial: .null, quality: .nonVolatile,
    conformance: .features(matterScheduleConfiguration.mask), constraint: .length(0...16))
  public static let presets = Attribute<Self, [PresetStruct]>(
    0x0050, "Presets", initial: [], quality: [.nonVolatile, .atomic], write: .manage,
    conformance: .features(presetsFeature.mask))
  public static let schedules = Attribute<Self, [ScheduleStruct]>(
    0x0051, "Schedules", initial: [], quality: [.nonVolatile, .atomic], write: .manage,
    conformance: .features(matterScheduleConfiguration.mask))
  public static let setpointHoldExpiryTimestamp = Attribute<Self, Nullable<UInt32>>(
    0x0052, "SetpointHoldExpiryTimestamp", initial: .null, quality: .nonVolatile, conformance: .optional)

  // MARK: Commands

  public static let setpointRaiseLower = Command<Self, SetpointRaiseLowerRequest, NoFields>(0x00, "SetpointRaiseLower")
  public static let setWeeklySchedule = Command<Self, SetWeeklyScheduleRequest, NoFields>(
    0x01, "SetWeeklySchedule", privilege: .manage, conformance: .features(scheduleConfiguration.mask))
  public static let getWeeklySchedule = Command<Self, GetWeeklyScheduleRequest, GetWeeklyScheduleResponse>(
    0x02, "GetWeeklySchedule", response: 0x00, conformance: .features(scheduleConfiguration.mask))
  public static let clearWeeklySchedule = Command<Self, NoFields, NoFields>(
    0x03, "ClearWeeklySchedule", privilege: .manage, conformance: .features(scheduleConfiguration.mask))
  public static let setActiveScheduleRequest = Command<Self, SetActiveScheduleRequest, NoFields>(
    0x05, "SetActiveScheduleRequest", conformance: .features(matterScheduleConfiguration.mask))
  public static let setActivePresetRequest = Command<Self, SetActivePresetRequest, NoFields>(
    0x06, "SetActivePresetRequest", conformance: .features(presetsFeature.mask))
  public static let atomicRequest = Command<Self, AtomicRequest, AtomicResponse>(
    0xFE, "AtomicRequest", response: 0xFD,
    conformance: .features(presetsFeature.mask | matterScheduleConfiguration.mask))

  public static let elements: [any ClusterElement] = [
    localTemperature, outdoorTemperature, occupancy, absMinHeatSetpointLimit, absMaxHeatSetpointLimit,
    absMinCoolSetpointLimit, absMaxCoolSetpointLimit, piCoolingDemand, piHeatingDemand, localTemperatureCalibration,
    occupiedCoolingSetpoint, occupiedHeatingSetpoint, unoccupiedCoolingSetpoint, unoccupiedHeatingSetpoint,
    minHeatSetpointLimit, maxHeatSetpointLimit, minCoolSetpointLimit, maxCoolSetpointLimit, minSetpointDeadBand,
    remoteSensing, controlSequenceOfOperation, systemMode, thermostatRunningMode, startOfWeek,
    numberOfWeeklyTransitions, numberOfDailyTransitions, temperatureSetpointHold, temperatureSetpointHoldDuration,
    thermostatProgrammingOperationMode, thermostatRunningState, setpointChangeSource, setpointChangeAmount,
    setpointChangeSourceTimestamp, occupiedSetback, occupiedSetbackMin, occupiedSetbackMax, unoccupiedSetback,
    unoccupiedSetbackMin, unoccupiedSetbackMax, emergencyHeatDelta, acType, acCapacity, acRefrigerantType,
    acCompressorType, acErrorCode, acLouverPosition, acCoilTemperature, acCapacityformat, presetTypes, scheduleTypes,
    numberOfPresets, numberOfSchedules, numberOfScheduleTransitions, numberOfScheduleTransitionPerDay,
    activePresetHandle, activeScheduleHandle, presets, schedules, setpointHoldExpiryTimestamp, setpointRaiseLower,
    setWeeklySchedule, getWeeklySchedule, clearWeeklySchedule, setActiveScheduleRequest, setActivePresetRequest,
    atomicRequest,
  ]
}
