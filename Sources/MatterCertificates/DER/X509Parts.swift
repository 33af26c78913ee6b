/// The common parts of Matter's X.509 structures. RFC 5280, RFC 5480.
enum X509 {
  static func writeSignatureAlgorithm(to writer: inout DERWriter) {
    writer.nest { $0.write(objectIdentifier: OID.ecdsaWithSHA256) }
  }

  /// - Parameter allowsNull: RFC 5758 § 3.2 omits the parameters, but some libraries write a NULL. Set it for
  ///   certificates that are read but not converted.
  static func readSignatureAlgorithm(
    from reader: inout DERReader, allowsNull: Bool = false
  ) throws(CertificateError) {
    var algorithm = try reader.enter()
    guard try algorithm.objectIdentifier() == OID.ecdsaWithSHA256 else { throw .unsupported("signature algorithm") }
    if allowsNull, algorithm.nextTag == DERTag.null {
      guard try algorithm.read(DERTag.null).isEmpty else { throw .malformed("DER: null") }
    }
    try algorithm.finish()
  }

  /// SubjectPublicKeyInfo of a P-256 key given as an uncompressed point.
  static func write(publicKey: [UInt8], to writer: inout DERWriter) {
    writer.nest { info in
      info.nest { algorithm in
        algorithm.write(objectIdentifier: OID.ecPublicKey)
        algorithm.write(objectIdentifier: OID.prime256v1)
      }
      info.write(bits: publicKey)
    }
  }

  static func readPublicKey(from reader: inout DERReader) throws(CertificateError) -> [UInt8] {
    var info = try reader.enter()
    var algorithm = try info.enter()
    guard try algorithm.objectIdentifier() == OID.ecPublicKey else { throw .unsupported("public key algorithm") }
    guard try algorithm.objectIdentifier() == OID.prime256v1 else { throw .unsupported("elliptic curve") }
    try algorithm.finish()
    let point = try info.octetsOfBitString()
    try info.finish()
    guard point.count == 65, point[0] == 4 else { throw .malformed("public key") }
    return point
  }

  /// Splits a `Certificate` or `CertificationRequest` into the signed part and the DER signature.
  static func readSigned(
    _ der: [UInt8], allowsNull: Bool = false
  ) throws(CertificateError) -> (signed: DERElement, signature: [UInt8]) {
    var outer = DERReader(der)
    var whole = try outer.enter()
    try outer.finish()
    let signed = try whole.next()
    guard signed.tag == DERTag.sequence else { throw .malformed("DER: missing sequence") }
    try readSignatureAlgorithm(from: &whole, allowsNull: allowsNull)
    let signature = try whole.octetsOfBitString()
    try whole.finish()
    return (signed, signature)
  }

  /// Builds a `Certificate` or `CertificationRequest`.
  static func writeSigned(_ signed: [UInt8], derSignature: [UInt8]) -> [UInt8] {
    var writer = DERWriter()
    writer.nest { whole in
      whole.append(signed)
      writeSignatureAlgorithm(to: &whole)
      whole.write(bits: derSignature)
    }
    return writer.bytes
  }
}
