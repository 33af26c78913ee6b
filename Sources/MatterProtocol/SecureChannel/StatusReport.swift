/// The result of a secure channel exchange, or the reason for refusing a request. Matter Core § 4.10.1.7 and Appendix
/// D.
public struct StatusReport: Hashable, Sendable {
  /// The protocol-independent result.
  public struct GeneralCode: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }
    public static let success = Self(rawValue: 0), failure = Self(rawValue: 1), badRequest = Self(rawValue: 4)
    public static let busy = Self(rawValue: 8)
  }

  /// The result code of the secure channel protocol.
  public struct SecureChannelCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }
    public static let sessionEstablished = Self(rawValue: 0), noSharedTrustRoots = Self(rawValue: 1)
    public static let invalidParameter = Self(rawValue: 2), closeSession = Self(rawValue: 3)
    public static let busy = Self(rawValue: 4)

    public var description: String {
      switch self {
      case .sessionEstablished: "session established"
      case .noSharedTrustRoots: "no shared trust roots"
      case .invalidParameter: "invalid parameter"
      case .closeSession: "close session"
      case .busy: "busy"
      default: "code \(rawValue)"
      }
    }
  }

  /// The protocol-independent result.
  public var general: GeneralCode
  public var protocolID: ProtocolID
  public var code: SecureChannelCode
  /// Protocol-specific data: the wait time for `busy`, otherwise usually empty.
  public var data: [UInt8]

  package init(_ general: GeneralCode, _ code: SecureChannelCode, data: [UInt8] = []) {
    (self.general, self.protocolID, self.code, self.data) = (general, .secureChannel, code, data)
  }

  /// Decodes a report; nil if the bytes are truncated.
  public init?(decoding bytes: [UInt8], at offset: Int = 0) {
    var reader = LittleEndianReader(bytes, at: offset)
    guard let general = reader.u16(), let number = reader.u16(), let vendor = reader.u16(), let code = reader.u16()
    else { return nil }
    self.general = GeneralCode(rawValue: general)
    protocolID = ProtocolID(vendor: vendor, number)
    self.code = SecureChannelCode(rawValue: code)
    data = Array(bytes[reader.offset...])
  }

  /// The payload of a StatusReport message.
  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: general.rawValue)
    bytes.append(littleEndian: protocolID.number)
    bytes.append(littleEndian: protocolID.vendor)
    bytes.append(littleEndian: code.rawValue)
    return bytes + data
  }

  /// The wait time before a retry that a busy peer requests; nil for other codes.
  var busyWait: Duration? {
    guard code == .busy, data.count >= 2 else { return nil }
    return .milliseconds(Int64(data[0]) | Int64(data[1]) << 8)
  }
}

/// The messages of the secure channel. Matter Core § 4.11.
public enum SecureChannelOpcode {
  /// Synchronization of group message counters. § 4.18.
  public static let counterSyncRequest: UInt8 = 0x00, counterSyncResponse: UInt8 = 0x01
  /// A standalone acknowledgment. § 4.12.
  public static let standaloneAck: UInt8 = 0x10
  /// The PASE parameters. § 4.14.1.
  package static let pbkdfParamRequest: UInt8 = 0x20, pbkdfParamResponse: UInt8 = 0x21
  /// The PASE key exchange. § 4.14.1.
  static let pake1: UInt8 = 0x22, pake2: UInt8 = 0x23, pake3: UInt8 = 0x24
  /// CASE, including session resumption. § 4.14.2.
  package static let sigma1: UInt8 = 0x30, sigma2: UInt8 = 0x31, sigma3: UInt8 = 0x32, sigma2Resume: UInt8 = 0x33
  /// See ``StatusReport``.
  public static let statusReport: UInt8 = 0x40
  /// See ``CheckInMessage``.
  static let checkIn: UInt8 = 0x50
}
