/// The 13-byte nonce of a message: security flags, message counter, source node id, each little-endian. Core § 4.8.1.1.
///
/// Stored inline in two words; creating one does not allocate.
public struct Nonce: Sendable, Hashable {
  /// Length of every nonce, in bytes.
  package static let byteCount = 13

  /// Bytes 0 to 7 and 8 to 12, so that their little-endian memory is the nonce.
  private let low: UInt64, high: UInt64

  /// - Parameter sourceNodeID: 0 for a PASE session (the unspecified node id).
  @inline(__always)
  public init(securityFlags: UInt8, messageCounter: UInt32, sourceNodeID: UInt64) {
    low = UInt64(securityFlags) | UInt64(messageCounter) << 8 | sourceNodeID << 40
    high = sourceNodeID >> 24
  }

  /// - Throws: ``CryptoError/invalidLength(expected:found:)`` unless there are 13 bytes.
  package init(bytes: [UInt8]) throws(CryptoError) {
    guard bytes.count == Self.byteCount else {
      throw .invalidLength(expected: Self.byteCount, found: bytes.count)
    }
    low = bytes[..<8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    high = bytes[8...].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The 13 bytes, as passed to the cipher.
  package var bytes: [UInt8] { withBytes { (0..<Self.byteCount).map($0.advanced).map(\.pointee) } }

  /// Calls `body` with a pointer to the 13 bytes.
  @inline(__always)
  func withBytes<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
    withUnsafePointer(to: (low.littleEndian, high.littleEndian)) { words in
      words.withMemoryRebound(to: UInt8.self, capacity: 16) { body($0) }
    }
  }
}
