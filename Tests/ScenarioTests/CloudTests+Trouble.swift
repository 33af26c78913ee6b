import Home
import MatterClusters
import Scenario
import Simulation
import Testing

// What clouds do wrong, and what people ask too much of them.
extension CloudTests {
  @Test func anAccountThatListsNothingKeepsItsDevices() async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch")
    cloud.addLamp("q", name: "Quay")
    try await run(cloud) { home, world in
      let ids = try await home.devices().list().map(\.id)
      try await home.rename(device("Quay", home).id, to: "Pier")
      let entries = cloud.with { inside in
        defer { inside.devices = [] }
        return inside.devices
      }
      try await world.simulation.sleep(for: .seconds(20_000))
      #expect(try await device("Pier", home).offlineReason == .cloudSaysUnreachable)
      // What has gone before it is there again has not been away for long.
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

  @Test func whatLosesItsWordForAMomentStays() async throws {
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

  @Test(arguments: [429, 503]) func aCloudThatAsksForPatienceIsLeftAlone(_ status: Int) async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch")
    try await run(cloud) { home, world in
      func asked(in time: Int) async throws -> Int {
        let before = cloud.intents.count
        try await world.simulation.sleep(for: .seconds(time))
        return cloud.intents.count - before
      }
      cloud.with { $0.mood = .answers(status, "", retryAfter: "900") }
      #expect(try await asked(in: 60) == 1)
      let failure = try await home.cloudAccounts.first?.failure
      #expect(failure == "answered with \(status), and requests a pause of 15 min")
      #expect(try await device("Porch", home).offlineReason == .cloudUnreachable)
      #expect(try await asked(in: 780) == 0)
      // What somebody wants done it is told.
      cloud.with { $0.mood = .works }
      try await light(device("Porch", home)).onOffTrait?.on()
      #expect(cloud.orders.count == 1)
      #expect(try await asked(in: 100) > 0)
      #expect(try await device("Porch", home).offlineReason == nil)
      // However long it says, it is asked in an hour; however short, not all the time.
      cloud.with { $0.mood = .answers(status, "", retryAfter: "99999999999999999999") }
      #expect(try await asked(in: 3500) == 1)
      #expect(try await asked(in: 200) == 1)
      cloud.with { $0.mood = .answers(status, "", retryAfter: "1") }
      try await world.simulation.sleep(for: .seconds(3600))
      #expect(try await (8...12).contains(asked(in: 300)))
    }
  }

  @Test func whatIsAskedTooLateIsNotDone() async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch")
    try await run(cloud) { home, world in
      // As many as there may be in a house are done, where it is quick.
      let porch = try await device("Porch", home)
      let trait = try #require(try light(porch).onOffTrait)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<100 { group.addTask { _ = try await trait.on() } }
        try await group.waitForAll()
      }
      #expect(cloud.orders.count == 100)
      cloud.with { $0.mood = .slow(.seconds(3)) }
      let done = await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<40 {
          group.addTask { (try? await trait.off()) != nil }
        }
        return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      try await world.simulation.sleep(for: .seconds(200))
      #expect((2...5).contains(done) && cloud.orders.count == 100 + done)
      #expect(try await device("Porch", home).offlineReason == nil)
      // Who does not wait any more does not mean it any more.
      async let first = trait.off()
      try await world.simulation.sleep(for: .seconds(1))
      await withTaskGroup(of: Void.self) { group in
        group.addTask { _ = try? await trait.on() }
        try? await world.simulation.sleep(for: .seconds(1))
        group.cancelAll()
      }
      _ = try await first
      try await world.simulation.sleep(for: .seconds(60))
      #expect(cloud.orders.count == 101 + done)
    }
  }

  @Test func whatCameOfACommandWithoutAnAnswerIsAsked() async throws {
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

  @Test func aLightIsAskedWhetherItIsOnBeforeItIsDimmed() async throws {
    let cloud = FakeCloud()
    cloud.addLamp("p", name: "Porch")
    try await run(cloud) { home, world in
      let porch = try await device("Porch", home)
      // Somebody switched it on by the maker's own app, a moment ago.
      cloud.with { $0.states["p"] = "\"online\":true,\"on\":true,\"brightness\":40" }
      try await light(porch).levelControlTrait?.moveToLevel(level: 191)
      #expect(cloud.orders.last?.contains(#"BrightnessAbsolute","params":{"brightness":75}"#) == true)
    }
  }

  @Test func oneOfSeveralIsAwayByItself() async throws {
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
      // The one that a command can't reach says nothing of the other.
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
