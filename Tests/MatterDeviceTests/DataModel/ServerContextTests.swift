import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

private let counted = ServerHook<LevelControl, Bool>("counted")

private struct Count: Sendable { var value = 0 }

private let switchable = ClusterServer(OnOff.self, features: [OnOff.lighting])
  .on(OnOff.toggle) { context, _ in context[OnOff.onOff].toggle() }
  .on(OnOff.off) { context, _ throws(StatusError) in
    guard context[OnOff.onOff] else { throw StatusError(.invalidInState) }
    context[OnOff.onOff] = false
  }
  .onChange(OnOff.onOff) { context in
    let isOn = context[OnOff.onOff]
    context.call(counted, isOn)
    context.schedule(.custom(1), at: context.now + .seconds(1))
  }
  .onTimer(.custom(1)) { context in context[stored: "done"] = [1] }

private let dimmable = ClusterServer(LevelControl.self, features: [LevelControl.onOff])
  .initial(LevelControl.currentLevel, .value(7))
  .hook(counted) { context, _ in context[scratch: Count.self, default: Count()].value += 1 }

private func makeContext(stored: StoredState = [:]) -> ServerContext {
  let node = NodeState(
    TestNode.configuration,
    endpoints: [EndpointDefinition(1, deviceTypes: [DeviceTypes.dimmableLight], servers: [dimmable, switchable])],
    stored: stored, commissioning: CommissioningState(), random: SeededRandomSource(seed: 1),
    signatures: DeterministicSignatures(), at: .zero)
  return ServerContext(node)
}

@Test func versionsStoresAndReportsChange() throws {
  var context = makeContext()
  let version = context.node.clusters[0].dataVersion
  try context.invoke(OnOff.toggle, NoFields())
  let path = OnOff.onOff.path(on: 1)
  let value1 = context[OnOff.onOff]
  #expect(value1)
  #expect(context.node.clusters[0].dataVersion == version &+ 1)
  #expect(context.node.changes == [StoreChange("attribute/1/6/0", [0x09])])
  #expect(context.node.dirty == [path])
  #expect(context.node.emitted == [.attributeChanged(path, [0x09])])
  context[OnOff.onOff] = true
  #expect(context.node.changes.count == 1, "an equal value is not a change")
}

@Test func callsHooksOfOtherServers() throws {
  var context = makeContext()
  try context.invoke(OnOff.toggle, NoFields())
  try context.invoke(OnOff.toggle, NoFields())
  #expect(throws: StatusError(.invalidInState)) { try context.invoke(OnOff.off, NoFields()) }
  #expect(context.node.clusters[1].scratch.count == 1)
  let value2 = context[LevelControl.currentLevel]
  #expect(value2 == .value(7))
  #expect(context.node.timers.map(\.id) == [.custom(1)])
  #expect(context.node.timers.map(\.deadline) == [.zero + .seconds(1)])
  let value3 = context.value(ColorControl.colorMode)
  #expect(value3 == nil)
}

@Test func restoresOnlyValidStoredValues() {
  var context = makeContext(stored: ["attribute/1/6/0": [0x09], "attribute/1/8/0": [0xFF], "other": [1]])
  let value4 = context[OnOff.onOff]
  #expect(value4)
  let value5 = context[LevelControl.currentLevel]
  #expect(value5 == .value(7))
}

@Test func computesGlobalAttributes() throws {
  var context = makeContext()
  let acceptedBytes = context.encoded(ConcreteAttributePath(1, 6, 0xFFF9))
  let accepted = try #require(acceptedBytes)
  #expect(try [CommandID](tlv: accepted) == [0, 2])
  let attributesBytes = context.encoded(ConcreteAttributePath(1, 6, 0xFFFB))
  let attributes = try #require(attributesBytes)
  #expect(
    try [AttributeID](tlv: attributes) == [
      0, 0x4000, 0x4001, 0x4002, 0x4003, 0xFFF8, 0xFFF9, 0xFFFB, 0xFFFC, 0xFFFD,
    ])
}
