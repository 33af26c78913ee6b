/// A Matter operational certificate: root (RCAC), intermediate (ICAC) or node (NOC). Core § 6.5.
///
/// It has two forms: a compact TLV form for transmission, and an X.509 form, which is signed. They convert into each
/// other without loss.
public struct MatterCertificate: Hashable, Sendable {
  /// Maximum length of the TLV form, in bytes. Core § 6.1.3.
  package static let maximumTLVCount = 400
  /// Maximum length of the X.509 form, in bytes. Core § 6.1.3.
  package static let maximumX509Count = 600

  /// 1 to 20 bytes: the content of the X.509 INTEGER.
  public internal(set) var serialNumber: [UInt8]
  /// The subject of the issuing certificate.
  package internal(set) var issuer: DistinguishedName
  /// Seconds since 2000-01-01 00:00 UTC. (0 becomes 9999-12-31 23:59:59 in X.509, as in ``notAfter``.)
  package internal(set) var notBefore: UInt32
  /// Seconds since 2000-01-01 00:00 UTC; 0 if the certificate does not expire.
  package internal(set) var notAfter: UInt32
  /// The owner of the certificate.
  var subject: DistinguishedName
  /// An uncompressed P-256 point, 65 bytes. ``CertificateChain`` checks that it is on the curve.
  public internal(set) var publicKey: [UInt8]
  var extensions: [CertificateExtension]
  /// ECDSA with SHA-256: 64 bytes, r and s.
  public internal(set) var signature: [UInt8]

  /// The purpose of a certificate, determined by its subject. Core § 6.5.6.3.
  public enum Kind: Hashable, Sendable {
    case root, intermediate, node, firmwareSigning, vidVerificationSigner
  }

  /// The kind, or nil if the subject has no identifier of a kind, or more than one.
  public var kind: Kind? {
    let kinds: [(DistinguishedName.MatterAttribute, Kind)] = [
      (.rcacID, .root), (.icacID, .intermediate), (.nodeID, .node), (.firmwareSigningID, .firmwareSigning),
      (.vidVerificationSignerID, .vidVerificationSigner),
    ]
    let found = kinds.flatMap { kind in subject.values(of: kind.0).map { _ in kind.1 } }
    return found.count == 1 ? found[0] : nil
  }

  /// The node id in the subject, or nil unless it occurs exactly once.
  public var nodeID: UInt64? { subject.only(.nodeID) }
  /// The fabric id of a node, or of an intermediate authority or root that is bound to one.
  package var fabricID: UInt64? { subject.only(.fabricID) }
  /// The identifier of a root.
  package var rcacID: UInt64? { subject.only(.rcacID) }
  /// The identifier of an intermediate authority.
  package var icacID: UInt64? { subject.only(.icacID) }

  /// The CASE authenticated tags in the subject. Core § 6.6.2.1.2.
  package var caseAuthenticatedTags: [UInt32] {
    subject.values(of: .caseAuthenticatedTag).map { UInt32(truncatingIfNeeded: $0) }
  }

  /// The identifier of the certificate's key, 20 bytes.
  package var subjectKeyID: [UInt8]? {
    extensions.lazy.compactMap { if case .subjectKeyIdentifier(let id) = $0 { id } else { nil } }.first
  }

  /// The identifier of the issuer's key, 20 bytes.
  package var authorityKeyID: [UInt8]? {
    extensions.lazy.compactMap { if case .authorityKeyIdentifier(let id) = $0 { id } else { nil } }.first
  }

  /// Whether it is an authority's, and the maximum number of authorities below it; nil if the extension is missing.
  package var basicConstraints: (isAuthority: Bool, pathLength: UInt8?)? {
    extensions.lazy.compactMap {
      if case .basicConstraints(let isAuthority, let pathLength) = $0 { (isAuthority, pathLength) } else { nil }
    }.first
  }

  package var keyUsage: KeyUsage? {
    extensions.lazy.compactMap { if case .keyUsage(let usage) = $0 { usage } else { nil } }.first
  }

  package var keyPurposes: [KeyPurpose]? {
    extensions.lazy.compactMap { if case .extendedKeyUsage(let purposes) = $0 { purposes } else { nil } }.first
  }

  /// Checks the rules common to both forms.
  func validate() throws(CertificateError) {
    guard 1...20 ~= serialNumber.count else { throw .malformed("serial number") }
    guard publicKey.count == 65, publicKey[0] == 4 else { throw .malformed("public key") }
    guard signature.count == 64 else { throw .malformed("signature") }
    guard notAfter == 0 || notBefore < notAfter else { throw .malformed("validity ends before it begins") }
    var seen: Set<UInt8> = []
    for tag in extensions.lazy.map(\.tag) where tag != 6 {
      guard seen.insert(tag).inserted else { throw .malformed("extension twice") }
    }
  }
}
