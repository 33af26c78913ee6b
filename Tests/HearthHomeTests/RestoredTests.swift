import Foundation
import HearthHome
import HomeAutomation
import HomeControl
import HomeModel
import HomeStore
import MatterClusters
import MatterModel
import NIOCore
import Runtime
import Testing

/// Devices of a restored home that were not reached yet (article “The home model”, “Connectivity and locality”), and
/// times of last contact.
@Suite("Restored homes", .timeLimit(.minutes(10))) struct RestoredTests {
  private let isOn = OnOff.onOff.path(on: 1)

  /// Stores a home whose lamp was online when it was closed.
  private func stored() async throws -> ScratchDirectory {
    let directory = ScratchDirectory()
    let first = try await OpenHome(directory)
    try await first.home.follow()
    await first.meet(.lamp(5))
    await first.home.close()
    #expect(
      try HomeDatabase.open(directory.state.database).load().state.devices["5"]?.active?.status
        == SourceStatus(SourceConnectivity(.online, .peer)))
    return directory
  }

  @Test func connectivityIsUnknownWithoutFollower() async throws {
    let directory = try await stored()
    let before = try HomeDatabase.open(directory.state.database).anchor()
    let open = try await OpenHome(directory)
    let batches = open.home.devices().batched().makeAsyncIterator()
    let device = try await open.device("5")
    #expect(device.sourceConnectivity == .unknown && device.settledConnectivity == .unknown)
    #expect(device.types.get(OnOffLightDeviceType.self)?.metadata.sourceConnectivity == .unknown)
    let light = try #require(device.types.get(OnOffLightDeviceType.self)?.matterTraits.onOffTrait)
    #expect(light.metadata.sourceConnectivity == .unknown && light.attributes.onOff == true)
    let lights = device.types.subscribe(OnOffLightDeviceType.self).makeAsyncIterator()
    let all = device.types.subscribeAll().makeAsyncIterator()
    #expect(device.contact.last != nil)
    // A response: the log has this state already, but observers are notified.
    await open.process(.answered(5))
    #expect(try await open.device("5").sourceConnectivity == SourceConnectivity(.online, .peer))
    await open.home.close()
    #expect(
      await rest(batches, of: CollectionSnapshots<HomeDevice>.self).map { $0.map(\.sourceConnectivity) } == [
        [.unknown], [SourceConnectivity(.online, .peer)],
      ])
    // Subscriptions to a part of the device are notified as well.
    let online = SourceConnectivity(.online, .peer)
    let values = await rest(lights, of: DeviceUpdates<OnOffLightDeviceType>.self)
    #expect(values.map(\.metadata.sourceConnectivity) == [.unknown, online])
    #expect(values.map { $0.matterTraits.onOffTrait?.isStale } == [true, false])
    let types = await rest(all, of: DeviceUpdates<DeviceTypeCollection>.self)
    #expect(types.map { $0.get(OnOffLightDeviceType.self)?.metadata.sourceConnectivity } == [.unknown, online])
    #expect(try HomeDatabase.open(directory.state.database).anchor() == before)
  }

  @Test func snapshotHasUnknownConnectivity() async throws {
    let directory = try await stored()
    let open = try await OpenHome(directory)
    let stored = try HomeDatabase.open(directory.state.database).load()
    let device = try #require(await open.home.devices(of: stored).first)
    #expect(device.sourceConnectivity == .unknown)
    #expect(device.types.get(OnOffLightDeviceType.self)?.matterTraits.onOffTrait?.isStale == true)
    await open.process(.answered(5))
    #expect(await open.home.devices(of: stored).map(\.sourceConnectivity) == [SourceConnectivity(.online, .peer)])
    await open.home.close()
  }

  @Test func followerStoresUnknownConnectivity() async throws {
    let directory = try await stored()
    let open = try await OpenHome(directory)
    let batches = open.home.devices().batched().makeAsyncIterator()
    let before = try await open.home.anchor()
    try await open.home.follow()
    #expect(try await open.device("5").sourceConnectivity == .unknown)
    #expect(
      try await open.home.results(of: AnchoredQuery(.all, after: before)).added.map(\.change) == [
        .connectivity(SourceID(5), .unknown)
      ])
    await open.process(.established(5, deadline: 9))
    await open.home.close()
    // The connectivity was unknown before, so no further snapshot is delivered.
    #expect(
      await rest(batches, of: CollectionSnapshots<HomeDevice>.self).map { $0.map(\.sourceConnectivity) }
        == [[.unknown], [SourceConnectivity(.online, .peer)]])
  }

  /// The number of devices does not matter.
  @Test func restartIsStoredAndReportedOnce() async throws {
    let directory = ScratchDirectory()
    let first = try await OpenHome(directory, grace: .seconds(60))
    try await first.home.follow()
    for node in 1...40 as ClosedRange<UInt64> { await first.meet(.lamp(NodeID(node))) }
    await first.home.close()
    let open = try await OpenHome(directory, grace: .seconds(60))
    let before = try await open.home.anchor()
    let batches = open.home.devices().batched().makeAsyncIterator()
    let updates = open.home.updates()
    try await open.home.follow()
    try await open.controller.flush()
    let log = try await open.home.results(of: AnchoredQuery(.all, after: before)).added
    await open.home.close()
    #expect(log.count == 40 && log.allSatisfy { $0.change.node != nil && $0.update == log[0].update })
    var counts: [Int] = []
    for await update in updates { counts.append(update.changes.count) }
    // One update for the unknown connectivity, and one for the begin of the following.
    #expect(counts == [40, 0])
    // The snapshots before and after the restart.
    #expect(await rest(batches, of: CollectionSnapshots<HomeDevice>.self).count <= 2)
  }

  // MARK: Contact

  @Test func storesContactWithoutChange() async throws {
    let directory = ScratchDirectory()
    let open = try await OpenHome(directory, contactPeriod: .milliseconds(100))
    try await open.home.follow()
    await open.meet(.lamp(5))
    try await open.controller.flush()
    let before = try #require(try await open.device("5").contact.last)
    let anchor = try await open.home.anchor()
    // Repeated, because the clock has a resolution.
    #expect(
      try await eventually {
        await open.process(.heard(5, deadline: 77))
        return try await open.device("5").contact.last ?? 0 > before
      })
    let contact = try await open.device("5").contact
    #expect(contact.nextReport == 77)
    let process = try HomeDatabase.open(directory.state.database)
    #expect(await eventually { (try? process.load())?.contacts[5] == contact })
    #expect(try process.anchor() == anchor)
    let controller = open.controller
    try await controller.eventLoop.submit { controller.abandon() }.get()
    let again = try await OpenHome(directory)
    #expect(try await again.device("5").contact == contact)
    await again.home.close()
  }

  @Test func bridgeContactExcludesUnreachableDevices() throws {
    var home = CheckedReducer()
    home.meet(.bridge(7))
    let reachable = BridgedDeviceBasicInformation.reachable.path(on: 3)
    func last(_ device: String) -> Int64? { home.reducer.contact(by: home.state.devices[device]?.active).last }
    home.process(.heard(7, deadline: nil))
    let heard = home.time
    #expect(last("7/2") == heard && last("7/3") == heard)
    home.process(NodeModel.report(7, reachable, false.tlv))
    home.process(.heard(7, deadline: 9))
    #expect(last("7") == home.time && last("7/2") == home.time && last("7/3") == heard)
    #expect(home.reducer.contact(by: home.state.devices["7/3"]?.active).nextReport == nil)
    // The contact of an unreachable device stays the same in memory and in the database, regardless of the bridge's
    // state.
    home.process(.lost(7, .timedOut))
    home.process(.started)
    home.process(.established(7, deadline: 9))
    #expect(last("7/3") == heard)
    let scratch = try TestDatabase()
    let database = try scratch.open()
    try database.commit(home.log)
    try database.close()
    let again = try scratch.open()
    #expect(try again.load().state == home.state)
    guard case .samples(let samples, _, _) = try again.samples(after: nil, SampleFilter(.connectivity)) else {
      Issue.record("the log was reset")
      return
    }
    #expect(samples.last?.change == home.log.last?.changes.last)
    home.process(NodeModel.report(7, reachable, true.tlv))
    #expect(last("7/3") == home.time && home.state.devices["7/3"]?.active?.status.lastContact == nil)
    #expect(home.faults.isEmpty)
  }

  @Test func neverReachedBridgedDeviceHasNoContact() throws {
    var bridge = NodeModel.bridge(7)
    bridge[BridgedDeviceBasicInformation.reachable.path(on: 3)] = false.tlv
    var home = CheckedReducer()
    home.meet(bridge)
    home.process(.heard(7, deadline: nil))
    #expect(home.status("7/3")?.reason == .bridgeSaysUnreachable)
    #expect(home.reducer.contact(by: home.state.devices["7/3"]?.active) == Contact())
    #expect(home.reducer.contact(by: home.state.devices["7/2"]?.active).last == home.time)
  }

  // MARK: Queries

  @Test func restoresQueriesBeforeFirstUpdate() async throws {
    let directory = try await stored()
    let process = try HomeDatabase.open(directory.state.database)
    try process.add(
      BackgroundDelivery(
        SampleFilter(.event), .immediate, to: .command(["true"]), after: try process.anchor()))
    let open = try await OpenHome(directory)
    let controller = open.controller
    let known = Box<[Int]>([])
    _ = try await controller.eventLoop.submit {
      controller.view.stream.addListener { event in
        if case .update(let update, _) = event, !update.changes.isEmpty {
          let count = controller.assumeIsolated { $0.center?.assumeIsolated { $0.entries.count } ?? -1 }
          known.value.append(count)
        }
        return true
      }
    }.get()
    try await open.home.follow()
    await open.meet(.lamp(6))
    await open.home.close()
    // Including the first update, that the connectivity of the lamp is unknown.
    #expect(known.value.count >= 2 && known.value.allSatisfy { $0 == 1 }, "\(known.value)")
  }

  /// Confined to the event loop.
  private final class Box<Value>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
  }
}
