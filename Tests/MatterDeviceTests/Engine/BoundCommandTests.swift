import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// Commands of a switch that is bound to its administrator's node.
@Suite struct BoundCommandTests {
  private static func control(_ server: ClusterServer) -> EndpointDefinition {
    EndpointDefinition(
      1, deviceTypes: [DeviceTypes.dimmerSwitch], servers: [server], clients: [OnOff.id, LevelControl.id])
  }

  /// Returns a bound switch after a restart, without sessions.
  private func bound(
    _ server: ClusterServer = BindingServer.make(), to cluster: ClusterID = OnOff.id,
    _ change: (inout DeviceConfiguration) -> Void = { _ in }
  ) throws -> Lab {
    var lab = try Lab(endpoints: [Self.control(server)], change)
    try lab.addAdministrator()
    let session = try lab.commission()
    let targets = [Binding.TargetStruct(node: lab.administrators[0].node, endpoint: 1, cluster: cluster)]
    #expect(
      try lab.write([AttributeWrite(Binding.binding.path(on: 1), value: targets.tlv)], on: session) == [.success])
    lab.crash()
    lab.administrators[0].core.close(session, notifyingPeer: false, at: lab.now)
    lab.settle()
    lab.administrators[0].established = nil
    lab.events = []
    return lab
  }

  private func press(_ lab: inout Lab) {
    lab.device.control(OnOff.toggle, NoFields(), from: 1, at: lab.now)
    lab.settle()
  }

  private func hasNote(_ text: String, _ lab: Lab) -> Bool {
    lab.events.contains { if case .note(let note) = $0 { note.contains(text) } else { false } }
  }

  @Test func usesConfiguredPeerAddress() throws {
    var lab = try bound { $0.peers = [0x1_0001: SocketAddress(.loopback6, port: 50_000)] }
    press(&lab)
    #expect(lab.administrators[0].established != nil)
    #expect(lab.device.core.newestSession(fabric: 1, peer: 0x1_0001) != nil)
    #expect(lab.device.undeliveredCommands == 0)
    // A missing response is also reported.
    lab.advance(by: .seconds(60))
    #expect(lab.device.undeliveredCommands == 1)
    #expect(hasNote("no response", lab))
  }

  @Test func reportsUndeliveredCommands() throws {
    var lab = try bound()
    press(&lab)
    #expect(lab.administrators[0].established == nil)
    lab.advance(by: .seconds(9))
    #expect(lab.device.undeliveredCommands == 0)
    lab.advance(by: .seconds(1))
    #expect(lab.device.undeliveredCommands == 1)
    #expect(hasNote("node 65537, endpoint 1", lab) && hasNote("not found or not reached", lab))
    // Commands beyond the queue's capacity fail immediately.
    for _ in 0..<40 { press(&lab) }
    #expect(lab.device.undeliveredCommands == 1 + 8)
    lab.advance(by: .seconds(10))
    #expect(lab.device.undeliveredCommands == 1 + 40)
  }

  /// A stale address does not prevent the use of a discovered one.
  @Test func triesDiscoveredAddressAfterStaleOne() throws {
    var lab = try bound { $0.peers = [0x1_0001: SocketAddress(.loopback6, port: 9)] }
    press(&lab)
    let fabric = try #require(lab.device.fabrics.first)
    var service = MatterService(
      kind: .operational(compressedFabricID: fabric.compressedFabricID, nodeID: 0x1_0001), hostName: "A", port: 50_000)
    service.addresses = [.loopback6]
    lab.device.handle(.serviceFound(service), at: lab.now)
    lab.settle()
    #expect(lab.administrators[0].established == nil)
    let handshake = try #require(lab.device.bound.handshakes.keys.first)
    lab.device.failedToConnect(handshake)
    lab.device.settle()
    lab.settle()
    #expect(lab.administrators[0].established != nil)
  }

  @Test(arguments: [
    ("detector", "active", OnOff.id, BindingServer.detector()),
    ("detector", "idle", OnOff.id, BindingServer.detector()),
    ("dial", "40%", LevelControl.id, BindingServer.dial()),
  ]) func partsControlTheBoundNode(_ part: String, _ state: String, _ cluster: ClusterID, _ server: ClusterServer)
    throws
  {
    let address = SocketAddress(.loopback6, port: 50_000)
    var lab = try bound(server, to: cluster) { $0.peers = [0x1_0001: address] }
    try lab.device.act(part: part, state, on: 1, at: lab.now)
    lab.settle()
    #expect(lab.administrators[0].established != nil)
    #expect(lab.device.core.newestSession(fabric: 1, peer: 0x1_0001) != nil)
  }

  @Test func partsRefuseWithoutBindings() throws {
    var lab = try bound(BindingServer.dial(), to: OnOff.id)
    let error = #expect(throws: StatusError.self) { try lab.device.act(part: "dial", "40%", on: 1, at: lab.now) }
    #expect(error?.status.code == .invalidInState)
    for text in ["40", "101%", "-1%", "%", ""] {
      let error = #expect(throws: StatusError.self) { try lab.device.act(part: "dial", text, on: 1, at: lab.now) }
      #expect(error?.status.code == .constraintError)
    }
  }
}
