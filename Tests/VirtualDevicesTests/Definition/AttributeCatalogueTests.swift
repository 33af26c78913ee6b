import MatterModel
import MatterTLV
import Testing

@testable import VirtualDevices

/// A cluster with one attribute of each kind that a file can set.
private enum LampColor: Cluster {
  static let id: ClusterID = 0xFFF1_FC01, revision: UInt16 = 1, name = "LampColor"
  static let isWarm = MatterModel.Attribute<Self, Bool>(0, "IsWarm")
  static let level = MatterModel.Attribute<Self, Nullable<UInt8>>(1, "Level")
  static let offset = MatterModel.Attribute<Self, Int16>(2, "Offset", constraint: .range(-10...10))
  static let label = MatterModel.Attribute<Self, String>(3, "NOCLabel", constraint: .length(0...4))
  static let key = MatterModel.Attribute<Self, OctetString>(4, "Key")
  static let ids = MatterModel.Attribute<Self, [UInt8]>(5, "IDs")
  static let elements: [any ClusterElement] = [isWarm, level, offset, label, key, ids]
}

@Suite("Initial values with a catalogue")
struct AttributeCatalogueTests {
  private let catalogue = AttributeCatalogue(clusters: [LampColor.self])

  private func read(_ entry: String) throws(DefinitionError) -> InitialValue? {
    let text = "devices:\n  - name: A\n    type: plug\n    attributes:\n      \(entry)\n"
    return try load(text, catalogue: catalogue).devices.first?.initialValues.first
  }

  @Test("finds names in the files' spelling")
  func names() {
    #expect(catalogue.clusterNames == ["lampColor"])
    #expect(catalogue.attributeNames(of: "LAMPCOLOR") == ["isWarm", "level", "offset", "nocLabel", "key", "ids"])
    #expect(catalogue.attributeNames(of: "x").isEmpty)
  }

  @Test("converts values to the attribute's type")
  func values() throws {
    let warm = try #require(try read("LampColor.iswarm: on"))
    #expect(warm.cluster == "lampColor")
    #expect(warm.attribute == "isWarm")
    #expect(warm.value == .boolean(true))
    #expect(warm.target?.cluster == 0xFFF1_FC01)
    #expect(warm.target?.attribute == 0)
    #expect(warm.tlv == [0x09])
    #expect(try read("lampColor.level: 254")?.tlv == [0x04, 254])
    #expect(try read("lampColor.level: null")?.tlv == [0x14])
    #expect(try read("lampColor.offset: -10")?.tlv == [0x00, 0xF6])
    #expect(try read("lampColor.nocLabel: on")?.value == .text("on"))
    #expect(try read("lampColor.key: 0x00ff")?.tlv == [0x10, 2, 0x00, 0xFF])
    #expect(try read("7.lampColor.nocLabel: 1234")?.tlv == [0x0C, 4] + Array("1234".utf8))
  }

  @Test(
    "reports values that do not fit",
    arguments: [
      ("lampColour.level: 1", "5:7: found cluster “lampColour”, expected a known cluster, did you mean “lampColor”?"),
      ("lampColor.levle: 1", "5:7: found attribute “levle”, expected an attribute of lampColor, did you mean “level”?"),
      ("lampColor.isWarm: 1", "5:25: found 1, expected true or false"),
      ("lampColor.level: 255", "5:24: found 255, expected a number from 0 to 254, or null"),
      ("lampColor.level: high", "5:24: found “high”, expected a number from 0 to 254, or null"),
      ("lampColor.offset: 11", "5:25: found 11, expected a number from -10 to 10"),
      ("lampColor.offset: null", "5:25: found null, expected a number from -10 to 10: it can't be null"),
      ("lampColor.isWarm:", "5:24: found nothing, expected true or false: it can't be null"),
      ("lampColor.nocLabel: 12345", "5:27: found 12345, expected a text of 0 to 4 bytes"),
      ("lampColor.key: abc", "5:22: found “abc”, expected pairs of hexadecimal digits"),
      (
        "lampColor.ids: 1",
        "5:22: found 1, expected an attribute with a single value; lists and structures can't be set here"
      ),
      ("lampColor.isWarm: {a: b}", "5:25: found a mapping, expected true or false"),
    ])
  func mismatches(entry: String, message: String) {
    let error = #expect(throws: DefinitionError.self) { try read(entry) }
    #expect(error?.description == "home.yaml:" + message)
  }
}

@Suite("Suggestions")
struct NearestNameTests {
  @Test(
    "computes distances",
    arguments: [("", "", 0), ("a", "", 1), ("port", "prot", 1), ("kitten", "sitting", 3), ("abc", "abc", 0)])
  func distances(a: String, b: String, distance: Int) {
    #expect(NearestName.distance(Array(a), Array(b)) == distance)
  }

  @Test("suggests nothing without a similar name")
  func nothing() {
    #expect(NearestName.suggestions(for: "zebra", in: ["name", "type"]).isEmpty)
    #expect(NearestName.suggestions(for: "", in: ["name"]).isEmpty)
    #expect(NearestName.suggestions(for: "--", in: ["name"]).isEmpty)
  }
}
