import MatterModel
import NIOCore
import Testing

@testable import Home
@testable import Hub

/// HOME.md, “Routes”.
@Suite("Routes", .timeLimit(.minutes(10))) struct RouteTests {
  /// Every connectivity that a device of a home has, one after the other, as observers are told.
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

  @Test func theNearestThatWorksIsUsed() async throws {
    let (near, far) = (try await ServedHome(), try await ServedHome())
    let client = try await near.client(through: [.local(near.socket), .remote(far.socket)])
    var told = connectivities(client).makeAsyncIterator()
    #expect(await told.next() == .init(.online, .local))
    // It dies: the next one is used, and no device was offline meanwhile.
    await near.stopHub()
    #expect(await told.next() == .init(.online, .remote))
    try await far.report(level: 9)
    #expect(await eventually { await client.state.value(5, ServedHome.level) == [0x04, 9] })
    #expect(await code { _ = try await client.anchor() } == nil)
    // It is there again.
    try await near.startHub()
    #expect(await told.next() == .init(.online, .local))
    #expect(await client.state.value(5, ServedHome.level) == [0x04, 1])
    // The one that is not needed is not used.
    #expect(await eventually { try await far.hub.status.clients.isEmpty })
    // None is left.
    await near.stopHub()
    #expect(await told.next() == .init(.online, .remote))
    await far.stopHub()
    #expect(await told.next() == .init(.offline, .remote))
    #expect(try await client.devices().list().map(\.offlineReason) == [.hubUnreachable])
    #expect([.unreachable, .notRunning].contains(await code { _ = try await client.anchor() }))
    try await far.startHub()
    #expect(await told.next() == .init(.online, .remote))
    #expect(try await client.devices().list().map(\.offlineReason) == [nil])
    try await near.startHub()
    #expect(await told.next() == .init(.online, .local))
    await client.close()
    #expect(await told.next() == nil)
    await near.close()
    await far.close()
  }

  @Test func aControllerOfOurOwnIsNearest() async throws {
    let (own, hub) = (try await ServedHome(), try await ServedHome())
    await own.stopHub()
    // It reads what the process on its state that follows the devices writes down.
    let client = try await hub.client(through: [.peer(ServedHome.options(own.scratch)), .local(hub.socket)])
    var told = connectivities(client).makeAsyncIterator()
    #expect(await told.next() == .init(.online, .peer))
    try await client.rename("5", to: "Desk")
    #expect(await eventually { try await own.home.devices().list().map(\.name) == ["Desk"] })
    #expect(await told.next() == .init(.online, .peer))
    try await own.home.controller.take(.lost(5, .timedOut))
    #expect(await told.next() == .init(.online, .local))
    #expect(try await client.devices().list().map(\.name) == ["Lamp"])
    try await own.home.controller.take(.established(5, deadline: .max))
    #expect(await told.next() == .init(.online, .peer))
    #expect(try await client.devices().list().map(\.name) == ["Desk"])
    await client.close()
    await own.close()
    await hub.close()
  }

  /// Neither is a change: they are told from time to time, as a hub tells them.
  @Test func aControllerOfOurOwnTellsContactsAndTheGraceTime() async throws {
    let own = try await ServedHome()
    await own.stopHub()
    var options = ServedHome.clientOptions("test", [.peer(ServedHome.options(own.scratch))])
    options.heartbeat = .milliseconds(20)
    let client = try await Home(through: options)
    let manager = HomeManager(client)
    try await own.home.controller.take(.heard(5, deadline: 77))
    let contact = try await own.home.devices().list().first?.contact
    #expect(contact?.nextReport == 77)
    try await own.home.controller.storeContacts()
    try await own.home.setGraceTime(.seconds(77))
    #expect(await eventually { try await client.devices().list().first?.contact == contact })
    #expect(await eventually { manager.primaryHome?.accessories.first?.contact == contact })
    #expect(
      await eventually {
        try await client.backend.eventLoop.submit { client.backend.view.reducer.grace == .seconds(77) }.get()
      })
    await client.close()
    await own.close()
  }

  @Test func whoFollowsTheDevicesIsToldByEachRoute() async throws {
    let (own, hub) = (try await ServedHome(isEmpty: true), try await ServedHome())
    await own.stopHub()
    let client = try await hub.client(through: [.peer(ServedHome.options(own.scratch)), .local(hub.socket)])
    let manager = HomeManager(client)
    try await HomeManager(client).addHome("Cabin")
    #expect(await eventually { manager.primaryHome?.hubState == .connected })
    // Nobody else is on its state any more.
    await own.close()
    #expect(await eventually { manager.primaryHome?.hubState == .thisProcess })
    let other = try await hub.client()
    let theirs = HomeManager(other)
    #expect(await eventually { theirs.primaryHome?.hubState == .connected })
    await client.close()
    await other.close()
    await hub.close()
  }

  /// What followed a place in one log another log can't say.
  @Test func anAnchorOfAnotherRouteIsAnsweredWithTheWhole() async throws {
    let (own, hub) = (try await ServedHome(), try await ServedHome())
    await own.stopHub()
    let client = try await hub.client(through: [.peer(ServedHome.options(own.scratch)), .local(hub.socket)])
    var told = connectivities(client).makeAsyncIterator()
    #expect(await told.next() == .init(.online, .peer))
    let anchor = try await client.anchor()
    try await own.home.controller.take(.lost(5, .timedOut))
    #expect(await told.next() == .init(.online, .local))
    guard case .reset(let home) = try await client.samples(after: anchor) else {
      Issue.record("no reset")
      return
    }
    #expect(try await home.anchor == hub.home.anchor() && home.state.devices["5"]?.name == "Lamp")
    guard case .samples([], _, true) = try await client.samples(after: home.anchor) else {
      Issue.record("it does not go on from there")
      return
    }
    // One that none of its routes gave is an error as ever.
    let stranger = try await ServedHome(isEmpty: true)
    let strange = try await stranger.home.anchor()
    #expect(await code { _ = try await client.samples(after: strange) } == .badArguments)
    await client.close()
    for home in [own, hub, stranger] { await home.close() }
  }

  @Test func whereNoRouteLeadsItIsSaidAtOnce() async throws {
    let scratch = Scratch()
    let options = ServedHome.clientOptions("test", [.local(.socket(scratch.state.hubSocket))])
    #expect(await code { _ = try await Home(through: options) } == .notRunning)
    let nowhere = ServedHome.clientOptions("test", token: "any", [.remote(.host("127.0.0.1", port: 1))])
    #expect(await code { _ = try await Home(through: nowhere) } == .unreachable)
    #expect(await code { _ = try await Home(through: ServedHome.clientOptions("test", [])) } == .badArguments)
  }

  @Test func aHomeHasOneHub() async throws {
    let served = try await ServedHome()
    #expect(await code { try await served.startHub() } == .badArguments)
    let client = try await served.client()
    #expect(try await client.devices().list().count == 1)
    await client.close()
    await served.close()
  }
}

extension HomeController {
  /// Has it stored now when devices were heard.
  func storeContacts() { edge.value.keepContacts() }
}
