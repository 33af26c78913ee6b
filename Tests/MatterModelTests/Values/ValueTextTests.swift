import MatterModel
import MatterTLV
import Testing

struct ValueTextTests {
  static let color = Schema.enumeration(bits: 8, names: [0: "Red", 1: "DarkGreen", 5: "523"])
  static let flags = Schema.bitmap(bits: 8, names: [0: "ExecuteIfOff", 1: "Couple"])
  static let unsupported = Schema.bitmap(bits: 16, names: [0: "Normal", 1: "Vacation", 3: "Remote"], isInverted: true)
  static let occupancy = Schema.bitmap(bits: 8, names: [0: "Occupied"])
  static let movements = Schema.bitmap(bits: 8, names: [0: "All", 1: "All", 2: "Lift", 3: "Lift", 5: "Stalled"])
  static let request = Schema.structure([
    .init(id: 0, name: "Level", schema: .unsigned(bits: 8), isOptional: false),
    .init(id: 1, name: "TransitionTime", schema: .nullable(.unsigned(bits: 16)), isOptional: false),
    .init(id: 2, name: "Options", schema: flags, isOptional: true),
    .init(id: 3, name: "Label", schema: .string, isOptional: true),
  ])

  struct Case: Sendable, CustomTestStringConvertible {
    var schema: Schema
    var text: String
    var bytes: [UInt8]
    /// The rendered text, or nil if it equals the input.
    var printed: String?
    var json: String?
    var testDescription: String { text }

    init(_ schema: Schema, _ text: String, _ bytes: [UInt8], _ printed: String? = nil, json: String? = nil) {
      (self.schema, self.text, self.bytes, self.printed, self.json) = (schema, text, bytes, printed, json)
    }
  }

  static let cases: [Case] = [
    .init(.boolean, "true", [0x09], json: "true"), .init(.boolean, " OFF ", [0x08], "false"),
    .init(.unsigned(bits: 8), "42", [0x04, 42], json: "42"), .init(.unsigned(bits: 16), "0x2A", [0x04, 42], "42"),
    .init(
      .unsigned(bits: 64), "18446744073709551615", [0x07] + [UInt8](repeating: 255, count: 8),
      json: "\"18446744073709551615\""),
    .init(.signed(bits: 8), "-128", [0x00, 0x80], json: "-128"), .init(.signed(bits: 16), "0x10", [0x00, 16], "16"),
    .init(
      .signed(bits: 64), "-9223372036854775808", [0x03, 0, 0, 0, 0, 0, 0, 0, 0x80], json: "\"-9223372036854775808\""),
    .init(.float, "1.5", [0x0A, 0, 0, 0xC0, 0x3F], json: "1.5"),
    .init(.double, "-2.0", [0x0B, 0, 0, 0, 0, 0, 0, 0, 0xC0], json: "-2.0"),
    .init(.string, "Lamp, left", [0x0C, 10] + Array("Lamp, left".utf8), "\"Lamp, left\"", json: "\"Lamp, left\""),
    .init(.string, #""a\"b\u00e9\n""#, [0x0C, 6, 0x61, 0x22, 0x62, 0xC3, 0xA9, 0x0A], #""a\"bé\n""#),
    .init(.string, #""\ud83d\ude00""#, [0x0C, 4, 0xF0, 0x9F, 0x98, 0x80], "\"😀\""),
    .init(.string, "", [0x0C, 0], "\"\""), .init(.string, "null", [0x0C, 4] + Array("null".utf8), "\"null\""),
    .init(.nullable(.string), "null", [0x14], json: "null"),
    .init(.nullable(.string), "\"null\"", [0x0C, 4] + Array("null".utf8)),
    .init(.octets, "00ff10", [0x10, 3, 0, 255, 16], json: "\"00ff10\""),
    .init(.octets, "0x00 FF:10", [0x10, 3, 0, 255, 16], "00ff10"), .init(.octets, "\"\"", [0x10, 0], json: "\"\""),
    .init(color, "darkgreen", [0x04, 1], "DarkGreen", json: "1"), .init(color, "dark-green", [0x04, 1], "DarkGreen"),
    .init(color, "7", [0x04, 7], json: "7"), .init(color, "523", [0x04, 5], json: "5"),
    .init(flags, "ExecuteIfOff | Couple", [0x04, 3], json: "3"),
    .init(flags, "couple|0x80", [0x04, 0x82], "Couple | 0x80"),
    .init(unsupported, "Normal | Remote", [0x05, 0xF6, 0xFF], json: "65526"),
    .init(unsupported, "65526", [0x05, 0xF6, 0xFF], "Normal | Remote"),
    .init(unsupported, "0xFFFF", [0x05, 0xFF, 0xFF], json: "65535"),
    .init(unsupported, "vacation|0xFFE0", [0x04, 0x1D], "Vacation | 0xFFE0"),
    .init(movements, "All=2 | Lift=1 | Stalled", [0x04, 0x26], json: "38"),
    .init(movements, "lift|0x50", [0x04, 0x5C], "Lift=3 | 0x50"), .init(movements, "Lift=0", [0x04, 0], "0"),
    .init(occupancy, "true", [0x04, 1], "Occupied"), .init(occupancy, "off", [0x04, 0], "0"),
    .init(flags, "0", [0x04, 0]), .init(flags, "[couple]", [0x04, 2], "Couple"),
    .init(.list(.unsigned(bits: 8)), "[1, 2]", [0x16, 4, 1, 4, 2, 0x18], json: "[1,2]"),
    .init(.list(.string), "[]", [0x16, 0x18], json: "[]"),
    .init(
      .list(.string), "[a b, \"c,d\"]", [0x16, 0x0C, 3, 97, 32, 98, 0x0C, 3, 99, 44, 100, 0x18], "[\"a b\", \"c,d\"]"),
    .init(.list(.octets), "[00, ff]", [0x16, 0x10, 1, 0, 0x10, 1, 255, 0x18]),
    .init(
      request, "{level: 128, transitionTime: null}", [0x15, 0x24, 0, 128, 0x34, 1, 0x18],
      json: #"{"level":128,"transitionTime":null}"#),
    .init(
      request, #"{"TRANSITIONTIME": 10, "Level": 1, "options": "couple"}"#,
      [0x15, 0x24, 0, 1, 0x24, 1, 10, 0x24, 2, 2, 0x18], "{level: 1, transitionTime: 10, options: Couple}",
      json: #"{"level":1,"transitionTime":10,"options":2}"#),
    .init(request, "level=1, 1=2", [0x15, 0x24, 0, 1, 0x24, 1, 2, 0x18], "{level: 1, transitionTime: 2}"),
    .init(.structure([]), "", [0x15, 0x18], "{}", json: "{}"),
    .init(.any, "7", [0x04, 7], json: "7"), .init(.any, "-7", [0x00, 0xF9], json: "-7"),
    .init(.any, "{1: [true, null], 2: \"x\"}", [0x15, 0x36, 1, 0x09, 0x14, 0x18, 0x2C, 2, 1, 0x78, 0x18]),
  ]

  @Test(arguments: cases)
  func parsesText(_ test: Case) throws { #expect(try test.schema.parse(text: test.text) == test.bytes) }

  @Test(arguments: cases)
  func rendersText(_ test: Case) { #expect(test.schema.text(of: test.bytes) == test.printed ?? test.text) }

  @Test(arguments: cases.filter { $0.json != nil })
  func rendersJSON(_ test: Case) { #expect(test.schema.json(of: test.bytes) == test.json) }

  @Test(
    "parses values with explicit types",
    arguments: [
      ("i16:500", [0x01, 0xF4, 0x01]), ("u8:7", [0x04, 7]), ("str:7", [0x0C, 1, 0x37]), ("bool:true", [0x09]),
      ("hex:00ff", [0x10, 2, 0x00, 0xFF]), ("http://x", [0x0C, 8] + Array("http://x".utf8)),
      ("{0: i16:-5, 1: str:a b}", [0x15, 0x20, 0, 0xFB, 0x2C, 1, 3, 0x61, 0x20, 0x62, 0x18]),
      ("[u8:1, I8:1]", [0x16, 0x04, 1, 0x00, 1, 0x18]),
    ] as [(String, [UInt8])])
  func parsesTypedValues(_ text: String, bytes: [UInt8]) throws {
    #expect(try Schema.any.parse(text: text) == bytes)
  }

  /// Rendered text and JSON can be parsed again.
  @Test(arguments: cases)
  func parsesRenderedValues(_ test: Case) throws {
    #expect(try test.schema.parse(text: test.schema.text(of: test.bytes)) == test.bytes)
    if test.schema != .any { #expect(try test.schema.parse(text: test.schema.json(of: test.bytes)) == test.bytes) }
  }

  static let refused: [(Schema, String, ValueTextError)] = [
    (.boolean, "maybe", .mismatch(found: "maybe", expected: "true or false")),
    (.unsigned(bits: 8), "256", .outOfRange(found: "256", allowed: "0 to 255")),
    (.unsigned(bits: 8), "-1", .outOfRange(found: "-1", allowed: "0 to 255")),
    (
      .unsigned(bits: 64), "99999999999999999999",
      .outOfRange(found: "99999999999999999999", allowed: "0 to \(UInt64.max)")
    ),
    (.unsigned(bits: 8), "many", .mismatch(found: "many", expected: "a number")),
    (.signed(bits: 8), "128", .outOfRange(found: "128", allowed: "-128 to 127")),
    (color, "blue", .unknownName("blue", known: ["Red", "DarkGreen", "523"])),
    (flags, "couple|blue", .unknownName("blue", known: ["ExecuteIfOff", "Couple", "0"])),
    (flags, "true", .unknownName("true", known: ["ExecuteIfOff", "Couple", "0"])),
    (occupancy, "maybe", .unknownName("maybe", known: ["Occupied", "0"])),
    (movements, "lift=4", .outOfRange(found: "4", allowed: "0 to 3")),
    (movements, "tilt", .unknownName("tilt", known: ["All", "Lift", "Stalled", "0"])),
    (request, "{level: 1}", .missingField("transitionTime")),
    (request, "{lavel: 1}", .unknownField("lavel", known: ["level", "transitionTime", "options", "label"])),
    (request, "{level: 1, Level: 2}", .duplicateField("Level")),
    (
      .octets, "abc",
      .mismatch(found: "abc", expected: "octets in hexadecimal like 00ff10 (the number of digits is odd)")
    ),
    (.list(.boolean), "[true", .syntax(found: "the end", expected: "',' or ']'", offset: 5)),
    (.list(.boolean), "true", .mismatch(found: "true", expected: "a list like [1, 2]")),
    (.unsigned(bits: 8), "", .syntax(found: "the end", expected: "a value", offset: 0)),
    (.unsigned(bits: 8), "1]", .syntax(found: "']'", expected: "the end", offset: 1)),
    (.string, "\"open", .syntax(found: "the end", expected: "'\"'", offset: 5)),
    (.any, String(repeating: "[", count: 40), .tooDeep),
    (.any, "i16:40000", .outOfRange(found: "40000", allowed: "-32768 to 32767")),
    (.any, "u8:many", .mismatch(found: "many", expected: "a number")),
    (.unsigned(bits: 8), "u16:100", .mismatch(found: "u16:100", expected: "a value of type u8")),
    (.nullable(.signed(bits: 16)), "str:7", .mismatch(found: "str:7", expected: "a value of type i16")),
    (.unsigned(bits: 8), "u8:300", .outOfRange(found: "300", allowed: "0 to 255")),
  ]

  @Test(arguments: refused.indices)
  func reportsExpectedInput(_ index: Int) {
    let (schema, text, error) = Self.refused[index]
    #expect(throws: error) { try schema.parse(text: text) }
    #expect(!error.description.isEmpty)
  }

  @Test(
    "accepts the type in front of a value",
    arguments: [
      (.unsigned(bits: 8), "u8:100", "100"), (.nullable(.unsigned(bits: 8)), "u8:100", "100"),
      (.signed(bits: 16), "I16:-5", "-5"), (.boolean, "bool:true", "true"), (.double, "f64:1.5", "1.5"),
      (color, "u8:1", "1"), (.string, "str:a b", "a b"), (.string, "u8:100", "\"u8:100\""),
      (.octets, "hex:00ff", "00ff"),
      (.list(.unsigned(bits: 8)), "[u8:1, 2]", "[1, 2]"), (request, "level=u8:1, 1=u16:2", "level=1, 1=2"),
    ] as [(Schema, String, String)])
  func typedValues(_ schema: Schema, _ text: String, same: String) throws {
    #expect(try schema.parse(text: text) == schema.parse(text: same))
  }

  /// Devices may send values of other types.
  @Test func rendersValuesOfOtherTypes() {
    #expect(Schema.boolean.text(of: [0x04, 7]) == "7")
    #expect(Self.color.text(of: [0x0C, 1, 0x78]) == "\"x\"")
    #expect(Self.request.text(of: [0x15, 0x2C, 0, 1, 0x78, 0x24, 9, 5, 0x18]) == "{level: \"x\", 9: 5}")
    #expect(Self.request.json(of: [0x15, 0x2C, 0, 1, 0x78, 0x24, 9, 5, 0x18]) == #"{"level":"x","9":5}"#)
    #expect(Schema.list(.boolean).json(of: [0x17, 0x24, 1, 2, 0x18]) == #"{"1":2}"#)
    #expect(Schema.string.text(of: [0x0C, 9]) == "(not TLV: 0c09)")
    #expect(Schema.string.json(of: [0x0C, 9]) == "null")
    #expect(Schema.any.json(of: UInt64.max.tlv) == "\"18446744073709551615\"")
    #expect(Schema.double.json(of: Double.nan.tlv) == "null")
    #expect(Schema.string.json(of: "\u{1}\u{2028}\\".tlv) == "\"\\u0001\u{2028}\\\\\"")
  }

  /// Every text gives a value or an error.
  @Test func handlesRandomText() {
    let letters = Array("{}[]:=,\"\\u|-0x1a null\n😀")
    var state: UInt64 = 1
    for _ in 0..<5_000 {
      var text = ""
      for _ in 0..<(state >> 60) {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        text.append(letters[Int((state >> 33) % UInt64(letters.count))])
      }
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      for schema in [Schema.any, .string, Self.request, Self.flags, .octets, .nullable(.signed(bits: 64))] {
        if let bytes = try? schema.parse(text: text) {
          #expect((try? TLVElement(decoding: bytes)) != nil, "\(text)")
        }
      }
    }
  }
}

struct NormalizedNameTests {
  @Test func ignoresCaseBlanksAndPunctuation() {
    #expect(NormalizedName("On/Off Light") == NormalizedName("onOffLight"))
    #expect(NormalizedName("on-off_light") == NormalizedName("ONOFFLIGHT"))
    #expect(NormalizedName("Light 1") != NormalizedName("Light 2"))
  }

  @Test(arguments: [
    ("Level", "level"), ("TransitionTime", "transitionTime"), ("NOCs", "nocs"), ("NOC", "noc"),
    ("CSRNonce", "csrNonce"),
    ("UniqueID", "uniqueID"), ("ACL", "acl"), ("IPv4Addresses", "ipv4Addresses"), ("EpochKey0", "epochKey0"),
    ("VIDVerificationStatement", "vidVerificationStatement"), ("ID", "id"), ("WiFiBand", "wiFiBand"),
    ("already", "already"),
    ("", ""),
  ])
  func convertsToCamelCase(_ name: String, _ expected: String) { #expect(NormalizedName.camelCase(name) == expected) }
}
