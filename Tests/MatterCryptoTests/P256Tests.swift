import Testing

@testable import MatterCrypto

@Suite struct P256Tests {
  /// RFC 6979 A.2.5.
  private let scalar = hex("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721")
  private let point = hex(
    """
    0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6
    7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299
    """)
  private let order = hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")

  @Test(arguments: pointValidityVectors)
  func `accepts only points on the curve`(vector: Record) throws {
    let bytes = try vector.get("point")
    if try vector.get("valid") == [1] {
      #expect(try P256PublicKey(bytes: bytes).bytes == bytes)
    } else {
      #expect(throws: CryptoError.invalidPoint) { try P256PublicKey(bytes: bytes) }
    }
  }

  @Test func `rejects other point encodings`() throws {
    #expect(throws: CryptoError.invalidLength(expected: 65, found: 0)) { try P256PublicKey(bytes: []) }
    #expect(throws: CryptoError.invalidLength(expected: 65, found: 1)) { try P256PublicKey(bytes: [0]) }
    let compressed = [3] + Array(point[1...32])
    #expect(throws: CryptoError.invalidLength(expected: 65, found: 33)) { try P256PublicKey(bytes: compressed) }
    #expect(throws: CryptoError.invalidLength(expected: 65, found: 66)) { try P256PublicKey(bytes: point + [0]) }
    for form: UInt8 in [0x00, 0x02, 0x03, 0x05, 0x06, 0x07] {
      #expect(throws: CryptoError.invalidPoint) { try P256PublicKey(bytes: [form] + point[1...]) }
    }
    #expect(throws: CryptoError.invalidPoint) { try P256PublicKey(bytes: [4] + [UInt8](repeating: 0, count: 64)) }
  }

  @Test func `rejects scalars outside the order`() throws {
    let zero = [UInt8](repeating: 0, count: 32)
    let one = zero.dropLast() + [1]
    for bad in [zero, order, [UInt8](repeating: 0xff, count: 32)] {
      #expect(throws: CryptoError.invalidKey) { try P256PrivateKey(scalar: bad) }
    }
    #expect(throws: CryptoError.invalidLength(expected: 32, found: 31)) { try P256PrivateKey(scalar: Array(one[1...])) }
    #expect(throws: CryptoError.invalidLength(expected: 32, found: 33)) { try P256PrivateKey(scalar: [0] + one) }
    let largest = order.dropLast() + [0x50]
    // The keys 1 and n - 1 have the generator's x, and opposite y.
    let first = try P256PrivateKey(scalar: Array(one)).publicKey.bytes
    let last = try P256PrivateKey(scalar: Array(largest)).publicKey.bytes
    #expect(Array(first[1...32]) == hex("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"))
    #expect(first[1...32] == last[1...32] && first != last)
  }

  @Test func `creates keys in range from any random source`() throws {
    struct Constant: RandomSource {
      mutating func fork() -> Self { self }
      var byte: UInt8
      func next() -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }
    }
    for byte: UInt8 in [0, 1, 0x7f, 0xff] {
      var source = Constant(byte: byte)
      let key = P256PrivateKey(random: &source)
      #expect(try P256PrivateKey(scalar: key.scalar).publicKey == key.publicKey)
    }
    var zero = Constant(byte: 0)
    #expect(P256PrivateKey(random: &zero).scalar == [UInt8](repeating: 0, count: 31) + [1])
  }

  @Test(arguments: ecdhVectors)
  func `computes ECDH of published vectors`(vector: Record) throws {
    let key = try P256PrivateKey(scalar: vector.get("scalar"))
    #expect(try key.sharedSecret(with: P256PublicKey(bytes: vector.get("peer"))) == vector.get("secret"))
  }

  @Test(arguments: pointProductVectors)
  func `multiplies points by scalars`(vector: Record) throws {
    let product = try CurvePoint(bytes: vector.get("point")).times(Scalar(bytes: vector.get("scalar")))
    #expect(try product.bytes == vector.get("product"))
  }

  @Test(arguments: pointSumVectors)
  func `adds products`(vector: Record) throws {
    let first = try CurvePoint(bytes: vector.get("point1")).times(Scalar(bytes: vector.get("scalar1")))
    let second = try CurvePoint(bytes: vector.get("point2")).times(Scalar(bytes: vector.get("scalar2")))
    let sum = first.plus(second)
    #expect(try sum.bytes == vector.get("sum"))
    #expect(sum.minus(second).bytes == first.bytes)
    #expect(sum.minus(sum).isInfinity)
  }

  @Test func `creates the deterministic signatures of RFC 6979 A.2.5`() throws {
    let key = try P256PrivateKey(scalar: scalar)
    #expect(key.publicKey.bytes == point)
    let expected = [
      "sample": """
      efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716
      f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8
      """,
      "test": """
      f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367
      019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083
      """,
    ]
    for (message, signature) in expected {
      let message = Array(message.utf8)
      #expect(try DeterministicSignatures().sign(message: message, with: key) == hex(signature))
      #expect(key.publicKey.verify(hex(signature), of: message))
    }
  }

  @Test func `verifies signatures and rejects every flipped bit`() throws {
    let key = try P256PrivateKey(scalar: scalar)
    let message = Array("a message".utf8)
    let schemes: [any SignatureScheme] = [OpenSSLSignatures(), DeterministicSignatures()]
    for scheme in schemes {
      let signature = try scheme.sign(message: message, with: key)
      #expect(signature.count == 64)
      #expect(key.publicKey.verify(signature, of: message))
      for bit in 0..<512 {
        #expect(!key.publicKey.verify(signature.flippingBit(bit), of: message))
      }
      for bit in 0..<message.count * 8 {
        #expect(!key.publicKey.verify(signature, of: message.flippingBit(bit)))
      }
      var source = SeededRandomSource(seed: 7)
      #expect(!P256PrivateKey(random: &source).publicKey.verify(signature, of: message))
    }
    #expect(try key.sign(message) != key.sign(message))
  }

  @Test func `rejects malformed signatures`() throws {
    let key = try P256PrivateKey(scalar: scalar)
    let signature = try DeterministicSignatures().sign(message: [], with: key)
    #expect(key.publicKey.verify(signature, of: []))
    let zero = [UInt8](repeating: 0, count: 32)
    let ones = [UInt8](repeating: 0xff, count: 32)
    let (r, s) = (Array(signature[..<32]), Array(signature[32...]))
    let short = Array(signature.dropLast())
    for bad in [[], r, short, signature + [0], zero + zero, r + zero, zero + s, r + order, ones + s] {
      #expect(!key.publicKey.verify(bad, of: []))
    }
  }

  @Test func `hides private keys in descriptions`() throws {
    let key = try P256PrivateKey(scalar: scalar)
    var dumped = ""
    dump(key, to: &dumped)
    #expect(!"\(key) \(dumped)".contains("\(scalar[0]), \(scalar[1])"))
    #expect(!dumped.contains("scalar"))
  }
}
