import HearthHome
import MatterClusters
import MatterModel
import MatterProtocol
import Scenario
import Simulation
import Synchronization
import Testing

/// Devices that are reached through a maker's cloud, on virtual time. The home model, “Routes”.
@Suite("Clouds") struct CloudTests {
  private static let address = "https://acme.example/fulfillment"

  /// Runs a body with a lamp on the network and an account at a cloud.
  func run<R: Sendable>(
    _ cloud: FakeCloud, seed: UInt64 = 1, _ body: @escaping @Sendable (Home, SimulatedHome) async throws -> R
  ) async throws -> R {
    var options = SimulatedHomeOptions()
    options.clouds.transport = cloud
    options.clouds.removalDelay = .seconds(7200)
    let run = await simulate(try SimulatedHomeTests.definition(), seed: seed, options) { home, world in
      cloud.with { $0.world = world.simulation }
      try await home.addCloudAccount("Acme", address: Self.address, token: "secret")
      try await world.simulation.sleep(for: .seconds(1))
      return try await body(home, world)
    }
    return try run.result.get()
  }

  func device(_ name: String, _ home: Home) async throws -> HomeDevice {
    try #require(try await home.devices().list().first { $0.name == name })
  }

  func light(_ device: HomeDevice) throws -> MatterTraits {
    try #require(device.types.get(DimmableLightDeviceType.self)).matterTraits
  }

  /// Returns the fields of a cloud entry that identify a device of the home.
  private func identity(of device: HomeDevice) -> String {
    let identity = device.identity
    return """
      ,"matterUniqueId":"\(identity.matterUniqueID)","matterOriginalVendorId":"\(identity.matterOriginalVendorID)",\
      "matterOriginalProductId":"\(identity.matterOriginalProductID)"
      """
  }

  // MARK: Devices with a cloud route only

  @Test func listsAndSwitchesCloudDevice() async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch", also: ",\"customData\":{\"key\":7}")
    let (before, after) = try await run(cloud) { home, world in
      let before = try await device("Porch", home)
      try await light(before).onOffTrait?.toggle()
      try await light(before).levelControlTrait?.moveToLevelWithOnOff(level: 191)
      try await world.simulation.sleep(for: .seconds(1))
      let after = try await device("Porch", home)
      return (before, after)
    }
    #expect(!before.isMatterDevice && before.sourceConnectivity == SourceConnectivity(.online, .remote))
    #expect(try light(before).onOffTrait?.attributes.onOff == false)
    #expect(try light(before).levelControlTrait?.attributes.currentLevel == 102)
    #expect(try light(after).onOffTrait?.attributes.onOff == true)
    // The custom data of a device is sent with each command.
    #expect(cloud.commands.count == 2 && cloud.commands.allSatisfy { $0.contains(#""customData":{"key":7}"#) })
    #expect(cloud.commands.first?.contains(#""command":"action.devices.commands.OnOff","params":{"on":true}"#) == true)
    #expect(cloud.commands.last?.contains(#"BrightnessAbsolute","params":{"brightness":75}"#) == true)
    #expect(cloud.with { $0.maxConcurrent } == 1)
  }

  @Test func pollsPeriodicallyAndSoonAfterCommand() async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch")
    let (intents, soon, isOn) = try await run(cloud) { home, world in
      try await world.simulation.sleep(for: .seconds(1000))
      let intents = cloud.intents
      // The cloud answers “pending”, and executes the command later.
      cloud.with { $0.outcomes["p"] = "\"status\":\"PENDING\"" }
      try await light(device("Porch", home)).onOffTrait?.on()
      cloud.with { $0.states["p"] = "\"online\":true,\"on\":true" }
      try await world.simulation.sleep(for: .seconds(3))
      let soon = cloud.intents.count - intents.count
      let isOn = try await light(device("Porch", home)).onOffTrait?.attributes.onOff
      return (intents, soon, isOn)
    }
    #expect(intents.count { $0 == "SYNC" } == 2 && (33...35).contains(intents.count { $0 == "QUERY" }))
    #expect(soon == 2 && isOn == true)
  }

  @Test func sendsOneRequestAtATime() async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch")
    let time = try await run(cloud) { home, world in
      cloud.with { $0.behavior = .slow(.seconds(2)) }
      let porch = try await device("Porch", home)
      let trait = try #require(try light(porch).onOffTrait)
      let begin = await world.simulation.now
      async let first = trait.on()
      async let second = trait.off()
      async let third = trait.on()
      _ = try await (first, second, third)
      let time = await world.simulation.now - begin
      // With too many commands, each completes in time or is refused; neither affects the connectivity.
      let codes = await withTaskGroup(of: HomeError.Code?.self) { group in
        for _ in 0..<40 {
          group.addTask {
            do { try await trait.on() } catch { return HomeError(error).code }
            return nil
          }
        }
        return await group.reduce(into: [HomeError.Code?]()) { $0.append($1) }
      }
      #expect(codes.allSatisfy { $0 == nil || $0 == .refused }, "\(codes)")
      #expect(try await device("Porch", home).offlineReason == nil)
      return time
    }
    #expect(time >= .seconds(6) && cloud.with { $0.maxConcurrent } == 1)
  }

  // MARK: Devices with a local and a cloud route

  @Test func mergesRoutesAndPrefersLocalOne() async throws {
    let cloud = FakeCloud()
    let (devices, seen, commands) = try await run(cloud) { home, world in
      let lamp = try await device("Lamp", home)
      cloud.addLamp("l", name: "Cloud Lamp", also: identity(of: lamp))
      let recorder = ConnectivityRecorder()
      let handle = home.device(id: lamp.id).batched().sink { recorder.add($0.first?.sourceConnectivity) }
      defer { handle.cancel() }
      try await world.simulation.sleep(for: .seconds(960))
      let devices = try await home.devices().list()
      try await world.cutPower(of: "Lamp")
      try await world.simulation.sleep(for: .seconds(200))
      // A trait read over the local route sends its command through the cloud.
      try await light(lamp).onOffTrait?.on()
      let commands = cloud.commands
      try await world.simulation.sleep(for: .seconds(5))
      let isOn = try await light(device("Lamp", home)).onOffTrait?.attributes.onOff
      #expect(isOn == true)
      try await world.restorePower(of: "Lamp")
      try await world.simulation.sleep(for: .seconds(120))
      try await light(device("Lamp", home)).onOffTrait?.off()
      #expect(cloud.commands.count == commands.count)
      return (devices, recorder.all, commands)
    }
    #expect(devices.map(\.name) == ["Lamp"] && devices.first?.isMatterDevice == true)
    #expect(devices.first?.sourceConnectivity == SourceConnectivity(.online, .peer))
    // The cloud does not offer Identify, Groups and Scenes Management.
    let (online, partly) = (SourceConnectivity(.online, .peer), SourceConnectivity(.partiallyOnline, .mixed))
    #expect(seen == [online, partly, online])
    #expect(commands.count == 1)
  }

  /// The cloud offers color temperatures of a lamp that it does not offer over Matter.
  @Test func addsTraitOfCloudToLocalDevice() async throws {
    let cloud = FakeCloud()
    try await run(cloud) { home, world in
      let lamp = try await device("Lamp", home)
      #expect(try light(lamp).colorControlTrait == nil)
      cloud.add(
        "l", name: "Cloud Lamp", type: "LIGHT", traits: ["OnOff", "Brightness", "ColorSetting"],
        state: #""online":true,"on":true,"brightness":40,"color":{"temperatureK":4000}"#,
        also: #","attributes":{"colorTemperatureRange":{"temperatureMinK":2000,"temperatureMaxK":6500}}"#
          + identity(of: lamp))
      try await world.simulation.sleep(for: .seconds(960))
      let both = try await device("Lamp", home)
      let traits = try light(both)
      #expect(both.sourceConnectivity == SourceConnectivity(.online, .mixed))
      #expect(traits.colorControlTrait?.attributes.colorTemperatureMireds == 250)
      #expect(traits.colorControlTrait?.metadata.sourceConnectivity == SourceConnectivity(.online, .remote))
      #expect(traits.onOffTrait?.metadata.sourceConnectivity == SourceConnectivity(.online, .peer))
      try await traits.onOffTrait?.on()
      #expect(cloud.commands.isEmpty)
      try await traits.colorControlTrait?.moveToColorTemperature(colorTemperatureMireds: 200)
      #expect(cloud.commands.count == 1 && cloud.commands.first?.contains(#""temperature":5000"#) == true)
      try await world.cutPower(of: "Lamp")
      try await world.simulation.sleep(for: .seconds(200))
      let away = try await device("Lamp", home)
      #expect(away.sourceConnectivity == SourceConnectivity(.partiallyOnline, .mixed))
      #expect(away.traits[OnOffTrait.self]?.metadata.sourceConnectivity == SourceConnectivity(.online, .remote))
      #expect(away.traits[IdentifyTrait.self]?.metadata.sourceConnectivity == SourceConnectivity(.offline, .peer))
    }
  }

  // MARK: Faults

  @Test func reportsCloudFailuresAndRecovers() async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch")
    let reasons = try await run(cloud) { home, world in
      var reasons: [OfflineReason?] = []
      func now(_ behavior: FakeCloud.Behavior) async throws {
        cloud.with { $0.behavior = behavior }
        try await world.simulation.sleep(for: .seconds(60))
        let device = try await device("Porch", home)
        reasons.append(device.offlineReason)
        #expect((device.sourceConnectivity.connectivityState == .online) == (device.offlineReason == nil))
        #expect(try await self.device("Lamp", home).sourceConnectivity == SourceConnectivity(.online, .peer))
        // The interval grows, but the cloud is polled again.
        cloud.with { $0.behavior = .works }
        try await world.simulation.sleep(for: .seconds(120))
        reasons.append(try await self.device("Porch", home).offlineReason)
      }
      try await now(.unreachable)
      try await now(.answers(401, "401: Unauthorized"))
      try await now(.answers(500, "no"))
      try await now(.answers(200, "{\"payload\":"))
      try await now(.answers(200, String(repeating: "[", count: 100_000)))
      try await now(.answers(200, String(repeating: "[", count: 300) + String(repeating: "]", count: 300)))
      try await now(.answers(200, "{\"payload\":{\"devices\":{}}}" + String(repeating: " ", count: 2 << 20)))
      try await now(.answers(200, "{\"payload\":{\"errorCode\":\"authExpired\"}}"))
      try await now(.slow(.seconds(3600)))
      return reasons
    }
    let wrong: [OfflineReason] = [
      .cloudUnreachable, .cloudRefused, .cloudUnreachable, .cloudUnreachable, .cloudUnreachable, .cloudUnreachable,
      .cloudUnreachable, .cloudRefused, .cloudUnreachable,
    ]
    #expect(reasons == wrong.flatMap { [$0, nil] })
  }

  @Test func usesNewTokenImmediately() async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch")
    let (failure, then, after) = try await run(cloud) { home, world in
      cloud.with { $0.token = "other" }
      try await world.simulation.sleep(for: .seconds(3600))
      let failure = try await home.cloudAccounts.first?.failure
      let count = cloud.intents.count
      do { try await light(device("Porch", home)).onOffTrait?.on() } catch {
        #expect(HomeError(error).code == .accessDenied)
      }
      try await home.addCloudAccount("acme", address: Self.address, token: "other")
      try await world.simulation.sleep(for: .seconds(1))
      let device = try await device("Porch", home)
      let accounts = try await home.cloudAccounts
      return ((failure, count), device.offlineReason, accounts)
    }
    #expect(failure.0?.contains("refuses the token") == true)
    // The interval is 30 s at first, doubles each time, and is limited to ten minutes.
    #expect(failure.1 < 16)
    #expect(then == nil && after.map(\.name) == ["Acme"] && after.first?.failure == nil)
    #expect(after.first?.devices.count == 1)
  }

  @Test func reportsDeviceOfflineAtTheCloud() async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch")
    try await run(cloud) { home, world in
      cloud.with { $0.behavior = .unreachable }
      try await world.simulation.sleep(for: .seconds(31))
      #expect(try await device("Porch", home).offlineReason == .cloudUnreachable)
      // “Device offline” takes precedence over “cloud unreachable”.
      cloud.with {
        $0.behavior = .works
        $0.states["p"] = "\"online\":false"
      }
      try await world.simulation.sleep(for: .seconds(31))
      let away = try await device("Porch", home)
      #expect(away.offlineReason == .cloudSaysUnreachable)
      #expect(away.sourceConnectivity == SourceConnectivity(.offline, .remote))
      // The contact time is that of the last poll with the device online.
      #expect(try light(away).onOffTrait?.attributes.onOff == false)
      let last = try #require(away.contact.last)
      // The cloud still lists the device.
      try await world.simulation.sleep(for: .seconds(1000))
      #expect(cloud.intents.count { $0 == "SYNC" } == 2)
      #expect(try await device("Porch", home).contact.last == last)
      // A command that the cloud accepted for an offline device was not executed.
      await #expect { try await light(away).onOffTrait?.on() } throws: { HomeError($0).code == .unreachable }
      cloud.with { $0.outcomes["p"] = "\"status\":\"ERROR\",\"errorCode\":\"alreadyOn\"" }
      try await light(away).onOffTrait?.on()
      cloud.with { $0.outcomes["p"] = "\"status\":\"ERROR\",\"errorCode\":\"challengeNeeded\"" }
      await #expect { try await light(away).onOffTrait?.on() } throws: { HomeError($0).code == .accessDenied }
      cloud.with { $0.outcomes["p"] = "\"status\":\"EXCEPTIONS\",\"errorCode\":\"lowBattery\"" }
      await #expect { try await light(away).onOffTrait?.on() } throws: { HomeError($0).code == .refused }
      cloud.with { $0.outcomes["p"] = "\"status\":\"OFFLINE\"" }
      await #expect { try await light(away).onOffTrait?.on() } throws: { HomeError($0).code == .unreachable }
    }
  }

  @Test func reachesCloudSoonForWaitingCommand() async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch")
    try await run(cloud) { home, world in
      cloud.with { $0.behavior = .unreachable }
      try await world.simulation.sleep(for: .seconds(3600))
      let porch = try await device("Porch", home)
      let trait = try #require(try light(porch).onOffTrait)
      async let waiting = trait.waiting(.seconds(60)).on()
      try await world.simulation.sleep(for: .seconds(10))
      cloud.with { $0.behavior = .works }
      let before = await world.simulation.now
      _ = try await waiting
      #expect(await world.simulation.now - before < .seconds(10))
      #expect(cloud.commands.count == 1)
    }
  }

  // MARK: Persistence

  @Test func restoresDevicesAndValuesAfterRestart() async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch", isOn: true)
    cloud.addLamp("q", name: "Quay")
    try await run(cloud) { home, world in
      let ids = try await home.devices().list().map(\.id)
      try await home.rename(device("Quay", home).id, to: "Pier")
      cloud.with { $0.behavior = .unreachable }
      try await world.cutPower(of: "hub")
      try await world.restorePower(of: "hub")
      try await world.simulation.sleep(for: .seconds(1))
      let again = try await world.home.devices().list()
      #expect(again.map(\.id) == ids && again.map(\.name) == ["Lamp", "Porch", "Pier"])
      let porch = again[1]
      #expect(porch.offlineReason == .cloudUnreachable && !porch.isMatterDevice)
      #expect(porch.sourceConnectivity.dataSourceLocality == .unspecified)
      #expect(try light(porch).onOffTrait?.attributes.onOff == true)
      cloud.with { $0.behavior = .works }
      try await world.simulation.sleep(for: .seconds(120))
      let back = try await world.home.devices().list()
      #expect(back.map(\.id) == ids && back.allSatisfy { $0.sourceConnectivity.connectivityState == .online })
    }
  }

  @Test func removesAccountWithDevicesThatHaveNoOtherRoute() async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch")
    try await run(cloud) { home, world in
      let lamp = try await device("Lamp", home)
      cloud.addLamp("l", name: "Cloud Lamp", also: identity(of: lamp))
      try await world.simulation.sleep(for: .seconds(960))
      #expect(try await home.cloudAccounts.first?.devices.count == 2)
      #expect(try await device("Lamp", home).sourceConnectivity == SourceConnectivity(.online, .peer))
      #expect(try await home.removeCloudAccount("ACME").devices == ["Porch"])
      let intents = cloud.intents.count
      try await world.simulation.sleep(for: .seconds(2000))
      #expect(try await home.devices().list().map(\.name) == ["Lamp"])
      #expect(cloud.intents.count == intents)
      // An account that is added again is a new one.
      try await home.addCloudAccount("Acme", address: Self.address, token: "secret")
      try await world.simulation.sleep(for: .seconds(1))
      #expect(try await home.devices().list().map(\.name) == ["Lamp", "Porch"])
    }
  }

  @Test func removesDeviceThatStaysUnlisted() async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch")
    cloud.addLamp("q", name: "Quay")
    try await run(cloud) { home, world in
      let entry = cloud.with { contents in contents.devices.removeFirst() }
      try await world.simulation.sleep(for: .seconds(905))
      #expect(try await device("Porch", home).offlineReason == .cloudSaysUnreachable)
      // The device is listed again.
      cloud.with { $0.devices.insert(entry, at: 0) }
      try await world.simulation.sleep(for: .seconds(60))
      #expect(try await device("Porch", home).offlineReason == nil)
      cloud.with { _ = $0.devices.removeFirst() }
      try await world.simulation.sleep(for: .seconds(7000))
      #expect(try await device("Porch", home).offlineReason == .cloudSaysUnreachable)
      try await world.simulation.sleep(for: .seconds(2000))
      #expect(try await home.devices().list().map(\.name) == ["Lamp", "Quay"])
    }
  }

  @Test func mergesEndpointsAndSkipsInvalidEntries() async throws {
    let cloud = FakeCloud()
    for id in ["a", "b"] {
      cloud.add(
        id, name: "Strip \(id)", type: "OUTLET", traits: ["OnOff"], state: "\"online\":true,\"on\":false",
        also: ",\"matterUniqueId\":\"s\",\"matterOriginalVendorId\":\"0xfff1\"")
    }
    cloud.with { $0.devices.insert(("x", "{\"id\":5,\"type\":[],\"traits\":null}"), at: 0) }
    // A type without a Matter equivalent is ignored and never queried.
    cloud.add("v", name: "Vacuum", type: "VACUUM", traits: ["Dock", "EnergyStorage"], state: "\"online\":true")
    try await run(cloud) { home, world in
      let strip = try await device("Strip a", home)
      #expect(try await home.devices().list().count == 2)
      #expect(!cloud.with { $0.lastQuery.contains("\"v\"") })
      let outlets = strip.types.filter { $0.matterTraits.onOffTrait != nil }
      #expect(outlets.map(\.endpoint) == [1, 2])
      try await outlets.last?.matterTraits.onOffTrait?.on()
      #expect(cloud.commands.last?.contains(#""id":"b""#) == true)
      let now = try await device("Strip a", home).types.compactMap { $0.matterTraits.onOffTrait?.attributes.onOff }
      #expect(now == [false, true])
    }
  }
}

/// The successive connectivity states of a device.
private final class ConnectivityRecorder: Sendable {
  private let contents = Mutex<[SourceConnectivity]>([])
  var all: [SourceConnectivity] { contents.withLock { $0 } }
  func add(_ connectivity: SourceConnectivity?) {
    guard let connectivity else { return }
    contents.withLock { if $0.last != connectivity { $0.append(connectivity) } }
  }
}
