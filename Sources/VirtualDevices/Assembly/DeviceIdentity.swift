import MatterCertificates
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime

/// The attestation and the salt of a virtual device. They are created once, as in the factory of a real device.
struct DeviceIdentity: Sendable {
  /// The device attestation, which is created when it is first needed: its signatures take longer than the rest of the
  /// start.
  let attestation: Attestation
  /// The salt of the passcode's verifier.
  let salt: [UInt8]

  /// PBKDF2 iterations: the minimum of the standard, since virtual devices are created by the hundred. Matter Core §
  /// 3.9.
  static let iterations: UInt32 = 1000
  private static let saltKey = "identity/salt"

  /// Loads the identity from the store, or creates and stores one.
  /// - Parameter random: a seeded source gives the same keys, whatever happens before they are needed.
  init(
    of device: DeviceDefinition, in store: any NodeStore, _ state: StoredState,
    signatures: any SignatureScheme = OpenSSLSignatures(),
    random: inout any RandomSource
  ) throws {
    // The closure captures these values instead of the definition, which is larger.
    let (vendorID, productID) = (device.vendorID, device.productID)
    let (type, name) = (device.kind.deviceType.rawValue, device.serialNumber)
    let source = random.fork()
    attestation = .onDemand {
      var random = source
      return try Self.credentials(vendorID, productID, type, name, signatures: signatures, random: &random)
    }
    if let salt = state[Self.saltKey] {
      self.salt = salt
      return
    }
    salt = random.bytes(32)
    // Not durable by itself: a device without a fabric may get another identity, and joining one makes all earlier
    // commits durable.
    try store.commit([StoreChange(Self.saltKey, salt)])
  }

  /// Creates an identity that is not stored, for a check of the definition.
  init(checking device: DeviceDefinition) {
    salt = []
    attestation = .onDemand {
      var random: any RandomSource = SeededRandomSource(seed: 0)
      return try Self.attestation(of: device, flaw: nil, signatures: OpenSSLSignatures(), random: &random)
    }
  }

  /// Creates attestation credentials.
  /// - Parameter flaw: a flaw of the attestation; nil for a valid one.
  static func attestation(
    of device: DeviceDefinition, flaw: TestAttestation.Flaw?, signatures: any SignatureScheme,
    random: inout any RandomSource
  ) throws(CertificateError) -> AttestationCredentials {
    try credentials(
      device.vendorID, device.productID, device.kind.deviceType.rawValue, device.serialNumber, flaw,
      signatures: signatures, random: &random)
  }

  private static func credentials(
    _ vendorID: UInt16, _ productID: UInt16, _ type: UInt32, _ serialNumber: String,
    _ flaw: TestAttestation.Flaw? = nil, signatures: any SignatureScheme, random: inout any RandomSource
  ) throws(CertificateError) -> AttestationCredentials {
    AttestationCredentials(
      try TestAttestation(
        vendorID: vendorID, productID: productID, deviceTypeID: type, name: "Hearth \(serialNumber)", flaw: flaw,
        random: &random, signatures: signatures))
  }
}
