public import MatterCrypto

/// An X.509 certificate of the attestation chain: PAA, PAI or DAC. Core § 6.2.2.
public struct X509Certificate: Hashable, Sendable {
  /// Maximum length of a certificate, in bytes. Core § 6.1.3.
  static let maximumCount = 600

  /// The complete certificate.
  public let der: [UInt8]
  /// The signed part (`TBSCertificate`).
  package let signed: [UInt8]
  /// ECDSA with SHA-256: 64 bytes, r and s.
  public let signature: [UInt8]
  /// The content of the INTEGER.
  public let serialNumber: [UInt8]
  /// The subject of the issuing certificate.
  let issuer: X509Name
  /// The owner of the certificate, with its vendor and product ids. Core § 6.2.2.2.
  public let subject: X509Name
  /// Seconds since 2000-01-01 00:00 UTC.
  package let notBefore: Int64
  /// Seconds since 2000-01-01 00:00 UTC; 9999-12-31 23:59:59 if the certificate does not expire.
  let notAfter: Int64
  public let publicKey: P256PublicKey
  /// Whether it is an authority's, and the maximum number of authorities below it; nil if the extension is missing.
  public private(set) var basicConstraints: BasicConstraints?
  private(set) var keyUsage: KeyUsage?
  /// 20 bytes.
  public private(set) var subjectKeyID: [UInt8]?
  /// 20 bytes.
  private(set) var authorityKeyID: [UInt8]?
  /// Whether it has a critical extension of an unknown type.
  private(set) var hasUnknownCriticalExtension = false

  /// Whether the certificate may sign other certificates (RFC 5280 § 4.2.1.9).
  public struct BasicConstraints: Hashable, Sendable {
    /// Whether it belongs to an authority.
    public let isAuthority: Bool
    /// Maximum number of authorities between it and the last certificate; nil for any number.
    let pathLength: UInt8?
  }

  /// Decodes a certificate without verifying its signature.
  public init(der: [UInt8]) throws(CertificateError) {
    guard der.count <= Self.maximumCount else { throw .tooLong(maximum: Self.maximumCount) }
    let (signed, derSignature) = try X509.readSigned(der, allowsNull: true)
    self.der = der
    self.signed = Array(signed.encoded)
    var body = DERReader(signed.content)
    var version = try body.enter(DERTag.explicit(0))
    guard try version.smallInteger() == 2 else { throw .unsupported("version of X.509") }
    try version.finish()
    serialNumber = try body.integer()
    try X509.readSignatureAlgorithm(from: &body, allowsNull: true)
    issuer = try X509Name(from: &body)
    var validity = try body.enter()
    notBefore = try DERTime.read(from: &validity)
    notAfter = try DERTime.read(from: &validity)
    try validity.finish()
    guard notBefore < notAfter else { throw .malformed("validity ends before it begins") }
    subject = try X509Name(from: &body)
    let point = try X509.readPublicKey(from: &body)
    do {
      publicKey = try P256PublicKey(bytes: point)
      signature = try ECDSASignature.raw(fromDER: derSignature)
    } catch {
      throw .crypto(error)
    }
    var explicit = try body.enter(DERTag.explicit(3))
    try body.finish()
    var list = try explicit.enter()
    try explicit.finish()
    var seen: Set<[UInt8]> = []
    while !list.isAtEnd { try readExtension(from: &list, &seen) }
  }

  private mutating func readExtension(
    from list: inout DERReader, _ seen: inout Set<[UInt8]>
  ) throws(CertificateError) {
    let element = try list.next()
    guard element.tag == DERTag.sequence else { throw .malformed("extension") }
    var parts = DERReader(element.content)
    let type = try parts.objectIdentifier()
    let isNew = seen.insert(type).inserted
    switch type {
    case OID.basicConstraints, OID.keyUsage, OID.subjectKeyIdentifier, OID.authorityKeyIdentifier:
      guard isNew else { throw .malformed("extension twice") }
      var again = DERReader(element.encoded)
      switch try CertificateExtension(from: &again) {
      case .basicConstraints(let isAuthority, let pathLength):
        basicConstraints = BasicConstraints(isAuthority: isAuthority, pathLength: pathLength)
      case .keyUsage(let usage): keyUsage = usage
      case .subjectKeyIdentifier(let identifier): subjectKeyID = identifier
      case .authorityKeyIdentifier(let identifier): authorityKeyID = identifier
      default: break
      }
    case OID.extendedKeyUsage:
      // Allowed in all roles and required in none (Core § 6.2.2.3 to § 6.2.2.5).
      break
    default:
      if try parts.booleanIfTrue() { hasUnknownCriticalExtension = true }
    }
  }

  /// Whether the certificate was signed by this key.
  func isSigned(by key: P256PublicKey) -> Bool { key.verify(signature, of: signed) }
}

// MARK: Creation

extension X509Certificate {
  /// The extensions of a new certificate.
  enum Profile {
    case authority(pathLength: UInt8)
    case device
  }

  /// Creates and signs a certificate as defined in Core § 6.2.2.
  static func make(
    subject: X509Name, issuer: X509Name, publicKey: P256PublicKey, profile: Profile, notBefore: Int64,
    notAfter: Int64 = DERTime.noExpiry, serialNumber: [UInt8], signer: P256PrivateKey, signatures: some SignatureScheme
  ) throws(CertificateError) -> X509Certificate {
    let extensions: [CertificateExtension] =
      switch profile {
      case .authority(let pathLength):
        [
          .basicConstraints(isAuthority: true, pathLength: pathLength), .keyUsage([.keyCertificateSign, .crlSign]),
        ]
      case .device: [.basicConstraints(isAuthority: false, pathLength: nil), .keyUsage(.digitalSignature)]
      }
    var writer = DERWriter()
    writer.nest { body in
      body.nest(DERTag.explicit(0)) { $0.write(integer: 2) }
      body.write(DERTag.integer, serialNumber)
      X509.writeSignatureAlgorithm(to: &body)
      body.append(issuer.encoded)
      body.nest { validity in
        DERTime.write(notBefore, to: &validity)
        DERTime.write(notAfter, to: &validity)
      }
      body.append(subject.encoded)
      X509.write(publicKey: publicKey.bytes, to: &body)
      body.nest(DERTag.explicit(3)) { explicit in
        explicit.nest { list in
          for entry in extensions { entry.write(to: &list) }
          CertificateExtension.subjectKeyIdentifier(Hash.sha1(publicKey.bytes)).write(to: &list)
          CertificateExtension.authorityKeyIdentifier(Hash.sha1(signer.publicKey.bytes)).write(to: &list)
        }
      }
    }
    let derSignature: [UInt8]
    do {
      derSignature = try ECDSASignature.der(fromRaw: try signatures.sign(message: writer.bytes, with: signer))
    } catch {
      throw .crypto(error)
    }
    return try X509Certificate(der: X509.writeSigned(writer.bytes, derSignature: derSignature))
  }
}
