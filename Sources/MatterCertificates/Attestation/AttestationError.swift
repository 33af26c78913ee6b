/// Why a device's attestation is not accepted. Core § 6.2.3.1.
public enum AttestationError: Error, Equatable, Sendable {
  // The certificates, Core § 6.2.2.
  /// The certificate cannot be read.
  case malformedCertificate(AttestationRole, CertificateError)
  /// Basic constraints are missing or do not fit the role.
  case basicConstraints(AttestationRole)
  /// The key usage extension is missing or does not fit the role.
  case keyUsage(AttestationRole)
  /// A key identifier is missing.
  case keyIdentifier(AttestationRole)
  /// A critical extension that is not known.
  case criticalExtension(AttestationRole)

  // The chain, Core § 6.2.3.1.
  /// No trusted root has the key that the PAI names as its issuer's.
  case noTrustedRoot
  /// The issuer name or key identifier is not that of the certificate above.
  case issuer(AttestationRole)
  /// The signature is not by the certificate above.
  case signature(AttestationRole)
  /// Not valid yet: the DAC at the current time, the others when the DAC was issued.
  case notYetValid(AttestationRole)
  /// Not valid any more, in the same way.
  case expired(AttestationRole)
  /// The vendor id is missing, or is not that of the certificate above.
  case vendorID(AttestationRole)
  /// The product id is missing from a DAC, is there in a PAA, or is not that of the certificate above.
  case productID(AttestationRole)

  // The certification declaration, Core § 6.3.
  /// The declaration's envelope or content cannot be read.
  case malformedDeclaration(String)
  /// The key that signed the declaration is not known: its identifier.
  case unknownDeclarationSigner([UInt8])
  /// The declaration's signature is wrong.
  case declarationSignature
  /// The declaration has a format version or certification type that is not defined.
  case unsupportedDeclaration
  /// The declaration is not for the device's vendor, or not for the vendor in the certificates.
  case declarationVendorID
  /// The declaration is not for the device's product, or not for the product in the certificates.
  case declarationProductID
  /// The declaration does not allow this root.
  case declarationRoot

  // The elements of the response, Core § 11.18.4.
  /// The elements cannot be read.
  case malformedElements(String)
  /// The nonce is not the one that was sent.
  case nonce
  /// The response was not signed with the certified key for this session.
  case responseSignature

  /// All is right, but depends on keys that are public, and those are not accepted.
  case testKeys
}

/// The place of a certificate in a device's attestation chain. Core § 6.2.1.
public enum AttestationRole: String, Hashable, Sendable {
  /// Product attestation authority, the root.
  case paa
  /// Product attestation intermediate.
  case pai
  /// Device attestation certificate.
  case dac
}
