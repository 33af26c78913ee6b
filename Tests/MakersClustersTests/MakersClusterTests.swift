import ClusterLanguage
import MatterClusters
import MatterModel
import MatterTLV
import Testing

@testable import MakersClusters

@Suite("Clusters of manufacturers") struct MakersClusterTests {
  private static let head = """
    cluster 0xFFF1FC30 Winder "Winder" revision 2 diagnostics
    feature 0 FST Fast
    attribute 0x0000 Speed  int16  -100 to 100 nonvolatile write manage = -5
    attribute 0x0001 Mode   WinderMode  FST nullable = null
    attribute 0x0002 Label  string  [FST] max 8 read administer = "up"
    attribute 0x0003 Log    list[WinderEntry]  max 3 = empty
    command 0x00 Wind -> WindResponse Speed&FST invoke manage timed
      0 Turns uint8
      1 Mode WinderMode O
      set Speed = field.Turns
      answer Turns = field.Turns
    response 0x01 WindResponse
      0 Turns uint8
    event 0x00 Stopped critical FST
      0 Speed int16 nullable
    enum8 WinderMode
      0 Left
      1 Right
    struct WinderEntry
      0 Turns uint8
      1 Modes WinderModes
    map16 WinderModes
      3 Slow

    """

  @Test func declaresAllElements() throws {
    let cluster = ClusterCatalogue.add(try MakersCluster(Self.head, file: "winder.cluster"))
    #expect(cluster.id == 0xFFF1_FC30 && cluster.name == "Winder" && cluster.revision == 2)
    #expect(cluster.quality == .diagnostics && cluster.features.map(\.code) == ["FST"])
    // The macros can't expand calls of static members of an existential type.
    let named = (attribute: cluster.attribute(named: "speed"), command: cluster.command(named: "wind"))
    let speed = try #require(named.attribute)
    #expect(speed.schema == .signed(bits: 16) && speed.constraint == .range(-100...100) && speed.write == .manage)
    #expect(speed.initial == Int16(-5).tlv && speed.quality == .nonVolatile)
    #expect(speed.isWellFormed(Int16(3).tlv) && !speed.isWellFormed("3".tlv))
    let mode = Schema.enumeration(bits: 8, names: [0: "Left", 1: "Right"])
    let (modes, label, log) = (cluster.attribute(0x0001), cluster.attribute(0x0002), cluster.attribute(0x0003))
    #expect(modes?.schema == .nullable(mode) && label?.read == .administer)
    let entry = Schema.structure([
      .init(id: 0, name: "Turns", schema: .unsigned(bits: 8), isOptional: false),
      .init(id: 1, name: "Modes", schema: .bitmap(bits: 16, names: [3: "Slow"]), isOptional: false),
    ])
    #expect(log?.schema == .list(entry))
    let wind = try #require(named.command)
    #expect(wind.privilege == .manage && wind.quality == .timed && wind.response?.id == 0x01)
    #expect(wind.conformance.text == "Speed&FST")
    let stopped = cluster.event(named: "stopped")
    #expect(stopped?.priority == .critical)
  }

  @Test func isFoundByNameAndNumber() throws {
    let text = Self.head.replacing("Winder", with: "Unwinder").replacing("FC30", with: "FC31")
    #expect(ClusterCatalogue.cluster(named: "unwinder") == nil)
    ClusterCatalogue.add(try MakersCluster(text, file: "a.cluster"))
    #expect(ClusterCatalogue.cluster(named: "un-winder")?.id == 0xFFF1_FC31)
    #expect(ClusterCatalogue.cluster(named: "0xFFF1FC31")?.name == "Unwinder")
    #expect(ClusterCatalogue.all.contains { $0.name == "Unwinder" })
    // The same declaration has the same type, another one replaces it.
    let first = try #require(ClusterCatalogue.cluster(0xFFF1_FC31))
    #expect(ClusterCatalogue.add(try MakersCluster(text, file: "b.cluster")) == first)
    let changed = try MakersCluster(text.replacing("revision 2", with: "revision 3"), file: "a.cluster")
    #expect(ClusterCatalogue.add(changed).revision == 3 && first.revision == 2)
    #expect(ClusterCatalogue.cluster(0xFFF1_FC31)?.revision == 3)
  }

  @Test func addsManyClusters() throws {
    let types = try (1...1000).map { revision in
      let text = "cluster 0xFFF1FC32 Many \"Many\" revision \(revision)"
      return ClusterCatalogue.add(try MakersCluster(text, file: "many.cluster"))
    }
    #expect(types.map { Int($0.revision) } == Array(1...1000))
    #expect(Set(types.map { ObjectIdentifier($0) }).count == 1000)
  }

  struct Example: Sendable, CustomTestStringConvertible {
    var text: String
    var message: String
    var testDescription: String { text }

    init(_ text: String, _ message: String) { (self.text, self.message) = (text, message) }
  }

  /// Lines that are appended, with the error of the last one.
  static let examples: [Example] =
    [
      .init("atribute 4 A uint8", "“atribute” is not a declaration; expected feature, attribute"),
      .init("attribute 4 A uint9", "uint9: no such type; expected one of WindRequest"),
      .init("attribute 4 A uint8 = 256", "“256” is out of range; expected uint8"),
      .init("attribute 4 A uint8 max 5 = 6", "A: the initial value is 6; expected 0 to 5"),
      .init("attribute 4 A uint8 SLW", "conformance “SLW”: the cluster has no SLW"),
      .init("attribute 0 A uint8", "A: its number or name is used twice; expected unique ones"),
      .init("attribute 4 speed uint8", "speed: its number or name is used twice"),
      .init("attribute 0x5000 A uint8", "the id 20480: out of range; expected 0 to 20479"),
      .init("feature 32 BIG Big", "the bit 32: out of range; expected 0 to 31"),
      .init("command 4 A -> B", "B: not declared; expected a line response"),
      .init(
        (0...20).map { "struct S\($0)\n  0 A S\($0 + 1)\n  1 B S\($0 + 1)\n" }.joined()
          + "struct S21\n  0 A bool\nattribute 5 Deep S0", "S0: too large; expected at most 1000 fields"),
      .init("attribute 5 Title string max 16 = \"Fan", "“\"Fan” is not a string; expected"),
      .init("command 4 A\n  frobnicate Speed", "“frobnicate” is not an effect; expected set, toggle, add, transition"),
      .init("command 4 A\n  set Sped = 3", "Sped: no such attribute; expected Label, Log, Mode, Speed"),
      .init("command 4 A\n  set Speed 3", "“3” is unknown here; expected ="),
      .init("command 4 A\n  set Speed = field.Turns", "field.Turns: A has no such field; expected a field above"),
      .init("command 4 A\n  set Speed = 70000", "“70000” is out of range; expected int16"),
      .init("command 4 A\n  set Speed = attribute.Label", "attribute.Label: is a string; expected a int16"),
      .init("command 4 A\n  toggle Speed", "Speed: is a int16; expected an attribute of the type bool"),
      .init("command 4 A\n  add 1 to Label", "Label: is a string; expected an attribute with an integer"),
      .init("command 4 A\n  transition Speed to 5 over 3", "“3” is not a time; expected a number and its unit"),
      .init(
        "command 4 A\n  transition Speed to 5 over attribute.Speed h",
        "“h” is not a unit; expected ms, tenths, s or min"),
      .init("command 4 A\n  emit Started", "Started: no such event; expected Stopped"),
      .init("command 4 A\n  emit Stopped", "Speed: has no value; expected Speed = and a value"),
      .init("command 4 A\n  emit Stopped Sped = 1", "Sped: no such field; expected Speed"),
      .init("command 4 A\n  answer Turns = 1", "answer: A has no response; expected ->"),
      .init("command 4 A -> WindResponse", "A: 0 lines answer; expected one"),
    ]

  /// Declarations whose values or names contradict each other.
  static let boundaries: [Example] = [
    .init("struct WinderEntry\n  0 A bool", "WinderEntry: two types have this name"),
    .init("response 0x02 WindResponse\n  0 A bool", "WindResponse: two types have this name"),
    .init("struct S\n  0 A bool\n  1 a bool", "a: two fields have this name"),
    .init("enum8 Kind\n  0 A\n  0 B", "B: its number or name is used twice"),
    .init("enum8 Kind\n  0 A\n  1 A", "A: its number or name is used twice"),
    .init("map8 Bits\n  0-3 A\n  2 B", "B: its number or name is used twice"),
    .init("map8 Bits\n  3-1 A", "Bits 3-1: empty; expected the lower bit first"),
    .init("attribute 4 A uint8 5 to 4", "5 to 4: empty; expected a range"),
    .init("attribute 4 A list[uint8] max -1", "max -1: no list is so short; expected 0 or more"),
    .init("attribute 4 A list[uint8] min 1", "A: the list is empty at first; expected no minimum"),
    .init("attribute 4 A uint8 max 300", "0 to 300: out of range; expected limits from 0 to 255"),
    .init("attribute 4 A uint8 min -5", "-5 to 255: out of range; expected limits from 0 to 255"),
    .init("attribute 4 featureMap uint8", "featureMap: the name of a global attribute; expected another name"),
    .init("attribute 4 AttributeList list[uint8]", "AttributeList: the name of a global attribute"),
    .init("response 0x01 Other\n  0 A bool", "Other: WindResponse has the id 1 already; expected another id"),
    .init(
      "attribute 4 A uint8 min 5",
      "A: has no initial value, and may not be zero or empty; expected = and a value from 5 to 255"),
    .init(
      "attribute 4 A int8 -9 to -3", "A: has no initial value, and may not be zero or empty; expected = and a value"),
    .init(
      "attribute 4 A string 3 to 5",
      "A: has no initial value, and may not be zero or empty; expected = and a value of 3"),
    .init(
      "enum8 Kind\n  1 X\n  2 Y\nattribute 4 A Kind",
      "A: has no initial value, and may not be zero or empty; expected = and one of X, Y"),
    .init("attribute 4 A uint8 atomic write operate", "A: atomic writes are not supported"),
    .init("attribute 4 A list[uint8] fabric-scoped write operate", "A: not a list of entries with a fabric"),
    .init("attribute 4 A single = 1e60", "“1e60” is out of range; expected single"),
    .init("attribute 4 A single = nan", "“nan” is not a single"),
    .init("attribute 4 A uint64 = 18446744073709551616", "“18446744073709551616” is not a uint64"),
    .init("attribute 4 A uint8 nullable = 255", "A: the initial value has the value that is reserved for null"),
    .init("command 4 A\n  add 9223372036854775808 to Speed", "“9223372036854775808” is out of range; expected int64"),
    .init("command 4 A\n  transition Speed to 5 over 99999999999s", "“99999999999” is out of range; expected uint32"),
  ]

  @Test func acceptsBoundaries() throws {
    let text =
      Self.head.replacing("Winder", with: "Edge").replacing("FC30", with: "FC33") + """
        attribute 4 Ratio single = -1.5
        attribute 5 Whole uint64 = 18446744073709551615
        attribute 6 Least int64 = -9223372036854775808
        attribute 7 None list[uint8] max 0
        attribute 8 Level uint8 min 5 nullable
        """
    let cluster = ClusterCatalogue.add(try MakersCluster(text, file: "edge.cluster"))
    // The macros can't expand calls of static members of an existential type.
    let (ratio, whole, least) = (cluster.attribute(4), cluster.attribute(5), cluster.attribute(6))
    let (none, level) = (cluster.attribute(7), cluster.attribute(8))
    #expect(ratio?.initial == Float(-1.5).tlv)
    #expect(whole?.initial == UInt64.max.tlv && least?.initial == Int64.min.tlv)
    #expect(none?.constraint == .entries(0...0) && level?.constraint == .range(5...255))
  }

  @Test("names file, line, the error and what was expected", arguments: examples + boundaries) func reports(
    _ example: Example
  ) {
    let error = #expect(throws: CatalogueError.self) {
      try MakersCluster(Self.head + example.text, file: "winder.cluster", offset: 10)
    }
    let count = Self.head.split(separator: "\n", omittingEmptySubsequences: false).count
    let last = 9 + count + example.text.split(separator: "\n").count
    #expect(error?.message.hasPrefix(example.message) == true, "\(error?.description ?? "")")
    // An error of all effects of a command is at the command.
    #expect(error?.file == "winder.cluster" && (last - 1...last).contains(error?.line ?? 0))
  }

  @Test(arguments: [
    ("", "no cluster; expected a line with cluster, an id, a name"),
    ("cluster 0x0006 Winder \"Winder\" revision 1", "0x00000006: not an id of a manufacturer's cluster; expected"),
    ("cluster 0xFFF1FBFF Winder \"Winder\" revision 1", "0xFFF1FBFF: not an id of a manufacturer's cluster"),
    ("cluster 0xFFF1FC00 OnOff \"On/Off\" revision 1", "OnOff: the name of cluster 0x00000006; expected another"),
    ("cluster 0xFFF1FC00 Winder \"Winder\" revision 0", "the revision 0: out of range; expected 1 to 65535"),
    ("cluster 0xFFF1FC00 Winder revision 1", "revision: not in quotes"),
    (
      "cluster 0xFFF1FC00 Winder \"Winder\" revision 1 from ModeBase",
      "ModeBase: the cluster of a manufacturer has no base; expected all of its declarations here"
    ),
  ]) func rejectsHead(_ text: String, _ message: String) {
    let error = #expect(throws: CatalogueError.self) { try MakersCluster(text, file: "a.cluster") }
    #expect(error?.message.hasPrefix(message) == true && error?.line == 1, "\(error?.description ?? "")")
  }

  @Test func readsTabsAsBlanks() throws {
    let lines = Self.head.split(separator: "\n").map { line -> String in
      let indent = String(line.prefix { $0 == " " })
      return indent + String(line.dropFirst(indent.count)).replacing(" ", with: "\t")
    }
    let text = lines.joined(separator: "\n")
    let tabs = try MakersCluster(text, file: "a.cluster")
    let blanks = try MakersCluster(Self.head, file: "a.cluster")
    #expect(tabs.name == blanks.name && tabs.elements.count == blanks.elements.count)
    #expect(tabs.effects.mapValues(\.count) == blanks.effects.mapValues(\.count))
  }

  @Test func rejectsStructureThatContainsItself() {
    let text = Self.head + "attribute 4 A Loop\nstruct Loop\n  0 Inner list[Loop]"
    let error = #expect(throws: CatalogueError.self) { try MakersCluster(text, file: "a.cluster") }
    #expect(error?.message == "Loop: contains itself; expected a structure of other types")
  }
}
