import COpenSSL

/// What can go wrong in the cryptographic layer.
public enum CryptoError: Error, Equatable {
  /// The tag of an AES-CCM message does not match its key, nonce, additional data or ciphertext.
  case authenticationFailed
  /// A private key or scalar is zero or not below the order of the curve.
  case invalidKey
  /// A signature is not two integers in the expected encoding.
  case invalidSignature
  /// Bytes that are not a point on P-256, or a point that a protocol does not allow.
  case invalidPoint
  /// A parameter has the wrong length, or a number is out of its range.
  case invalidLength(expected: Int, found: Int)
  /// OpenSSL refused an operation that does not depend on a peer's input; its own words.
  case openSSL(String)

  /// Takes the last entry of this thread's OpenSSL error queue and empties the queue, so that the next failure does
  /// not report this one.
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

/// Unwraps what an OpenSSL constructor or an operation without a way to fail returned.
///
/// OpenSSL returns null there only when memory is exhausted, where Swift's own allocations trap as well; no input of
/// ours leads here.
func allocated(_ pointer: OpaquePointer?) -> OpaquePointer {
  guard let pointer else { preconditionFailure("OpenSSL: out of memory") }
  return pointer
}

/// Like ``allocated(_:)``, for operations that report 1 for success and can fail only for want of memory.
func succeeded(_ result: Int32) {
  guard result == 1 else { preconditionFailure("OpenSSL: out of memory") }
}
