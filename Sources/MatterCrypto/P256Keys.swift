import COpenSSL
import Synchronization

/// A P-256 public key. Core § 3.5.1.
public struct P256PublicKey: Sendable, Hashable {
  /// Length of a key, in bytes.
  public static let byteCount = P256.pointByteCount

  /// The uncompressed point: 0x04, x, y.
  public let bytes: [UInt8]
  private let key: EVPKey

  /// - Throws: ``CryptoError/invalidLength(expected:found:)`` unless there are 65 bytes, ``CryptoError/invalidPoint``
  ///   unless they are an uncompressed point on the curve.
  public init(bytes: [UInt8]) throws(CryptoError) {
    _ = try CurvePoint(bytes: bytes)
    self.init(trusted: bytes)
  }

  /// Takes the point of one of our own private keys, which needs no check.
  init(trusted bytes: [UInt8]) {
    self.bytes = bytes
    key = EVPKey(publicKey: bytes)
  }

  /// Whether `signature` (64 bytes, r and s) is an ECDSA-SHA-256 signature of `message` by this key. Core § 3.5.3.
  public func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    guard let pointer = key.pointer, let der = try? ECDSASignature.der(fromRaw: signature),
      let context = EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil)
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
  private let key: EVPKey

  /// - Throws: ``CryptoError/invalidLength(expected:found:)`` unless there are 32 bytes, ``CryptoError/invalidKey`` if
  ///   the number is zero or not below the order of the curve.
  public init(scalar: [UInt8]) throws(CryptoError) {
    self.init(try Scalar(validating: scalar))
  }

  /// Draws a new key from 40 bytes of `random`.
  public init(random: inout some RandomSource) {
    self.init(Scalar(random: &random))
  }

  private init(_ number: Scalar) {
    scalar = number.bytes
    publicKey = P256PublicKey(trusted: CurvePoint(generatorTimes: number).bytes)
    key = EVPKey(publicKey: publicKey.bytes, scalar: scalar)
  }

  /// Signs with ECDSA-SHA-256 (64 bytes, r and s) and a nonce from OpenSSL's generator, so that no two signatures are
  /// equal. Code that must be reproducible signs through a ``SignatureScheme``.
  public func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard let pointer = key.pointer, let context = EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil) else {
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
    // The peer's point was checked when it was read, and P-256 has no points of small order: it is on the curve, and the
    // product is not the neutral element. The very multiplication that OpenSSL's own ECDH does, without a key's ceremony.
    let shared = try CurvePoint(bytes: peer.bytes).times(Scalar(validating: scalar))
    guard !shared.isInfinity else { throw .invalidPoint }
    return Array(shared.bytes[1...P256.scalarByteCount])
  }

  public var description: String { "P256PrivateKey(of \(publicKey.bytes.prefix(5))…)" }
  public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}

/// A key as OpenSSL signs and verifies with it, made when that is wanted first: most keys are there for one agreement, which
/// does without.
final class EVPKey: Sendable, CustomReflectable {
  private let publicKey: [UInt8]
  private let scalar: [UInt8]?
  private let made = Mutex<Made?>(nil)

  /// `@unchecked Sendable`: it is complete when made and then only read; OpenSSL counts its references atomically.
  private final class Made: @unchecked Sendable {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }
  }

  /// Some public key, of which others are copies; nil if OpenSSL can make none.
  private static let template: Made? = {
    let point = CurvePoint(generatorTimes: Scalar(bytes: [1])).bytes
    return hearth_p256_key(point, point.count, nil).map { Made($0) }
  }()

  /// Shows nothing of the scalar.
  var customMirror: Mirror { Mirror(self, children: []) }

  /// Takes a point, and the scalar of a key pair, that were checked.
  init(publicKey: [UInt8], scalar: [UInt8]? = nil) {
    (self.publicKey, self.scalar) = (publicKey, scalar)
  }

  /// Valid as long as this object; nil only if OpenSSL refuses the key or cannot make one at all, with the reason in the
  /// error queue.
  var pointer: OpaquePointer? {
    let key = made.withLock { made in
      if made == nil { made = make().map { Made($0) } }
      return made
    }
    return key?.pointer
  }

  private func make() -> OpaquePointer? {
    guard let scalar else {
      return Self.template.flatMap { hearth_p256_key_like($0.pointer, publicKey, publicKey.count) }
    }
    // The number is the object's: without this it would be freed before it is read.
    return withExtendedLifetime(Scalar(bytes: scalar)) { hearth_p256_key(publicKey, publicKey.count, $0.number) }
  }
}
