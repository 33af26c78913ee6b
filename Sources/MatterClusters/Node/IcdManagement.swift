public import MatterModel

/// ICD Management (0x0046). Registration of clients with an intermittently connected node. Matter Core § 9.16.
public enum IcdManagement: Cluster {
  public static let id: ClusterID = 0x0046, revision: UInt16 = 3, name = "IcdManagement"

  public static let checkInProtocolSupport = Feature(0, "CIP", "CheckInProtocolSupport")
  public static let userActiveModeTrigger = Feature(1, "UAT", "UserActiveModeTrigger")
  public static let longIdleTimeSupport = Feature(2, "LITS", "LongIdleTimeSupport")
  public static let dynamicSitLitSupport = Feature(3, "DSLS", "DynamicSitLitSupport")
  public static let features: [Feature] = [
    checkInProtocolSupport, userActiveModeTrigger, longIdleTimeSupport, dynamicSitLitSupport,
  ]

  // MARK: Attributes

  public static let idleModeDuration = Attribute<Self, UInt32>(
    0x0000, "IdleModeDuration", initial: 1, quality: .fixed, constraint: .range(1...64800))
  public static let activeModeDuration = Attribute<Self, UInt32>(
    0x0001, "ActiveModeDuration", initial: 300, quality: .fixed)
  public static let activeModeThreshold = Attribute<Self, UInt16>(
    0x0002, "ActiveModeThreshold", initial: 300, quality: .fixed)
  public static let registeredClients = Attribute<Self, [MonitoringRegistrationStruct]>(
    0x0003, "RegisteredClients", initial: [], quality: [.nonVolatile, .fabricScoped, .fabricSensitive],
    read: .administer, conformance: .features(checkInProtocolSupport.mask))
  public static let icdCounter = Attribute<Self, UInt32>(
    0x0004, "ICDCounter", initial: 0, quality: [.nonVolatile, .changesOmitted], read: .administer,
    conformance: .features(checkInProtocolSupport.mask))
  public static let clientsSupportedPerFabric = Attribute<Self, UInt16>(
    0x0005, "ClientsSupportedPerFabric", initial: 1, quality: .fixed,
    conformance: .features(checkInProtocolSupport.mask), constraint: .range(1...65535))
  public static let userActiveModeTriggerHint = Attribute<Self, UserActiveModeTrigger>(
    0x0006, "UserActiveModeTriggerHint", initial: [], quality: .fixed,
    conformance: .features(userActiveModeTrigger.mask))
  public static let userActiveModeTriggerInstruction = Attribute<Self, String>(
    0x0007, "UserActiveModeTriggerInstruction", quality: .fixed, conformance: .optional, constraint: .length(0...128))
  public static let operatingMode = Attribute<Self, OperatingMode>(
    0x0008, "OperatingMode", initial: .sit, conformance: .features(longIdleTimeSupport.mask))
  public static let maximumCheckInBackOff = Attribute<Self, UInt32>(
    0x0009, "MaximumCheckInBackOff", initial: 1, quality: .fixed, conformance: .features(checkInProtocolSupport.mask),
    constraint: .range(0...64800))

  // MARK: Commands

  public static let registerClient = Command<Self, RegisterClientRequest, RegisterClientResponse>(
    0x00, "RegisterClient", response: 0x01, privilege: .manage, quality: .fabricScoped,
    conformance: .features(checkInProtocolSupport.mask))
  public static let unregisterClient = Command<Self, UnregisterClientRequest, NoFields>(
    0x02, "UnregisterClient", privilege: .manage, quality: .fabricScoped,
    conformance: .features(checkInProtocolSupport.mask))
  public static let stayActiveRequest = Command<Self, StayActiveRequest, StayActiveResponse>(
    0x03, "StayActiveRequest", response: 0x04, privilege: .manage, conformance: .recommended(longIdleTimeSupport.mask))

  public static let elements: [any ClusterElement] = [
    idleModeDuration, activeModeDuration, activeModeThreshold, registeredClients, icdCounter,
    clientsSupportedPerFabric, userActiveModeTriggerHint, userActiveModeTriggerInstruction, operatingMode,
    maximumCheckInBackOff, registerClient, unregisterClient, stayActiveRequest,
  ]

  // MARK: Types

  /// Matter Core § 9.16.5.1.
  public struct UserActiveModeTrigger: WireBitmap {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let powerCycle = Self(rawValue: 1 << 0), settingsMenu = Self(rawValue: 1 << 1)
    public static let customInstruction = Self(rawValue: 1 << 2), deviceManual = Self(rawValue: 1 << 3)
    public static let actuateSensor = Self(rawValue: 1 << 4), actuateSensorSeconds = Self(rawValue: 1 << 5)
    public static let actuateSensorTimes = Self(rawValue: 1 << 6), actuateSensorLightsBlink = Self(rawValue: 1 << 7)
    public static let resetButton = Self(rawValue: 1 << 8), resetButtonLightsBlink = Self(rawValue: 1 << 9)
    public static let resetButtonSeconds = Self(rawValue: 1 << 10), resetButtonTimes = Self(rawValue: 1 << 11)
    public static let setupButton = Self(rawValue: 1 << 12), setupButtonSeconds = Self(rawValue: 1 << 13)
    public static let setupButtonLightsBlink = Self(rawValue: 1 << 14), setupButtonTimes = Self(rawValue: 1 << 15)
    public static let appDefinedButton = Self(rawValue: 1 << 16)
    public static let names: [Int: String] = [
      0: "PowerCycle", 1: "SettingsMenu", 2: "CustomInstruction", 3: "DeviceManual", 4: "ActuateSensor",
      5: "ActuateSensorSeconds", 6: "ActuateSensorTimes", 7: "ActuateSensorLightsBlink", 8: "ResetButton",
      9: "ResetButtonLightsBlink", 10: "ResetButtonSeconds", 11: "ResetButtonTimes", 12: "SetupButton",
      13: "SetupButtonSeconds", 14: "SetupButtonLightsBlink", 15: "SetupButtonTimes", 16: "AppDefinedButton",
    ]
  }

  /// Matter Core § 9.16.5.1.1.
  public struct ClientType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let permanent = Self(0), ephemeral = Self(1)
    public static let names: [UInt64: String] = [0: "Permanent", 1: "Ephemeral"]
  }

  /// Matter Core § 9.16.5.2.
  public struct OperatingMode: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let sit = Self(0), lit = Self(1)
    public static let names: [UInt64: String] = [0: "SIT", 1: "LIT"]
  }

  /// Matter Core § 9.16.5.3.
  public struct MonitoringRegistrationStruct: FabricScoped {
    public var checkInNodeID: NodeID = 0
    public var monitoredSubject: NodeID = 0
    public var clientType: ClientType = .permanent
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [
      .init(1, "CheckInNodeID", \.checkInNodeID), .init(2, "MonitoredSubject", \.monitoredSubject),
      .init(4, "ClientType", \.clientType), .init(fabricIndex: \.fabricIndex),
    ]

    public init() {}

    public init(
      checkInNodeID: NodeID, monitoredSubject: NodeID, clientType: ClientType, fabricIndex: FabricIndex = .none
    ) {
      self.checkInNodeID = checkInNodeID
      self.monitoredSubject = monitoredSubject
      self.clientType = clientType
      self.fabricIndex = fabricIndex
    }
  }

  // MARK: Fields of commands and events

  /// Matter Core § 9.16.7.1.
  public struct RegisterClientRequest: ModelStruct {
    public var checkInNodeID: NodeID = 0
    public var monitoredSubject: NodeID = 0
    public var key: OctetString = []
    public var verificationKey: OctetString?
    public var clientType: ClientType = .permanent
    public static let fields: [Field<Self>] = [
      .init(0, "CheckInNodeID", \.checkInNodeID), .init(1, "MonitoredSubject", \.monitoredSubject),
      .init(2, "Key", \.key), .init(3, "VerificationKey", \.verificationKey), .init(4, "ClientType", \.clientType),
    ]

    public init() {}

    public init(
      checkInNodeID: NodeID, monitoredSubject: NodeID, key: OctetString, verificationKey: OctetString? = nil,
      clientType: ClientType
    ) {
      self.checkInNodeID = checkInNodeID
      self.monitoredSubject = monitoredSubject
      self.key = key
      self.verificationKey = verificationKey
      self.clientType = clientType
    }
  }

  /// Matter Core § 9.16.7.2.
  public struct RegisterClientResponse: ModelStruct {
    public var icdCounter: UInt32 = 0
    public static let fields: [Field<Self>] = [.init(0, "ICDCounter", \.icdCounter)]

    public init() {}

    public init(icdCounter: UInt32) { self.icdCounter = icdCounter }
  }

  /// Matter Core § 9.16.7.3.
  public struct UnregisterClientRequest: ModelStruct {
    public var checkInNodeID: NodeID = 0
    public var verificationKey: OctetString?
    public static let fields: [Field<Self>] = [
      .init(0, "CheckInNodeID", \.checkInNodeID), .init(1, "VerificationKey", \.verificationKey),
    ]

    public init() {}

    public init(checkInNodeID: NodeID, verificationKey: OctetString? = nil) {
      self.checkInNodeID = checkInNodeID
      self.verificationKey = verificationKey
    }
  }

  /// Matter Core § 9.16.7.4.
  public struct StayActiveRequest: ModelStruct {
    public var stayActiveDuration: UInt32 = 0
    public static let fields: [Field<Self>] = [.init(0, "StayActiveDuration", \.stayActiveDuration)]

    public init() {}

    public init(stayActiveDuration: UInt32) { self.stayActiveDuration = stayActiveDuration }
  }

  /// Matter Core § 9.16.7.5.
  public struct StayActiveResponse: ModelStruct {
    public var promisedActiveDuration: UInt32 = 0
    public static let fields: [Field<Self>] = [.init(0, "PromisedActiveDuration", \.promisedActiveDuration)]

    public init() {}

    public init(promisedActiveDuration: UInt32) { self.promisedActiveDuration = promisedActiveDuration }
  }
}
