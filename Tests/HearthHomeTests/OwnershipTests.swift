import Foundation
import HearthHome
import HomeControl
import HomeModel
import HomeStore
import Hub
import Logging
import MatterClusters
import MatterModel
import Runtime
import Synchronization
import Testing

/// Several processes that open the same home. Here they are homes of one process, which are connected in the same way.
@Suite("Ownership", .timeLimit(.minutes(10))) struct OwnershipTests {
  private let isOn = OnOff.onOff.path(on: 1)

  private func options(_ directory: ScratchDirectory) -> HomeController.Options {
    var options = HomeController.Options(state: directory.state, logger: Logger(label: "test"))
    // The machine may be busy with other tests.
    options.timeout = .seconds(120)
    options.logger.logLevel = .critical
    options.discovery = .off
    return options
  }

  private func lampIsOn(_ home: Home) async -> Bool? {
    await home.backend.device("5")?.types.get(OnOffLightDeviceType.self)?.matterTraits.onOffTrait?.attributes.onOff
  }

  @Test func secondHomeMirrorsFirstAndTakesOver() async throws {
    let directory = ScratchDirectory()
    let first = try await OpenHome(directory)
    try await first.home.follow()
    await first.meet(.lamp(5))
    let second = try await Home(options(directory))
    try await second.follow()
    do throws(HomeError) {
      _ = try second.controller
      Issue.record("there is a second controller")
    } catch { #expect(error.code == .accessDenied && error.message.contains("another process owns the home")) }
    let batches = second.devices().batched().makeAsyncIterator()
    for isOn in [false, true, false] { await first.process(NodeModel.report(5, self.isOn, isOn.tlv)) }
    await first.process(.lost(5, .subscriptionLost))
    try await first.home.rename("5", to: "Desk")
    #expect(
      await eventually {
        let device = await second.backend.device("5")
        return device?.name == "Desk" && device?.offlineReason == .subscriptionLost
      })
    #expect(await lampIsOn(second) == false)
    let room = try await second.addRoom("Hall")
    try await second.move("5", to: room.id)
    #expect(await eventually { await first.home.backend.device("5")?.roomID == room.id })
    #expect(try HomeDatabase.open(directory.state.database).load().state.devices["5"]?.roomID == room.id)

    await first.home.close()
    // The second home becomes the owner and follows the devices: their connectivity is unknown, their values are kept.
    #expect(await eventually { await second.backend.device("5")?.sourceConnectivity == .unknown })
    #expect(await eventually { (try? await second.hubStatus.isFollowing) == true })
    let device = try #require(await second.backend.device("5"))
    #expect(device.name == "Desk" && device.roomID == room.id)
    #expect(await lampIsOn(second) == false)
    let owner = try second.controller
    await owner.process(NodeModel.report(5, isOn, true.tlv))
    await owner.process(.established(5, deadline: 0))
    #expect(await eventually { await lampIsOn(second) == true })
    #expect(
      await eventually {
        await second.backend.device("5")?.sourceConnectivity == SourceConnectivity(.online, .peer)
      })
    await second.close()
    let third = try await OpenHome(directory)
    #expect(await third.home.backend.state.devices["5"]?.name == "Desk")
    await third.home.close()
    let seen = await rest(batches, of: Batches.self).flatMap { $0 }
    #expect(
      seen.map { "\($0.name) \($0.roomID == nil) \($0.sourceConnectivity.connectivityState)" } == [
        "Device 5 true online", "Device 5 true offline", "Desk true offline", "Desk false offline",
        "Desk false unknown", "Desk false online",
      ])
  }

  @Test("a home that became the owner has a controller, and can be served") func servesAfterTakingOver() async throws {
    let directory = ScratchDirectory()
    let first = try await Home(options(directory))
    let second = try await Home(options(directory))
    await first.close()
    #expect(await eventually { (try? second.controller) != nil })
    let hub = try await HubServer.open(second, HubServer.Options(logger: options(directory).logger))
    let third = try await Home(options(directory))
    #expect(await code { _ = try third.controller } == .accessDenied)
    #expect(try await third.hubStatus.isHub)
    _ = try await second.addRoom("Hall")
    #expect(await eventually { (try? await third.rooms().list().map(\.name)) == ["Hall"] })
    await third.close()
    await hub.close()
    await second.close()
  }

  private typealias Batches = CollectionSnapshots<HomeDevice>

  /// An owner that is closed performs the requests that it has received, and the next owner performs the others.
  @Test(arguments: 1...4) func requestsSurviveEndsOfOwners(_ seed: Int) async throws {
    let directory = ScratchDirectory()
    var homes: [Home] = []
    for _ in 0..<4 { homes.append(try await Home(options(directory))) }
    let client = try await Home(options(directory))
    async let added: Void = {
      for number in 0..<60 { _ = try await client.addRoom("\(number)") }
    }()
    for home in homes {
      try await Task.sleep(for: .milliseconds(5 * seed))
      await home.close()
    }
    try await added
    #expect(Set(try await client.rooms().list().map(\.name)) == Set((0..<60).map { "\($0)" }))
    #expect(try await client.rooms().list().count == 60)
    await client.close()
    #expect(try OwnerLock.acquire(directory.state) != nil)
  }

  @Test func onlyOneOfManyBecomesOwner() async throws {
    let directory = ScratchDirectory()
    let homes = try await withThrowingTaskGroup(of: Home.self) { group in
      for _ in 0..<8 { group.addTask { try await Home(options(directory)) } }
      return try await group.reduce(into: [Home]()) { $0.append($1) }
    }
    #expect(homes.count { (try? $0.controller) != nil } == 1)
    for (number, home) in homes.enumerated() { _ = try await home.addRoom("\(number)") }
    for home in homes { #expect(try await eventually { try await home.rooms().list().count == 8 }) }
    for home in homes {
      _ = try await home.rooms().list()
      await home.close()
    }
  }

  /// A lock without a process that answers, such as a stopped one.
  @Test func reportsOwnerThatDoesNotAnswer() async throws {
    let directory = ScratchDirectory()
    let lock = try #require(try OwnerLock.acquire(directory.state))
    var client = HubClient.Options(
      routes: [.peer(options(directory))], name: "test", logger: options(directory).logger)
    client.connectTimeout = .milliseconds(300)
    do throws(HomeError) {
      _ = try await HubClient.connected(client)
      Issue.record("connected without an owner")
    } catch {
      #expect(error.code == .unreachable && error.message.contains("process \(getpid())"))
    }
    #expect(await code { _ = try await HomeController.open(options(directory)) } == .unreachable)
    withExtendedLifetime(lock) {}
  }

  @Test func waitingOwnerTakesOver() async throws {
    let directory = ScratchDirectory()
    let first = try await Home(options(directory))
    let waits = WaitRecorder()
    async let second = PendingWork.$board.withValue(waits) { try await Home(owning: options(directory)) }
    #expect(await eventually { !waits.begun.isEmpty })
    #expect(waits.begun == ["process \(getpid()), which owns the home in \(directory.state.root), to end"])
    await first.close()
    let owner = try await second
    _ = try owner.controller
    await owner.close()
  }

  /// The deliveries are made by the owner, whichever home added them.
  @Test func ownerMakesDeliveries() async throws {
    let directory = ScratchDirectory()
    let first = try await OpenHome(directory)
    try await first.home.follow()
    let second = try await Home(options(directory))
    let file = directory.state.root + "/told"
    try await second.enableBackgroundDelivery(
      for: .attribute, frequency: .immediate, target: .command(["sh", "-c", "echo x >> \(file)"]))
    await first.meet(.lamp(5))
    #expect(await eventually { FileManager.default.fileExists(atPath: file) })
    await second.close()
    await first.home.close()
  }
}

/// Returns the code of the error that the body throws.
private func code(_ body: () async throws -> Void) async -> HomeError.Code? {
  do { try await body() } catch { return (error as? HomeError)?.code }
  return nil
}
