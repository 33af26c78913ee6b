import HearthHome
import HomeControl
import HomeModel
import Hub
import MatterController
import MatterModel
import MatterProtocol
import Testing
import WebClient

/// Owners that do not follow the devices: the stored connectivity is not valid until a device answers.
@Suite("Unfollowed homes", .timeLimit(.minutes(10))) struct UnfollowedHomeTests {
  /// Opens a stored home whose lamp was online, as its owner.
  private func owner() async throws -> (home: Home, scratch: Scratch) {
    let served = try await ServedHome()
    await served.close()
    let home = try await Home(ServedHome.options(served.scratch))
    return (home, served.scratch)
  }

  private func connectivity(_ home: Home) async throws -> [SourceConnectivity?] {
    let device = try await home.devices().list().first
    return [device?.sourceConnectivity, device?.settledConnectivity]
  }

  @Test func clientsSeeUnknownConnectivity() async throws {
    let (owner, scratch) = try await owner()
    let client = try await Home(ServedHome.options(scratch))
    #expect(await code { _ = try client.controller } == .accessDenied)
    #expect(try await connectivity(owner) == [.unknown, .unknown])
    #expect(try await connectivity(client) == [.unknown, .unknown])
    #expect(try await client.hubStatus.devicesOnline == 0)
    let raw = try await RawWebSocket(socket: scratch.state.hubSocket)
    #expect(await raw.result("get_node", #"{"node_id":5}"#)?["result"]?["available"] == false)
    // An answer confirms the stored connectivity.
    let online = SourceConnectivity(.online, .peer)
    try await owner.controller.process(.answered(5))
    #expect(try await connectivity(owner) == [online, online])
    #expect(await eventually { try await connectivity(client) == [online, online] })
    #expect(try await client.hubStatus.devicesOnline == 1)
    #expect(await raw.result("get_node", #"{"node_id":5}"#)?["result"]?["available"] == true)
    let late = try await Home(ServedHome.options(scratch))
    #expect(try await connectivity(late) == [online, online])
    await late.close()
    await client.close()
    await owner.close()
  }

  @Test func nextOwnerSeesUnknownConnectivity() async throws {
    let (owner, scratch) = try await owner()
    let client = try await Home(ServedHome.options(scratch))
    try await owner.controller.process(.answered(5))
    #expect(await eventually { try await connectivity(client).first == SourceConnectivity(.online, .peer) })
    await owner.close()
    // The client becomes the owner, and has not reached the lamp.
    #expect(await eventually { try await connectivity(client) == [.unknown, .unknown] })
    await client.close()
  }

  @Test func subscriptionMakesOwnerFollow() async throws {
    let (owner, scratch) = try await owner()
    let client = try await Home(ServedHome.options(scratch))
    let record = try #require(await client.registry.devices.first)
    let request = SubscriptionRequest(paths: [AttributePath(ServedHome.level)])
    var events = client.backend.subscribe(record.nodeID, request).makeAsyncIterator()
    let controller = try owner.controller
    #expect(await eventually { await controller.isFollowing })
    // The controller also tries to reach the lamp, which does not exist: a failed attempt makes it offline again.
    let device = Task {
      while !Task.isCancelled {
        await controller.process(.established(5, deadline: .max))
        try? await Task.sleep(for: .milliseconds(50))
      }
    }
    defer { device.cancel() }
    guard case .attribute(ServedHome.level, [0x04, 1])? = try await events.next() else {
      Issue.record("no first value")
      return
    }
    await client.close()
    await owner.close()
  }

  /// An observer query of a client fails as one of the owner does.
  @Test func observerQueriesNeedFollowedHome() async throws {
    let (owner, scratch) = try await owner()
    let client = try await Home(ServedHome.options(scratch))
    #expect(await failure(executingIn: owner) == .badArguments)
    #expect(await failure(executingIn: client) == .badArguments)
    try await client.follow()
    let late = try await Home(ServedHome.options(scratch))
    for home in [owner, client, late] { #expect(await failure(executingIn: home) == nil) }
    for home in [late, client, owner] {
      await home.close()
      #expect(await failure(executingIn: home) == .badArguments)
    }
  }

  /// Returns the code of the error that the first call of a handler has; nil: none.
  private func failure(executingIn home: Home) async -> HomeError.Code? {
    let (calls, continuation) = AsyncStream.makeStream(of: HomeError.Code?.self)
    let query = ObserverQuery(.all) { _, completion, error in
      completion()
      continuation.yield(error?.code)
    }
    await home.execute(query)
    let first = await calls.first { _ in true }
    await home.stop(query)
    return first ?? nil
  }

  @Test func followingStartsWithUnknownConnectivity() async throws {
    let (owner, scratch) = try await owner()
    let client = try await Home(ServedHome.options(scratch))
    try await client.follow()
    #expect(try await connectivity(client) == [.unknown, .unknown])
    try await owner.controller.process(.established(5, deadline: .max))
    #expect(await eventually { try await connectivity(client).first == SourceConnectivity(.online, .peer) })
    await client.close()
    await owner.close()
  }
}
