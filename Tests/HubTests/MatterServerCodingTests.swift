import HomeControl
import HomeModel
import MatterClusters
import MatterController
import MatterModel
import MatterProtocol
import MatterTLV
import Testing
import WebClient

@testable import Hub

/// The JSON of the Matter server's wire.
struct MatterServerCodingTests {
  // MARK: JSON

  private func parse(_ text: String) throws -> JSONValue { try JSONParser.parse(Array(text.utf8)) }

  @Test(arguments: [
    "18446744073709551615", "9223372036854775808", "9223372036854775807", "-9223372036854775808", "9007199254740993",
    "0", "-1", "null", "true", "[]", "{}", #"[1,"a",{"b":[null,false]}]"#, #""\"\\\u0001ü😀""#,
    #""\t\n\r\u001b""#, "\"\u{7F}\"",
  ])
  func keepsValues(text: String) throws { #expect(try parse(text).description == text) }

  @Test func readsNumbersOutsideOf64BitsAsDouble() throws {
    #expect(try parse("18446744073709551616") == .number(18_446_744_073_709_551_616))
    #expect(try parse("-9223372036854775809") == .number(-0x1p63))
    #expect(try parse("1.0") == .number(1))
    #expect(try parse("-2.5e-1") == .number(-0.25))
  }

  @Test func readsWholeNumbersAsIntegers() throws {
    for (text, integer) in [("12.0", 12), ("1.2e1", 12), ("-0.0", 0), ("255.0", 255)] as [(String, UInt8)] {
      #expect(try parse(text).integer() == integer)
    }
    for text in ["12.5", "256.0", "-1.0", "1e300"] { #expect(try parse(text).integer(as: UInt8.self) == nil) }
    let level = try parse(#"{"level":12.0,"transitionTime":null,"optionsMask":0,"optionsOverride":0}"#)
    let move = try #require(LevelControl.command(spelled: "MoveToLevel")).request
    #expect(try ValueDecoder.tlv(level, move) == ValueDecoder.tlv(parse(level.description), move))
  }

  @Test func readsIndentedTextAndEscapes() throws {
    #expect(try parse(" {\n  \"a\" : [ 1 , 2 ]\r\n}\t") == ["a": [1, 2]])
    #expect(try parse(#""\u00fc\ud83d\ude00\/\b\f\n\r\t""#) == .string("ü😀/\u{8}\u{C}\n\r\t"))
  }

  @Test func lastMemberOfANameCounts() throws { #expect(try parse(#"{"a":1,"a":2}"#)["a"] == 2) }

  @Test(arguments: [
    "", " ", "nul", "tru e", "01", "-", "1.", ".5", "1e", "+1", "[1,]", "[1 2]", "{\"a\"}", "{a:1}", "{\"a\":1,}",
    "\"a", "\"\\x\"", "\"\\u12\"", "\"\\u+123\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\n\"",
    "1 2", "1e999", "]", "{\"a\":}",
  ])
  func refusesMalformedText(text: String) { #expect(throws: JSONParser.Failure.self) { try parse(text) } }

  @Test func refusesInvalidUTF8() {
    #expect(throws: JSONParser.Failure.self) { try JSONParser.parse([0x22, 0xFF, 0x22]) }
  }

  @Test func boundsTheDepth() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    _ = try parse(nested(JSONParser.maximumDepth))
    #expect(throws: JSONParser.Failure.self) { try parse(nested(JSONParser.maximumDepth + 1)) }
    #expect(throws: JSONParser.Failure.self) { try parse(String(repeating: "{\"a\":", count: 100_000)) }
  }

  @Test func writesNoNumberForInfinity() { #expect(JSONValue.number(.infinity).description == "null") }

  // MARK: Paths and names

  @Test func parsesAttributePaths() throws {
    #expect(try AttributeKey.path("1/6/0") == AttributePath(endpoint: 1, cluster: 6, attribute: 0))
    #expect(try AttributeKey.path("*/*/*") == AttributePath())
    #expect(try AttributeKey.path("65535/4294967295/4294967295") == AttributePath())
    #expect(
      try AttributeKey.path("1/319486977/319422466")
        == AttributePath(endpoint: 1, cluster: 0x130A_FC01, attribute: 0x130A_0002))
    for text in ["", "1/6", "1/6/0/0", "65536/6/0", "1/4294967296/0", "1/6x/0"] {
      #expect(throws: MatterServerError.self) { try AttributeKey.path(text) }
    }
  }

  @Test(arguments: [
    ("TransitionTime", "transitionTime"), ("PINCode", "PINCode"), ("SSID", "ssid"), ("UserUniqueID", "userUniqueID"),
    ("GroupId", "groupID"), ("LiftPercent100thsValue", "liftPercent100thsValue"), ("ID", "id"), ("", ""),
  ])
  func labelsFields(name: String, label: String) { #expect(FieldNames.label(name) == label) }

  // MARK: TLV to JSON

  private func encode(_ value: TLVElement.Value, _ schema: Schema, _ keys: ValueEncoder.Keys = .tags) throws
    -> JSONValue
  {
    try ValueEncoder(keys: keys).value(TLVElement(value).encoded, schema)
  }

  private static let structure = Schema.structure([
    .init(id: 0, name: "Level", schema: .unsigned(bits: 8), isOptional: false),
    .init(id: 1, name: "PINCode", schema: .nullable(.octets), isOptional: true),
    .init(id: 2, name: "Label", schema: .string, isOptional: true),
    .init(id: 254, name: "FabricIndex", schema: .unsigned(bits: 8), isOptional: true),
  ])

  @Test func encodesIntegersExactly() throws {
    #expect(try encode(.unsigned(.max), .unsigned(bits: 64)).description == "18446744073709551615")
    #expect(try encode(.signed(.min), .signed(bits: 64)).description == "-9223372036854775808")
    #expect(try encode(.unsigned(3), .enumeration(bits: 8, names: [:])) == 3)
  }

  @Test func encodesNullEmptyAndOctets() throws {
    #expect(try encode(.null, .nullable(.boolean)) == .null)
    #expect(try encode(.array([]), .list(.string)) == [])
    #expect(try encode(.octets([]), .octets) == "")
    #expect(try encode(.octets([0, 0xFF]), .octets) == "AP8=")
    #expect(try encode(.float(.nan), .float) == .null)
  }

  @Test func encodesStructuresByTagOrName() throws {
    let members: [TLVElement] = [
      TLVElement(.unsigned(5), tag: .context(0)), TLVElement(.octets([1]), tag: .context(1)),
      TLVElement(.boolean(true), tag: .context(9)), TLVElement(.unsigned(2), tag: .context(254)),
    ]
    #expect(try encode(.structure(members), Self.structure) == ["0": 5, "1": "AQ==", "9": true, "254": 2])
    #expect(
      try encode(.structure(members), Self.structure, .names)
        == ["level": 5, "PINCode": "AQ==", "9": true, "fabricIndex": 2])
  }

  @Test func refusesValuesOfAnotherType() {
    #expect(throws: TLVError.self) { try encode(.unsigned(1), .boolean) }
    #expect(throws: TLVError.self) { try encode(.string("1"), .unsigned(bits: 8)) }
    #expect(throws: TLVError.self) { try encode(.unsigned(1), .list(.unsigned(bits: 8))) }
    #expect(throws: TLVError.self) { try encode(.array([]), Self.structure) }
    #expect(ValueEncoder.attribute(.init(1, 6, 0), [0x04, 1]) == nil)
    #expect(ValueEncoder.attribute(.init(1, 6, 0), [0x09]) == true)
    #expect(ValueEncoder.attribute(.init(1, 6, 0), []) == nil)
  }

  @Test func encodesUndeclaredAttributesByTheirTLVTypes() {
    let value = TLVElement(.array([TLVElement(.structure([TLVElement(.octets([1]), tag: .context(3))]))])).encoded
    #expect(ValueEncoder.attribute(.init(1, 0xFFF1_FC00, 0), value) == [["3": "AQ=="]])
    #expect(ValueEncoder.attribute(.init(1, 6, 0xFFF1_0000), TLVElement(.signed(-1)).encoded) == -1)
  }

  // MARK: JSON to TLV

  private func decode(_ value: JSONValue, _ schema: Schema) throws -> TLVElement.Value {
    try TLVElement(decoding: try ValueDecoder.tlv(value, schema)).value
  }

  @Test func decodesBounds() throws {
    #expect(try decode(.int(UInt64.max), .unsigned(bits: 64)) == .unsigned(.max))
    #expect(try decode(.int(Int64.min), .signed(bits: 64)) == .signed(.min))
    #expect(try decode(-128, .signed(bits: 8)) == .signed(-128))
    #expect(try decode(3, .double) == .double(3))
    let mismatches: [(JSONValue, Schema)] = [
      (256, .unsigned(bits: 8)), (-1, .unsigned(bits: 64)), (128, .signed(bits: 8)), (-129, .signed(bits: 8)),
      (.int(UInt64.max), .signed(bits: 64)), (.number(1.5), .unsigned(bits: 8)), ("1", .unsigned(bits: 8)),
      (1, .boolean), (.null, .boolean), (true, .double), ("!", .octets), (1, .string), (.array([]), Self.structure),
      (["a": 1], .list(.string)), ([1], .list(.string)),
    ]
    for (value, schema) in mismatches {
      #expect(throws: ValueDecoder.Failure.self) { try decode(value, schema) }
    }
  }

  @Test func decodesStructuresByAnySpelling() throws {
    let wanted = TLVElement.Value.structure([
      TLVElement(.unsigned(5), tag: .context(0)), TLVElement(.octets([1]), tag: .context(1)),
    ])
    #expect(try decode(["level": 5, "PINCode": "AQ=="], Self.structure) == wanted)
    #expect(try decode(["Level": 5, "pin_code": "AQ==", "label": .null, "ignored": 1], Self.structure) == wanted)
    #expect(try decode(["0": 5, "1": "AQ==", "254": 0], Self.structure) == wanted)
    #expect(
      try decode(["0": 5, "7": [1, -1, "x"]], Self.structure)
        == .structure([
          TLVElement(.unsigned(5), tag: .context(0)),
          TLVElement(
            .array([TLVElement(.unsigned(1)), TLVElement(.signed(-1)), TLVElement(.string("x"))]), tag: .context(7)),
        ]))
  }

  @Test func distinguishesNullFromAbsent() throws {
    #expect(
      try decode(["0": 5, "1": .null], Self.structure)
        == .structure([TLVElement(.unsigned(5), tag: .context(0)), TLVElement(.null, tag: .context(1))]))
    #expect {
      try decode(["1": .null], Self.structure)
    } throws: {
      ($0 as? ValueDecoder.Failure)?.text == "level: missing"
    }
  }

  // MARK: Errors

  @Test(
    arguments: [
      (.unknownNode(5), 5), (.unreachable, 4), (.notFound, 4), (.handshake(.timedOut), 4), (.timedOut, 3),
      (.connectionLost, 3), (.unacknowledged, 3), (.noResponse, 3), (.invalidRequest("x"), 8), (.busy, 0),
      (.status(Status(.unsupportedAccess)), 0),
    ] as [(ControllerError, Int)])
  func codesErrorsOfDevices(error: ControllerError, code: Int) {
    #expect(MatterServerError(HomeError(error)).code.rawValue == code)
  }

  @Test func codesOtherErrors() {
    #expect(MatterServerError(HomeError(.badArguments, "x")).code == .invalidArguments)
    #expect(MatterServerError(HubServer.ending).code == .unknown)
  }

  // MARK: Node objects

  @Test func writesTimesLikePython() {
    #expect(NodeObject.time(1_785_578_405_000_012) == "2026-08-01T10:00:05.000012")
    #expect(NodeObject.time(-1) == "1969-12-31T23:59:59.999999")
  }

  @Test func importsTestNodes() throws {
    var nodes = TestNodes()
    let ids = try nodes.add(
      dump: #"{"data":{"server":{"nodes":{"1":{"node_id":1,"attributes":{"0/40/1":"A","1/6/0":true}}}}}}"#)
    #expect(ids == [0xFFFF_FFFE_0000_0000])
    let node = try #require(nodes.all[ids[0]])
    #expect(node.object(.of(.owner))["node_id"] == .int(ids[0]))
    #expect(node.read([AttributePath(endpoint: 0)], .of(.owner)) == [.init("0/40/1", "A")])
    for dump in ["", "{}", #"{"data":{}}"#, #"{"data":{"nodes":3}}"#, #"{"data":{"node":{}}}"#] {
      #expect(throws: MatterServerError.self) { try nodes.add(dump: dump) }
    }
  }
}
