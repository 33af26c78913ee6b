public import MatterCrypto
public import MatterTLV

/// What is wrong with a certificate, a signing request or a chain of certificates.
public enum CertificateError: Error, Equatable, Sendable {
  /// The TLV encoding itself is broken.
  case tlv(TLVError)
  /// The bytes are not what the format asks for; says where and what.
  case malformed(String)
  /// Larger than the specification allows, in bytes. Core § 6.1.3.
  case tooLong(maximum: Int)
  /// Well formed, but with an algorithm, curve, version or attribute that Matter does not have.
  case unsupported(String)
  /// An identifier in a subject or issuer name that is outside its range. Core § 6.5.6.
  case invalidIdentifier(DistinguishedName.MatterAttribute, UInt64)
  /// The certificate with this role does not pass a check.
  case failed(Check, CertificateRole)
  /// The cryptographic layer could not make or read a key or a signature.
  case crypto(CryptoError)

  /// The checks of a chain of operational certificates. Core § 6.5.
  public enum Check: String, Hashable, Sendable, CaseIterable {
    /// The signature is not by the issuer's key.
    case signature
    /// The public key is not a point of the curve.
    case publicKey
    /// The issuer name is not the subject name of the certificate above.
    case issuer
    /// The subject name lacks an identifier that its role needs, has it twice, or has one of another role.
    case subject
    /// There is no subject key identifier.
    case subjectKeyIdentifier
    /// The authority key identifier is not the subject key identifier of the certificate above.
    case authorityKeyIdentifier
    /// Basic constraints are missing, or say the wrong thing about being an authority.
    case basicConstraints
    /// More certificates follow than the path length constraint allows.
    case pathLength
    /// The key usage extension is missing, or lacks a usage that the role needs.
    case keyUsage
    /// The extended key usage extension lacks server or client authentication.
    case extendedKeyUsage
    /// An extension that is not known is marked critical.
    case criticalExtension
    /// The fabric id is not the fabric id of the node certificate.
    case fabricID
    /// The certificate's time has not come.
    case notYetValid
    /// The certificate's time is over.
    case expired
  }
}

/// The place of a certificate in a chain of operational certificates.
public enum CertificateRole: String, Hashable, Sendable {
  /// RCAC, the root.
  case root
  /// ICAC, between the root and the node.
  case intermediate
  /// NOC, the node's own.
  case node
}

extension CertificateError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .tlv(let error): "not valid TLV: \(error)"
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
