import Foundation
import HearthHome
import HomeStore
import MatterClusters
import MatterController
import MatterModel
import MatterProtocol
import Scenario
import Simulation
import Synchronization
import Testing
import VirtualDevices

@testable import HomeControl
@testable import Hub

/// Own sessions of invited clients with the devices, over the simulated network.
@Suite("Members", .timeLimit(.minutes(10))) struct MemberTests {
  private static let onOff = OnOff.onOff.path(on: 1)
  private static let toggle = CommandData(OnOff.toggle.path(on: 1))

  private static func definition(_ lamps: Int = 1) throws -> HomeDefinition {
    let lines = (1...lamps).map { "  - { name: Lamp \($0), type: on/off light }\n" }
    return try HomeDefinition.load(simulating: [("home.yaml", "devices:\n" + lines.joined())])
  }

  /// An invited client on a machine of its own. It has no hub; its routes are those of the simulated network.
  private struct Member: Sendable {
    let machine: SimulatedMachine
    let options: HubClient.Options
    let saved = Mutexed<ClientMembership?>(nil)

    init(_ name: String, _ role: HomeRole, of home: Home, in world: SimulatedHome) async throws {
      let machine = await world.simulation.perform { $0.addMachine(name) }
      let controller = try home.controller
      var membership = try await ClientMembership.requested(machine, interfaces: ["all"]) {
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
      options.direct = HubClient.DirectAccess(membership, role, network) { [saved] in saved.value = $0 }
      (self.machine, self.options) = (machine, options)
    }

    /// A link without a hub, as the client has beside its hubs.
    func link() throws -> MemberLink {
      MemberLink(
        try #require(options.direct), of: options, on: machine.nextEventLoop(), known: { nil }, report: { _ in })
    }
  }

  private final class Mutexed<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>
    init(_ value: Value) { mutex = Mutex(value) }
    var value: Value {
      get { mutex.withLock { $0 } }
      set { mutex.withLock { $0 = newValue } }
    }
  }

  private static func nodes(_ home: Home) async throws -> [NodeID] {
    let controller = try home.controller
    return await controller.nodes.map(\.nodeID)
  }

  private static func isOn(_ home: Home, _ node: NodeID) async throws -> Bool {
    let controller = try home.controller
    let report = try await controller.read(node, [AttributePath(onOff)])
    return try Bool(tlv: try #require(report[onOff]?.value))
  }

  @Test func controlsDeviceWithoutHub() async throws {
    let run = await simulate(try Self.definition(), seed: 1) { home, world in
      let node = try #require(try await Self.nodes(home).first)
      let member = try await Member("panel", .member, of: home, in: world)
      #expect(member.options.direct?.membership.credentials.nodes == [node])
      // The entry of the controller is kept.
      let controller = try home.controller
      let acl = AccessControl.acl.path(on: .root)
      let report = try await controller.read(node, [AttributePath(acl)])
      let entries = try [AccessControl.AccessControlEntryStruct](tlv: try #require(report[acl]?.value))
      #expect(entries.map(\.privilege) == [.administer, .operate])
      try await world.cutPower(of: "hub")
      let client = try await Home(through: member.options)
      let device = try #require(try await client.devices().list().first)
      #expect(device.name == "Lamp 1" && device.sourceConnectivity.connectivityState == .unknown)
      try await client.backend.perform(.invoke(node: node, command: Self.toggle, isTimed: false))
      let reply = try await client.backend.perform(
        .read(node: node, paths: [AttributePath(Self.onOff)], isFabricFiltered: true, timeout: nil))
      guard case .report(let attributes, _) = reply else { throw HomeError.unexpectedReply }
      #expect(attributes.map(\.value) == [true.tlv])
      _ = try await client.backend.invoke(
        Self.toggle, isTimed: false, of: device.id, by: nil, timeout: nil as Duration?)
      try await world.simulation.sleep(for: .seconds(1))
      let states = try await client.devices().list().map(\.sourceConnectivity)
      #expect(states == [.init(.online, .peer)])
      // All other requests require the hub.
      #expect(await code { _ = try await client.anchor() } == .unreachable)
      #expect(await code { _ = try await client.addRoom("Den") } == .accessDenied)
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
      let request = { (node: NodeID) in HomeRequest.invoke(node: node, command: Self.toggle, isTimed: false) }
      #expect(await adas.attempt(request(nodes[0]), within: .seconds(2)).isDone)
      #expect(await bobs.attempt(request(nodes[0]), within: .seconds(2)).isDone)
      // The second device is away.
      try await world.cutPower(of: "Lamp 2")
      try await world.simulation.sleep(for: .seconds(200))
      try await home.revoke("Ada")
      #expect(!(await adas.attempt(request(nodes[0]), within: .seconds(2)).isDone))
      #expect(await adas.isRefused)
      // The others of the role get new certificates.
      #expect(!(await bobs.attempt(request(nodes[0]), within: .seconds(2)).isDone))
      #expect(await bobs.needsRenewal(after: request(nodes[0])))
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
      #expect(!(await adas.attempt(request(nodes[1]), within: .seconds(2)).isDone))
      #expect(try await Self.isOn(home, nodes[1]) == false)
      let again = try await controller.perform(
        .certify(request: try await bobs.direct.membership.request), as: .member, origin: nil
      ) { _ in }
      guard case .certified(let all) = again else { throw HomeError.unexpectedReply }
      #expect(all.nodes == nodes)
      for link in [adas, bobs, guests] { await link.end() }
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
      // The device itself refuses a client that ignores its role.
      var options = guest.options
      options.direct?.role = .member
      let hostile = MemberLink(
        try #require(options.direct), of: options, on: guest.machine.nextEventLoop(), known: { nil }, report: { _ in })
      #expect(
        !(await hostile.attempt(.invoke(node: node, command: Self.toggle, isTimed: false), within: .seconds(2)).isDone))
      #expect(await hostile.isRefused)
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
      (direct.membership.credentials, direct.role) = (credentials, role)
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
    try membership.store(in: scratch.state)
    let attributes = try FileManager.default.attributesOfItem(atPath: scratch.state.root + "/hub/membership")
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let stored = try #require(try ClientMembership.stored(in: scratch.state))
    #expect(stored == membership)
    #expect(stored.state.orderedDevices.map(\.name) == ["Lamp 1"])
    try HubInvitation.remove(from: scratch.state)
    #expect(try ClientMembership.stored(in: scratch.state) == nil)
  }
}

extension MemberLink.Attempt {
  fileprivate var isDone: Bool { if case .done = self { true } else { false } }
  fileprivate var isNotPerformed: Bool { if case .notPerformed = self { true } else { false } }
}
