import COpenSSL

/// A P-256 public key. Core § 3.5.1.
public struct P256PublicKey: Sendable, Hashable {
  /// Length of a key, in bytes.
  public static let byteCount = P256.pointByteCount

  /// The uncompressed point: 0x04, x, y.
  public let bytes: [UInt8]
  let key: EVPKey?

  /// - Throws: ``CryptoError/invalidLength(expected:found:)`` unless there are 65 bytes, ``CryptoError/invalidPoint``
  ///   unless they are an uncompressed point on the curve.
  public init(bytes: [UInt8]) throws(CryptoError) {
    _ = try CurvePoint(bytes: bytes)
    guard let key = EVPKey(publicKey: bytes, scalar: nil) else {
      throw .takeOpenSSLError(during: "P-256 public key")
    }
    self.bytes = bytes
    self.key = key
  }

  /// Takes the point of one of our own private keys, which needs no check.
  init(trusted bytes: [UInt8]) {
    self.bytes = bytes
    key = EVPKey(publicKey: bytes, scalar: nil)
  }

  /// Whether `signature` (64 bytes, r and s) is an ECDSA-SHA-256 signature of `message` by this key. Core § 3.5.3.
  public func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    guard let key, let der = try? ECDSASignature.der(fromRaw: signature),
      let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil)
    else { return false }
    defer { EVP_PKEY_CTX_free(context) }
    let digest = Hash.sha256(message)
    let valid =
      EVP_PKEY_verify_init(context) == 1
      && EVP_PKEY_verify(context, der, der.count, digest, digest.count) == 1
    if !valid { ERR_clear_error() }
    return valid
  }

  public static func == (first: Self, second: Self) -> Bool { first.bytes == second.bytes }
  public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

/// A P-256 private key, with its public key. Its description never shows the scalar.
public struct P256PrivateKey: Sendable, CustomStringConvertible, CustomReflectable {
  /// Length of the scalar, in bytes.
  public static let byteCount = P256.scalarByteCount

  /// 32 big-endian bytes.
  public let scalar: [UInt8]
  public let publicKey: P256PublicKey
  private let key: EVPKey?

  /// - Throws: ``CryptoError/invalidLength(expected:found:)`` unless there are 32 bytes, ``CryptoError/invalidKey`` if
  ///   the number is zero or not below the order of the curve.
  public init(scalar: [UInt8]) throws(CryptoError) {
    self.init(try Scalar(validating: scalar))
    guard key != nil, publicKey.key != nil else { throw .takeOpenSSLError(during: "P-256 private key") }
  }

  /// Draws a new key from 40 bytes of `random`.
  public init(random: inout some RandomSource) {
    self.init(Scalar(random: &random))
  }

  private init(_ number: Scalar) {
    scalar = number.bytes
    publicKey = P256PublicKey(trusted: CurvePoint(generatorTimes: number).bytes)
    key = EVPKey(publicKey: publicKey.bytes, scalar: number)
  }

  /// Signs with ECDSA-SHA-256 (64 bytes, r and s) and a nonce from OpenSSL's generator, so that no two signatures are
  /// equal. Code that must be reproducible signs through a ``SignatureScheme``.
  public func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard let key, let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else {
      throw .takeOpenSSLError(during: "ECDSA sign")
    }
    defer { EVP_PKEY_CTX_free(context) }
    let digest = Hash.sha256(message)
    var der = [UInt8](repeating: 0, count: ECDSASignature.largestDER)
    var count = der.count
    guard EVP_PKEY_sign_init(context) == 1,
      EVP_PKEY_sign(context, &der, &count, digest, digest.count) == 1
    else { throw .takeOpenSSLError(during: "ECDSA sign") }
    return try ECDSASignature.raw(fromDER: Array(der[..<count]))
  }

  /// ECDH: the 32-byte x coordinate of the shared point. Core § 3.5.4.
  public func sharedSecret(with peer: P256PublicKey) throws(CryptoError) -> [UInt8] {
    guard let key, let peerKey = peer.key, let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else {
      throw .takeOpenSSLError(during: "ECDH")
    }
    defer { EVP_PKEY_CTX_free(context) }
    var secret = [UInt8](repeating: 0, count: P256.scalarByteCount)
    var count = secret.count
    // The peer's point was checked when it was read, and P-256 has no points of small order: no second check.
    guard EVP_PKEY_derive_init(context) == 1,
      EVP_PKEY_derive_set_peer_ex(context, peerKey.pointer, 0) == 1,
      EVP_PKEY_derive(context, &secret, &count) == 1, count == secret.count
    else { throw .takeOpenSSLError(during: "ECDH") }
    return secret
  }

  public var description: String { "P256PrivateKey(of \(publicKey.bytes.prefix(5))…)" }
  public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}

/// Owns an `EVP_PKEY`. `@unchecked Sendable`: it is complete when made and then only read; OpenSSL counts its
/// references atomically.
final class EVPKey: @unchecked Sendable {
  let pointer: OpaquePointer

  /// Nil only if OpenSSL refuses the key or cannot make one at all; leaves the reason in the error queue.
  init?(publicKey: [UInt8], scalar: Scalar?) {
    guard let key = hearth_p256_key(publicKey, publicKey.count, scalar?.number) else { return nil }
    pointer = key
  }

  deinit { EVP_PKEY_free(pointer) }
}
