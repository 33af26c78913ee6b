import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// Commands of a switch that is bound to its administrator's node.
@Suite struct BoundCommandTests {
  private static let button = EndpointDefinition(
    1, deviceTypes: [DeviceTypes.onOffLightSwitch], servers: [BindingServer.make()], clients: [OnOff.id])

  /// Returns a bound switch after a restart, without sessions.
  private func bound(_ change: (inout DeviceConfiguration) -> Void = { _ in }) throws -> Lab {
    var lab = try Lab(endpoints: [Self.button], change)
    try lab.addAdministrator()
    let session = try lab.commission()
    let targets = [Binding.TargetStruct(node: lab.administrators[0].node, endpoint: 1, cluster: OnOff.id)]
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
}
