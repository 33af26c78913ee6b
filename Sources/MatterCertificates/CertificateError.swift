public import MatterCrypto
public import MatterTLV

/// An error in a certificate, a signing request or a certificate chain.
public enum CertificateError: Error, Equatable, Sendable {
  /// The TLV encoding is invalid.
  case tlv(TLVError)
  /// The bytes do not have the required format; the text says where.
  case malformed(String)
  /// Larger than the specification allows, in bytes. Core § 6.1.3.
  case tooLong(maximum: Int)
  /// Well-formed, but with an algorithm, curve, version or attribute that Matter does not define.
  case unsupported(String)
  /// An identifier in a subject or issuer name is out of range. Core § 6.5.6.
  case invalidIdentifier(DistinguishedName.MatterAttribute, UInt64)
  /// The certificate with this role fails a check.
  case failed(Check, CertificateRole)
  /// A key or signature could not be created or decoded.
  case crypto(CryptoError)

  /// The checks of a chain of operational certificates. Core § 6.5.
  public enum Check: String, Hashable, Sendable, CaseIterable {
    /// The signature was not made with the issuer's key.
    case signature
    /// The public key is not a point on the curve.
    case publicKey
    /// The issuer name is not the subject name of the issuing certificate.
    case issuer
    /// The subject name lacks an identifier that its role requires, has it twice, or has one of another role.
    case subject
    /// The subject key identifier is missing.
    case subjectKeyIdentifier
    /// The authority key identifier is not the subject key identifier of the issuing certificate.
    case authorityKeyIdentifier
    /// Basic constraints are missing, or the CA flag does not fit the role.
    case basicConstraints
    /// The chain is longer than the path length constraint allows.
    case pathLength
    /// The key usage extension is missing, or lacks a usage that the role requires.
    case keyUsage
    /// The extended key usage extension lacks server or client authentication.
    case extendedKeyUsage
    /// An unknown extension is critical.
    case criticalExtension
    /// The fabric id is not that of the node certificate.
    case fabricID
    /// The certificate is not valid yet.
    case notYetValid
    /// The certificate has expired.
    case expired
  }
}

/// The role of a certificate in a chain of operational certificates.
public enum CertificateRole: String, Hashable, Sendable {
  /// RCAC, the root.
  case root
  /// ICAC, between the root and the node.
  case intermediate
  /// NOC, the node's certificate.
  case node
}

extension CertificateError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .tlv(let error): "invalid TLV: \(error)"
    case .malformed(let reason): "malformed: \(reason)"
    case .tooLong(let maximum): "longer than \(maximum) bytes"
    case .unsupported(let reason): "not supported: \(reason)"
    case .invalidIdentifier(let attribute, let value):
      "\(attribute) has the invalid value 0x\(String(value, radix: 16))"
    case .failed(let check, let role): "\(role) certificate: check of \(check) failed"
    case .crypto(let error): "\(error)"
    }
  }
}
