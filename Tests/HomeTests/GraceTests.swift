import MatterClusters
import MatterModel
import Testing

@testable import Home

/// The grace time that the user sets, and the settled connectivity by it.
@Suite("Grace time", .timeLimit(.minutes(10))) struct GraceTests {
  private func settled(_ home: Home) async -> ConnectivityState? {
    await home.backend.device("5")?.settledConnectivity.connectivityState
  }

  @Test func itIsInForceAtOnceAndAfterARestart() async throws {
    let directory = ScratchDirectory()
    let open = try await OpenHome(directory)
    try await open.home.follow()
    await open.meet(.lamp(5))
    #expect(try await open.home.graceTime == .zero)
    try await open.home.setGraceTime(.seconds(600))
    await open.take(.lost(5, .subscriptionLost))
    #expect(try await open.device("5").sourceConnectivity.connectivityState == .offline)
    #expect(await settled(open.home) == .online)
    // It is away already: the new time counts from when it went.
    try await open.home.setGraceTime(.milliseconds(20))
    #expect(await eventually { await settled(open.home) == .offline })
    try await open.home.setGraceTime(.seconds(90))
    await open.home.close()

    let again = try await OpenHome(directory)
    #expect(try await again.home.graceTime == .seconds(90))
    await again.home.close()
    // Who opens it with a time of their own means that.
    let own = try await OpenHome(directory, grace: .seconds(1))
    #expect(try await own.home.graceTime == .seconds(1))
    await own.home.close()
  }

  @Test func whatAnotherProcessSetsIsNoticed() async throws {
    let directory = ScratchDirectory()
    let open = try await OpenHome(directory)
    try await open.home.follow()
    let process = try HomeDatabase.open(directory.state.database)
    try process.setGrace(.seconds(45))
    #expect(await eventually { (try? await open.home.graceTime) == .seconds(45) })
    try process.setGrace(nil)
    #expect(await eventually { (try? await open.home.graceTime) == .zero })
    await open.home.close()
  }

  @Test(arguments: [Duration.milliseconds(-1), .seconds(86_401)]) func noTimeThatIsNone(_ time: Duration) async throws {
    let open = try await OpenHome()
    await #expect(throws: HomeError.self) { try await open.home.setGraceTime(time) }
    #expect(try await open.home.graceTime == .zero)
    await open.home.close()
  }

  @Test func oneDeviceIsToldToHaveSettled() async throws {
    let open = try await OpenHome(.lamp(5), grace: .milliseconds(50))
    let batches = open.home.device(id: "5").batched().makeAsyncIterator()
    let changes = open.home.device(id: "5").stream().makeAsyncIterator()
    await open.take(.lost(5, .subscriptionLost))
    #expect(await eventually { await settled(open.home) == .offline })
    await open.home.close()
    let seen = await rest(batches, of: CollectionSnapshots<HomeDevice>.self).flatMap { $0 }
    #expect(seen.map(\.sourceConnectivity.connectivityState) == [.online, .offline, .offline])
    #expect(seen.map(\.settledConnectivity.connectivityState) == [.online, .online, .offline])
    let told = await rest(changes, of: CollectionChanges<HomeDevice>.self).map(\.item.settledConnectivity)
    #expect(told.map(\.connectivityState) == [.online, .offline])
  }

  @Test func aTimeThatIsSetCountsFromWhenItBegan() {
    let second: Int64 = 1_000_000
    var settling = Settling(grace: .seconds(100))
    settling.restore("5", SourceConnectivity(.online, .peer))
    _ = settling.note("5", SourceConnectivity(.offline, .peer), at: 10 * second)
    #expect(settling.nextDeadline == 110 * second)
    settling.grace = .seconds(30)
    #expect(settling.nextDeadline == 40 * second)
    #expect(settling.advance(to: 39 * second).isEmpty && settling["5"].connectivityState == .online)
    settling.grace = .seconds(60)
    #expect(settling.advance(to: 69 * second).isEmpty)
    #expect(settling.advance(to: 70 * second) == ["5"] && settling["5"].connectivityState == .offline)
    #expect(settling.nextDeadline == nil)
  }
}
