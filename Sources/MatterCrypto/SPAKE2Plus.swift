/// The data that a device stores in place of its passcode: sufficient to verify a prover, but not to act as one. Core §
/// 3.10.
public struct SPAKE2PlusVerifier: Sendable, Hashable {
  /// Length of the serialized form, in bytes.
  static let byteCount = P256.scalarByteCount + P256.pointByteCount

  /// The 32-byte scalar shared by both sides.
  let w0: [UInt8]
  // The name is the specification's.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// The point w1 × P, uncompressed: 65 bytes.
  let L: [UInt8]

  /// Derives the verifier from a passcode.
  /// - Throws: ``CryptoError/invalidLength(expected:found:)`` for fewer than 1 iteration.
  public init(passcode: UInt32, salt: [UInt8], iterations: Int) throws(CryptoError) {
    let scalars = try PasscodeScalars(passcode: passcode, salt: salt, iterations: iterations)
    w0 = scalars.w0.bytes
    L = CurvePoint(generatorTimes: scalars.w1).bytes
  }

  /// Decodes the 97 bytes w0, L.
  /// - Throws: ``CryptoError/invalidLength(expected:found:)``, ``CryptoError/invalidKey`` for a w0 of zero or not below
  ///   the order, ``CryptoError/invalidPoint`` for an L that is not on the curve.
  public init(bytes: [UInt8]) throws(CryptoError) {
    guard bytes.count == Self.byteCount else {
      throw .invalidLength(expected: Self.byteCount, found: bytes.count)
    }
    w0 = Array(bytes[..<P256.scalarByteCount])
    L = Array(bytes[P256.scalarByteCount...])
    _ = try Scalar(validating: w0)
    _ = try CurvePoint(bytes: L)
  }

  /// The 97 bytes w0, L, as in `PAKEPasscodeVerifier`.
  public var bytes: [UInt8] { w0 + L }
}

/// The keys that both sides derive from the exchange.
package struct SPAKE2PlusKeys: Sendable, Hashable {
  /// The 32-byte key confirmation that the prover sends (Pake3).
  package let cA: [UInt8]
  /// The 32-byte key confirmation that the verifier sends (Pake2).
  package let cB: [UInt8]
  // The name is the specification's.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// The 16-byte shared secret from which the session keys are derived.
  package let Ke: [UInt8]

  init(transcript: SPAKE2PlusTranscript) throws(CryptoError) {
    let main = transcript.digest
    Ke = Array(main[16...])
    let confirmation = try HKDF.sha256(
      secret: Array(main[..<16]), salt: [], info: Array("ConfirmationKeys".utf8), count: 32)
    cA = try HMAC.sha256(key: Array(confirmation[..<16]), transcript.pB)
    cB = try HMAC.sha256(key: Array(confirmation[16...]), transcript.pA)
  }
}

/// The side with the passcode: the commissioner.
package struct SPAKE2PlusProver: Sendable {
  /// The 65-byte share to send (Pake1).
  package let pA: [UInt8]
  private let w0: [UInt8], w1: [UInt8], x: [UInt8]
  private let context: [UInt8]
  private let identities: SPAKE2PlusIdentities

  /// - Parameters:
  ///   - context: SHA-256 over "CHIP PAKE V1 Commissioning", PBKDFParamRequest, PBKDFParamResponse (Core § 4.14.1.2).
  ///   - random: source of the 40 bytes for the ephemeral scalar.
  /// - Throws: ``CryptoError/invalidLength(expected:found:)`` for fewer than 1 iteration.
  package init(
    passcode: UInt32, salt: [UInt8], iterations: Int, context: [UInt8], random: inout some RandomSource
  ) throws(CryptoError) {
    let scalars = try PasscodeScalars(passcode: passcode, salt: salt, iterations: iterations)
    self.init(w0: scalars.w0, w1: scalars.w1, x: Scalar(random: &random), context: context, identities: .none)
  }

  /// Creates a prover with a given ephemeral scalar, for published test vectors.
  init(w0: Scalar, w1: Scalar, x: Scalar, context: [UInt8], identities: SPAKE2PlusIdentities) {
    pA = CurvePoint(generatorTimes: x).plus(SPAKE2PlusConstants.m.times(w0)).bytes
    (self.w0, self.w1, self.x) = (w0.bytes, w1.bytes, x.bytes)
    self.context = context
    self.identities = identities
  }

  /// Derives the keys from the verifier's share. The caller must compare `cB` with the received confirmation, in
  /// constant time, before it uses the other keys.
  /// - Throws: ``CryptoError/invalidLength(expected:found:)`` or ``CryptoError/invalidPoint`` for a bad share.
  package func finish(pB: [UInt8]) throws(CryptoError) -> SPAKE2PlusKeys {
    try SPAKE2PlusKeys(transcript: transcript(pB: pB))
  }

  func transcript(pB: [UInt8]) throws(CryptoError) -> SPAKE2PlusTranscript {
    let unmasked = try CurvePoint(bytes: pB).minus(SPAKE2PlusConstants.n.times(Scalar(bytes: w0)))
    guard !unmasked.isInfinity else { throw .invalidPoint }
    return SPAKE2PlusTranscript(
      context: context, identities: identities, pA: pA, pB: pB, z: unmasked.times(Scalar(bytes: x)).bytes,
      v: unmasked.times(Scalar(bytes: w1)).bytes, w0: w0)
  }
}

/// The side with the verifier: the device.
package struct SPAKE2PlusResponder: Sendable {
  private let verifier: SPAKE2PlusVerifier
  private let y: [UInt8]
  private let context: [UInt8]
  private let identities: SPAKE2PlusIdentities

  /// - Parameters:
  ///   - context: as for ``SPAKE2PlusProver``.
  ///   - random: source of the 40 bytes for the ephemeral scalar.
  package init(verifier: SPAKE2PlusVerifier, context: [UInt8], random: inout some RandomSource) {
    self.init(verifier: verifier, y: Scalar(random: &random), context: context, identities: .none)
  }

  /// Creates a responder with a given ephemeral scalar, for published test vectors.
  init(verifier: SPAKE2PlusVerifier, y: Scalar, context: [UInt8], identities: SPAKE2PlusIdentities) {
    self.verifier = verifier
    self.y = y.bytes
    self.context = context
    self.identities = identities
  }

  /// Returns the own share and the keys for the prover's share. The caller sends `pB` and `cB`, and compares `cA` with
  /// the received confirmation, in constant time.
  /// - Throws: ``CryptoError/invalidLength(expected:found:)`` or ``CryptoError/invalidPoint`` for a bad share.
  package func respond(pA: [UInt8]) throws(CryptoError) -> (pB: [UInt8], keys: SPAKE2PlusKeys) {
    let transcript = try transcript(pA: pA)
    return (transcript.pB, try SPAKE2PlusKeys(transcript: transcript))
  }

  func transcript(pA: [UInt8]) throws(CryptoError) -> SPAKE2PlusTranscript {
    let w0 = Scalar(bytes: verifier.w0)
    let y = Scalar(bytes: y)
    let unmasked = try CurvePoint(bytes: pA).minus(SPAKE2PlusConstants.m.times(w0))
    guard !unmasked.isInfinity else { throw .invalidPoint }
    let pB = CurvePoint(generatorTimes: y).plus(SPAKE2PlusConstants.n.times(w0)).bytes
    return SPAKE2PlusTranscript(
      context: context, identities: identities, pA: pA, pB: pB, z: unmasked.times(y).bytes,
      v: try CurvePoint(bytes: verifier.L).times(y).bytes, w0: verifier.w0)
  }
}
