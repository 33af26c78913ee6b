/// The status of a request. Matter Core § 8.10.1.
public struct StatusCode: WireCode, Codable {
  public var rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// General status codes.
  public static let success = Self(0x00), failure = Self(0x01), invalidSubscription = Self(0x7D)
  public static let unsupportedAccess = Self(0x7E), unsupportedEndpoint = Self(0x7F), invalidAction = Self(0x80)
  public static let unsupportedCommand = Self(0x81), invalidCommand = Self(0x85), unsupportedAttribute = Self(0x86)
  public static let constraintError = Self(0x87), unsupportedWrite = Self(0x88), resourceExhausted = Self(0x89)
  public static let notFound = Self(0x8B), unreportableAttribute = Self(0x8C), invalidDataType = Self(0x8D)
  public static let unsupportedRead = Self(0x8F), dataVersionMismatch = Self(0x92), timeout = Self(0x94)
  public static let unsupportedNode = Self(0x9B), busy = Self(0x9C), accessRestricted = Self(0x9D)
  public static let unsupportedCluster = Self(0xC3), noUpstreamSubscription = Self(0xC5)
  public static let needsTimedInteraction = Self(0xC6), unsupportedEvent = Self(0xC7), pathsExhausted = Self(0xC8)
  public static let timedRequestMismatch = Self(0xC9), failsafeRequired = Self(0xCA), invalidInState = Self(0xCB)
  public static let noCommandResponse = Self(0xCC), termsAndConditionsChanged = Self(0xCD)
  public static let maintenanceRequired = Self(0xCE), dynamicConstraintError = Self(0xCF)
  public static let alreadyExists = Self(0xD0), invalidTransportType = Self(0xD1)

  public static let names: [UInt64: String] = [
    0x00: "SUCCESS", 0x01: "FAILURE", 0x7D: "INVALID_SUBSCRIPTION", 0x7E: "UNSUPPORTED_ACCESS",
    0x7F: "UNSUPPORTED_ENDPOINT", 0x80: "INVALID_ACTION", 0x81: "UNSUPPORTED_COMMAND", 0x85: "INVALID_COMMAND",
    0x86: "UNSUPPORTED_ATTRIBUTE", 0x87: "CONSTRAINT_ERROR", 0x88: "UNSUPPORTED_WRITE", 0x89: "RESOURCE_EXHAUSTED",
    0x8B: "NOT_FOUND", 0x8C: "UNREPORTABLE_ATTRIBUTE", 0x8D: "INVALID_DATA_TYPE", 0x8F: "UNSUPPORTED_READ",
    0x92: "DATA_VERSION_MISMATCH", 0x94: "TIMEOUT", 0x9B: "UNSUPPORTED_NODE", 0x9C: "BUSY", 0x9D: "ACCESS_RESTRICTED",
    0xC3: "UNSUPPORTED_CLUSTER", 0xC5: "NO_UPSTREAM_SUBSCRIPTION", 0xC6: "NEEDS_TIMED_INTERACTION",
    0xC7: "UNSUPPORTED_EVENT", 0xC8: "PATHS_EXHAUSTED", 0xC9: "TIMED_REQUEST_MISMATCH", 0xCA: "FAILSAFE_REQUIRED",
    0xCB: "INVALID_IN_STATE", 0xCC: "NO_COMMAND_RESPONSE", 0xCD: "TERMS_AND_CONDITIONS_CHANGED",
    0xCE: "MAINTENANCE_REQUIRED", 0xCF: "DYNAMIC_CONSTRAINT_ERROR", 0xD0: "ALREADY_EXISTS",
    0xD1: "INVALID_TRANSPORT_TYPE",
  ]
}

/// A status, optionally with a cluster-specific code. Matter Core § 10.6.17.
public struct Status: Hashable, Sendable, Codable, CustomStringConvertible {
  public var code: StatusCode
  /// The cluster-specific status code, or nil.
  public var clusterCode: UInt8?

  public init(_ code: StatusCode, clusterCode: UInt8? = nil) { (self.code, self.clusterCode) = (code, clusterCode) }

  public static let success = Status(.success)
  public var description: String { clusterCode.map { "\(code) (cluster status \($0))" } ?? "\(code)" }
}

/// The error of a request that fails with a status.
public struct StatusError: Error, Hashable, Sendable, Codable {
  public var status: Status

  public init(_ code: StatusCode, clusterCode: UInt8? = nil) { status = Status(code, clusterCode: clusterCode) }
  public init(_ status: Status) { self.status = status }
}
