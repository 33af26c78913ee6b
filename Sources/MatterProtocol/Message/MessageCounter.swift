internal import MatterCrypto

extension RandomSource {
  /// Returns an initial message counter of 28 bits, which leaves enough counters for a session. Matter Core § 4.6.1.1.
  mutating func initialMessageCounter() -> UInt32 { UInt32(next() & 0x0FFF_FFFF) + 1 }
}
