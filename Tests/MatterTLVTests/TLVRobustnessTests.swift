import MatterTLV
import Testing

/// Damaged input is rejected or decoded as other elements, without a crash.
struct TLVRobustnessTests {
  /// Contains every element type and tag form.
  static let sample: [UInt8] = TLVElement(
    .structure([
      .init(.signed(-1), tag: .context(0)), .init(.signed(-300), tag: .context(1)),
      .init(.signed(-70_000), tag: .context(2)), .init(.signed(.min), tag: .context(3)),
      .init(.unsigned(1), tag: .context(4)), .init(.unsigned(300), tag: .context(5)),
      .init(.unsigned(70_000), tag: .context(6)), .init(.unsigned(.max), tag: .context(7)),
      .init(.boolean(true), tag: .context(8)), .init(.float(1.5), tag: .common(1)),
      .init(.double(2.5), tag: .common(70_000)), .init(.string("Grüße"), tag: .implicit(1)),
      .init(.octets([UInt8](repeating: 7, count: 300)), tag: .implicit(70_000)),
      .init(.null, tag: .qualified(vendor: 1, profile: 2, number: 3)),
      .init(.array([.init(.unsigned(1)), .init(.structure([.init(.null, tag: .context(1))]))]), tag: .context(9)),
      .init(.list([.init(.unsigned(1)), .init(.null, tag: .context(1))]), tag: .context(10)),
    ])
  ).encoded

  @Test func rejectsEveryTruncation() throws {
    _ = try TLVElement(decoding: Self.sample)
    for count in 0..<Self.sample.count {
      #expect(throws: TLVError.truncated, "cut to \(count) bytes") {
        try TLVElement(decoding: Array(Self.sample.prefix(count)))
      }
      #expect(throws: TLVError.truncated, "skipped, cut to \(count) bytes") {
        try AnyTLV(tlv: Array(Self.sample.prefix(count)))
      }
    }
  }

  /// Checks that decoding and skipping accept the same input, except for invalid UTF-8, and that decoded elements
  /// survive a round trip.
  private func examine(_ bytes: [UInt8]) throws {
    let whole = Result { () throws(TLVError) in try TLVElement(decoding: bytes) }
    let skipped = Result { () throws(TLVError) in try AnyTLV(tlv: bytes) }
    switch (whole, skipped) {
    case (.success(let element), .success):
      let again = try TLVElement(decoding: element.encoded)
      #expect(again.encoded == element.encoded)
      #expect(element.encoded.count <= bytes.count)
    case (.failure(.invalidUTF8), _), (.failure, .failure): break
    case (.failure(let error), .success): Issue.record("reading failed with \(error), skipping did not: \(bytes)")
    case (.success, .failure(let error)): Issue.record("skipping failed with \(error), reading did not: \(bytes)")
    }
  }

  @Test func handlesEveryBitFlip() throws {
    for index in Self.sample.indices {
      for bit in 0..<8 {
        var bytes = Self.sample
        bytes[index] ^= 1 << UInt8(bit)
        try examine(bytes)
      }
    }
  }

  @Test func handlesRandomInput() throws {
    var generator = SplitMix(state: 0x4D61_7474_6572)
    for _ in 0..<20_000 {
      let count = Int(generator.next() % 24)
      try examine((0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
    }
    // Random input with more containers.
    for _ in 0..<20_000 {
      let count = Int(generator.next() % 40)
      let likely: [UInt8] = [0x15, 0x16, 0x17, 0x18, 0x18, 0x24, 0x04, 0x00, 0x01, 0x35, 0x36]
      try examine((0..<count).map { _ in likely[Int(generator.next() % UInt64(likely.count))] })
    }
  }

  /// A seeded generator: the same input in every run.
  struct SplitMix {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }
}
