import Dispatch
import Foundation
import MatterClusters
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Synchronization
import Testing

@testable import Home
@testable import Hub

/// How long who waits for somebody waits.
@Suite("Timeouts", .timeLimit(.minutes(10))) struct TimeoutTests {
  /// What comes of a call that may hang; it is given up after some time.
  private func failure(
    within time: Duration = .seconds(60), _ body: @escaping @Sendable () async throws -> Void
  ) async -> HomeError.Code? {
    let call = Task { await code(body) }
    let timer = Task {
      try await Task.sleep(for: time)
      call.cancel()
    }
    defer { timer.cancel() }
    return await call.value
  }

  @Test func aHubThatNeverAnswersIsNotWaitedForForever() async throws {
    let scratch = Scratch()
    try Files.makeDirectory(scratch.state.run)
    let hub = try await SilentHub(scratch.state.hubSocket, greeting: [SilentHub.welcome] + SilentHub.home)
    var options = ServedHome.clientOptions("test", [.local(.socket(scratch.state.hubSocket))])
    let patient = try await Home(through: options)
    // Longer than it takes to open the home on a machine that is busy.
    options.timeout = .seconds(5)
    let client = try await Home(through: options)
    let start = HostClock.now()
    #expect(await failure { _ = try await client.anchor() } == .timedOut)
    #expect(HostClock.now() - start >= .seconds(5))
    // Another one still waits.
    #expect(await failure(within: .milliseconds(100)) { _ = try await patient.anchor() } == .interrupted)
    // It is there all the same, and says what happens.
    hub.say([
      .update(
        HomeUpdate([.attribute(5, ServedHome.level, value: [0x04, 9])], at: 1), [:], HubPosition(hub: 1, count: 1))
    ])
    #expect(await eventually { await client.state.value(5, ServedHome.level) == [0x04, 9] })
    // What is late is nobody's answer.
    hub.say([.reply(1, .success(.done))])
    #expect(await failure { _ = try await client.addRoom("Den") } == .timedOut)
    await client.close()
    await patient.close()
    await hub.close()
  }

  @Test func aDeviceIsWaitedForByTheHubAndThenTheHub() {
    let write = HubRequest.writeDevice("5", by: nil, [], isTimed: false, timeout: .seconds(30))
    #expect(write.limit(.seconds(10)) == .seconds(45))
    #expect(HubRequest.read(5, [], isFabricFiltered: true, timeout: .seconds(1)).limit(.seconds(10)) == .seconds(6))
    #expect(HubRequest.status.limit(.seconds(10)) == .seconds(10))
  }

  /// The hub follows the home, and has not reached the lamp yet.
  @Test func aCommandWaitsAtTheHubUntilItsDeviceIsThere() async throws {
    let served = try await ServedHome(isEmpty: true)
    try await served.make(ServedHome.lamp)
    let client = try await served.client()
    let lamp = try #require(try await client.devices().list().first)
    #expect(lamp.sourceConnectivity.dataSourceLocality == .unspecified)
    let light = try #require(lamp.types.get(DimmableLightDeviceType.self)?.matterTraits.onOffTrait)
    #expect(await failure { try await light.on() } == .unreachable)
    #expect(await failure { try await light.waiting(.milliseconds(100)).on() } == .timedOut)
    #expect(await failure { try await light.waiting(.milliseconds(100)).write(OnOff.onTime, 1) } == .timedOut)
    let answers = Mutex(0)
    let on = Task { @Sendable in
      await failure {
        defer { answers.withLock { $0 += 1 } }
        try await light.waiting(.seconds(60)).on()
      }
    }
    let written = Task { @Sendable in
      await failure {
        defer { answers.withLock { $0 += 1 } }
        try await light.waiting(.seconds(60)).write(OnOff.onTime, 1)
      }
    }
    try await Task.sleep(for: .milliseconds(400))
    #expect(answers.withLock { $0 } == 0)
    try await served.home.controller.take(.established(5, deadline: .max))
    // Then it is asked: that there is no such node is the answer.
    #expect(await on.value == .notFound)
    #expect(await written.value == .notFound)
    await client.close()
    await served.close()
  }

  @Test func theFirstSynchronisationIsWaitedForAndNoLonger() async throws {
    let scratch = Scratch()
    try Files.makeDirectory(scratch.state.run)
    let hub = try await SilentHub(scratch.state.hubSocket, greeting: [SilentHub.welcome, .reset])
    var options = ServedHome.clientOptions("test", [.local(.socket(scratch.state.hubSocket))])
    let client = HubClient(options)
    let opening = Task { await failure(within: .seconds(120)) { try await client.open() } }
    let home = Home(client)
    let begin = HostClock.now()
    #expect(await failure { _ = try await home.devices().list(timeout: .milliseconds(300)) } == .timedOut)
    #expect(HostClock.now() - begin >= .milliseconds(300))
    #expect(await failure { _ = try await home.rooms().list(timeout: .zero) } == .timedOut)
    let list = Task { try await home.devices().list(timeout: .seconds(60)) }
    #expect(await eventually { hub.clientCount == 1 })
    hub.say(Array(SilentHub.home.dropFirst()))
    #expect(try await list.value.map(\.name) == ["Lamp"])
    #expect(await opening.value == nil)
    // What was told once is known, be the hub there or not.
    await hub.close()
    #expect(try await home.devices().list(timeout: .zero).map(\.name) == ["Lamp"])
    await home.close()
    // Who opens it as one does is told that it did not come.
    let second = Scratch()
    try Files.makeDirectory(second.state.run)
    let silent = try await SilentHub(second.state.hubSocket, greeting: [])
    options.routes = [.local(.socket(second.state.hubSocket))]
    options.timeout = .milliseconds(300)
    let impatient = options
    #expect(await failure { _ = try await Home(through: impatient) } == .timedOut)
    await silent.close()
  }

  @Test func aHomeOfOurOwnThatCouldNotBeOpenedIsTriedAgain() async throws {
    let (served, scratch) = (try await ServedHome(), Scratch())
    // A file is where its directory is to be.
    try "in the way".write(toFile: scratch.state.root, atomically: true, encoding: .utf8)
    let client = try await served.client(
      through: [.peer(ServedHome.options(scratch)), .local(served.socket)])
    #expect(try await client.devices().list().map(\.name) == ["Lamp"])
    try await Task.sleep(for: .milliseconds(300))
    #expect(try await client.devices().list().map(\.name) == ["Lamp"])
    try FileManager.default.removeItem(atPath: scratch.state.root)
    // It is nearer, and has no devices.
    #expect(await eventually { try await client.devices().list().isEmpty })
    #expect(await eventually { try await served.hub.status.clients.isEmpty })
    await client.close()
    await served.close()
    // Where it is the only way, it is said at once.
    let nowhere = Scratch()
    try "in the way".write(toFile: nowhere.state.root, atomically: true, encoding: .utf8)
    let options = ServedHome.clientOptions("test", [.peer(ServedHome.options(nowhere))])
    #expect(await failure { _ = try await Home(through: options) } == .internalError)
  }

  /// - Parameter wasOnline: whether the device was there when somebody followed it last, which says nothing of now.
  @Test(arguments: [false, true]) func aHomeOfOurOwnWhoseDevicesDoNotAnswerIsGivenUp(wasOnline: Bool) async throws {
    let scratch = Scratch()
    let last = HomeChange.connectivity(SourceID(5), SourceStatus(wasOnline ? .init(.online, .peer) : .unknown))
    try HomeDatabase.open(scratch.state.database).commit([HomeUpdate(ServedHome.lamp + [last], at: 1)])
    var options = ServedHome.clientOptions("test", [.peer(ServedHome.options(scratch))])
    (options.connectTimeout, options.timeout) = (.milliseconds(300), .seconds(60))
    let begin = HostClock.now()
    let impatient = options
    #expect(await failure { _ = try await Home(through: impatient) } == .unreachable)
    #expect(HostClock.now() - begin >= .milliseconds(300))
  }

  /// What was heard last is stored, and nobody has the home open any more, when the client is closed.
  @Test func aHomeOfOurOwnIsClosedWithTheClient() async throws {
    let scratch = Scratch()
    try HomeDatabase.open(scratch.state.database).commit([HomeUpdate(ServedHome.lamp, at: 1)])
    var options = ServedHome.clientOptions("test", [.peer(ServedHome.options(scratch))])
    options.connectTimeout = .milliseconds(100)
    for _ in 0..<20 {
      _ = try? await Home(through: options)
      #expect(try FollowerLock.acquire(scratch.state) != nil)
    }
  }

  @Test func howeverManyStrangersComeTheInvitationsAreReadForAllAtOnce() async throws {
    let served = try await ServedHome()
    let token = try served.invite("Gast", .guest)
    let controller = try served.home.controller
    var strangers: [RawClient] = []
    for _ in 0..<40 { strangers.append(try await RawClient(served.scratch.state.hubSocket)) }
    let before = try await served.hub.lookupCount
    let gate = DispatchSemaphore(value: 0)
    let blocked = try await controller.eventLoop.submit {
      let keeper = controller.edge.value.keeper
      return keeper.worker.submit(on: controller.eventLoop) { gate.wait() }
    }.get()
    for (number, stranger) in strangers.enumerated() {
      stranger.send(.hello(HubHello(name: "raw", token: number == 39 ? token : "nonsense")))
    }
    #expect(await eventually { try await served.hub.lookups.count == 39 })
    gate.signal()
    try await blocked.get()
    let all = strangers
    #expect(await eventually { all.allSatisfy { !$0.kinds.isEmpty } })
    #expect(all.count { $0.kinds.first == "refused" } == 39 && all.last?.kinds.first == "welcome")
    #expect(try await served.hub.lookupCount == before + 2)
    // Who was invited after that is known at once, and who was revoked is not.
    let late = try await served.client(token: try served.invite("Kind", .member))
    await late.close()
    try StoredNames(served.scratch.state).withDatabase { database throws(HomeError) in _ = try database.revoke("Gast") }
    #expect(await failure { _ = try await served.client(token: token) } == .accessDenied)
    await served.close()
  }
}
