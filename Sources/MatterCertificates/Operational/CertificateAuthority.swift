public import MatterCrypto

/// From when to when a certificate is valid, in seconds since 2000-01-01 00:00 UTC.
public struct CertificateValidity: Hashable, Sendable {
  /// The first second.
  public var notBefore: UInt32
  /// 0 means that the certificate does not expire.
  public var notAfter: UInt32

  public init(notBefore: UInt32, notAfter: UInt32 = 0) {
    self.notBefore = notBefore
    self.notAfter = notAfter
  }
}

/// The certificate authority of a fabric: issues node certificates under its root or its intermediate. Core § 6.4.
public struct CertificateAuthority: Sendable {
  /// The RCAC.
  public let root: MatterCertificate
  /// The ICAC, if node certificates are issued by one.
  public let intermediate: MatterCertificate?
  private let issuerKey: P256PrivateKey

  /// Makes a new authority with a self-signed root, which issues by itself.
  /// - Parameters:
  ///   - rcacID: the root's identifier.
  ///   - fabricID: binds the root to one fabric; nil leaves it out.
  ///   - random: for the serial number.
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

  /// Makes a new authority with a self-signed root and an intermediate that issues.
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

  /// Takes up an authority again whose certificates were stored.
  /// - Parameter issuerKey: the key of the intermediate, or of the root if there is none.
  /// - Throws: ``CertificateError/failed(_:_:)`` if the certificates are not valid or not the key's.
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
  ///   - random: for the serial number.
  /// - Throws: ``CertificateError/invalidIdentifier(_:_:)`` for an id outside its range.
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
      serialNumber: serialNumber(random: &random), issuer: issuer, notBefore: validity.notBefore,
      notAfter: validity.notAfter, subject: subject, publicKey: key.bytes,
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

  /// Eight random bytes that are a positive INTEGER in shortest form.
  static func serialNumber(random: inout some RandomSource) -> [UInt8] {
    var bytes = random.bytes(8)
    bytes[0] = bytes[0] & 0x3F | 0x40
    return bytes
  }
}
