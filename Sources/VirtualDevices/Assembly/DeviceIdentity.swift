import MatterCertificates
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import MatterTLV
import Runtime

/// What a virtual device is given once, at its first start, as a real one is in the factory: a device certificate of its
/// own and the salt of its passcode. Kept in the device's store, beside what the engine keeps there.
struct DeviceIdentity: Sendable {
  let attestation: AttestationCredentials
  /// Of the passcode's verifier.
  let salt: [UInt8]

  /// PBKDF2 rounds: the fewest that the standard allows, as virtual devices are made by the hundred. Matter Core § 3.9.
  static let iterations: UInt32 = 1000
  private static let prefix = "identity/"

  /// Takes the identity from the store, or makes one and puts it there.
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
    let made = try TestAttestation(
      vendorID: device.vendorID, productID: device.productID, deviceTypeID: device.kind.deviceType.rawValue,
      name: "Hearth \(device.serialNumber)", random: &random, signatures: signatures)
    attestation = AttestationCredentials(
      dacKey: made.dacKey, deviceCertificate: made.dac.der, intermediateCertificate: made.pai.der,
      certificationDeclaration: made.certificationDeclaration)
    salt = random.bytes(32)
    // Not durable by itself: before the device is in a fabric it may have another one, and that makes all before it durable.
    try store.commit([
      StoreChange(Self.prefix + "dac", attestation.deviceCertificate),
      StoreChange(Self.prefix + "pai", attestation.intermediateCertificate),
      StoreChange(Self.prefix + "key", attestation.dacKey.scalar),
      StoreChange(Self.prefix + "declaration", attestation.certificationDeclaration),
      StoreChange(Self.prefix + "salt", salt),
    ])
  }
}
