import MatterTLV

/// The permitted uses of a key (RFC 5280 § 4.2.1.3). Core § 6.5.11.2.
package struct KeyUsage: OptionSet, Hashable, Sendable {
  package let rawValue: UInt16
  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package static let digitalSignature = KeyUsage(rawValue: 1 << 0)
  static let nonRepudiation = KeyUsage(rawValue: 1 << 1)
  static let keyEncipherment = KeyUsage(rawValue: 1 << 2)
  static let dataEncipherment = KeyUsage(rawValue: 1 << 3)
  static let keyAgreement = KeyUsage(rawValue: 1 << 4)
  package static let keyCertificateSign = KeyUsage(rawValue: 1 << 5)
  package static let crlSign = KeyUsage(rawValue: 1 << 6)
  static let encipherOnly = KeyUsage(rawValue: 1 << 7)
  static let decipherOnly = KeyUsage(rawValue: 1 << 8)

  static let all = KeyUsage(rawValue: 0x1FF)
}

/// An extended key usage; the raw value is the number in TLV. Core § 6.5.11.3.
public enum KeyPurpose: UInt8, Hashable, Sendable, CaseIterable {
  case serverAuth = 1
  case clientAuth, codeSigning, emailProtection, timeStamping, ocspSigning

  /// The last arc of the object identifier under 1.3.6.1.5.5.7.3.
  private var arc: UInt8 {
    switch self {
    case .timeStamping: 8
    case .ocspSigning: 9
    default: rawValue
    }
  }

  var objectIdentifier: [UInt8] { OID.keyPurposeArc + [arc] }
}

/// An extension of an operational certificate. Core § 6.5.11.
package enum CertificateExtension: Hashable, Sendable {
  /// Whether the certificate is an authority's, and the maximum number of authorities below it.
  case basicConstraints(isAuthority: Bool, pathLength: UInt8?)
  /// The permitted uses of the key.
  case keyUsage(KeyUsage)
  /// Further permitted uses of the key, in order.
  case extendedKeyUsage([KeyPurpose])
  /// 20 bytes.
  case subjectKeyIdentifier([UInt8])
  /// 20 bytes.
  case authorityKeyIdentifier([UInt8])
  /// An extension unknown to Matter: the complete DER `Extension`.
  case future([UInt8])

  static let keyIdentifierCount = 20

  /// The tag in TLV.
  var tag: UInt8 {
    switch self {
    case .basicConstraints: 1
    case .keyUsage: 2
    case .extendedKeyUsage: 3
    case .subjectKeyIdentifier: 4
    case .authorityKeyIdentifier: 5
    case .future: 6
    }
  }

  /// Whether it is an unknown extension marked critical, so that the certificate must be rejected.
  var isCriticalFuture: Bool {
    guard case .future(let der) = self else { return false }
    guard let header = try? Self.header(of: der) else { return true }
    return header.isCritical
  }
}

// MARK: TLV

extension CertificateExtension {
  init(_ element: TLVElement) throws(CertificateError) {
    switch (element.tag, element.value) {
    case (.context(1), .structure(let members)):
      guard let first = members.first, first.tag == .context(1), case .boolean(let isAuthority) = first.value else {
        throw .malformed("basic constraints")
      }
      var pathLength: UInt8?
      if members.count > 1 {
        guard members.count == 2, members[1].tag == .context(2), case .unsigned(let number) = members[1].value,
          let length = UInt8(exactly: number)
        else { throw .malformed("path length constraint") }
        pathLength = length
      }
      self = .basicConstraints(isAuthority: isAuthority, pathLength: pathLength)
    case (.context(2), .unsigned(let number)):
      guard let bits = UInt16(exactly: number), KeyUsage.all.rawValue & bits == bits else {
        throw .malformed("key usage")
      }
      self = .keyUsage(KeyUsage(rawValue: bits))
    case (.context(3), .array(let entries)):
      var purposes: [KeyPurpose] = []
      for entry in entries {
        guard case .unsigned(let number) = entry.value, let raw = UInt8(exactly: number),
          let purpose = KeyPurpose(rawValue: raw)
        else { throw .unsupported("key purpose") }
        purposes.append(purpose)
      }
      guard !purposes.isEmpty else { throw .malformed("extended key usage") }
      self = .extendedKeyUsage(purposes)
    case (.context(4), .octets(let identifier)) where identifier.count == Self.keyIdentifierCount:
      self = .subjectKeyIdentifier(identifier)
    case (.context(5), .octets(let identifier)) where identifier.count == Self.keyIdentifierCount:
      self = .authorityKeyIdentifier(identifier)
    case (.context(6), .octets(let der)):
      _ = try Self.header(of: der)
      self = .future(der)
    default:
      throw .malformed("extension")
    }
  }

  func write(to writer: inout TLVWriter) {
    switch self {
    case .basicConstraints(let isAuthority, let pathLength):
      writer.startStructure(.context(tag))
      writer.write(isAuthority, .context(1))
      if let pathLength { writer.write(UInt64(pathLength), .context(2)) }
      writer.end()
    case .keyUsage(let usage): writer.write(UInt64(usage.rawValue), .context(tag))
    case .extendedKeyUsage(let purposes):
      writer.startArray(.context(tag))
      for purpose in purposes { writer.write(UInt64(purpose.rawValue)) }
      writer.end()
    case .subjectKeyIdentifier(let identifier), .authorityKeyIdentifier(let identifier):
      writer.write(octets: identifier, .context(tag))
    case .future(let der): writer.write(octets: der, .context(tag))
    }
  }
}
