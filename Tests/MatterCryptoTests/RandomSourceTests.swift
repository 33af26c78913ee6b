import Testing

@testable import MatterCrypto

@Suite struct RandomSourceTests {
  @Test func `generates the published SplitMix64 sequence`() {
    var mixer = SplitMix64(state: 1_234_567)
    #expect(mixer.next() == 6_457_827_717_110_365_317)
    #expect(mixer.next() == 3_203_168_211_198_807_973)
    #expect(mixer.next() == 9_817_491_932_198_370_423)
  }

  @Test func `generates the published xoshiro256** sequence`() {
    var source = SeededRandomSource(state: (1, 2, 3, 4))
    #expect(
      (0..<4).map { _ in source.next() as UInt64 } == [11_520, 0, 1_509_978_240, 1_215_971_899_390_074_240])
  }

  @Test func `generates a fixed sequence per seed`() {
    var source = SeededRandomSource(seed: 42)
    // Recorded runs depend on these values: a change breaks replay.
    #expect(source.next() == 0x1578_0b2e_0c2e_c716)
    #expect(source.bytes(11) == hex("7e3a116d86d90461a199e4"))
    var same = SeededRandomSource(seed: 42)
    var other = SeededRandomSource(seed: 43)
    let first = same.bytes(64)
    #expect(first != other.bytes(64))
    #expect(first != same.bytes(64))
    #expect(Array(first[..<8]) == hex("16c72e0c2e0b7815"))
  }

  @Test func `generates through existentials`() throws {
    var sources: [any RandomSource] = [SystemRandomSource(), SeededRandomSource(seed: 1)]
    for index in sources.indices {
      #expect(sources[index].bytes(0) == [])
      #expect(sources[index].bytes(-1) == [])
      #expect(sources[index].bytes(33).count == 33)
      #expect(sources[index].next() as UInt64 != sources[index].next() as UInt64)
      #expect((1...6).contains(Int.random(in: 1...6, using: &sources[index])))
      let key = P256PrivateKey(random: &sources[index])
      #expect(try P256PrivateKey(scalar: key.scalar).publicKey == key.publicKey)
    }
  }

  @Test func `generates different system random bytes`() {
    var source = SystemRandomSource()
    #expect(source.bytes(32) != source.bytes(32))
  }
}
