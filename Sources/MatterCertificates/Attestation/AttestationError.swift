/// The reason why an attestation is rejected. Core § 6.2.3.1.
public enum AttestationError: Error, Equatable, Sendable {
  // The certificates, Core § 6.2.2.
  /// The certificate cannot be decoded.
  case malformedCertificate(AttestationRole, CertificateError)
  /// Basic constraints are missing or do not fit the role.
  case basicConstraints(AttestationRole)
  /// The key usage extension is missing or does not fit the role.
  case keyUsage(AttestationRole)
  /// A key identifier is missing.
  case keyIdentifier(AttestationRole)
  /// The certificate has an unknown critical extension.
  case criticalExtension(AttestationRole)

  // The chain, Core § 6.2.3.1.
  /// No trusted root matches the authority key identifier of the PAI.
  case noTrustedRoot
  /// The issuer name or authority key identifier does not match the issuing certificate.
  case issuer(AttestationRole)
  /// The signature was not made with the issuing certificate's key.
  case signature(AttestationRole)
  /// Not valid yet: the DAC at the current time, the others when the DAC was issued.
  case notYetValid(AttestationRole)
  /// Expired: the DAC at the current time, the others when the DAC was issued.
  case expired(AttestationRole)
  /// The vendor id is missing or does not match the issuing certificate.
  case vendorID(AttestationRole)
  /// The product id is missing from a DAC, present in a PAA, or does not match the issuing certificate.
  case productID(AttestationRole)

  // The certification declaration, Core § 6.3.
  /// The declaration's envelope or content cannot be decoded.
  case malformedDeclaration(String)
  /// The key identifier of the declaration's signer, which is not trusted.
  case unknownDeclarationSigner([UInt8])
  /// The declaration's signature is invalid.
  case declarationSignature
  /// The declaration has an undefined format version or certification type.
  case unsupportedDeclaration
  /// The declaration is not for the vendor of the device or of its certificates.
  case declarationVendorID
  /// The declaration is not for the product of the device or of its certificates.
  case declarationProductID
  /// The declaration does not authorize the root.
  case declarationRoot

  // The elements of the response, Core § 11.18.4.
  /// The elements cannot be decoded.
  case malformedElements(String)
  /// The nonce is not that of the request.
  case nonce
  /// The response was not signed for this session with the DAC's key.
  case responseSignature

  /// The attestation is valid, but depends on public test keys, which are not accepted.
  case testKeys
}

/// The role of a certificate in a device's attestation chain. Core § 6.2.1.
public enum AttestationRole: String, Hashable, Sendable, CustomStringConvertible {
  /// Product attestation authority, the root.
  case paa
  /// Product attestation intermediate.
  case pai
  /// Device attestation certificate.
  case dac

  public var description: String { rawValue }
}
