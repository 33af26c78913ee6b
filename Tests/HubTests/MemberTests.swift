import Foundation
import HearthHome
import HomeModel
import HomeStore
import MatterClusters
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Scenario
import Simulation
import Synchronization
import Testing
import VirtualDevices

@testable import HomeControl
@testable import Hub
@testable import MatterController

/// Own sessions of invited clients with the devices, over the simulated network.
@Suite("Members", .timeLimit(.minutes(10))) struct MemberTests {
  static let onOff = OnOff.onOff.path(on: 1)
  static let toggle = CommandData(OnOff.toggle.path(on: 1))

  static func definition(_ lamps: Int = 1) throws -> HomeDefinition {
    let lines = (1...lamps).map { "  - { name: Lamp \($0), type: on/off light }\n" }
    return try HomeDefinition.load(simulating: [("home.yaml", "devices:\n" + lines.joined())])
  }

  /// An invited client on a machine of its own. It has no hub; its routes are those of the simulated network.
  struct Member: Sendable {
    let machine: SimulatedMachine
    let options: HubClient.Options
    let saved = Mutexed<ClientMembership?>(nil)

    init(_ name: String, _ role: HomeRole, of home: Home, in world: SimulatedHome) async throws {
      let machine = await world.simulation.perform { $0.addMachine(name) }
      let controller = try home.controller
      var membership = try await ClientMembership.requested(machine, of: ServedHome.identity, interfaces: ["all"]) {
        request throws(HomeError) in
        let reply = try await controller.perform(.certify(request: request), as: role, origin: nil) { _ in }
        guard case .certified(let credentials) = reply else { throw .unexpectedReply }
        return credentials
      }
      _ = membership.note(await home.state)
      var network = HomeController.Options(state: StateDirectory("/\(name)"), logger: ServedHome.logger)
      (network.interfaces, network.discovery, network.machine) = (.all, .builtin, machine)
      var options = HubClient.Options(routes: [], name: name, logger: ServedHome.logger)
      options.machine = machine
      options.direct = HubClient.DirectAccess(membership: membership, role: role, controller: network) {
        [saved] in saved.value = $0
      }
      (self.machine, self.options) = (machine, options)
    }

    /// A link without a hub, as the client has beside its hubs.
    func link() throws -> MemberLink {
      MemberLink(
        try #require(options.direct), of: options, on: machine.nextEventLoop(), known: { nil }, report: { _ in })
    }
  }

  final class Mutexed<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>
    init(_ value: Value) { mutex = Mutex(value) }
    var value: Value {
      get { mutex.withLock { $0 } }
      set { mutex.withLock { $0 = newValue } }
    }
  }

  static func nodes(_ home: Home) async throws -> [NodeID] {
    let controller = try home.controller
    return await controller.nodes.map(\.nodeID)
  }

  static func isOn(_ home: Home, _ node: NodeID) async throws -> Bool {
    let controller = try home.controller
    let report = try await controller.read(node, [AttributePath(onOff)])
    return try Bool(tlv: try #require(report[onOff]?.value))
  }

  typealias Entry = AccessControl.AccessControlEntryStruct
  static let acl = AccessControl.acl.path(on: .root)

  static func accessList(_ home: Home, _ node: NodeID) async throws -> [Entry] {
    let controller = try home.controller
    let report = try await controller.read(node, [AttributePath(acl)])
    return try [Entry](tlv: try #require(report[acl]?.value))
  }

  static func writeAccessList(_ entries: [Entry], _ home: Home, _ node: NodeID) async throws {
    let controller = try home.controller
    let entries = entries.map {
      Entry(privilege: $0.privilege, authMode: $0.authMode, subjects: $0.subjects, targets: $0.targets)
    }
    let reply = try await controller.perform(
      .write(node: node, writes: [AttributeWrite(acl, value: entries.tlv)], isTimed: false), as: .owner, origin: nil
    ) { _ in }
    guard case .written(let statuses) = reply else { throw HomeError.unexpectedReply }
    #expect(statuses.allSatisfy { $0.status.code == .success })
  }

  @Test func controlsDeviceWithoutHub() async throws {
    let run = await simulate(try Self.definition(), seed: 1) { home, world in
      let node = try #require(try await Self.nodes(home).first)
      let member = try await Member("panel", .member, of: home, in: world)
      #expect(member.options.direct?.membership.credentials.nodes == [node])
      // The entry of the controller is kept.
      #expect(try await Self.accessList(home, node).map(\.privilege) == [.administer, .operate])
      try await world.cutPower(of: "hub")
      let client = try await Home(through: member.options)
      let device = try #require(try await client.devices().list().first)
      #expect(device.name == "Lamp 1" && device.sourceConnectivity.connectivityState == .unknown)
      #expect(device.offlineReason == .hubUnreachable)
      try await client.backend.perform(.invoke(node: node, command: Self.toggle, isTimed: false))
      let reply = try await client.backend.perform(
        .read(node: node, paths: [AttributePath(Self.onOff)], isFabricFiltered: true, timeout: nil))
      guard case .report(let attributes, _) = reply else { throw HomeError.unexpectedReply }
      #expect(attributes.map(\.value) == [true.tlv])
      _ = try await client.backend.invoke(
        Self.toggle, isTimed: false, of: device.id, by: nil, timeout: nil as Duration?)
      try await world.simulation.sleep(for: .seconds(1))
      let states = try await client.devices().list()
      #expect(states.map(\.sourceConnectivity) == [.init(.online, .peer)] && states.map(\.offlineReason) == [nil])
      // All other requests require the hub.
      #expect(await code { _ = try await client.anchor() } == .unreachable)
      #expect(await code { _ = try await client.addRoom("Den") } == .accessDenied)
      try await world.cutPower(of: "Lamp 1")
      let toggle = HomeRequest.invoke(node: node, command: Self.toggle, isTimed: false)
      #expect(await code { try await client.backend.perform(toggle) } != nil)
      try await world.simulation.sleep(for: .seconds(60))
      let lost = try #require(try await client.devices().list().first)
      #expect(lost.sourceConnectivity.connectivityState == .offline)
      try await world.restorePower(of: "Lamp 1")
      try await world.simulation.sleep(for: .seconds(60))
      #expect(try await client.devices().list().map(\.sourceConnectivity.connectivityState) == [.offline])
      try await client.backend.perform(toggle)
      try await world.simulation.sleep(for: .seconds(60))
      #expect(try await client.devices().list().map(\.sourceConnectivity) == [.init(.online, .peer)])
      await client.close()
    }
    try run.result.get()
  }

  @Test func revocationEndsRightsOnDevices() async throws {
    let run = await simulate(try Self.definition(2), seed: 2) { home, world in
      let controller = try home.controller
      let nodes = try await Self.nodes(home)
      _ = try await home.invite("Ada", .member)
      _ = try await home.invite("Bob", .member)
      let ada = try await Member("ada", .member, of: home, in: world)
      let bob = try await Member("bob", .member, of: home, in: world)
      let guest = try await Member("eve", .guest, of: home, in: world)
      let (adas, bobs, guests) = (try ada.link(), try bob.link(), try guest.link())
      let writers = try await Member("cid", .member, of: home, in: world).link()
      let request = { (node: NodeID) in HomeRequest.invoke(node: node, command: Self.toggle, isTimed: false) }
      #expect(await adas.attempt(request(nodes[0]), within: .seconds(2)).isDone)
      #expect(await bobs.attempt(request(nodes[0]), within: .seconds(2)).isDone)
      // The second device is away.
      try await world.cutPower(of: "Lamp 2")
      try await world.simulation.sleep(for: .seconds(200))
      #expect(try await home.revoke("Ada").pendingDevices == ["Lamp 2"])
      #expect(!(await adas.attempt(request(nodes[0]), within: .seconds(2)).isDone))
      #expect(await adas.isRefused)
      // All of several writes are refused.
      let lamp = try #require(await home.state.orderedDevices.first { $0.name == "Lamp 1" })
      let writes = [OnOff.onTime, OnOff.offWaitTime].map { AttributeWrite($0.path(on: 1), value: UInt16(1).tlv) }
      let write = HomeRequest.writeDevice(device: lamp.id, source: nil, writes: writes, isTimed: false, timeout: nil)
      #expect(await writers.attempt(write, within: .seconds(2)).isNotPerformed)
      #expect(await writers.isRefused)
      // The others of the role get new certificates.
      #expect(!(await bobs.attempt(request(nodes[0]), within: .seconds(2)).isDone))
      #expect(await bobs.needsRenewal(after: request(nodes[0])))
      // A device omits what a wildcard path may not read.
      let wildcard = HomeRequest.read(
        node: nodes[0], paths: [AttributePath(endpoint: 1, cluster: Self.onOff.cluster)], isFabricFiltered: true,
        timeout: nil)
      #expect(await bobs.attempt(wildcard, within: .seconds(2)).isNotPerformed)
      let renewed = try await controller.perform(
        .certify(request: try await bobs.direct.membership.request), as: .member, origin: nil
      ) { _ in }
      guard case .certified(let credentials) = renewed else { throw HomeError.unexpectedReply }
      #expect(credentials.nodes == [nodes[0]])
      await bobs.renew(credentials)
      #expect(bob.saved.value?.credentials == credentials)
      #expect(await bobs.attempt(request(nodes[0]), within: .seconds(2)).isDone)
      // Other roles are not affected.
      let read = { (node: NodeID) in
        HomeRequest.read(node: node, paths: [AttributePath(Self.onOff)], isFabricFiltered: true, timeout: nil)
      }
      #expect(await guests.attempt(read(nodes[0]), within: .seconds(2)).isDone)
      // The device gets the changed entry when it is back.
      try await world.restorePower(of: "Lamp 2")
      try await world.simulation.sleep(for: .seconds(60))
      let late = try ada.link()
      #expect(await late.attempt(request(nodes[1]), within: .seconds(2)).isNotPerformed)
      #expect(await late.isRefused)
      #expect(try await Self.isOn(home, nodes[1]) == false)
      let again = try await controller.perform(
        .certify(request: try await bobs.direct.membership.request), as: .member, origin: nil
      ) { _ in }
      guard case .certified(let all) = again else { throw HomeError.unexpectedReply }
      #expect(all.nodes == nodes)
      await bobs.renew(all)
      #expect(await bobs.attempt(request(nodes[1]), within: .seconds(2)).isDone)
      #expect(await bobs.attempt(write, within: .seconds(2)).isDone)
      for link in [adas, bobs, guests, writers, late] { await link.end() }
    }
    try run.result.get()
  }

  @Test func guestOnlyReads() async throws {
    let run = await simulate(try Self.definition(), seed: 3) { home, world in
      let node = try #require(try await Self.nodes(home).first)
      let guest = try await Member("eve", .guest, of: home, in: world)
      let client = try await Home(through: guest.options)
      let read = HomeRequest.read(
        node: node, paths: [AttributePath(Self.onOff)], isFabricFiltered: true, timeout: nil)
      guard case .report(let attributes, _) = try await client.backend.perform(read) else {
        throw HomeError.unexpectedReply
      }
      #expect(attributes.map(\.value) == [false.tlv])
      #expect(
        await code { try await client.backend.perform(.invoke(node: node, command: Self.toggle, isTimed: false)) }
          == .accessDenied)
      await client.close()
      // The hub refuses what the role may not read.
      let own = try guest.link()
      let access = HomeRequest.read(
        node: node, paths: [AttributePath(Self.acl)], isFabricFiltered: true, timeout: nil)
      #expect(await own.attempt(access, within: .seconds(2)).isNotPerformed)
      #expect(await !own.isRefused)
      await own.end()
      // The device itself refuses a client that ignores its role.
      var options = guest.options
      options.direct?.role = .member
      let hostile = MemberLink(
        try #require(options.direct), of: options, on: guest.machine.nextEventLoop(), known: { nil }, report: { _ in })
      #expect(
        !(await hostile.attempt(.invoke(node: node, command: Self.toggle, isTimed: false), within: .seconds(2)).isDone))
      #expect(await hostile.isRefused)
      // Requests for new credentials are rare.
      #expect(await !hostile.needsRenewal(after: read))
      try await world.simulation.sleep(for: .seconds(60))
      #expect(await hostile.needsRenewal(after: read))
      _ = try await hostile.renewalRequest()
      #expect(await !hostile.needsRenewal(after: read))
      #expect(try await Self.isOn(home, node) == false)
      await hostile.end()
    }
    try run.result.get()
  }

  @Test("leaves a device that can't be reached to the hub within two seconds") func leavesUnreachableDevice()
    async throws
  {
    let run = await simulate(try Self.definition(), seed: 4) { home, world in
      let node = try #require(try await Self.nodes(home).first)
      let member = try await Member("panel", .member, of: home, in: world)
      let link = try member.link()
      let request = HomeRequest.invoke(node: node, command: Self.toggle, isTimed: false)
      let (here, there) = (member.machine.id, try await world.machine(of: "Lamp 1").id)
      await world.simulation.perform { $0.network.cut(from: here, to: there) }
      let begin = await world.simulation.perform { $0.now }
      #expect(await link.attempt(request, within: member.options.routeTimeout).isNotPerformed)
      #expect(await world.simulation.perform { $0.now } - begin < .seconds(2))
      await world.simulation.perform { $0.network.mend(from: here, to: there) }
      // The route is used again after the stable time.
      #expect(await link.attempt(request, within: member.options.routeTimeout).isNotPerformed)
      #expect(try await Self.isOn(home, node) == false)
      try await world.simulation.sleep(for: member.options.stableTime)
      #expect(await link.attempt(request, within: member.options.routeTimeout).isDone)
      #expect(try await Self.isOn(home, node))
      await link.end()
    }
    try run.result.get()
  }

  @Test("sends a command over one route only if its answer is lost") func performsCommandOnce() async throws {
    let run = await simulate(try Self.definition(), seed: 5) { home, world in
      let node = try #require(try await Self.nodes(home).first)
      let member = try await Member("panel", .member, of: home, in: world)
      let link = try member.link()
      let read = HomeRequest.read(
        node: node, paths: [AttributePath(Self.onOff)], isFabricFiltered: true, timeout: nil)
      #expect(await link.attempt(read, within: .seconds(2)).isDone)
      // The session is established; from now on, no message of the device arrives.
      let (here, there) = (member.machine.id, try await world.machine(of: "Lamp 1").id)
      await world.simulation.perform { $0.network.cut(from: there, to: here) }
      let toggle = HomeRequest.invoke(node: node, command: Self.toggle, isTimed: false)
      guard case .failed(let error) = await link.attempt(toggle, within: .seconds(2)) else {
        Issue.record("the command would be sent over another route")
        return
      }
      #expect(error.code == .unreachable || error.code == .timedOut)
      #expect(try await Self.isOn(home, node))
      // Reads use the other route.
      try await world.simulation.sleep(for: .seconds(10))
      #expect(await link.attempt(read, within: .seconds(1)).isNotPerformed)
      await link.end()
    }
    try run.result.get()
  }

  @Test func newDevicesGrantRightsOfClients() async throws {
    var options = SimulatedHomeOptions()
    options.isPaired = false
    let run = await simulate(try Self.definition(2), seed: 6, options) { home, world in
      try await world.pairDevice("Lamp 1")
      let member = try await Member("panel", .member, of: home, in: world)
      try await world.pairDevice("Lamp 2")
      try await world.simulation.sleep(for: .seconds(5))
      let controller = try home.controller
      let nodes = try await Self.nodes(home)
      let (reply, role) = (
        try await controller.perform(
          .certify(request: try #require(member.options.direct).membership.request), as: .owner, origin: nil
        ) { _ in }, HomeRole.owner
      )
      guard case .certified(let credentials) = reply else { throw HomeError.unexpectedReply }
      #expect(credentials.nodes == nodes && nodes.count == 2)
      // An owner has the rights of a member in its own sessions.
      var direct = try #require(member.options.direct)
      direct.membership.renew(credentials, at: 0)
      direct.role = role
      let link = MemberLink(
        direct, of: member.options, on: member.machine.nextEventLoop(), known: { nil }, report: { _ in })
      let toggle = HomeRequest.invoke(node: nodes[1], command: Self.toggle, isTimed: false)
      #expect(await link.attempt(toggle, within: .seconds(2)).isDone)
      let access = HomeRequest.read(
        node: nodes[1], paths: [AttributePath(AccessControl.acl.path(on: .root))], isFabricFiltered: true, timeout: nil)
      #expect(await link.attempt(access, within: .seconds(2)).isNotPerformed)
      await link.end()
    }
    try run.result.get()
  }

  @Test func storesMembershipForUserOnly() async throws {
    let run = await simulate(try Self.definition(), seed: 7) { home, world in
      try #require(try await Member("panel", .member, of: home, in: world).options.direct).membership
    }
    let membership = try run.result.get()
    let scratch = Scratch()
    try membership.update(in: scratch.state)
    #expect(try ClientMembership.stored(in: scratch.state) == nil, "nothing to update")
    try membership.store(in: scratch.state)
    let attributes = try FileManager.default.attributesOfItem(atPath: scratch.state.root + "/hub/membership")
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let stored = try #require(try ClientMembership.stored(in: scratch.state))
    #expect(stored == membership)
    #expect(stored.state.orderedDevices.map(\.name) == ["Lamp 1"])
    // Another process has later credentials.
    var later = membership
    later.renew(membership.credentials, at: 0)
    #expect(later.time == membership.time + 1)
    try later.update(in: scratch.state)
    try membership.update(in: scratch.state)
    #expect(try ClientMembership.stored(in: scratch.state) == later)
    try HubInvitation.remove(from: scratch.state)
    try later.update(in: scratch.state)
    #expect(try ClientMembership.stored(in: scratch.state) == nil)
    // The hub is left while another process stores new credentials.
    for _ in 0..<50 {
      try membership.store(in: scratch.state)
      async let update: Void = try membership.update(in: scratch.state)
      try HubInvitation.remove(from: scratch.state)
      try await update
      #expect(try ClientMembership.stored(in: scratch.state) == nil)
    }
    // The invitation to another home.
    for (identity, isUsed) in [(ServedHome.identity, true), (String(repeating: "0B", count: 16), false)] {
      let invitation = HubInvitation(
        addresses: [.web(host: "hub.example", port: 443, path: "/")], token: String(repeating: "0F", count: 16),
        fingerprint: nil, home: identity, name: "Ada", role: .member)
      try invitation.store(in: scratch.state)
      try membership.store(in: scratch.state)
      let options = try #require(try HubClient.Options(joinedIn: scratch.state, logger: ServedHome.logger))
      #expect((options.direct != nil) == isUsed)
    }
    // A controller that can't be opened leaves no home in memory.
    var failing = HomeController.Options(state: scratch.state, logger: ServedHome.logger)
    (failing.membership, failing.known, failing.discovery) = (try membership.fabric, membership.state, .off)
    failing.interfaces = InterfaceSelection(names: ["none0"])
    let options = failing
    #expect(await code { _ = try await HomeController.open(options) } == .badArguments)
    let left = try HomeDatabase.open(failing.databasePath, isInMemory: true)
    #expect(try left.load().state.orderedDevices.isEmpty)
    InMemoryHomes.remove(below: failing.memberDirectory)
  }

  @Test func restoresOverwrittenEntries() async throws {
    let run = await simulate(try Self.definition(), seed: 8) { home, world in
      let node = try #require(try await Self.nodes(home).first)
      _ = try await Member("panel", .member, of: home, in: world)
      let entries = try await Self.accessList(home, node)
      #expect(entries.map(\.privilege) == [.administer, .operate])
      try await Self.writeAccessList(Array(entries.prefix(1)), home, node)
      try await world.simulation.sleep(for: .seconds(200))
      #expect(try await Self.accessList(home, node).map(\.privilege) == [.administer, .operate])
    }
    try run.result.get()
  }

  @Test func reportsFullAccessControlList() async throws {
    let run = await simulate(try Self.definition(), seed: 9) { home, world in
      let node = try #require(try await Self.nodes(home).first)
      let others = ([7, 8, 9] as [NodeID]).map {
        Entry(privilege: .view, authMode: .case, subjects: .value([$0]), targets: .null)
      }
      try await Self.writeAccessList(try await Self.accessList(home, node) + others, home, node)
      let member = try await Member("panel", .member, of: home, in: world)
      #expect(member.options.direct?.membership.credentials.nodes.isEmpty == true)
      let controller = try home.controller
      #expect(await controller.status.missingAccess == ["Lamp 1"])
    }
    try run.result.get()
  }

  @Test func usesChangedStructure() async throws {
    let run = await simulate(try Self.definition(2), seed: 10) { home, world in
      let member = try await Member("panel", .member, of: home, in: world)
      let state = await home.state
      let ids = state.orderedDevices.map(\.id)
      var earlier = state
      earlier.apply(.deviceRemoved(id: ids[1]))
      let known = Mutexed<HomeState?>(earlier)
      let link = MemberLink(
        try #require(member.options.direct), of: member.options, on: member.machine.nextEventLoop(),
        known: { known.value }, report: { _ in })
      let toggle = { (device: String) in
        HomeRequest.invokeDevice(device: device, source: nil, command: Self.toggle, isTimed: false, timeout: nil)
      }
      #expect(await link.attempt(toggle(ids[0]), within: .seconds(2)).isDone)
      #expect(await link.attempt(toggle(ids[1]), within: .seconds(2)).isNotPerformed)
      known.value = state
      #expect(await link.attempt(toggle(ids[1]), within: .seconds(2)).isDone)
      await link.end()
    }
    try run.result.get()
  }

  @Test func endsFinally() async throws {
    let run = await simulate(try Self.definition(), seed: 11) { home, world in
      let node = try #require(try await Self.nodes(home).first)
      let member = try await Member("panel", .member, of: home, in: world)
      let link = try member.link()
      let toggle = HomeRequest.invoke(node: node, command: Self.toggle, isTimed: false)
      let send = { @Sendable in
        await link.send(toggle, origin: nil, within: .seconds(60)) { _ in }.error?.code
      }
      // The refusal of a hub ends when one accepts the client.
      await link.change { $0.refuseNow(HomeError(.accessDenied, "no")) }
      #expect(await send() == .accessDenied)
      // It is stored, so that a later process does not use its sessions either.
      var later = member.options
      later.direct?.membership = try #require(member.saved.value)
      let next = MemberLink(
        try #require(later.direct), of: later, on: member.machine.nextEventLoop(), known: { nil }, report: { _ in })
      #expect(await next.attempt(toggle, within: .seconds(2)).isNotPerformed)
      await next.end()
      await link.change { $0.acceptNow() }
      #expect(member.saved.value?.refusal == nil)
      #expect(await send() == nil)
      // The sessions with an idle device are closed.
      let controller = try #require(await link.controller)
      #expect(await controller.isConnected(node))
      try await world.simulation.sleep(for: .seconds(3))
      #expect(await !controller.isConnected(node))
      // A request is outstanding.
      #expect(await send() == nil)
      let (here, there) = (member.machine.id, try await world.machine(of: "Lamp 1").id)
      await world.simulation.perform { $0.network.cut(from: there, to: here) }
      let outstanding = member.machine.task { await send() }
      try await world.simulation.sleep(for: .milliseconds(500))
      let begin = await world.simulation.perform { $0.now }
      await link.end()
      #expect(await outstanding.value == .interrupted)
      #expect(await world.simulation.perform { $0.now } - begin < .seconds(1))
      #expect(await send() == .interrupted)
      #expect(await link.attempt(toggle, within: .seconds(2)).isNotPerformed)
      #expect(await link.controller == nil)
    }
    try run.result.get()
  }
}

extension MemberLink {
  /// Calls a function for the event loop.
  fileprivate func change(_ body: @Sendable (MemberLink) -> Void) { body(self) }
}

extension Result {
  fileprivate var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}

extension MemberLink.Attempt {
  var isDone: Bool { if case .done = self { true } else { false } }
  var isNotPerformed: Bool { if case .notPerformed = self { true } else { false } }
}
