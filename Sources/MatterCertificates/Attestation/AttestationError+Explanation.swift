extension AttestationError {
  /// The check that failed, in words for people: which certificate, and which rule. A sentence part without a full stop.
  public var explanation: String {
    switch self {
    case .malformedCertificate(let role, let error): "its \(role.words) can't be read: \(error)"
    case .basicConstraints(let role): "the basic constraints of its \(role.words) are not those of such a certificate"
    case .keyUsage(let role): "the key usage of its \(role.words) is not that of such a certificate"
    case .keyIdentifier(let role): "its \(role.words) lacks a key identifier"
    case .criticalExtension(let role): "its \(role.words) has a critical extension that is not known"
    case .noTrustedRoot: "the root (PAA) that its intermediate certificate (PAI) names is not among the trusted ones"
    case .issuer(let role): "its \(role.words) names another issuer than the certificate above it"
    case .signature(let role): "its \(role.words) was not signed by the certificate above it"
    case .notYetValid(let role): "its \(role.words) was not valid yet"
    case .expired(let role): "its \(role.words) had expired"
    case .vendorID(let role): "the vendor id of its \(role.words) is missing, or not the one it should be"
    case .productID(let role): "the product id of its \(role.words) is missing, or not the one it should be"
    case .malformedDeclaration(let what): "its certification declaration can't be read: \(what)"
    case .unknownDeclarationSigner(let key):
      "its certification declaration was signed with a key that is not trusted (\(AttestationError.hexadecimal(key)))"
    case .declarationSignature: "the signature of its certification declaration is wrong"
    case .unsupportedDeclaration: "its certification declaration has a format or a type that is not defined"
    case .declarationVendorID: "its certification declaration is for another vendor"
    case .declarationProductID: "its certification declaration is for another product"
    case .declarationRoot: "its certification declaration does not allow the root (PAA) that its certificates come from"
    case .malformedElements(let what): "its attestation can't be read: \(what)"
    case .nonce: "its attestation answers another question than the one that was asked (nonce)"
    case .testKeys: "its certificates are for tests: the keys that signed them are public, so they prove nothing"
    case .responseSignature: "its attestation was not signed with the key of its certificate (DAC)"
    }
  }

  static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
  }
}

extension AttestationRole {
  fileprivate var words: String {
    switch self {
    case .paa: "attestation root (PAA)"
    case .pai: "intermediate attestation certificate (PAI)"
    case .dac: "device attestation certificate (DAC)"
    }
  }
}
