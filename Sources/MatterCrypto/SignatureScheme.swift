/// A way to create ECDSA-SHA-256 signatures. Injected, so that a simulation can use reproducible signatures.
public protocol SignatureScheme: Sendable {
  /// Signs `message`; returns 64 bytes, r and s.
  func sign(message: [UInt8], with key: P256PrivateKey) throws(CryptoError) -> [UInt8]
}

/// Signatures with a random nonce, created by OpenSSL. For real devices and controllers.
public struct OpenSSLSignatures: SignatureScheme {
  public init() {}

  public func sign(message: [UInt8], with key: P256PrivateKey) throws(CryptoError) -> [UInt8] {
    try key.sign(message)
  }
}

/// Signatures with the deterministic nonce of RFC 6979: the same key and message always give the same bytes.
///
/// OpenSSL 3.0 does not offer them, so they are computed here with big numbers. For simulations only: the arithmetic is
/// not hardened against timing attacks.
public struct DeterministicSignatures: SignatureScheme {
  public init() {}

  public func sign(message: [UInt8], with key: P256PrivateKey) throws(CryptoError) -> [UInt8] {
    let digest = Scalar(reducing: Hash.sha256(message))
    let secret = try Scalar(validating: key.scalar)
    var nonces = NonceGenerator(scalar: key.scalar, digest: digest.bytes)
    while true {
      let candidate = Scalar(bytes: nonces.next())
      guard candidate.isValid else { continue }
      let x = CurvePoint(generatorTimes: candidate).bytes[1...32]
      let r = Scalar(reducing: Array(x))
      guard r.isValid else { continue }
      let s = digest.adding(secret, times: r, dividedBy: candidate)
      guard s.isValid else { continue }
      return r.bytes + s.bytes
    }
  }

  /// The candidates for the nonce k, in order. RFC 6979 § 3.2, steps b to h.
  struct NonceGenerator {
    private var key = [UInt8](repeating: 0, count: 32)
    private var value = [UInt8](repeating: 1, count: 32)
    private var isFirst = true

    init(scalar: [UInt8], digest: [UInt8]) {
      key = hmac(value + [0] + scalar + digest)
      value = hmac(value)
      key = hmac(value + [1] + scalar + digest)
      value = hmac(value)
    }

    mutating func next() -> [UInt8] {
      if !isFirst {
        key = hmac(value + [0])
        value = hmac(value)
      }
      isFirst = false
      value = hmac(value)
      return value
    }

    private func hmac(_ data: [UInt8]) -> [UInt8] {
      var state = HMACState(key: key)
      state.update(data)
      return state.finalize()
    }
  }
}
