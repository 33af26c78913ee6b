import HearthHome
import HomeModel
import MatterClusters
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Scenario
import Simulation
import Testing

@testable import HomeControl
@testable import Hub
@testable import MatterController

// The certificates of invited clients: when they are issued, requested again and revoked.
extension MemberTests {
  @Test("issues no certificate during a revocation") func refusesCertificatesDuringRevocation() async throws {
    let run = await simulate(try Self.definition(), seed: 13) { home, world in
      let controller = try home.controller
      _ = try await home.invite("Ada", .member)
      let ada = try await Member("ada", .member, of: home, in: world)
      let request = try #require(ada.options.direct).membership
      // The device answers late, so that the revocation takes some time.
      let (hub, lamp) = (try await world.machine(of: "hub").id, try await world.machine(of: "Lamp 1").id)
      await world.simulation.perform { $0.network.cut(from: lamp, to: hub) }
      let revocation = ada.machine.task { await code { _ = try await home.revoke("Ada") } }
      try await world.simulation.sleep(for: .milliseconds(500))
      #expect(
        await code {
          _ = try await controller.perform(.certify(request: try request.request), as: .member, origin: nil) { _ in }
        } == .refused)
      #expect(await revocation.value == nil)
      _ = try await controller.perform(.certify(request: try request.request), as: .member, origin: nil) { _ in }
    }
    try run.result.get()
  }

  @Test("does not ask again and again for a device without an entry") func rarelyRequestsKnownNodes() async throws {
    var options = SimulatedHomeOptions()
    options.isPaired = false
    let run = await simulate(try Self.definition(2), seed: 14, options) { home, world in
      try await world.pairDevice("Lamp 1")
      let member = try await Member("panel", .member, of: home, in: world)
      try await world.pairDevice("Lamp 2")
      let (state, nodes) = (await home.state, try await Self.nodes(home))
      let direct = try #require(member.options.direct)
      let link = MemberLink(
        direct, of: member.options, on: member.machine.nextEventLoop(), known: { state }, report: { _ in })
      let toggle = HomeRequest.invoke(node: nodes[1], command: Self.toggle, isTimed: false)
      try await world.simulation.sleep(for: .seconds(61))
      #expect(await link.needsRenewal(after: toggle))
      // The new credentials don't include it.
      await link.renew(direct.membership.credentials)
      try await world.simulation.sleep(for: .seconds(3600))
      #expect(await !link.needsRenewal(after: toggle))
      try await world.simulation.sleep(for: .seconds(86_400))
      #expect(await link.needsRenewal(after: toggle))
      await link.end()
    }
    try run.result.get()
  }

  @Test func revokesInvitationWithoutVersionLeft() async throws {
    let run = await simulate(try Self.definition(), seed: 12) { home, _ in
      let controller = try home.controller
      _ = try await home.invite("Ada", .member)
      await controller.exhaustVersions(of: ClientTag.identifier(of: .member))
      #expect(await code { try await home.revoke("Ada") } == .badArguments)
      #expect(try await home.invitedClients.isEmpty)
    }
    try run.result.get()
  }

  @Test("a device of which nothing may be read is not online") func showsNoUnreadableDevice() async throws {
    let run = await simulate(try Self.definition(), seed: 15) { home, world in
      let node = try #require(try await Self.nodes(home).first)
      _ = try await home.invite("Ada", .member)
      let ada = try await Member("ada", .member, of: home, in: world)
      _ = try await home.revoke("Ada")
      let client = try await Home(through: ada.options)
      let read = HomeRequest.read(node: node, paths: [AttributePath()], isFabricFiltered: true, timeout: nil)
      guard case .report(let attributes, _) = try await client.backend.perform(read) else {
        throw HomeError.unexpectedReply
      }
      #expect(attributes.isEmpty)
      try await world.simulation.sleep(for: .seconds(1))
      #expect(try await client.devices().list().map(\.sourceConnectivity.connectivityState) == [.unknown])
      await client.close()
    }
    try run.result.get()
  }
}

extension HomeController {
  /// Sets the version of a tag to the last one.
  fileprivate func exhaustVersions(of identifier: UInt16) {
    var record = TagRecord(identifier, .operate)
    (record.version, record.isIssued) = (.max, true)
    let table = TagTable(["tag/" + String(identifier, radix: 16): record.tlv])
    dispatcher.value.perform { engine, _ in engine.tagTable = table }
  }
}
