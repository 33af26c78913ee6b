import Testing

@testable import MatterCrypto

@Suite struct KeyDerivationTests {
  @Test func `computes HMAC of RFC 4231 and the SDK`() throws {
    // Test cases 1, 2 and 6 (a key longer than a block).
    #expect(
      try HMAC.sha256(key: [UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8))
        == hex("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"))
    #expect(
      try HMAC.sha256(key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
        == hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
    let message = Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)
    #expect(
      try HMAC.sha256(key: [UInt8](repeating: 0xaa, count: 131), message)
        == hex("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"))
    #expect(
      try HMAC.sha256(key: [UInt8](repeating: 0xba, count: 16), message)
        == hex("c0cd7723dcf157a5fe53c56b2d86d41c7861b42067ca7cae4413574d25da841e"))
    // A key of exactly one block is not hashed.
    #expect(try HMAC.sha256(key: [UInt8](repeating: 0, count: 64), []) == HMAC.sha256(key: [], []))
    #expect(try HMAC.sha256(key: [], []) == hex("b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"))
  }

  @Test func `computes HKDF of RFC 5869 A.1 to A.3`() throws {
    #expect(
      try HKDF.sha256(
        secret: [UInt8](repeating: 0x0b, count: 22), salt: Array(0...0x0c), info: Array(0xf0...0xf9), count: 42)
        == hex(
          "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"))
    #expect(
      try HKDF.sha256(secret: Array(0...0x4f), salt: Array(0x60...0xaf), info: Array(0xb0...0xff), count: 82)
        == hex(
          """
          b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09
          da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87
          """))
    #expect(
      try HKDF.sha256(secret: [UInt8](repeating: 0x0b, count: 22), salt: [], info: [], count: 42)
        == hex(
          "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"))
  }

  @Test func `computes HKDF with info and without salt`() throws {
    #expect(
      try HKDF.sha256(
        secret: [UInt8](repeating: 0x0b, count: 22), salt: [], info: Array(0xb0...0xff), count: 42)
        == hex(
          "7ac3c1b418d0c3ad197a8f6d69298a040b51238232d1f6bda9e769905a09b6ba79811dbeb33a46fb1b8b"))
  }

  @Test func `limits HKDF output`() throws {
    #expect(try HKDF.sha256(secret: [1], salt: [], info: [], count: 0) == [])
    #expect(try HKDF.sha256(secret: [1], salt: [], info: [], count: 8_160).count == 8_160)
    for count in [-1, 8_161] {
      #expect(throws: CryptoError.invalidLength(expected: 8_160, found: count)) {
        try HKDF.sha256(secret: [1], salt: [], info: [], count: count)
      }
    }
  }

  @Test(arguments: [
    ("password", "saltSALTsaltSALT", 1, "f2e34bd950e91cf37d22e1135a399b02a17cb193"),
    ("password", "saltSALTsaltSALT", 2, "2b77275cc3120b1513f6f3e03649fd4933765260"),
    ("password", "saltSALTsaltSALT", 3, "f88afbb79dda3f282e21adf253d0e9f170823a9f"),
    ("password", "saltSALTsaltSALT", 5, "82ffaafc0b049180eea79a0410315887b660ac7e"),
    (
      "passwordPASSWORDpassword", "saltSALTsaltSALTsaltSALTsaltSALT", 10,
      "0dbf8738d230bf28bae0fb4d8f07349824b5e0b1a70ba2193b"
    ),
  ])
  func `computes PBKDF2 of the SDK`(password: String, salt: String, iterations: Int, expected: String) throws {
    let key = hex(expected)
    #expect(
      try PBKDF2.sha256(
        password: Array(password.utf8), salt: Array(salt.utf8), iterations: iterations, count: key.count) == key)
  }

  @Test(arguments: [(4, 1, 1), (64, 3, 32), (65, 7, 33), (100, 2, 80), (0, 1000, 80)])
  func `computes PBKDF2 like a direct implementation of RFC 8018`(passwordLength: Int, iterations: Int, count: Int)
    throws
  {
    let password = (0..<passwordLength).map { UInt8($0) }
    let salt = [UInt8](repeating: 7, count: 61)
    var expected: [UInt8] = []
    for block in 1...UInt8((count + 31) / 32) {
      var round = try HMAC.sha256(key: password, salt + [0, 0, 0, block])
      var sum = round
      for _ in 1..<iterations {
        round = try HMAC.sha256(key: password, round)
        sum = zip(sum, round).map { $0 ^ $1 }
      }
      expected += sum
    }
    let key = try PBKDF2.sha256(password: password, salt: salt, iterations: iterations, count: count)
    #expect(key == Array(expected.prefix(count)))
  }

  @Test(arguments: [(0, 20), (-1, 20), (1 << 31, 20), (1, 0), (1, -1), (1, 1 << 31)])
  func `rejects invalid PBKDF2 parameters`(iterations: Int, count: Int) {
    #expect(throws: CryptoError.self) {
      try PBKDF2.sha256(password: [1], salt: [2], iterations: iterations, count: count)
    }
  }
}
