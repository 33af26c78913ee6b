import COpenSSL
import Testing

@testable import MatterCrypto

/// An error left in the thread's OpenSSL error queue would be reported by a later, unrelated call.
@Suite struct ErrorQueueTests {
  @Test func `clears OpenSSL's error queue after failures`() throws {
    ERR_clear_error()
    let cipher = try AESCCM(key: SymmetricKey([UInt8](repeating: 1, count: 16)))
    let nonce = [UInt8](repeating: 0, count: 13)
    var random = SeededRandomSource(seed: 3)
    let key = P256PrivateKey(random: &random)
    let signature = try key.sign([1])
    #expect(ERR_peek_error() == 0)
    #expect(throws: CryptoError.self) { try cipher.open(ciphertext: [UInt8](repeating: 0, count: 20), nonce: nonce) }
    #expect(ERR_peek_error() == 0)
    #expect(throws: CryptoError.self) { try P256PublicKey(bytes: [4] + [UInt8](repeating: 1, count: 64)) }
    #expect(ERR_peek_error() == 0)
    #expect(throws: CryptoError.self) { try P256PrivateKey(scalar: [UInt8](repeating: 0xff, count: 32)) }
    #expect(ERR_peek_error() == 0)
    #expect(!key.publicKey.verify(signature, of: [2]))
    #expect(ERR_peek_error() == 0)
    #expect(!key.publicKey.verify([UInt8](repeating: 0xff, count: 64), of: [1]))
    #expect(ERR_peek_error() == 0)
  }

  @Test func `reports OpenSSL's text and clears the queue`() {
    ERR_clear_error()
    let point = EC_POINT_new(P256.group)
    defer { EC_POINT_free(point) }
    #expect(EC_POINT_oct2point(P256.group, point, [4, 1], 2, nil) == 0)
    guard case .openSSL(let text) = CryptoError.takeOpenSSLError(during: "a test") else {
      Issue.record("not an OpenSSL error")
      return
    }
    #expect(text.hasPrefix("a test: error:"))
    #expect(ERR_peek_error() == 0)
    #expect(CryptoError.takeOpenSSLError(during: "a test") == .openSSL("a test"))
  }
}
