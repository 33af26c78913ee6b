import HearthHome
import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import HomeModel

/// For any parts lists, valid or invalid, each endpoint belongs to one device.
@Suite("Random topologies") struct TopologyTreeTests {
  /// Endpoints with random parts lists: trees, flat lists, cycles, endpoints with two parents, themselves as a part, or
  /// no parent.
  private func model(_ random: inout SeededRandomSource) -> NodeModel {
    func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    let count = 1 + number(9)
    func parts(_ most: Int) -> [EndpointID] {
      (0..<number(most)).map { _ in EndpointID(UInt16(number(count + 2))) }
    }
    var model = NodeModel(7, parts: parts(8))
    if number(20) == 0 { model.endpoints[0]?.types.append(DeviceTypes.bridgedNode.id) }
    for id in 1...count {
      let id = EndpointID(UInt16(id))
      switch number(5) {
      case 0: model.endpoints[id] = .init(types: [DeviceTypes.aggregator.id], parts: parts(6))
      case 1, 2, 3: model.addBridged(id, "B\(id)", parts: parts(4))
      default:
        model.addLight(id)
        model.endpoints[id]?.parts = parts(3)
      }
    }
    return model
  }

  private func values(_ model: NodeModel) -> NodeValues {
    var values = NodeValues()
    for id in model.endpoints.keys { for data in model.attributes(of: id) { values[data.path] = data.value } }
    return values
  }

  @Test(arguments: 0..<40) func everyEndpointBelongsToOneSource(_ seed: UInt64) {
    var random = SeededRandomSource(seed: 7_000 + seed)
    for _ in 0..<25 {
      let model = model(&random)
      let topology = Topology(7, values(model))
      let owned = topology.sources.flatMap { source in source.endpoints.map(\.id) }
      // Each endpoint once, and exactly the endpoints that the node lists and describes.
      #expect(Set(owned).count == owned.count, "\(model)")
      let known = Set(model.endpoints.keys).subtracting(topology.strayEndpoints)
      #expect(Set(owned) == known, "\(model)")
      #expect(Set(topology.sources.map(\.id)).count == topology.sources.count, "\(model)")
      for source in topology.sources {
        #expect(source.endpoints.contains { $0.id == source.id.endpoint }, "\(source.id) of \(model)")
      }
      // The order of the parts lists does not matter.
      var shuffled = model
      for id in model.endpoints.keys.sorted() { shuffled.endpoints[id]?.parts.shuffle(using: &random) }
      func grouping(_ topology: Topology) -> [[EndpointID]] { topology.sources.map { $0.endpoints.map(\.id) } }
      #expect(grouping(Topology(7, values(shuffled))) == grouping(topology), "\(model)")
    }
  }

  /// A node with a sequence of trees: the previous tree does not matter.
  @Test(arguments: 0..<30) func endpointsBelongToDeviceOfTheirSource(_ seed: UInt64) throws {
    var random = SeededRandomSource(seed: seed)
    var home = CheckedReducer()
    let scratch = try TestDatabase()
    let database = try scratch.open()
    for _ in 0..<12 {
      let model = model(&random)
      home.meet(model)
      let state = home.state
      for source in state.sources(of: 7) {
        let device = try #require(state.device(of: source.id)).id
        #expect(state.deviceID(of: 7, source.id.endpoint) == device, "\(source.id)")
        for endpoint in source.endpoints { #expect(state.deviceID(of: 7, endpoint.id) == device, "\(endpoint.id)") }
      }
      let now = Topology(7, state.values[7] ?? NodeValues())
      #expect(state.sources(of: 7).map(\.id) == now.sources.map(\.id))
      #expect(state.sources(of: 7).map(\.endpoints) == now.sources.map(\.endpoints))
    }
    #expect(home.faults.isEmpty)
    try database.commit(home.log)
    let stored = try database.load().state
    #expect(stored == home.state)
    for endpoint in (0...12).map({ EndpointID(UInt16($0)) }) {
      #expect(stored.deviceID(of: 7, endpoint) == home.state.deviceID(of: 7, endpoint))
    }
  }

  /// Both clusters use the same table of attributes.
  @Test func bridgedInformationHasTheIDsOfBasicInformation() {
    func same<Value>(
      _ own: Attribute<BasicInformation, Value>, _ bridged: Attribute<BridgedDeviceBasicInformation, Value>
    ) -> Bool { own.id == bridged.id }
    #expect(same(BasicInformation.vendorID, BridgedDeviceBasicInformation.vendorID))
    #expect(same(BasicInformation.productID, BridgedDeviceBasicInformation.productID))
    #expect(same(BasicInformation.vendorName, BridgedDeviceBasicInformation.vendorName))
    #expect(same(BasicInformation.productName, BridgedDeviceBasicInformation.productName))
    #expect(same(BasicInformation.productLabel, BridgedDeviceBasicInformation.productLabel))
    #expect(same(BasicInformation.nodeLabel, BridgedDeviceBasicInformation.nodeLabel))
    #expect(same(BasicInformation.serialNumber, BridgedDeviceBasicInformation.serialNumber))
    #expect(same(BasicInformation.uniqueID, BridgedDeviceBasicInformation.uniqueID))
    #expect(
      same(BasicInformation.softwareVersionString, BridgedDeviceBasicInformation.softwareVersionString))
  }
}
