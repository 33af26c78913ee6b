public import MatterModel

// The types of Thermostat. Application Clusters § 4.3.

extension Thermostat {
  /// Application Clusters § 4.3.8.4.
  public struct ACErrorCode: WireBitmap {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let compressorFail = Self(rawValue: 1 << 0), roomSensorFail = Self(rawValue: 1 << 1)
    public static let outdoorSensorFail = Self(rawValue: 1 << 2), coilSensorFail = Self(rawValue: 1 << 3)
    public static let fanFail = Self(rawValue: 1 << 4)
    public static let names: [Int: String] = [
      0: "CompressorFail", 1: "RoomSensorFail", 2: "OutdoorSensorFail", 3: "CoilSensorFail", 4: "FanFail",
    ]
  }

  /// Application Clusters § 4.3.8.5.
  public struct HVACSystemType: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let coolingStage = Self(rawValue: 0x3), heatingStage = Self(rawValue: 0xC)
    public static let heatingIsHeatPump = Self(rawValue: 1 << 4), heatingUsesFuel = Self(rawValue: 1 << 5)
    public static let names: [Int: String] = [
      0: "CoolingStage", 2: "HeatingStage", 4: "HeatingIsHeatPump", 5: "HeatingUsesFuel",
    ]
  }

  /// Application Clusters § 4.3.8.6.
  public struct Occupancy: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let occupied = Self(rawValue: 1 << 0)
    public static let names: [Int: String] = [0: "Occupied"]
  }

  /// Application Clusters § 4.3.8.7.
  public struct PresetTypeFeatures: WireBitmap {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let automatic = Self(rawValue: 1 << 0), supportsNames = Self(rawValue: 1 << 1)
    public static let names: [Int: String] = [0: "Automatic", 1: "SupportsNames"]
  }

  /// Application Clusters § 4.3.8.8.
  public struct ProgrammingOperationMode: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let scheduleActive = Self(rawValue: 1 << 0), autoRecovery = Self(rawValue: 1 << 1)
    public static let economy = Self(rawValue: 1 << 2)
    public static let names: [Int: String] = [0: "ScheduleActive", 1: "AutoRecovery", 2: "Economy"]
  }

  /// Application Clusters § 4.3.8.9.
  public struct RelayState: WireBitmap {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let heat = Self(rawValue: 1 << 0), cool = Self(rawValue: 1 << 1), fan = Self(rawValue: 1 << 2)
    public static let heatStage2 = Self(rawValue: 1 << 3), coolStage2 = Self(rawValue: 1 << 4)
    public static let fanStage2 = Self(rawValue: 1 << 5), fanStage3 = Self(rawValue: 1 << 6)
    public static let names: [Int: String] = [
      0: "Heat", 1: "Cool", 2: "Fan", 3: "HeatStage2", 4: "CoolStage2", 5: "FanStage2", 6: "FanStage3",
    ]
  }

  /// Application Clusters § 4.3.8.10.
  public struct RemoteSensing: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let localTemperature = Self(rawValue: 1 << 0), outdoorTemperature = Self(rawValue: 1 << 1)
    public static let occupancy = Self(rawValue: 1 << 2)
    public static let names: [Int: String] = [0: "LocalTemperature", 1: "OutdoorTemperature", 2: "Occupancy"]
  }

  /// Application Clusters § 4.3.8.11.
  public struct ScheduleTypeFeatures: WireBitmap {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let supportsPresets = Self(rawValue: 1 << 0), supportsSetpoints = Self(rawValue: 1 << 1)
    public static let supportsNames = Self(rawValue: 1 << 2), supportsOff = Self(rawValue: 1 << 3)
    public static let names: [Int: String] = [
      0: "SupportsPresets", 1: "SupportsSetpoints", 2: "SupportsNames", 3: "SupportsOff",
    ]
  }

  /// Application Clusters § 4.3.8.12.
  public struct ScheduleDayOfWeek: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let sunday = Self(rawValue: 1 << 0), monday = Self(rawValue: 1 << 1)
    public static let tuesday = Self(rawValue: 1 << 2), wednesday = Self(rawValue: 1 << 3)
    public static let thursday = Self(rawValue: 1 << 4), friday = Self(rawValue: 1 << 5)
    public static let saturday = Self(rawValue: 1 << 6), away = Self(rawValue: 1 << 7)
    public static let names: [Int: String] = [
      0: "Sunday", 1: "Monday", 2: "Tuesday", 3: "Wednesday", 4: "Thursday", 5: "Friday", 6: "Saturday", 7: "Away",
    ]
  }

  /// Application Clusters § 4.3.8.13.
  public struct ScheduleMode: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let heatSetpointPresent = Self(rawValue: 1 << 0), coolSetpointPresent = Self(rawValue: 1 << 1)
    public static let names: [Int: String] = [0: "HeatSetpointPresent", 1: "CoolSetpointPresent"]
  }

  /// Application Clusters § 4.3.8.14.
  public struct ACCapacityFormat: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let btUh = Self(0)
    public static let names: [UInt64: String] = [0: "BTUh"]
  }

  /// Application Clusters § 4.3.8.15.
  public struct ACCompressorType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unknown = Self(0), t1 = Self(1), t2 = Self(2), t3 = Self(3)
    public static let names: [UInt64: String] = [0: "Unknown", 1: "T1", 2: "T2", 3: "T3"]
  }

  /// Application Clusters § 4.3.8.16.
  public struct ACLouverPosition: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let closed = Self(1), open = Self(2), quarter = Self(3), half = Self(4), threeQuarters = Self(5)
    public static let names: [UInt64: String] = [1: "Closed", 2: "Open", 3: "Quarter", 4: "Half", 5: "ThreeQuarters"]
  }

  /// Application Clusters § 4.3.8.17.
  public struct ACRefrigerantType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unknown = Self(0), r22 = Self(1), r410a = Self(2), r407c = Self(3)
    public static let names: [UInt64: String] = [0: "Unknown", 1: "R22", 2: "R410a", 3: "R407c"]
  }

  /// Application Clusters § 4.3.8.18.
  public struct ACType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unknown = Self(0), coolingFixed = Self(1), heatPumpFixed = Self(2), coolingInverter = Self(3)
    public static let heatPumpInverter = Self(4)
    public static let names: [UInt64: String] = [
      0: "Unknown", 1: "CoolingFixed", 2: "HeatPumpFixed", 3: "CoolingInverter", 4: "HeatPumpInverter",
    ]
  }

  /// Application Clusters § 4.3.8.19.
  public struct SetpointRaiseLowerMode: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let heat = Self(0), cool = Self(1), both = Self(2)
    public static let names: [UInt64: String] = [0: "Heat", 1: "Cool", 2: "Both"]
  }

  /// Application Clusters § 4.3.8.20.
  public struct ControlSequenceOfOperation: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let coolingOnly = Self(0), coolingWithReheat = Self(1), heatingOnly = Self(2)
    public static let heatingWithReheat = Self(3), coolingAndHeating = Self(4), coolingAndHeatingWithReheat = Self(5)
    public static let names: [UInt64: String] = [
      0: "CoolingOnly", 1: "CoolingWithReheat", 2: "HeatingOnly", 3: "HeatingWithReheat", 4: "CoolingAndHeating",
      5: "CoolingAndHeatingWithReheat",
    ]
  }

  /// Application Clusters § 4.3.8.21.
  public struct PresetScenario: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let occupied = Self(1), unoccupied = Self(2), sleep = Self(3), wake = Self(4), vacation = Self(5)
    public static let goingToSleep = Self(6), userDefined = Self(254)
    public static let names: [UInt64: String] = [
      1: "Occupied", 2: "Unoccupied", 3: "Sleep", 4: "Wake", 5: "Vacation", 6: "GoingToSleep", 254: "UserDefined",
    ]
  }

  /// Application Clusters § 4.3.8.22.
  public struct SetpointChangeSource: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let manual = Self(0), schedule = Self(1), external = Self(2)
    public static let names: [UInt64: String] = [0: "Manual", 1: "Schedule", 2: "External"]
  }

  /// Application Clusters § 4.3.8.23.
  public struct StartOfWeek: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let sunday = Self(0), monday = Self(1), tuesday = Self(2), wednesday = Self(3), thursday = Self(4)
    public static let friday = Self(5), saturday = Self(6)
    public static let names: [UInt64: String] = [
      0: "Sunday", 1: "Monday", 2: "Tuesday", 3: "Wednesday", 4: "Thursday", 5: "Friday", 6: "Saturday",
    ]
  }

  /// Application Clusters § 4.3.8.24.
  public struct SystemMode: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let off = Self(0), auto = Self(1), cool = Self(3), heat = Self(4), emergencyHeat = Self(5)
    public static let precooling = Self(6), fanOnly = Self(7), dry = Self(8), sleep = Self(9)
    public static let names: [UInt64: String] = [
      0: "Off", 1: "Auto", 3: "Cool", 4: "Heat", 5: "EmergencyHeat", 6: "Precooling", 7: "FanOnly", 8: "Dry",
      9: "Sleep",
    ]
  }

  /// Application Clusters § 4.3.8.25.
  public struct ThermostatRunningMode: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let off = Self(0), cool = Self(3), heat = Self(4)
    public static let names: [UInt64: String] = [0: "Off", 3: "Cool", 4: "Heat"]
  }

  /// Application Clusters § 4.3.8.26.
  public struct TemperatureSetpointHold: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let setpointHoldOff = Self(0), setpointHoldOn = Self(1)
    public static let names: [UInt64: String] = [0: "SetpointHoldOff", 1: "SetpointHoldOn"]
  }

  /// Application Clusters § 4.3.8.27.
  public struct PresetStruct: ModelStruct {
    public var presetHandle: Nullable<OctetString> = .null
    public var presetScenario: PresetScenario = .occupied
    public var name: Nullable<String>?
    public var coolingSetpoint: Int16?
    public var heatingSetpoint: Int16?
    public var builtIn: Nullable<Bool> = .null
    public static let fields: [Field<Self>] = [
      .init(0, "PresetHandle", \.presetHandle), .init(1, "PresetScenario", \.presetScenario), .init(2, "Name", \.name),
      .init(3, "CoolingSetpoint", \.coolingSetpoint), .init(4, "HeatingSetpoint", \.heatingSetpoint),
      .init(5, "BuiltIn", \.builtIn),
    ]

    public init() {}

    public init(
      presetHandle: Nullable<OctetString>, presetScenario: PresetScenario, name: Nullable<String>? = nil,
      coolingSetpoint: Int16? = nil, heatingSetpoint: Int16? = nil, builtIn: Nullable<Bool>
    ) {
      self.presetHandle = presetHandle
      self.presetScenario = presetScenario
      self.name = name
      self.coolingSetpoint = coolingSetpoint
      self.heatingSetpoint = heatingSetpoint
      self.builtIn = builtIn
    }
  }

  /// Application Clusters § 4.3.8.28.
  public struct PresetTypeStruct: ModelStruct {
    public var presetScenario: PresetScenario = .occupied
    public var numberOfPresets: UInt8 = 0
    public var presetTypeFeatures: PresetTypeFeatures = []
    public static let fields: [Field<Self>] = [
      .init(0, "PresetScenario", \.presetScenario), .init(1, "NumberOfPresets", \.numberOfPresets),
      .init(2, "PresetTypeFeatures", \.presetTypeFeatures),
    ]

    public init() {}

    public init(presetScenario: PresetScenario, numberOfPresets: UInt8, presetTypeFeatures: PresetTypeFeatures) {
      self.presetScenario = presetScenario
      self.numberOfPresets = numberOfPresets
      self.presetTypeFeatures = presetTypeFeatures
    }
  }

  /// Application Clusters § 4.3.8.29.
  public struct WeeklyScheduleTransitionStruct: ModelStruct {
    public var transitionTime: UInt16 = 0
    public var heatSetpoint: Nullable<Int16> = .null
    public var coolSetpoint: Nullable<Int16> = .null
    public static let fields: [Field<Self>] = [
      .init(0, "TransitionTime", \.transitionTime), .init(1, "HeatSetpoint", \.heatSetpoint),
      .init(2, "CoolSetpoint", \.coolSetpoint),
    ]

    public init() {}

    public init(transitionTime: UInt16, heatSetpoint: Nullable<Int16>, coolSetpoint: Nullable<Int16>) {
      self.transitionTime = transitionTime
      self.heatSetpoint = heatSetpoint
      self.coolSetpoint = coolSetpoint
    }
  }

  /// Application Clusters § 4.3.8.30.
  public struct ScheduleStruct: ModelStruct {
    public var scheduleHandle: Nullable<OctetString> = .null
    public var systemMode: SystemMode = .off
    public var name: String?
    public var presetHandle: OctetString?
    public var transitions: [ScheduleTransitionStruct] = []
    public var builtIn: Nullable<Bool> = .null
    public static let fields: [Field<Self>] = [
      .init(0, "ScheduleHandle", \.scheduleHandle), .init(1, "SystemMode", \.systemMode), .init(2, "Name", \.name),
      .init(3, "PresetHandle", \.presetHandle), .init(4, "Transitions", \.transitions), .init(5, "BuiltIn", \.builtIn),
    ]

    public init() {}

    public init(
      scheduleHandle: Nullable<OctetString>, systemMode: SystemMode, name: String? = nil,
      presetHandle: OctetString? = nil, transitions: [ScheduleTransitionStruct], builtIn: Nullable<Bool>
    ) {
      self.scheduleHandle = scheduleHandle
      self.systemMode = systemMode
      self.name = name
      self.presetHandle = presetHandle
      self.transitions = transitions
      self.builtIn = builtIn
    }
  }

  /// Application Clusters § 4.3.8.31.
  public struct ScheduleTransitionStruct: ModelStruct {
    public var dayOfWeek: ScheduleDayOfWeek = []
    public var transitionTime: UInt16 = 0
    public var presetHandle: OctetString?
    public var systemMode: SystemMode?
    public var coolingSetpoint: Int16?
    public var heatingSetpoint: Int16?
    public static let fields: [Field<Self>] = [
      .init(0, "DayOfWeek", \.dayOfWeek), .init(1, "TransitionTime", \.transitionTime),
      .init(2, "PresetHandle", \.presetHandle), .init(3, "SystemMode", \.systemMode),
      .init(4, "CoolingSetpoint", \.coolingSetpoint), .init(5, "HeatingSetpoint", \.heatingSetpoint),
    ]

    public init() {}

    public init(
      dayOfWeek: ScheduleDayOfWeek, transitionTime: UInt16, presetHandle: OctetString? = nil,
      systemMode: SystemMode? = nil, coolingSetpoint: Int16? = nil, heatingSetpoint: Int16? = nil
    ) {
      self.dayOfWeek = dayOfWeek
      self.transitionTime = transitionTime
      self.presetHandle = presetHandle
      self.systemMode = systemMode
      self.coolingSetpoint = coolingSetpoint
      self.heatingSetpoint = heatingSetpoint
    }
  }

  /// Application Clusters § 4.3.8.32.
  public struct ScheduleTypeStruct: ModelStruct {
    public var systemMode: SystemMode = .off
    public var numberOfSchedules: UInt8 = 0
    public var scheduleTypeFeatures: ScheduleTypeFeatures = []
    public static let fields: [Field<Self>] = [
      .init(0, "SystemMode", \.systemMode), .init(1, "NumberOfSchedules", \.numberOfSchedules),
      .init(2, "ScheduleTypeFeatures", \.scheduleTypeFeatures),
    ]

    public init() {}

    public init(systemMode: SystemMode, numberOfSchedules: UInt8, scheduleTypeFeatures: ScheduleTypeFeatures) {
      self.systemMode = systemMode
      self.numberOfSchedules = numberOfSchedules
      self.scheduleTypeFeatures = scheduleTypeFeatures
    }
  }

  /// The steps of an atomic write.
  public struct AtomicRequestType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let beginWrite = Self(0), commitWrite = Self(1), rollbackWrite = Self(2)
    public static let names: [UInt64: String] = [0: "BeginWrite", 1: "CommitWrite", 2: "RollbackWrite"]
  }

  /// Matter Core § 7.15.5.
  public struct AtomicAttributeStatusStruct: ModelStruct {
    public var attributeID: AttributeID = 0
    public var statusCode: StatusCode = .success
    public static let fields: [Field<Self>] = [
      .init(0, "AttributeID", \.attributeID), .init(1, "StatusCode", \.statusCode),
    ]

    public init() {}

    public init(attributeID: AttributeID, statusCode: StatusCode) {
      self.attributeID = attributeID
      self.statusCode = statusCode
    }
  }
}
