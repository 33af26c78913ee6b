import COpenSSL

/// An error of the cryptographic layer.
public enum CryptoError: Error, Equatable {
  /// An AES-CCM tag does not match its key, nonce, additional data or ciphertext.
  case authenticationFailed
  /// A private key or scalar is zero or not below the order of the curve.
  case invalidKey
  /// A signature does not have the expected encoding of two integers.
  case invalidSignature
  /// Bytes that are not a point on P-256, or a point that the protocol does not allow.
  case invalidPoint
  /// A parameter has the wrong length, or a number is out of its range.
  case invalidLength(expected: Int, found: Int)
  /// OpenSSL failed in an operation that does not depend on a peer's input; the text is OpenSSL's.
  case openSSL(String)

  /// Returns the last entry of the thread's OpenSSL error queue and clears the queue, so that a later failure does not
  /// report this entry.
  static func takeOpenSSLError(during operation: StaticString) -> CryptoError {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    guard code != 0 else { return .openSSL("\(operation)") }
    var text = [CChar](repeating: 0, count: 256)
    ERR_error_string_n(code, &text, text.count)
    let message = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return .openSSL("\(operation): \(message)")
  }
}

/// Unwraps the result of an OpenSSL constructor or of an operation that cannot fail.
///
/// OpenSSL returns null there only if memory is exhausted, in which case Swift's own allocations also trap; no input
/// causes it.
func allocated(_ pointer: OpaquePointer?) -> OpaquePointer {
  guard let pointer else { preconditionFailure("OpenSSL: out of memory") }
  return pointer
}

/// Like ``allocated(_:)``, for operations that return 1 for success and fail only if memory is exhausted.
func succeeded(_ result: Int32) {
  guard result == 1 else { preconditionFailure("OpenSSL: out of memory") }
}
