public import MatterCrypto

/// Identifiers and keys derived from a fabric's root key and id.
public enum FabricIdentity {
  /// Returns the compressed fabric id, which identifies a fabric in DNS-SD and is the salt of its keys. Core § 4.3.2.2.
  /// - Parameter rootPublicKey: the root's P-256 point, uncompressed (65 bytes).
  package static func compressedFabricID(rootPublicKey: [UInt8], fabricID: UInt64) throws(CryptoError) -> UInt64 {
    guard rootPublicKey.count == 65 else { throw .invalidLength(expected: 65, found: rootPublicKey.count) }
    let bytes = try HKDF.sha256(
      secret: Array(rootPublicKey.dropFirst()), salt: bigEndian(fabricID), info: Array("CompressedFabric".utf8),
      count: 8)
    return bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Returns the operational key of a group key set, for example of the identity protection key (IPK). Core § 4.17.2.1.
  /// - Parameter epochKey: 16 bytes.
  /// - Returns: 16 bytes.
  public static func operationalKey(epochKey: [UInt8], compressedFabricID: UInt64) throws(CryptoError) -> [UInt8] {
    try HKDF.sha256(
      secret: epochKey, salt: bigEndian(compressedFabricID), info: Array("GroupKey v1.0".utf8), count: 16)
  }

  private static func bigEndian(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
  }
}
