package import MatterCrypto

/// The envelope of a certification declaration: CMS SignedData (RFC 5652) with one signer, identified by its key
/// identifier, and without signed attributes. Core § 6.3.1.
extension CertificationDeclaration {
  private static let version: UInt8 = 3

  /// Signs the declaration.
  /// - Parameter keyID: the signer's subject key identifier, 20 bytes.
  /// - Returns: the envelope (DER).
  package func sign(
    with key: P256PrivateKey, keyID: [UInt8], signatures: some SignatureScheme = OpenSSLSignatures()
  ) throws(CryptoError) -> [UInt8] {
    let content = tlv
    let signature = try ECDSASignature.der(fromRaw: try signatures.sign(message: content, with: key))
    var writer = DERWriter()
    writer.nest { message in
      message.write(objectIdentifier: OID.cmsSignedData)
      message.nest(DERTag.explicit(0)) { explicit in
        explicit.nest { data in
          data.write(integer: Self.version)
          data.nest(DERTag.set) { Self.writeDigestAlgorithm(to: &$0) }
          data.nest { encapsulated in
            encapsulated.write(objectIdentifier: OID.cmsData)
            encapsulated.nest(DERTag.explicit(0)) { $0.write(octets: content) }
          }
          data.nest(DERTag.set) { signers in
            signers.nest { signer in
              signer.write(integer: Self.version)
              signer.write(DERTag.implicit(0), keyID)
              Self.writeDigestAlgorithm(to: &signer)
              X509.writeSignatureAlgorithm(to: &signer)
              signer.write(octets: signature)
            }
          }
        }
      }
    }
    return writer.bytes
  }

  /// Verifies an envelope and decodes its declaration.
  /// - Parameter signers: the trusted signers of declarations, by subject key identifier.
  package static func verify(
    cms: [UInt8], signers: [[UInt8]: P256PublicKey]
  ) throws(AttestationError) -> CertificationDeclaration {
    let envelope: (content: [UInt8], keyID: [UInt8], signature: [UInt8])
    do { envelope = try open(cms) } catch { throw .malformedDeclaration("\(error)") }
    guard let key = signers[envelope.keyID] else { throw .unknownDeclarationSigner(envelope.keyID) }
    guard let raw = try? ECDSASignature.raw(fromDER: envelope.signature), key.verify(raw, of: envelope.content) else {
      throw .declarationSignature
    }
    return try CertificationDeclaration(tlv: envelope.content)
  }

  private static func open(
    _ cms: [UInt8]
  ) throws(CertificateError) -> (content: [UInt8], keyID: [UInt8], signature: [UInt8]) {
    var outer = DERReader(cms)
    var message = try outer.enter()
    try outer.finish()
    guard try message.objectIdentifier() == OID.cmsSignedData else { throw .unsupported("kind of message") }
    var explicit = try message.enter(DERTag.explicit(0))
    try message.finish()
    var data = try explicit.enter()
    try explicit.finish()
    guard try data.smallInteger() == version else { throw .unsupported("version of CMS") }
    var digests = try data.enter(DERTag.set)
    try readDigestAlgorithm(from: &digests)
    try digests.finish()

    var encapsulated = try data.enter()
    guard try encapsulated.objectIdentifier() == OID.cmsData else { throw .unsupported("kind of content") }
    var content = try encapsulated.enter(DERTag.explicit(0))
    try encapsulated.finish()
    let declaration = Array(try content.read(DERTag.octetString))
    try content.finish()

    var signers = try data.enter(DERTag.set)
    try data.finish()
    var signer = try signers.enter()
    try signers.finish()
    guard try signer.smallInteger() == version else { throw .unsupported("version of the signer") }
    let keyID = Array(try signer.read(DERTag.implicit(0)))
    try readDigestAlgorithm(from: &signer)
    try X509.readSignatureAlgorithm(from: &signer)
    let signature = Array(try signer.read(DERTag.octetString))
    try signer.finish()
    return (declaration, keyID, signature)
  }

  private static func writeDigestAlgorithm(to writer: inout DERWriter) {
    writer.nest { $0.write(objectIdentifier: OID.sha256) }
  }

  private static func readDigestAlgorithm(from reader: inout DERReader) throws(CertificateError) {
    var algorithm = try reader.enter()
    guard try algorithm.objectIdentifier() == OID.sha256 else { throw .unsupported("digest algorithm") }
    try algorithm.finish()
  }
}
