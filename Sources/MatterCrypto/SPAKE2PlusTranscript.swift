/// The scalars derived from a passcode. Core § 3.10.
struct PasscodeScalars {
  let w0: Scalar, w1: Scalar

  init(passcode: UInt32, salt: [UInt8], iterations: Int) throws(CryptoError) {
    let password = (0..<4).map { UInt8(truncatingIfNeeded: passcode >> (8 * $0)) }
    // Both numbers have 8 bytes more than the order, so that the bias of the reduction is negligible.
    let both = try PBKDF2.sha256(password: password, salt: salt, iterations: iterations, count: 80)
    w0 = Scalar(reducing: Array(both[..<40]))
    w1 = Scalar(reducing: Array(both[40...]))
  }
}

/// The identities of both sides; empty in Matter.
struct SPAKE2PlusIdentities: Sendable {
  var prover: [UInt8]
  var verifier: [UInt8]

  static let none = SPAKE2PlusIdentities(prover: [], verifier: [])
}

/// The points M and N for P-256. RFC 9383 § 4.
///
/// `nonisolated(unsafe)`: initialized once and then only read.
enum SPAKE2PlusConstants {
  nonisolated(unsafe) static let m = CurvePoint(compressedConstant: mBytes)
  nonisolated(unsafe) static let n = CurvePoint(compressedConstant: nBytes)
  static let mUncompressed = m.bytes
  static let nUncompressed = n.bytes

  private static let mBytes: [UInt8] = [
    0x02, 0x88, 0x6e, 0x2f, 0x97, 0xac, 0xe4, 0x6e, 0x55, 0xba, 0x9d, 0xd7, 0x24, 0x25, 0x79, 0xf2, 0x99,
    0x3b, 0x64, 0xe1, 0x6e, 0xf3, 0xdc, 0xab, 0x95, 0xaf, 0xd4, 0x97, 0x33, 0x3d, 0x8f, 0xa1, 0x2f,
  ]
  private static let nBytes: [UInt8] = [
    0x03, 0xd8, 0xbb, 0xd6, 0xc6, 0x39, 0xc6, 0x29, 0x37, 0xb0, 0x4d, 0x99, 0x7f, 0x38, 0xc3, 0x77, 0x07,
    0x19, 0xc6, 0x29, 0xd7, 0x01, 0x4d, 0x49, 0xa2, 0x4b, 0x4f, 0x98, 0xba, 0xa1, 0x29, 0x2b, 0x49,
  ]
}

/// The transcript of the exchange, identical on both sides. RFC 9383 § 3.3.
struct SPAKE2PlusTranscript {
  let context: [UInt8]
  let identities: SPAKE2PlusIdentities
  let pA: [UInt8], pB: [UInt8]
  let z: [UInt8], v: [UInt8]
  let w0: [UInt8]

  /// SHA-256 over all parts, each preceded by its length in 8 little-endian bytes: Ka (16 bytes), then Ke (16).
  var digest: [UInt8] {
    var hasher = SHA256Hasher()
    for part in [
      context, identities.prover, identities.verifier, SPAKE2PlusConstants.mUncompressed,
      SPAKE2PlusConstants.nUncompressed, pA, pB, z, v, w0,
    ] {
      hasher.update((0..<8).map { UInt8(truncatingIfNeeded: part.count >> (8 * $0)) })
      hasher.update(part)
    }
    return hasher.finalize()
  }
}
