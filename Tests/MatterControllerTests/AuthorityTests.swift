import MatterCertificates
import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

@Suite struct AuthorityTests {
  @Test func restoresFabricAndNodesAfterRestart() throws {
    var world = try World()
    try world.addDevice()
    try world.commissionAll()
    let again = try World.makeController(state: world.store, seed: 77)
    #expect(again.fabric == world.controller.fabric)
    #expect(again.nodes == world.controller.nodes)
    #expect(again.nodes.map(\.nodeID) == [1])
    #expect(again.node(1)?.address == world.devices[0].address)
    #expect(again.node(1)?.vendorID == 0xFFF1)
    #expect(again.nextNodeID == 2)
    // Nothing is stored again.
    var copy = again
    let effect = copy.nextEffect()
    #expect(effect.map { "\($0)" } == nil)
    // The device still accepts a session.
    world.controller = again
    let id = world.controller.invoke(1, [toggleLamp], at: world.now)
    _ = try #require(try world.result(of: id)?.get())
    #expect(world.devices[0].onOff)
  }

  @Test func restoresNextNodeID() throws {
    var world = try World { $0.firstNodeID = 40 }
    try world.addDevice()
    try world.commissionAll()
    #expect(world.controller.nodes.map(\.nodeID) == [40])
    let again = try World.makeController(state: world.store, seed: 3)
    #expect(again.nextNodeID == 41)
  }

  @Test("skips node ids in use, and restarts at 1 after the last operational id") func findsFreeNodeID() throws {
    var random: any RandomSource = SeededRandomSource(seed: 1)
    func open(first node: NodeID) throws -> FabricAuthority {
      try FabricAuthority.open(World.configuration { $0.firstNodeID = node }, [:], random: &random).0
    }
    var authority = try open(first: 0xFFFF_FFEF_FFFF_FFFE)
    func free(_ used: Set<NodeID> = []) -> NodeID { authority.freeNodeID { used.contains($0) } }
    #expect(free() == 0xFFFF_FFEF_FFFF_FFFE)
    #expect(free([0xFFFF_FFEF_FFFF_FFFE]) == 0xFFFF_FFEF_FFFF_FFFF)
    #expect(free([0xFFFF_FFEF_FFFF_FFFE, 0xFFFF_FFEF_FFFF_FFFF, 1]) == 2)
    _ = authority.reserve(0xFFFF_FFEF_FFFF_FFFF)
    #expect(free() == 1)
    let own = authority.fabric.nodeID
    let next = try open(first: own).freeNodeID { _ in false }
    #expect(next == NodeID(own.rawValue + 1), "the controller's own id is not assigned")
  }

  @Test func issuesValidCertificateChain() throws {
    for usesIntermediate in [false, true] {
      let world = try World {
        $0.usesIntermediate = usesIntermediate
        $0.fabricID = 0x1234
        $0.tags = [0x0001_0001]
      }
      let fabric = world.controller.fabric
      #expect(fabric.fabricID == 0x1234)
      #expect((fabric.intermediateCertificate != nil) == usesIntermediate)
      let noc = try MatterCertificate(tlv: fabric.operationalCertificate)
      try CertificateChain.verify(
        noc: noc, icac: fabric.intermediateCertificate.map { try MatterCertificate(tlv: $0) },
        root: MatterCertificate(tlv: fabric.rootCertificate), at: 800_000_001)
      #expect(noc.caseAuthenticatedTags == [0x0001_0001])
    }
  }

  @Test func rejectsInvalidStore() throws {
    var world = try World()
    world.drain()
    for key in world.store.keys where key != "authority/intermediate" {
      var state = world.store
      state[key] = nil
      #expect(throws: ControllerError.self) { try World.makeController(state: state, seed: 5) }
      state[key] = [1, 2, 3]
      #expect(throws: ControllerError.self) { try World.makeController(state: state, seed: 5) }
    }
  }

  @Test func roundTripsPeerRecord() throws {
    var record = PeerRecord(0xABCD)
    #expect(PeerRecord(tlv: record.tlv) == record)
    record.address = SocketAddress(.v6(high: 0xFE80 << 48, low: 5, scope: 3), port: 5541)
    record.parameters = SessionParameters(idleInterval: .milliseconds(900), activeInterval: .milliseconds(100))
    record.vendorID = 0xFFF1
    record.productID = 7
    #expect(PeerRecord(tlv: record.tlv) == record)
    #expect(PeerRecord.key(0xABCD) == "peer/000000000000abcd")
    for end in 0..<record.tlv.count { #expect(PeerRecord(tlv: Array(record.tlv[..<end])) == nil) }
  }
}
