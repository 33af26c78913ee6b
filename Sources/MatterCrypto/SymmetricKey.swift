/// The 16 bytes of an AES-128 key. Core § 3.6.
///
/// Its description never shows the bytes, so that a key does not end up in a log by accident.
public struct SymmetricKey: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// Length of every key, in bytes.
  public static let byteCount = 16

  /// 16 of them, secret.
  public let bytes: [UInt8]

  /// - Throws: ``CryptoError/invalidLength(expected:found:)`` unless there are 16 bytes.
  public init(_ bytes: [UInt8]) throws(CryptoError) {
    guard bytes.count == Self.byteCount else {
      throw .invalidLength(expected: Self.byteCount, found: bytes.count)
    }
    self.bytes = bytes
  }

  public var description: String { "SymmetricKey(16 bytes)" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
