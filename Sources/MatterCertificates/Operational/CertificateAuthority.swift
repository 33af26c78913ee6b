public import MatterCrypto

/// The validity period of a certificate. Its times count from 2000-01-01 00:00 UTC, in whole seconds up to 2136.
public struct CertificateValidity: Hashable, Sendable {
  /// The first second.
  public var notBefore: Duration
  /// The last second; nil if the certificate does not expire.
  public var notAfter: Duration?

  public init(notBefore: Duration, notAfter: Duration? = nil) {
    self.notBefore = notBefore
    self.notAfter = notAfter
  }
}

/// The certificate authority of a fabric: issues node certificates under its root or its intermediate. Core § 6.4.
public struct CertificateAuthority: Sendable {
  /// The RCAC.
  public let root: MatterCertificate
  /// The ICAC, if it issues the node certificates.
  public let intermediate: MatterCertificate?
  private let issuerKey: P256PrivateKey

  /// Creates an authority with a self-signed root that issues node certificates.
  /// - Parameters:
  ///   - rcacID: the root's identifier.
  ///   - fabricID: binds the root to one fabric; nil for no binding.
  ///   - random: source of the serial number.
  public init(
    rootKey: P256PrivateKey, rcacID: UInt64, fabricID: UInt64? = nil, validity: CertificateValidity,
    random: inout some RandomSource, signatures: some SignatureScheme = OpenSSLSignatures()
  ) throws(CertificateError) {
    let name = try Self.name([.rcacID: [rcacID], .fabricID: fabricID.map { [$0] } ?? []])
    root = try Self.issue(
      subject: name, issuer: name, key: rootKey.publicKey, usages: Self.authority(pathLength: nil), validity: validity,
      signer: rootKey, random: &random, signatures: signatures)
    intermediate = nil
    issuerKey = rootKey
  }

  /// Creates an authority with a self-signed root and an intermediate that issues node certificates.
  public init(
    rootKey: P256PrivateKey, rcacID: UInt64, intermediateKey: P256PrivateKey, icacID: UInt64, fabricID: UInt64? = nil,
    validity: CertificateValidity, random: inout some RandomSource,
    signatures: some SignatureScheme = OpenSSLSignatures()
  ) throws(CertificateError) {
    let rootOnly = try CertificateAuthority(
      rootKey: rootKey, rcacID: rcacID, fabricID: fabricID, validity: validity, random: &random,
      signatures: signatures)
    root = rootOnly.root
    intermediate = try Self.issue(
      subject: try Self.name([.icacID: [icacID], .fabricID: fabricID.map { [$0] } ?? []]), issuer: root.subject,
      key: intermediateKey.publicKey, usages: Self.authority(pathLength: 0), validity: validity, signer: rootKey,
      random: &random, signatures: signatures)
    issuerKey = intermediateKey
  }

  /// Restores an authority from its stored certificates.
  /// - Parameter issuerKey: the key of the intermediate, or of the root if there is none.
  /// - Throws: ``CertificateError/failed(_:_:)`` if the certificates are invalid or do not match the key.
  public init(
    root: MatterCertificate, intermediate: MatterCertificate? = nil, issuerKey: P256PrivateKey
  ) throws(CertificateError) {
    try CertificateChain.verifySelfSigned(root)
    if let intermediate { try CertificateChain.verify(icac: intermediate, root: root) }
    guard (intermediate ?? root).publicKey == issuerKey.publicKey.bytes else {
      throw .failed(.publicKey, intermediate == nil ? .root : .intermediate)
    }
    self.root = root
    self.intermediate = intermediate
    self.issuerKey = issuerKey
  }

  /// Issues a node operational certificate. Core § 6.4.6.
  /// - Parameters:
  ///   - publicKey: the node's operational key, from its signing request.
  ///   - tags: at most three CASE authenticated tags.
  ///   - random: source of the serial number.
  /// - Throws: ``CertificateError/invalidIdentifier(_:_:)`` if an id is out of range.
  public func issueNOC(
    publicKey: P256PublicKey, nodeID: UInt64, fabricID: UInt64, tags: [UInt32] = [], validity: CertificateValidity,
    random: inout some RandomSource, signatures: some SignatureScheme = OpenSSLSignatures()
  ) throws(CertificateError) -> MatterCertificate {
    guard tags.count <= 3 else { throw .malformed("more than three CASE authenticated tags") }
    return try Self.issue(
      subject: try Self.name([.nodeID: [nodeID], .fabricID: [fabricID], .caseAuthenticatedTag: tags.map(UInt64.init)]),
      issuer: (intermediate ?? root).subject, key: publicKey,
      usages: [
        .basicConstraints(isAuthority: false, pathLength: nil), .keyUsage(.digitalSignature),
        .extendedKeyUsage([.clientAuth, .serverAuth]),
      ],
      validity: validity, signer: issuerKey, random: &random, signatures: signatures)
  }

  // MARK: Parts

  private static func authority(pathLength: UInt8?) -> [CertificateExtension] {
    [.basicConstraints(isAuthority: true, pathLength: pathLength), .keyUsage([.keyCertificateSign, .crlSign])]
  }

  private static func name(
    _ values: KeyValuePairs<DistinguishedName.MatterAttribute, [UInt64]>
  ) throws(CertificateError) -> DistinguishedName {
    var name = DistinguishedName()
    for (attribute, numbers) in values {
      for number in numbers {
        guard attribute.allows(number) else { throw .invalidIdentifier(attribute, number) }
        name.attributes.append(.matter(attribute, number))
      }
    }
    return name
  }

  private static func issue(
    subject: DistinguishedName, issuer: DistinguishedName, key: P256PublicKey, usages: [CertificateExtension],
    validity: CertificateValidity, signer: P256PrivateKey, random: inout some RandomSource,
    signatures: some SignatureScheme
  ) throws(CertificateError) -> MatterCertificate {
    var certificate = MatterCertificate(
      serialNumber: serialNumber(random: &random), issuer: issuer, notBefore: seconds(validity.notBefore),
      notAfter: validity.notAfter.map(seconds) ?? 0, subject: subject, publicKey: key.bytes,
      extensions: usages + [
        .subjectKeyIdentifier(Hash.sha1(key.bytes)), .authorityKeyIdentifier(Hash.sha1(signer.publicKey.bytes)),
      ],
      signature: [UInt8](repeating: 0, count: 64))
    try certificate.validate()
    do {
      certificate.signature = try signatures.sign(message: certificate.tbsDER, with: signer)
    } catch {
      throw .crypto(error)
    }
    return certificate
  }

  private static func seconds(_ time: Duration) -> UInt32 { UInt32(clamping: time.components.seconds) }

  /// Eight random bytes that are a positive INTEGER in shortest form.
  static func serialNumber(random: inout some RandomSource) -> [UInt8] {
    var bytes = random.bytes(8)
    bytes[0] = bytes[0] & 0x3F | 0x40
    return bytes
  }
}
