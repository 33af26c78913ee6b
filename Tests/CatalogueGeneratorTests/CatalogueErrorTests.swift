import ClusterLanguage
import Testing

@testable import CatalogueGenerator

@Suite("Errors of catalogue files") struct CatalogueErrorTests {
  private static let head = """
    cluster 0xFFF1FC00 Spinner "Spinner" revision 1 § Example 1
    feature 0 FST Fast

    """

  struct Example: Sendable, CustomTestStringConvertible {
    var line: String
    var message: String
    var testDescription: String { line }
  }

  static let examples: [Example] = [
    .init(line: "atribute 0 Speed uint8", message: "“atribute” is not a declaration"),
    .init(line: "attribute", message: "the line ends; expected the id of the attribute"),
    .init(line: "attribute 0x0000", message: "the line ends; expected the name of the attribute"),
    .init(line: "attribute zero Speed uint8", message: "“zero” is not a number; expected the id of the attribute"),
    .init(line: "attribute 0 Spe-ed uint8", message: "“Spe-ed” is not a name"),
    .init(line: "attribute 0 Speed uint9", message: "uint9: no such type; expected a type of this cluster"),
    .init(
      line: "attribute 0 Speed uint8 SLOW",
      message: "conformance “SLOW”: the cluster has no SLOW; expected a feature code such as FST"),
    .init(line: "attribute 0 Speed uint8 FST&", message: "conformance “FST&”: error at offset 4; expected the name"),
    .init(line: "attribute 0 Speed uint8 [FST", message: "conformance “[FST”: error at offset 4; expected ]"),
    .init(line: "attribute 0 Speed uint8 [FST)", message: "conformance “[FST)”: error at offset 4; expected ]"),
    .init(
      line: "attribute 0 Speed uint8 FST||O", message: "error at offset 4; expected the name of a feature or element"),
    .init(line: "attribute 0 Speed uint8 FST%2", message: "error at offset 3; expected an operator, a comma"),
    .init(line: "attribute 0 Speed uint8 FST.a", message: "error at offset 3; expected an operator, a comma"),
    .init(line: "attribute 0 Speed uint8 ([FST])", message: "error at offset 1; expected the name of a feature"),
    .init(line: "attribute 0 Speed uint8 FST&2", message: "error at offset 4; expected the name of a feature"),
    .init(line: "attribute 0 Speed uint8 M&FST", message: "error at offset 1; expected a comma or the end"),
    .init(line: "attribute 0 Speed uint8 FST|O", message: "error at offset 4; expected the name of a feature"),
    .init(line: "event 0 Stopped info O.1", message: "error at offset 2; expected the letter of a choice"),
    .init(line: "feature 1 SLW Slow [!FAST]", message: "conformance “[!FAST]”: the cluster has no FAST"),
    .init(line: "attribute 0 Speed uint8 quick", message: "“quick” is unknown here; expected a constraint, nullable"),
    .init(line: "attribute 0 Speed uint8 write everybody", message: "“everybody” is not a privilege; expected view"),
    .init(line: "attribute 0 Speed uint8 5 to 2", message: "5 to 2: empty; expected a range"),
    .init(line: "attribute 0 Speed bool max 2", message: "bool: has no range"),
    .init(line: "attribute 0 Speed list[uint8] 2 to 1", message: "2 to 1: empty; expected a range"),
    .init(line: "attribute 0 Speed uint8 max 300", message: "0 to 300: out of range; expected limits from 0 to 255"),
    .init(line: "attribute 0 Speed int8 min -129", message: "-129 to 127: out of range; expected limits from -128"),
    .init(line: "attribute 0 Speed string min 2", message: "a length without a maximum is not supported"),
    .init(line: "attribute 0 Speed uint8 = fast", message: "“fast” is not a uint8; expected a value of this type"),
    .init(line: "attribute 0 Speed uint8 = null", message: "“null” is not a uint8; expected a value of this type"),
    .init(line: "command 0 Spin -> SpinResponse", message: "SpinResponse: not declared; expected a line response"),
    .init(line: "command 0 Spin\n  0 Speed uint8 maybe", message: "“maybe” is unknown here; expected O, nullable"),
    .init(line: "command 0 Spin\n  1 A uint8\n  1 B uint8", message: "field 1 after 1; expected fields in the order"),
    .init(line: "command 0 Spin\n  254 Fabric uint8", message: "field 254 is the fabric of an entry"),
    .init(line: "event 0 Stopped urgent", message: "“urgent” is not a priority; expected debug, info or critical"),
    .init(line: "enum8 Mode\n  256 Off", message: "Mode 256: out of range; expected a number that fits enum8"),
    .init(line: "enum8 Mode\n  1 2Fast", message: "2Fast: the name begins with a digit; expected “as”"),
    .init(line: "map8 Mode\n  8 Off", message: "Mode 8: out of range; expected a number that fits map8"),
    .init(line: "attribute 0 Speed uint8:knots", message: "knots: no such unit; expected level, levelStep, mireds"),
    .init(
      line: "attribute 0 Time uint8:seconds\ncommand 0 Spin\n  0 Time uint16:milliseconds",
      message: "Time: has the unit seconds elsewhere in Spinner; expected one unit of a name"),
    .init(
      line: "response 1 SpinResponse fields Spin\ncommand 0 Spin\n  0 Speed uint8",
      message: "Spin: not declared above; expected a command, response, event or struct with fields"),
    .init(
      line: "struct Spin\n  0 Speed uint8\nstruct Turn fields Spin\n  0 Count uint8",
      message: "field 0 after 0; expected fields in the order"),
    .init(line: "enum8 Mode\n  0 Off\nenum8 Mode\n  1 On", message: "Mode: two types have this name"),
    .init(line: "feature 1 SLW Slow\n  0 Speed", message: "the line is indented, but the line above has no fields"),
  ]

  @Test("names the line, the error and what was expected", arguments: examples) func reports(_ example: Example) {
    let error = #expect(throws: CatalogueError.self) {
      let catalogue = try CatalogueGenerator.parse([("Clusters/Spinner.cluster", Self.head + example.line)])
      _ = try CatalogueGenerator.outputs(of: .clusters, catalogue)
    }
    let lines = example.line.split(separator: "\n").count
    #expect(error?.description.contains(example.message) == true, "\(error?.description ?? "")")
    #expect(error?.file == "Clusters/Spinner.cluster" && (3..<3 + lines).contains(error?.line ?? 0))
  }

  @Test("rejects a cluster in a file of another name") func rejectsFileName() {
    #expect(throws: CatalogueError.self) {
      try CatalogueGenerator.parse([("Clusters/Spin.cluster", Self.head)])
    }
  }

  @Test("rejects device types with unknown clusters") func rejectsUnknownClusters() {
    let text = "device 0xFFF10001 \"Spinner\" revision 1\n  server Spinner FST\n  server Spinner, Winder"
    let error = #expect(throws: CatalogueError.self) {
      try CatalogueGenerator.parse([("Clusters/Spinner.cluster", Self.head), ("Types.devices", text)])
    }
    #expect(
      error?.description
        == "Types.devices:3: error: Winder: no such cluster; expected a declared cluster, or a number such as 0x0029")
    let surplus = #expect(throws: CatalogueError.self) {
      try CatalogueGenerator.parse([
        ("Clusters/Spinner.cluster", Self.head),
        ("Types.devices", "device 0xFFF10001 \"Spinner\" revision 1\n  server Spinner FST SLW"),
      ])
    }
    #expect(
      surplus?.description
        == "Types.devices:2: error: Spinner has no SLW; expected feature codes and names of elements")
    for (line, message) in [
      ("server Spinner FST,", "the line ends after a comma; expected a cluster"),
      ("server , Spinner", ": no such cluster"),
      ("client Spinner FST", "FST: an element of a client; expected a comma"),
      ("server 0x0029 FST", "0x0029 has no FST; expected feature codes"),
    ] {
      let error = #expect(throws: CatalogueError.self) {
        try CatalogueGenerator.parse([
          ("Clusters/Spinner.cluster", Self.head), ("T.devices", "device 0xFFF10001 \"Spinner\" revision 1\n  \(line)"),
        ])
      }
      #expect(error?.line == 2 && error?.message.hasPrefix(message) == true, "\(line): \(error?.message ?? "")")
    }
  }
}
