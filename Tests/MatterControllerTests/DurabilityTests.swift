import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

/// Keys, certificates and counter reservations are stored durably before they are used.
@Suite("Durability of the controller's state") struct DurabilityTests {
  @Test("marks fabric, peer and group entries durable") func entries() throws {
    var world = try World()
    try world.addDevice()
    try world.commissionAll()
    let group = try world.controller.createGroup(name: "Den")
    world.drain()
    try world.controller.deleteGroup(group.id)
    world.controller.forget(1, fabricRemoved: false, at: world.now)
    world.drain()
    for prefix in ["authority/", "fabric/", PeerRecord.prefix, GroupRecord.prefix, GroupRecord.epochKeyPrefix] {
      let changes = world.changes.filter { $0.key.hasPrefix(prefix) }
      #expect(changes.first?.value != nil, "\(prefix)")
      // The address of a peer may change later.
      let lasting = changes.indices.filter { $0 == 0 || changes[$0].value == nil || prefix != PeerRecord.prefix }
      for index in lasting { #expect(changes[index].isDurable, "\(changes[index].key)") }
    }
    // A commissioned device has the certificate that was issued last, so its node id must not be issued again.
    #expect(world.changes.last { $0.key == "authority/next-node" }?.isDurable == true)
  }

  @Test("stores each reservation of the group counter before the first message that uses it") func groupCounter() throws
  {
    var world = try World()
    let group = try world.controller.createGroup(name: "Den")
    world.drain()
    var limit: UInt32?
    var (reservations, messages) = (0, 0)
    for _ in 0..<2500 {
      try world.controller.invoke(group: group.id, cluster: OnOff.id, command: OnOff.on.id, at: world.now)
      while let effect = world.controller.nextEffect() {
        switch effect {
        case .store(let changes):
          for change in changes where change.key == GroupRecord.counterKey {
            #expect(change.isDurable)
            limit = try UInt32(tlv: #require(change.value))
            reservations += 1
          }
        case .send(let bytes, _):
          let counter = try MessageHeader.decode(bytes).header.counter
          let stored = try #require(limit, "no reservation before message \(messages)")
          #expect((1...1000).contains(stored &- counter), "\(counter) with \(stored) stored")
          messages += 1
        default: break
        }
      }
    }
    #expect(messages == 2500 && reservations == 3)
  }
}
