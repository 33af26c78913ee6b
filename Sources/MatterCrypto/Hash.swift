import COpenSSL

/// Digests in one call. Core § 3.3.
public enum Hash {
  /// The 32-byte SHA-256 digest.
  public static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var hasher = SHA256Hasher()
    hasher.update(bytes)
    return hasher.finalize()
  }

  /// The 20-byte SHA-1 digest: for the key identifiers of certificates only (RFC 5280 § 4.2.1.2).
  public static func sha1(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 20) { digest, count in
      hearth_sha1(bytes, bytes.count, digest.baseAddress)
      count = 20
    }
  }
}

/// A running SHA-256, as the transcripts of PASE and CASE need it.
///
/// A value: a copy goes on by itself, so that a digest in the middle costs only a copy. It never allocates but for the
/// digest it returns.
public struct SHA256Hasher: Sendable {
  private var context: SHA256_CTX

  /// A hasher that has taken nothing yet.
  public init() {
    context = SHA256_CTX()
    hearth_sha256_init(&context)
  }

  /// Takes further bytes.
  public mutating func update(_ bytes: [UInt8]) {
    hearth_sha256_update(&context, bytes, bytes.count)
  }

  /// The 32-byte digest of everything so far. Afterwards the hasher is as new.
  public mutating func finalize() -> [UInt8] {
    let digest = [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
      hearth_sha256_final(&context, digest.baseAddress)
      count = 32
    }
    self = SHA256Hasher()
    return digest
  }

  /// PBKDF2's bytes, where this hasher and `outer` have taken in the two forms of the key.
  func derive(
    with outer: SHA256Hasher, _ salt: [UInt8], rounds: Int, _ output: UnsafeMutablePointer<UInt8>?, _ count: Int
  ) {
    withUnsafePointer(to: context) { inner in
      withUnsafePointer(to: outer.context) { outer in
        hearth_pbkdf2(inner, outer, salt, salt.count, rounds, output, count)
      }
    }
  }
}
