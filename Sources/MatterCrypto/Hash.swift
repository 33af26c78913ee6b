import COpenSSL

/// One-call digests. Core § 3.3.
public enum Hash {
  /// The 32-byte SHA-256 digest.
  public static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var hasher = SHA256Hasher()
    hasher.update(bytes)
    return hasher.finalize()
  }

  /// The 20-byte SHA-1 digest, used only for the key identifiers of certificates (RFC 5280 § 4.2.1.2).
  public static func sha1(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 20) { digest, count in
      hearth_sha1(bytes, bytes.count, digest.baseAddress)
      count = 20
    }
  }
}

/// An incremental SHA-256, as for the transcripts of PASE and CASE.
///
/// The hasher is a value: for an intermediate digest, finalize a copy. Only the returned digest is allocated.
package struct SHA256Hasher: Sendable {
  private var context: SHA256_CTX

  /// Creates a hasher without input.
  init() {
    context = SHA256_CTX()
    hearth_sha256_init(&context)
  }

  /// Adds bytes to the input.
  package mutating func update(_ bytes: [UInt8]) {
    hearth_sha256_update(&context, bytes, bytes.count)
  }

  /// Returns the 32-byte digest of the input and resets the hasher.
  mutating func finalize() -> [UInt8] {
    let digest = [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
      hearth_sha256_final(&context, digest.baseAddress)
      count = 32
    }
    self = SHA256Hasher()
    return digest
  }

  /// Derives PBKDF2's output; this hasher and `outer` have consumed the inner and outer padded key.
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
