import HearthHome
import HomeModel
import HomeText
import MatterClusters
import MatterController
import MatterModel
import MatterProtocol
import Testing

@testable import HomeControl

/// Requests that are performed by a controller.
@Suite("Operations", .timeLimit(.minutes(10))) struct HomeOperationTests {
  /// Returns the code of the error of a request.
  private func code(_ open: OpenHome, _ request: HomeRequest, as role: HomeRole? = nil) async -> HomeError.Code? {
    do throws(HomeError) {
      _ = try await open.controller.perform(request, as: role, origin: nil) { _ in }
      return nil
    } catch { return error.code }
  }

  @Test func changesSettings() async throws {
    let directory = ScratchDirectory()
    let open = try await OpenHome(directory)
    #expect(
      try await open.home.settings == HomeSettings(graceTime: .zero, trustsTestDevices: true, interfaces: []))
    let changed = try await open.home.change(
      .init(graceTime: .seconds(30), trustsTestDevices: false, interfaces: ["eth0", "wlan0"]))
    #expect(
      changed == HomeSettings(graceTime: .seconds(30), trustsTestDevices: false, interfaces: ["eth0", "wlan0"]))
    #expect(try await open.home.change(.init()) == changed)
    // One invalid setting changes none.
    let invalid = HomeSettings.Changes(graceTime: .seconds(-1), interfaces: ["eth1"])
    await #expect(throws: HomeError.self) { try await open.home.change(invalid) }
    #expect(try await open.home.settings == changed)
    await open.home.close()
    let again = try await OpenHome(directory)
    #expect(try await again.home.settings == changed)
    await again.home.close()
  }

  @Test func managesDeliveries() async throws {
    let open = try await OpenHome(.lamp(5))
    let added = try await open.home.enableBackgroundDelivery(
      for: .event, frequency: .every(.seconds(60)), target: .command(["true"]))
    #expect(try await open.home.backgroundDeliveries == [added])
    #expect(try await open.home.resumeBackgroundDelivery(added.id) == false)
    try await open.home.disableBackgroundDelivery(added.id)
    #expect(try await open.home.backgroundDeliveries.isEmpty)
    await #expect(throws: HomeError.self) { try await open.home.disableBackgroundDelivery(added.id) }
    await #expect(throws: HomeError.self) {
      try await open.home.enableBackgroundDelivery(for: .all, frequency: .immediate, target: .webhook("x"))
    }
    await open.home.close()
  }

  @Test func managesClients() async throws {
    let open = try await OpenHome()
    let (ada, token) = try await open.home.invite("Ada", .member)
    #expect(token.count == 32 && ada.role == .member && ada.created > 0)
    #expect(await code(open, .invite(name: "ada", role: .guest)) == .badArguments)
    #expect(try await open.home.invitedClients.map(\.name) == ["Ada"])
    #expect(try await open.home.revoke("ADA").client.name == "Ada")
    #expect(try await open.home.invitedClients.isEmpty)
    #expect(await code(open, .revoke(name: "Ada")) == .notFound)
    await open.home.close()
  }

  @Test func managesGroups() async throws {
    let directory = ScratchDirectory()
    let open = try await OpenHome(directory)
    let den = try await open.home.createGroup(name: "Den")
    #expect(try await open.home.groups == [den])
    #expect(try await open.home.group("den") == den)
    #expect(await code(open, .createGroup(id: nil, name: "DEN")) != nil)
    #expect(await code(open, .addMember(group: den.id, node: 5, endpoint: 1)) == .notFound)
    #expect(try await open.home.deleteGroup(den.id).isEmpty)
    #expect(try await open.home.allGroups.groups.isEmpty)
    await open.home.close()
  }

  /// A controller that opened the home for reading uses another one.
  @Test func changesFabricFromReadOnlyController() async throws {
    let directory = ScratchDirectory()
    let open = try await OpenHome(directory)
    let den = try await open.home.createGroup(name: "Den")
    #expect(await code(open, .remove(node: 5, isForced: false)) == .notFound)
    #expect(await code(open, .remove(node: 99, isForced: true)) == .notFound)
    await open.home.close()
    let again = try await OpenHome(directory)
    #expect(try await again.home.groups == [den])
    await again.home.close()
  }

  @Test func managesCloudAccounts() async throws {
    let open = try await OpenHome()
    let added = try await open.home.addCloudAccount("Acme", address: "http://localhost:1/", token: "secret")
    #expect(try await open.home.cloudAccounts.map(\.name) == [added.name])
    #expect(await code(open, .refreshCloudAccount(name: "Other")) == .notFound)
    #expect(try await open.home.removeCloudAccount("acme").account.name == "Acme")
    #expect(try await open.home.cloudAccounts.isEmpty)
    await open.home.close()
  }

  @Test func describesFabricAndProcess() async throws {
    let open = try await OpenHome(.lamp(5))
    let fabric = try await open.home.fabric
    #expect(fabric.rootPublicKey.count == 65 && fabric.nodeID.isOperational)
    let status = try await open.home.hubStatus
    #expect(status.devices == 1 && status.clients.isEmpty && status.home.count == 32)
    let device = try #require(await open.home.registry.devices.first)
    #expect(await open.home.attestation(of: device) == nil)
    await open.home.close()
  }

  @Test func reportsErrorsOfUnknownNodes() async throws {
    let open = try await OpenHome(.lamp(5))
    let path = AttributePath(endpoint: 1, cluster: OnOff.id)
    let toggle = CommandData(CommandPath(endpoint: 1, cluster: OnOff.id, command: OnOff.toggle.id))
    for request in [
      .read(node: 5, paths: [path], isFabricFiltered: true, timeout: nil),
      .write(node: 5, writes: [AttributeWrite(path, value: [8])], isTimed: false),
      .invoke(node: 5, command: toggle, isTimed: false),
      .subscribe(node: 5, request: SubscriptionRequest(paths: [path])),
      .openWindow(node: 5, duration: .seconds(180), isEnhanced: true),
      .invokeDevice(device: "6", source: nil, command: toggle, isTimed: false, timeout: nil),
    ] as [HomeRequest] {
      #expect(await code(open, request) == .notFound, "\(request)")
    }
    await open.home.close()
  }

  @Test func endsDiscovery() async throws {
    let open = try await OpenHome()
    for try await news in open.home.discover(.commissionable(), for: .milliseconds(20)) { Issue.record("\(news)") }
    // Without a time it ends with its task.
    let endless = Task { for try await _ in open.home.discover(.commissionable(), for: nil) {} }
    endless.cancel()
    try await endless.value
    await open.home.close()
  }

  @Test func limitsRolesAndVisibility() async throws {
    let open = try await OpenHome(.lamp(5))
    for request in [.settings, .clients, .groups, .anchor] as [HomeRequest] {
      #expect(await code(open, request, as: .member) == (request.isAllowed(to: .member) ? nil : .accessDenied))
      #expect(await code(open, request, as: .owner) == nil)
    }
    let acl = AccessControl.acl.path(on: .root)
    await open.process(
      .report(NodeReport(5, [AttributeData(acl, dataVersion: 0, value: [0x16, 0x18])], isWhole: false)))
    func paths(_ role: HomeRole?) async throws -> Set<ConcreteAttributePath> {
      let request = HomeRequest.samples(after: nil, filter: SampleFilter(.attribute), limit: 0)
      let reply = try await open.controller.perform(request, as: role, origin: nil) { _ in }
      guard case .samples(let result) = reply else { return [] }
      return Set(result.added.compactMap(\.attribute?.path))
    }
    #expect(try await paths(.owner).contains(acl))
    let visible = try await paths(.guest)
    #expect(!visible.contains(acl) && !visible.isEmpty)
    await open.home.close()
  }
}
