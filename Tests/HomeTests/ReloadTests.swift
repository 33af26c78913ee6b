import Foundation
import MatterClusters
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Synchronization
import Testing

@testable import Home
@testable import HomeControl
@testable import HomeModel
@testable import HomeStore

/// Homes that were open for longer than the log reaches back, and homes whose follower ends.
@Suite("Reload and takeover", .timeLimit(.minutes(10))) struct ReloadTests {
  private let isOn = OnOff.onOff.path(on: 1)

  /// Makes changes through another connection and removes the whole log.
  private func changeAndCompact(in directory: ScratchDirectory) throws {
    let process = try HomeDatabase.open(directory.state.database)
    var reducer = HomeReducer(try process.load().state)
    var updates: [HomeUpdate] = []
    for input: HomeInput in [
      .update(
        HomeUpdate(
          [
            .roomAdded(Room(id: "r", name: "Hall", structureID: "home")), .deviceRenamed(id: "5", name: "Desk"),
            .deviceMoved(id: "5", roomID: "r"),
          ], at: 1)),
      NodeModel.report(5, isOn, false.tlv), .nodeRemoved(6), .node(8), NodeModel.lamp(8).report(),
      .established(8, deadline: 9), .lost(5, .subscriptionLost),
    ] {
      if let update = reducer.reduce(input, at: 1) { updates.append(update) }
    }
    try process.commit(updates)
    #expect(try process.compact(keeping: 0) > 0)
    #expect(try process.load().state == reducer.state)
    try process.close()
  }

  /// Opens a home with two lamps, which another process follows while it holds the lock.
  /// - Parameter isFollowed: false if no process follows the home at first.
  private func open(
    _ directory: ScratchDirectory, _ lock: inout FollowerLock?, isFollowed: Bool = true
  ) async throws -> OpenHome {
    let first = try await OpenHome(directory)
    await first.meet(.lamp(5))
    await first.meet(.lamp(6))
    await first.home.close()
    if isFollowed {
      lock = try FollowerLock.acquire(directory.state)
      #expect(lock != nil)
    }
    return try await OpenHome(directory)
  }

  @Test(arguments: [true, false]) func reloadsAfterCompaction(_ isPassive: Bool)
    async throws
  {
    let directory = ScratchDirectory()
    var lock: FollowerLock?
    let open = try await open(directory, &lock, isFollowed: isPassive)
    let home = open.home
    let client = await RecordingClient(home)
    let changes = home.devices().stream().makeAsyncIterator()
    let batches = home.devices().batched().makeAsyncIterator()
    let rooms = home.rooms().stream().makeAsyncIterator()
    let lights = try await open.device("5").types.subscribe(OnOffLightDeviceType.self).makeAsyncIterator()
    let removedLights = try await open.device("6").types.subscribe(OnOffLightDeviceType.self).makeAsyncIterator()
    let updates = home.updates()
    try changeAndCompact(in: directory)
    try await home.follow()
    #expect(await eventually { await home.backend.device("8") != nil })
    #expect(await open.controller.isFollower == !isPassive)

    // All observers see the current state.
    let state = await open.home.state
    #expect(state.devices["5"]?.name == "Desk" && state.devices["5"]?.roomID == "r" && state.devices["6"] == nil)
    #expect(state.value(5, isOn) == false.tlv)
    if isPassive { #expect(state == (try HomeDatabase.open(directory.state.database).load().state)) }
    // The client gets one message that everything may have changed, and no other.
    #expect(await client.delegate.waits(for: "homes"))
    let accessories = client.manager.primaryHome?.accessories ?? []
    #expect(accessories.map(\.name) == ["Desk", "Device 8"])
    #expect(client.manager.primaryHome?.rooms.map(\.name) == ["Hall"])
    // Later changes are reported as usual.
    try await home.rename("8", to: "Shelf")
    #expect(await client.delegate.waits(for: "called Shelf"))
    let received = client.delegate.messages.filter { !$0.contains("reachable") && !$0.hasPrefix("hub") }
    #expect(received == ["homes", "8 is Shelf", "called Shelf"])

    await home.close()
    let names = await rest(batches, of: CollectionSnapshots<HomeDevice>.self).map { $0.map(\.name) }
    #expect(Array(names.prefix(2)) == [["Device 5", "Device 6"], ["Desk", "Device 8"]])
    let first = await rest(changes, of: CollectionChanges<HomeDevice>.self).prefix(3).map { change in
      switch change {
      case .added(let new): "+\(new.id)"
      case .updated(let old, let new): "\(old.name) > \(new.name)"
      case .removed(let old): "-\(old.id)"
      }
    }
    #expect(Array(first) == ["-6", "Device 5 > Desk", "+8"])
    #expect(await rest(rooms, of: CollectionChanges<Room>.self).map(\.item.name) == ["Hall"])
    let seen = await rest(lights, of: DeviceUpdates<OnOffLightDeviceType>.self)
    #expect(
      seen.prefix(2).map { $0.matterTraits.onOffTrait?.attributes.onOff } == [true, false])
    #expect(await rest(removedLights, of: DeviceUpdates<OnOffLightDeviceType>.self).count == 1)
    var raw: [HomeUpdate] = []
    for await update in updates { raw.append(update) }
    #expect(raw.contains { $0.changes.isEmpty })
    _ = consume lock
  }

  @Test func keepsUpdatesDuringReload() async throws {
    let directory = ScratchDirectory()
    var lock: FollowerLock?
    let open = try await open(directory, &lock)
    try await open.home.follow()
    let edge = open.controller.edge
    let stored = try HomeDatabase.open(directory.state.database).load()
    let state = try await open.controller.eventLoop.submit {
      edge.value.beginReload()
      edge.value.take(.update(HomeUpdate([.deviceRenamed(id: "5", name: "New")], at: 5)))
      edge.value.reload(stored)
      return edge.value.reducer.state
    }.get()
    #expect(state.devices["5"]?.name == "New" && stored.state.devices["5"]?.name == "Device 5")
    await open.home.close()
    _ = consume lock
  }

  @Test func ignoresReportsWhileAnotherProcessFollows() async throws {
    let directory = ScratchDirectory()
    var lock: FollowerLock?
    let open = try await open(directory, &lock)
    await open.take(NodeModel.report(5, isOn, false.tlv))
    #expect(await open.home.state.value(5, isOn) == true.tlv)
    // The follower ends.
    lock = nil
    #expect(
      await eventually {
        await open.take(NodeModel.report(5, isOn, false.tlv))
        return await open.home.state.value(5, isOn) == false.tlv
      })
    // Another follower begins.
    lock = try FollowerLock.acquire(directory.state)
    #expect(lock != nil)
    #expect(
      await eventually {
        let before = await open.home.state.value(5, isOn)
        await open.take(NodeModel.report(5, isOn, before == true.tlv ? false.tlv : true.tlv))
        return await open.home.state.value(5, isOn) == before
      })
    await open.home.close()
    _ = consume lock
  }

  @Test func takeoverReadsLastWritesOfPreviousFollower() async throws {
    let directory = ScratchDirectory()
    var lock: FollowerLock?
    let open = try await open(directory, &lock)
    try await open.home.follow()
    #expect(await !open.controller.isFollower)
    let process = try HomeDatabase.open(directory.state.database)
    for round in 1...5 {
      try process.commit([HomeUpdate([.attribute(5, isOn, value: (round % 2 == 0).tlv)], at: Int64(round))])
    }
    lock = nil
    #expect(await eventually { await open.controller.isFollower })
    #expect(await open.home.state.value(5, isOn) == false.tlv)
    // A repeated report is not logged.
    await open.take(NodeModel.report(5, isOn, false.tlv))
    await open.home.close()
    guard case .samples(let samples, _, _) = try process.samples(after: nil, SampleFilter(.attribute)) else {
      Issue.record("the log was reset")
      return
    }
    #expect(samples.filter { $0.attribute?.path == isOn && $0.node == 5 }.count == 6)
    _ = consume lock
  }

  /// The next follower starts from the stored state.
  @Test func releasesLockAfterLastWrite() async throws {
    let directory = ScratchDirectory()
    let open = try await OpenHome(directory)
    try await open.home.follow()
    await open.meet(.lamp(5))
    try await open.controller.flush()
    // Another connection writes for a long time.
    let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let wasHeld = Mutex(false)
    let other = Thread {
      let process = try? HomeDatabase.open(directory.state.database)
      try? process?.write { _ in
        began.signal()
        // Limited, so that on a busy machine the waiting writer does not time out.
        _ = goOn.wait(timeout: .now() + 3)
        wasHeld.withLock { $0 = FollowerLock.isHeld(directory.state) }
      }
      try? process?.close()
    }
    other.start()
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        began.wait()
        continuation.resume()
      }
    }
    let updates = open.home.updates()
    await open.take(NodeModel.report(5, isOn, false.tlv))
    let closing = Task { await open.home.close() }
    // The home gets no more updates, and waits for the database.
    for await _ in updates {}
    try await open.controller.eventLoop.submit {}.get()
    goOn.signal()
    await closing.value
    #expect(wasHeld.withLock { $0 })
    #expect(!FollowerLock.isHeld(directory.state))
    #expect(try HomeDatabase.open(directory.state.database).load().state.value(5, isOn) == false.tlv)
  }

  @Test(arguments: [true, false]) func appliesRenamesInLogOrder(_ isPassive: Bool) async throws {
    let directory = ScratchDirectory()
    var lock: FollowerLock?
    let open = try await open(directory, &lock, isFollowed: isPassive)
    let home = open.home
    try await home.follow()
    let client = await RecordingClient(home)
    let changes = home.devices().stream().makeAsyncIterator()
    let process = try HomeDatabase.open(directory.state.database)
    for round in 1...5 {
      _ = try process.change(origin: "other", at: 5) { (_) throws(HomeError) in
        ([.deviceRenamed(id: "5", name: "A\(round)")], 0)
      }
      try await home.rename("5", to: "B\(round)")
      #expect(await home.backend.device("5")?.name == "B\(round)")
    }
    _ = try process.change(origin: "other", at: 5) { (_) throws(HomeError) in
      ([.roomAdded(Room(id: "r", name: "Marker", structureID: "home"))], 0)
    }
    #expect(await client.delegate.waits(for: "+room Marker"))
    #expect(await home.backend.device("5")?.name == "B5")
    #expect(try process.load().state.devices["5"]?.name == "B5")
    let order = (1...5).flatMap { ["called A\($0)", "called B\($0)"] }
    #expect(client.delegate.messages.filter { $0.hasPrefix("called") } == order)
    await home.close()
    let names = await rest(changes, of: CollectionChanges<HomeDevice>.self).compactMap { change -> String? in
      if case .updated(let old, let new) = change, old.name != new.name { "called \(new.name)" } else { nil }
    }
    #expect(names == order)
    _ = consume lock
  }

  @Test func followerReloadsForeignChangesAfterCompaction() async throws {
    let directory = ScratchDirectory()
    let open = try await OpenHome(directory)
    try await open.home.follow()
    await open.meet(.lamp(5))
    try await open.controller.flush()
    let process = try HomeDatabase.open(directory.state.database)
    _ = try process.change(origin: "cli", at: 5) { (_) throws(HomeError) in
      ([.deviceRenamed(id: "5", name: "Desk")], 0)
    }
    // The compaction includes the change that the follower has not read yet.
    try process.compact(keeping: 0)
    #expect(await eventually { await open.home.backend.device("5")?.name == "Desk" })
    #expect(await open.home.backend.device("5")?.sourceConnectivity.connectivityState == .online)
    await open.home.close()
  }
}
