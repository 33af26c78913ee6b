extension AttestationError {
  /// The failed check in words for users: which certificate and which rule. A clause without a full stop.
  public var explanation: String {
    switch self {
    case .malformedCertificate(let role, let error): "its \(role.name) cannot be decoded: \(error)"
    case .basicConstraints(let role): "the basic constraints of its \(role.name) do not fit such a certificate"
    case .keyUsage(let role): "the key usage of its \(role.name) does not fit such a certificate"
    case .keyIdentifier(let role): "its \(role.name) lacks a key identifier"
    case .criticalExtension(let role): "its \(role.name) has an unknown critical extension"
    case .noTrustedRoot: "the root (PAA) of its intermediate certificate (PAI) is not trusted"
    case .issuer(let role): "its \(role.name) has another issuer than the certificate above it"
    case .signature(let role): "its \(role.name) was not signed by the certificate above it"
    case .notYetValid(let role): "its \(role.name) was not valid yet"
    case .expired(let role): "its \(role.name) had expired"
    case .vendorID(let role): "the vendor id of its \(role.name) is missing or does not match"
    case .productID(let role): "the product id of its \(role.name) is missing or does not match"
    case .malformedDeclaration(let what): "its certification declaration cannot be decoded: \(what)"
    case .unknownDeclarationSigner(let key):
      "its certification declaration was signed with a key that is not trusted (\(AttestationError.hexadecimal(key)))"
    case .declarationSignature: "the signature of its certification declaration is invalid"
    case .unsupportedDeclaration: "its certification declaration has an undefined format or type"
    case .declarationVendorID: "its certification declaration is for another vendor"
    case .declarationProductID: "its certification declaration is for another product"
    case .declarationRoot: "its certification declaration does not authorize the root (PAA) of its certificates"
    case .malformedElements(let what): "its attestation cannot be decoded: \(what)"
    case .nonce: "its attestation has another nonce than the request"
    case .testKeys: "its certificates are signed with public test keys, which prove nothing"
    case .responseSignature: "its attestation was not signed with the key of its certificate (DAC)"
    }
  }

  static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
  }
}

extension AttestationRole {
  fileprivate var name: String {
    switch self {
    case .paa: "attestation root (PAA)"
    case .pai: "intermediate attestation certificate (PAI)"
    case .dac: "device attestation certificate (DAC)"
    }
  }
}
