internal import MatterModel

/// The DNS-SD names of Matter services. Matter Core § 4.3.
package enum MatterServiceNames {
  /// Commissioned nodes. § 4.3.2. The name contains `_tcp` for UDP and TCP alike.
  package static let operational = DNSName("_matter._tcp.local")
  /// Commissionable nodes. § 4.3.1.
  package static let commissionable = DNSName("_matterc._udp.local")
  /// Commissioners that a device can ask for commissioning. § 4.3.3.
  static let commissioner = DNSName("_matterd._udp.local")
  static let types = [operational, commissionable, commissioner]
  /// The name that enumerates all service types. RFC 6763 § 9.
  package static let enumeration = DNSName("_services._dns-sd._udp.local")

  /// Returns a subtype of a service type, such as `_S3._sub._matterc._udp.local`. RFC 6763 § 7.1.
  static func subtype(_ label: String, of type: DNSName) -> DNSName {
    DNSName(label, DNSName("_sub", type))
  }
}

extension MatterService.Kind {
  /// The service type, such as `_matterc._udp.local`.
  var typeName: DNSName {
    switch self {
    case .operational: MatterServiceNames.operational
    case .commissionable: MatterServiceNames.commissionable
    case .commissioner: MatterServiceNames.commissioner
    }
  }

  /// The instance name, such as `2906C908D115D362-8FC7772401CD0696._matter._tcp.local`.
  public var instanceName: DNSName {
    switch self {
    case .operational(let fabric, let node):
      DNSName(fabric.hexadecimal(16) + "-" + node.hexadecimal(16), typeName)
    case .commissionable(let instance), .commissioner(let instance):
      DNSName(instance.hexadecimal(16), typeName)
    }
  }

  /// Parses an instance name; nil if it does not name a Matter service.
  init?(instanceName name: DNSName) {
    guard let label = name.labels.first else { return nil }
    let type = name.parent
    if type == MatterServiceNames.operational {
      let halves = label.split(separator: "-", omittingEmptySubsequences: false)
      guard halves.count == 2, let fabric = Self.hexadecimal(halves[0]), let node = Self.hexadecimal(halves[1]) else {
        return nil
      }
      self = .operational(compressedFabricID: fabric, nodeID: node)
    } else if type == MatterServiceNames.commissionable || type == MatterServiceNames.commissioner {
      guard let instance = Self.hexadecimal(label) else { return nil }
      self =
        type == MatterServiceNames.commissioner
        ? .commissioner(instance: instance) : .commissionable(instance: instance)
    } else {
      return nil
    }
  }

  private static func hexadecimal(_ text: some StringProtocol) -> UInt64? {
    guard text.utf8.count == 16, text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
    return UInt64(text, radix: 16)
  }
}

extension MatterService {
  /// The names that point to the instance: the type and its subtypes. § 4.3.1, § 4.3.2.
  var pointerNames: [DNSName] {
    let type = kind.typeName
    var labels: [String] = []
    switch kind {
    case .operational(let fabric, _):
      labels.append("_I" + fabric.hexadecimal(16))
    case .commissionable, .commissioner:
      if case .commissionable = kind, let discriminator {
        labels += ["_S\(discriminator >> 8)", "_L\(discriminator)"]
      }
      if let vendorID { labels.append("_V\(vendorID)") }
      if let deviceType { labels.append("_T\(deviceType)") }
      if case .commissionable = kind, commissioningMode != 0 { labels.append("_CM") }
    }
    return [type] + labels.map { MatterServiceNames.subtype($0, of: type) }
  }

  /// The names to enumerate: the type, and for an operational node the subtype of its fabric, which RFC 6763 § 9 does
  /// not require but the Matter certification tests do.
  var enumeratedNames: [DNSName] {
    if case .operational = kind { pointerNames } else { [kind.typeName] }
  }

  /// The strings of the TXT record.
  var textStrings: [[UInt8]] {
    text.map { Array(($0.key + "=" + $0.value).utf8.prefix(255)) }
  }

  /// Parses the strings of a TXT record, ignoring those without a key. RFC 6763 § 6.4.
  static func textEntries(_ strings: [[UInt8]]) -> [TextEntry] {
    strings.compactMap { string in
      let key = string.prefix { $0 != 0x3D }
      guard !key.isEmpty else { return nil }
      return TextEntry(
        String(decoding: key, as: UTF8.self), String(decoding: string.dropFirst(key.count + 1), as: UTF8.self))
    }
  }
}
