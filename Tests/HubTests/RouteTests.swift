import HearthHome
import HomeModel
import HomeStore
import Hub
import MatterModel
import NIOCore
import Testing

@testable import HomeControl

/// The article “The home model”, “Routes”.
@Suite("Routes", .timeLimit(.minutes(10))) struct RouteTests {
  /// The sequence of connectivities of the devices of a home, as delivered to observers.
  private func connectivities(_ home: Home) -> AsyncStream<SourceConnectivity> {
    let batches = home.devices().batched()
    return AsyncStream { continuation in
      let task = Task {
        for await devices in batches { for device in devices { continuation.yield(device.sourceConnectivity) } }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  @Test func usesNearestWorkingRoute() async throws {
    let (near, far) = (try await ServedHome(), try await ServedHome())
    let client = try await near.client(through: [.local(near.socket), .remote(far.socket)])
    var states = connectivities(client).makeAsyncIterator()
    #expect(await states.next() == .init(.online, .local))
    // The nearest hub ends: the next route is used, and no device goes offline.
    await near.stopHub()
    #expect(await states.next() == .init(.online, .remote))
    try await far.report(level: 9)
    #expect(await eventually { await client.state.value(5, ServedHome.level) == [0x04, 9] })
    #expect(await code { _ = try await client.anchor() } == nil)
    // The nearest hub returns.
    try await near.startHub()
    #expect(await states.next() == .init(.online, .local))
    #expect(await client.state.value(5, ServedHome.level) == [0x04, 1])
    // The farther route is disconnected.
    #expect(await eventually { try await far.hub.status.clients.isEmpty })
    // No route works.
    await near.stopHub()
    #expect(await states.next() == .init(.online, .remote))
    await far.stopHub()
    #expect(await states.next() == .init(.offline, .remote))
    #expect(try await client.devices().list().map(\.offlineReason) == [.hubUnreachable])
    #expect([.unreachable, .notRunning].contains(await code { _ = try await client.anchor() }))
    try await far.startHub()
    #expect(await states.next() == .init(.online, .remote))
    #expect(try await client.devices().list().map(\.offlineReason) == [nil])
    try await near.startHub()
    #expect(await states.next() == .init(.online, .local))
    await client.close()
    #expect(await states.next() == nil)
    await near.close()
    await far.close()
  }

  private func becomes(
    _ state: ConnectivityState, _ locality: DataSourceLocality, _ client: Home
  ) async -> Bool {
    await eventually {
      try await client.devices().list().first?.sourceConnectivity == SourceConnectivity(state, locality)
    }
  }

  @Test func changesHomeOfUsedRoute() async throws {
    let (near, far) = (try await ServedHome(), try await ServedHome())
    let client = try await near.client(through: [.local(near.socket), .remote(far.socket)])
    try await client.rename("5", to: "Desk")
    #expect(await near.home.state.devices["5"]?.name == "Desk")
    #expect(await becomes(.online, .local, client))
    await near.stopHub()
    #expect(await becomes(.online, .remote, client))
    #expect(try await client.devices().list().map(\.name) == ["Lamp"])
    try await near.startHub()
    #expect(await becomes(.online, .local, client))
    #expect(try await client.devices().list().map(\.name) == ["Desk"])
    await client.close()
    for home in [near, far] { await home.close() }
  }

  /// The files of the home are nearer than a hub, also while no device is reachable.
  @Test func peerRouteIsNearest() async throws {
    let (hub, scratch) = (try await ServedHome(), Scratch())
    let database = try HomeDatabase.open(scratch.state.database, identity: ServedHome.identity)
    try database.commit([HomeUpdate(ServedHome.lamp, at: 1)])
    try database.close()
    let client = try await hub.client(through: [.peer(ServedHome.options(scratch)), .local(hub.socket)])
    try await client.follow()
    #expect(await eventually { (try? client.controller) != nil })
    let own = try client.controller
    await own.process(.established(5, deadline: .max))
    #expect(await becomes(.online, .peer, client))
    try await client.rename("5", to: "Desk")
    #expect(await own.state.devices["5"]?.name == "Desk")
    #expect(await hub.home.state.devices["5"]?.name == "Lamp")
    await own.process(.lost(5, .timedOut))
    #expect(await becomes(.offline, .peer, client))
    #expect(await eventually { try await hub.hub.status.clients.isEmpty })
    await client.close()
    await hub.close()
  }

  /// Neither is a change: both are sent periodically.
  @Test func reportsContactsAndGraceTime() async throws {
    let hub = try await ServedHome(grace: nil) { $0.heartbeat = .milliseconds(20) }
    let client = try await hub.client()
    let own = try hub.home.controller
    let manager = HomeManager(client)
    #expect(await eventually { manager.primaryHome?.accessories.first?.isReachable == true })
    await own.process(.heard(5, deadline: 77))
    let devices = await own.devices
    let contact = try #require(devices.first).contact
    #expect(contact.nextReport == 77)
    _ = try await own.perform(.changeSettings(changes: .init(graceTime: .seconds(77))), origin: nil)
    #expect(await eventually { try await client.devices().list().first?.contact == contact })
    #expect(await eventually { manager.primaryHome?.accessories.first?.contact == contact })
    #expect(
      await eventually {
        try await client.backend.eventLoop.submit { client.backend.view.reducer.debouncer.grace == .seconds(77) }.get()
      })
    await client.close()
    await hub.close()
  }

  @Test func eachRouteReportsFollower() async throws {
    let hub = try await ServedHome()
    let client = try await hub.client(through: [.peer(ServedHome.options(Scratch())), .local(hub.socket)])
    try await client.follow()
    let manager = HomeManager(client)
    try await HomeManager(client).addHome(withName: "Cabin")
    #expect(await eventually { manager.primaryHome?.homeHubState == .thisProcess })
    let other = try await hub.client()
    let theirs = HomeManager(other)
    #expect(await eventually { theirs.primaryHome?.homeHubState == .connected })
    await client.close()
    await other.close()
    await hub.close()
  }

  /// An anchor of one log can't be continued in another one.
  @Test func anchorOfOtherRouteGetsReset() async throws {
    let (near, far) = (try await ServedHome(), try await ServedHome())
    let client = try await near.client(through: [.local(near.socket), .remote(far.socket)])
    #expect(await becomes(.online, .local, client))
    let anchor = try await client.anchor()
    await near.stopHub()
    #expect(await becomes(.online, .remote, client))
    guard case .reset(let home) = try await client.samples(after: anchor) else {
      Issue.record("no reset")
      return
    }
    #expect(try await home.anchor == far.home.anchor() && home.state.devices["5"]?.name == "Lamp")
    guard case .samples([], _, true) = try await client.samples(after: home.anchor) else {
      Issue.record("the anchor of the reset is not the end of the log")
      return
    }
    // An anchor of an unrelated home is an error.
    let otherHub = try await ServedHome(isEmpty: true)
    let foreign = try await otherHub.home.anchor()
    #expect(await code { _ = try await client.samples(after: foreign) } == .badArguments)
    await client.close()
    for home in [near, far, otherHub] { await home.close() }
  }

  @Test func failsAtOnceWithoutWorkingRoute() async throws {
    let scratch = Scratch()
    let options = ServedHome.clientOptions("test", [.local(.socket(scratch.state.hubSocket))])
    #expect(await code { _ = try await Home(through: options) } == .notRunning)
    var unpinned = ServedHome.clientOptions("test", token: "any", [.remote(.host("127.0.0.1", port: 1))])
    #expect(await openingError(unpinned) == .badArguments)
    unpinned.trust.fingerprint = try CertificateFingerprint(String(repeating: "00", count: 32))
    #expect(await openingError(unpinned) == .unreachable)
    #expect(await code { _ = try await Home(through: ServedHome.clientOptions("test", [])) } == .badArguments)
  }

  private func openingError(_ options: HubClient.Options) async -> HomeError.Code? {
    await code { _ = try await Home(through: options) }
  }

  @Test func refusesRouteToOtherHome() async throws {
    let (near, other) = (try await ServedHome(), try await ServedHome(identity: String(repeating: "0B", count: 16)))
    let client = try await near.client(through: [.local(near.socket), .remote(other.socket)])
    await near.stopHub()
    #expect(await eventually { try await client.devices().list().map(\.offlineReason) == [.hubUnreachable] })
    #expect([.badArguments, .notRunning].contains(await code { _ = try await client.anchor() }))
    #expect(await eventually { try await other.hub.status.clients.isEmpty })
    try await near.startHub()
    #expect(await eventually { try await client.devices().list().map(\.offlineReason) == [nil] })
    // The client expects a home before the first route works. Its process does not remain the owner of another home.
    for route in [HubRoute.local(other.socket), .peer(ServedHome.options(other.scratch))] {
      var options = ServedHome.clientOptions("test", [route])
      options.home = ServedHome.identity
      if case .peer = route { await other.close() }
      #expect(await openingError(options) == .badArguments)
    }
    #expect(try OwnerLock.acquire(other.scratch.state) != nil)
    await client.close()
    await near.close()
  }

  @Test func rejectsSecondHub() async throws {
    let served = try await ServedHome()
    #expect(await code { try await served.startHub() } == .badArguments)
    let client = try await served.client()
    #expect(try await client.devices().list().count == 1)
    await client.close()
    await served.close()
  }
}

extension HomeController {
  /// Stores the times of last contact now.
  func storeContacts() { dispatcher.value.keepContacts() }
}
