internal import MatterCrypto

/// The tally of all draws in a world. Confined to the world's thread.
final class DrawTally: @unchecked Sendable {
  private(set) var count: UInt64 = 0
  private(set) var digest: UInt64 = 0

  func add(_ value: UInt64) {
    count &+= 1
    digest = Trace.mixed(digest, value)
  }
}

/// A seeded source whose draws are part of the world's trace, so that the digests of two runs differ as soon as their
/// draws do.
struct TracedRandomSource: RandomSource {
  private var base: SeededRandomSource
  private let tally: DrawTally

  init(_ base: SeededRandomSource, _ tally: DrawTally) { (self.base, self.tally) = (base, tally) }

  mutating func next() -> UInt64 {
    let value = base.next()
    tally.add(value)
    return value
  }

  mutating func fork() -> Self { Self(SeededRandomSource(seed: next()), tally) }
}
