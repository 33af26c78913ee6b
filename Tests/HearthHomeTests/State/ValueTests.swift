import HearthHome
import HomeModel
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

/// Stored attribute values and data versions of clusters.
@Suite("Values") struct ValueTests {
  private let onTime = OnOff.onTime.path(on: 1)
  private let isOn = OnOff.onOff.path(on: 1)

  private func list(_ attributes: [AttributeID]) -> AttributeData {
    AttributeData(.init(1, OnOff.id, GlobalAttribute.attributeList), dataVersion: 2, value: attributes.tlv)
  }

  /// For example after a software update that removed a feature.
  @Test func removesUnlistedAttribute() {
    var home = CheckedReducer()
    home.meet(.lamp(5))
    let revision = ConcreteAttributePath(1, OnOff.id, GlobalAttribute.clusterRevision)
    let all = [OnOff.onOff.id, OnOff.onTime.id]
    home.process(
      .report(
        NodeReport(
          5,
          [
            AttributeData(onTime, dataVersion: 1, value: UInt16(7).tlv),
            AttributeData(revision, dataVersion: 1, value: UInt16(6).tlv), list(all),
          ], isWhole: true)))
    #expect(home.state.value(5, onTime) == UInt16(7).tlv)
    let update = home.process(.report(NodeReport(5, [list([OnOff.onOff.id])], isWhole: true)))
    #expect(home.state.value(5, onTime) == nil)
    #expect(update?.changes.contains(.attribute(5, onTime, value: nil)) == true)
    // Global attributes need not be listed.
    #expect(home.state.value(5, isOn) != nil && home.state.value(5, revision) != nil)
    #expect(home.faults.isEmpty)
  }

  /// A value that was derived from the success of a command, and not reported, invalidates the data version, so that
  /// the cluster is read again.
  @Test func valueWithoutVersionClearsDataVersion() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let (other, cluster) = (ClusterPath(1, Descriptor.id), ClusterPath(1, OnOff.id))
    try database.commit([
      HomeUpdate(
        HomeSamples.lamp(5) + [
          .attribute(5, isOn, value: true.tlv),
          .attribute(5, Descriptor.partsList.path(on: 1), value: [EndpointID]().tlv),
        ], at: 1, versions: [5: [cluster: 7, other: 8]])
    ])
    #expect(try database.load().versions == [5: [cluster: 7, other: 8]])
    try database.commit([HomeUpdate([.attribute(5, isOn, value: false.tlv)], at: 2)])
    #expect(try database.load().versions == [5: [other: 8]])
    try database.commit([HomeUpdate([.attribute(5, isOn, value: true.tlv)], at: 3, versions: [5: [cluster: 9]])])
    #expect(try database.load().versions == [5: [cluster: 9, other: 8]])
  }

  /// A limit of 0 means no limit, as in similar APIs; a negative one is an error.
  @Test func validatesQueryLimits() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    try database.commit((1...30).map { HomeUpdate([.structureAdded(Structure(id: "s\($0)", name: "S"))], at: $0) })
    guard case .samples(let all, _, true) = try database.samples(after: nil, limit: 0) else {
      return #expect(Bool(false), "a limit of 0 must return all samples")
    }
    #expect(all.count == 30)
    guard case .samples(let some, let next, false) = try database.samples(after: nil, limit: 10) else {
      return #expect(Bool(false), "more samples than the limit")
    }
    #expect(some.count == 10 && next.sequence == 10)
    #expect(throws: HomeError.self) { try database.samples(after: nil, limit: -1) }
  }
}
