import COpenSSL

/// The curve P-256 (secp256r1) and its order. Core § 3.5.
///
/// `nonisolated(unsafe)`: initialized once and then only read.
enum P256 {
  static let scalarByteCount = 32
  static let pointByteCount = 65
  static let signatureByteCount = 64

  nonisolated(unsafe) static let group = allocated(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1))
  nonisolated(unsafe) static let order = allocated(EC_GROUP_get0_order(group))
  /// The order without OpenSSL's constant-time flag, for ``Scalar/adding(_:times:dividedBy:)``.
  nonisolated(unsafe) static let plainOrder = allocated(BN_dup(order))
}

/// A number modulo the order of P-256. Wiped when released.
final class Scalar {
  let number: OpaquePointer

  private init(taking number: OpaquePointer) {
    self.number = number
    BN_set_flags(number, BN_FLG_CONSTTIME)
  }

  /// Creates a scalar from 32 big-endian bytes that must be in 1..<order.
  convenience init(validating bytes: [UInt8]) throws(CryptoError) {
    guard bytes.count == P256.scalarByteCount else {
      throw .invalidLength(expected: P256.scalarByteCount, found: bytes.count)
    }
    self.init(bytes: bytes)
    guard isValid else { throw .invalidKey }
  }

  /// Creates a scalar from big-endian bytes of any length, without reduction.
  convenience init(bytes: [UInt8]) {
    self.init(taking: allocated(BN_bin2bn(bytes, Int32(truncatingIfNeeded: bytes.count), nil)))
  }

  /// Creates a scalar from big-endian bytes of any length, modulo the order.
  convenience init(reducing bytes: [UInt8]) {
    self.init(bytes: bytes)
    let context = allocated(BN_CTX_new())
    defer { BN_CTX_free(context) }
    succeeded(BN_nnmod(number, number, P256.order, context))
  }

  /// Creates a random scalar in 1..<order from 40 random bytes (FIPS 186-4 § B.4.1): 64 bits more than needed make the
  /// bias negligible, without a loop that depends on the source.
  convenience init(random: inout some RandomSource) {
    self.init(bytes: random.bytes(P256.scalarByteCount + 8))
    let context = allocated(BN_CTX_new())
    let bound = allocated(BN_dup(P256.order))
    defer {
      BN_free(bound)
      BN_CTX_free(context)
    }
    succeeded(BN_sub_word(bound, 1))
    succeeded(BN_nnmod(number, number, bound, context))
    succeeded(BN_add_word(number, 1))
  }

  deinit { BN_clear_free(number) }

  var isValid: Bool { BN_is_zero(number) == 0 && BN_cmp(number, P256.order) < 0 }

  /// 32 big-endian bytes. All zero if the number is larger, which a reduced number is not.
  var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: P256.scalarByteCount)
    _ = BN_bn2binpad(number, &bytes, Int32(P256.scalarByteCount))
    return bytes
  }

  /// `(self + other · factor) / divisor` modulo the order, as ECDSA requires. Not constant-time: only for
  /// ``DeterministicSignatures``.
  func adding(_ other: Scalar, times factor: Scalar, dividedBy divisor: Scalar) -> Scalar {
    let context = allocated(BN_CTX_new())
    let result = allocated(BN_new())
    defer { BN_CTX_free(context) }
    succeeded(BN_mod_mul(result, other.number, factor.number, P256.order, context))
    succeeded(BN_mod_add(result, result, number, P256.order, context))
    // Copies don't have the constant-time flag, with which the inverse takes ten times as long.
    let plain = allocated(BN_dup(divisor.number))
    defer { BN_clear_free(plain) }
    let inverse = Scalar(taking: allocated(BN_mod_inverse(nil, plain, P256.plainOrder, context)))
    succeeded(BN_mod_mul(result, result, inverse.number, P256.order, context))
    return Scalar(taking: result)
  }
}

/// A point of P-256. Wiped when released.
final class CurvePoint {
  private let point: OpaquePointer

  private init() {
    point = allocated(EC_POINT_new(P256.group))
  }

  /// Creates a point from 65 uncompressed bytes.
  /// - Throws: ``CryptoError/invalidLength(expected:found:)``; ``CryptoError/invalidPoint`` if not on the curve.
  convenience init(bytes: [UInt8]) throws(CryptoError) {
    guard bytes.count == P256.pointByteCount else {
      throw .invalidLength(expected: P256.pointByteCount, found: bytes.count)
    }
    // OpenSSL would also accept the hybrid form (0x06, 0x07) of the same length.
    guard bytes[0] == 0x04 else { throw .invalidPoint }
    self.init()
    guard EC_POINT_oct2point(P256.group, point, bytes, bytes.count, nil) == 1 else {
      ERR_clear_error()
      throw .invalidPoint
    }
  }

  /// Creates a point from a 33-byte compressed constant of the specification.
  convenience init(compressedConstant bytes: [UInt8]) {
    self.init()
    succeeded(EC_POINT_oct2point(P256.group, point, bytes, bytes.count, nil))
  }

  /// `generator · factor`.
  convenience init(generatorTimes factor: Scalar) {
    self.init()
    succeeded(EC_POINT_mul(P256.group, point, factor.number, nil, nil, nil))
  }

  deinit { EC_POINT_clear_free(point) }

  /// `self · factor`.
  func times(_ factor: Scalar) -> CurvePoint {
    let result = CurvePoint()
    succeeded(EC_POINT_mul(P256.group, result.point, nil, point, factor.number, nil))
    return result
  }

  func plus(_ other: CurvePoint) -> CurvePoint {
    let result = CurvePoint()
    succeeded(EC_POINT_add(P256.group, result.point, point, other.point, nil))
    return result
  }

  func minus(_ other: CurvePoint) -> CurvePoint {
    let negated = CurvePoint()
    succeeded(EC_POINT_copy(negated.point, other.point))
    succeeded(EC_POINT_invert(P256.group, negated.point, nil))
    return plus(negated)
  }

  /// Whether it is the neutral element, which has no 65-byte form.
  var isInfinity: Bool { EC_POINT_is_at_infinity(P256.group, point) == 1 }

  /// 65 uncompressed bytes; all zero for the neutral element.
  var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: P256.pointByteCount)
    guard !isInfinity else { return bytes }
    _ = EC_POINT_point2oct(P256.group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, nil)
    return bytes
  }
}
