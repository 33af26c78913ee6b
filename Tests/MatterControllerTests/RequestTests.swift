import MatterClusters
import MatterController
import MatterModel
import MatterProtocol
import Testing

@Suite struct RequestTests {
  private func commissioned(_ count: Int = 1) throws -> World {
    var world = try World()
    for _ in 0..<count { try world.addDevice() }
    try world.commissionAll()
    return world
  }

  @Test func readsWritesAndInvokesTyped() throws {
    var world = try commissioned()
    let read = world.controller.read(OnOff.onOff, on: 1, of: 1, at: world.now)
    guard case .report(let report)? = try world.result(of: read)?.get() else { throw ControllerError.notFound }
    #expect(try report.value(of: OnOff.onOff, on: 1) == false)
    #expect(throws: ControllerError.unexpectedResponse("OnOff.OnTime is missing")) {
      try report.value(of: OnOff.onTime, on: 1)
    }
    #expect(world.controller.cachedValue(lampOnOff, of: 1)?.value == false.tlv)
    let write = world.controller.write(9, to: OnOff.onTime, on: 1, of: 1, at: world.now)
    guard case .written(let statuses)? = try world.result(of: write)?.get() else { throw ControllerError.notFound }
    try statuses.check()
    let invoke = world.controller.invoke(OnOff.toggle, on: 1, of: 1, at: world.now)
    guard case .invoked(let results)? = try world.result(of: invoke)?.get() else { throw ControllerError.notFound }
    _ = try results.response(of: OnOff.toggle)
    #expect(world.devices[0].onOff)
  }

  @Test func reportsStatusOfMissingAttribute() throws {
    var world = try commissioned()
    let read = world.controller.read(OnOff.onTime, on: 1, of: 1, at: world.now)
    guard case .report(let report)? = try world.result(of: read)?.get() else { throw ControllerError.notFound }
    #expect(throws: ControllerError.status(Status(.unsupportedAttribute))) {
      try report.value(of: OnOff.onTime, on: 1)
    }
  }

  @Test func invokesWithThreeDatagramsOnOpenSession() throws {
    var world = try commissioned()
    world.run(for: .seconds(1))
    let before = world.datagramCount
    let start = world.now
    let id = world.controller.invoke(OnOff.toggle, on: 1, of: 1, at: world.now)
    _ = try #require(try world.result(of: id)?.get())
    #expect(world.now - start == .milliseconds(2))
    world.run(for: .seconds(1))
    #expect(world.datagramCount - before == 3)
  }

  @Test func readsReportOfManyMessages() throws {
    var world = try commissioned()
    world.devices[0].reportSize = 2
    let id = world.controller.read(1, [AttributePath()], at: world.now)
    guard case .report(let report)? = try world.result(of: id)?.get() else { throw ControllerError.notFound }
    #expect(report.attributes.map(\.path) == world.devices[0].attributes.keys.sorted())
  }

  @Test func keepsOrderOfCommands() throws {
    var world = try commissioned()
    let commands = (0..<25).map { _ in toggleLamp } + [CommandData(OnOff.on.path(on: 1))]
    let id = world.controller.invoke(1, commands, at: world.now)
    guard case .invoked(let results)? = try world.result(of: id)?.get() else { throw ControllerError.notFound }
    #expect(results.count == 26)
    #expect(world.devices[0].log.count == 26)
    guard case .status(let last)? = results.last else { throw ControllerError.notFound }
    #expect(last.path == OnOff.on.path(on: 1))
  }

  @Test func sendsTimedRequestFirst() throws {
    var world = try commissioned()
    let id = world.controller.invoke(1, [toggleLamp], timed: .seconds(1), at: world.now)
    _ = try #require(try world.result(of: id)?.get())
    #expect(world.devices[0].log == ["Timed", "Toggle"])
  }

  @Test func splitsLongWrite() throws {
    var world = try commissioned()
    let list = (0..<200).map { UInt64($0) << 40 }.tlv
    let id = world.controller.write(
      1, [AttributeWrite(ConcreteAttributePath(1, 0x001E, 0), value: list)], at: world.now)
    guard case .written(let statuses)? = try world.result(of: id)?.get() else { throw ControllerError.notFound }
    try statuses.check()
    #expect(world.devices[0].log.count > 1)
  }

  @Test func sharesOneHandshakeAmongRequests() throws {
    var world = try commissioned()
    world.controller = try World.makeController(state: world.store, seed: 9)
    let ids = (0..<5).map { _ in world.controller.read(OnOff.onOff, on: 1, of: 1, at: world.now) }
    for id in ids { _ = try #require(try world.result(of: id)?.get()) }
    let opened = world.events.count { if case .sessionOpened = $0.event { true } else { false } }
    #expect(opened == 1)
    #expect(world.browsed.isEmpty)
  }

  @Test func rejectsUnknownNodeAndEmptyInvoke() throws {
    var world = try commissioned()
    let read = world.controller.read(OnOff.onOff, on: 1, of: 77, at: world.now)
    #expect(world.error(of: read) == .unknownNode(77))
    let invoke = world.controller.invoke(1, [], at: world.now)
    #expect(world.error(of: invoke) == .invalidRequest("invoke: no commands"))
  }

  @Test func rejectsRequestsThatExceedMessage() throws {
    var world = try commissioned()
    let paths = (0..<150).map { AttributePath(ConcreteAttributePath(1, 0x0006, AttributeID($0))) }
    let text = String(repeating: "x", count: 3000).tlv
    let ids = [
      world.controller.read(1, paths, at: world.now),
      world.controller.invoke(1, [CommandData(OnOff.on.path(on: 1), fields: [0x15] + text + [0x18])], at: world.now),
      world.controller.write(1, [AttributeWrite(ConcreteAttributePath(1, 0x0028, 5), value: text)], at: world.now),
      world.controller.subscribe(1, SubscriptionRequest(paths: paths), at: world.now),
    ]
    for id in ids {
      guard case .invalidRequest? = world.error(of: id) else {
        Issue.record("\(id) has another result")
        continue
      }
    }
    #expect(world.devices[0].log.isEmpty)
    // The session is still used.
    let read = world.controller.read(1, Array(paths.prefix(20)), at: world.now)
    _ = try #require(try world.result(of: read)?.get())
    #expect(world.devices[0].log == ["Read"])
  }

  // MARK: Session loss

  /// Drops the device's sessions, as a restart does.
  private func restart(_ device: inout FakeDevice) {
    let fabrics = device.core.fabrics
    device.core = NodeCore(random: device.random, fabrics: fabrics)
  }

  @Test("repeats a read after a restart of the device, but not a command") func repeatsReadsOnly() throws {
    var world = try commissioned()
    restart(&world.devices[0])
    let read = world.controller.read(OnOff.onOff, on: 1, of: 1, at: world.now)
    _ = try #require(try world.result(of: read)?.get())
    restart(&world.devices[0])
    let invoke = world.controller.invoke(OnOff.toggle, on: 1, of: 1, at: world.now)
    #expect(world.error(of: invoke) == .unacknowledged)
    #expect(world.devices[0].log == ["Read"])
    // The next command opens a session.
    let next = world.controller.invoke(OnOff.toggle, on: 1, of: 1, at: world.now)
    _ = try #require(try world.result(of: next)?.get())
    #expect(world.devices[0].log == ["Read", "Toggle"])
  }

  @Test("repeats a command if only its timed request was sent") func repeatsTimedRequest() throws {
    var world = try commissioned()
    restart(&world.devices[0])
    let invoke = world.controller.invoke(1, [toggleLamp], timed: .seconds(1), at: world.now)
    _ = try #require(try world.result(of: invoke)?.get())
    #expect(world.devices[0].log == ["Timed", "Toggle"])
  }

  /// The answer to a command is lost because the path back changed; the device is reached over a new session.
  @Test func doesNotRepeatCommandWithoutAcknowledgment() throws {
    var world = try commissioned()
    world.run(for: .seconds(1))
    let first = world.datagramCount
    world.loses = { $0 != first }
    let invoke = world.controller.invoke(OnOff.toggle, on: 1, of: 1, at: world.now)
    world.run(for: .milliseconds(100))
    #expect(world.devices[0].onOff, "the command did not arrive")
    world.devices[0].isDead = true
    world.loses = { _ in false }
    // Longer than all retransmissions, and shorter than the timeout of the command.
    world.run(for: .seconds(8))
    world.devices[0].isDead = false
    #expect(world.error(of: invoke) == .unacknowledged)
    world.run(for: .seconds(60))
    #expect(world.devices[0].log == ["Toggle"] && world.devices[0].onOff)
  }

  @Test func doesNotRepeatAcknowledgedInvoke() throws {
    var world = try commissioned()
    world.devices[0].silent = ["Toggle"]
    let invoke = world.controller.invoke(OnOff.toggle, on: 1, of: 1, at: world.now)
    #expect(world.error(of: invoke) == .noResponse)
    #expect(world.devices[0].log == ["Toggle"])
  }

  @Test func reportsUnreachableDevice() throws {
    var world = try commissioned()
    world.devices[0].isDead = true
    let read = world.controller.read(OnOff.onOff, on: 1, of: 1, at: world.now)
    #expect(world.error(of: read) == .unreachable)
    #expect(world.browsed.isEmpty)
    #expect(world.completions(of: read) == 1)
    // Also without a session; the next request succeeds after the device has recovered.
    let invoke = world.controller.invoke(OnOff.toggle, on: 1, of: 1, timeout: .seconds(3), at: world.now)
    #expect(world.error(of: invoke) == .timedOut)
    world.devices[0].isDead = false
    let again = world.controller.invoke(OnOff.toggle, on: 1, of: 1, at: world.now)
    _ = try #require(try world.result(of: again)?.get())
  }

  @Test func findsMovedDeviceByDiscovery() throws {
    var world = try commissioned()
    restart(&world.devices[0])
    world.devices[0].address = SocketAddress(.loopback6, port: 6000)
    world.published = [
      MatterService(
        kind: .operational(compressedFabricID: world.controller.fabric.compressedFabricID, nodeID: 1),
        hostName: "000000000001", port: 6000, addresses: [.loopback6])
    ]
    let read = world.controller.read(OnOff.onOff, on: 1, of: 1, at: world.now)
    _ = try #require(try world.result(of: read)?.get())
    #expect(world.controller.node(1)?.address?.port == 6000)
  }

  @Test func completesCanceledOperation() throws {
    var world = try commissioned()
    world.devices[0].silent = ["Toggle"]
    let id = world.controller.invoke(OnOff.toggle, on: 1, of: 1, at: world.now)
    world.run(for: .milliseconds(10))
    world.controller.cancel(id, at: world.now)
    #expect(world.error(of: id) == .canceled)
    world.run(for: .seconds(60))
    #expect(world.completions(of: id) == 1)
  }

  // MARK: Administration

  @Test func removesNodes() throws {
    var world = try commissioned(2)
    let id = world.controller.removeNode(1, at: world.now)
    guard case .removed(1, .confirmed)? = try world.result(of: id)?.get() else {
      Issue.record("not removed")
      return
    }
    #expect(world.devices[0].log == ["Read", "RemoveFabric"])
    #expect(world.controller.nodes.map(\.nodeID) == [2])
    #expect(world.store["peer/0000000000000001"] == nil)
    world.devices[1].isDead = true
    let refused = world.controller.removeNode(2, at: world.now)
    #expect(world.error(of: refused) == .unreachable)
    #expect(world.controller.nodes.map(\.nodeID) == [2])
    let forced = world.controller.removeNode(2, force: true, at: world.now)
    guard case .removed(2, .unconfirmed)? = try world.result(of: forced)?.get() else {
      Issue.record("not removed")
      return
    }
    #expect(world.controller.nodes.isEmpty)
  }

  @Test func opensCommissioningWindow() throws {
    var world = try commissioned()
    let id = world.controller.openCommissioningWindow(1, at: world.now)
    guard case .windowOpened(let window)? = try world.result(of: id)?.get() else { throw ControllerError.notFound }
    #expect(world.devices[0].log == ["Timed", "OpenCommissioningWindow"])
    let code = try #require(window.code)
    #expect(window.kind == .enhanced(passcode: code.passcode, discriminator: code.discriminator.longValue ?? 0))
    #expect(SetupPasscode.isValid(code.passcode))
    var basic = CommissioningWindowRequest(isEnhanced: false)
    basic.duration = .seconds(200)
    let second = world.controller.openCommissioningWindow(1, basic, at: world.now)
    _ = try #require(try world.result(of: second)?.get())
    #expect(world.devices[0].log.last == "OpenBasicCommissioningWindow")
    world.devices[0].refusals["OpenCommissioningWindow"] = Status(.failure, clusterCode: 2)
    let busy = world.controller.openCommissioningWindow(1, at: world.now)
    #expect(world.error(of: busy) == .status(Status(.failure, clusterCode: 2)))
  }
}
