public import MatterModel

/// Time Synchronization (0x0038). The node's clock: its source, time zone and granularity.
/// Matter Core § 11.17.
public enum TimeSynchronization: Cluster {
  public static let id: ClusterID = 0x0038, revision: UInt16 = 2, name = "TimeSynchronization"

  public static let timeZoneFeature = Feature(0, "TZ", "TimeZone")
  public static let ntpClient = Feature(1, "NTPC", "NTPClient")
  public static let ntpServer = Feature(2, "NTPS", "NTPServer")
  public static let timeSyncClient = Feature(3, "TSC", "TimeSyncClient")
  public static let features: [Feature] = [timeZoneFeature, ntpClient, ntpServer, timeSyncClient]

  // MARK: Attributes

  public static let utcTime = Attribute<Self, Nullable<UInt64>>(
    0x0000, "UTCTime", initial: .null, quality: .changesOmitted)
  public static let granularity = Attribute<Self, Granularity>(0x0001, "Granularity", initial: .noTimeGranularity)
  public static let timeSource = Attribute<Self, TimeSource>(
    0x0002, "TimeSource", initial: TimeSource.none, conformance: .optional)
  public static let trustedTimeSource = Attribute<Self, Nullable<TrustedTimeSourceStruct>>(
    0x0003, "TrustedTimeSource", initial: .null, quality: .nonVolatile, conformance: .features(timeSyncClient.mask))
  public static let defaultNTP = Attribute<Self, Nullable<String>>(
    0x0004, "DefaultNTP", initial: .null, quality: .nonVolatile, conformance: .features(ntpClient.mask),
    constraint: .length(0...128))
  public static let timeZone = Attribute<Self, [TimeZoneStruct]>(
    0x0005, "TimeZone", initial: [], quality: .nonVolatile, conformance: .features(timeZoneFeature.mask),
    constraint: .entries(2))
  public static let dstOffset = Attribute<Self, [DSTOffsetStruct]>(
    0x0006, "DSTOffset", initial: [], quality: .nonVolatile, conformance: .features(timeZoneFeature.mask))
  public static let localTime = Attribute<Self, Nullable<UInt64>>(
    0x0007, "LocalTime", initial: .value(18446744073709551615), quality: .changesOmitted,
    conformance: .features(timeZoneFeature.mask))
  public static let timeZoneDatabase = Attribute<Self, TimeZoneDatabase>(
    0x0008, "TimeZoneDatabase", initial: TimeZoneDatabase.none, quality: .fixed,
    conformance: .features(timeZoneFeature.mask))
  public static let ntpServerAvailable = Attribute<Self, Bool>(
    0x0009, "NTPServerAvailable", initial: false, conformance: .features(ntpServer.mask))
  public static let timeZoneListMaxSize = Attribute<Self, UInt8>(
    0x000A, "TimeZoneListMaxSize", quality: .fixed, conformance: .features(timeZoneFeature.mask),
    constraint: .range(1...2))
  public static let dstOffsetListMaxSize = Attribute<Self, UInt8>(
    0x000B, "DSTOffsetListMaxSize", quality: .fixed, conformance: .features(timeZoneFeature.mask),
    constraint: .range(1...255))
  public static let supportsDNSResolve = Attribute<Self, Bool>(
    0x000C, "SupportsDNSResolve", initial: false, quality: .fixed, conformance: .features(ntpClient.mask))

  // MARK: Commands

  public static let setUTCTime = Command<Self, SetUTCTimeRequest, NoFields>(0x00, "SetUTCTime", privilege: .administer)
  public static let setTrustedTimeSource = Command<Self, SetTrustedTimeSourceRequest, NoFields>(
    0x01, "SetTrustedTimeSource", privilege: .administer, quality: .fabricScoped,
    conformance: .features(timeSyncClient.mask))
  public static let setTimeZone = Command<Self, SetTimeZoneRequest, SetTimeZoneResponse>(
    0x02, "SetTimeZone", response: 0x03, privilege: .manage, conformance: .features(timeZoneFeature.mask))
  public static let setDSTOffset = Command<Self, SetDSTOffsetRequest, NoFields>(
    0x04, "SetDSTOffset", privilege: .manage, conformance: .features(timeZoneFeature.mask))
  public static let setDefaultNTP = Command<Self, SetDefaultNTPRequest, NoFields>(
    0x05, "SetDefaultNTP", privilege: .administer, conformance: .features(ntpClient.mask))

  // MARK: Events

  public static let dstTableEmpty = Event<Self, NoFields>(
    0x00, "DSTTableEmpty", conformance: .features(timeZoneFeature.mask))
  public static let dstStatus = Event<Self, DSTStatusEvent>(
    0x01, "DSTStatus", conformance: .features(timeZoneFeature.mask))
  public static let timeZoneStatus = Event<Self, TimeZoneStatusEvent>(
    0x02, "TimeZoneStatus", conformance: .features(timeZoneFeature.mask))
  public static let timeFailure = Event<Self, NoFields>(0x03, "TimeFailure")
  public static let missingTrustedTimeSource = Event<Self, NoFields>(
    0x04, "MissingTrustedTimeSource", conformance: .features(timeSyncClient.mask))

  public static let elements: [any ClusterElement] = [
    utcTime, granularity, timeSource, trustedTimeSource, defaultNTP, timeZone, dstOffset, localTime, timeZoneDatabase,
    ntpServerAvailable, timeZoneListMaxSize, dstOffsetListMaxSize, supportsDNSResolve, setUTCTime,
    setTrustedTimeSource, setTimeZone, setDSTOffset, setDefaultNTP, dstTableEmpty, dstStatus, timeZoneStatus,
    timeFailure, missingTrustedTimeSource,
  ]

  // MARK: Types

  /// Matter Core § 11.17.6.1.
  public struct Granularity: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let noTimeGranularity = Self(0), minutesGranularity = Self(1), secondsGranularity = Self(2)
    public static let millisecondsGranularity = Self(3), microsecondsGranularity = Self(4)
    public static let names: [UInt64: String] = [
      0: "NoTimeGranularity", 1: "MinutesGranularity", 2: "SecondsGranularity", 3: "MillisecondsGranularity",
      4: "MicrosecondsGranularity",
    ]
  }

  /// Matter Core § 11.17.6.2.
  public struct TimeSource: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let none = Self(0), unknown = Self(1), admin = Self(2), nodeTimeCluster = Self(3)
    public static let nonMatterSNTP = Self(4), nonMatterNTP = Self(5), matterSNTP = Self(6), matterNTP = Self(7)
    public static let mixedNTP = Self(8), nonMatterSNTPNTS = Self(9), nonMatterNTPNTS = Self(10)
    public static let matterSNTPNTS = Self(11), matterNTPNTS = Self(12), mixedNTPNTS = Self(13), cloudSource = Self(14)
    public static let ptp = Self(15), gnss = Self(16)
    public static let names: [UInt64: String] = [
      0: "None", 1: "Unknown", 2: "Admin", 3: "NodeTimeCluster", 4: "NonMatterSNTP", 5: "NonMatterNTP",
      6: "MatterSNTP", 7: "MatterNTP", 8: "MixedNTP", 9: "NonMatterSNTPNTS", 10: "NonMatterNTPNTS",
      11: "MatterSNTPNTS", 12: "MatterNTPNTS", 13: "MixedNTPNTS", 14: "CloudSource", 15: "PTP", 16: "GNSS",
    ]
  }

  /// Matter Core § 11.17.6.3.
  public struct TimeZoneDatabase: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let full = Self(0), partial = Self(1), none = Self(2)
    public static let names: [UInt64: String] = [0: "Full", 1: "Partial", 2: "None"]
  }

  /// Matter Core § 11.17.6.4.
  public struct TrustedTimeSourceStruct: ModelStruct {
    public var fabricIndex: FabricIndex = .none
    public var nodeID: NodeID = 0
    public var endpoint: EndpointID = 0
    public static let fields: [Field<Self>] = [
      .init(0, "FabricIndex", \.fabricIndex), .init(1, "NodeID", \.nodeID), .init(2, "Endpoint", \.endpoint),
    ]

    public init() {}

    public init(fabricIndex: FabricIndex, nodeID: NodeID, endpoint: EndpointID) {
      self.fabricIndex = fabricIndex
      self.nodeID = nodeID
      self.endpoint = endpoint
    }
  }

  /// Matter Core § 11.17.6.5.
  public struct FabricScopedTrustedTimeSourceStruct: ModelStruct {
    public var nodeID: NodeID = 0
    public var endpoint: EndpointID = 0
    public static let fields: [Field<Self>] = [.init(0, "NodeID", \.nodeID), .init(1, "Endpoint", \.endpoint)]

    public init() {}

    public init(nodeID: NodeID, endpoint: EndpointID) {
      self.nodeID = nodeID
      self.endpoint = endpoint
    }
  }

  /// Matter Core § 11.17.6.6.
  public struct TimeZoneStruct: ModelStruct {
    public var offset: Int32 = 0
    public var validAt: UInt64 = 0
    public var name: String?
    public static let fields: [Field<Self>] = [
      .init(0, "Offset", \.offset), .init(1, "ValidAt", \.validAt), .init(2, "Name", \.name),
    ]

    public init() {}

    public init(offset: Int32, validAt: UInt64, name: String? = nil) {
      self.offset = offset
      self.validAt = validAt
      self.name = name
    }
  }

  /// Matter Core § 11.17.6.7.
  public struct DSTOffsetStruct: ModelStruct {
    public var offset: Int32 = 0
    public var validStarting: UInt64 = 0
    public var validUntil: Nullable<UInt64> = .null
    public static let fields: [Field<Self>] = [
      .init(0, "Offset", \.offset), .init(1, "ValidStarting", \.validStarting), .init(2, "ValidUntil", \.validUntil),
    ]

    public init() {}

    public init(offset: Int32, validStarting: UInt64, validUntil: Nullable<UInt64>) {
      self.offset = offset
      self.validStarting = validStarting
      self.validUntil = validUntil
    }
  }

  /// Matter Core § 11.17.7.1.
  public struct StatusCodeEnum: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let timeNotAccepted = Self(2)
    public static let names: [UInt64: String] = [2: "TimeNotAccepted"]
  }

  // MARK: Fields of commands and events

  /// Matter Core § 11.17.9.1.
  public struct SetUTCTimeRequest: ModelStruct {
    public var utcTime: UInt64 = 0
    public var granularity: Granularity = .noTimeGranularity
    public var timeSource: TimeSource?
    public static let fields: [Field<Self>] = [
      .init(0, "UTCTime", \.utcTime), .init(1, "Granularity", \.granularity), .init(2, "TimeSource", \.timeSource),
    ]

    public init() {}

    public init(utcTime: UInt64, granularity: Granularity, timeSource: TimeSource? = nil) {
      self.utcTime = utcTime
      self.granularity = granularity
      self.timeSource = timeSource
    }
  }

  /// Matter Core § 11.17.9.2.
  public struct SetTrustedTimeSourceRequest: FabricScoped {
    public var trustedTimeSource: Nullable<FabricScopedTrustedTimeSourceStruct> = .null
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [
      .init(0, "TrustedTimeSource", \.trustedTimeSource), .init(fabricIndex: \.fabricIndex),
    ]

    public init() {}

    public init(trustedTimeSource: Nullable<FabricScopedTrustedTimeSourceStruct>, fabricIndex: FabricIndex = .none) {
      self.trustedTimeSource = trustedTimeSource
      self.fabricIndex = fabricIndex
    }
  }

  /// Matter Core § 11.17.9.3.
  public struct SetTimeZoneRequest: ModelStruct {
    public var timeZone: [TimeZoneStruct] = []
    public static let fields: [Field<Self>] = [.init(0, "TimeZone", \.timeZone)]

    public init() {}

    public init(timeZone: [TimeZoneStruct]) { self.timeZone = timeZone }
  }

  /// Matter Core § 11.17.9.4.
  public struct SetTimeZoneResponse: ModelStruct {
    public var dstOffsetRequired: Bool = false
    public static let fields: [Field<Self>] = [.init(0, "DSTOffsetRequired", \.dstOffsetRequired)]

    public init() {}

    public init(dstOffsetRequired: Bool) { self.dstOffsetRequired = dstOffsetRequired }
  }

  /// Matter Core § 11.17.9.5.
  public struct SetDSTOffsetRequest: ModelStruct {
    public var dstOffset: [DSTOffsetStruct] = []
    public static let fields: [Field<Self>] = [.init(0, "DSTOffset", \.dstOffset)]

    public init() {}

    public init(dstOffset: [DSTOffsetStruct]) { self.dstOffset = dstOffset }
  }

  /// Matter Core § 11.17.9.6.
  public struct SetDefaultNTPRequest: ModelStruct {
    public var defaultNTP: Nullable<String> = .null
    public static let fields: [Field<Self>] = [.init(0, "DefaultNTP", \.defaultNTP)]

    public init() {}

    public init(defaultNTP: Nullable<String>) { self.defaultNTP = defaultNTP }
  }

  /// Matter Core § 11.17.10.2.
  public struct DSTStatusEvent: ModelStruct {
    public var dstOffsetActive: Bool = false
    public static let fields: [Field<Self>] = [.init(0, "DSTOffsetActive", \.dstOffsetActive)]

    public init() {}

    public init(dstOffsetActive: Bool) { self.dstOffsetActive = dstOffsetActive }
  }

  /// Matter Core § 11.17.10.3.
  public struct TimeZoneStatusEvent: ModelStruct {
    public var offset: Int32 = 0
    public var name: String?
    public static let fields: [Field<Self>] = [.init(0, "Offset", \.offset), .init(1, "Name", \.name)]

    public init() {}

    public init(offset: Int32, name: String? = nil) {
      self.offset = offset
      self.name = name
    }
  }
}
