// What another DNS-SD implementation has to be told, to publish our services and to look for others'. RFC 6763.

extension MatterService.Kind {
  /// The first label of the instance name, as `2906C908D115D362-8FC7772401CD0696`.
  public var instanceLabel: String { instanceName.labels.first ?? "" }

  /// The service type without its domain, as `_matterc._udp`.
  public var typeLabel: String { Self.withoutDomain(typeName) }

  /// The service that an instance label of a type stands for, nil where it is not one of Matter's.
  /// - Parameter type: without its domain; a subtype will do.
  public init?(instanceLabel: String, type: String) {
    let base = type.firstRange(of: "._sub.").map { String(type[$0.upperBound...]) } ?? type
    self.init(instanceName: DNSName(instanceLabel, DNSName(base + ".local")))
  }

  fileprivate static func withoutDomain(_ name: DNSName) -> String { name.labels.dropLast().joined(separator: ".") }
}

extension MatterService {
  /// Its subtypes without their domain, as `_S3._sub._matterc._udp`. § 4.3.1, § 4.3.2.
  public var subtypeLabels: [String] { pointerNames.dropFirst().map(Kind.withoutDomain) }

  /// The strings of its TXT record, each at most 255 bytes.
  public var textRecord: [[UInt8]] { textStrings }

  /// A service from the data of its records.
  /// - Returns: nil where `srv` is no SRV record.
  public init?(_ kind: Kind, srv: DNSRecordData, txt: DNSRecordData?, addresses: [IPAddress]) {
    guard case .srv(_, _, let port, let target) = srv else { return nil }
    var text: [TextEntry] = []
    if case .txt(let strings) = txt { text = Self.textEntries(strings) }
    self.init(kind: kind, hostName: target.description, port: port, addresses: addresses, text: text)
  }
}

extension DiscoveryQuery {
  /// What there is to look for: all of a type or subtype, or one instance.
  public enum Subject: Hashable, Sendable {
    /// Without its domain, as `_L840._sub._matterc._udp`.
    case type(String)
    /// One whose name is known.
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
  /// The data of one record, as it stands on the wire without compression.
  public init(_ type: DNSType, wire: [UInt8]) throws(DNSError) {
    var reader = DNSReader(wire)
    self = try reader.data(of: type, end: wire.count)
    guard reader.isAtEnd else { throw .badRecord }
  }

  /// The host that an SRV record names, without a dot at its end.
  public var targetHost: String? {
    if case .srv(_, _, _, let target) = self { target.description } else { nil }
  }
}
