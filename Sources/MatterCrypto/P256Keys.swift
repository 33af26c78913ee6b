import COpenSSL
import Synchronization

/// A P-256 public key. Core § 3.5.1.
public struct P256PublicKey: Sendable, Hashable {
  /// The uncompressed point: 0x04, x, y.
  public let bytes: [UInt8]
  private let key: EVPKey

  /// - Throws: ``CryptoError/invalidLength(expected:found:)`` unless there are 65 bytes, ``CryptoError/invalidPoint``
  ///   unless they are an uncompressed point on the curve.
  public init(bytes: [UInt8]) throws(CryptoError) {
    _ = try CurvePoint(bytes: bytes)
    self.init(trusted: bytes)
  }

  /// Creates a key from the point of an own private key, without a check.
  init(trusted bytes: [UInt8]) {
    self.bytes = bytes
    key = EVPKey(publicKey: bytes)
  }

  /// Whether `signature` (64 bytes, r and s) is a valid ECDSA-SHA-256 signature of `message`. Core § 3.5.3.
  package func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool {
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

/// A P-256 private key with its public key. Its description does not contain the scalar.
public struct P256PrivateKey: Sendable, CustomStringConvertible, CustomReflectable {
  /// 32 big-endian bytes.
  public let scalar: [UInt8]
  public let publicKey: P256PublicKey

  /// - Throws: ``CryptoError/invalidLength(expected:found:)`` unless there are 32 bytes, ``CryptoError/invalidKey`` if
  ///   the number is zero or not below the order of the curve.
  public init(scalar: [UInt8]) throws(CryptoError) {
    self.init(try Scalar(validating: scalar))
  }

  /// Creates a random key from 40 bytes of `random`.
  public init(random: inout some RandomSource) {
    self.init(Scalar(random: &random))
  }

  private init(_ number: Scalar) {
    scalar = number.bytes
    publicKey = P256PublicKey(trusted: CurvePoint(generatorTimes: number).bytes)
  }

  /// Signs with ECDSA-SHA-256 (64 bytes, r and s) and a random nonce of OpenSSL's generator, so that signatures always
  /// differ. Code that must be reproducible signs with a ``SignatureScheme``.
  package func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
    let digest = Hash.sha256(message)
    let number = try Scalar(validating: scalar)
    var der = [UInt8](repeating: 0, count: ECDSASignature.largestDER)
    // Keeps the object, which owns the number, alive during the call.
    let count = withExtendedLifetime(number) {
      Int(hearth_ecdsa_sign(P256.group, number.number, digest, digest.count, &der))
    }
    guard count > 0 else { throw .takeOpenSSLError(during: "ECDSA sign") }
    return try ECDSASignature.raw(fromDER: Array(der[..<count]))
  }

  /// Returns the ECDH secret: the 32-byte x coordinate of the shared point. Core § 3.5.4.
  package func sharedSecret(with peer: P256PublicKey) throws(CryptoError) -> [UInt8] {
    // The peer's point was checked when it was decoded, and P-256 has no points of small order: the point is on the
    // curve, and the product is not the neutral element. The multiplication is that of OpenSSL's ECDH, without the cost
    // of a key object.
    let shared = try CurvePoint(bytes: peer.bytes).times(Scalar(validating: scalar))
    guard !shared.isInfinity else { throw .invalidPoint }
    return Array(shared.bytes[1...P256.scalarByteCount])
  }

  public var description: String { "P256PrivateKey(of \(publicKey.bytes.prefix(5))…)" }
  public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}

/// The OpenSSL object of a public key, created on first use: most keys are used for a single key agreement, which does not
/// need one.
final class EVPKey: Sendable {
  private let publicKey: [UInt8]
  private let handle = Mutex<Handle?>(nil)

  /// `@unchecked Sendable`: immutable after creation; OpenSSL's reference count is atomic.
  private final class Handle: @unchecked Sendable {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }
  }

  /// The key from which other keys are copied; nil if OpenSSL cannot create one.
  private static let template: Handle? = {
    let point = CurvePoint(generatorTimes: Scalar(bytes: [1])).bytes
    return hearth_p256_key(point, point.count).map { Handle($0) }
  }()

  /// Creates a key from a point, without checks.
  init(publicKey: [UInt8]) { self.publicKey = publicKey }

  /// Valid during the lifetime of this object. Nil only if OpenSSL rejects the key or cannot create one; the reason is
  /// in the error queue.
  var pointer: OpaquePointer? {
    let key = handle.withLock { handle in
      if handle == nil {
        handle = Self.template.flatMap { hearth_p256_key_like($0.pointer, publicKey, publicKey.count) }.map {
          Handle($0)
        }
      }
      return handle
    }
    return key?.pointer
  }
}
