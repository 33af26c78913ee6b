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
  }
}
