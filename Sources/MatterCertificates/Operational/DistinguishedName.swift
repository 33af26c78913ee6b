import MatterTLV

/// The subject or issuer name of an operational certificate: attributes, in order. Core § 6.5.6.
public struct DistinguishedName: Hashable, Sendable {
  public var attributes: [Attribute]

  /// Maximum number of attributes in a name. Core § 6.5.6.3.
  static let maximumCount = 5

  init(_ attributes: [Attribute] = []) { self.attributes = attributes }

  /// An attribute with its value.
  public enum Attribute: Hashable, Sendable {
    /// An attribute defined by Matter: a number, encoded in hexadecimal in X.509.
    case matter(MatterAttribute, UInt64)
    /// An attribute of X.509 with its text encoding.
    case text(TextAttribute, String, TextEncoding)
  }

  /// The attributes that Matter defines; the raw value is the TLV tag. Core § 6.5.6.1.
  public enum MatterAttribute: UInt8, Hashable, Sendable, CaseIterable {
    case nodeID = 17
    case firmwareSigningID = 18
    case icacID = 19
    case rcacID = 20
    case fabricID = 21
    case caseAuthenticatedTag = 22
    case vidVerificationSignerID = 23

    /// Number of hexadecimal digits of the value in X.509.
    var digits: Int { self == .caseAuthenticatedTag ? 8 : 16 }

    /// The last arc of the object identifier under 1.3.6.1.4.1.37244.1.
    var arc: UInt8 { rawValue - 16 }

    /// Whether `value` is allowed in a certificate: operational node ids (Core § 2.5.5), non-zero fabric ids (§ 2.5.1)
    /// and tags with a version (§ 6.6.2.1.2).
    func allows(_ value: UInt64) -> Bool {
      switch self {
      case .nodeID: 1...0xFFFF_FFEF_FFFF_FFFF ~= value
      case .fabricID: value != 0
      case .caseAuthenticatedTag: value <= 0xFFFF_FFFF && value & 0xFFFF != 0
      default: true
      }
    }
  }

  /// The attributes of X.509; the raw value is the TLV tag. Core § 6.5.6.1.
  public enum TextAttribute: UInt8, Hashable, Sendable, CaseIterable {
    case commonName = 1
    case surname, serialNumber, countryName, localityName, stateOrProvinceName, organizationName
    case organizationalUnitName, title, name, givenName, initials, generationQualifier, distinguishedNameQualifier
    case pseudonym, domainComponent

    var objectIdentifier: [UInt8] {
      if self == .domainComponent { return OID.domainComponent }
      let arcs: [UInt8] = [3, 4, 5, 6, 7, 8, 10, 11, 12, 41, 42, 43, 44, 46, 65]
      return [0x55, 0x04, arcs[Int(rawValue) - 1]]
    }
  }

  /// The string type of an attribute in X.509. A domain component is always ASCII (IA5String), other attributes never
  /// are.
  public enum TextEncoding: UInt8, Hashable, Sendable {
    case utf8 = 0x0C
    case printable = 0x13
    case ascii = 0x16
  }

  /// The values of an attribute, in order.
  package func values(of attribute: MatterAttribute) -> [UInt64] {
    attributes.compactMap { if case .matter(attribute, let value) = $0 { value } else { nil } }
  }

  /// Returns the value of an attribute that occurs exactly once, or nil.
  public func only(_ attribute: MatterAttribute) -> UInt64? {
    let values = values(of: attribute)
    return values.count == 1 ? values[0] : nil
  }
}

// MARK: TLV

extension DistinguishedName {
  private static let printableFlag: UInt8 = 0x80

  init(members: [TLVElement]) throws(CertificateError) {
    guard members.count <= Self.maximumCount else { throw .malformed("name with too many attributes") }
    attributes = []
    for member in members {
      guard case .context(let tag) = member.tag else { throw .malformed("name attribute without a tag") }
      if let matter = MatterAttribute(rawValue: tag) {
        guard case .unsigned(let value) = member.value else { throw .malformed("name attribute is not a number") }
        guard matter.allows(value) else { throw .invalidIdentifier(matter, value) }
        attributes.append(.matter(matter, value))
      } else if let text = TextAttribute(rawValue: tag & ~Self.printableFlag) {
        guard case .string(let value) = member.value else { throw .malformed("name attribute is not a string") }
        let isPrintable = tag & Self.printableFlag != 0
        guard text != .domainComponent || !isPrintable else { throw .malformed("domain component that is not IA5") }
        let encoding: TextEncoding = text == .domainComponent ? .ascii : isPrintable ? .printable : .utf8
        attributes.append(.text(text, value, encoding))
      } else {
        throw .unsupported("name attribute \(tag)")
      }
    }
  }

  func write(to writer: inout TLVWriter, _ tag: TLVTag) {
    writer.startList(tag)
    for attribute in attributes {
      switch attribute {
      case .matter(let matter, let value): writer.write(value, .context(matter.rawValue))
      case .text(let text, let value, let encoding):
        writer.write(value, .context(text.rawValue | (encoding == .printable ? Self.printableFlag : 0)))
      }
    }
    writer.end()
  }
}

// MARK: X.509

extension DistinguishedName {
  /// Reads an X.509 `Name` with one attribute in each relative name.
  init(from reader: inout DERReader) throws(CertificateError) {
    attributes = []
    var name = try reader.enter()
    while !name.isAtEnd {
      guard attributes.count < Self.maximumCount else { throw .malformed("name with too many attributes") }
      var relative = try name.enter(DERTag.set)
      var pair = try relative.enter()
      try relative.finish()
      let type = try pair.objectIdentifier()
      let value = try pair.next()
      try pair.finish()
      guard let encoding = TextEncoding(rawValue: value.tag) else { throw .unsupported("name string type") }
      attributes.append(try Self.attribute(type, encoding, value.content))
    }
  }

  private static func attribute(
    _ type: [UInt8], _ encoding: TextEncoding, _ content: ArraySlice<UInt8>
  ) throws(CertificateError) -> Attribute {
    if type.dropLast() == OID.matterOperationalArc[...], let arc = type.last, arc < 0x80,
      let matter = MatterAttribute(rawValue: arc &+ 16)
    {
      let isUpperHex = content.allSatisfy { 0x30...0x39 ~= $0 || 0x41...0x46 ~= $0 }
      guard encoding == .utf8, content.count == matter.digits, isUpperHex else {
        throw .malformed("Matter name attribute")
      }
      let value = content.reduce(0) { $0 << 4 | UInt64($1 < 0x40 ? $1 - 0x30 : $1 - 0x37) }
      guard matter.allows(value) else { throw .invalidIdentifier(matter, value) }
      return .matter(matter, value)
    }
    guard let text = TextAttribute.allCases.first(where: { $0.objectIdentifier == type }) else {
      throw .unsupported("name attribute")
    }
    guard (text == .domainComponent) == (encoding == .ascii) else { throw .unsupported("name string type") }
    guard let value = String(validating: content, as: UTF8.self) else { throw .malformed("name text") }
    return .text(text, value, encoding)
  }

  func write(to writer: inout DERWriter) {
    writer.nest { name in
      for attribute in attributes {
        name.nest(DERTag.set) { relative in
          relative.nest { pair in
            switch attribute {
            case .matter(let matter, let value):
              pair.write(objectIdentifier: OID.matterOperationalArc + [matter.arc])
              pair.write(DERTag.utf8String, Self.hexadecimal(value, digits: matter.digits))
            case .text(let text, let value, let encoding):
              pair.write(objectIdentifier: text.objectIdentifier)
              pair.write(encoding.rawValue, Array(value.utf8))
            }
          }
        }
      }
    }
  }

  /// Uppercase digits, padded with zeros.
  static func hexadecimal(_ value: UInt64, digits: Int) -> [UInt8] {
    (0..<digits).map { index in
      let nibble = UInt8(truncatingIfNeeded: value >> UInt64(4 * (digits - 1 - index))) & 0xF
      return nibble < 10 ? 0x30 + nibble : 0x37 + nibble
    }
  }
}
