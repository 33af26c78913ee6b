/// A 16-byte AES-128 key. Core § 3.6.
///
/// Its description does not contain the bytes, so that a key does not appear in logs by accident.
public struct SymmetricKey: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// Length of a key, in bytes.
  static let byteCount = 16

  /// The secret bytes.
  package let bytes: [UInt8]

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
