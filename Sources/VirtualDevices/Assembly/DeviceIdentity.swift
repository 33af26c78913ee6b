import MatterCertificates
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime

/// What a virtual device gets at its first start, as a real one does in the factory. Stored in the device's store,
/// beside the engine's state.
struct DeviceIdentity: Sendable {
  /// The salt of the passcode's verifier.
  let salt: [UInt8]

  /// PBKDF2 iterations: the minimum of the standard, since virtual devices are created by the hundred. Matter Core §
  /// 3.9.
  static let iterations: UInt32 = 1000
  private static let saltKey = "identity/salt"

  /// Loads the identity from the store, or creates and stores one.
  init(in store: any NodeStore, _ state: StoredState, random: inout any RandomSource) throws {
    if let salt = state[Self.saltKey] {
      self.salt = salt
      return
    }
    salt = random.bytes(32)
    // Not durable by itself: a device without a fabric may get another identity, and joining one makes all earlier
    // commits durable.
    try store.commit([StoreChange(Self.saltKey, salt)])
  }

  /// Returns the attestation of a device, which is created when it is first needed: signatures take longer than the rest
  /// of the start.
  static func attestation(of device: DeviceDefinition, signatures: any SignatureScheme) -> Attestation {
    // Without the definition, which would take more memory.
    let (vendorID, productID) = (device.vendorID, device.productID)
    let (type, name) = (device.kind.deviceType.rawValue, device.serialNumber)
    return .onDemand { random in
      try credentials(vendorID, productID, type, name, signatures: signatures, random: &random)
    }
  }

  /// Creates attestation credentials with a flaw.
  static func flawedAttestation(
    of device: DeviceDefinition, _ flaw: TestAttestation.Flaw?, signatures: any SignatureScheme,
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
