import MatterClusters
@testable import MatterController
import MatterModel
import MatterProtocol
import Testing

/// Resumption of sessions, and devices that reject it.
@Suite struct ReconnectTests {
  private func commissioned() throws -> World {
    var world = try World()
    try world.addDevice()
    try world.commissionAll()
    world.devices[0].handshakes = (0, 0)
    return world
  }

  /// Replaces the controller by one with only the stored state, as in a new process.
  private func restartController(_ world: inout World) throws {
    // Operation ids restart.
    world.events = []
    world.controller = try World.makeController(state: world.store, seed: world.random.next())
  }

  private func toggle(_ world: inout World) throws {
    let id = world.controller.invoke(OnOff.toggle, on: 1, of: 1, at: world.now)
    _ = try #require(try world.result(of: id)?.get())
  }

  @Test func resumesSessionAfterControllerRestart() throws {
    var world = try commissioned()
    for run in 1...5 {
      try restartController(&world)
      try toggle(&world)
      #expect(world.devices[0].handshakes == (full: 0, resumed: run))
    }
    // Without the record, the session starts with certificates and leaves a new record.
    world.store["resumption/0000000000000001"] = nil
    try restartController(&world)
    try toggle(&world)
    #expect(world.devices[0].handshakes == (full: 1, resumed: 5))
    try restartController(&world)
    try toggle(&world)
    #expect(world.devices[0].handshakes == (full: 1, resumed: 6))
  }

  @Test func ignoresInvalidResumptionRecord() throws {
    var world = try commissioned()
    world.store["resumption/0000000000000001"] = [1, 2, 3]
    try restartController(&world)
    try toggle(&world)
    #expect(world.devices[0].handshakes == (full: 1, resumed: 0))
  }

  /// A device that does not know the session continues with certificates; some devices answer with an error.
  @Test func connectsAtOnceWhenResumptionIsRejected() throws {
    var world = try commissioned()
    for refusal in [nil, StatusReport(.failure, .invalidParameter), StatusReport(.failure, .noSharedTrustRoots)] {
      world.devices[0].reboot()
      world.devices[0].resumptionRefusal = refusal
      world.devices[0].handshakes = (0, 0)
      try restartController(&world)
      let start = world.now
      try toggle(&world)
      #expect(world.now - start < .milliseconds(100), "\(String(describing: refusal))")
      #expect(world.devices[0].handshakes == (full: refusal == nil ? 0 : 1, resumed: 1))
    }
  }

  @Test("force-removes a node that has removed the fabric") func removesNoMember() throws {
    var world = try commissioned()
    world.store["resumption/0000000000000001"] = nil
    try restartController(&world)
    world.devices[0].reboot()
    world.devices[0].handshakeReplies = Array(repeating: StatusReport(.failure, .noSharedTrustRoots), count: 50)
    let refused = world.controller.removeNode(1, at: world.now)
    #expect(world.error(of: refused)?.isForgotten == true)
    let forced = world.controller.removeNode(1, force: true, at: world.now)
    guard case .removed(1, .notMember)? = try world.result(of: forced)?.get() else {
      Issue.record("not removed as a node without the fabric")
      return
    }
    #expect(world.controller.nodes.isEmpty)
  }

  @Test("force-removes a node that has removed the fabric before the search for its addresses ends")
  func removesNonMemberBeforeTimeout() throws {
    var world = try commissioned()
    world.store["resumption/0000000000000001"] = nil
    try restartController(&world)
    world.devices[0].reboot()
    world.devices[0].handshakeReplies = Array(repeating: StatusReport(.failure, .noSharedTrustRoots), count: 50)
    let start = world.now
    let refused = world.controller.removeNode(1, timeout: .seconds(4), at: world.now)
    #expect(world.error(of: refused)?.isForgotten == true)
    let forced = world.controller.removeNode(1, force: true, timeout: .seconds(4), at: world.now)
    guard case .removed(1, .notMember)? = try world.result(of: forced)?.get() else {
      Issue.record("not removed as a node without the fabric")
      return
    }
    #expect(world.now - start <= .milliseconds(8100))
  }

  @Test func removesStoredStateOfRemovedNode() throws {
    var world = try commissioned()
    #expect(world.store["resumption/0000000000000001"] != nil)
    let id = world.controller.removeNode(1, at: world.now)
    _ = try #require(try world.result(of: id)?.get())
    #expect(!world.store.keys.contains { $0.hasPrefix("peer/") || $0.hasPrefix("resumption/") })
  }

  /// A device without a free session answers with the minimum wait.
  @Test func retriesAfterWaitGivenByBusyDevice() throws {
    var world = try commissioned()
    world.store["resumption/0000000000000001"] = nil
    try restartController(&world)
    world.devices[0].reboot()
    world.devices[0].handshakeReplies = [
      StatusReport(.busy, .busy, data: [0xD0, 0x07]), StatusReport(.busy, .busy, data: [0xB8, 0x0B]),
    ]
    let start = world.now
    try toggle(&world)
    #expect(world.now - start >= .seconds(5) && world.now - start < .milliseconds(5200))
    world.devices[0].handshakeReplies = Array(repeating: StatusReport(.busy, .busy, data: [100, 0]), count: 50)
    world.devices[0].reboot()
    let read = world.controller.read(OnOff.onOff, on: 1, of: 1, at: world.now)
    #expect(world.error(of: read) == .busy)
  }

  @Test("names the refusal of a node that is busy until the timeout") func namesBusyAtTimeout() throws {
    var world = try commissioned()
    try restartController(&world)
    world.devices[0].reboot()
    world.devices[0].handshakeReplies = Array(
      repeating: StatusReport(.busy, .busy, data: [0xE8, 0x03]), count: 100)
    let read = world.controller.read(OnOff.onOff, on: 1, of: 1, timeout: .milliseconds(1500), at: world.now)
    #expect(world.error(of: read) == .busy)
  }

  @Test(arguments: [StatusCode.busy, .resourceExhausted]) func retriesBusyRequests(_ status: StatusCode) throws {
    var world = try commissioned()
    world.devices[0].busyStatus = status
    world.devices[0].busyCount = 2
    let read = world.controller.read(OnOff.onOff, on: 1, of: 1, at: world.now)
    _ = try #require(try world.result(of: read)?.get())
    world.devices[0].busyCommands = ["Toggle": 2]
    try toggle(&world)
    #expect(world.devices[0].onOff)
    world.devices[0].busyCount = 100
    let never = world.controller.read(OnOff.onOff, on: 1, of: 1, at: world.now)
    #expect(world.error(of: never) == (status == .busy ? .busy : .status(Status(status))))
  }

  @Test func renewsSubscriptionAtNewAddress() throws {
    var world = try commissioned()
    let handle = world.controller.subscribe(
      1, SubscriptionRequest(paths: [AttributePath(lampOnOff)], maxInterval: .seconds(10)), at: world.now)
    world.devices[0].maxInterval = 10
    world.run(for: .seconds(2))
    #expect(world.controller.isEstablished(handle))
    world.devices[0].address = SocketAddress(.loopback6, port: 6001)
    world.devices[0].reboot()
    world.published = [
      MatterService(
        kind: .operational(compressedFabricID: world.controller.fabric.compressedFabricID, nodeID: 1),
        hostName: "000000000001", port: 6001, addresses: [.loopback6])
    ]
    world.devices[0].set(OnOff.onOff, true, 1)
    world.events = []
    world.run(for: .seconds(40))
    #expect(world.controller.isEstablished(handle))
    #expect(world.controller.cachedValue(lampOnOff, of: 1)?.value == true.tlv)
    #expect(world.controller.node(1)?.address?.port == 6001)
  }

  /// An answer that arrives after the timeout of its request does not affect the next request.
  @Test func ignoresLateAnswer() throws {
    var world = try commissioned()
    world.delay = .milliseconds(700)
    try toggle(&world)
    world.devices[0].holdBack = ["Toggle"]
    let id = world.controller.invoke(OnOff.toggle, on: 1, of: 1, timeout: .seconds(2), at: world.now)
    #expect(world.error(of: id) == .timedOut)
    #expect(!world.devices[0].onOff, "the first command was not carried out")
    // The late answer arrives while the next request waits for its own.
    world.devices[0].holdBack = []
    let next = world.controller.invoke(OnOff.toggle, on: 1, of: 1, at: world.now)
    let answered = world.devices[0].answerHeld(at: world.now)
    #expect(answered == 1, "the device closed the exchange")
    _ = try #require(try world.result(of: next)?.get())
    #expect(world.devices[0].onOff)
    world.run(for: .seconds(30))
    #expect(world.controller.drops[.unknownExchange] >= 1, "the late answer was not dropped")
    #expect(world.devices[0].core.nextDeadline == nil, "the late answer was not acknowledged")
    #expect(world.completions(of: id) == 1 && world.completions(of: next) == 1)
    try toggle(&world)
  }
}
