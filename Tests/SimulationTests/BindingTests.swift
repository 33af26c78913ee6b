import MatterClusters
import MatterController
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import Simulation
import Testing

/// A light switch in the light's fabric, as node 2.
@Suite struct SwitchBindingTests {
  private typealias Entry = AccessControl.AccessControlEntryStruct

  private let home: SimulatedHome
  private let button: SimulatedHost<DeviceEngine>

  init() throws {
    home = try SimulatedHome()
    var configuration = try #require(home.light.engine).configuration
    configuration.discriminator = 77
    configuration.uniqueID = "U2"
    configuration.hostName = "001122334466"
    let endpoint = EndpointDefinition(
      1, deviceTypes: [DeviceTypes.onOffLightSwitch],
      servers: [IdentifyServer.make(.visibleIndicator), BindingServer.make()], clients: [OnOff.id])
    button = home.world.add("switch") { [configuration] boot in
      DeviceEngine(
        configuration, endpoints: [endpoint], stored: boot.state, random: boot.random,
        signatures: DeterministicSignatures(), at: boot.now)
    }
    try home.commission()
    let request = CommissioningRequest(passcode: SimulatedHome.passcode, target: .discriminator(.long(77)))
    guard case .commissioned(let result) = try home.result(of: { $0.commission(request, at: $1) }) else {
      throw SimulationError.timedOut(at: home.world.now)
    }
    #expect(result.nodeID == 2)
  }

  private func write(_ node: NodeID, _ path: ConcreteAttributePath, _ value: [UInt8]) throws {
    let write = AttributeWrite(path, value: value)
    guard case .written(let statuses) = try home.result(of: { $0.write(node, [write], at: $1) }) else {
      throw SimulationError.timedOut(at: home.world.now)
    }
    try statuses.check()
  }

  /// Grants the switch access to the light, besides the controller.
  private func grantAccess() throws {
    let administrator = try #require(home.controller.engine).fabric.nodeID
    let entries = [
      Entry(privilege: .administer, authMode: .case, subjects: .value([administrator]), targets: .null),
      Entry(privilege: .operate, authMode: .case, subjects: .value([2]), targets: .null),
    ]
    try write(1, AccessControl.acl.path(on: 0), entries.tlv)
  }

  /// - Returns: the number of bindings that the switch sent to.
  private func press(for time: Duration = .seconds(2)) throws -> Int? {
    let count = button.command { engine, now in engine.control(OnOff.toggle, NoFields(), from: 1, at: now) }
    try home.world.run(for: time)
    return count
  }

  @Test func togglesBoundLight() throws {
    let before = try home.state()
    #expect(try press() == 0)
    try write(2, Binding.binding.path(on: 1), [Binding.TargetStruct(node: 1, endpoint: 1, cluster: OnOff.id)].tlv)
    #expect(try press() == 1)
    #expect(try home.state() == before, "the light denies access")
    #expect(try #require(button.engine).refusedCommands == 1)
    try grantAccess()
    #expect(try press() == 1)
    #expect(try home.state() == !before)
    #expect(try press() == 1)
    #expect(try home.state() == before)
    let other = button.command { engine, now in
      engine.control(LevelControl.stop, .init(optionsMask: [], optionsOverride: []), from: 1, at: now)
    }
    #expect(other == 0, "no binding for another cluster")

    // The light lost the session: the switch establishes a new one.
    home.light.restart()
    try home.world.run(for: .seconds(5))
    let restarted = try home.state()
    #expect(try press(for: .seconds(30)) == 1)
    #expect(try home.state() == !restarted)
    // Without power, the command is dropped and not retried later.
    #expect(try #require(button.engine).undeliveredCommands == 0)
    home.light.cutPower()
    #expect(try press(for: .seconds(60)) == 1)
    #expect(try #require(button.engine).undeliveredCommands == 1)
    home.light.powerOn()
    try home.world.run(for: .seconds(60))
    let later = try home.state()
    #expect(try press(for: .seconds(30)) == 1)
    #expect(try home.state() == !later)
  }

  /// Writes the key of group 7 to a node.
  private func writeGroupKey(_ node: NodeID) throws {
    let set = GroupKeyManagement.GroupKeySetStruct(
      groupKeySetID: 42, groupKeySecurityPolicy: .trustFirst,
      epochKey0: .value(OctetString([UInt8](repeating: 0x5A, count: 16))), epochStartTime0: .value(1),
      epochKey1: .null, epochStartTime1: .null, epochKey2: .null, epochStartTime2: .null)
    try invoke(node, GroupKeyManagement.keySetWrite, .init(groupKeySet: set), on: 0)
    let map = [GroupKeyManagement.GroupKeyMapStruct(groupId: 7, groupKeySetID: 42)]
    try write(node, GroupKeyManagement.groupKeyMap.path(on: 0), map.tlv)
  }

  private func invoke<C, Request, Response>(
    _ node: NodeID, _ command: Command<C, Request, Response>, _ request: Request, on endpoint: EndpointID
  ) throws {
    let outcome = try home.result { $0.invoke(command, request, on: endpoint, of: node, at: $1) }
    guard case .invoked(let results) = outcome else { throw SimulationError.timedOut(at: home.world.now) }
    try results.checkStatus()
  }

  @Test("controls the bound group after receiving its key") func controlsGroup() throws {
    try writeGroupKey(1)
    try invoke(1, Groups.addGroup, .init(groupID: 7, groupName: "Den"), on: 1)
    let administrator = try #require(home.controller.engine).fabric.nodeID
    let access = [
      Entry(privilege: .administer, authMode: .case, subjects: .value([administrator]), targets: .null),
      Entry(privilege: .operate, authMode: .group, subjects: .value([7]), targets: .null),
    ]
    try write(1, AccessControl.acl.path(on: 0), access.tlv)
    try write(2, Binding.binding.path(on: 1), [Binding.TargetStruct(group: 7)].tlv)
    let before = try home.state()
    #expect(try press() == 1)
    #expect(try home.state() == before, "no effect without the group key")
    #expect(try #require(button.engine).undeliveredCommands == 1)
    try writeGroupKey(2)
    #expect(try press() == 1)
    #expect(try home.state() == !before)
  }
}
