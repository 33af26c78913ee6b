import Dispatch
import Foundation
import HearthHome
import HomeControl
import HomeModel
import HomeStore
import MatterClusters
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Synchronization
import Testing

@testable import Hub

/// Timeouts of requests, of synchronization and of routes.
@Suite("Timeouts", .timeLimit(.minutes(10))) struct TimeoutTests {
  @Test func requestTimesOutAtSilentHub() async throws {
    let scratch = Scratch()
    try Files.makeDirectory(scratch.state.run)
    let hub = try await SilentHub(scratch.state.hubSocket, greeting: [SilentHub.welcome] + SilentHub.home)
    var options = ServedHome.clientOptions("test", [.local(.socket(scratch.state.hubSocket))])
    let longWaiting = try await Home(through: options)
    let waits = WaitRecorder()
    let waiting = PendingWork.$board.withValue(waits) { Task { await code { _ = try await longWaiting.anchor() } } }
    #expect(await eventually { waits.begun.contains("the hub to answer") })
    // The timeout also applies to the opening of the home, which takes longer on a busy machine.
    options.timeout = .milliseconds(100)
    var opened: Home?
    while opened == nil {
      options.timeout = options.timeout * 2
      opened = try? await Home(through: options)
    }
    let client = try #require(opened)
    let start = HostClock.now()
    #expect(await code { _ = try await client.anchor() } == .timedOut)
    #expect(HostClock.now() - start >= options.timeout)
    // A client with a longer timeout still waits.
    #expect(waits.ended < waits.begun.count)
    waiting.cancel()
    #expect(await waiting.value == .interrupted)
    // The connection remains, and delivers updates.
    hub.send([
      .update(
        HubUpdate(
          HomeUpdate([.attribute(5, ServedHome.level, value: [0x04, 9])], at: 1), [:], HubPosition(hub: 1, count: 1)))
    ])
    #expect(await eventually { await client.state.value(5, ServedHome.level) == [0x04, 9] })
    // A late reply is not taken for that of another request.
    hub.send([.reply(id: "1", .success(.done))])
    #expect(await code { _ = try await client.addRoom("Den") } == .timedOut)
    await client.close()
    await longWaiting.close()
    await hub.close()
  }

  /// The process that owns the home needs some time until it accepts connections.
  @Test func clientOfOwnerSendsItsOptions() async throws {
    let scratch = Scratch()
    let lock = try #require(try OwnerLock.acquire(scratch.state))
    try Files.makeDirectory(scratch.state.run)
    let address = SocketAddress(.loopback4, port: 5540)
    var options = ServedHome.options(scratch)
    (options.timeout, options.address, options.addresses) = (.milliseconds(50), address, [6: address])
    let opening = Task { [options] in try await Home(options) }
    // The timeout of requests does not limit the connection to the owner.
    try await Task.sleep(for: .milliseconds(500))
    let owner = try await SilentHub(scratch.state.hubSocket, greeting: [SilentHub.welcome] + SilentHub.home)
    let client = try await opening.value
    #expect(await code { _ = try await client.anchor() } == .timedOut)
    let expected = RequestOptions(timeout: .milliseconds(50), address: address, addresses: [6: address])
    #expect(await eventually { owner.requests.map(\.options) == [expected] })
    await client.close()
    await owner.close()
    withExtendedLifetime(lock) {}
  }

  /// The hub accepts the client, but does not send its home.
  @Test func canceledRequestDoesNotWaitForRoute() async throws {
    let scratch = Scratch()
    try Files.makeDirectory(scratch.state.run)
    let hub = try await SilentHub(scratch.state.hubSocket, greeting: [SilentHub.welcome, .reset])
    var options = ServedHome.clientOptions("test", [.local(.socket(scratch.state.hubSocket))])
    (options.timeout, options.silence) = (.seconds(3600), .seconds(3600))
    let client = HubClient(options)
    let waits = WaitRecorder()
    let opening = PendingWork.$board.withValue(waits) { Task { await code { try await client.open() } } }
    let request = PendingWork.$board.withValue(waits) { Task { await code { _ = try await client.anchor() } } }
    #expect(await eventually { waits.begun.count == 2 })
    request.cancel()
    #expect(await eventually { waits.ended == 1 })
    opening.cancel()
    #expect(await eventually { waits.ended == 2 })
    await client.close()
    #expect(await request.value == .interrupted)
    #expect(await opening.value == .interrupted)
    await hub.close()
  }

  /// The process that owned the home ends, and no other one can become its owner.
  @Test func canceledRequestDoesNotWaitForOwner() async throws {
    let scratch = Scratch()
    let lock = try #require(try OwnerLock.acquire(scratch.state))
    try Files.makeDirectory(scratch.state.run)
    let owner = try await SilentHub(scratch.state.hubSocket, greeting: [SilentHub.welcome] + SilentHub.home)
    var options = ServedHome.options(scratch)
    options.timeout = .seconds(3600)
    let client = try await Home(options)
    let lost = Task { await code { _ = try await client.addRoom("Den") } }
    #expect(await eventually { owner.requests.count == 1 })
    await owner.close()
    #expect(await lost.value == .unreachable)
    let answer = Mutex<HomeError.Code?>(nil)
    let waits = WaitRecorder()
    let request = PendingWork.$board.withValue(waits) {
      Task { @Sendable in
        let error = await code { _ = try await client.anchor() }
        answer.withLock { $0 = error }
      }
    }
    #expect(await eventually { waits.begun == ["the process that owns the home to answer"] })
    request.cancel()
    #expect(await eventually { answer.withLock { $0 } == .interrupted })
    await client.close()
    await request.value
    withExtendedLifetime(lock) {}
  }

  @Test func requestLimitIncludesDeviceTimeout() {
    let write = HomeRequest.writeDevice(device: "5", source: nil, writes: [], isTimed: false, timeout: .seconds(30))
    #expect(write.limit(.seconds(10)) == .seconds(45))
    #expect(
      HomeRequest.read(node: 5, paths: [], isFabricFiltered: true, timeout: .seconds(1)).limit(.seconds(10))
        == .seconds(6))
    #expect(HomeRequest.status.limit(.seconds(10)) == .seconds(10))
  }

  /// The hub follows the home, but has not reached the lamp yet.
  @Test func commandWaitsAtHubForDevice() async throws {
    let served = try await ServedHome(isEmpty: true)
    try await served.make(ServedHome.lamp)
    let client = try await served.client()
    let lamp = try #require(try await client.devices().list().first)
    #expect(lamp.sourceConnectivity.dataSourceLocality == .unspecified)
    let light = try #require(lamp.types.get(DimmableLightDeviceType.self)?.matterTraits.onOffTrait)
    #expect(await code { try await light.on() } == .unreachable)
    #expect(await code { try await light.waiting(.milliseconds(100)).on() } == .timedOut)
    #expect(await code { try await light.waiting(.milliseconds(100)).write(OnOff.onTime, 1) } == .timedOut)
    let answers = Mutex(0)
    let on = Task { @Sendable in
      await code {
        defer { answers.withLock { $0 += 1 } }
        try await light.waiting(.seconds(3600)).on()
      }
    }
    let written = Task { @Sendable in
      await code {
        defer { answers.withLock { $0 += 1 } }
        try await light.waiting(.seconds(3600)).write(OnOff.onTime, 1)
      }
    }
    #expect(await eventually { try await served.hub.outstandingRequests == 2 })
    #expect(answers.withLock { $0 } == 0)
    try await served.home.controller.process(.established(5, deadline: .max))
    // Then the request is sent, and fails because the node does not exist.
    #expect(await on.value == .notFound)
    #expect(await written.value == .notFound)
    await client.close()
    await served.close()
  }

  @Test func listWaitsForFirstSynchronization() async throws {
    let scratch = Scratch()
    try Files.makeDirectory(scratch.state.run)
    let hub = try await SilentHub(scratch.state.hubSocket, greeting: [SilentHub.welcome, .reset])
    var options = ServedHome.clientOptions("test", [.local(.socket(scratch.state.hubSocket))])
    let client = HubClient(options)
    let opening = Task { await code { try await client.open() } }
    let home = Home(client)
    let begin = HostClock.now()
    #expect(await code { _ = try await home.devices().list(timeout: .milliseconds(300)) } == .timedOut)
    #expect(HostClock.now() - begin >= .milliseconds(300))
    #expect(await code { _ = try await home.rooms().list(timeout: .zero) } == .timedOut)
    let list = Task { try await home.devices().list(timeout: .seconds(60)) }
    #expect(await eventually { hub.clientCount == 1 })
    hub.send(Array(SilentHub.home.dropFirst()))
    #expect(try await list.value.map(\.name) == ["Lamp"])
    #expect(await opening.value == nil)
    // The loaded home remains available without the hub.
    await hub.close()
    #expect(try await home.devices().list(timeout: .zero).map(\.name) == ["Lamp"])
    await home.close()
    // Opening the home fails if the synchronization does not complete.
    let second = Scratch()
    try Files.makeDirectory(second.state.run)
    let silent = try await SilentHub(second.state.hubSocket, greeting: [])
    options.routes = [.local(.socket(second.state.hubSocket))]
    options.timeout = .milliseconds(300)
    let shortTimeout = options
    #expect(await code { _ = try await Home(through: shortTimeout) } == .timedOut)
    await silent.close()
  }

  @Test func retriesPeerRouteThatFailedToOpen() async throws {
    let (served, scratch) = (try await ServedHome(), Scratch())
    try HomeDatabase.open(scratch.state.database, identity: ServedHome.identity).close()
    // A directory in the place of the file for the lock.
    try FileManager.default.createDirectory(atPath: scratch.state.ownerLock, withIntermediateDirectories: true)
    let log = LogCounter()
    var options = ServedHome.clientOptions(
      "test", [.peer(ServedHome.options(scratch)), .local(served.socket)])
    options.logger = log.logger
    let client = try await Home(through: options)
    #expect(try await client.devices().list().map(\.name) == ["Lamp"])
    // Several attempts fail.
    let count = log["route down"]
    #expect(await eventually { log["route down"] >= count + 3 })
    #expect(try await client.devices().list().map(\.name) == ["Lamp"])
    try FileManager.default.removeItem(atPath: scratch.state.ownerLock)
    // The peer route is nearer, and its home has no devices.
    #expect(await eventually { try await client.devices().list().isEmpty })
    #expect(await eventually { try await served.hub.status.clients.isEmpty })
    await client.close()
    await served.close()
    // A failure of the only route is reported at once.
    let nowhere = Scratch()
    try "in the way".write(toFile: nowhere.state.root, atomically: true, encoding: .utf8)
    options.routes = [.peer(ServedHome.options(nowhere))]
    #expect(await code { _ = try await Home(through: options) } == .internalError)
  }

  /// After the client is closed the contacts are stored and the home is released.
  @Test func closesPeerHomeWithClient() async throws {
    let scratch = Scratch()
    try HomeDatabase.open(scratch.state.database).commit([HomeUpdate(ServedHome.lamp, at: 1)])
    let options = ServedHome.clientOptions("test", [.peer(ServedHome.options(scratch))])
    for _ in 0..<20 {
      try await Home(through: options).close()
      #expect(try OwnerLock.acquire(scratch.state) != nil)
    }
  }
}

extension HubServer {
  /// The number of requests of all clients that are not answered yet.
  fileprivate var outstandingRequests: Int { connections.values.reduce(0) { $0 + $1.ownOutstanding } }
  /// The number of callers that wait for a node or for the end of all requests.
  var waiterCount: Int { waiters.count }
}
