public import MatterCrypto

/// Verifies a device's attestation for a commissioner: certificates, declaration, nonce and signature. Core § 6.2.3.1.
public struct AttestationVerifier: Sendable {
  /// The trusted roots (PAA).
  public var trustedRoots: [X509Certificate]
  /// The trusted signers of certification declarations, by subject key identifier.
  public var declarationSigners: [[UInt8]: P256PublicKey]
  /// Keys of roots and declaration signers whose private keys are public. They prove nothing about a device.
  public var testKeys: Set<P256PublicKey> = []
  /// Whether devices that depend on test keys are accepted.
  public var acceptsTestKeys = true

  package init(trustedRoots: [X509Certificate], declarationSigners: [[UInt8]: P256PublicKey]) {
    self.trustedRoots = trustedRoots
    self.declarationSigners = declarationSigners
  }

  /// A device's attestation response with the data that it is checked against.
  public struct Response: Sendable {
    /// The encoded attestation elements, exactly as received.
    public var elements: [UInt8]
    /// 64 bytes.
    public var signature: [UInt8]
    /// The device attestation certificate (DER).
    public var dac: [UInt8]
    /// The intermediate certificate that issued the DAC (DER).
    public var pai: [UInt8]
    /// The nonce of the request.
    public var nonce: [UInt8]
    /// The session's attestation challenge.
    public var challenge: [UInt8]

    public init(
      elements: [UInt8], signature: [UInt8], dac: [UInt8], pai: [UInt8], nonce: [UInt8], challenge: [UInt8]
    ) {
      self.elements = elements
      self.signature = signature
      self.dac = dac
      self.pai = pai
      self.nonce = nonce
      self.challenge = challenge
    }
  }

  /// The contents of a verified response.
  public struct Outcome: Hashable, Sendable {
    public var declaration: CertificationDeclaration
    /// Whether the certificates or the declaration depend on a test key or are for a test vendor.
    public var isTest: Bool
  }

  /// The test vendor ids. Matter Core § 2.5.2.
  private static let testVendors: ClosedRange<UInt16> = 0xFFF1...0xFFF4

  /// Verifies certificates, signature, nonce and declaration.
  /// - Parameters:
  ///   - vendorID, productID: from the device's Basic Information cluster.
  ///   - time: see ``AttestationChain/verify(dac:pai:trustedRoots:vendorID:productID:at:)``.
  /// - Throws: the first failed check.
  @discardableResult
  public func verify(
    _ response: Response, vendorID: UInt16, productID: UInt16, at time: Int64? = nil
  ) throws(AttestationError) -> Outcome {
    let pai = try Self.certificate(response.pai, .pai)
    let dac = try Self.certificate(response.dac, .dac)
    // The declaration may allow a DAC of another product, so it checks the ids of the DAC.
    let paa = try AttestationChain.verify(dac: dac, pai: pai, trustedRoots: trustedRoots, at: time)
    guard
      AttestationSignature.isValid(
        response.signature, elements: response.elements, challenge: response.challenge, key: dac.publicKey)
    else { throw .responseSignature }
    let elements = try AttestationElements(tlv: response.elements)
    guard elements.nonce == response.nonce else { throw .nonce }
    let (declaration, isTestDeclaration) = try declaration(elements.certificationDeclaration)
    try declaration.check(vendorID: vendorID, productID: productID, dac: dac, pai: pai, paa: paa)
    let isTest =
      isTestDeclaration || testKeys.contains(paa.publicKey)
      || dac.subject.vendorID.map { Self.testVendors.contains($0) } == true
    guard acceptsTestKeys || !isTest else { throw .testKeys }
    return Outcome(declaration: declaration, isTest: isTest)
  }

  /// Returns the declaration, and whether it is signed with a test key.
  private func declaration(
    _ cms: [UInt8]
  ) throws(AttestationError) -> (declaration: CertificationDeclaration, isTest: Bool) {
    let production = declarationSigners.filter { !testKeys.contains($0.value) }
    do throws(AttestationError) {
      let declaration = try CertificationDeclaration.verify(cms: cms, signers: production)
      return (declaration, false)
    } catch .unknownDeclarationSigner {
      let declaration = try CertificationDeclaration.verify(cms: cms, signers: declarationSigners)
      return (declaration, true)
    } catch {
      throw error
    }
  }

  private static func certificate(
    _ der: [UInt8], _ role: AttestationRole
  ) throws(AttestationError) -> X509Certificate {
    do { return try X509Certificate(der: der) } catch { throw .malformedCertificate(role, error) }
  }
}
