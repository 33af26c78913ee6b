/// Verifies a device's attestation certificates. Core § 6.2.3.1.
package enum AttestationChain {
  /// Verifies a DAC up to one of the trusted roots.
  /// - Parameters:
  ///   - vendorID, productID: the required ids of the DAC, or nil.
  ///   - time: the current time in seconds since 2000-01-01 00:00 UTC; nil if unknown, in which case the DAC's validity
  ///     is not checked. PAI and PAA must have been valid when the DAC was issued.
  /// - Returns: the trusted root of the chain.
  /// - Throws: the first failed check.
  @discardableResult
  package static func verify(
    dac: X509Certificate, pai: X509Certificate, trustedRoots: [X509Certificate], vendorID: UInt16? = nil,
    productID: UInt16? = nil, at time: Int64? = nil
  ) throws(AttestationError) -> X509Certificate {
    try checkForm(pai, .pai)
    try checkForm(dac, .dac)
    try checkIdentifiers(dac: dac, pai: pai)
    if let vendorID, dac.subject.vendorID != vendorID { throw .vendorID(.dac) }
    if let productID, dac.subject.productID != productID { throw .productID(.dac) }

    let candidates = trustedRoots.filter { $0.subjectKeyID != nil && $0.subjectKeyID == pai.authorityKeyID }
    guard let paa = candidates.first(where: { $0.subject.encoded == pai.issuer.encoded }) ?? candidates.first else {
      throw .noTrustedRoot
    }
    try checkForm(paa, .paa)
    guard paa.subject.productID == nil else { throw .productID(.paa) }
    if let vendorID = paa.subject.vendorID, vendorID != pai.subject.vendorID { throw .vendorID(.pai) }

    try check(pai, .pai, issuedBy: paa)
    try check(dac, .dac, issuedBy: pai)
    try checkValidity(pai, .pai, at: dac.notBefore)
    try checkValidity(paa, .paa, at: dac.notBefore)
    if let time { try checkValidity(dac, .dac, at: time) }
    return paa
  }

  /// The constraints of Core § 6.2.2.3 (DAC), § 6.2.2.4 (PAI) and § 6.2.2.5 (PAA).
  private static func checkForm(_ certificate: X509Certificate, _ role: AttestationRole) throws(AttestationError) {
    guard let constraints = certificate.basicConstraints else { throw .basicConstraints(role) }
    guard let usage = certificate.keyUsage else { throw .keyUsage(role) }
    let fits =
      switch role {
      case .dac: !constraints.isAuthority && constraints.pathLength == nil
      case .pai: constraints.isAuthority && constraints.pathLength == 0
      case .paa: constraints.isAuthority && (constraints.pathLength ?? 1) == 1
      }
    guard fits else { throw .basicConstraints(role) }
    if role == .dac {
      guard usage == .digitalSignature else { throw .keyUsage(role) }
    } else {
      let required: KeyUsage = [.keyCertificateSign, .crlSign]
      guard usage.subtracting(.digitalSignature) == required else { throw .keyUsage(role) }
    }
    guard certificate.subjectKeyID != nil, role == .paa || certificate.authorityKeyID != nil else {
      throw .keyIdentifier(role)
    }
    guard !certificate.hasUnknownCriticalExtension else { throw .criticalExtension(role) }
  }

  private static func checkIdentifiers(dac: X509Certificate, pai: X509Certificate) throws(AttestationError) {
    guard let vendorID = pai.subject.vendorID else { throw .vendorID(.pai) }
    guard dac.subject.vendorID == vendorID else { throw .vendorID(.dac) }
    guard let productID = dac.subject.productID else { throw .productID(.dac) }
    if let paiProductID = pai.subject.productID, paiProductID != productID { throw .productID(.dac) }
  }

  private static func check(
    _ certificate: X509Certificate, _ role: AttestationRole, issuedBy issuer: X509Certificate
  ) throws(AttestationError) {
    guard certificate.issuer.encoded == issuer.subject.encoded, certificate.authorityKeyID == issuer.subjectKeyID else {
      throw .issuer(role)
    }
    guard certificate.isSigned(by: issuer.publicKey) else { throw .signature(role) }
  }

  private static func checkValidity(
    _ certificate: X509Certificate, _ role: AttestationRole, at time: Int64
  ) throws(AttestationError) {
    guard certificate.notBefore <= time else { throw .notYetValid(role) }
    guard time <= certificate.notAfter else { throw .expired(role) }
  }
}
