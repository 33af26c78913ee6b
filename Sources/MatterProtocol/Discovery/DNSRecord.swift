/// The type of a resource record. A struct, so that unknown types survive a round trip. RFC 1035 § 3.2.2.
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
  /// Host and port of a service. RFC 2782.
  public static let srv = DNSType(rawValue: 33)
  /// Which types a name has, and so which it has not. RFC 4034 § 4, RFC 6762 § 6.1.
  public static let nsec = DNSType(rawValue: 47)
  /// In a question: every type.
  public static let any = DNSType(rawValue: 255)
}

/// The data of a resource record.
public enum DNSRecordData: Hashable, Sendable {
  /// An IPv4 address in host order.
  case a(UInt32)
  /// An IPv6 address, most significant half first.
  case aaaa(high: UInt64, low: UInt64)
  /// A name that stands under this one: an instance under its type.
  case ptr(DNSName)
  /// On which host and port an instance is. RFC 2782.
  case srv(priority: UInt16, weight: UInt16, port: UInt16, target: DNSName)
  /// The strings as they are, each at most 255 bytes.
  case txt([[UInt8]])
  /// Which types there are of a name, and that there are no others. RFC 6762 § 6.1.
  case nsec(next: DNSName, types: [DNSType])
  /// The data of a type that is not looked into, as it came.
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
  /// Seconds that the record may be kept; 0 says that it is gone.
  public var ttl: UInt32
  /// Whether the receiver is to forget what else it knew under this name and type.
  public var cacheFlush: Bool
  /// The class without the cache-flush bit: 1 is the Internet, the only one used.
  public var recordClass: UInt16

  public init(_ name: DNSName, _ data: DNSRecordData, ttl: UInt32, cacheFlush: Bool = false, recordClass: UInt16 = 1) {
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
  /// Whether the answer may come by unicast (the QU bit).
  public var wantsUnicast: Bool
  /// The class without the QU bit: 1 is the Internet, 255 any.
  public var questionClass: UInt16

  public init(_ name: DNSName, _ type: DNSType, wantsUnicast: Bool = false, questionClass: UInt16 = 1) {
    self.name = name
    self.type = type
    self.wantsUnicast = wantsUnicast
    self.questionClass = questionClass
  }
}
