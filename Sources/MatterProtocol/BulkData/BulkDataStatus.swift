/// The reason why a bulk data transfer ended, in a StatusReport of the protocol. Matter Core § 11.22.3.2.
public struct BulkDataStatus: RawRepresentable, Error, Hashable, Sendable, CustomStringConvertible {
  public var rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let lengthTooLarge = Self(rawValue: 0x0012), lengthTooShort = Self(rawValue: 0x0013)
  public static let lengthMismatch = Self(rawValue: 0x0014), lengthRequired = Self(rawValue: 0x0015)
  public static let badMessageContents = Self(rawValue: 0x0016), badBlockCounter = Self(rawValue: 0x0017)
  public static let unexpectedMessage = Self(rawValue: 0x0018), responderBusy = Self(rawValue: 0x0019)
  public static let transferFailed = Self(rawValue: 0x001F)
  public static let methodNotSupported = Self(rawValue: 0x0050), fileUnknown = Self(rawValue: 0x0051)
  public static let startOffsetNotSupported = Self(rawValue: 0x0052), versionNotSupported = Self(rawValue: 0x0053)
  public static let unknown = Self(rawValue: 0x005F)

  public var description: String {
    switch self {
    case .lengthTooLarge: "length too large"
    case .lengthTooShort: "length too short"
    case .lengthMismatch: "length mismatch"
    case .lengthRequired: "length required"
    case .badMessageContents: "bad message contents"
    case .badBlockCounter: "bad block counter"
    case .unexpectedMessage: "unexpected message"
    case .responderBusy: "responder busy"
    case .transferFailed: "transfer failed"
    case .methodNotSupported: "transfer method not supported"
    case .fileUnknown: "unknown file"
    case .startOffsetNotSupported: "start offset not supported"
    case .versionNotSupported: "version not supported"
    case .unknown: "unknown error"
    default: "code \(rawValue)"
    }
  }
}

extension StatusReport {
  /// Creates the report that ends a bulk data transfer.
  public init(_ status: BulkDataStatus) {
    self.init(.failure, SecureChannelCode(rawValue: status.rawValue))
    protocolID = .bulkData
  }

  /// The status of a bulk data transfer; nil for the report of another protocol.
  package var bulkDataStatus: BulkDataStatus? {
    protocolID == .bulkData ? BulkDataStatus(rawValue: code.rawValue) : nil
  }
}
