import HomeControl
import HomeModel
import Testing
import WebClient

@testable import Hub

/// The nodes of imported dumps. A client that reads a value of a wrong type ends its connection.
@Suite("Test nodes") struct TestNodeTests {
  private func add(_ node: String) throws -> JSONValue {
    var nodes = TestNodes()
    let ids = try nodes.add(dump: #"{"data":{"node":\#(node)}}"#)
    let id = try #require(ids.first)
    return try #require(nodes.all[id]).object(.of(.owner))
  }

  @Test(
    "replaces members of a wrong type by their defaults",
    arguments: [
      ("available", #""yes""#, JSONValue.bool(true)), ("available", "null", true), ("available", "false", false),
      ("is_bridge", "1", false), ("is_bridge", "true", true), ("interview_version", #""6""#, 6),
      ("interview_version", "5", 5), ("date_commissioned", #""**REDACTED**""#, "1970-01-01T00:00:00.000000"),
      ("last_interview", "0", "1970-01-01T00:00:00.000000"),
    ])
  func checksMembers(name: String, value: String, read: JSONValue) throws {
    #expect(try add(#"{"attributes":{"0/40/1":"x"},"\#(name)":\#(value)}"#)[name] == read)
  }

  @Test(
    "keeps times of published servers only",
    arguments: [
      ("2026-11-23T22:25:49.700887", true), ("2026-11-23T22:25:49.123", true), ("2024-02-29T00:00:00", true),
      ("2026-02-29T00:00:00", false), ("2026-13-01T00:00:00", false), ("2026-11-23T24:00:00", false),
      ("2026-11-23T22:25:49.", false), ("2026-11-23", false), ("2026-11-23T22:25:49x", false),
      ("0000-11-23T22:25:49", false), ("２０２６-11-23T22:25:49", false), ("", false),
    ])
  func checksTimes(text: String, isKept: Bool) throws {
    let kept = try add(#"{"attributes":{},"date_commissioned":"\#(text)"}"#)["date_commissioned"]
    #expect(kept == .string(isKept ? text : "1970-01-01T00:00:00.000000"))
  }

  @Test(
    "drops attribute values that don't fit the declared schema",
    arguments: [
      (#""0/40/1":"x""#, true), (#""0/40/1":null"#, true), (#""0/40/1":5"#, false), (#""0/40/2":65521"#, true),
      (#""0/40/2":"65521x""#, false), (#""1/6/0":true"#, true), (#""1/6/0":0"#, false), (#""1/8/0":null"#, true),
      (#""1/8/0":1.5"#, false), (#""1/29/0":[{"0":22,"1":1}]"#, true), (#""1/29/0":[{"0":"x","1":1}]"#, false),
      (#""1/29/0":{"0":22,"1":1}"#, false), (#""1/29/3":[1,[]]"#, false), (#""0/51/0":[{"4":"EjRW"}]"#, true),
      (#""0/51/0":[{"4":"**REDACTED**"}]"#, false), (#""0/4294048769/1":{"x":[]}"#, true),
    ])
  func checksAttributes(attribute: String, isKept: Bool) throws {
    let attributes = try add(#"{"attributes":{\#(attribute)}}"#)["attributes"]
    #expect(attributes == (isKept ? try JSONParser.parse(Array("{\(attribute)}".utf8)) : [:]))
  }
}
