import HomeControl
import HomeModel
import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Testing

@testable import HearthHome

/// Delegates, as specified in the article “The home model”.
@Suite("Delegates") struct DelegateTests {
  private let directory = ScratchDirectory()

  @Test func hasNoHomesBeforeFirstSynchronization() async throws {
    let offline = try await OfflineHome(directory)
    let delegate = RecordingDelegate()
    // On the event loop, so that the synchronization can't run in between.
    let manager = try await offline.home.controller.onLoop { [home = offline.home] in
      let manager = HomeManager(home, delegate: delegate)
      #expect(manager.homes.isEmpty && manager.primaryHome == nil && !manager.isSynchronized)
      return manager
    }
    #expect(await delegate.waits(for: "homes"))
    #expect(manager.isSynchronized && manager.homes.isEmpty && manager.primaryHome == nil)
    let other = HomeManager(offline.home)
    try await other.addHome(withName: "Cabin")
    #expect(await delegate.waits(for: "primary Cabin"))
    #expect(delegate.messages == ["homes", "+home Cabin", "primary Cabin"])
    #expect(manager.homes.map(\.name) == ["Cabin"] && manager.primaryHome?.name == "Cabin")
    await offline.home.close()
  }

  @Test func notifiesLateDelegateOnce() async throws {
    let offline = try await OfflineHome(directory)
    let manager = HomeManager(offline.home)
    #expect(await eventually { manager.isSynchronized })
    let delegate = RecordingDelegate()
    manager.delegate = delegate
    #expect(await delegate.waits(for: "homes"))
    manager.delegate = delegate
    try await HomeManager(offline.home).addHome(withName: "Cabin")
    #expect(await delegate.waits(for: "primary Cabin"))
    #expect(delegate.messages == ["homes", "+home Cabin", "primary Cabin"])
    await offline.home.close()
  }

  @Test func notifiesOtherClientsOnly() async throws {
    let offline = try await OfflineHome(directory)
    try await offline.make(HomeSamples.lamp(5))
    let (first, second) = (await RecordingClient(offline.home), await RecordingClient(offline.home))
    try await checkNotifications(of: first, to: second)
    await offline.home.close()
  }

  @Test func notifiesClientsInOtherProcesses() async throws {
    let limit = Duration.seconds(120)
    let here = try await OfflineHome(directory, timeout: limit)
    let there = try await OfflineHome(directory, timeout: limit)
    try await here.make(HomeSamples.lamp(5))
    #expect(await eventually { await !there.home.backend.state.devices.isEmpty })
    let (first, second) = (await RecordingClient(here.home), await RecordingClient(there.home))
    try await checkNotifications(of: first, to: second)
    try await checkNotifications(of: second, to: first)
    await here.home.close()
    await there.home.close()
  }

  /// Makes every edit through the first client and checks the messages to the second one.
  private func checkNotifications(of first: RecordingClient, to second: RecordingClient) async throws {
    first.delegate.forget()
    second.delegate.forget()
    let manager = first.manager
    let home = try #require(manager.primaryHome)
    let room = try await manager.addRoom("Den")
    try await manager.renameRoom(room.id, to: "Study")
    try await manager.move("5", to: room.id)
    // Through the accessory and through the manager.
    let lamp = try #require(manager.primaryHome?.accessories.first)
    #expect(lamp.roomID == room.id)
    let renamed = try await lamp.setName("Desk")
    #expect(renamed.name == "Desk" && lamp.name != "Desk")
    _ = try await renamed.setName("Table")
    try await manager.rename("5", to: "Lamp 5")
    try await manager.move("5", to: nil)
    try await manager.removeRoom(room.id)
    try await home.updateName("Nest")
    let cabin = try await manager.addHome(withName: "Cabin")
    try await manager.updatePrimaryHome(cabin)
    #expect(manager.primaryHome?.name == "Cabin")
    // The home is the primary home already: no message.
    try await manager.updatePrimaryHome(cabin)
    // The recorded name is read when the message arrives.
    #expect(await second.delegate.waits(for: "primary Cabin"))
    try await manager.removeHome(cabin)
    #expect(await second.delegate.waits(for: "primary Nest"))
    try await home.updateName("Home")
    #expect(manager.primaryHome?.name == "Home")

    #expect(await second.delegate.waits(for: "home is Home"))
    #expect(
      second.delegate.messages == [
        "+room Den", "room is Study", "Lamp 5 in Study", "5 is Desk", "called Desk", "5 is Table", "called Table",
        "5 is Lamp 5", "called Lamp 5", "Lamp 5 in Home", "-room Study", "home is Nest", "+home Cabin", "primary Cabin",
        "-home Cabin", "primary Nest", "home is Home",
      ])
    // The first client gets no message of its own edits, only those of the second one.
    try await second.manager.primaryHome?.updateName("Lair")
    #expect(await first.delegate.waits(for: "home is Lair"))
    #expect(first.delegate.messages == ["home is Lair"])
    try await second.manager.primaryHome?.updateName("Home")
    #expect(await first.delegate.waits(for: "home is Home"))
  }

  @Test func failedCallSendsNoMessage() async throws {
    let offline = try await OfflineHome(directory)
    try await offline.make(HomeSamples.lamp(5))
    let (first, second) = (await RecordingClient(offline.home), await RecordingClient(offline.home))
    await #expect(throws: HomeError.self) { try await first.manager.rename("5", to: " ") }
    await #expect(throws: HomeError.self) { try await first.manager.renameRoom("attic", to: "Den") }
    await #expect(throws: HomeError.self) { try await first.manager.addHome(withName: "HOME") }
    let home = try #require(first.manager.primaryHome)
    await #expect(throws: HomeError.self) { try await first.manager.removeHome(home) }
    // Nor does a call without effect.
    try await first.manager.rename("5", to: "Lamp 5")
    try await first.manager.addRoom("Den")
    #expect(await second.delegate.waits(for: "+room Den"))
    #expect(second.delegate.messages == ["+room Den"])
    await offline.home.close()
  }

  @Test func suspendedClientGetsOneUpdateAfterResume() async throws {
    let offline = try await OfflineHome(directory)
    try await offline.make(HomeSamples.lamp(5))
    let (first, second) = (await RecordingClient(offline.home), await RecordingClient(offline.home))
    second.manager.suspend()
    try await first.manager.addRoom("Den")
    try await first.manager.rename("5", to: "Desk")
    #expect(second.manager.primaryHome?.rooms.isEmpty == true)
    second.manager.resume()
    #expect(await second.delegate.waits(for: "homes"))
    #expect(second.manager.primaryHome?.rooms.map(\.name) == ["Den"])
    second.manager.resume()
    try await first.manager.addRoom("Hall")
    #expect(await second.delegate.waits(for: "+room Hall"))
    #expect(second.delegate.messages == ["homes", "+room Hall"])
    await offline.home.close()
  }

  @Test func suspendDropsQueuedMessages() async throws {
    let offline = try await OfflineHome(directory)
    let first = HomeManager(offline.home)
    let slow = await RecordingClient(offline.home)
    slow.delegate.isHeld = true
    for name in ["A", "B", "C"] { try await first.addHome(withName: name) }
    slow.manager.suspend()
    slow.manager.resume()
    slow.delegate.isHeld = false
    #expect(await slow.delegate.waits(for: "homes"))
    // Calls in progress complete.
    #expect(slow.delegate.messages.filter { !["+home A", "primary A"].contains($0) } == ["homes"])
    await offline.home.close()
  }

  @Test func reportsDevicesBehindBridge() async throws {
    let offline = try await OfflineHome(directory)
    try await offline.make([.structureAdded(HomeReducer.firstStructure)])
    let client = await RecordingClient(offline.home)
    try await offline.make(HomeSamples.bridge(7))
    #expect(await client.delegate.waits(for: "+Behind 3"))
    #expect(client.delegate.messages == ["+Behind 2", "+Behind 3"])
    #expect(client.manager.primaryHome?.accessories.map(\.id) == ["7/2", "7/3"])
    #expect(client.manager.primaryHome?.bridges.map(\.id) == ["7"])

    let other = await RecordingClient(offline.home)
    client.delegate.forget()
    let home = try #require(client.manager.primaryHome)
    let (bridge, behind) = (try #require(home.bridges.first), try #require(home.accessories.first))
    #expect(behind.isBridged && !bridge.isBridged)
    do {
      try await home.removeAccessory(behind, force: true)
      Issue.record("a single bridged device was removed")
    } catch {
      #expect(error.code == .badArguments)
    }
    #expect(await offline.home.backend.state.devices.count == 3)
    // The bridge and its devices, with this client as the origin.
    try await home.removeAccessory(bridge, force: true)
    #expect(await other.delegate.waits(for: "-Behind 2"))
    #expect(Set(other.delegate.messages) == ["-Behind 2", "-Behind 3"])
    #expect(await offline.home.backend.state.devices.isEmpty)
    try await HomeManager(offline.home).addRoom("Den")
    #expect(await client.delegate.waits(for: "+room Den"))
    #expect(client.delegate.messages == ["+room Den"])
    await offline.home.close()
  }

  @Test func notifiesAllClientsOfReports() async throws {
    let limit = Duration.seconds(120)
    let here = try await OfflineHome(directory, timeout: limit)
    let there = try await OfflineHome(directory, timeout: limit)
    try await here.make(HomeSamples.lamp(5))
    #expect(await eventually { await !there.home.backend.state.devices.isEmpty })
    let clients = [await RecordingClient(here.home), await RecordingClient(there.home)]
    func report(_ value: [UInt8]) async throws {
      let data = AttributeData(.init(1, 6, 0), dataVersion: 0, value: value)
      try await here.home.controller.process(.report(NodeReport(5, [data], isWhole: false)))
    }
    try await here.home.controller.process(.established(5, deadline: .max))
    try await here.home.controller.process(.lost(5, .subscriptionLost))
    try await report([0x09])
    // An unchanged value.
    try await report([0x09])
    try await here.home.controller.process(.established(5, deadline: .max))
    try await here.make([.topology(SourceID(5), [.init(id: 0, servers: [6])], DeviceIdentity())])
    for client in clients {
      #expect(await client.delegate.waits(for: "services of Lamp 5"))
      let messages = client.delegate.messages.drop { $0 == "Lamp 5 reachable" }
      #expect(
        Array(messages) == [
          "Lamp 5 unreachable", "Lamp 5 1/onOff.onOff = true", "Lamp 5 reachable", "services of Lamp 5",
        ])
    }
    await here.home.close()
    await there.home.close()
  }

  @Test func reportsEffectOfFailedCommandAfterFailure() async throws {
    let offline = try await OfflineHome(directory)
    try await offline.make(HomeSamples.lamp(5))
    let controller = try offline.home.controller
    await controller.process(.lost(5, .timedOut))
    let client = await RecordingClient(offline.home)
    let lamp = try #require(client.manager.primaryHome?.accessories.first)
    let light = try #require(lamp.traits[OnOffTrait.self])
    /// Begins a command, which waits until the lamp is online.
    func begin(_ command: @escaping @Sendable (OnOffTrait) async throws -> Void) async -> Task<Void, any Error> {
      let waits = WaitRecorder()
      let task = PendingWork.$board.withValue(waits) { Task { try await command(light.waiting(.seconds(3600))) } }
      #expect(await eventually { waits.begun == ["Lamp 5 to come online"] })
      return task
    }
    /// Lets the waiting command continue, which fails because the node does not exist. The lamp is offline again when
    /// the command fails, because both happen in one turn of the event loop.
    func reconnectBriefly() async throws {
      try await controller.eventLoop.submit { [dispatcher = controller.dispatcher] in
        dispatcher.value.process(.established(5, deadline: .max))
        dispatcher.value.process(.lost(5, .timedOut))
      }.get()
    }
    let command = await begin { try await $0.on() }
    // The light was switched on, but the response was lost.
    try await offline.make([.attribute(5, OnOff.onOff.path(on: 1), value: true.tlv)])
    try await reconnectBriefly()
    await #expect(throws: HomeError.self) { try await command.value }
    #expect(await client.delegate.waits(for: "Lamp 5 1/onOff.onOff = true"))
    #expect(client.delegate.messages == ["Lamp 5 reachable", "Lamp 5 unreachable", "Lamp 5 1/onOff.onOff = true"])
    // Changes that were reverted before the failure are not reported.
    client.delegate.forget()
    let again = await begin { try await $0.off() }
    try await offline.make([.attribute(5, OnOff.onOff.path(on: 1), value: false.tlv)])
    try await offline.make([.attribute(5, OnOff.onOff.path(on: 1), value: true.tlv)])
    try await reconnectBriefly()
    await #expect(throws: HomeError.self) { try await again.value }
    try await offline.make([.deviceRenamed(id: "5", name: "Desk")])
    #expect(await client.delegate.waits(for: "called Desk"))
    #expect(
      client.delegate.messages == [
        "Lamp 5 1/onOff.onOff = true", "Lamp 5 reachable", "Lamp 5 unreachable", "5 is Desk", "called Desk",
      ])
    await offline.home.close()
  }

  /// A contact sends no message, but is visible in the accessory.
  @Test func updatesContactWithoutMessage() async throws {
    let offline = try await OfflineHome(directory)
    try await offline.make(HomeSamples.lamp(5))
    try await offline.home.controller.process(.established(5, deadline: 1))
    let client = await RecordingClient(offline.home)
    for input: HomeInput in [.heard(5, deadline: 2), .heard(5, deadline: 3), .heard(5, deadline: nil)] {
      try await offline.home.controller.process(input)
      let contact = try #require(try await offline.home.devices().list().first).contact
      #expect(await eventually { client.manager.primaryHome?.accessories.first?.contact == contact })
    }
    #expect(client.delegate.messages.isEmpty)
    await offline.home.close()
  }

  /// Stored connectivity is valid only while a process follows the devices.
  @Test func isUnreachableWithoutFollower() async throws {
    let first = try await OfflineHome(directory)
    try await first.make(HomeSamples.lamp(5))
    await first.home.close()
    let offline = try await OfflineHome(directory, follows: false)
    let client = await RecordingClient(offline.home)
    func lamp() async throws -> (theirs: HomeDevice?, ours: HomeDevice?) {
      (client.manager.primaryHome?.accessories.first, try await offline.home.devices().list().first)
    }
    let restored = try await lamp()
    #expect(restored.theirs == restored.ours && restored.theirs?.sourceConnectivity == .unknown)
    #expect(restored.theirs?.isReachable == false)
    try await offline.home.controller.process(.answered(5))
    #expect(await client.delegate.waits(for: "Lamp 5 reachable"))
    let heard = try await lamp()
    #expect(heard.theirs == heard.ours && heard.theirs?.isReachable == true)
    await offline.home.close()
  }

  @Test func recognizesBridges() {
    func isBridge(_ types: DeviceTypeID...) -> Bool {
      var entry = DeviceEntry(id: "7", name: "Bridge", structureID: "home")
      var source = DeviceSource(SourceID(7))
      source.endpoints = [
        DeviceEndpoint(id: 0, deviceTypes: [0x16, 0x130]), DeviceEndpoint(id: 1, deviceTypes: types),
      ]
      entry.sources = [source]
      return entry.isBridge
    }
    #expect(isBridge(DeviceTypes.aggregator.id, DeviceTypes.jointFabricAdministrator.id))
    #expect(isBridge(DeviceTypes.aggregator.id, DeviceTypes.powerSource.id))
    #expect(!isBridge(DeviceTypes.aggregator.id, DeviceTypes.onOffLight.id))
    #expect(!isBridge(DeviceTypes.jointFabricAdministrator.id) && !isBridge())
  }

  @Test func slowDelegateDelaysNoOtherDelegate() async throws {
    let offline = try await OfflineHome(directory)
    let (slow, quick) = (await RecordingClient(offline.home), await RecordingClient(offline.home))
    slow.delegate.isHeld = true
    let first = HomeManager(offline.home)
    for number in 1...8 { try await first.addRoom("\(number)") }
    #expect(await quick.delegate.waits(for: "+room 8"))
    #expect(slow.delegate.messages.isEmpty)
    slow.delegate.isHeld = false
    #expect(await slow.delegate.waits(for: "+room 8"))
    #expect(slow.delegate.messages == quick.delegate.messages)
    #expect(slow.delegate.overlaps == 0)
    #expect(quick.delegate.messages == ["+home Home", "+room 1", "primary Home"] + (2...8).map { "+room \($0)" })
    await offline.home.close()
  }

  @Test func homesAndAccessoriesHaveOwnDelegates() async throws {
    let offline = try await OfflineHome(directory)
    try await offline.make(HomeSamples.lamp(5) + HomeSamples.lamp(6).dropFirst())
    let manager = HomeManager(offline.home)
    #expect(await eventually { manager.isSynchronized })
    let (all, homes, lamps) = (RecordingDelegate(), RecordingDelegate(), RecordingDelegate())
    manager.homeDelegate = all
    let home = try #require(manager.primaryHome)
    home.delegate = homes
    let lamp = try #require(home.accessories.first { $0.id == "5" })
    lamp.delegate = lamps
    #expect(manager.homes.first?.delegate === homes && home.accessories.map { $0.delegate === lamps } == [true, false])
    // Values from queries belong to no manager.
    let query = try #require(try await offline.home.devices().list().first)
    query.delegate = all
    #expect(query.delegate == nil)

    try await offline.make([
      .attribute(5, OnOff.onOff.path(on: 1), value: false.tlv),
      .attribute(6, OnOff.onOff.path(on: 1), value: false.tlv),
      .deviceRenamed(id: "6", name: "Desk"), .deviceRenamed(id: "5", name: "Lamp"),
    ])
    for delegate in [all, homes] { #expect(await delegate.waits(for: "5 is Lamp")) }
    #expect(all.messages == ["6 is Desk", "5 is Lamp"] && homes.messages == all.messages)
    #expect(await lamps.waits(for: "Lamp 1/onOff.onOff = false"))
    #expect(Set(lamps.messages) == ["called Lamp", "Lamp 1/onOff.onOff = false"])

    // One object with both roles receives each message once.
    home.delegate = all
    lamp.delegate = nil
    all.forget()
    try await offline.make([.deviceRenamed(id: "5", name: "Light"), .deviceRenamed(id: "6", name: "Table")])
    #expect(await all.waits(for: "6 is Table"))
    #expect(all.messages == ["5 is Light", "6 is Table"] && lamps.messages.count == 2 && homes.messages.count == 2)
    await offline.home.close()
  }

  @Test func releasesDelegates() async throws {
    let offline = try await OfflineHome(directory)
    try await offline.make(HomeSamples.lamp(5))
    let manager = HomeManager(offline.home)
    #expect(await eventually { manager.isSynchronized })
    var delegate: RecordingDelegate? = RecordingDelegate()
    manager.primaryHome?.delegate = delegate
    manager.primaryHome?.accessories.first?.delegate = delegate
    delegate = nil
    #expect(manager.primaryHome?.delegate == nil && manager.primaryHome?.accessories.first?.delegate == nil)
    await offline.home.close()
  }

  @Test func accessoriesHaveRooms() async throws {
    let offline = try await OfflineHome(directory)
    try await offline.make(HomeSamples.lamp(5) + HomeSamples.lamp(6).dropFirst())
    let client = await RecordingClient(offline.home)
    let den = try await client.manager.addRoom("Den")
    try await client.manager.move("5", to: den.id)
    let home = try #require(client.manager.primaryHome)
    #expect(home.accessories.map { $0.room?.name } == ["Den", "Home"])
    #expect(home.rooms.map { $0.accessories.map(\.id) } == [["5"]])
    #expect(home.roomForEntireHome().accessories.map(\.id) == ["6"])
    #expect(home.accessories.first?.room?.accessories.map(\.id) == ["5"])
    // Devices of queries have rooms as well.
    #expect(try await offline.home.devices().list().map(\.room) == [den, home.roomForEntireHome()])
    await offline.home.close()
  }

  @Test func attributeValuesAreTyped() {
    let path = LevelControl.onLevel.path(on: 1)
    let value = AttributeValue(path: path, encoded: Nullable<UInt8>.value(9).tlv)
    #expect(value[LevelControl.onLevel] == 9 && value.element == .unsigned(9) && !value.isRemoved)
    #expect(value[LevelControl.currentLevel] == nil && value[OnOff.onOff] == nil)
    #expect("\(value)" == "1/levelControl.onLevel = 9")
    let null = AttributeValue(path: path, encoded: Nullable<UInt8>.null.tlv)
    #expect(null[LevelControl.onLevel] == .some(.null) && null.element == .null)
    let removed = AttributeValue(path: path, encoded: nil)
    #expect(removed.isRemoved && removed.element == nil && "\(removed)" == "1/levelControl.onLevel = removed")
  }

  @Test func reportsHubState() async throws {
    let here = try await OfflineHome(directory, timeout: .seconds(120))
    try await here.make([.structureAdded(HomeReducer.firstStructure)])
    let there = try await OfflineHome(directory, timeout: .seconds(120))
    let client = await RecordingClient(there.home)
    #expect(client.manager.primaryHome?.homeHubState == .connected)
    let own = await RecordingClient(here.home)
    #expect(own.manager.primaryHome?.homeHubState == .thisProcess)
    await here.home.close()
    #expect(await client.delegate.waits(for: "hub thisProcess"))
    await there.home.close()
  }

  @Test(arguments: 1...8) func messagesCoverAllAddedAndRemovedAccessories(_ seed: Int) async throws {
    var random = SeededRandomSource(seed: UInt64(seed))
    var generator = ChangeGenerator()
    var reducer = HomeReducer()
    var snapshot = HomeSnapshot(reducer, hub: .notAvailable, for: SampleHome())
    let delegate = RecordingDelegate()
    var count = 0
    for _ in 0..<200 {
      guard let update = reducer.reduce(.update(HomeUpdate(generator.next(&random), at: 1)), at: 1) else { continue }
      let before = Self.accessories(snapshot)
      for case .home(_, let call) in snapshot.update(update, reducer, withValues: true) { await call(delegate) }
      let after = Self.accessories(snapshot)
      let state = reducer.state
      #expect(snapshot.structures == state.structures && snapshot.rooms == state.rooms)
      #expect(snapshot.devices.mapValues(\.entry) == state.devices)
      #expect(snapshot.primaryHome?.id == state.primaryStructureID)
      // Adding or removing a home sends no messages for its devices.
      guard update.changes.allSatisfy({ !$0.isAboutHomes }) else {
        delegate.forget()
        continue
      }
      let messages = delegate.messages.filter { !$0.contains("room") }
      #expect(messages.count { $0.hasPrefix("+") } == after.subtracting(before).count)
      #expect(messages.count { $0.hasPrefix("-") } == before.subtracting(after).count)
      count += after.symmetricDifference(before).count
      delegate.forget()
    }
    #expect(count > 0)
  }

  /// The accessories of all homes, by home.
  private static func accessories(_ snapshot: HomeSnapshot) -> Set<String> {
    Set(
      snapshot.devices.values.compactMap { device in
        let home = device.structureID.flatMap { snapshot.home($0) }
        return device.isBridge ? nil : home.map { "\($0.id) \(device.id)" }
      })
  }
}

extension HomeController {
  /// Runs a closure on the event loop of the home.
  fileprivate func onLoop<R: Sendable>(_ body: @Sendable () -> R) -> R { body() }
}

extension HomeChange {
  fileprivate var isAboutHomes: Bool {
    switch self {
    case .structureAdded, .structureRemoved: true
    default: false
    }
  }
}
