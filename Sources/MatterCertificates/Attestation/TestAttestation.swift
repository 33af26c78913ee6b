public import MatterCrypto

/// The attestation of a virtual device: a PAI and a DAC below the public test root, and a test declaration.
///
/// Accepted by commissioners that accept development devices. See ``PublicTestMaterial``.
public struct TestAttestation: Sendable {
  /// The intermediate certificate, signed with the public test root.
  public let pai: X509Certificate
  /// The device certificate, issued by the PAI for the device's vendor and product ids.
  public let dac: X509Certificate
  /// The private key of the DAC.
  public let dacKey: P256PrivateKey
  /// The certification declaration (CMS).
  public let certificationDeclaration: [UInt8]

  /// A flaw for which a commissioner must refuse the device.
  public enum Flaw: String, Hashable, Sendable, Codable, CaseIterable {
    /// Responses are signed with another key than that of the DAC.
    case signature
    /// The DAC has expired, a day after the beginning of its validity.
    case expiry
    /// PAI and DAC are for another vendor than the device and its declaration.
    case vendor
    /// The PAI was issued by an unknown root.
    case root
  }

  /// 2021-06-28 14:23:43, the start of the test root's validity.
  private static let notBefore: Int64 = 678_205_423

  /// Creates new keys and certificates.
  /// - Parameters:
  ///   - deviceTypeID: the main device type, for the declaration.
  ///   - name: identifies the device's certificate for users; at most 40 bytes.
  ///   - flaw: a flaw of the attestation; nil for a valid one.
  ///   - random: source of keys and serial numbers.
  public init(
    vendorID: UInt16, productID: UInt16, deviceTypeID: UInt32, name: String = "Device", flaw: Flaw? = nil,
    random: inout some RandomSource, signatures: some SignatureScheme = OpenSSLSignatures()
  ) throws(CertificateError) {
    let rootKey: P256PrivateKey, declarationKey: P256PrivateKey
    do {
      rootKey = try P256PrivateKey(scalar: PublicTestMaterial.paaKey)
      declarationKey = try P256PrivateKey(scalar: PublicTestMaterial.declarationSignerKey)
    } catch {
      throw .crypto(error)
    }
    guard name.utf8.count <= 40 else { throw .tooLong(maximum: 40) }
    let root = try X509Certificate(der: PublicTestMaterial.paa)
    let intermediateKey = P256PrivateKey(random: &random)
    let deviceKey = P256PrivateKey(random: &random)
    dacKey = flaw == .signature ? P256PrivateKey(random: &random) : deviceKey
    let certifiedVendorID = flaw == .vendor ? (vendorID == 0xFFF2 ? 0xFFF1 : 0xFFF2) : vendorID
    pai = try X509Certificate.make(
      subject: X509Name(commonName: "Hearth Test PAI", vendorID: certifiedVendorID), issuer: root.subject,
      publicKey: intermediateKey.publicKey, profile: .authority(pathLength: 0), notBefore: Self.notBefore,
      serialNumber: CertificateAuthority.serialNumber(random: &random),
      signer: flaw == .root ? P256PrivateKey(random: &random) : rootKey, signatures: signatures)
    dac = try X509Certificate.make(
      subject: X509Name(commonName: "Hearth Test DAC \(name)", vendorID: certifiedVendorID, productID: productID),
      issuer: pai.subject, publicKey: deviceKey.publicKey, profile: .device, notBefore: Self.notBefore,
      notAfter: flaw == .expiry ? Self.notBefore + 86_400 : DERTime.noExpiry,
      serialNumber: CertificateAuthority.serialNumber(random: &random), signer: intermediateKey,
      signatures: signatures)
    do {
      certificationDeclaration = try CertificationDeclaration(
        vendorID: vendorID, productIDs: [productID], deviceTypeID: deviceTypeID
      ).sign(with: declarationKey, keyID: PublicTestMaterial.declarationSignerKeyID, signatures: signatures)
    } catch {
      throw .crypto(error)
    }
  }

  /// Returns a commissioner's verifier that trusts the public test roots and the public test declaration key.
  public static func verifier() throws(CertificateError) -> AttestationVerifier {
    let signer: P256PublicKey
    do { signer = try P256PrivateKey(scalar: PublicTestMaterial.declarationSignerKey).publicKey } catch {
      throw .crypto(error)
    }
    let roots = [
      try X509Certificate(der: PublicTestMaterial.paa), try X509Certificate(der: PublicTestMaterial.paaFFF1),
    ]
    var verifier = AttestationVerifier(
      trustedRoots: roots, declarationSigners: [PublicTestMaterial.declarationSignerKeyID: signer])
    verifier.testKeys = Set(roots.map(\.publicKey) + [signer])
    return verifier
  }
}
