/// The type of a resource record. A struct, so that unknown types are preserved. RFC 1035 § 3.2.2.
public struct DNSType: Hashable, Comparable, Sendable, RawRepresentable {
  public var rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }
  public static func < (left: DNSType, right: DNSType) -> Bool { left.rawValue < right.rawValue }

  /// An IPv4 address.
  public static let a = DNSType(rawValue: 1)
  /// A pointer to another name.
  public static let ptr = DNSType(rawValue: 12)
  /// Key and value pairs.
  public static let txt = DNSType(rawValue: 16)
  /// An IPv6 address. RFC 3596.
  public static let aaaa = DNSType(rawValue: 28)
  /// The host and port of a service. RFC 2782.
  public static let srv = DNSType(rawValue: 33)
  /// The complete set of types that exist for a name. RFC 4034 § 4, RFC 6762 § 6.1.
  public static let nsec = DNSType(rawValue: 47)
  /// All types; for questions only.
  public static let any = DNSType(rawValue: 255)
}

/// The data of a resource record.
public enum DNSRecordData: Hashable, Sendable {
  /// An IPv4 address in host order.
  case a(UInt32)
  /// An IPv6 address, most significant half first.
  case aaaa(high: UInt64, low: UInt64)
  /// A pointer to another name, such as from a service type to an instance.
  case ptr(DNSName)
  /// The host and port of an instance. RFC 2782.
  case srv(priority: UInt16, weight: UInt16, port: UInt16, target: DNSName)
  /// The undecoded strings, each at most 255 bytes.
  case txt([[UInt8]])
  /// The complete set of types that exist for a name. RFC 6762 § 6.1.
  case nsec(next: DNSName, types: [DNSType])
  /// The undecoded data of an unsupported type.
  case unknown(DNSType, [UInt8])

  /// The record type that has this data.
  public var type: DNSType {
    switch self {
    case .a: .a
    case .aaaa: .aaaa
    case .ptr: .ptr
    case .srv: .srv
    case .txt: .txt
    case .nsec: .nsec
    case .unknown(let type, _): type
    }
  }
}

/// A resource record. RFC 1035 § 4.1.3, with the cache-flush bit of RFC 6762 § 10.2.
public struct DNSRecord: Hashable, Sendable {
  public var name: DNSName
  public var data: DNSRecordData
  /// The time to live in seconds; 0 is a goodbye.
  public var ttl: UInt32
  /// Whether the receiver must flush other cached records of this name and type.
  public var cacheFlush: Bool
  /// The class without the cache-flush bit: 1 for the Internet, the only class used.
  public var recordClass: UInt16

  init(_ name: DNSName, _ data: DNSRecordData, ttl: UInt32, cacheFlush: Bool = false, recordClass: UInt16 = 1) {
    self.name = name
    self.data = data
    self.ttl = ttl
    self.cacheFlush = cacheFlush
    self.recordClass = recordClass
  }

  public var type: DNSType { data.type }
}

/// A question. RFC 1035 § 4.1.2, with the unicast-response bit of RFC 6762 § 5.4.
public struct DNSQuestion: Hashable, Sendable {
  public var name: DNSName
  public var type: DNSType
  /// Whether a unicast response is requested (the QU bit).
  public var wantsUnicast: Bool
  /// The class without the QU bit: 1 for the Internet, 255 for any.
  public var questionClass: UInt16

  init(_ name: DNSName, _ type: DNSType, wantsUnicast: Bool = false, questionClass: UInt16 = 1) {
    self.name = name
    self.type = type
    self.wantsUnicast = wantsUnicast
    self.questionClass = questionClass
  }
}
