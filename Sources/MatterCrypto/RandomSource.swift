import COpenSSL

/// Where randomness comes from. Injected everywhere, so that a simulation replays from its seed.
///
/// It is a `RandomNumberGenerator` too: `Int.random(in:using:)` and the like take one.
public protocol RandomSource: RandomNumberGenerator, Sendable {
  /// The next `count` random bytes.
  mutating func bytes(_ count: Int) -> [UInt8]
  /// The next 64 random bits.
  mutating func next() -> UInt64
  /// A source of its own for another part of the program, so that two parts never draw the same numbers. As
  /// unpredictable as this one, and as reproducible.
  mutating func fork() -> Self
}

extension RandomSource {
  /// Words from ``next()``, each in little-endian order; what is left of the last word is dropped.
  public mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(max(0, count))
    while bytes.count < count {
      var word = next()
      for _ in 0..<min(8, count - bytes.count) {
        bytes.append(UInt8(truncatingIfNeeded: word))
        word >>= 8
      }
    }
    return bytes
  }
}

/// The system's cryptographic randomness, by way of OpenSSL's generator.
public struct SystemRandomSource: RandomSource {
  public init() {}

  public mutating func fork() -> Self { self }

  public mutating func bytes(_ count: Int) -> [UInt8] {
    guard count > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: count)
    if let length = Int32(exactly: count), RAND_bytes(&bytes, length) == 1 { return bytes }
    // OpenSSL could not seed its generator: the kernel's does as well, only slower.
    ERR_clear_error()
    var system = SystemRandomNumberGenerator()
    for index in bytes.indices { bytes[index] = system.next() }
    return bytes
  }

  public mutating func next() -> UInt64 {
    bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// A reproducible source for simulations and tests, and for nothing that has to be secret.
///
/// xoshiro256** with a state filled by SplitMix64 from the seed (Blackman and Vigna's public-domain generators). The
/// sequence for a seed is part of the contract and stays as it is: recorded runs are replayed from it.
public struct SeededRandomSource: RandomSource, Hashable {
  private var state: (UInt64, UInt64, UInt64, UInt64)

  /// - Parameter seed: the same seed gives the same sequence, on every machine and in every version.
  public init(seed: UInt64) {
    var mixer = SplitMix64(state: seed)
    state = (mixer.next(), mixer.next(), mixer.next(), mixer.next())
  }

  init(state: (UInt64, UInt64, UInt64, UInt64)) {
    self.state = state
  }

  public mutating func fork() -> Self { Self(seed: next()) }

  public mutating func next() -> UInt64 {
    func rotate(_ word: UInt64, by count: UInt64) -> UInt64 { word << count | word >> (64 - count) }
    let result = rotate(state.1 &* 5, by: 7) &* 9
    let shifted = state.1 << 17
    state.2 ^= state.0
    state.3 ^= state.1
    state.1 ^= state.2
    state.0 ^= state.3
    state.2 ^= shifted
    state.3 = rotate(state.3, by: 45)
    return result
  }

  public static func == (first: Self, second: Self) -> Bool { first.state == second.state }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(state.0)
    hasher.combine(state.1)
    hasher.combine(state.2)
    hasher.combine(state.3)
  }
}

/// SplitMix64, to spread a seed over a larger state.
struct SplitMix64 {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
    return word ^ word >> 31
  }
}
