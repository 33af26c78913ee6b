public import MatterCrypto

/// The parameters with which a device responds to PASE handshakes. Matter Core § 3.10 and § 4.14.1.
public struct PASEParameters: Hashable, Sendable {
  /// What the verifier is made of.
  private enum Secret: Hashable {
    case verifier(SPAKE2PlusVerifier)
    case passcode(UInt32)
  }

  private var secret: Secret
  /// The PBKDF salt, 16 to 32 bytes.
  public var salt: [UInt8]
  /// The PBKDF iteration count, 1,000 to 100,000.
  public var iterations: UInt32

  public init(verifier: SPAKE2PlusVerifier, salt: [UInt8], iterations: UInt32) {
    (self.secret, self.salt, self.iterations) = (.verifier(verifier), salt, iterations)
  }

  /// Creates parameters that derive the verifier when a handshake requires it, and not before.
  public init(passcode: UInt32, salt: [UInt8], iterations: UInt32) {
    (self.secret, self.salt, self.iterations) = (.passcode(passcode), salt, iterations)
  }

  /// Returns the verifier, derived from the passcode if necessary.
  func makeVerifier() throws(CryptoError) -> SPAKE2PlusVerifier {
    switch secret {
    case .verifier(let verifier): verifier
    case .passcode(let passcode):
      try SPAKE2PlusVerifier(passcode: passcode, salt: salt, iterations: Int(iterations))
    }
  }

  static let saltLengths = 16...32
  static let iterationCounts: ClosedRange<UInt32> = 1_000...100_000
}

/// The derivations shared by both sides of PASE. Matter Core § 4.14.1.
enum PASEKeys {
  /// Returns the SPAKE2+ context, which binds the proof to the preceding messages.
  static func context(_ request: [UInt8], _ response: [UInt8]) -> [UInt8] {
    Hash.sha256(Array("CHIP PAKE V1 Commissioning".utf8) + request + response)
  }

  static func session(
    _ keys: SPAKE2PlusKeys, peerSessionID: UInt16, parameters: SessionParameters
  ) throws(CryptoError) -> EstablishedKeys {
    let bytes = try HKDF.sha256(secret: keys.Ke, salt: [], info: Array("SessionKeys".utf8), count: 48)
    return EstablishedKeys(keys: bytes, peerSessionID: peerSessionID, parameters: parameters)
  }
}
