public import MatterCrypto

// Certificates of TLS servers that clients recognize by a fingerprint.
extension X509Certificate {
  /// Creates a certificate that is signed with its own key, and valid from 2000 on without expiry: a client that knows its
  /// fingerprint does not depend on the clock.
  public static func selfSigned(
    commonName: String, key: P256PrivateKey, random: inout some RandomSource
  ) throws(CertificateError) -> X509Certificate {
    let name = X509Name(commonName: commonName)
    return try make(
      subject: name, issuer: name, publicKey: key.publicKey, profile: .device, notBefore: 0,
      serialNumber: CertificateAuthority.serialNumber(random: &random), signer: key, signatures: OpenSSLSignatures())
  }
}

extension P256PrivateKey {
  /// The `ECPrivateKey` of the key (DER). RFC 5915 § 3.
  public var ecPrivateKey: [UInt8] {
    var writer = DERWriter()
    writer.nest { key in
      key.write(integer: 1)
      key.write(octets: scalar)
      key.nest(DERTag.explicit(0)) { $0.write(objectIdentifier: OID.prime256v1) }
      key.nest(DERTag.explicit(1)) { $0.write(bits: publicKey.bytes) }
    }
    return writer.bytes
  }
}
