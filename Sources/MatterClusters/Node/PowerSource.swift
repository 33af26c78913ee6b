public import MatterModel

/// Power Source (0x002F). The state of a power source, such as a battery. Matter Core § 11.7.
public enum PowerSource: Cluster {
  public static let id: ClusterID = 0x002F, revision: UInt16 = 3, name = "PowerSource"

  public static let wired = Feature(0, "WIRED", "Wired")
  public static let battery = Feature(1, "BAT", "Battery")
  public static let rechargeable = Feature(2, "RECHG", "Rechargeable")
  public static let replaceable = Feature(3, "REPLC", "Replaceable")
  public static let features: [Feature] = [wired, battery, rechargeable, replaceable]

  // MARK: Attributes

  public static let status = Attribute<Self, PowerSourceStatus>(0x0000, "Status")
  public static let order = Attribute<Self, UInt8>(0x0001, "Order", quality: .nonVolatile)
  public static let description = Attribute<Self, String>(
    0x0002, "Description", quality: .fixed, constraint: .length(0...60))
  public static let wiredAssessedInputVoltage = Attribute<Self, Nullable<UInt32>>(
    0x0003, "WiredAssessedInputVoltage", initial: .null, quality: .changesOmitted,
    conformance: .optionalWith(wired.mask))
  public static let wiredAssessedInputFrequency = Attribute<Self, Nullable<UInt16>>(
    0x0004, "WiredAssessedInputFrequency", initial: .null, quality: .changesOmitted,
    conformance: .optionalWith(wired.mask))
  public static let wiredCurrentType = Attribute<Self, WiredCurrentType>(
    0x0005, "WiredCurrentType", quality: .fixed, conformance: .features(wired.mask))
  public static let wiredAssessedCurrent = Attribute<Self, Nullable<UInt32>>(
    0x0006, "WiredAssessedCurrent", initial: .null, quality: .changesOmitted, conformance: .optionalWith(wired.mask))
  public static let wiredNominalVoltage = Attribute<Self, UInt32>(
    0x0007, "WiredNominalVoltage", quality: .fixed, conformance: .optionalWith(wired.mask))
  public static let wiredMaximumCurrent = Attribute<Self, UInt32>(
    0x0008, "WiredMaximumCurrent", quality: .fixed, conformance: .optionalWith(wired.mask))
  public static let wiredPresent = Attribute<Self, Bool>(0x0009, "WiredPresent", conformance: .optionalWith(wired.mask))
  public static let activeWiredFaults = Attribute<Self, [WiredFault]>(
    0x000A, "ActiveWiredFaults", initial: [], conformance: .optionalWith(wired.mask), constraint: .entries(8))
  public static let batVoltage = Attribute<Self, Nullable<UInt32>>(
    0x000B, "BatVoltage", initial: .null, quality: .changesOmitted, conformance: .optionalWith(battery.mask))
  public static let batPercentRemaining = Attribute<Self, Nullable<UInt8>>(
    0x000C, "BatPercentRemaining", initial: .null, quality: .quieter, conformance: .optionalWith(battery.mask),
    constraint: .range(0...200))
  public static let batTimeRemaining = Attribute<Self, Nullable<UInt32>>(
    0x000D, "BatTimeRemaining", initial: .null, quality: .quieter, conformance: .optionalWith(battery.mask))
  public static let batChargeLevel = Attribute<Self, BatChargeLevel>(
    0x000E, "BatChargeLevel", conformance: .features(battery.mask))
  public static let batReplacementNeeded = Attribute<Self, Bool>(
    0x000F, "BatReplacementNeeded", conformance: .features(battery.mask))
  public static let batReplaceability = Attribute<Self, BatReplaceability>(
    0x0010, "BatReplaceability", quality: .fixed, conformance: .features(battery.mask))
  public static let batPresent = Attribute<Self, Bool>(0x0011, "BatPresent", conformance: .optionalWith(battery.mask))
  public static let activeBatFaults = Attribute<Self, [BatFault]>(
    0x0012, "ActiveBatFaults", initial: [], conformance: .optionalWith(battery.mask), constraint: .entries(8))
  public static let batReplacementDescription = Attribute<Self, String>(
    0x0013, "BatReplacementDescription", quality: .fixed, conformance: .features(replaceable.mask),
    constraint: .length(0...60))
  public static let batCommonDesignation = Attribute<Self, BatCommonDesignation>(
    0x0014, "BatCommonDesignation", quality: .fixed, conformance: .optionalWith(replaceable.mask))
  public static let batANSIDesignation = Attribute<Self, String>(
    0x0015, "BatANSIDesignation", quality: .fixed, conformance: .optionalWith(replaceable.mask),
    constraint: .length(0...20))
  public static let batIECDesignation = Attribute<Self, String>(
    0x0016, "BatIECDesignation", quality: .fixed, conformance: .optionalWith(replaceable.mask),
    constraint: .length(0...20))
  public static let batApprovedChemistry = Attribute<Self, BatApprovedChemistry>(
    0x0017, "BatApprovedChemistry", quality: .fixed, conformance: .optionalWith(replaceable.mask))
  public static let batCapacity = Attribute<Self, UInt32>(
    0x0018, "BatCapacity", quality: .fixed, conformance: .optionalWith(replaceable.mask | rechargeable.mask))
  public static let batQuantity = Attribute<Self, UInt8>(
    0x0019, "BatQuantity", quality: .fixed, conformance: .features(replaceable.mask))
  public static let batChargeState = Attribute<Self, BatChargeState>(
    0x001A, "BatChargeState", conformance: .features(rechargeable.mask))
  public static let batTimeToFullCharge = Attribute<Self, Nullable<UInt32>>(
    0x001B, "BatTimeToFullCharge", initial: .null, quality: .quieter, conformance: .optionalWith(rechargeable.mask))
  public static let batFunctionalWhileCharging = Attribute<Self, Bool>(
    0x001C, "BatFunctionalWhileCharging", conformance: .features(rechargeable.mask))
  public static let batChargingCurrent = Attribute<Self, Nullable<UInt32>>(
    0x001D, "BatChargingCurrent", initial: .null, quality: .changesOmitted,
    conformance: .optionalWith(rechargeable.mask))
  public static let activeBatChargeFaults = Attribute<Self, [BatChargeFault]>(
    0x001E, "ActiveBatChargeFaults", initial: [], conformance: .optionalWith(rechargeable.mask),
    constraint: .entries(16))
  public static let endpointList = Attribute<Self, [EndpointID]>(0x001F, "EndpointList", initial: [])

  // MARK: Events

  public static let wiredFaultChange = Event<Self, WiredFaultChangeEvent>(
    0x00, "WiredFaultChange", conformance: .optionalWith(wired.mask))
  public static let batFaultChange = Event<Self, BatFaultChangeEvent>(
    0x01, "BatFaultChange", conformance: .optionalWith(battery.mask))
  public static let batChargeFaultChange = Event<Self, BatChargeFaultChangeEvent>(
    0x02, "BatChargeFaultChange", conformance: .optionalWith(rechargeable.mask))

  public static let elements: [any ClusterElement] = [
    status, order, description, wiredAssessedInputVoltage, wiredAssessedInputFrequency, wiredCurrentType,
    wiredAssessedCurrent, wiredNominalVoltage, wiredMaximumCurrent, wiredPresent, activeWiredFaults, batVoltage,
    batPercentRemaining, batTimeRemaining, batChargeLevel, batReplacementNeeded, batReplaceability, batPresent,
    activeBatFaults, batReplacementDescription, batCommonDesignation, batANSIDesignation, batIECDesignation,
    batApprovedChemistry, batCapacity, batQuantity, batChargeState, batTimeToFullCharge, batFunctionalWhileCharging,
    batChargingCurrent, activeBatChargeFaults, endpointList, wiredFaultChange, batFaultChange, batChargeFaultChange,
  ]

  // MARK: Types

  /// Matter Core § 11.7.6.1.
  public struct WiredFault: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unspecified = Self(0), overVoltage = Self(1), underVoltage = Self(2)
    public static let names: [UInt64: String] = [0: "Unspecified", 1: "OverVoltage", 2: "UnderVoltage"]
  }

  /// Matter Core § 11.7.6.2.
  public struct BatFault: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unspecified = Self(0), overTemp = Self(1), underTemp = Self(2)
    public static let names: [UInt64: String] = [0: "Unspecified", 1: "OverTemp", 2: "UnderTemp"]
  }

  /// Matter Core § 11.7.6.3.
  public struct BatChargeFault: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unspecified = Self(0), ambientTooHot = Self(1), ambientTooCold = Self(2), batteryTooHot = Self(3)
    public static let batteryTooCold = Self(4), batteryAbsent = Self(5), batteryOverVoltage = Self(6)
    public static let batteryUnderVoltage = Self(7), chargerOverVoltage = Self(8), chargerUnderVoltage = Self(9)
    public static let safetyTimeout = Self(10)
    public static let names: [UInt64: String] = [
      0: "Unspecified", 1: "AmbientTooHot", 2: "AmbientTooCold", 3: "BatteryTooHot", 4: "BatteryTooCold",
      5: "BatteryAbsent", 6: "BatteryOverVoltage", 7: "BatteryUnderVoltage", 8: "ChargerOverVoltage",
      9: "ChargerUnderVoltage", 10: "SafetyTimeout",
    ]
  }

  /// Matter Core § 11.7.6.4.
  public struct PowerSourceStatus: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unspecified = Self(0), active = Self(1), standby = Self(2), unavailable = Self(3)
    public static let names: [UInt64: String] = [0: "Unspecified", 1: "Active", 2: "Standby", 3: "Unavailable"]
  }

  /// Matter Core § 11.7.6.5.
  public struct WiredCurrentType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let ac = Self(0), dc = Self(1)
    public static let names: [UInt64: String] = [0: "AC", 1: "DC"]
  }

  /// Matter Core § 11.7.6.6.
  public struct BatChargeLevel: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let ok = Self(0), warning = Self(1), critical = Self(2)
    public static let names: [UInt64: String] = [0: "OK", 1: "Warning", 2: "Critical"]
  }

  /// Matter Core § 11.7.6.7.
  public struct BatReplaceability: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unspecified = Self(0), notReplaceable = Self(1), userReplaceable = Self(2)
    public static let factoryReplaceable = Self(3)
    public static let names: [UInt64: String] = [
      0: "Unspecified", 1: "NotReplaceable", 2: "UserReplaceable", 3: "FactoryReplaceable",
    ]
  }

  /// Matter Core § 11.7.6.8.
  public struct BatCommonDesignation: WireCode {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let unspecified = Self(0), aaa = Self(1), aa = Self(2), c = Self(3), d = Self(4), cell4v5 = Self(5)
    public static let cell6v0 = Self(6), cell9v0 = Self(7), cellHalfAA = Self(8), aaaa = Self(9), a = Self(10)
    public static let b = Self(11), f = Self(12), n = Self(13), no6 = Self(14), subC = Self(15), a23 = Self(16)
    public static let a27 = Self(17), ba5800 = Self(18), duplex = Self(19), cell4SR44 = Self(20), cell523 = Self(21)
    public static let cell531 = Self(22), cell15v0 = Self(23), cell22v5 = Self(24), cell30v0 = Self(25)
    public static let cell45v0 = Self(26), cell67v5 = Self(27), j = Self(28), cr123A = Self(29), cr2 = Self(30)
    public static let cell2CR5 = Self(31), crP2 = Self(32), crV3 = Self(33), sr41 = Self(34), sr43 = Self(35)
    public static let sr44 = Self(36), sr45 = Self(37), sr48 = Self(38), sr54 = Self(39), sr55 = Self(40)
    public static let sr57 = Self(41), sr58 = Self(42), sr59 = Self(43), sr60 = Self(44), sr63 = Self(45)
    public static let sr64 = Self(46), sr65 = Self(47), sr66 = Self(48), sr67 = Self(49), sr68 = Self(50)
    public static let sr69 = Self(51), sr516 = Self(52), sr731 = Self(53), sr712 = Self(54), lr932 = Self(55)
    public static let a5 = Self(56), a10 = Self(57), a13 = Self(58), a312 = Self(59), a675 = Self(60), ac41E = Self(61)
    public static let cell10180 = Self(62), cell10280 = Self(63), cell10440 = Self(64), cell14250 = Self(65)
    public static let cell14430 = Self(66), cell14500 = Self(67), cell14650 = Self(68), cell15270 = Self(69)
    public static let cell16340 = Self(70), rcr123A = Self(71), cell17500 = Self(72), cell17670 = Self(73)
    public static let cell18350 = Self(74), cell18500 = Self(75), cell18650 = Self(76), cell19670 = Self(77)
    public static let cell25500 = Self(78), cell26650 = Self(79), cell32600 = Self(80)
    public static let names: [UInt64: String] = [
      0: "Unspecified", 1: "AAA", 2: "AA", 3: "C", 4: "D", 5: "4v5", 6: "6v0", 7: "9v0", 8: "1_2AA", 9: "AAAA",
      10: "A", 11: "B", 12: "F", 13: "N", 14: "No6", 15: "SubC", 16: "A23", 17: "A27", 18: "BA5800", 19: "Duplex",
      20: "4SR44", 21: "523", 22: "531", 23: "15v0", 24: "22v5", 25: "30v0", 26: "45v0", 27: "67v5", 28: "J",
      29: "CR123A", 30: "CR2", 31: "2CR5", 32: "CR_P2", 33: "CR_V3", 34: "SR41", 35: "SR43", 36: "SR44", 37: "SR45",
      38: "SR48", 39: "SR54", 40: "SR55", 41: "SR57", 42: "SR58", 43: "SR59", 44: "SR60", 45: "SR63", 46: "SR64",
      47: "SR65", 48: "SR66", 49: "SR67", 50: "SR68", 51: "SR69", 52: "SR516", 53: "SR731", 54: "SR712", 55: "LR932",
      56: "A5", 57: "A10", 58: "A13", 59: "A312", 60: "A675", 61: "AC41E", 62: "10180", 63: "10280", 64: "10440",
      65: "14250", 66: "14430", 67: "14500", 68: "14650", 69: "15270", 70: "16340", 71: "RCR123A", 72: "17500",
      73: "17670", 74: "18350", 75: "18500", 76: "18650", 77: "19670", 78: "25500", 79: "26650", 80: "32600",
    ]
  }

  /// Matter Core § 11.7.6.9.
  public struct BatApprovedChemistry: WireCode {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let unspecified = Self(0), alkaline = Self(1), lithiumCarbonFluoride = Self(2)
    public static let lithiumChromiumOxide = Self(3), lithiumCopperOxide = Self(4), lithiumIronDisulfide = Self(5)
    public static let lithiumManganeseDioxide = Self(6), lithiumThionylChloride = Self(7), magnesium = Self(8)
    public static let mercuryOxide = Self(9), nickelOxyhydride = Self(10), silverOxide = Self(11), zincAir = Self(12)
    public static let zincCarbon = Self(13), zincChloride = Self(14), zincManganeseDioxide = Self(15)
    public static let leadAcid = Self(16), lithiumCobaltOxide = Self(17), lithiumIon = Self(18)
    public static let lithiumIonPolymer = Self(19), lithiumIronPhosphate = Self(20), lithiumSulfur = Self(21)
    public static let lithiumTitanate = Self(22), nickelCadmium = Self(23), nickelHydrogen = Self(24)
    public static let nickelIron = Self(25), nickelMetalHydride = Self(26), nickelZinc = Self(27)
    public static let silverZinc = Self(28), sodiumIon = Self(29), sodiumSulfur = Self(30), zincBromide = Self(31)
    public static let zincCerium = Self(32)
    public static let names: [UInt64: String] = [
      0: "Unspecified", 1: "Alkaline", 2: "LithiumCarbonFluoride", 3: "LithiumChromiumOxide", 4: "LithiumCopperOxide",
      5: "LithiumIronDisulfide", 6: "LithiumManganeseDioxide", 7: "LithiumThionylChloride", 8: "Magnesium",
      9: "MercuryOxide", 10: "NickelOxyhydride", 11: "SilverOxide", 12: "ZincAir", 13: "ZincCarbon",
      14: "ZincChloride", 15: "ZincManganeseDioxide", 16: "LeadAcid", 17: "LithiumCobaltOxide", 18: "LithiumIon",
      19: "LithiumIonPolymer", 20: "LithiumIronPhosphate", 21: "LithiumSulfur", 22: "LithiumTitanate",
      23: "NickelCadmium", 24: "NickelHydrogen", 25: "NickelIron", 26: "NickelMetalHydride", 27: "NickelZinc",
      28: "SilverZinc", 29: "SodiumIon", 30: "SodiumSulfur", 31: "ZincBromide", 32: "ZincCerium",
    ]
  }

  /// Matter Core § 11.7.6.10.
  public struct BatChargeState: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unknown = Self(0), isCharging = Self(1), isAtFullCharge = Self(2), isNotCharging = Self(3)
    public static let names: [UInt64: String] = [
      0: "Unknown", 1: "IsCharging", 2: "IsAtFullCharge", 3: "IsNotCharging",
    ]
  }

  // MARK: Fields of commands and events

  /// Matter Core § 11.7.8.1.
  public struct WiredFaultChangeEvent: ModelStruct {
    public var current: [WiredFault] = []
    public var previous: [WiredFault] = []
    public static let fields: [Field<Self>] = [.init(0, "Current", \.current), .init(1, "Previous", \.previous)]

    public init() {}

    public init(current: [WiredFault], previous: [WiredFault]) {
      self.current = current
      self.previous = previous
    }
  }

  /// Matter Core § 11.7.8.2.
  public struct BatFaultChangeEvent: ModelStruct {
    public var current: [BatFault] = []
    public var previous: [BatFault] = []
    public static let fields: [Field<Self>] = [.init(0, "Current", \.current), .init(1, "Previous", \.previous)]

    public init() {}

    public init(current: [BatFault], previous: [BatFault]) {
      self.current = current
      self.previous = previous
    }
  }

  /// Matter Core § 11.7.8.3.
  public struct BatChargeFaultChangeEvent: ModelStruct {
    public var current: [BatChargeFault] = []
    public var previous: [BatChargeFault] = []
    public static let fields: [Field<Self>] = [.init(0, "Current", \.current), .init(1, "Previous", \.previous)]

    public init() {}

    public init(current: [BatChargeFault], previous: [BatChargeFault]) {
      self.current = current
      self.previous = previous
    }
  }
}
