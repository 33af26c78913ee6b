import COpenSSL

/// AES-128-CCM with a 16-byte tag and a 13-byte nonce. Core § 3.6.
///
/// An object has one key for its lifetime: the cipher is fetched and the key schedule computed once for each direction, and
/// every call reuses the context. Both would otherwise dominate the time for a short message. A context is created on first
/// use, because the keys of a session are used in one direction only.
///
/// `@unchecked Sendable`: the contexts are mutable and not locked. The cipher's session belongs to one engine, which
/// one thread drives at a time. The engine may move between threads, but two threads must never call at once.
public final class AESCCM: @unchecked Sendable {
  /// Length of the authentication tag, in bytes.
  package static let tagByteCount = 16
  /// Maximum text length, in bytes, given by the 2-byte length field of CCM with a 13-byte nonce.
  static let maximumByteCount = 65_535

  /// Fetched once, since fetching takes longer than sealing a message. `nonisolated(unsafe)`: immutable, with an atomic
  /// reference count.
  private nonisolated(unsafe) static let cipher = EVP_CIPHER_fetch(nil, "AES-128-CCM", nil)

  private let key: SymmetricKey
  private var sealing: OpaquePointer?
  private var opening: OpaquePointer?

  /// - Throws: ``CryptoError`` if OpenSSL lacks the cipher.
  public init(key: SymmetricKey) throws(CryptoError) {
    guard Self.cipher != nil else { throw .takeOpenSSLError(during: "AES-128-CCM") }
    self.key = key
  }

  deinit {
    EVP_CIPHER_CTX_free(sealing)
    EVP_CIPHER_CTX_free(opening)
  }

  /// Returns the context of a direction.
  /// - Parameter isSealing: whether to encrypt.
  private func context(isSealing: Bool) throws(CryptoError) -> OpaquePointer {
    if let known = isSealing ? sealing : opening { return known }
    let context = allocated(EVP_CIPHER_CTX_new())
    let direction: Int32 = isSealing ? 1 : 0
    guard let cipher = Self.cipher,
      EVP_CipherInit_ex2(context, cipher, nil, nil, direction, nil) == 1,
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(Nonce.byteCount), nil) == 1,
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagByteCount), nil) == 1,
      EVP_CipherInit_ex2(context, nil, key.bytes, nil, direction, nil) == 1
    else {
      EVP_CIPHER_CTX_free(context)
      throw .takeOpenSSLError(during: "AES-128-CCM")
    }
    if isSealing { sealing = context } else { opening = context }
    return context
  }

  /// Encrypts the bytes of `buffer` from `offset` to its end in place and appends the tag.
  ///
  /// Does not allocate if the buffer has 16 bytes of spare capacity.
  /// - Parameter aad: range of the additional data (the message header) in `buffer`, before `offset`.
  /// - Throws: ``CryptoError/invalidLength(expected:found:)`` if the offset or range is outside the buffer, or the text
  ///   is too long.
  public func seal(
    _ buffer: inout [UInt8], from offset: Int, nonce: borrowing Nonce, aad: Range<Int>
  ) throws(CryptoError) {
    let end = buffer.count
    guard offset >= 0, offset <= end else { throw .invalidLength(expected: offset, found: end) }
    guard aad.lowerBound >= 0, aad.upperBound <= offset else {
      throw .invalidLength(expected: offset, found: aad.upperBound)
    }
    guard end - offset <= Self.maximumByteCount else {
      throw .invalidLength(expected: Self.maximumByteCount, found: end - offset)
    }
    buffer.append(contentsOf: repeatElement(0, count: Self.tagByteCount))
    let context = try context(isSealing: true)
    let sealed = nonce.withBytes { nonce in
      buffer.withUnsafeMutableBufferPointer { buffer -> Bool in
        guard let base = buffer.baseAddress else { return false }
        let text = base + offset
        let count = Int32(truncatingIfNeeded: end - offset)
        let header = base + aad.lowerBound
        let headerCount = Int32(truncatingIfNeeded: aad.count)
        var written: Int32 = 0
        return EVP_EncryptInit_ex2(context, nil, nil, nonce, nil) == 1
          && EVP_EncryptUpdate(context, nil, &written, nil, count) == 1
          && (headerCount == 0 || EVP_EncryptUpdate(context, nil, &written, header, headerCount) == 1)
          && EVP_EncryptUpdate(context, text, &written, text, count) == 1
          && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagByteCount), base + end) == 1
      }
    }
    guard sealed else { throw .takeOpenSSLError(during: "AES-CCM seal") }
  }

  /// Decrypts the output of ``seal(_:from:nonce:aad:)`` in place and removes the tag.
  ///
  /// After a failure the bytes from `offset` on are undefined, and the caller must drop the message.
  /// - Throws: ``CryptoError/authenticationFailed`` if any byte or the key differs,
  ///   ``CryptoError/invalidLength(expected:found:)`` if the buffer is shorter than a tag or a range is outside it.
  public func open(
    _ buffer: inout [UInt8], from offset: Int, nonce: borrowing Nonce, aad: Range<Int>
  ) throws(CryptoError) {
    let end = buffer.count - Self.tagByteCount
    guard offset >= 0, offset <= end else {
      throw .invalidLength(expected: Self.tagByteCount, found: max(0, buffer.count - max(0, offset)))
    }
    guard aad.lowerBound >= 0, aad.upperBound <= offset else {
      throw .invalidLength(expected: offset, found: aad.upperBound)
    }
    guard end - offset <= Self.maximumByteCount else {
      throw .invalidLength(expected: Self.maximumByteCount, found: end - offset)
    }
    let context = try context(isSealing: false)
    let opened = nonce.withBytes { nonce in
      buffer.withUnsafeMutableBufferPointer { buffer -> Bool in
        guard let base = buffer.baseAddress else { return false }
        let text = base + offset
        let count = Int32(truncatingIfNeeded: end - offset)
        let header = base + aad.lowerBound
        let headerCount = Int32(truncatingIfNeeded: aad.count)
        var written: Int32 = 0
        // A reused context needs the tag set before every message.
        return EVP_DecryptInit_ex2(context, nil, nil, nonce, nil) == 1
          && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagByteCount), base + end) == 1
          && EVP_DecryptUpdate(context, nil, &written, nil, count) == 1
          && (headerCount == 0 || EVP_DecryptUpdate(context, nil, &written, header, headerCount) == 1)
          && EVP_DecryptUpdate(context, text, &written, text, count) == 1
      }
    }
    guard opened else {
      ERR_clear_error()
      throw .authenticationFailed
    }
    buffer.removeLast(Self.tagByteCount)
  }

  /// Encrypts or decrypts part of `buffer` in place with the key stream, without a tag or authentication. Used for the
  /// privacy of message headers. Core § 3.7.
  /// - Throws: ``CryptoError/invalidLength(expected:found:)`` for a range outside the buffer.
  package func applyKeyStream(
    to buffer: inout [UInt8], _ range: Range<Int>, nonce: borrowing Nonce
  ) throws(CryptoError) {
    guard range.lowerBound >= 0, range.upperBound <= buffer.count, range.count <= Self.maximumByteCount else {
      throw .invalidLength(expected: buffer.count, found: range.upperBound)
    }
    let context = try context(isSealing: true)
    let isDone = nonce.withBytes { nonce in
      buffer.withUnsafeMutableBufferPointer { buffer -> Bool in
        guard let base = buffer.baseAddress else { return range.isEmpty }
        let text = base + range.lowerBound
        let count = Int32(truncatingIfNeeded: range.count)
        var written: Int32 = 0
        return EVP_EncryptInit_ex2(context, nil, nil, nonce, nil) == 1
          && EVP_EncryptUpdate(context, nil, &written, nil, count) == 1
          && EVP_EncryptUpdate(context, text, &written, text, count) == 1
      }
    }
    guard isDone else { throw .takeOpenSSLError(during: "AES-CTR") }
  }

  /// Returns the ciphertext and tag of a separate plaintext. For handshakes; the packet path works in place.
  /// - Throws: ``CryptoError/invalidLength(expected:found:)`` unless the nonce has 13 bytes.
  package func seal(plaintext: [UInt8], nonce: [UInt8], aad: [UInt8] = []) throws(CryptoError) -> [UInt8] {
    var buffer = aad
    buffer.reserveCapacity(aad.count + plaintext.count + Self.tagByteCount)
    buffer += plaintext
    try seal(&buffer, from: aad.count, nonce: Nonce(bytes: nonce), aad: 0..<aad.count)
    return aad.isEmpty ? buffer : Array(buffer[aad.count...])
  }

  /// Decrypts the output of ``seal(plaintext:nonce:aad:)``.
  /// - Throws: ``CryptoError/authenticationFailed``, ``CryptoError/invalidLength(expected:found:)``.
  public func open(ciphertext: [UInt8], nonce: [UInt8], aad: [UInt8] = []) throws(CryptoError) -> [UInt8] {
    var buffer = aad + ciphertext
    try open(&buffer, from: aad.count, nonce: Nonce(bytes: nonce), aad: 0..<aad.count)
    return aad.isEmpty ? buffer : Array(buffer[aad.count...])
  }
}
