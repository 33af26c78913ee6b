public import MatterModel

/// General Commissioning (0x0030). The fail-safe, regulatory settings, and completion of commissioning.
/// Matter Core § 11.10.
public enum GeneralCommissioning: Cluster {
  public static let id: ClusterID = 0x0030, revision: UInt16 = 2, name = "GeneralCommissioning"

  public static let termsAndConditions = Feature(0, "TC", "TermsAndConditions")
  public static let features: [Feature] = [termsAndConditions]

  // MARK: Attributes

  public static let breadcrumb = Attribute<Self, UInt64>(0x0000, "Breadcrumb", initial: 0, write: .administer)
  public static let basicCommissioningInfo = Attribute<Self, BasicCommissioningInfo>(
    0x0001, "BasicCommissioningInfo", quality: .fixed)
  public static let regulatoryConfig = Attribute<Self, RegulatoryLocationType>(0x0002, "RegulatoryConfig")
  public static let locationCapability = Attribute<Self, RegulatoryLocationType>(
    0x0003, "LocationCapability", initial: .indoorOutdoor, quality: .fixed)
  public static let supportsConcurrentConnection = Attribute<Self, Bool>(
    0x0004, "SupportsConcurrentConnection", initial: true, quality: .fixed)
  public static let tcAcceptedVersion = Attribute<Self, UInt16>(
    0x0005, "TCAcceptedVersion", quality: .nonVolatile, read: .administer,
    conformance: .features(termsAndConditions.mask))
  public static let tcMinRequiredVersion = Attribute<Self, UInt16>(
    0x0006, "TCMinRequiredVersion", quality: .nonVolatile, read: .administer,
    conformance: .features(termsAndConditions.mask))
  public static let tcAcknowledgements = Attribute<Self, UInt16>(
    0x0007, "TCAcknowledgements", quality: .nonVolatile, read: .administer,
    conformance: .features(termsAndConditions.mask))
  public static let tcAcknowledgementsRequired = Attribute<Self, Bool>(
    0x0008, "TCAcknowledgementsRequired", initial: true, quality: .nonVolatile, read: .administer,
    conformance: .features(termsAndConditions.mask))
  public static let tcUpdateDeadline = Attribute<Self, Nullable<UInt32>>(
    0x0009, "TCUpdateDeadline", initial: .null, quality: .nonVolatile, read: .administer,
    conformance: .features(termsAndConditions.mask))

  // MARK: Commands

  public static let armFailSafe = Command<Self, ArmFailSafeRequest, ArmFailSafeResponse>(
    0x00, "ArmFailSafe", response: 0x01, privilege: .administer)
  public static let setRegulatoryConfig = Command<Self, SetRegulatoryConfigRequest, SetRegulatoryConfigResponse>(
    0x02, "SetRegulatoryConfig", response: 0x03, privilege: .administer)
  public static let commissioningComplete = Command<Self, NoFields, CommissioningCompleteResponse>(
    0x04, "CommissioningComplete", response: 0x05, privilege: .administer, quality: .fabricScoped)
  public static let setTCAcknowledgements = Command<Self, SetTCAcknowledgementsRequest, SetTCAcknowledgementsResponse>(
    0x06, "SetTCAcknowledgements", response: 0x07, privilege: .administer,
    conformance: .features(termsAndConditions.mask))

  public static let elements: [any ClusterElement] = [
    breadcrumb, basicCommissioningInfo, regulatoryConfig, locationCapability, supportsConcurrentConnection,
    tcAcceptedVersion, tcMinRequiredVersion, tcAcknowledgements, tcAcknowledgementsRequired, tcUpdateDeadline,
    armFailSafe, setRegulatoryConfig, commissioningComplete, setTCAcknowledgements,
  ]

  // MARK: Types

  /// Matter Core § 11.10.5.1.
  public struct CommissioningError: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let ok = Self(0), valueOutsideRange = Self(1), invalidAuthentication = Self(2), noFailSafe = Self(3)
    public static let busyWithOtherAdmin = Self(4), requiredTCNotAccepted = Self(5)
    public static let tcAcknowledgementsNotReceived = Self(6), tcMinVersionNotMet = Self(7)
    public static let names: [UInt64: String] = [
      0: "OK", 1: "ValueOutsideRange", 2: "InvalidAuthentication", 3: "NoFailSafe", 4: "BusyWithOtherAdmin",
      5: "RequiredTCNotAccepted", 6: "TCAcknowledgementsNotReceived", 7: "TCMinVersionNotMet",
    ]
  }

  /// Matter Core § 11.10.5.2.
  public struct RegulatoryLocationType: WireCode, Codable {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let indoor = Self(0), outdoor = Self(1), indoorOutdoor = Self(2)
    public static let names: [UInt64: String] = [0: "Indoor", 1: "Outdoor", 2: "IndoorOutdoor"]
  }

  /// Matter Core § 11.10.5.3.
  public struct BasicCommissioningInfo: ModelStruct {
    public var failSafeExpiryLengthSeconds: UInt16 = 0
    public var maxCumulativeFailsafeSeconds: UInt16 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "FailSafeExpiryLengthSeconds", \.failSafeExpiryLengthSeconds),
      .init(1, "MaxCumulativeFailsafeSeconds", \.maxCumulativeFailsafeSeconds),
    ]

    public init() {}

    public init(failSafeExpiryLengthSeconds: UInt16, maxCumulativeFailsafeSeconds: UInt16) {
      self.failSafeExpiryLengthSeconds = failSafeExpiryLengthSeconds
      self.maxCumulativeFailsafeSeconds = maxCumulativeFailsafeSeconds
    }
  }

  // MARK: Fields of commands and events

  /// Matter Core § 11.10.7.2.
  public struct ArmFailSafeRequest: ModelStruct {
    public var expiryLengthSeconds: UInt16 = 0
    public var breadcrumb: UInt64 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "ExpiryLengthSeconds", \.expiryLengthSeconds), .init(1, "Breadcrumb", \.breadcrumb),
    ]

    public init() {}

    public init(expiryLengthSeconds: UInt16, breadcrumb: UInt64) {
      self.expiryLengthSeconds = expiryLengthSeconds
      self.breadcrumb = breadcrumb
    }
  }

  /// Matter Core § 11.10.7.3.
  public struct ArmFailSafeResponse: ModelStruct {
    public var errorCode: CommissioningError = .ok
    public var debugText: String = ""
    public static let fields: [Field<Self>] = [.init(0, "ErrorCode", \.errorCode), .init(1, "DebugText", \.debugText)]

    public init() {}

    public init(errorCode: CommissioningError, debugText: String) {
      self.errorCode = errorCode
      self.debugText = debugText
    }
  }

  /// Matter Core § 11.10.7.4.
  public struct SetRegulatoryConfigRequest: ModelStruct {
    public var newRegulatoryConfig: RegulatoryLocationType = .indoor
    public var countryCode: String = ""
    public var breadcrumb: UInt64 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "NewRegulatoryConfig", \.newRegulatoryConfig), .init(1, "CountryCode", \.countryCode),
      .init(2, "Breadcrumb", \.breadcrumb),
    ]

    public init() {}

    public init(newRegulatoryConfig: RegulatoryLocationType, countryCode: String, breadcrumb: UInt64) {
      self.newRegulatoryConfig = newRegulatoryConfig
      self.countryCode = countryCode
      self.breadcrumb = breadcrumb
    }
  }

  /// Matter Core § 11.10.7.5.
  public struct SetRegulatoryConfigResponse: ModelStruct {
    public var errorCode: CommissioningError = .ok
    public var debugText: String = ""
    public static let fields: [Field<Self>] = [.init(0, "ErrorCode", \.errorCode), .init(1, "DebugText", \.debugText)]

    public init() {}

    public init(errorCode: CommissioningError, debugText: String) {
      self.errorCode = errorCode
      self.debugText = debugText
    }
  }

  /// Matter Core § 11.10.7.7.
  public struct CommissioningCompleteResponse: ModelStruct {
    public var errorCode: CommissioningError = .ok
    public var debugText: String = ""
    public static let fields: [Field<Self>] = [.init(0, "ErrorCode", \.errorCode), .init(1, "DebugText", \.debugText)]

    public init() {}

    public init(errorCode: CommissioningError, debugText: String) {
      self.errorCode = errorCode
      self.debugText = debugText
    }
  }

  /// Matter Core § 11.10.7.8.
  public struct SetTCAcknowledgementsRequest: ModelStruct {
    public var tcVersion: UInt16 = 0
    public var tcUserResponse: UInt16 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "TCVersion", \.tcVersion), .init(1, "TCUserResponse", \.tcUserResponse),
    ]

    public init() {}

    public init(tcVersion: UInt16, tcUserResponse: UInt16) {
      self.tcVersion = tcVersion
      self.tcUserResponse = tcUserResponse
    }
  }

  /// Matter Core § 11.10.7.9.
  public struct SetTCAcknowledgementsResponse: ModelStruct {
    public var errorCode: CommissioningError = .ok
    public static let fields: [Field<Self>] = [.init(0, "ErrorCode", \.errorCode)]

    public init() {}

    public init(errorCode: CommissioningError) { self.errorCode = errorCode }
  }
}
