import MatterCertificates
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import MatterTLV
import Runtime

/// The identity that a virtual device gets at its first start, as a real one does in the factory: a device attestation
/// certificate and the salt of its passcode. Stored in the device's store, beside the engine's state.
struct DeviceIdentity: Sendable {
  let attestation: AttestationCredentials
  /// The salt of the passcode's verifier.
  let salt: [UInt8]

  /// PBKDF2 iterations: the minimum of the standard, since virtual devices are created by the hundred. Matter Core §
  /// 3.9.
  static let iterations: UInt32 = 1000
  private static let prefix = "identity/"

  /// Loads the identity from the store, or creates and stores one.
  init(
    of device: DeviceDefinition, in store: any NodeStore, _ state: StoredState,
    signatures: any SignatureScheme = OpenSSLSignatures(),
    random: inout any RandomSource
  ) throws {
    if let dac = state[Self.prefix + "dac"], let pai = state[Self.prefix + "pai"],
      let key = state[Self.prefix + "key"], let declaration = state[Self.prefix + "declaration"],
      let salt = state[Self.prefix + "salt"]
    {
      attestation = AttestationCredentials(
        dacKey: try P256PrivateKey(scalar: key), deviceCertificate: dac, intermediateCertificate: pai,
        certificationDeclaration: declaration)
      self.salt = salt
      return
    }
    attestation = try Self.attestation(of: device, signatures: signatures, random: &random)
    salt = random.bytes(32)
    // Not durable by itself: a device without a fabric may get another identity, and joining one makes all earlier
    // commits durable.
    try store.commit([
      StoreChange(Self.prefix + "dac", attestation.deviceCertificate),
      StoreChange(Self.prefix + "pai", attestation.intermediateCertificate),
      StoreChange(Self.prefix + "key", attestation.dacKey.scalar),
      StoreChange(Self.prefix + "declaration", attestation.certificationDeclaration),
      StoreChange(Self.prefix + "salt", salt),
    ])
  }

  /// Creates attestation credentials.
  /// - Parameter flaw: a flaw of the attestation; nil for a valid one.
  static func attestation(
    of device: DeviceDefinition, flaw: TestAttestation.Flaw? = nil, signatures: any SignatureScheme,
    random: inout any RandomSource
  ) throws(CertificateError) -> AttestationCredentials {
    let made = try TestAttestation(
      vendorID: device.vendorID, productID: device.productID, deviceTypeID: device.kind.deviceType.rawValue,
      name: "Hearth \(device.serialNumber)", flaw: flaw, random: &random, signatures: signatures)
    return AttestationCredentials(
      dacKey: made.dacKey, deviceCertificate: made.dac.der, intermediateCertificate: made.pai.der,
      certificationDeclaration: made.certificationDeclaration)
  }
}
