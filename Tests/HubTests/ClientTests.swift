import Dispatch
import HearthHome
import HomeAutomation
import HomeModel
import HomeStore
import MatterClusters
import MatterModel
import MatterProtocol
import NIOCore
import Synchronization
import Testing

@testable import Hub

/// The article “The home model”, “Routes” and “Delegates”, through a hub.
@Suite("Hub clients", .timeLimit(.minutes(10))) struct ClientTests {
  @Test func clientSeesSameHomeWithOtherLocality() async throws {
    let served = try await ServedHome()
    let client = try await served.client()
    let (there, here) = (try await served.home.devices().list(), try await client.devices().list())
    #expect(there.map(\.sourceConnectivity) == [SourceConnectivity(.online, .peer)])
    #expect(here.map(\.sourceConnectivity) == [SourceConnectivity(.online, .local)])
    #expect(here[0].settledConnectivity == here[0].sourceConnectivity)
    #expect(here.map(\.name) == ["Lamp"] && here[0].contact == there[0].contact && here[0].contact.last != nil)
    let light = try #require(here[0].types.get(DimmableLightDeviceType.self))
    #expect(light.matterTraits.levelControlTrait?.attributes.currentLevel == 1)
    #expect(light.metadata.sourceConnectivity.dataSourceLocality == .local)
    #expect(try await client.structures().list().map(\.name) == ["Home"])
    await client.close()
    await served.close()
  }

  @Test func deliversUpdatesInOrder() async throws {
    let served = try await ServedHome()
    let client = try await served.client()
    let updates = await listening(to: client)
    let lamp = try #require(try await client.devices().list().first)
    var lights = lamp.types.subscribe(DimmableLightDeviceType.self).makeAsyncIterator()
    // One value for the initial state, and one for each report.
    var levels = [await lights.next()?.matterTraits.levelControlTrait?.attributes.currentLevel]
    for level in 2...40 { try await served.report(level: UInt8(level)) }
    try await served.home.controller.process(.lost(5, .timedOut))
    var seen: [UInt8] = []
    for await update in updates {
      for case .attribute(_, ServedHome.level, let value?) in update.changes { seen.append(value[1]) }
      if update.changes.contains(.connectivity(SourceID(5), SourceStatus(.init(.offline, .local), reason: .timedOut))) {
        break
      }
    }
    #expect(seen == Array(2...40))
    while let light = await lights.next() {
      // Stop at the loss of the lamp.
      guard light.metadata.sourceConnectivity.connectivityState == .online else { break }
      levels.append(light.matterTraits.levelControlTrait?.attributes.currentLevel)
    }
    #expect(levels == Array(1...40))
    await client.close()
    await served.close()
  }

  @Test func notifiesAllClientsExceptOrigin() async throws {
    let served = try await ServedHome()
    let (first, second) = (try await served.client("first"), try await served.client("second"))
    let owner = await RecordedClient(served.home)
    // Two clients in one process, on one connection.
    let (one, two) = (await RecordedClient(first), await RecordedClient(first))
    let three = await RecordedClient(second)
    let room = try await one.manager.addRoom("Den")
    // The call returns after the change was applied.
    #expect(one.manager.primaryHome?.rooms.map(\.name) == ["Den"])
    try await one.manager.move("5", to: room.id)
    let lamp = try #require(one.manager.primaryHome?.accessories.first)
    let renamed = try await lamp.setName("Desk")
    #expect(renamed.name == "Desk" && renamed.roomID == room.id && !renamed.isNameTruncated)
    try await three.manager.addRoom("Hall")
    for other in [owner, two] {
      #expect(await other.recorder.waits(for: "+room Hall"))
      #expect(other.recorder.messages == ["homes", "+room Den", "called Desk", "+room Hall"])
    }
    #expect(await one.recorder.waits(for: "+room Hall"))
    #expect(one.recorder.messages == ["homes", "+room Hall"])
    #expect(three.recorder.messages == ["homes", "+room Den", "called Desk"])
    // A failed call sends no message.
    #expect(await code { try await one.manager.rename("5", to: " ") } == .badArguments)
    #expect(await code { try await one.manager.removeRoom("attic") } == .notFound)
    await first.close()
    await second.close()
    await served.close()
  }

  @Test func onlyOwnerChangesPrimaryHome() async throws {
    let served = try await ServedHome()
    let (first, second) = (try await served.client("first"), try await served.client("second"))
    let member = try await served.client(token: try await served.invite("Kind", .member))
    let (one, two, three) = (await RecordedClient(first), await RecordedClient(second), await RecordedClient(member))
    let owner = await RecordedClient(served.home)
    let others = [two, three, owner]
    let cabin = try await one.manager.addHome(withName: "Cabin")
    #expect(one.manager.primaryHome?.name == "Home")
    try await one.manager.updatePrimaryHome(cabin)
    #expect(one.manager.primaryHome?.name == "Cabin")
    for other in others {
      #expect(await other.recorder.waits(for: "primary Cabin"))
      #expect(other.manager.primaryHome?.name == "Cabin")
    }
    #expect(await code { try await three.manager.updatePrimaryHome(cabin) } == .accessDenied)
    #expect(await code { try await two.manager.updatePrimaryHome(Structure(id: "none", name: "")) } == .notFound)
    // Also visible to later clients and in the database.
    let late = try await served.client("late")
    #expect(await late.primaryStructure?.name == "Cabin")
    #expect(try StoredNames(served.scratch.state).state().primaryStructureID == cabin.id)
    // A room without a structure is added to the primary one.
    #expect(try await two.manager.addRoom("Den").structureID == cabin.id)
    try await one.manager.removeHome(cabin)
    for other in others { #expect(await other.recorder.waits(for: "primary Home")) }
    #expect(one.manager.primaryHome?.name == "Home")
    #expect(await one.recorder.waits(for: "+room Den"))
    #expect(one.recorder.messages == ["homes", "+room Den"])
    #expect(three.recorder.messages.filter { $0.hasPrefix("primary") } == ["primary Cabin", "primary Home"])
    for home in [first, second, member, late] { await home.close() }
    await served.close()
  }

  @Test func readsLogThroughHub() async throws {
    let served = try await ServedHome()
    let client = try await served.client()
    let start = try await client.anchor()
    let (calls, continuation) = AsyncStream.makeStream(of: Void.self)
    let query = ObserverQuery(.attribute) { _, completion, _ in
      continuation.yield()
      completion()
    }
    await client.execute(query)
    var rings = calls.makeAsyncIterator()
    _ = await rings.next()
    try await served.report(level: 7)
    _ = await rings.next()
    guard case .samples(let samples, let next, true) = try await client.samples(after: start) else {
      Issue.record("no samples")
      return
    }
    #expect(samples.map(\.change) == [.attribute(5, ServedHome.level, value: [0x04, 7])])
    let end = try await served.home.anchor()
    #expect(samples.map(\.device) == ["5"] && next == end)
    guard case .samples(samples, next, true) = try await client.results(of: AnchoredQuery(.attribute, after: start))
    else {
      Issue.record("other samples")
      return
    }
    let foreign = try #require(Anchor("h1-\(Int64.max)"))
    #expect(await code { _ = try await client.samples(after: foreign) } == .badArguments)
    let beyond = try #require(Anchor(start.description.prefix { $0 != "-" } + "-99999"))
    guard case .reset(let stored) = try await client.samples(after: beyond) else {
      Issue.record("no reset")
      return
    }
    #expect(stored.state.devices["5"]?.name == "Lamp" && stored.anchor == next)
    await client.stop(query)
    await client.close()
    await served.close()
  }

  @Test func notifiesQueriesOfMatchingChangesOnly() async throws {
    let served = try await ServedHome()
    let client = try await served.client()
    let rings = Mutex<[String: Int]>([:])
    func query(_ name: String, _ type: SampleType, _ predicate: SampleFilter) -> ObserverQuery {
      ObserverQuery(type, predicate) { _, completion, _ in
        rings.withLock { $0[name, default: 0] += 1 }
        completion()
      }
    }
    // The queries, and the kind of change that each of them matches.
    let queries = [
      query("level", .attribute, SampleFilter(devices: ["5"], endpoints: [1], clusters: [8], attributes: [0])),
      query("on", .attribute, SampleFilter(clusters: [6])),
      query("endpoint", .attribute, SampleFilter(endpoints: [2])),
      query("other", .attribute, SampleFilter(devices: ["6"])), query("ways", .topology, SampleFilter(devices: ["5"])),
      query("all", .all, SampleFilter()), query("others", .all, SampleFilter(devices: ["6"])),
    ]
    for query in queries { await client.execute(query) }
    #expect(await eventually { rings.withLock { $0.count } == queries.count })
    let hub = try #require(client.backend as? HubClient)
    /// Names of the queries that were notified once the condition holds; their calls begin in the same turn.
    func rung(_ isDone: () async throws -> Bool) async throws -> [String] {
      #expect(await eventually(isDone))
      #expect(await eventually { await hub.isIdle })
      let all = rings.withLock { rings in
        defer { rings = [:] }
        return rings
      }
      #expect(all.values.allSatisfy { $0 == 1 })
      return all.keys.sorted()
    }
    _ = try await rung { true }
    try await served.report(level: 9)
    #expect(
      try await rung { await client.state.value(5, ServedHome.level) == [0x04, 9] } == ["all", "level"])
    // A source is added and removed: the sample names the device, even after the removal.
    try await served.make([.sourceAdded(SourceID(7, 3), device: "5")])
    #expect(try await rung { await client.state.source(SourceID(7, 3)) != nil } == ["all", "ways"])
    try await served.make([.sourceRemoved(SourceID(7, 3))])
    #expect(try await rung { await client.state.source(SourceID(7, 3)) == nil } == ["all", "ways"])
    try await served.make([.roomAdded(Room(id: "r", name: "Den", structureID: "home"))])
    #expect(try await rung { await client.state.room("r") != nil } == ["all"])
    for query in queries { await client.stop(query) }
    await client.close()
    await served.close()
  }

  @Test func retriesFailedQuery() async throws {
    let served = try await ServedHome()
    let client = try await served.client(delivery: .init(timeout: .seconds(120), firstRetry: .milliseconds(20)))
    let calls = Mutex<[HomeError.Code?]>([])
    let query = ObserverQuery(.attribute) { _, completion, error in
      let count = calls.withLock { calls in
        calls.append(error?.code)
        return calls.count
      }
      // Two failures in a row don't stop the query; a success resets the count.
      completion(count % 3 == 0)
    }
    await client.execute(query)
    #expect(await eventually { calls.withLock { $0.count } == 3 })
    try await served.report(level: 9)
    #expect(await eventually { calls.withLock { $0.count } == 6 })
    let hub = try #require(client.backend as? HubClient)
    #expect(await eventually { await hub.isIdle })
    #expect(calls.withLock { $0 } == [nil, nil, nil, nil, nil, nil])
    await client.stop(query)
    await client.close()
    await served.close()
  }

  @Test func callsQueryThatNeverCompletes() async throws {
    let served = try await ServedHome()
    let client = try await served.client(delivery: .init(timeout: .milliseconds(30)))
    let calls = Mutex<[ObserverCompletion]>([])
    let codes = Mutex<[HomeError.Code?]>([])
    let query = ObserverQuery(.attribute) { _, completion, error in
      codes.withLock { $0.append(error?.code) }
      calls.withLock { $0.append(completion) }
    }
    await client.execute(query)
    for level in 2...5 as ClosedRange<UInt8> {
      #expect(await eventually { calls.withLock { $0.count } == Int(level) - 1 })
      try await served.report(level: level)
    }
    #expect(await eventually { calls.withLock { $0.count } == 5 })
    // The handler also receives the error of a second execution.
    await client.execute(query)
    #expect(await eventually { codes.withLock { $0.last } == .badArguments })
    #expect(codes.withLock { $0.dropLast().allSatisfy { $0 == nil } })
    await client.stop(query)
    await client.close()
    await served.close()
  }

  @Test func blockedHandlerDelaysNoOtherQuery() async throws {
    let served = try await ServedHome()
    let client = try await served.client()
    let gate = DispatchSemaphore(value: 0)
    let running = Mutex(0), rings = Mutex(0)
    let wasCalled = Mutex(false)
    let stuck = ObserverQuery(.all) { _, completion, _ in
      let isFirst = wasCalled.withLock { called in
        defer { called = true }
        return !called
      }
      guard isFirst else { return completion() }
      running.withLock { $0 += 1 }
      // Limited, so that a failure does not hang the test.
      _ = gate.wait(timeout: .now() + 600)
      running.withLock { $0 -= 1 }
      completion()
    }
    let other = ObserverQuery(.attribute) { _, completion, _ in
      rings.withLock { $0 += 1 }
      completion()
    }
    await client.execute(stuck)
    #expect(await eventually { running.withLock { $0 } == 1 })
    await client.execute(other)
    #expect(await eventually { rings.withLock { $0 } == 1 })
    for level in 2...4 as ClosedRange<UInt8> {
      try await served.report(level: level)
      #expect(await eventually { rings.withLock { $0 } == Int(level) })
    }
    #expect(await client.state.value(5, ServedHome.level) == [0x04, 4])
    _ = try await client.anchor()
    // The first handler is still blocked.
    #expect(running.withLock { $0 } == 1)
    await client.stop(stuck)
    gate.signal()
    #expect(await eventually { running.withLock { $0 } == 0 })
    await client.close()
    await served.close()
  }

  @Test func resumesWithMissedUpdates() async throws {
    let served = try await ServedHome()
    let client = try await served.client()
    let updates = await listening(to: client)
    // The connection is closed and three reports arrive before it can be restored, because all run on one event loop.
    try await served.hub.hangUp(andThen: (2...4).map { served.input(level: $0) })
    var levels: [UInt8] = []
    for await update in updates {
      for case .attribute(_, ServedHome.level, let value?) in update.changes { levels.append(value[1]) }
      if levels.last == 4 { break }
    }
    #expect(levels == [2, 3, 4])
    await client.close()
    await served.close()
  }

  /// No update was missed, but a reader whose read failed with the route must be notified again.
  @Test func notifiesQueryAfterReconnect() async throws {
    let served = try await ServedHome()
    let client = try await served.client()
    let rings = Mutex(0)
    let query = ObserverQuery(.attribute) { _, completion, _ in
      rings.withLock { $0 += 1 }
      completion()
    }
    await client.execute(query)
    #expect(await eventually { rings.withLock { $0 } == 1 })
    try await served.hub.hangUp(andThen: [])
    #expect(await eventually { rings.withLock { $0 } == 2 })
    await client.stop(query)
    await client.close()
    await served.close()
  }

  @Test func reloadsAfterLongDisconnection() async throws {
    let served = try await ServedHome { $0.journal = 2 }
    let client = try await served.client()
    let recorded = await RecordedClient(client)
    let lamp = try #require(try await client.devices().list().first)
    var lights = lamp.types.subscribe(DimmableLightDeviceType.self).makeAsyncIterator()
    _ = await lights.next()
    let updates = await listening(to: client)
    try await served.hub.hangUp(andThen: (2...9).map { served.input(level: $0) })
    // The individual changes are unknown and must not be reported.
    for await update in updates {
      for case .attribute in update.changes { Issue.record("an individual change was reported: \(update)") }
      if update.changes.isEmpty { break }
    }
    #expect(await client.state.value(5, ServedHome.level) == [0x04, 9])
    #expect(await recorded.recorder.waits(for: "homes", times: 2))
    #expect(!recorded.recorder.messages.contains { $0.contains("currentLevel") })
    let level = recorded.manager.primaryHome?.accessories.first?.types.get(DimmableLightDeviceType.self)?
      .matterTraits.levelControlTrait?.attributes.currentLevel
    #expect(level == 9)
    // A type subscription gets the new value.
    while let light = await lights.next() {
      if light.matterTraits.levelControlTrait?.attributes.currentLevel == 9 { break }
    }
    // Later changes are reported as usual.
    try await served.report(level: 10)
    #expect(await recorded.recorder.waits(for: "1/levelControl.currentLevel = 10"))
    await client.close()
    await served.close()
  }
}

extension HubClient {

  /// Whether no query is being notified or retried.
  fileprivate var isIdle: Bool { queries.signals.allSatisfy(\.isIdle) }
}

extension ServedHome {
  func input(level: UInt8) -> HomeInput {
    .report(NodeReport(5, [AttributeData(Self.level, dataVersion: 0, value: [0x04, level])], isWhole: false))
  }
}

extension HubServer {
  /// Closes all connections, and handles inputs before any client can reconnect.
  func hangUp(andThen inputs: [HomeInput]) {
    for connection in connections.values { connection.channel.close(promise: nil) }
    process(inputs)
  }

  /// Handles inputs in one turn of the event loop.
  func process(_ inputs: [HomeInput]) {
    controller.assumeIsolated { controller in for input in inputs { controller.process(input) } }
  }
}
