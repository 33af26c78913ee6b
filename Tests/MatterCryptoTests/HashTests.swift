import Testing

@testable import MatterCrypto

@Suite struct HashTests {
  @Test(arguments: sha256Vectors)
  func `computes SHA-256 of published vectors`(vector: Record) throws {
    #expect(try Hash.sha256(vector.get("data")) == vector.get("digest"))
  }

  @Test func `computes SHA-1 of FIPS 180's examples`() {
    #expect(Hash.sha1(Array("abc".utf8)) == hex("a9993e364706816aba3e25717850c26c9cd0d89d"))
    #expect(Hash.sha1([]) == hex("da39a3ee5e6b4b0d3255bfef95601890afd80709"))
  }

  @Test func `copies hashers by value`() {
    var hasher = SHA256Hasher()
    hasher.update(Array("a".utf8))
    var branch = hasher
    branch.update(Array("x".utf8))
    hasher.update([])
    hasher.update(Array("bc".utf8))
    #expect(hasher.finalize() == hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
    #expect(branch.finalize() == Hash.sha256(Array("ax".utf8)))
    #expect(hasher.finalize() == Hash.sha256([]), "not reset after the digest")
  }

  @Test func `compares in constant time`() {
    #expect(constantTimeEqual([], []))
    #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
    #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
    #expect(!constantTimeEqual([1, 2, 3], [0, 2, 3]))
    #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
    #expect(!constantTimeEqual([], [0]))
  }
}
