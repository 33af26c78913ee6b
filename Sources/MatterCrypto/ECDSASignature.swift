/// Conversion of ECDSA P-256 signatures between 64 raw bytes (r, s), as in Matter messages, and DER, as in X.509.
package enum ECDSASignature {
  /// Maximum DER length: two integers of 33 bytes.
  static let largestDER = 72

  /// Returns the `ECDSA-Sig-Value` (RFC 3279 § 2.2.3) of 64 raw bytes.
  /// - Throws: ``CryptoError/invalidLength(expected:found:)`` unless there are 64 bytes.
  package static func der(fromRaw raw: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard raw.count == P256.signatureByteCount else {
      throw .invalidLength(expected: P256.signatureByteCount, found: raw.count)
    }
    var content: [UInt8] = []
    content.reserveCapacity(largestDER)
    for half in [raw[..<32], raw[32...]] {
      // DER integers are signed and of minimal length.
      var number = half.drop { $0 == 0 }
      if number.isEmpty { number = half.suffix(1) }
      let pad = number[number.startIndex] >= 0x80
      content += [0x02, UInt8(number.count + (pad ? 1 : 0))]
      if pad { content.append(0) }
      content += number
    }
    return [0x30, UInt8(content.count)] + content
  }

  /// Returns the 64 raw bytes of a DER signature.
  /// - Throws: ``CryptoError/invalidSignature`` unless it is strict DER of two non-negative integers of at most 256
  ///   bits.
  package static func raw(fromDER der: [UInt8]) throws(CryptoError) -> [UInt8] {
    var rest = der[...]
    guard rest.popFirst() == 0x30, let length = rest.popFirst(), length < 0x80, Int(length) == rest.count else {
      throw .invalidSignature
    }
    let raw = try integer(from: &rest) + integer(from: &rest)
    guard rest.isEmpty else { throw .invalidSignature }
    return raw
  }

  /// Removes one INTEGER from the front and returns it as 32 bytes.
  private static func integer(from rest: inout ArraySlice<UInt8>) throws(CryptoError) -> [UInt8] {
    guard rest.popFirst() == 0x02, let length = rest.popFirst(), 1...33 ~= length, Int(length) <= rest.count else {
      throw .invalidSignature
    }
    var number = rest.prefix(Int(length))
    rest = rest.dropFirst(Int(length))
    guard let first = number.first, first < 0x80 else { throw .invalidSignature }
    if first == 0, number.count > 1 {
      number = number.dropFirst()
      // A leading zero is allowed only if the number would otherwise be negative.
      guard let second = number.first, second >= 0x80 else { throw .invalidSignature }
    }
    guard number.count <= 32 else { throw .invalidSignature }
    return [UInt8](repeating: 0, count: 32 - number.count) + number
  }
}
