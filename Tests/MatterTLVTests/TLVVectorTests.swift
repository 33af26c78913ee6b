import MatterTLV
import Testing

/// Published encodings: the examples of Matter Core, Appendix A, and the long example in the tests of the Matter SDK.
struct TLVVectorTests {
  struct Vector: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var bytes: [UInt8]
    var element: TLVElement
    /// Whether the encoding is the shortest and therefore the writer's.
    var isCanonical = true

    init(
      _ name: String, _ bytes: [UInt8], _ value: TLVElement.Value, tag: TLVTag = .anonymous, isCanonical: Bool = true
    ) {
      testDescription = name
      self.bytes = bytes
      element = TLVElement(value, tag: tag)
      self.isCanonical = isCanonical
    }
  }

  static let vectors: [Vector] = [
    .init("false", [0x08], .boolean(false)),
    .init("true", [0x09], .boolean(true)),
    .init("signed 42", [0x00, 0x2A], .signed(42)),
    .init("signed -17", [0x00, 0xEF], .signed(-17)),
    .init("unsigned 42", [0x04, 0x2A], .unsigned(42)),
    .init("signed 42 in two octets", [0x01, 0x2A, 0x00], .signed(42), isCanonical: false),
    .init("signed -170000", [0x02, 0xF0, 0x67, 0xFD, 0xFF], .signed(-170_000)),
    .init("signed 40000000000", [0x03, 0, 0x90, 0x2F, 0x50, 0x09, 0, 0, 0], .signed(40_000_000_000)),
    .init("Hello!", [0x0C, 0x06, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x21], .string("Hello!")),
    .init("Tschüs", [0x0C, 0x07, 0x54, 0x73, 0x63, 0x68, 0xC3, 0xBC, 0x73], .string("Tschüs")),
    .init("octets", [0x10, 0x05, 0, 1, 2, 3, 4], .octets([0, 1, 2, 3, 4])),
    .init("null", [0x14], .null),
    .init("single 0", [0x0A, 0, 0, 0, 0], .float(0)),
    .init("single 1/3", [0x0A, 0xAB, 0xAA, 0xAA, 0x3E], .float(1.0 / 3.0)),
    .init("single 17.9", [0x0A, 0x33, 0x33, 0x8F, 0x41], .float(17.9)),
    .init("single ∞", [0x0A, 0, 0, 0x80, 0x7F], .float(.infinity)),
    .init("single -∞", [0x0A, 0, 0, 0x80, 0xFF], .float(-.infinity)),
    .init("double 0", [0x0B, 0, 0, 0, 0, 0, 0, 0, 0], .double(0)),
    .init("double 1/3", [0x0B, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0xD5, 0x3F], .double(1.0 / 3.0)),
    .init("double 17.9", [0x0B, 0x66, 0x66, 0x66, 0x66, 0x66, 0xE6, 0x31, 0x40], .double(17.9)),
    .init("double ∞", [0x0B, 0, 0, 0, 0, 0, 0, 0xF0, 0x7F], .double(.infinity)),
    .init("double -∞", [0x0B, 0, 0, 0, 0, 0, 0, 0xF0, 0xFF], .double(-.infinity)),
    .init("empty structure", [0x15, 0x18], .structure([])),
    .init("empty array", [0x16, 0x18], .array([])),
    .init("empty list", [0x17, 0x18], .list([])),
    .init(
      "structure of two", [0x15, 0x20, 0x00, 0x2A, 0x20, 0x01, 0xEF, 0x18],
      .structure([.init(.signed(42), tag: .context(0)), .init(.signed(-17), tag: .context(1))])),
    .init(
      "array of five", [0x16, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0x18], .array((0...4).map { .init(.signed(Int64($0))) })),
    .init(
      "list with and without tags",
      [0x17, 0x00, 0x01, 0x20, 0x00, 0x2A, 0x00, 0x02, 0x00, 0x03, 0x20, 0x00, 0xEF, 0x18],
      .list([
        .init(.signed(1)), .init(.signed(42), tag: .context(0)), .init(.signed(2)), .init(.signed(3)),
        .init(.signed(-17), tag: .context(0)),
      ])),
    .init(
      "array of mixed types",
      [
        0x16, 0x00, 0x2A, 0x02, 0xF0, 0x67, 0xFD, 0xFF, 0x15, 0x18, 0x0A, 0x33, 0x33, 0x8F, 0x41, 0x0C, 0x06, 0x48,
        0x65, 0x6C, 0x6C, 0x6F, 0x21, 0x18,
      ],
      .array([
        .init(.signed(42)), .init(.signed(-170_000)), .init(.structure([])), .init(.float(17.9)),
        .init(.string("Hello!")),
      ])),
    .init("context tag 1", [0x24, 0x01, 0x2A], .unsigned(42), tag: .context(1)),
    .init("common tag 1", [0x44, 0x01, 0x00, 0x2A], .unsigned(42), tag: .common(1)),
    .init("common tag 100000", [0x64, 0xA0, 0x86, 0x01, 0x00, 0x2A], .unsigned(42), tag: .common(100_000)),
    .init("implicit tag 2", [0x84, 0x02, 0x00, 0x2A], .unsigned(42), tag: .implicit(2)),
    .init("implicit tag 900000", [0xA4, 0xA0, 0xBB, 0x0D, 0x00, 0x2A], .unsigned(42), tag: .implicit(900_000)),
    .init(
      "qualified tag 1", [0xC4, 0xF1, 0xFF, 0xED, 0xDE, 0x01, 0x00, 0x2A], .unsigned(42),
      tag: .qualified(vendor: 0xFFF1, profile: 0xDEED, number: 1)),
    .init(
      "qualified tag AA55FEED", [0xE4, 0xF1, 0xFF, 0xED, 0xDE, 0xED, 0xFE, 0x55, 0xAA, 0x2A], .unsigned(42),
      tag: .qualified(vendor: 0xFFF1, profile: 0xDEED, number: 0xAA55_FEED)),
    .init(
      "qualified structure",
      [0xD5, 0xF1, 0xFF, 0xED, 0xDE, 0x01, 0x00, 0xC4, 0xF1, 0xFF, 0xED, 0xDE, 0xAA, 0x00, 0x2A, 0x18],
      .structure([.init(.unsigned(42), tag: .qualified(vendor: 0xFFF1, profile: 0xDEED, number: 0xAA))]),
      tag: .qualified(vendor: 0xFFF1, profile: 0xDEED, number: 1)),
  ]

  @Test(arguments: vectors)
  func decodes(_ vector: Vector) throws {
    #expect(try TLVElement(decoding: vector.bytes) == vector.element)
  }

  @Test(arguments: vectors.filter(\.isCanonical))
  func encodes(_ vector: Vector) {
    #expect(vector.element.encoded == vector.bytes)
  }

  /// Every tag form and container kind at once.
  @Test func roundTripsLongExampleOfTheSDK() throws {
    let profile = { TLVTag.qualified(vendor: 0xAABB, profile: 0xCCDD, number: $0) }
    let marks = "!@#$%^&*".map { "\($0)123456789ABCDEF" }.joined()
    let brackets = "()-=[];'".map { "01234567\($0)9ABCDEF" }.joined()
    let text = "START..." + marks + brackets + "...END"
    let element = TLVElement(
      .structure([
        .init(.boolean(true), tag: profile(2)),
        .init(.boolean(false), tag: .implicit(2)),
        .init(
          .array([
            .init(.signed(42)), .init(.signed(-17)), .init(.signed(-170_000)), .init(.unsigned(40_000_000_000)),
            .init(.structure([])),
            .init(
              .list([
                .init(.null, tag: profile(17)), .init(.null, tag: .implicit(900_000)), .init(.null),
                .init(.structure([.init(.string(text), tag: .common(70_000))]), tag: .implicit(4_000_000_000)),
              ])),
          ]), tag: .context(0)),
        .init(.string("This is a test"), tag: profile(5)),
        .init(.float(17.9), tag: .implicit(65_535)),
        .init(.double(17.9), tag: .implicit(65_536)),
      ]), tag: profile(1))

    let head: [UInt8] = [
      0xD5, 0xBB, 0xAA, 0xDD, 0xCC, 0x01, 0x00, 0xC9, 0xBB, 0xAA, 0xDD, 0xCC, 0x02, 0x00, 0x88, 0x02,
      0x00, 0x36, 0x00, 0x00, 0x2A, 0x00, 0xEF, 0x02, 0xF0, 0x67, 0xFD, 0xFF, 0x07, 0x00, 0x90, 0x2F,
      0x50, 0x09, 0x00, 0x00, 0x00, 0x15, 0x18, 0x17, 0xD4, 0xBB, 0xAA, 0xDD, 0xCC, 0x11, 0x00, 0xB4,
      0xA0, 0xBB, 0x0D, 0x00, 0x14, 0xB5, 0x00, 0x28, 0x6B, 0xEE, 0x6D, 0x70, 0x11, 0x01, 0x00, 0x0E, 0x01,
    ]
    let tail: [UInt8] = [
      0x18, 0x18, 0x18, 0xCC, 0xBB, 0xAA, 0xDD, 0xCC, 0x05, 0x00, 0x0E, 0x54, 0x68, 0x69, 0x73, 0x20, 0x69,
      0x73, 0x20, 0x61, 0x20, 0x74, 0x65, 0x73, 0x74, 0x8A, 0xFF, 0xFF, 0x33, 0x33, 0x8F, 0x41, 0xAB,
      0x00, 0x00, 0x01, 0x00, 0x66, 0x66, 0x66, 0x66, 0x66, 0xE6, 0x31, 0x40, 0x18,
    ]
    let bytes = head + Array(text.utf8) + tail
    // The published form gives this text two octets of length (14 and 1: 270), as the canonical form does.
    #expect(text.utf8.count == 270)
    #expect(try TLVElement(decoding: bytes) == element)
    #expect(element.encoded == bytes)
  }
}
