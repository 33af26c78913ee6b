import MatterClusters
import MatterController
import MatterDevice
import MatterModel
import MatterProtocol
import Simulation
import Runtime
import Testing

@Suite struct GroupTests {
  private static let group: GroupID = 1

  private func isOn(_ home: SimulatedHome) throws -> Bool { try home.state() }

  private func send(_ home: SimulatedHome, _ command: CommandID) throws {
    home.controller.command { engine, now in
      #expect(throws: Never.self) {
        try engine.invoke(group: Self.group, cluster: OnOff.id, command: command, at: now)
      }
    }
    try home.world.run(for: .seconds(1))
  }

  private func perform<R>(_ home: SimulatedHome, _ body: (inout ControllerEngine, Instant) throws -> R) throws -> R {
    guard let result = home.controller.command({ engine, now in Result { try body(&engine, now) } }) else {
      throw SimulationError.timedOut(at: home.world.now)
    }
    return try result.get()
  }

  private func changed(_ outcome: OperationOutcome) throws -> GroupRecord {
    guard case .groupChanged(let record) = outcome else { throw SimulationError.timedOut(at: .zero) }
    return record
  }

  /// A group member without an address of the family receives no multicast of that family.
  @Test func multicastRequiresAddressFamily() throws {
    let world = World(seed: 1)
    let machine = world.addMachine("lamp")
    let (pinger, _) = world.addPair()
    let transport = try machine.openTransport(.all, port: 5540, on: machine.eventLoop)
    var received = 0
    transport.onDatagram = { _, _ in received += 1 }
    let group = IPAddress.v6(high: 0xFF35_0040_FD00_0000, low: 1, scope: 0)
    _ = transport.join(group, port: 5540)
    func send() throws -> Int {
      received = 0
      pinger.command { engine, _ in engine.effects = [.send([10], to: SocketAddress(group, port: 5540))] }
      try world.run(for: .milliseconds(100))
      return received
    }
    #expect(try send() == 1)
    machine.setFamily(.v4, isOn: false)
    #expect(try send() == 1)
    machine.setFamily(.v6, isOn: false)
    #expect(try send() == 0)
    machine.setFamily(.v4, isOn: true)
    #expect(try send() == 0)
    machine.setFamily(.v6, isOn: true)
    #expect(try send() == 1)
    // The address is removed while a datagram is in flight.
    pinger.command { engine, _ in engine.effects = [.send([10], to: SocketAddress(group, port: 5540))] }
    machine.setFamily(.v6, isOn: false)
    try world.run(for: .milliseconds(100))
    #expect(received == 1)
  }

  @Test func createsControlsAndLeavesGroup() throws {
    let home = try SimulatedHome()
    let node = try home.commission()
    home.controller.command { engine, _ in
      #expect(throws: Never.self) { try engine.createGroup(name: "Den") }
      #expect(engine.groups.map(\.id) == [Self.group])
    }
    let before = try isOn(home)
    let wanted = before ? OnOff.off.id : OnOff.on.id
    let back = before ? OnOff.on.id : OnOff.off.id
    try send(home, wanted)
    #expect(try isOn(home) == before, "the group has no members")

    let joined = try changed(
      try home.result { $0.addMember(node, endpoint: 1, to: Self.group, at: $1) })
    #expect(joined.members == [.init(node, 1)])
    try send(home, wanted)
    #expect(try isOn(home) == !before)
    // Joining again changes neither keys nor access nor membership.
    _ = try home.result { $0.addMember(node, endpoint: 1, to: Self.group, at: $1) }
    let report = try home.read([AttributePath(AccessControl.acl.path(on: 0))])
    let entries = try report.value(of: AccessControl.acl, on: 0)
    #expect(entries.count == 2 && entries[1].subjects == .value([1]) && entries[1].authMode == .group)

    // Works after a restart of either side.
    home.controller.restart()
    home.controller.forgetEvents()
    try send(home, back)
    #expect(try isOn(home) == before)
    home.light.restart()
    try home.world.run(for: .seconds(1))
    let now = try isOn(home)
    try send(home, now ? OnOff.off.id : OnOff.on.id)
    #expect(try isOn(home) == !now)

    // No groupcast without multicast, nor across a router.
    let stays = try isOn(home)
    let light = home.light.id
    for isSilent in [true, false] {
      if isSilent {
        home.world.network.withoutMulticast = [light]
      } else {
        home.world.network.networks = [light: "iot"]
      }
      try send(home, stays ? OnOff.off.id : OnOff.on.id)
      #expect(try isOn(home) == stays)
      (home.world.network.withoutMulticast, home.world.network.networks) = ([], [:])
    }
    #expect(home.world.network.losses[.multicast] == 2)

    let left = try changed(try home.result { $0.removeMember(node, endpoint: 1, from: Self.group, at: $1) })
    #expect(left.members.isEmpty)
    let last = try isOn(home)
    try send(home, last ? OnOff.off.id : OnOff.on.id)
    #expect(try isOn(home) == last)
    let after = try home.read([AttributePath(AccessControl.acl.path(on: 0))])
    #expect(try after.value(of: AccessControl.acl, on: 0).count == 1)
    let map = try home.read([AttributePath(GroupKeyManagement.groupKeyMap.path(on: 0))])
    #expect(try map.value(of: GroupKeyManagement.groupKeyMap, on: 0) == [])
  }

  @Test func rejectsInvalidGroupOperations() throws {
    let home = try SimulatedHome()
    let node = try home.commission()
    home.controller.command { engine, now in
      #expect(throws: ControllerError.self) { try engine.createGroup(0, name: "") }
      #expect(throws: ControllerError.self) { try engine.createGroup(0x8000, name: "") }
      #expect(throws: ControllerError.self) { try engine.createGroup(name: "more than sixteen") }
      #expect(throws: ControllerError.self) { try engine.invoke(group: 1, cluster: 6, command: 1, at: now) }
      #expect(throws: Never.self) { try engine.createGroup(5, name: "five") }
      #expect(throws: ControllerError.self) { try engine.createGroup(5, name: "again") }
      let write = AttributeWrite(OnOff.onTime.path(on: 1), value: UInt16(1).tlv)
      #expect(throws: ControllerError.self) { try engine.write(group: 5, [write], at: now) }
      #expect(throws: Never.self) { try engine.deleteGroup(5) }
      #expect(throws: ControllerError.self) { try engine.deleteGroup(5) }
    }
    #expect(throws: ControllerError.self) { try home.result { $0.addMember(node, endpoint: 1, to: 5, at: $1) } }
    home.controller.command { engine, _ in
      #expect(throws: Never.self) { try engine.createGroup(5, name: "five") }
    }
    // Endpoint 0 has no Groups cluster.
    #expect(throws: ControllerError.status(Status(.unsupportedCluster))) {
      try home.result { $0.addMember(node, endpoint: 0, to: 5, at: $1) }
    }
    #expect(home.controller.engine?.groups.first?.members == [])
  }

  @Test("an offline member leaves a deleted group on return, even after a controller restart")
  func deletedGroupIsLeftLater() throws {
    let home = try SimulatedHome()
    let node = try home.commission()
    let den = try perform(home) { engine, _ in try engine.createGroup(name: "Den") }
    _ = try changed(try home.result { $0.addMember(node, endpoint: 1, to: den.id, at: $1) })
    home.light.cutPower()
    let deleted = try perform(home) { engine, _ in try engine.deleteGroup(den.id) }
    #expect(deleted.holders == [node])
    #expect(throws: ControllerError.self) { try home.result { $0.leaveGroup(node, den.id, at: $1) } }
    #expect(throws: ControllerError.self) {
      try perform(home) { try $0.invoke(group: den.id, cluster: 6, command: 1, at: $1) }
    }
    #expect(throws: ControllerError.self) {
      try perform(home) { engine, _ in try engine.createGroup(den.id, name: "Den") }
    }
    let hall = try perform(home) { engine, _ in try engine.createGroup(name: "Hall") }
    #expect(hall.id != den.id && hall.keySet != den.keySet)

    home.controller.restart()
    home.controller.forgetEvents()
    #expect(home.controller.engine?.deletedGroups == [deleted])
    home.light.powerOn()
    try home.world.run(for: .seconds(5))
    // Any interaction with the node triggers the removal.
    _ = try home.read([AttributePath(OnOff.onOff.path(on: 1))])
    try home.world.run(for: .seconds(5))
    #expect(home.controller.engine?.deletedGroups == [])
    let light = try home.read([
      AttributePath(GroupKeyManagement.groupKeyMap.path(on: 0)), AttributePath(AccessControl.acl.path(on: 0)),
      AttributePath(GroupKeyManagement.groupTable.path(on: 0)),
    ])
    #expect(try light.value(of: GroupKeyManagement.groupKeyMap, on: 0) == [])
    #expect(try light.value(of: GroupKeyManagement.groupTable, on: 0) == [])
    #expect(try light.value(of: AccessControl.acl, on: 0).count == 1)
    let keys = try home.result { $0.invoke(GroupKeyManagement.keySetReadAllIndices, .init(), on: 0, of: node, at: $1) }
    guard case .invoked(let results) = keys else { throw SimulationError.timedOut(at: .zero) }
    let answer = try results.response(of: GroupKeyManagement.keySetReadAllIndices)
    #expect(answer.groupKeySetIDs == [0])
    // The number is free again, and the new group has its own key.
    #expect(try perform(home) { engine, _ in try engine.createGroup(name: "Den") }.id == den.id)
  }

  @Test("a member with a session leaves a deleted group with its next report")
  func reportingMemberLeaves() throws {
    let home = try SimulatedHome()
    let node = try home.commission()
    let den = try perform(home) { engine, _ in try engine.createGroup(name: "Den") }
    _ = try changed(try home.result { $0.addMember(node, endpoint: 1, to: den.id, at: $1) })
    _ = try perform(home) { engine, now in
      engine.subscribe(
        node, SubscriptionRequest(paths: [AttributePath(OnOff.onOff.path(on: 1))], maxInterval: .seconds(10)), at: now)
    }
    try home.world.run(for: .seconds(1))
    _ = try perform(home) { engine, _ in try engine.deleteGroup(den.id) }
    try home.world.run(for: .seconds(15))
    #expect(home.controller.engine?.deletedGroups == [])
  }

  @Test("rejects a name in use, ignoring case") func nameInUse() throws {
    let home = try SimulatedHome()
    _ = try perform(home) { engine, _ in try engine.createGroup(name: "Den") }
    #expect(throws: ControllerError.self) { try perform(home) { engine, _ in try engine.createGroup(name: "DEN") } }
  }

  @Test("keeps the number and keys of a group after a forced removal of a member")
  func lostMemberKeepsNumber() throws {
    let home = try SimulatedHome()
    let node = try home.commission()
    let den = try perform(home) { engine, _ in try engine.createGroup(name: "Den") }
    _ = try changed(try home.result { $0.addMember(node, endpoint: 1, to: den.id, at: $1) })
    home.light.cutPower()
    _ = try home.result { $0.removeNode(node, force: true, at: $1) }
    #expect(home.controller.engine?.groups.first?.members == [])
    // A new group does not reuse the keys that the removed member still has.
    let hall = try perform(home) { engine, _ in try engine.createGroup(name: "Hall") }
    #expect(hall.keySet != den.keySet)
    _ = try perform(home) { engine, _ in try engine.deleteGroup(den.id) }
    #expect(throws: ControllerError.self) {
      try perform(home) { engine, _ in try engine.createGroup(den.id, name: "Den") }
    }
  }

  @Test("an unreachable node is not a holder of the group's keys")
  func refusedJoinLeavesNothing() throws {
    let home = try SimulatedHome()
    let node = try home.commission()
    let den = try perform(home) { engine, _ in try engine.createGroup(name: "Den") }
    home.controller.restart()
    home.controller.forgetEvents()
    home.light.cutPower()
    #expect(throws: ControllerError.self) { try home.result { $0.addMember(node, endpoint: 1, to: den.id, at: $1) } }
    #expect(home.controller.engine?.groups.first?.holders == [])
  }

  @Test("a node that lost power after the keys were sent counts as a holder") func sentKeysCount() throws {
    var holders: Set<[NodeID]> = []
    for time in 1...40 {
      let home = try SimulatedHome()
      let node = try home.commission()
      let den = try perform(home) { engine, _ in try engine.createGroup(name: "Den") }
      _ = try perform(home) { engine, now in engine.addMember(node, endpoint: 1, to: den.id, at: now) }
      try home.world.run(for: .milliseconds(Int64(time)))
      home.light.cutPower()
      try home.world.run(for: .seconds(60))
      let group = try #require(home.controller.engine?.groups.first)
      if group.members.isEmpty { holders.insert(group.holders) }
    }
    #expect(holders == [[], [1]])
  }

  @Test("a failed join leaves no keys, or keys that are removed with the group")
  func failedJoinIsUndone() throws {
    let home = try SimulatedHome()
    let node = try home.commission()
    let den = try perform(home) { engine, _ in try engine.createGroup(name: "Den") }
    // Endpoint 0 has no Groups cluster.
    #expect(throws: ControllerError.status(Status(.unsupportedCluster))) {
      try home.result { $0.addMember(node, endpoint: 0, to: den.id, at: $1) }
    }
    let keys = try home.result { $0.invoke(GroupKeyManagement.keySetReadAllIndices, .init(), on: 0, of: node, at: $1) }
    guard case .invoked(let results) = keys else { throw SimulationError.timedOut(at: .zero) }
    #expect(try results.response(of: GroupKeyManagement.keySetReadAllIndices).groupKeySetIDs == [0])
    #expect(home.controller.engine?.groups.first?.holders == [])
    // A node has a limited number of groups. The remains of the join that exceeds it are removed.
    var joined = 0
    var last = den
    while joined < 100 {
      last = try perform(home) { engine, _ in try engine.createGroup(name: "Group \(joined)") }
      guard (try? home.result { $0.addMember(node, endpoint: 1, to: last.id, at: $1) }) != nil else { break }
      joined += 1
    }
    #expect((1..<100).contains(joined))
    #expect(try perform(home) { engine, _ in try engine.deleteGroup(last.id) }.holders == [node])
    _ = try changed(try home.result { $0.leaveGroup(node, last.id, at: $1) })
    for group in home.controller.engine?.groups ?? [] where group.id != den.id {
      _ = try changed(try home.result { $0.leaveGroup(node, group.id, at: $1) })
      _ = try perform(home) { engine, _ in try engine.deleteGroup(group.id) }
    }
    let after = try home.read([AttributePath(GroupKeyManagement.groupKeyMap.path(on: 0))])
    #expect(try after.value(of: GroupKeyManagement.groupKeyMap, on: 0) == [])
    #expect(home.controller.engine?.deletedGroups == [])
  }

  /// Loss is drawn for each receiver of a multicast datagram.
  @Test func multicastIsDeliveredToEachMemberIndependently() throws {
    let world = World(seed: 3)
    let address = IPAddress.multicast(fabricID: 1, group: 2)
    let hosts = (0..<3).map { number in
      world.add("h\(number)") { _ in Listener(joins: number > 0 ? address : nil) }
    }
    let target = SocketAddress(address, port: 5540)
    hosts[0].command { engine, _ in engine.effects.append(.send([1], to: target)) }
    try world.run(for: .seconds(1))
    #expect(hosts.map { $0.engine?.received } == [[], [[1]], [[1]]])
    world.network.partition([hosts[2].id], from: [hosts[0].id, hosts[1].id])
    hosts[1].command { engine, _ in engine.effects.append(.leave(address)) }
    hosts[0].command { engine, _ in engine.effects.append(.send([2], to: target)) }
    try world.run(for: .seconds(1))
    #expect(hosts.map { $0.engine?.received } == [[], [[1]], [[1]]])
    #expect(world.network.losses[.partition] == 1)
    world.network.heal()
    hosts[2].restart()
    hosts[0].command { engine, _ in engine.effects.append(.send([3], to: target)) }
    hosts[0].command { engine, _ in engine.effects.append(.send([4], to: SocketAddress(address, port: 5541))) }
    try world.run(for: .seconds(1))
    #expect(hosts.map { $0.engine?.received } == [[], [[1]], [[3]]])
  }
}

/// Records received datagrams, and performs the effects that the test adds.
private struct Listener: Engine {
  typealias Event = Never
  var received: [[UInt8]] = []
  var effects: [Effect<Never>] = []

  init(joins address: IPAddress?) {
    if let address { effects.append(.join(address)) }
  }

  mutating func handle(_ input: consuming Input, at now: Instant) {
    if case .datagram(let bytes, _) = input { received.append(bytes) }
  }
  mutating func advance(to now: Instant) {}
  var nextDeadline: Instant? { nil }
  mutating func nextEffect() -> Effect<Never>? { effects.isEmpty ? nil : effects.removeFirst() }
}
