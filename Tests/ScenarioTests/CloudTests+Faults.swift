import HearthHome
import MatterClusters
import Scenario
import Simulation
import Testing

// Faults of clouds, and overload by commands.
extension CloudTests {
  @Test func keepsDevicesThatDisappearFromTheList() async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch")
    cloud.addLamp("q", name: "Quay")
    try await run(cloud) { home, world in
      let ids = try await home.devices().list().map(\.id)
      try await home.rename(device("Quay", home).id, to: "Pier")
      let entries = cloud.with { contents in
        defer { contents.devices = [] }
        return contents.devices
      }
      try await world.simulation.sleep(for: .seconds(8_000))
      #expect(try await device("Pier", home).offlineReason == .cloudSaysUnreachable)
      // The absence time restarts for a device that was listed meanwhile.
      cloud.with { $0.devices = [entries[1]] }
      try await world.simulation.sleep(for: .seconds(1000))
      #expect(try await device("Pier", home).offlineReason == nil)
      cloud.with { $0.devices = entries }
      try await world.simulation.sleep(for: .seconds(1000))
      let back = try await home.devices().list()
      #expect(back.map(\.id) == ids && back.map(\.name) == ["Lamp", "Porch", "Pier"])
      #expect(back.allSatisfy { $0.sourceConnectivity.connectivityState == .online })
    }
  }

  @Test func keepsDeviceWithoutUsableTraits() async throws {
    let cloud = FakeCloud()
    @Sendable func sensor(_ also: String) {
      cloud.add(
        "t", name: "Bath", type: "SENSOR", traits: ["TemperatureControl"],
        state: "\"online\":true,\"temperatureAmbientCelsius\":21", also: also)
    }
    sensor(",\"attributes\":{\"queryOnlyTemperatureControl\":true}")
    try await run(cloud) { home, world in
      try await home.rename(device("Bath", home).id, to: "Sauna")
      sensor("")
      try await world.simulation.sleep(for: .seconds(960))
      #expect(try await device("Sauna", home).offlineReason == .cloudSaysUnreachable)
      sensor(",\"attributes\":{\"queryOnlyTemperatureControl\":true}")
      try await world.simulation.sleep(for: .seconds(960))
      #expect(try await device("Sauna", home).offlineReason == nil)
    }
  }

  @Test func removalDropsResponseInProgress() async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch")
    try await run(cloud) { home, world in
      cloud.addLamp("q", name: "Quay")
      cloud.with { $0.behavior = .slow(.seconds(5)) }
      async let refreshed: Void = home.refreshCloudAccount("Acme")
      try await world.simulation.sleep(for: .seconds(1))
      #expect(try await home.removeCloudAccount("Acme").devices == ["Porch"])
      do {
        try await refreshed
        Issue.record("the request continued")
      } catch {
        #expect(HomeError(error).code == .notFound)
      }
      try await world.simulation.sleep(for: .seconds(60))
      #expect(try await home.devices().list().map(\.name) == ["Lamp"])
    }
  }

  @Test(arguments: [429, 503]) func honorsRetryAfter(_ status: Int) async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch")
    try await run(cloud) { home, world in
      func requests(in time: Int) async throws -> Int {
        let before = cloud.intents.count
        try await world.simulation.sleep(for: .seconds(time))
        return cloud.intents.count - before
      }
      cloud.with { $0.behavior = .answers(status, "", retryAfter: "900") }
      #expect(try await requests(in: 60) == 1)
      let failure = try await home.cloudAccounts.first?.failure
      #expect(failure == "answered with \(status), and requests a pause of 15 min")
      #expect(try await device("Porch", home).offlineReason == .cloudUnreachable)
      #expect(try await requests(in: 780) == 0)
      // Commands are sent nevertheless.
      cloud.with { $0.behavior = .works }
      try await light(device("Porch", home)).onOffTrait?.on()
      #expect(cloud.commands.count == 1)
      #expect(try await requests(in: 100) > 0)
      #expect(try await device("Porch", home).offlineReason == nil)
      // Retry-After is limited to one hour, and to the regular interval at least.
      cloud.with { $0.behavior = .answers(status, "", retryAfter: "99999999999999999999") }
      #expect(try await requests(in: 3500) == 1)
      #expect(try await requests(in: 200) == 1)
      cloud.with { $0.behavior = .answers(status, "", retryAfter: "1") }
      try await world.simulation.sleep(for: .seconds(3600))
      #expect(try await (8...12).contains(requests(in: 300)))
    }
  }

  @Test func dropsCommandsThatWaitTooLong() async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch")
    try await run(cloud) { home, world in
      // A fast cloud completes a hundred commands.
      let porch = try await device("Porch", home)
      let trait = try #require(try light(porch).onOffTrait)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<100 { group.addTask { _ = try await trait.on() } }
        try await group.waitForAll()
      }
      #expect(cloud.commands.count == 100)
      cloud.with { $0.behavior = .slow(.seconds(3)) }
      let done = await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<40 {
          group.addTask { (try? await trait.off()) != nil }
        }
        return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      try await world.simulation.sleep(for: .seconds(200))
      #expect((2...5).contains(done) && cloud.commands.count == 100 + done)
      #expect(try await device("Porch", home).offlineReason == nil)
      // A canceled command is not sent.
      async let first = trait.off()
      try await world.simulation.sleep(for: .seconds(1))
      await withTaskGroup(of: Void.self) { group in
        group.addTask { _ = try? await trait.on() }
        try? await world.simulation.sleep(for: .seconds(1))
        group.cancelAll()
      }
      _ = try await first
      try await world.simulation.sleep(for: .seconds(60))
      #expect(cloud.commands.count == 101 + done)
    }
  }

  @Test func queriesStateAfterUnansweredCommand() async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch")
    let isOn = try await run(cloud) { home, world in
      cloud.with { $0.outcomes["p"] = "\"status\":" }
      let porch = try await device("Porch", home)
      let trait = try #require(try light(porch).onOffTrait)
      await #expect(throws: HomeError.self) { try await trait.on() }
      cloud.with { $0.states["p"] = "\"online\":true,\"on\":true" }
      try await world.simulation.sleep(for: .seconds(3))
      return try await light(device("Porch", home)).onOffTrait?.attributes.onOff
    }
    #expect(isOn == true)
  }

  @Test func queriesStateBeforeDimming() async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch")
    try await run(cloud) { home, world in
      let porch = try await device("Porch", home)
      // The light was switched on in the maker's app a moment ago.
      cloud.with { $0.states["p"] = "\"online\":true,\"on\":true,\"brightness\":40" }
      try await light(porch).levelControlTrait?.moveToLevel(level: 191)
      #expect(cloud.commands.last?.contains(#"BrightnessAbsolute","params":{"brightness":75}"#) == true)
    }
  }

  @Test func tracksConnectivityOfEachEndpoint() async throws {
    let cloud = FakeCloud()
    for id in ["a", "b"] {
      cloud.add(
        id, name: "Strip \(id)", type: "OUTLET", traits: ["OnOff"], state: "\"online\":true,\"on\":true",
        also: ",\"matterUniqueId\":\"s\",\"matterOriginalVendorId\":\"0xfff1\"")
    }
    try await run(cloud) { home, world in
      func states() async throws -> [ConnectivityState] {
        let strip = try await device("Strip a", home)
        let outlets = strip.types.filter { $0.matterTraits.onOffTrait != nil }
        return outlets.map(\.metadata.sourceConnectivity.connectivityState)
          + [strip.sourceConnectivity.connectivityState]
      }
      #expect(try await states() == [.online, .online, .online])
      let outlets = try await device("Strip a", home).types.filter { $0.matterTraits.onOffTrait != nil }
      // A command that can't reach one outlet says nothing about the other.
      cloud.with { $0.outcomes["b"] = "\"status\":\"OFFLINE\"" }
      await #expect(throws: HomeError.self) { try await outlets.last?.matterTraits.onOffTrait?.off() }
      #expect(try await states().first == .online)
      cloud.with { $0.states["b"] = "\"online\":false" }
      try await world.simulation.sleep(for: .seconds(31))
      #expect(try await states() == [.online, .offline, .partiallyOnline])
      cloud.with { $0.states["a"] = "\"online\":false" }
      try await world.simulation.sleep(for: .seconds(31))
      #expect(try await states() == [.offline, .offline, .offline])
      cloud.with { $0.states = ["a": "\"online\":true", "b": "\"online\":true"] }
      try await world.simulation.sleep(for: .seconds(31))
      #expect(try await states() == [.online, .online, .online])
    }
  }
}
