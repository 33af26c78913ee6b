public import MatterModel

/// Network Commissioning (0x0031). The networks of a node. An Ethernet interface has exactly one, which is never
/// joined. Matter Core § 11.9.
public enum NetworkCommissioning: Cluster {
  public static let id: ClusterID = 0x0031, revision: UInt16 = 2, name = "NetworkCommissioning"

  public static let wiFiNetworkInterface = Feature(0, "WI", "WiFiNetworkInterface")
  public static let threadNetworkInterface = Feature(1, "TH", "ThreadNetworkInterface")
  public static let ethernetNetworkInterface = Feature(2, "ET", "EthernetNetworkInterface")
  public static let features: [Feature] = [wiFiNetworkInterface, threadNetworkInterface, ethernetNetworkInterface]

  // MARK: Attributes

  public static let maxNetworks = Attribute<Self, UInt8>(
    0x0000, "MaxNetworks", quality: .fixed, read: .administer, constraint: .range(1...255))
  public static let networks = Attribute<Self, [NetworkInfoStruct]>(0x0001, "Networks", initial: [], read: .administer)
  public static let scanMaxTimeSeconds = Attribute<Self, UInt8>(
    0x0002, "ScanMaxTimeSeconds", quality: .fixed,
    conformance: .features(wiFiNetworkInterface.mask | threadNetworkInterface.mask))
  public static let connectMaxTimeSeconds = Attribute<Self, UInt8>(
    0x0003, "ConnectMaxTimeSeconds", quality: .fixed,
    conformance: .features(wiFiNetworkInterface.mask | threadNetworkInterface.mask))
  public static let interfaceEnabled = Attribute<Self, Bool>(
    0x0004, "InterfaceEnabled", initial: true, quality: .nonVolatile, write: .administer)
  public static let lastNetworkingStatus = Attribute<Self, Nullable<NetworkCommissioningStatus>>(
    0x0005, "LastNetworkingStatus", initial: .null, read: .administer)
  public static let lastNetworkID = Attribute<Self, Nullable<OctetString>>(
    0x0006, "LastNetworkID", initial: .null, read: .administer, constraint: .length(1...32))
  public static let lastConnectErrorValue = Attribute<Self, Nullable<Int32>>(
    0x0007, "LastConnectErrorValue", initial: .null, read: .administer)
  public static let supportedWiFiBands = Attribute<Self, [WiFiBand]>(
    0x0008, "SupportedWiFiBands", quality: .fixed, conformance: .features(wiFiNetworkInterface.mask))
  public static let supportedThreadFeatures = Attribute<Self, ThreadCapabilities>(
    0x0009, "SupportedThreadFeatures", quality: .fixed, conformance: .features(threadNetworkInterface.mask))
  public static let threadVersion = Attribute<Self, UInt16>(
    0x000A, "ThreadVersion", quality: .fixed, conformance: .features(threadNetworkInterface.mask))

  // MARK: Commands

  public static let scanNetworks = Command<Self, ScanNetworksRequest, ScanNetworksResponse>(
    0x00, "ScanNetworks", response: 0x01, privilege: .administer,
    conformance: .features(wiFiNetworkInterface.mask | threadNetworkInterface.mask))
  public static let addOrUpdateWiFiNetwork = Command<Self, AddOrUpdateWiFiNetworkRequest, NetworkConfigResponse>(
    0x02, "AddOrUpdateWiFiNetwork", response: 0x05, privilege: .administer,
    conformance: .features(wiFiNetworkInterface.mask))
  public static let addOrUpdateThreadNetwork = Command<Self, AddOrUpdateThreadNetworkRequest, NetworkConfigResponse>(
    0x03, "AddOrUpdateThreadNetwork", response: 0x05, privilege: .administer,
    conformance: .features(threadNetworkInterface.mask))
  public static let removeNetwork = Command<Self, RemoveNetworkRequest, NetworkConfigResponse>(
    0x04, "RemoveNetwork", response: 0x05, privilege: .administer,
    conformance: .features(wiFiNetworkInterface.mask | threadNetworkInterface.mask))
  public static let connectNetwork = Command<Self, ConnectNetworkRequest, ConnectNetworkResponse>(
    0x06, "ConnectNetwork", response: 0x07, privilege: .administer,
    conformance: .features(wiFiNetworkInterface.mask | threadNetworkInterface.mask))
  public static let reorderNetwork = Command<Self, ReorderNetworkRequest, NetworkConfigResponse>(
    0x08, "ReorderNetwork", response: 0x05, privilege: .administer,
    conformance: .features(wiFiNetworkInterface.mask | threadNetworkInterface.mask))

  public static let elements: [any ClusterElement] = [
    maxNetworks, networks, scanMaxTimeSeconds, connectMaxTimeSeconds, interfaceEnabled, lastNetworkingStatus,
    lastNetworkID, lastConnectErrorValue, supportedWiFiBands, supportedThreadFeatures, threadVersion, scanNetworks,
    addOrUpdateWiFiNetwork, addOrUpdateThreadNetwork, removeNetwork, connectNetwork, reorderNetwork,
  ]

  // MARK: Types

  /// Matter Core § 11.9.5.1.
  public struct WiFiSecurity: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unencrypted = Self(rawValue: 1 << 0), wep = Self(rawValue: 1 << 1)
    public static let wpaPersonal = Self(rawValue: 1 << 2), wpa2Personal = Self(rawValue: 1 << 3)
    public static let wpa3Personal = Self(rawValue: 1 << 4)
    public static let names: [Int: String] = [
      0: "Unencrypted", 1: "WEP", 2: "WpaPersonal", 3: "Wpa2Personal", 4: "Wpa3Personal",
    ]
  }

  /// Matter Core § 11.9.5.2.
  public struct ThreadCapabilities: WireBitmap {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let isBorderRouterCapable = Self(rawValue: 1 << 0), isRouterCapable = Self(rawValue: 1 << 1)
    public static let isSleepyEndDeviceCapable = Self(rawValue: 1 << 2), isFullThreadDevice = Self(rawValue: 1 << 3)
    public static let isSynchronizedSleepyEndDeviceCapable = Self(rawValue: 1 << 4)
    public static let names: [Int: String] = [
      0: "IsBorderRouterCapable", 1: "IsRouterCapable", 2: "IsSleepyEndDeviceCapable", 3: "IsFullThreadDevice",
      4: "IsSynchronizedSleepyEndDeviceCapable",
    ]
  }

  /// Matter Core § 11.9.5.3.
  public struct WiFiBand: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let band2G4 = Self(0), band3G65 = Self(1), band5G = Self(2), band6G = Self(3), band60G = Self(4)
    public static let band1G = Self(5)
    public static let names: [UInt64: String] = [0: "2G4", 1: "3G65", 2: "5G", 3: "6G", 4: "60G", 5: "1G"]
  }

  /// Matter Core § 11.9.5.4.
  public struct NetworkCommissioningStatus: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let success = Self(0), outOfRange = Self(1), boundsExceeded = Self(2), networkIDNotFound = Self(3)
    public static let duplicateNetworkID = Self(4), networkNotFound = Self(5), regulatoryError = Self(6)
    public static let authFailure = Self(7), unsupportedSecurity = Self(8), otherConnectionFailure = Self(9)
    public static let ipv6Failed = Self(10), ipBindFailed = Self(11), unknownError = Self(12)
    public static let names: [UInt64: String] = [
      0: "Success", 1: "OutOfRange", 2: "BoundsExceeded", 3: "NetworkIDNotFound", 4: "DuplicateNetworkID",
      5: "NetworkNotFound", 6: "RegulatoryError", 7: "AuthFailure", 8: "UnsupportedSecurity",
      9: "OtherConnectionFailure", 10: "IPV6Failed", 11: "IPBindFailed", 12: "UnknownError",
    ]
  }

  /// Matter Core § 11.9.5.5.
  public struct NetworkInfoStruct: ModelStruct {
    public var networkID: OctetString = []
    public var connected: Bool = false
    public static let fields: [Field<Self>] = [.init(0, "NetworkID", \.networkID), .init(1, "Connected", \.connected)]

    public init() {}

    public init(networkID: OctetString, connected: Bool) {
      self.networkID = networkID
      self.connected = connected
    }
  }

  /// Matter Core § 11.9.5.6.
  public struct WiFiInterfaceScanResultStruct: ModelStruct {
    public var security: WiFiSecurity = []
    public var ssid: OctetString = []
    public var bssid: OctetString = []
    public var channel: UInt16 = 0
    public var wiFiBand: WiFiBand?
    public var rssi: Int8?
    public static let fields: [Field<Self>] = [
      .init(0, "Security", \.security), .init(1, "SSID", \.ssid), .init(2, "BSSID", \.bssid),
      .init(3, "Channel", \.channel), .init(4, "WiFiBand", \.wiFiBand), .init(5, "RSSI", \.rssi),
    ]

    public init() {}

    public init(
      security: WiFiSecurity, ssid: OctetString, bssid: OctetString, channel: UInt16,
      wiFiBand: WiFiBand? = nil, rssi: Int8? = nil
    ) {
      self.security = security
      self.ssid = ssid
      self.bssid = bssid
      self.channel = channel
      self.wiFiBand = wiFiBand
      self.rssi = rssi
    }
  }

  /// Matter Core § 11.9.5.7.
  public struct ThreadInterfaceScanResultStruct: ModelStruct {
    public var panId: UInt16 = 0
    public var extendedPanId: UInt64 = 0
    public var networkName = ""
    public var channel: UInt16 = 0
    public var version: UInt8 = 0
    public var extendedAddress: OctetString = []
    public var rssi: Int8 = 0
    public var lqi: UInt8 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "PanId", \.panId), .init(1, "ExtendedPanId", \.extendedPanId), .init(2, "NetworkName", \.networkName),
      .init(3, "Channel", \.channel), .init(4, "Version", \.version), .init(5, "ExtendedAddress", \.extendedAddress),
      .init(6, "RSSI", \.rssi), .init(7, "LQI", \.lqi),
    ]

    public init() {}

    public init(
      panId: UInt16, extendedPanId: UInt64, networkName: String, channel: UInt16, version: UInt8,
      extendedAddress: OctetString, rssi: Int8, lqi: UInt8
    ) {
      self.panId = panId
      self.extendedPanId = extendedPanId
      self.networkName = networkName
      self.channel = channel
      self.version = version
      self.extendedAddress = extendedAddress
      self.rssi = rssi
      self.lqi = lqi
    }
  }

  // MARK: Fields of commands and events

  /// Matter Core § 11.9.7.1.
  public struct ScanNetworksRequest: ModelStruct {
    public var ssid: Nullable<OctetString>?
    public var breadcrumb: UInt64?
    public static let fields: [Field<Self>] = [.init(0, "SSID", \.ssid), .init(1, "Breadcrumb", \.breadcrumb)]

    public init() {}

    public init(ssid: Nullable<OctetString>? = nil, breadcrumb: UInt64? = nil) {
      self.ssid = ssid
      self.breadcrumb = breadcrumb
    }
  }

  /// Matter Core § 11.9.7.2.
  public struct ScanNetworksResponse: ModelStruct {
    public var networkingStatus: NetworkCommissioningStatus = .success
    public var debugText: String?
    public var wiFiScanResults: [WiFiInterfaceScanResultStruct]?
    public var threadScanResults: [ThreadInterfaceScanResultStruct]?
    public static let fields: [Field<Self>] = [
      .init(0, "NetworkingStatus", \.networkingStatus), .init(1, "DebugText", \.debugText),
      .init(2, "WiFiScanResults", \.wiFiScanResults), .init(3, "ThreadScanResults", \.threadScanResults),
    ]

    public init() {}

    public init(
      networkingStatus: NetworkCommissioningStatus, debugText: String? = nil,
      wiFiScanResults: [WiFiInterfaceScanResultStruct]? = nil,
      threadScanResults: [ThreadInterfaceScanResultStruct]? = nil
    ) {
      self.networkingStatus = networkingStatus
      self.debugText = debugText
      self.wiFiScanResults = wiFiScanResults
      self.threadScanResults = threadScanResults
    }
  }

  /// Matter Core § 11.9.7.3.
  public struct AddOrUpdateWiFiNetworkRequest: ModelStruct {
    public var ssid: OctetString = []
    public var credentials: OctetString = []
    public var breadcrumb: UInt64?
    public static let fields: [Field<Self>] = [
      .init(0, "SSID", \.ssid), .init(1, "Credentials", \.credentials), .init(2, "Breadcrumb", \.breadcrumb),
    ]

    public init() {}

    public init(ssid: OctetString, credentials: OctetString, breadcrumb: UInt64? = nil) {
      self.ssid = ssid
      self.credentials = credentials
      self.breadcrumb = breadcrumb
    }
  }

  /// Matter Core § 11.9.7.7.
  public struct NetworkConfigResponse: ModelStruct {
    public var networkingStatus: NetworkCommissioningStatus = .success
    public var debugText: String?
    public var networkIndex: UInt8?
    public static let fields: [Field<Self>] = [
      .init(0, "NetworkingStatus", \.networkingStatus), .init(1, "DebugText", \.debugText),
      .init(2, "NetworkIndex", \.networkIndex),
    ]

    public init() {}

    public init(networkingStatus: NetworkCommissioningStatus, debugText: String? = nil, networkIndex: UInt8? = nil) {
      self.networkingStatus = networkingStatus
      self.debugText = debugText
      self.networkIndex = networkIndex
    }
  }

  /// Matter Core § 11.9.7.4.
  public struct AddOrUpdateThreadNetworkRequest: ModelStruct {
    public var operationalDataset: OctetString = []
    public var breadcrumb: UInt64?
    public static let fields: [Field<Self>] = [
      .init(0, "OperationalDataset", \.operationalDataset), .init(1, "Breadcrumb", \.breadcrumb),
    ]

    public init() {}

    public init(operationalDataset: OctetString, breadcrumb: UInt64? = nil) {
      self.operationalDataset = operationalDataset
      self.breadcrumb = breadcrumb
    }
  }

  /// Matter Core § 11.9.7.6.
  public struct RemoveNetworkRequest: ModelStruct {
    public var networkID: OctetString = []
    public var breadcrumb: UInt64?
    public static let fields: [Field<Self>] = [
      .init(0, "NetworkID", \.networkID), .init(1, "Breadcrumb", \.breadcrumb),
    ]

    public init() {}

    public init(networkID: OctetString, breadcrumb: UInt64? = nil) {
      self.networkID = networkID
      self.breadcrumb = breadcrumb
    }
  }

  /// Matter Core § 11.9.7.8.
  public struct ConnectNetworkRequest: ModelStruct {
    public var networkID: OctetString = []
    public var breadcrumb: UInt64?
    public static let fields: [Field<Self>] = [
      .init(0, "NetworkID", \.networkID), .init(1, "Breadcrumb", \.breadcrumb),
    ]

    public init() {}

    public init(networkID: OctetString, breadcrumb: UInt64? = nil) {
      self.networkID = networkID
      self.breadcrumb = breadcrumb
    }
  }

  /// Matter Core § 11.9.7.9.
  public struct ConnectNetworkResponse: ModelStruct {
    public var networkingStatus: NetworkCommissioningStatus = .success
    public var debugText: String?
    public var errorValue: Nullable<Int32> = .null
    public static let fields: [Field<Self>] = [
      .init(0, "NetworkingStatus", \.networkingStatus), .init(1, "DebugText", \.debugText),
      .init(2, "ErrorValue", \.errorValue),
    ]

    public init() {}

    public init(networkingStatus: NetworkCommissioningStatus, debugText: String? = nil, errorValue: Nullable<Int32>) {
      self.networkingStatus = networkingStatus
      self.debugText = debugText
      self.errorValue = errorValue
    }
  }

  /// Matter Core § 11.9.7.10.
  public struct ReorderNetworkRequest: ModelStruct {
    public var networkID: OctetString = []
    public var networkIndex: UInt8 = 0
    public var breadcrumb: UInt64?
    public static let fields: [Field<Self>] = [
      .init(0, "NetworkID", \.networkID), .init(1, "NetworkIndex", \.networkIndex),
      .init(2, "Breadcrumb", \.breadcrumb),
    ]

    public init() {}

    public init(networkID: OctetString, networkIndex: UInt8, breadcrumb: UInt64? = nil) {
      self.networkID = networkID
      self.networkIndex = networkIndex
      self.breadcrumb = breadcrumb
    }
  }
}
