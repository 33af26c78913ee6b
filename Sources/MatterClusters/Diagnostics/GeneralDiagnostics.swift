public import MatterModel

/// General Diagnostics (0x0033). Health of the node: reboots, interfaces, faults, uptime. Matter Core § 11.12.
public enum GeneralDiagnostics: Cluster {
  public static let id: ClusterID = 0x0033, revision: UInt16 = 2, name = "GeneralDiagnostics"
  public static let quality: Quality = .diagnostics

  public static let dataModelTest = Feature(0, "DMTEST", "DataModelTest")
  public static let features: [Feature] = [dataModelTest]

  // MARK: Attributes

  public static let networkInterfaces = Attribute<Self, [NetworkInterface]>(
    0x0000, "NetworkInterfaces", initial: [], constraint: .entries(8))
  public static let rebootCount = Attribute<Self, UInt16>(0x0001, "RebootCount", quality: .nonVolatile)
  public static let upTime = Attribute<Self, UInt64>(0x0002, "UpTime", quality: .changesOmitted)
  public static let totalOperationalHours = Attribute<Self, UInt32>(
    0x0003, "TotalOperationalHours", quality: [.nonVolatile, .changesOmitted], conformance: .optional)
  public static let bootReason = Attribute<Self, BootReason>(0x0004, "BootReason", conformance: .optional)
  public static let activeHardwareFaults = Attribute<Self, [HardwareFault]>(
    0x0005, "ActiveHardwareFaults", initial: [], conformance: .optional, constraint: .entries(11))
  public static let activeRadioFaults = Attribute<Self, [RadioFault]>(
    0x0006, "ActiveRadioFaults", initial: [], conformance: .optional, constraint: .entries(7))
  public static let activeNetworkFaults = Attribute<Self, [NetworkFault]>(
    0x0007, "ActiveNetworkFaults", initial: [], conformance: .optional, constraint: .entries(4))
  public static let testEventTriggersEnabled = Attribute<Self, Bool>(0x0008, "TestEventTriggersEnabled")

  // MARK: Commands

  public static let testEventTrigger = Command<Self, TestEventTriggerRequest, NoFields>(
    0x00, "TestEventTrigger", privilege: .manage)
  public static let timeSnapshot = Command<Self, NoFields, TimeSnapshotResponse>(0x01, "TimeSnapshot", response: 0x02)
  public static let payloadTestRequest = Command<Self, PayloadTestRequest, PayloadTestResponse>(
    0x03, "PayloadTestRequest", response: 0x04, privilege: .manage, conformance: .features(dataModelTest.mask))

  // MARK: Events

  public static let hardwareFaultChange = Event<Self, HardwareFaultChangeEvent>(
    0x00, "HardwareFaultChange", priority: .critical, conformance: .optional)
  public static let radioFaultChange = Event<Self, RadioFaultChangeEvent>(
    0x01, "RadioFaultChange", priority: .critical, conformance: .optional)
  public static let networkFaultChange = Event<Self, NetworkFaultChangeEvent>(
    0x02, "NetworkFaultChange", priority: .critical, conformance: .optional)
  public static let bootReasonEvent = Event<Self, BootReasonEvent>(0x03, "BootReason", priority: .critical)

  public static let elements: [any ClusterElement] = [
    networkInterfaces, rebootCount, upTime, totalOperationalHours, bootReason, activeHardwareFaults, activeRadioFaults,
    activeNetworkFaults, testEventTriggersEnabled, testEventTrigger, timeSnapshot, payloadTestRequest,
    hardwareFaultChange, radioFaultChange, networkFaultChange, bootReasonEvent,
  ]

  // MARK: Types

  /// Matter Core § 11.12.5.1.
  public struct HardwareFault: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unspecified = Self(0), radio = Self(1), sensor = Self(2), resettableOverTemp = Self(3)
    public static let nonResettableOverTemp = Self(4), powerSource = Self(5), visualDisplayFault = Self(6)
    public static let audioOutputFault = Self(7), userInterfaceFault = Self(8), nonVolatileMemoryError = Self(9)
    public static let tamperDetected = Self(10)
    public static let names: [UInt64: String] = [
      0: "Unspecified", 1: "Radio", 2: "Sensor", 3: "ResettableOverTemp", 4: "NonResettableOverTemp", 5: "PowerSource",
      6: "VisualDisplayFault", 7: "AudioOutputFault", 8: "UserInterfaceFault", 9: "NonVolatileMemoryError",
      10: "TamperDetected",
    ]
  }

  /// Matter Core § 11.12.5.2.
  public struct RadioFault: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unspecified = Self(0), wiFiFault = Self(1), cellularFault = Self(2), threadFault = Self(3)
    public static let nfcFault = Self(4), bleFault = Self(5), ethernetFault = Self(6)
    public static let names: [UInt64: String] = [
      0: "Unspecified", 1: "WiFiFault", 2: "CellularFault", 3: "ThreadFault", 4: "NFCFault", 5: "BLEFault",
      6: "EthernetFault",
    ]
  }

  /// Matter Core § 11.12.5.3.
  public struct NetworkFault: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unspecified = Self(0), hardwareFailure = Self(1), networkJammed = Self(2)
    public static let connectionFailed = Self(3)
    public static let names: [UInt64: String] = [
      0: "Unspecified", 1: "HardwareFailure", 2: "NetworkJammed", 3: "ConnectionFailed",
    ]
  }

  /// Matter Core § 11.12.5.4.
  public struct InterfaceType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unspecified = Self(0), wiFi = Self(1), ethernet = Self(2), cellular = Self(3), thread = Self(4)
    public static let names: [UInt64: String] = [
      0: "Unspecified", 1: "WiFi", 2: "Ethernet", 3: "Cellular", 4: "Thread",
    ]
  }

  /// Matter Core § 11.12.5.5.
  public struct BootReason: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unspecified = Self(0), powerOnReboot = Self(1), brownOutReset = Self(2)
    public static let softwareWatchdogReset = Self(3), hardwareWatchdogReset = Self(4)
    public static let softwareUpdateCompleted = Self(5), softwareReset = Self(6)
    public static let names: [UInt64: String] = [
      0: "Unspecified", 1: "PowerOnReboot", 2: "BrownOutReset", 3: "SoftwareWatchdogReset", 4: "HardwareWatchdogReset",
      5: "SoftwareUpdateCompleted", 6: "SoftwareReset",
    ]
  }

  /// Matter Core § 11.12.5.6.
  public struct NetworkInterface: ModelStruct {
    public var name: String = ""
    public var isOperational: Bool = false
    public var offPremiseServicesReachableIPv4: Nullable<Bool> = .null
    public var offPremiseServicesReachableIPv6: Nullable<Bool> = .null
    public var hardwareAddress: OctetString = []
    public var ipv4Addresses: [OctetString] = []
    public var ipv6Addresses: [OctetString] = []
    public var type: InterfaceType = .unspecified
    public static let fields: [Field<Self>] = [
      .init(0, "Name", \.name), .init(1, "IsOperational", \.isOperational),
      .init(2, "OffPremiseServicesReachableIPv4", \.offPremiseServicesReachableIPv4),
      .init(3, "OffPremiseServicesReachableIPv6", \.offPremiseServicesReachableIPv6),
      .init(4, "HardwareAddress", \.hardwareAddress), .init(5, "IPv4Addresses", \.ipv4Addresses),
      .init(6, "IPv6Addresses", \.ipv6Addresses), .init(7, "Type", \.type),
    ]

    public init() {}

    public init(
      name: String, isOperational: Bool, offPremiseServicesReachableIPv4: Nullable<Bool>,
      offPremiseServicesReachableIPv6: Nullable<Bool>, hardwareAddress: OctetString, ipv4Addresses: [OctetString],
      ipv6Addresses: [OctetString], type: InterfaceType
    ) {
      self.name = name
      self.isOperational = isOperational
      self.offPremiseServicesReachableIPv4 = offPremiseServicesReachableIPv4
      self.offPremiseServicesReachableIPv6 = offPremiseServicesReachableIPv6
      self.hardwareAddress = hardwareAddress
      self.ipv4Addresses = ipv4Addresses
      self.ipv6Addresses = ipv6Addresses
      self.type = type
    }
  }

  // MARK: Fields of commands and events

  /// Matter Core § 11.12.7.1.
  public struct TestEventTriggerRequest: ModelStruct {
    public var enableKey: OctetString = []
    public var eventTrigger: UInt64 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "EnableKey", \.enableKey), .init(1, "EventTrigger", \.eventTrigger),
    ]

    public init() {}

    public init(enableKey: OctetString, eventTrigger: UInt64) {
      self.enableKey = enableKey
      self.eventTrigger = eventTrigger
    }
  }

  /// Matter Core § 11.12.7.3.
  public struct TimeSnapshotResponse: ModelStruct {
    public var systemTimeMs: UInt64 = 0
    public var posixTimeMs: Nullable<UInt64> = .null
    public static let fields: [Field<Self>] = [
      .init(0, "SystemTimeMs", \.systemTimeMs), .init(1, "PosixTimeMs", \.posixTimeMs),
    ]

    public init() {}

    public init(systemTimeMs: UInt64, posixTimeMs: Nullable<UInt64>) {
      self.systemTimeMs = systemTimeMs
      self.posixTimeMs = posixTimeMs
    }
  }

  /// Matter Core § 11.12.7.4.
  public struct PayloadTestRequest: ModelStruct {
    public var enableKey: OctetString = []
    public var value: UInt8 = 0
    public var count: UInt16 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "EnableKey", \.enableKey), .init(1, "Value", \.value), .init(2, "Count", \.count),
    ]

    public init() {}

    public init(enableKey: OctetString, value: UInt8, count: UInt16) {
      self.enableKey = enableKey
      self.value = value
      self.count = count
    }
  }

  /// Matter Core § 11.12.7.5.
  public struct PayloadTestResponse: ModelStruct {
    public var payload: OctetString = []
    public static let fields: [Field<Self>] = [.init(0, "Payload", \.payload)]

    public init() {}

    public init(payload: OctetString) { self.payload = payload }
  }

  /// Matter Core § 11.12.8.1.
  public struct HardwareFaultChangeEvent: ModelStruct {
    public var current: [HardwareFault] = []
    public var previous: [HardwareFault] = []
    public static let fields: [Field<Self>] = [.init(0, "Current", \.current), .init(1, "Previous", \.previous)]

    public init() {}

    public init(current: [HardwareFault], previous: [HardwareFault]) {
      self.current = current
      self.previous = previous
    }
  }

  /// Matter Core § 11.12.8.2.
  public struct RadioFaultChangeEvent: ModelStruct {
    public var current: [RadioFault] = []
    public var previous: [RadioFault] = []
    public static let fields: [Field<Self>] = [.init(0, "Current", \.current), .init(1, "Previous", \.previous)]

    public init() {}

    public init(current: [RadioFault], previous: [RadioFault]) {
      self.current = current
      self.previous = previous
    }
  }

  /// Matter Core § 11.12.8.3.
  public struct NetworkFaultChangeEvent: ModelStruct {
    public var current: [NetworkFault] = []
    public var previous: [NetworkFault] = []
    public static let fields: [Field<Self>] = [.init(0, "Current", \.current), .init(1, "Previous", \.previous)]

    public init() {}

    public init(current: [NetworkFault], previous: [NetworkFault]) {
      self.current = current
      self.previous = previous
    }
  }

  /// Matter Core § 11.12.8.4.
  public struct BootReasonEvent: ModelStruct {
    public var bootReason: BootReason = .unspecified
    public static let fields: [Field<Self>] = [.init(0, "BootReason", \.bootReason)]

    public init() {}

    public init(bootReason: BootReason) { self.bootReason = bootReason }
  }
}
