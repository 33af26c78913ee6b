public import MatterCertificates
public import MatterCrypto
internal import MatterModel
internal import MatterProtocol

/// The source of the credentials for device attestation. Matter Core § 6.2.
public enum Attestation: Sendable {
  /// Credentials that exist already.
  case credentials(AttestationCredentials)
  /// Creates the credentials when a commissioner first asks for them. The device stores them; they survive a factory
  /// reset.
  case onDemand(@Sendable () throws -> AttestationCredentials)
}

/// The credentials for device attestation. Matter Core § 6.2.
public struct AttestationCredentials: Sendable {
  /// The private key of the device attestation certificate.
  public var dacKey: P256PrivateKey
  /// X.509, DER.
  public var deviceCertificate: [UInt8]
  /// X.509, DER.
  public var intermediateCertificate: [UInt8]
  /// CMS, DER.
  public var certificationDeclaration: [UInt8]

  public init(
    dacKey: P256PrivateKey, deviceCertificate: [UInt8], intermediateCertificate: [UInt8],
    certificationDeclaration: [UInt8]
  ) {
    self.dacKey = dacKey
    self.deviceCertificate = deviceCertificate
    self.intermediateCertificate = intermediateCertificate
    self.certificationDeclaration = certificationDeclaration
  }

  /// Takes the credentials of a test device.
  public init(_ made: TestAttestation) {
    self.init(
      dacKey: made.dacKey, deviceCertificate: made.dac.der, intermediateCertificate: made.pai.der,
      certificationDeclaration: made.certificationDeclaration)
  }
}

/// Credentials that were created on demand, in the store.
struct StoredAttestation: ModelStruct {
  var key = OctetString([])
  var deviceCertificate = OctetString([])
  var intermediateCertificate = OctetString([])
  var declaration = OctetString([])

  static let fields: [Field<Self>] = [
    .init(0, "Key", \.key), .init(1, "DeviceCertificate", \.deviceCertificate),
    .init(2, "IntermediateCertificate", \.intermediateCertificate), .init(3, "Declaration", \.declaration),
  ]
}

extension AttestationCredentials {
  /// Loads the credentials; nil without valid ones.
  init?(in state: StoredState) {
    guard let bytes = state[StoreKey.attestation], let stored = try? StoredAttestation(tlv: bytes),
      let key = try? P256PrivateKey(scalar: stored.key.bytes)
    else { return nil }
    self.init(
      dacKey: key, deviceCertificate: stored.deviceCertificate.bytes,
      intermediateCertificate: stored.intermediateCertificate.bytes,
      certificationDeclaration: stored.declaration.bytes)
  }

  /// The entry of the store. Not durable by itself: joining a fabric makes all earlier changes durable.
  var change: StoreChange {
    StoreChange(
      StoreKey.attestation,
      StoredAttestation(
        key: OctetString(dacKey.scalar), deviceCertificate: OctetString(deviceCertificate),
        intermediateCertificate: OctetString(intermediateCertificate),
        declaration: OctetString(certificationDeclaration)
      ).tlv)
  }
}
