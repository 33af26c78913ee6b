public import MatterCrypto

/// A PKCS#10 signing request for a node's operational key (RFC 2986). Core § 6.4.6.1.
public struct CertificateSigningRequest: Hashable, Sendable {
  /// The key to certify.
  public let publicKey: P256PublicKey
  /// The complete request (DER).
  public let der: [UInt8]

  /// Creates a request for a key, signed with that key.
  public init(
    key: P256PrivateKey, signatures: some SignatureScheme = OpenSSLSignatures()
  ) throws(CertificateError) {
    var writer = DERWriter()
    writer.nest { info in
      info.write(integer: 0)
      info.nest { name in
        // The subject has no meaning, but must not be empty: Core § 6.4.6.1 requires the organization "CSR".
        name.nest(DERTag.set) { relative in
          relative.nest { pair in
            pair.write(objectIdentifier: OID.organizationName)
            pair.write(DERTag.utf8String, Array("CSR".utf8))
          }
        }
      }
      X509.write(publicKey: key.publicKey.bytes, to: &info)
      info.write(DERTag.explicit(0), [])
    }
    do {
      let signature = try ECDSASignature.der(fromRaw: try signatures.sign(message: writer.bytes, with: key))
      der = X509.writeSigned(writer.bytes, derSignature: signature)
    } catch {
      throw .crypto(error)
    }
    publicKey = key.publicKey
  }

  /// Decodes a request and verifies that it was signed with the private key.
  /// - Throws: ``CertificateError/failed(_:_:)`` with ``CertificateError/Check/signature`` if the signature does not
  ///   match the key in the request.
  public init(verifying der: [UInt8]) throws(CertificateError) {
    let (signed, signature) = try X509.readSigned(der, allowsNull: true)
    var info = DERReader(signed.content)
    guard try info.smallInteger() == 0 else { throw .unsupported("version of PKCS#10") }
    _ = try info.read(DERTag.sequence)
    let point = try X509.readPublicKey(from: &info)
    _ = try info.read(DERTag.explicit(0))
    try info.finish()
    let raw: [UInt8]
    do {
      publicKey = try P256PublicKey(bytes: point)
      raw = try ECDSASignature.raw(fromDER: signature)
    } catch {
      throw .crypto(error)
    }
    guard publicKey.verify(raw, of: Array(signed.encoded)) else { throw .failed(.signature, .node) }
    self.der = der
  }
}
