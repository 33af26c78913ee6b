import COpenSSL

/// Message authentication. Core § 3.4.
package enum HMAC {
  /// Returns the 32-byte HMAC-SHA-256 (RFC 2104) under a key of any length.
  package static func sha256(key: [UInt8], _ data: [UInt8]) throws(CryptoError) -> [UInt8] {
    var state = HMACState(key: key)
    state.update(data)
    return state.finalize()
  }
}

/// Incremental HMAC-SHA-256 on the plain hasher: the one-call functions of OpenSSL 3 look up the algorithm by name in
/// every call, which takes longer than the hash.
struct HMACState {
  private(set) var inner = SHA256Hasher()
  private(set) var outer = SHA256Hasher()

  init(key: [UInt8]) {
    let block = 64
    var padded = key.count > block ? Hash.sha256(key) : key
    padded += [UInt8](repeating: 0, count: block - padded.count)
    inner.update(padded.map { $0 ^ 0x36 })
    outer.update(padded.map { $0 ^ 0x5c })
  }

  mutating func update(_ bytes: [UInt8]) {
    inner.update(bytes)
  }

  mutating func finalize() -> [UInt8] {
    outer.update(inner.finalize())
    return outer.finalize()
  }
}

/// Key derivation from strong secrets. Core § 3.8.
package enum HKDF {
  /// HKDF-SHA-256 (RFC 5869), extract and expand.
  /// - Parameter count: number of bytes to derive, at most 8,160.
  /// - Throws: ``CryptoError/invalidLength(expected:found:)`` for a count outside 0...8160.
  package static func sha256(
    secret: [UInt8], salt: [UInt8], info: [UInt8], count: Int
  ) throws(CryptoError) -> [UInt8] {
    let hash = 32
    guard 0...255 * hash ~= count else { throw .invalidLength(expected: 255 * hash, found: count) }
    var extract = HMACState(key: salt)
    extract.update(secret)
    let keyed = HMACState(key: extract.finalize())
    var output: [UInt8] = []
    var block: [UInt8] = []
    var counter: UInt8 = 0
    output.reserveCapacity(count + hash)
    while output.count < count {
      counter += 1
      var expand = keyed
      expand.update(block)
      expand.update(info)
      expand.update([counter])
      block = expand.finalize()
      output += block
    }
    output.removeLast(output.count - count)
    return output
  }
}

/// Key derivation from passcodes. Core § 3.9.
package enum PBKDF2 {
  /// PBKDF2 with HMAC-SHA-256 (RFC 8018).
  /// - Throws: ``CryptoError/invalidLength(expected:found:)`` if `iterations` or `count` is below 1 or over 2³¹ - 1.
  static func sha256(
    password: [UInt8], salt: [UInt8], iterations: Int, count: Int
  ) throws(CryptoError) -> [UInt8] {
    guard let rounds = Int32(exactly: iterations), rounds >= 1 else {
      throw .invalidLength(expected: 1, found: iterations)
    }
    guard Int32(exactly: count) ?? 0 >= 1 else { throw .invalidLength(expected: 1, found: count) }
    let keyed = HMACState(key: password)
    return [UInt8](unsafeUninitializedCapacity: count) { output, written in
      keyed.inner.derive(with: keyed.outer, salt, rounds: Int(rounds), output.baseAddress, count)
      written = count
    }
  }
}
