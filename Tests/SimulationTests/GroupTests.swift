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

  private func changed(_ outcome: OperationOutcome) throws -> GroupRecord {
    guard case .groupChanged(let record) = outcome else { throw SimulationError.timedOut(at: .zero) }
    return record
  }

  /// Who has no address of a family hears nothing that is sent by it, though it joined.
  @Test func aGroupWithoutAddresses() throws {
    let world = World(seed: 1)
    let machine = world.addMachine("lamp")
    let (pinger, _) = world.addPair()
    let transport = try machine.openTransport(.all, port: 5540, on: machine.eventLoop)
    var heard = 0
    transport.onDatagram = { _, _ in heard += 1 }
    let group = IPAddress.v6(high: 0xFF35_0040_FD00_0000, low: 1, scope: 0)
    _ = transport.join(group, port: 5540)
    func send() throws -> Int {
      heard = 0
      pinger.command { engine, _ in engine.effects = [.send([10], to: SocketAddress(group, port: 5540))] }
      try world.run(for: .milliseconds(100))
      return heard
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
    // The address goes while it is on its way.
    pinger.command { engine, _ in engine.effects = [.send([10], to: SocketAddress(group, port: 5540))] }
    machine.setFamily(.v6, isOn: false)
    try world.run(for: .milliseconds(100))
    #expect(heard == 1)
  }

  @Test func aGroupIsMadeSwitchedAndLeft() throws {
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
    #expect(try isOn(home) == before, "nobody is in the group")

    let joined = try changed(
      try home.result { $0.addMember(node, endpoint: 1, to: Self.group, at: $1) })
    #expect(joined.members == [.init(node, 1)])
    try send(home, wanted)
    #expect(try isOn(home) == !before)
    // Twice is as good as once: keys, access and membership are as they were.
    _ = try home.result { $0.addMember(node, endpoint: 1, to: Self.group, at: $1) }
    let report = try home.read([AttributePath(AccessControl.acl.path(on: 0))])
    let entries = try report.value(of: AccessControl.acl, on: 0)
    #expect(entries.count == 2 && entries[1].subjects == .value([1]) && entries[1].authMode == .group)

    // All goes on after a restart of either.
    home.controller.restart()
    home.controller.forgetEvents()
    try send(home, back)
    #expect(try isOn(home) == before)
    home.light.restart()
    try home.world.run(for: .seconds(1))
    let now = try isOn(home)
    try send(home, now ? OnOff.off.id : OnOff.on.id)
    #expect(try isOn(home) == !now)

    // No groupcast where multicast gets nowhere, nor over a router.
    let stays = try isOn(home)
    let light = home.light.id
    for isSilent in [true, false] {
      if isSilent { home.world.network.silent = [light] } else { home.world.network.places = [light: "iot"] }
      try send(home, stays ? OnOff.off.id : OnOff.on.id)
      #expect(try isOn(home) == stays)
      (home.world.network.silent, home.world.network.places) = ([], [:])
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

  @Test func whatCanNotBeIsRefused() throws {
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

  /// Each receiver may get a multicast datagram or not.
  @Test func multicastIsCarriedToEachMemberByItself() throws {
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

/// Takes in what it gets, and does what it is told.
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
