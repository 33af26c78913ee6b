// The labels and record data for publishing and browsing with another DNS-SD implementation. RFC 6763.

extension MatterService.Kind {
  /// The first label of the instance name, such as `2906C908D115D362-8FC7772401CD0696`.
  public var instanceLabel: String { instanceName.labels.first ?? "" }

  /// The service type without its domain, such as `_matterc._udp`.
  public var typeLabel: String { Self.withoutDomain(typeName) }

  /// Parses an instance label; nil if it does not name a Matter service.
  /// - Parameter type: The service type or subtype, without its domain.
  public init?(instanceLabel: String, type: String) {
    let base = type.firstRange(of: "._sub.").map { String(type[$0.upperBound...]) } ?? type
    self.init(instanceName: DNSName(instanceLabel, DNSName(base + ".local")))
  }

  fileprivate static func withoutDomain(_ name: DNSName) -> String { name.labels.dropLast().joined(separator: ".") }
}

extension MatterService {
  /// The subtypes without their domain, such as `_S3._sub._matterc._udp`. § 4.3.1, § 4.3.2.
  public var subtypeLabels: [String] { pointerNames.dropFirst().map(Kind.withoutDomain) }

  /// The strings of the TXT record, each at most 255 bytes.
  public var textRecord: [[UInt8]] { textStrings }

  /// Creates a service from the data of its records; nil if `srv` is not an SRV record.
  public init?(_ kind: Kind, srv: DNSRecordData, txt: DNSRecordData?, addresses: [IPAddress]) {
    guard case .srv(_, _, let port, let target) = srv else { return nil }
    var text: [TextEntry] = []
    if case .txt(let strings) = txt { text = Self.textEntries(strings) }
    self.init(kind: kind, hostName: target.description, port: port, addresses: addresses, text: text)
  }
}

extension DiscoveryQuery {
  /// The subject of a search: the services of a type or subtype, or one instance.
  public enum Subject: Hashable, Sendable {
    /// A type or subtype without its domain, such as `_L840._sub._matterc._udp`.
    case type(String)
    /// An instance with a known name.
    case instance(MatterService.Kind)
  }

  public var subject: Subject {
    switch target {
    case .pointers(let name): .type(MatterService.Kind.withoutDomain(name))
    case .instance(let kind): .instance(kind)
    }
  }
}

extension DNSRecordData {
  /// Decodes the data of one record, without name compression.
  public init(_ type: DNSType, wire: [UInt8]) throws(DNSError) {
    var reader = DNSReader(wire)
    self = try reader.data(of: type, end: wire.count)
    guard reader.isAtEnd else { throw .badRecord }
  }

  /// The target host of an SRV record without a trailing dot; nil for other types.
  public var targetHost: String? {
    if case .srv(_, _, _, let target) = self { target.description } else { nil }
  }
}
