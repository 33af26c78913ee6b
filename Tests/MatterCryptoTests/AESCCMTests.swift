import Testing

@testable import MatterCrypto

@Suite struct AESCCMTests {
  private let key = hex("5eded244e5532b3cdc23409dbad052d2")

  @Test(arguments: aesCCMMatterVectors + aesCCMNISTVectors)
  func `seals and opens published vectors`(vector: Record) throws {
    let cipher = try AESCCM(key: SymmetricKey(vector.get("key")))
    let (nonce, aad) = (try vector.get("nonce"), try vector.get("aad"))
    let (plaintext, sealed) = (try vector.get("plaintext"), try vector.get("sealed"))
    // Twice, because the contexts are reused.
    for _ in 0..<2 {
      #expect(try cipher.seal(plaintext: plaintext, nonce: nonce, aad: aad) == sealed)
      #expect(try cipher.open(ciphertext: sealed, nonce: nonce, aad: aad) == plaintext)
    }
  }

  @Test func `loads all vectors`() {
    #expect(aesCCMMatterVectors.count == 16)
    #expect(aesCCMNISTVectors.count == 3)
  }

  @Test func `rejects every flipped bit and opens the next valid message`() throws {
    let vector = aesCCMNISTVectors[1]
    let cipher = try AESCCM(key: SymmetricKey(vector.get("key")))
    let (nonce, aad) = (try vector.get("nonce"), try vector.get("aad"))
    let (plaintext, sealed) = (try vector.get("plaintext"), try vector.get("sealed"))
    for bit in 0..<sealed.count * 8 {
      #expect(throws: CryptoError.authenticationFailed) {
        try cipher.open(ciphertext: sealed.flippingBit(bit), nonce: nonce, aad: aad)
      }
    }
    for bit in 0..<aad.count * 8 {
      #expect(throws: CryptoError.authenticationFailed) {
        try cipher.open(ciphertext: sealed, nonce: nonce, aad: aad.flippingBit(bit))
      }
    }
    for bit in 0..<nonce.count * 8 {
      #expect(throws: CryptoError.authenticationFailed) {
        try cipher.open(ciphertext: sealed, nonce: nonce.flippingBit(bit), aad: aad)
      }
    }
    #expect(try cipher.open(ciphertext: sealed, nonce: nonce, aad: aad) == plaintext)
  }

  @Test func `rejects every truncation`() throws {
    let cipher = try AESCCM(key: SymmetricKey(key))
    let nonce = [UInt8](repeating: 3, count: 13)
    let sealed = try cipher.seal(plaintext: [1, 2, 3, 4], nonce: nonce)
    for count in 0..<sealed.count {
      #expect(throws: count < 16 ? CryptoError.invalidLength(expected: 16, found: count) : .authenticationFailed) {
        try cipher.open(ciphertext: Array(sealed[..<count]), nonce: nonce)
      }
    }
  }

  @Test(arguments: [0, 1, 15, 16, 17, 60, 1_264, 65_535])
  func `seals and opens in place behind an authenticated header`(count: Int) throws {
    let cipher = try AESCCM(key: SymmetricKey(key))
    let header = hex("00d20000391b0000")
    let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let nonce = Nonce(securityFlags: 0, messageCounter: 0x1b39, sourceNodeID: 0)
    var buffer = header + payload
    try cipher.seal(&buffer, from: header.count, nonce: nonce, aad: 0..<header.count)
    #expect(buffer.count == header.count + count + 16)
    #expect(Array(buffer[..<header.count]) == header)
    #expect(Array(buffer[header.count...]) == (try cipher.seal(plaintext: payload, nonce: nonce.bytes, aad: header)))
    var changed = buffer
    changed[0] ^= 1
    #expect(throws: CryptoError.authenticationFailed) {
      try cipher.open(&changed, from: header.count, nonce: nonce, aad: 0..<header.count)
    }
    try cipher.open(&buffer, from: header.count, nonce: nonce, aad: 0..<header.count)
    #expect(buffer == header + payload)
  }

  @Test func `rejects offsets and ranges outside the buffer`() throws {
    let cipher = try AESCCM(key: SymmetricKey(key))
    let nonce = Nonce(securityFlags: 0, messageCounter: 1, sourceNodeID: 2)
    var buffer = [UInt8](repeating: 0, count: 20)
    let original = buffer
    #expect(throws: CryptoError.self) { try cipher.seal(&buffer, from: 21, nonce: nonce, aad: 0..<0) }
    #expect(throws: CryptoError.self) { try cipher.seal(&buffer, from: -1, nonce: nonce, aad: 0..<0) }
    #expect(throws: CryptoError.self) { try cipher.seal(&buffer, from: 4, nonce: nonce, aad: 0..<5) }
    #expect(throws: CryptoError.self) { try cipher.seal(&buffer, from: 4, nonce: nonce, aad: -1..<4) }
    #expect(throws: CryptoError.self) { try cipher.open(&buffer, from: 5, nonce: nonce, aad: 0..<0) }
    #expect(throws: CryptoError.self) { try cipher.open(&buffer, from: -1, nonce: nonce, aad: 0..<0) }
    #expect(throws: CryptoError.self) { try cipher.open(&buffer, from: 0, nonce: nonce, aad: 0..<1) }
    #expect(buffer == original)
    var long = [UInt8](repeating: 0, count: 65_536)
    #expect(throws: CryptoError.invalidLength(expected: 65_535, found: 65_536)) {
      try cipher.seal(&long, from: 0, nonce: nonce, aad: 0..<0)
    }
    #expect(long.count == 65_536)
    long += [UInt8](repeating: 0, count: 16)
    #expect(throws: CryptoError.invalidLength(expected: 65_535, found: 65_536)) {
      try cipher.open(&long, from: 0, nonce: nonce, aad: 0..<0)
    }
    var empty: [UInt8] = []
    try cipher.seal(&empty, from: 0, nonce: nonce, aad: 0..<0)
    #expect(empty.count == 16)
    try cipher.open(&empty, from: 0, nonce: nonce, aad: 0..<0)
    #expect(empty.isEmpty)
  }

  @Test func `encodes nonces as flags, counter and node id, little-endian`() throws {
    let nonce = Nonce(securityFlags: 0xa1, messageCounter: 0x0403_0201, sourceNodeID: 0x1817_1615_1413_1211)
    #expect(nonce.bytes == hex("a1 01020304 1112131415161718"))
    #expect(try Nonce(bytes: nonce.bytes) == nonce)
    #expect(throws: CryptoError.invalidLength(expected: 13, found: 12)) { try Nonce(bytes: Array(nonce.bytes[1...])) }
    #expect(throws: CryptoError.invalidLength(expected: 13, found: 14)) { try Nonce(bytes: nonce.bytes + [0]) }
  }

  @Test func `requires 16-byte keys and hides them in descriptions`() throws {
    #expect(throws: CryptoError.invalidLength(expected: 16, found: 15)) { try SymmetricKey(Array(key[1...])) }
    #expect(throws: CryptoError.invalidLength(expected: 16, found: 17)) { try SymmetricKey(key + [0]) }
    let symmetric = try SymmetricKey(key)
    var dumped = ""
    dump(symmetric, to: &dumped)
    for text in ["\(symmetric)", String(reflecting: symmetric), dumped] {
      #expect(!text.contains("94") && !text.contains("0x5e"), "94 is the key's first byte")
    }
  }
}
