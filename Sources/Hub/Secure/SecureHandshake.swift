internal import Home
package import MatterCrypto

/// The other end does not have the token, or somebody in between altered what was sent.
package struct SecureError: Error {}

/// How two ends that share a token come to keys that nobody else has, also not who learns the token later.
///
/// The client sends the token's id and a key made for this connection, the hub answers with a key of its own and a proof, the
/// client proves itself in turn. The keys are derived (HKDF) from what the two keys have in common (ECDH on P-256), from the
/// token's hash, and from all that was sent in the clear: who lacks the token, or alters a byte, comes to other keys, and its
/// proof fails. What was recorded is of no use again, since each end makes a new key each time. A value without I/O.
package enum SecureHandshake {
  static let version: UInt8 = 1
  private static let idCount = 8, proofCount = 32

  /// Names a token without telling it.
  package static func id(of tokenHash: [UInt8]) -> [UInt8] {
    Array(Hash.sha256(Array("hearth token id".utf8) + tokenHash).prefix(idCount))
  }

  /// The id in a client's first message.
  static func id(in hello: [UInt8]) throws(SecureError) -> [UInt8] {
    guard hello.count == 1 + idCount + P256PublicKey.byteCount, hello[0] == version else { throw SecureError() }
    return Array(hello[1..<1 + idCount])
  }

  /// The client's end.
  package struct Client {
    /// To be sent first.
    package let hello: [UInt8]
    private let tokenHash: [UInt8]
    private let key: P256PrivateKey

    package init(tokenHash: [UInt8], random: inout some RandomSource) {
      self.tokenHash = tokenHash
      key = P256PrivateKey(random: &random)
      hello = [version] + id(of: tokenHash) + key.publicKey.bytes
    }

    /// Takes the hub's answer.
    /// - Returns: what to send, and the stream that follows it.
    /// - Throws: where it is not the hub that answers.
    package func finish(_ answer: [UInt8]) throws(SecureError) -> (proof: [UInt8], stream: SecureStream) {
      guard answer.count == P256PublicKey.byteCount + proofCount else { throw SecureError() }
      let other = Array(answer.prefix(P256PublicKey.byteCount))
      let secrets = try Secrets(key, other, tokenHash, hello + other)
      guard constantTimeEqual(Array(answer.suffix(proofCount)), secrets.hubProof) else { throw SecureError() }
      return (secrets.clientProof, try SecureStream(sending: secrets.clientKey, receiving: secrets.hubKey))
    }
  }

  /// The hub's end.
  struct Server {
    /// To be sent.
    let answer: [UInt8]
    private let secrets: Secrets

    init(_ hello: [UInt8], tokenHash: [UInt8], random: inout some RandomSource) throws(SecureError) {
      _ = try id(in: hello)
      let key = P256PrivateKey(random: &random)
      let own = key.publicKey.bytes
      secrets = try Secrets(key, Array(hello.suffix(P256PublicKey.byteCount)), tokenHash, hello + own)
      answer = own + secrets.hubProof
    }

    /// Takes the client's proof.
    func finish(_ proof: [UInt8]) throws(SecureError) -> SecureStream {
      guard constantTimeEqual(proof, secrets.clientProof) else { throw SecureError() }
      return try SecureStream(sending: secrets.hubKey, receiving: secrets.clientKey)
    }
  }

  private struct Secrets {
    let clientKey: [UInt8], hubKey: [UInt8], clientProof: [UInt8], hubProof: [UInt8]

    /// - Parameter transcript: all that was sent in the clear.
    init(
      _ key: P256PrivateKey, _ other: [UInt8], _ tokenHash: [UInt8], _ transcript: [UInt8]
    ) throws(SecureError) {
      do throws(CryptoError) {
        let hash = Hash.sha256(transcript)
        let bytes = try HKDF.sha256(
          secret: try key.sharedSecret(with: try P256PublicKey(bytes: other)), salt: tokenHash,
          info: Array("hearth hub \(version)".utf8) + hash, count: 96)
        (clientKey, hubKey) = (Array(bytes[..<16]), Array(bytes[16..<32]))
        clientProof = try HMAC.sha256(key: Array(bytes[32..<64]), hash)
        hubProof = try HMAC.sha256(key: Array(bytes[64...]), hash)
      } catch { throw SecureError() }
    }
  }
}

/// A stream of bytes in records, each with its length in front, encrypted and authenticated with AES-128-CCM. Both ends count
/// the records: one that is left out, repeated, moved or altered ends the stream.
package struct SecureStream {
  /// Of text in a record.
  static let longest = 1 << 15

  private let sending: AESCCM, receiving: AESCCM
  private var sent: UInt64 = 0, received: UInt64 = 0

  init(sending: [UInt8], receiving: [UInt8]) throws(SecureError) {
    do throws(CryptoError) {
      self.sending = try AESCCM(key: SymmetricKey(sending))
      self.receiving = try AESCCM(key: SymmetricKey(receiving))
    } catch { throw SecureError() }
  }

  /// The records that carry a text.
  package mutating func seal(_ text: [UInt8]) throws(SecureError) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count + 64)
    var rest = text[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(Self.longest))
      rest = rest.dropFirst(part.count)
      let header = Self.header(part.count + AESCCM.tagByteCount)
      do throws(CryptoError) {
        result += header + (try sending.seal(plaintext: part, nonce: Self.nonce(sent), aad: header))
      } catch { throw SecureError() }
      sent += 1
    }
    return result
  }

  /// The text of a record.
  /// - Parameter record: without its length.
  mutating func open(_ record: [UInt8]) throws(SecureError) -> [UInt8] {
    defer { received += 1 }
    do throws(CryptoError) {
      return try receiving.open(
        ciphertext: record, nonce: Self.nonce(received), aad: Self.header(record.count))
    } catch { throw SecureError() }
  }

  private static func header(_ count: Int) -> [UInt8] {
    let count = UInt32(truncatingIfNeeded: count)
    return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
  }

  /// Never the same twice with one key: each direction has its own.
  private static func nonce(_ number: UInt64) -> [UInt8] {
    [UInt8](repeating: 0, count: Nonce.byteCount - 8)
      + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
  }
}
