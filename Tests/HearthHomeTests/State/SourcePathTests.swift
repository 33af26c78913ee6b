import HearthHome
import HomeModel
import MatterClusters
import MatterModel
import Testing

/// Mapping of paths of an old device value to the currently active source.
@Suite("Source paths") struct SourcePathTests {
  private func home(_ models: NodeModel...) -> HomeState {
    var home = CheckedReducer()
    for model in models { home.meet(model) }
    return home.state
  }

  /// Maps a path of one source of a device to another one.
  private func path(
    _ endpoint: EndpointID, _ cluster: ClusterID, _ attribute: AttributeID? = nil, from old: SourceID,
    to new: SourceID, in state: HomeState
  ) throws -> ClusterPath {
    let device = try #require(state.device(of: new))
    return try state.path(
      ClusterPath(endpoint, cluster), attribute, of: device, by: old, now: try #require(device.source(new)))
  }

  private func refusal(_ body: () throws -> ClusterPath) -> HomeError.Code? {
    do {
      Issue.record("\(try body())")
      return nil
    } catch { return HomeError(error).code }
  }

  private let own = SourceID(5)
  private let bridged = SourceID(7, 2)

  /// One lamp as node 5 and behind a bridge that has another lamp.
  private var lamp: HomeState {
    var bridge = NodeModel.bridge(7)
    bridge.addBridged(2, "Left", uniqueID: "u")
    return home(.lamp(5, uniqueID: "u"), bridge)
  }

  @Test func mapsEndpoints() throws {
    let state = lamp
    #expect(state.devices["5"]?.sources.map(\.id) == [own, bridged])
    #expect(try path(1, OnOff.id, from: own, to: own, in: state) == ClusterPath(1, OnOff.id))
    #expect(try path(1, OnOff.id, from: own, to: bridged, in: state) == ClusterPath(2, OnOff.id))
    #expect(try path(2, OnOff.id, from: bridged, to: own, in: state) == ClusterPath(1, OnOff.id))
    #expect(try path(2, Descriptor.id, from: bridged, to: own, in: state) == ClusterPath(1, Descriptor.id))
  }

  @Test func mapsBasicInformationToBridgedInformation() throws {
    let state = lamp
    let (basic, behind) = (BasicInformation.id, BridgedDeviceBasicInformation.id)
    #expect(try path(0, basic, 5, from: own, to: bridged, in: state) == ClusterPath(2, behind))
    #expect(try path(2, behind, 5, from: bridged, to: own, in: state) == ClusterPath(0, basic))
    // Access to an undeclared attribute of one cluster must not grant access to Location of the other.
    #expect(refusal { try path(2, behind, 6, from: bridged, to: own, in: state) } == .notFound)
    #expect(refusal { try path(2, behind, from: bridged, to: own, in: state) } == .notFound)
  }

  @Test func rejectsPathsMissingInOtherSource() {
    let state = lamp
    #expect(refusal { try path(1, LevelControl.id, from: own, to: bridged, in: state) } == .notFound)
    #expect(refusal { try path(0, Descriptor.id, from: own, to: bridged, in: state) } == .notFound)
    #expect(refusal { try path(9, OnOff.id, from: own, to: bridged, in: state) } == .notFound)
    // A removed source, and a source of another device.
    #expect(refusal { try path(1, OnOff.id, from: SourceID(6), to: own, in: state) } == .notFound)
    #expect(refusal { try path(3, OnOff.id, from: SourceID(7, 3), to: own, in: state) } == .notFound)
  }

  @Test func rejectsEndpointOfOtherDeviceType() {
    var (node, bridge) = (NodeModel.lamp(5, uniqueID: "u"), NodeModel.bridge(7))
    bridge.addBridged(2, "Left", uniqueID: "u")
    node.endpoints[1]?.types = [DeviceTypes.fan.id]
    #expect(refusal { try path(1, OnOff.id, from: own, to: bridged, in: home(node, bridge)) } == .notFound)
  }

  /// A device with two lights, as a node and behind a bridge.
  private func twins(tags: [EndpointID: UInt8]) -> HomeState {
    var (node, bridge) = (NodeModel.lamp(5, uniqueID: "u"), NodeModel.bridge(7))
    node.endpoints[0]?.parts = [1, 2]
    node.addLight(2)
    bridge.addBridged(2, parts: [11, 12], uniqueID: "u")
    bridge.addLight(11)
    bridge.addLight(12)
    for (endpoint, tag) in tags {
      var value = SemanticTagStruct()
      (value.namespaceID, value.tag) = (8, tag)
      let path = Descriptor.tagList.path(on: endpoint)
      if endpoint > 10 { bridge[path] = [value].tlv } else { node[path] = [value].tlv }
    }
    return home(node, bridge)
  }

  @Test func distinguishesEqualEndpointsByTags() throws {
    #expect(refusal { try path(1, OnOff.id, from: own, to: bridged, in: twins(tags: [:])) } == .ambiguousTarget)
    let tagged = twins(tags: [1: 0, 2: 1, 11: 1, 12: 0])
    #expect(try path(1, OnOff.id, from: own, to: bridged, in: tagged) == ClusterPath(12, OnOff.id))
    #expect(try path(11, OnOff.id, from: bridged, to: own, in: tagged) == ClusterPath(2, OnOff.id))
    let same = twins(tags: [1: 0, 2: 0, 11: 0, 12: 1])
    #expect(refusal { try path(1, OnOff.id, from: own, to: bridged, in: same) } == .ambiguousTarget)
    let half = twins(tags: [1: 0, 2: 1, 12: 1])
    #expect(refusal { try path(1, OnOff.id, from: own, to: bridged, in: half) } == .ambiguousTarget)
  }

  /// One of two lights must not be taken for the only light of the other source.
  @Test func rejectsAmbiguousCounterpart() {
    var (node, bridge) = (NodeModel.lamp(5, uniqueID: "u"), NodeModel.bridge(7))
    node.endpoints[0]?.parts = [1, 2]
    node.addLight(2)
    bridge.addBridged(2, "Left", uniqueID: "u")
    #expect(refusal { try path(1, OnOff.id, from: own, to: bridged, in: home(node, bridge)) } == .ambiguousTarget)
  }

  @Test func oldValueUsesActiveSource() async throws {
    var bridge = NodeModel.bridge(7)
    bridge.addBridged(2, "Left", uniqueID: "u")
    let home = try await OpenHome(.lamp(5, uniqueID: "u"), bridge)
    let old = try await home.device("5")
    #expect(old.source?.id == own)
    await home.process(.lost(5, .timedOut))
    #expect(try await home.device("5").source?.id == bridged)
    let light = try #require(old.traits[OnOffTrait.self])
    #expect(light.endpoint == 1)
    // The request fails; the error names the node that was addressed.
    func message(_ body: () async throws -> Void) async -> String? {
      do {
        try await body()
        return nil
      } catch { return HomeError(error).message }
    }
    #expect(await message { try await light.on() }?.contains("node 7 ") == true)
    #expect(await message { try await light.write(OnOff.onTime, 3) }?.contains("node 7 ") == true)
    // The bridge has no counterpart of the root endpoint.
    let root = try #require(old.traits[DescriptorTrait.self, on: 0])
    #expect(await message { try await root.untyped.invoke(0) }?.contains("node 5 ") == true)
    #expect(await message { try await root.untyped.write([(0, [0x14])]) }?.contains("node 5 ") == true)
    await home.process(.nodeRemoved(5))
    #expect(await message { try await light.on() }?.contains("active source has changed") == true)
    #expect(await message { try await light.write(OnOff.onTime, 3) }?.contains("active source has changed") == true)
    await home.home.close()
  }
}
