import Foundation
import HearthHome
import HomeText
import MatterClusters
import MatterController
import MatterModel
import MatterProtocol
import Scenario
import Simulation
import Synchronization
import Testing
import VirtualDevices

@Suite struct SimulatedHomeTests {
  static let lamp = """
    devices:
      - name: Lamp
        room: Kitchen
        type: dimmable light
    """

  static func definition(_ text: String = lamp) throws -> HomeDefinition {
    try HomeDefinition.load(simulating: [("home.yaml", text)])
  }

  @Test func pairsAndSwitchesLamp() async throws {
    let run = await simulate(try Self.definition(), seed: 1) { home, world in
      let device = try #require(try await home.devices().list().first)
      #expect(device.name == "Lamp")
      let light = try #require(device.types.get(DimmableLightDeviceType.self))
      try await light.matterTraits.onOffTrait?.on()
      try await world.simulation.sleep(for: .seconds(2))
      let now = try #require(try await home.devices().list().first)
      return now.types.get(DimmableLightDeviceType.self)?.matterTraits.onOffTrait?.attributes.onOff
    }
    #expect(try run.result.get() == true)
  }

  @Test func reproducesRunFromSeed() async throws {
    func digest(_ seed: UInt64) async throws -> UInt64 {
      let run = await simulate(try Self.definition(), seed: seed) { home, world in
        let device = try #require(try await home.devices().list().first)
        try await device.types.get(DimmableLightDeviceType.self)?.matterTraits.onOffTrait?.toggle()
        try await world.simulation.sleep(for: .seconds(200))
      }
      try run.result.get()
      return run.trace.digest
    }
    let first = try await digest(7)
    #expect(try await digest(7) == first)
    #expect(try await digest(8) != first)
  }

  @Test func loadsFile() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "home-\(UUID().uuidString).yaml")
    try Self.lamp.write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    let name = try await withSimulatedHome(file.path, seed: 1) { home, _ in try await home.devices().list().first?.name
    }
    #expect(name == "Lamp")
    await #expect(throws: DefinitionError.self) {
      try "devices: lamp".write(to: file, atomically: true, encoding: .utf8)
      try await withSimulatedHome(file.path, seed: 1) { _, _ in }
    }
  }

  /// A lamp that is both a node and a bridged device: a trait read over one route sends its command over the
  /// remaining one.
  @Test func switchesOverRemainingRoute() async throws {
    var definition = try Self.definition(
      """
      devices:
        - name: Lamp
          type: on/off light
        - name: Bridge
          type: bridge
          devices:
            - name: Other
              type: on/off light
            - name: Lamp behind
              type: on/off light
      """)
    let lamp = try #require(definition.devices.first)
    let index = try #require(definition.devices.firstIndex { !$0.bridged.isEmpty })
    definition.devices[index].bridged[1].uniqueID = lamp.uniqueID
    definition.devices[index].bridged[1].vendorID = lamp.vendorID
    definition.devices[index].bridged[1].productID = lamp.productID
    let run = await simulate(definition, seed: 1) { home, world in
      func current() async throws -> HomeDevice {
        try #require(try await home.devices().list().first { $0.identity.uniqueID == lamp.uniqueID })
      }
      let old = try await current()
      #expect(old.source?.id.isBridged == false)
      try await world.inject("Lamp", .partition)
      try await world.simulation.sleep(for: .seconds(400))
      let new = try await current()
      #expect(new.source?.id.isBridged == true && new.sourceConnectivity.connectivityState == .online)
      let (there, here) = (try #require(old.traits[OnOffTrait.self]), try #require(new.traits[OnOffTrait.self]))
      #expect(there.endpoint != here.endpoint && here.attributes.onOff == false)
      try await there.on()
      try await world.simulation.sleep(for: .seconds(2))
      var lit: [String] = []
      for device in try await home.devices().list() where device.traits[OnOffTrait.self]?.attributes.onOff == true {
        lit.append(device.id)
      }
      return lit == [old.id]
    }
    #expect(try run.result.get())
  }

  /// Bridged devices have their own power, which can change while the bridge is off and persists across its restart.
  @Test func keepsPowerOfBridgedDevice() async throws {
    let scenario = try ScenarioFileTests.load(
      """
      devices:
        - name: Bridge
          type: bridge
          devices:
            - { name: Spot, type: on/off light }
            - { name: Desk, type: on/off light }
      steps:
        - expect: { spot.connectivity: online, desk.connectivity: online }
        - power: { spot: off }
        - expect: { spot.connectivity: offline, within: 2s }
        - power: { bridge: cycle }
        - wait: 30s
        - expect: { spot.connectivity: offline, desk.connectivity: online }
        - power: { bridge: off, desk: off }
        - power: { spot: on }
        - power: { bridge: on }
        - wait: 30s
        - expect: { spot.connectivity: online, desk.connectivity: offline }
        - power: { desk: on }
        - expect: { desk.connectivity: online, within: 2s }
      """)
    let simulated = await scenario.simulate(seed: 1).result
    #expect(simulated.isPassed, "\(simulated)")
  }

  /// A lamp is bridged, then also paired as a node: it stays one device, and is still bridged after its node is
  /// removed.
  @Test func mergesAndRemovesNodeOfBridgedDevice() async throws {
    var definition = try Self.definition(
      """
      devices:
        - name: Bridge
          type: bridge
          devices:
            - name: Other
              type: on/off light
            - name: Lamp behind
              type: on/off light
        - name: Lamp
          room: Kitchen
          type: on/off light
      """)
    let lamp = try #require(definition.devices.last)
    definition.devices[0].bridged[1].uniqueID = lamp.uniqueID
    definition.devices[0].bridged[1].vendorID = lamp.vendorID
    definition.devices[0].bridged[1].productID = lamp.productID
    let run = await simulate(definition, seed: 1) { home, world in
      func current() async throws -> HomeDevice {
        try #require(try await home.devices().list().first { $0.identity.uniqueID == lamp.uniqueID })
      }
      // The bridge's route is used until the home has subscribed to the node.
      try await world.simulation.sleep(for: .seconds(10))
      let paired = try await current()
      let node = try #require(paired.source?.id)
      #expect(!node.isBridged && paired.id.contains("/"))
      #expect(paired.name == "Lamp" && paired.roomID != nil, "\(paired.name)")
      let bridged = try await home.registry.resolve("Bridge").device
      let target = try await home.registry.resolve("Lamp").device
      #expect(target.id == paired.id && target.nodeID == node.node)
      #expect(try await home.remove(target, force: false).removal == .confirmed)
      let left = try await current()
      #expect(left.id == paired.id && left.name == "Lamp" && left.source?.id.node == bridged.nodeID)
      let refused = await #expect(throws: HomeError.self) {
        _ = try await home.remove(try await home.registry.resolve("Lamp").device, force: false)
      }
      return refused?.code
    }
    #expect(try run.result.get() == .badArguments)
  }

  /// Any authenticated message counts as contact, including an error.
  @Test func refusalCountsAsContact() async throws {
    let run = await simulate(try Self.definition(), seed: 1) { home, world in
      try await world.simulation.sleep(for: .seconds(20))
      func contact() async throws -> Int64 { try await home.devices().list().first?.contact.last ?? 0 }
      let before = try await contact()
      let device = try #require(try await home.devices().list().first)
      // More paths than the device allows, so that it refuses the whole request.
      let paths = Array(repeating: AttributePath(), count: 300)
      await #expect(throws: HomeError.self) {
        _ = try await home.backend.read(
          try #require(device.source?.id.node), paths, isFabricFiltered: true, timeout: nil)
      }
      let after = try await contact()
      return (before, after)
    }
    let (before, after) = try run.result.get()
    #expect(before > 0 && after > before)
  }

  /// The device loses its power during its response, whose first part counts as contact.
  @Test func partialResponseCountsAsContact() async throws {
    let run = await simulate(try Self.definition(), seed: 1) { home, world in
      try await world.simulation.sleep(for: .seconds(20))
      func contact() async throws -> Int64 { try await home.devices().list().first?.contact.last ?? 0 }
      let before = try await contact()
      let node = try #require(try await home.devices().list().first?.source?.id.node)
      let lamp = try await world.machine(of: "Lamp")
      lamp.effectsUntilPowerCut = 1
      await #expect(throws: HomeError.self) {
        _ = try await home.backend.read(node, [AttributePath()], isFabricFiltered: true, timeout: .seconds(60))
      }
      #expect(!lamp.isPowered)
      let after = try await contact()
      return (before, after)
    }
    let (before, after) = try run.result.get()
    #expect(before > 0 && after > before)
  }

  /// Delegates of a home with exclusive access are notified of devices that another manager adds or removes.
  @Test func notifiesOtherManagers() async throws {
    var options = SimulatedHomeOptions()
    options.isPaired = false
    let run = await simulate(try Self.definition(), seed: 1, options) { home, world in
      try await world.simulation.sleep(for: .seconds(5))
      let (own, other) = (Watcher(), Watcher())
      let (manager, second) = (HomeManager(home), HomeManager(home))
      (manager.homeDelegate, second.homeDelegate) = (own, other)
      let lamp = world.definition.devices[0]
      let paired = try await manager.addAccessory(
        CommissioningRequest(passcode: lamp.passcode, target: .discriminator(.long(lamp.discriminator))), name: "Sun",
        room: "Sky")
      var seen = [try await home.devices().list().map { "\($0.id) \($0.name)" }]
      try await world.simulation.sleep(for: .seconds(20))
      seen.append(manager.primaryHome?.accessories.map { "\($0.id) \($0.name)" } ?? [])
      // The manager has the same contact times as the home.
      let contacts = (
        try await home.devices().list().map(\.contact), manager.primaryHome?.accessories.map(\.contact)
      )
      if let own = manager.primaryHome, let sun = own.accessories.first { try await own.removeAccessory(sun) }
      seen.append(try await home.devices().list().map(\.name))
      try await world.simulation.sleep(for: .seconds(20))
      return (paired.device.id, seen, contacts, own.messages, other.messages)
    }
    let (id, seen, contacts, own, other) = try run.result.get()
    #expect(seen == [["\(id) Sun"], ["\(id) Sun"], []])
    #expect(contacts.0 == contacts.1 && contacts.0.first?.last != nil)
    #expect(own == [] && other == ["+Sun", "-Sun"])
  }

  /// A device of a manager is removed on behalf of its client, which isn't notified.
  @Test func decommissionsDevices() async throws {
    let run = await simulate(try Self.definition(), seed: 1) { home, world in
      try await world.simulation.sleep(for: .seconds(5))
      let (own, other) = (Watcher(), Watcher())
      let (manager, second) = (HomeManager(home), HomeManager(home))
      (manager.homeDelegate, second.homeDelegate) = (own, other)
      try await world.simulation.sleep(for: .seconds(5))
      var accessories = manager.primaryHome?.accessories ?? []
      let device = accessories.removeFirst()
      let removed = try await device.decommission()
      try await world.simulation.sleep(for: .seconds(20))
      let rest = try await home.devices().list().map(\.id)
      let isNotified = other.messages == ["-\(device.name)"]
      return (removed == [device.id], rest == accessories.map(\.id), own.messages, isNotified)
    }
    let (isRemoved, isRest, own, isNotified) = try run.result.get()
    #expect(isRemoved && isRest && own.isEmpty && isNotified)
  }

  private final class Watcher: HomeDelegate {
    private let all = Mutex<[String]>([])
    var messages: [String] { all.withLock { $0 } }
    func home(_ home: Structure, didAdd accessory: HomeDevice) async {
      all.withLock { $0.append("+\(accessory.name)") }
    }
    func home(_ home: Structure, didRemove accessory: HomeDevice) async {
      all.withLock { $0.append("-\(accessory.name)") }
    }
  }

  /// Faults of both ends combine; healing one end keeps those of the other.
  @Test func combinesFaultsOfBothEnds() async throws {
    let run = await simulate(try Self.definition(), seed: 1) { home, world in
      func isReachable() async -> Bool { await world.truth()[0].isReachable }
      var seen = [await isReachable()]
      try await world.inject("hub", .partition)
      try await world.inject("Lamp", .mute)
      seen.append(await isReachable())
      try await world.inject("Lamp", .heal)
      seen.append(await isReachable())
      try await world.inject("hub", .heal)
      seen.append(await isReachable())
      return seen
    }
    #expect(try run.result.get() == [true, false, false, true])
  }

  /// A link that can't carry any message is not a route.
  @Test func treatsTinyLinkAsNoRoute() async throws {
    let run = await simulate(try Self.definition(), seed: 1) { _, world in
      var routes: [GroundTruth.Route] = []
      for size in [1, 1232] {
        var conditions = LinkConditions.perfect
        conditions.maximumDatagramSize = size
        try await world.inject("Lamp", .conditions(conditions))
        routes.append(await world.truth()[0].route)
        try await world.simulation.sleep(for: .seconds(400))
        #expect(try await world.disagreements().isEmpty)
      }
      return routes
    }
    #expect(try run.result.get() == [.none, .ipv6])
  }

  @Test func reachesDeviceOverIPv4() async throws {
    let run = await simulate(try Self.definition(), seed: 1) { home, world in
      func light() async throws -> DimmableLightDeviceType? {
        try await home.devices().list().first?.types.get(DimmableLightDeviceType.self)
      }
      var routes = [await world.truth()[0].route]
      try await world.inject("Lamp", .family(.v6, isOn: false))
      routes.append(await world.truth()[0].route)
      try await world.simulation.sleep(for: .seconds(90))
      try await light()?.matterTraits.onOffTrait?.waiting(.seconds(30)).on()
      try await world.inject("Lamp", .family(.v4, isOn: false))
      routes.append(await world.truth()[0].route)
      return routes
    }
    #expect(try run.result.get() == [.ipv6, .ipv4, .none])
  }

  /// A drift of two percent on one side only changes when things are due.
  @Test(arguments: [20_000, -20_000] as [Int64]) func toleratesClockDrift(_ millionths: Int64) async throws {
    let run = await simulate(try Self.definition(), seed: 1) { home, world in
      await world.simulation.perform { _ in world.hub.setDrift(millionths) }
      var offline = 0
      for _ in 0..<60 {
        try await world.simulation.sleep(for: .seconds(60))
        if try await home.devices().list().first?.sourceConnectivity.connectivityState != .online { offline += 1 }
      }
      return offline
    }
    #expect(try run.result.get() == 0)
  }

  @Test func reportsDeadlock() async throws {
    let run = await VirtualTime.run(seed: 1) { simulation in
      await simulation.naming("a missing event") {
        await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
      }
    }
    #expect(throws: SimulationError.deadlock(at: .zero, waiting: ["a missing event"])) { try run.result.get() }
    #expect(
      "\(SimulationError.deadlock(at: .zero, waiting: ["a missing event"]))".contains(
        "there still waits “a missing event”"))
  }

  /// Subscriptions keep the run alive; at the time limit the pending operations are reported.
  @Test func reportsPendingOperationsAtTimeLimit() async throws {
    let run = await simulate(try Self.definition(), seed: 1, limit: .seconds(3_600)) { _, world in
      await world.simulation.naming("a missing event") { await waitForCancellation() }
    }
    let error = #expect(throws: SimulationError.self) { try run.result.get() }
    guard case .timedOut(_, ["a missing event"]) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }

    var options = SimulatedHomeOptions()
    options.isPaired = false
    let unpaired = await simulate(try Self.definition(), seed: 1, limit: .seconds(10), options) { _, world in
      let lamp = try await world.machine(of: "Lamp")
      await world.simulation.perform { $0.network.partition([lamp.id], from: [world.hub.id]) }
      try await world.pairDevice("Lamp")
    }
    let second = #expect(throws: SimulationError.self) { try unpaired.result.get() }
    #expect("\(String(describing: second))".contains("Lamp to be commissioned by the home on hub"))
  }

  /// A body that ignores its cancellation is abandoned after a limited number of further events.
  @Test func endsRunOfUncancellableBody() async throws {
    let run = await VirtualTime.run(seed: 1, limit: .seconds(60)) { simulation in
      await simulation.perform { world in
        @Sendable func tick(_ world: World) { world.at(world.now + .seconds(1), tick) }
        tick(world)
      }
      await simulation.naming("a missing event") {
        await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
      }
    }
    #expect(throws: SimulationError.timedOut(at: .zero + .seconds(60), waiting: ["a missing event"])) {
      try run.result.get()
    }
  }

  /// A loop of effects without progress of time ends the run.
  @Test func stopsEndlessEffects() async throws {
    let run = await VirtualTime.run(seed: 1) { simulation in
      try await simulation.sleep(for: .seconds(5))
      while true { try await simulation.sleep(for: .zero) }
    }
    #expect(throws: SimulationError.endlessEffects(at: .zero + .seconds(5), host: "test")) { try run.result.get() }
  }

  @Test func detectsResumeFromOtherThread() async throws {
    let run = await VirtualTime.run(seed: 1, limit: .seconds(1_000_000_000)) { simulation in
      await withTaskGroup(of: Void.self) { group in
        // Keeps events scheduled, so that the run can't end as a deadlock before the other thread resumes.
        let turns = Mutex(0)
        group.addTask { @Sendable in
          while !Task.isCancelled {
            turns.withLock { $0 += 1 }
            try? await simulation.sleep(for: .seconds(1))
          }
        }
        await withCheckedContinuation { continuation in
          Thread.detachNewThread {
            // The other task runs only while this one is suspended.
            while turns.withLock({ $0 }) < 2 { usleep(1000) }
            continuation.resume()
          }
        }
        group.cancelAll()
      }
    }
    guard case .failure(let error as SimulationError) = run.result, case .escaped = error else {
      Issue.record("not detected: \(run.result)")
      return
    }
  }

  /// Faults of the network around a device also apply to machines that are added later.
  @Test func appliesFaultsToNewMachines() async throws {
    let run = await simulate(try Self.definition(), seed: 1) { _, world in
      try await world.inject("Lamp", .conditions(LinkConditions(latency: .seconds(1))))
      let begin = await world.simulation.now
      try await world.compete(for: "Lamp", times: 1)
      return await world.simulation.now - begin
    }
    // Commissioning takes dozens of messages, one after the other.
    #expect(try run.result.get() > .seconds(30))
  }

  /// A second administrator is granted a limited number of subscriptions, which stay alive.
  @Test func limitsSubscriptionsOfCompetingController() async throws {
    let run = await simulate(try Self.definition(), seed: 1) { _, world in
      let some = try await world.compete(for: "Lamp", subscriptions: 2)
      let many = try await world.compete(for: "Lamp", subscriptions: 80)
      try await world.simulation.sleep(for: .seconds(600))
      let before = try await world.machine(of: "Lamp").packetCount
      try await world.simulation.sleep(for: .seconds(600))
      let after = try await world.machine(of: "Lamp").packetCount
      return (some, many, after - before)
    }
    let (some, many, packets) = try run.result.get()
    #expect(some == 2)
    #expect((3...40).contains(many), "\(many)")
    // Each subscription has a report a minute, with at least one message.
    #expect(packets >= 9 * (some + many), "\(packets)")
  }

  @Test func cancelsSleepImmediately() async throws {
    let run = await VirtualTime.run(seed: 1) { simulation in
      await withTaskGroup(of: Void.self) { group in
        group.addTask { try? await simulation.sleep(for: .seconds(1000)) }
        try? await simulation.sleep(for: .seconds(1))
        group.cancelAll()
      }
      return await simulation.now
    }
    #expect(try run.result.get() == .zero + .seconds(1))
  }

  @Test func isOfflineWithoutPower() async throws {
    let run = await simulate(try Self.definition(), seed: 1) { home, world in
      func state() async throws -> ConnectivityState? {
        try await home.devices().list().first?.sourceConnectivity.connectivityState
      }
      var seen = [try await state()]
      try await world.cutPower(of: "Lamp")
      try await world.simulation.sleep(for: .seconds(300))
      seen.append(try await state())
      try await world.restorePower(of: "Lamp")
      try await world.simulation.sleep(for: .seconds(10))
      seen.append(try await state())
      return seen
    }
    #expect(try run.result.get() == [.online, .offline, .online])
  }
}
