import MatterModel
import Testing

@testable import Home
@testable import Hub

/// Connectivity without its short breaks, as a client sees it: as the hub's own process does.
@Suite("Settling through a hub", .timeLimit(.minutes(10))) struct SettlingTests {
  private func lamp(_ home: Home) async throws -> HomeDevice { try #require(try await home.devices().list().first) }

  @Test func aClientWaitsAsLongAsItsHub() async throws {
    let served = try await ServedHome(grace: .seconds(3600))
    let client = try await served.client()
    try await served.home.controller.take(.lost(5, .timedOut))
    #expect(await eventually { try await lamp(client).offlineReason == .timedOut })
    let online = SourceConnectivity(.online, .local)
    #expect(try await lamp(served.home).settledConnectivity == SourceConnectivity(.online, .peer))
    #expect(try await lamp(client).settledConnectivity == online)
    // Who comes while it is on trial says the same.
    let late = try await served.client("late")
    #expect(try await lamp(late).sourceConnectivity.connectivityState == .offline)
    #expect(try await lamp(late).settledConnectivity == online)
    // That the hub goes is a break like any other.
    try await served.home.controller.take(.established(5, deadline: .max))
    #expect(await eventually { try await lamp(client).sourceConnectivity == online })
    try await served.hub.hangUp(andThen: [.lost(5, .timedOut)])
    #expect(await eventually { try await lamp(client).offlineReason == .timedOut })
    #expect(try await lamp(client).settledConnectivity == online)
    await served.stopHub()
    #expect(await eventually { try await lamp(late).sourceConnectivity.connectivityState == .offline })
    #expect(try await lamp(client).settledConnectivity == online)
    #expect(try await lamp(late).settledConnectivity == online)
    await client.close()
    await late.close()
    await served.close()
  }

  @Test func whenItLastedLongEnoughAClientSaysSoToo() async throws {
    let served = try await ServedHome(grace: .seconds(5))
    let client = try await served.client()
    var batches = client.devices().batched().makeAsyncIterator()
    // One after the other: it is away, and then for good.
    var told: [ConnectivityState] = []
    while let devices = await batches.next() {
      if told.isEmpty { try await served.home.controller.take(.lost(5, .subscriptionLost)) }
      let lamp = try #require(devices.first)
      let both = [lamp.sourceConnectivity.connectivityState, lamp.settledConnectivity.connectivityState]
      told += both
      if both == [.offline, .offline] { break }
    }
    #expect(told == [.online, .online, .offline, .online, .offline, .offline])
    #expect(await eventually { try await lamp(served.home).settledConnectivity.connectivityState == .offline })
    // Who comes now knows nothing of a trial.
    let late = try await served.client("late")
    #expect(try await lamp(late).settledConnectivity == SourceConnectivity(.offline, .local))
    await client.close()
    await late.close()
    await served.close()
  }
}
