import MatterCrypto

/// Verifies operational certificates. Core § 6.5, § 6.4.10.
package enum CertificateChain {
  /// Verifies a node's certificate up to a trusted root.
  ///
  /// `root` is a trust anchor: ``verifySelfSigned(_:at:)`` checked it at installation, and its own signature is not
  /// verified again.
  /// - Parameter time: the current time in seconds since 2000-01-01 00:00 UTC; nil if unknown, in which case validity
  ///   is not checked.
  /// - Throws: ``CertificateError/failed(_:_:)`` with the first failed check and its certificate.
  package static func verify(
    noc: MatterCertificate, icac: MatterCertificate?, root: MatterCertificate, at time: UInt32? = nil
  ) throws(CertificateError) {
    try checkNode(noc, at: time)
    try checkRoot(root, authoritiesBelow: icac == nil ? 0 : 1, at: time)
    guard root.fabricID == nil || root.fabricID == noc.fabricID else { throw .failed(.fabricID, .root) }
    if let icac {
      try checkAuthority(icac, .intermediate, authoritiesBelow: 0, at: time)
      guard icac.fabricID == nil || icac.fabricID == noc.fabricID else { throw .failed(.fabricID, .intermediate) }
      try check(icac, .intermediate, issuedBy: root, .root)
      try check(noc, .node, issuedBy: icac, .intermediate)
    } else {
      try check(noc, .node, issuedBy: root, .root)
    }
  }

  /// Verifies a root certificate on its own, as for AddTrustedRootCertificate (Core § 11.18.6.13).
  /// - Parameter time: as in ``verify(noc:icac:root:at:)``.
  /// - Throws: ``CertificateError/failed(_:_:)``.
  package static func verifySelfSigned(_ root: MatterCertificate, at time: UInt32? = nil) throws(CertificateError) {
    try checkRoot(root, authoritiesBelow: 0, at: time)
    if let pathLength = root.basicConstraints?.pathLength, pathLength > 1 { throw .failed(.pathLength, .root) }
    try check(root, .root, issuedBy: root, .root)
  }

  /// Verifies an intermediate certificate up to its root.
  static func verify(
    icac: MatterCertificate, root: MatterCertificate, at time: UInt32? = nil
  ) throws(CertificateError) {
    try checkRoot(root, authoritiesBelow: 1, at: time)
    try checkAuthority(icac, .intermediate, authoritiesBelow: 0, at: time)
    try check(icac, .intermediate, issuedBy: root, .root)
  }

  // MARK: Single certificates

  private static func checkNode(_ noc: MatterCertificate, at time: UInt32?) throws(CertificateError) {
    guard noc.kind == .node, noc.nodeID != nil, noc.fabricID != nil, hasDistinctTags(noc) else {
      throw .failed(.subject, .node)
    }
    guard let constraints = noc.basicConstraints, !constraints.isAuthority, constraints.pathLength == nil else {
      throw .failed(.basicConstraints, .node)
    }
    guard let usage = noc.keyUsage, usage.contains(.digitalSignature) else { throw .failed(.keyUsage, .node) }
    guard let purposes = noc.keyPurposes, purposes.contains(.serverAuth), purposes.contains(.clientAuth) else {
      throw .failed(.extendedKeyUsage, .node)
    }
    try checkCommon(noc, .node, at: time)
  }

  /// Whether there are at most three tags, and no two versions of one. Core § 6.6.2.1.2.
  private static func hasDistinctTags(_ noc: MatterCertificate) -> Bool {
    let identifiers = noc.caseAuthenticatedTags.map { $0 >> 16 }
    return identifiers.count <= 3 && Set(identifiers).count == identifiers.count
  }

  private static func checkRoot(
    _ root: MatterCertificate, authoritiesBelow: UInt8, at time: UInt32?
  ) throws(CertificateError) {
    try checkAuthority(root, .root, authoritiesBelow: authoritiesBelow, at: time)
    guard root.issuer == root.subject else { throw .failed(.issuer, .root) }
    guard root.authorityKeyID == root.subjectKeyID else { throw .failed(.authorityKeyIdentifier, .root) }
  }

  private static func checkAuthority(
    _ authority: MatterCertificate, _ role: CertificateRole, authoritiesBelow: UInt8, at time: UInt32?
  ) throws(CertificateError) {
    let kind: MatterCertificate.Kind = role == .root ? .root : .intermediate
    guard authority.kind == kind, authority.subject.values(of: .fabricID).count <= 1,
      authority.caseAuthenticatedTags.isEmpty
    else { throw .failed(.subject, role) }
    guard let constraints = authority.basicConstraints, constraints.isAuthority else {
      throw .failed(.basicConstraints, role)
    }
    if let pathLength = constraints.pathLength, pathLength < authoritiesBelow { throw .failed(.pathLength, role) }
    guard let usage = authority.keyUsage, usage.contains(.keyCertificateSign) else { throw .failed(.keyUsage, role) }
    try checkCommon(authority, role, at: time)
  }

  private static func checkCommon(
    _ certificate: MatterCertificate, _ role: CertificateRole, at time: UInt32?
  ) throws(CertificateError) {
    guard certificate.subjectKeyID != nil else { throw .failed(.subjectKeyIdentifier, role) }
    guard certificate.authorityKeyID != nil else { throw .failed(.authorityKeyIdentifier, role) }
    guard !certificate.extensions.contains(where: \.isCriticalFuture) else { throw .failed(.criticalExtension, role) }
    guard let time else { return }
    guard certificate.notBefore <= time else { throw .failed(.notYetValid, role) }
    guard certificate.notAfter == 0 || time <= certificate.notAfter else { throw .failed(.expired, role) }
  }

  // MARK: Links

  private static func check(
    _ certificate: MatterCertificate, _ role: CertificateRole, issuedBy issuer: MatterCertificate,
    _ issuerRole: CertificateRole
  ) throws(CertificateError) {
    guard certificate.issuer == issuer.subject else { throw .failed(.issuer, role) }
    guard certificate.authorityKeyID == issuer.subjectKeyID else { throw .failed(.authorityKeyIdentifier, role) }
    guard (try? P256PublicKey(bytes: certificate.publicKey)) != nil else { throw .failed(.publicKey, role) }
    guard let key = try? P256PublicKey(bytes: issuer.publicKey) else { throw .failed(.publicKey, issuerRole) }
    guard key.verify(certificate.signature, of: certificate.tbsDER) else { throw .failed(.signature, role) }
  }
}
