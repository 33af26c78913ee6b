import MatterCrypto

/// The X.509 form. Core § 6.5.
extension MatterCertificate {
  /// Decodes the X.509 form (DER). ``CertificateChain`` verifies the signature.
  package init(x509 der: [UInt8]) throws(CertificateError) {
    guard der.count <= Self.maximumX509Count else { throw .tooLong(maximum: Self.maximumX509Count) }
    let (signed, derSignature) = try X509.readSigned(der)
    do { signature = try ECDSASignature.raw(fromDER: derSignature) } catch { throw .crypto(error) }
    var body = DERReader(signed.content)
    var version = try body.enter(DERTag.explicit(0))
    guard try version.smallInteger() == 2 else { throw .unsupported("version of X.509") }
    try version.finish()
    serialNumber = try body.integer()
    try X509.readSignatureAlgorithm(from: &body)
    issuer = try DistinguishedName(from: &body)
    var validity = try body.enter()
    notBefore = try Self.time(from: &validity)
    notAfter = try Self.time(from: &validity)
    try validity.finish()
    subject = try DistinguishedName(from: &body)
    publicKey = try X509.readPublicKey(from: &body)
    var explicit = try body.enter(DERTag.explicit(3))
    try body.finish()
    var list = try explicit.enter()
    try explicit.finish()
    guard !list.isAtEnd else { throw .malformed("extensions") }
    extensions = []
    while !list.isAtEnd { extensions.append(try CertificateExtension(from: &list)) }
    try validate()
  }

  private static func time(from reader: inout DERReader) throws(CertificateError) -> UInt32 {
    let seconds = try DERTime.read(from: &reader)
    if seconds == DERTime.noExpiry { return 0 }
    guard seconds > 0, let time = UInt32(exactly: seconds) else { throw .unsupported("time") }
    return time
  }

  private static func write(time: UInt32, to writer: inout DERWriter) {
    DERTime.write(time == 0 ? DERTime.noExpiry : Int64(time), to: &writer)
  }

  /// The X.509 `TBSCertificate`, which is signed.
  var tbsDER: [UInt8] {
    var writer = DERWriter()
    writer.nest { body in
      body.nest(DERTag.explicit(0)) { $0.write(integer: 2) }
      body.write(DERTag.integer, serialNumber)
      X509.writeSignatureAlgorithm(to: &body)
      issuer.write(to: &body)
      body.nest { validity in
        Self.write(time: notBefore, to: &validity)
        Self.write(time: notAfter, to: &validity)
      }
      subject.write(to: &body)
      X509.write(publicKey: publicKey, to: &body)
      body.nest(DERTag.explicit(3)) { explicit in
        explicit.nest { list in
          for entry in extensions { entry.write(to: &list) }
        }
      }
    }
    return writer.bytes
  }

  /// The X.509 form (DER).
  package var x509: [UInt8] {
    // 64 bytes always convert, and the initializers require that length.
    let derSignature = (try? ECDSASignature.der(fromRaw: signature)) ?? []
    return X509.writeSigned(tbsDER, derSignature: derSignature)
  }
}
