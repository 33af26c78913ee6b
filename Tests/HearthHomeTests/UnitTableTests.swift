import HomeText
import MatterClusters
import MatterModel
import Testing

@Suite("Unit table") struct UnitTableTests {
  @Test("has only names of attributes, fields and members that their clusters declare")
  func namesAreDeclared() throws {
    #expect(!ValueUnit.table.isEmpty)
    for name in ValueUnit.table.keys {
      let cluster = try #require(ClusterCatalogue.cluster(name.cluster))
      let schemas = cluster.commands.flatMap { [$0.request, $0.response?.schema ?? .any] }
      let declared =
        cluster.attributes.flatMap { [$0.name] + members($0.schema) }
        + (schemas + cluster.events.map(\.payload)).flatMap { members($0) }
      #expect(declared.contains { NormalizedName($0) == name.name }, "\(cluster.name) has no \(name.name)")
    }
  }

  private func members(_ schema: Schema) -> [String] {
    switch schema {
    case .nullable(let wrapped), .list(let wrapped): members(wrapped)
    case .structure(let fields): fields.flatMap { [$0.name] + members($0.schema) }
    default: []
    }
  }

  @Test("an attribute has the unit of the command field with the same name") func attributesAndFields() {
    #expect(ValueUnit(0x03, AttributeID(0)) == .seconds && ValueUnit(0x03, "identifyTime") == .seconds)
    #expect(AttributeUnits.text(.init(1, 0x03, 0), [0x04, 10]) == "10 s")
    // MinConstTemp of a pump.
    #expect(AttributeUnits.text(.init(1, 0x0200, 0x0B), [0x01, 0xD0, 0x07]) == "20.0 °C")
  }

  @Test("names the errors of appliances in attributes and events") func errors() {
    let stuck: [UInt8] = [0x24, 0, 65, 0x18]
    #expect(AttributeUnits.text(.init(1, 0x0061, 5), [0x15] + stuck) == "{errorStateID: Stuck}")
    #expect(
      AttributeUnits.text(event: 0, of: 0x0061, payload: [0x15, 0x35, 0] + stuck + [0x18])
        == "{errorState: {errorStateID: Stuck}}")
  }
}
