import COpenSSL

/// A source of random numbers. Injected everywhere, so that a simulation can be replayed from its seed.
///
/// Also usable as the `RandomNumberGenerator` of `Int.random(in:using:)` and the like.
public protocol RandomSource: RandomNumberGenerator, Sendable {
  /// Returns the next `count` random bytes.
  mutating func bytes(_ count: Int) -> [UInt8]
  /// Returns the next 64 random bits.
  mutating func next() -> UInt64
  /// Returns a separate source for another component, so that the two never return the same numbers. It is as
  /// unpredictable, or as reproducible, as this one.
  mutating func fork() -> Self
}

extension RandomSource {
  /// Returns words of ``next()`` in little-endian order; drops the rest of the last word.
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

/// The system's cryptographic random generator, through OpenSSL.
public struct SystemRandomSource: RandomSource {
  public init() {}

  public mutating func fork() -> Self { self }

  public mutating func bytes(_ count: Int) -> [UInt8] {
    guard count > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: count)
    if let length = Int32(exactly: count), RAND_bytes(&bytes, length) == 1 { return bytes }
    // OpenSSL could not seed its generator. The kernel's is equivalent, but slower.
    ERR_clear_error()
    var system = SystemRandomNumberGenerator()
    for index in bytes.indices { bytes[index] = system.next() }
    return bytes
  }

  public mutating func next() -> UInt64 {
    bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// A reproducible source for simulations and tests. Not for secrets.
///
/// xoshiro256** with a state that SplitMix64 derives from the seed (Blackman and Vigna's public-domain generators). The
/// sequence of a seed must never change: recorded runs are replayed from it.
public struct SeededRandomSource: RandomSource, Hashable {
  private var state: (UInt64, UInt64, UInt64, UInt64)

  /// - Parameter seed: determines the sequence, on every machine and in every version.
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

/// SplitMix64, which expands a seed to a larger state.
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
