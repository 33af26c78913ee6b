public import MatterCrypto
internal import MatterModel

/// A DNS-SD service of a Matter node: what a device publishes and a controller finds. Matter Core § 4.3.
public struct MatterService: Hashable, Sendable, Codable {
  /// The kind of service, with the values encoded in its instance name.
  public enum Kind: Hashable, Sendable, Codable {
    /// A commissioned node on one of its fabrics: `_matter._tcp`. § 4.3.2.
    case operational(compressedFabricID: UInt64, nodeID: UInt64)
    /// A node that can be commissioned: `_matterc._udp`; the instance is random. § 4.3.1.
    case commissionable(instance: UInt64)
    /// A commissioner that nodes can ask to be commissioned by: `_matterd._udp`. § 4.3.3.
    case commissioner(instance: UInt64)
  }

  /// One entry of the TXT record.
  public struct TextEntry: Hashable, Sendable, Codable {
    /// The key; those of the specification are in upper case.
    public var key: String
    /// The value after the `=`.
    public var value: String
    package init(_ key: String, _ value: String) {
      self.key = key
      self.value = value
    }
  }

  public var kind: Kind
  /// The host, 12 or 16 upper-case hex digits and `.local`.
  public var hostName: String
  /// The UDP port of the node.
  public var port: UInt16
  /// The addresses of the host. In a published service, an empty list means the addresses of each interface.
  public var addresses: [IPAddress]
  /// The entries of the TXT record in order, including unknown keys.
  public var text: [TextEntry]

  /// Creates a service.
  /// - Parameter hostName: The host name; `.local` is added if missing.
  public init(kind: Kind, hostName: String, port: UInt16, addresses: [IPAddress] = [], text: [TextEntry] = []) {
    self.kind = kind
    self.hostName = hostName.lowercased().hasSuffix(".local") ? hostName : hostName + ".local"
    self.port = port
    self.addresses = addresses
    self.text = text
  }

  /// Returns the host name for a link-layer address, given by the low 48 bits. § 4.3.1.
  package static func hostName(macAddress: UInt64) -> String {
    String(macAddress.hexadecimal(12).suffix(12)) + ".local"
  }

  /// Returns a random host name in the form of a locally administered address, for use after a conflict of host names.
  /// § 4.3.1, RFC 6762 § 9.
  public static func hostName(drawnFrom random: inout some RandomSource) -> String {
    let bits: UInt64 = random.next()
    return hostName(macAddress: 0x0200_0000_0000 | bits & 0xFF_FFFF_FFFF)
  }
}

// MARK: - The TXT record, typed

extension MatterService {
  /// The value of the first TXT entry with a key, ignoring case; nil if there is none.
  public subscript(text key: String) -> String? {
    get { text.first { $0.key.lowercased() == key.lowercased() }?.value }
    set {
      let index = text.firstIndex { $0.key.lowercased() == key.lowercased() }
      switch (index, newValue) {
      case (let index?, let value?): text[index].value = value
      case (let index?, nil): text.remove(at: index)
      case (nil, let value?): text.append(TextEntry(key, value))
      case (nil, nil): break
      }
    }
  }

  /// Parses a decimal number without sign or leading zeros; nil if the text is anything else.
  private static func decimal(_ text: some StringProtocol, upTo maximum: UInt64) -> UInt64? {
    guard !text.isEmpty, text.count <= 20, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
    guard let value = UInt64(text), value <= maximum, text.utf8.count == 1 || text.utf8.first != 0x30 else {
      return nil
    }
    return value
  }

  private func number(_ key: String, upTo maximum: UInt64) -> UInt64? {
    self[text: key].flatMap { Self.decimal($0, upTo: maximum) }
  }

  private func milliseconds(_ key: String, upTo maximum: UInt64) -> Duration? {
    number(key, upTo: maximum).map { .milliseconds(Int64($0)) }
  }

  private static func milliseconds(_ duration: Duration?) -> String? {
    duration.map { String(max(0, $0.milliseconds)) }
  }

  /// D: the full 12-bit discriminator. § 4.3.1.
  public var discriminator: UInt16? {
    get { number("D", upTo: 0xFFF).map { UInt16($0) } }
    set { self[text: "D"] = newValue.map { String($0 & 0xFFF) } }
  }

  /// The upper four bits of the discriminator.
  var shortDiscriminator: UInt8? { discriminator.map { UInt8($0 >> 8 & 0xF) } }

  /// CM: 0 not in commissioning mode, 1 with the passcode of the device, 2 with a passcode for this commissioning
  /// window. Absent means 0. § 4.3.1.
  public var commissioningMode: UInt8 {
    get { number("CM", upTo: 255).map { UInt8($0) } ?? 0 }
    set { self[text: "CM"] = String(newValue) }
  }

  /// VP, first half: the vendor. § 4.3.1.
  public var vendorID: UInt16? { vendorAndProduct.vendor }

  /// VP, second half: the product.
  public var productID: UInt16? { vendorAndProduct.product }

  private var vendorAndProduct: (vendor: UInt16?, product: UInt16?) {
    guard let value = self[text: "VP"] else { return (nil, nil) }
    let parts = value.split(separator: "+", omittingEmptySubsequences: false)
    guard parts.count <= 2, let first = parts.first, let vendor = Self.decimal(first, upTo: 0xFFFF) else {
      return (nil, nil)
    }
    return (UInt16(vendor), parts.count == 2 ? Self.decimal(parts[1], upTo: 0xFFFF).map { UInt16($0) } : nil)
  }

  /// Sets VP; a nil vendor removes it.
  public mutating func setVendor(_ vendor: UInt16?, product: UInt16?) {
    self[text: "VP"] = vendor.map { vendor in product.map { "\(vendor)+\($0)" } ?? "\(vendor)" }
  }

  /// DT: the device type of the node's main endpoint. § 4.3.1.
  public var deviceType: UInt32? {
    get { number("DT", upTo: 0xFFFF_FFFF).map { UInt32($0) } }
    set { self[text: "DT"] = newValue.map { String($0) } }
  }

  /// DN: the device name, at most 32 bytes. § 4.3.1.
  public var deviceName: String? {
    get { self[text: "DN"] }
    set { self[text: "DN"] = newValue }
  }

  /// PH: the ways to bring the device into commissioning mode, as a bit map. § 4.3.1.
  public var pairingHint: UInt32? {
    get { number("PH", upTo: 0xFFFF_FFFF).map { UInt32($0) } }
    set { self[text: "PH"] = newValue.map { String($0) } }
  }

  /// PI: the instruction that complements the pairing hint. § 4.3.1.
  public var pairingInstruction: String? {
    get { self[text: "PI"] }
    set { self[text: "PI"] = newValue }
  }

  /// SII: the retransmission interval while the node is idle, at most one hour. § 4.3.4.
  public var idleInterval: Duration? {
    get { milliseconds("SII", upTo: 3_600_000) }
    set { self[text: "SII"] = Self.milliseconds(newValue) }
  }

  /// SAI: the retransmission interval while the node is active, at most one hour. § 4.3.4.
  public var activeInterval: Duration? {
    get { milliseconds("SAI", upTo: 3_600_000) }
    set { self[text: "SAI"] = Self.milliseconds(newValue) }
  }

  /// SAT: the time that the node stays active after its last activity. § 4.3.4.
  public var activeThreshold: Duration? {
    get { milliseconds("SAT", upTo: 65_535) }
    set { self[text: "SAT"] = Self.milliseconds(newValue) }
  }

  /// ICD: whether the node operates as a long-idle-time device; nil if it isn't an intermittently connected device. §
  /// 4.3.4.
  public var isLongIdleTime: Bool? {
    get { number("ICD", upTo: 1).map { $0 == 1 } }
    set { self[text: "ICD"] = newValue.map { $0 ? "1" : "0" } }
  }
}
