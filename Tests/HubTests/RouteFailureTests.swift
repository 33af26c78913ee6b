import HearthHome
import HomeControl
import HomeModel
import Hub
import MatterClusters
import MatterModel
import Runtime
import Testing

/// Hubs that stop answering, and requests whose route changes. The times are those of `RouteSelectionTests`.
@Suite("Failures of routes", .timeLimit(.minutes(10))) struct RouteFailureTests {
  /// Does not close connections because of silence, so that only the selection of routes detects it.
  private func options(_ routes: [HubRoute]) -> HubClient.Options {
    var options = ServedHome.clientOptions("test", routes)
    options.silence = .seconds(3600)
    options.routeTimeout = .milliseconds(300)
    options.stableTime = .milliseconds(100)
    return options
  }

  private func uses(_ locality: DataSourceLocality, _ home: Home) async -> Bool {
    await eventually {
      try await home.devices().list().map(\.sourceConnectivity) == [.init(.online, locality)]
    }
  }

  @Test func leavesSilentHub() async throws {
    let (near, far) = (try await ServedHome(), try await ServedHome())
    let path = near.scratch.state.run + "/relay.sock"
    let relay = try await LossyRelay(at: path, to: near.scratch.state.hubSocket)
    let client = try await Home(through: options([.local(.socket(path)), .remote(far.socket)]))
    #expect(await uses(.local, client))
    for level in [UInt8](7...8) {
      relay.setSilent(true)
      #expect(await uses(.remote, client))
      try await far.report(level: level)
      #expect(await eventually { await client.state.value(5, ServedHome.level) == [0x04, level] })
      // Updates of a route that is connected, but not used yet, are kept.
      relay.setSilent(false)
      try await near.report(level: level + 10)
      #expect(await uses(.local, client))
      #expect(await eventually { await client.state.value(5, ServedHome.level) == [0x04, level + 10] })
    }
    await client.close()
    await relay.close()
    await near.close()
    await far.close()
  }

  /// A hub whose process is stopped accepts connections, but nothing else.
  @Test func opensWithoutSilentHub() async throws {
    let (near, far) = (try await ServedHome(), try await ServedHome())
    let path = near.scratch.state.run + "/relay.sock"
    let relay = try await LossyRelay(at: path, to: near.scratch.state.hubSocket)
    relay.setSilent(true)
    let client = try await Home(through: options([.local(.socket(path)), .remote(far.socket)]))
    #expect(await uses(.remote, client))
    await client.close()
    await relay.close()
    await near.close()
    await far.close()
  }

  /// Delays of retransmissions at 30 % loss, at a tenth of the usual timeouts.
  @Test(arguments: 1...3 as ClosedRange<UInt64>) func changesRouteRarelyUnderLoss(seed: UInt64) async throws {
    let (near, far) = (try await ServedHome(), try await ServedHome())
    var relays: [LossyRelay] = []
    for home in [near, far] {
      relays.append(
        try await LossyRelay(
          at: home.scratch.state.run + "/relay.sock", to: home.scratch.state.hubSocket, loss: 0.3,
          timeout: .milliseconds(20), seed: seed + UInt64(relays.count) * 100))
    }
    let paths = [near, far].map { HubAddress.socket($0.scratch.state.run + "/relay.sock") }
    var options = options([.local(paths[0]), .remote(paths[1])])
    (options.routeTimeout, options.stableTime) = (.milliseconds(120), .milliseconds(500))
    let client = try await Home(through: options)
    let updates = client.devices().batched()
    let changes = Task {
      var localities: [DataSourceLocality] = []
      for await devices in updates {
        guard let found = devices.first?.sourceConnectivity.dataSourceLocality, found != localities.last else {
          continue
        }
        localities.append(found)
      }
      return localities.count
    }
    // Each request is performed once at most, by one of the hubs.
    var answered: [String] = []
    for number in 0..<40 {
      if await code({ _ = try await client.addRoom("Room \(number)") }) == nil { answered.append("Room \(number)") }
      try await Task.sleep(for: .milliseconds(50))
    }
    await client.close()
    let rooms = [near, far]
    var names: [String] = []
    for home in rooms { names += try await home.home.rooms().list().map(\.name) }
    #expect(Set(names).count == names.count && Set(answered).isSubset(of: names))
    #expect(await changes.value <= 20)
    for relay in relays { await relay.close() }
    for home in rooms { await home.close() }
  }

  // MARK: Commands

  private static let online = HomeChange.connectivity(SourceID(5), SourceStatus(.init(.online, .peer)))
  private static let greeting: [HubNews] = [
    SilentHub.welcome, .reset, .part(ServedHome.lamp + [online]), .settling(DebouncerState()),
    .synchronized(HubPosition(hub: 1, count: 0)),
  ]

  private struct Toggling {
    let near, far: SilentHub
    let home: Home
    /// The state directories of the hubs.
    let directories: [Scratch]
    /// Toggles the lamp, and returns the error.
    let toggle: Task<HomeError.Code?, Never>

    func close() async {
      await home.close()
      await near.close()
      await far.close()
    }
  }

  /// Toggles a lamp through a hub that receives the command and does not answer it.
  private func toggle() async throws -> Toggling {
    let directories = [Scratch(), Scratch()]
    for directory in directories { try Files.makeDirectory(directory.state.run) }
    let near = try await SilentHub(directories[0].state.hubSocket, greeting: Self.greeting)
    let far = try await SilentHub(directories[1].state.hubSocket, greeting: Self.greeting)
    let home = try await Home(
      through: options([
        .local(.socket(directories[0].state.hubSocket)), .remote(.socket(directories[1].state.hubSocket)),
      ]))
    #expect(await uses(.local, home))
    let lamp = try #require(try await home.devices().list().first)
    let light = try #require(lamp.types.get(DimmableLightDeviceType.self)?.matterTraits.onOffTrait)
    let toggle = Task { @Sendable in await code { try await light.toggle() } }
    #expect(await eventually { near.requests.count == 1 && near.clientCount >= 1 })
    return Toggling(near: near, far: far, home: home, directories: directories, toggle: toggle)
  }

  @Test func togglesOnceIfRouteBecomesSilent() async throws {
    let test = try await toggle()
    test.near.stopAnswering()
    #expect(await uses(.remote, test.home))
    #expect(test.far.requests.isEmpty)
    // The next command takes the new route.
    let second = Task { @Sendable in await code { _ = try await test.home.addRoom("Den") } }
    #expect(await eventually { test.far.requests.count == 1 })
    let other = try #require(test.far.requests.first?.id)
    test.far.send([.reply(id: other, .failure(HomeError(.refused, "no")))])
    #expect(await second.value == .refused)
    // The answer to the first one is late, but not lost; then the connection of the former route is closed.
    let id = try #require(test.near.requests.first?.id)
    let count = test.near.clientCount
    test.near.send([.reply(id: id, .success(.invoked(response: nil)))])
    #expect(await test.toggle.value == nil)
    #expect(await eventually { test.near.clientCount > count })
    #expect(test.near.requests.count == 1 && test.far.requests.count == 1)
    await test.close()
  }

  @Test(arguments: [false, true]) func togglesOnceIfConnectionIsLost(isSilent: Bool) async throws {
    let test = try await toggle()
    if isSilent {
      test.near.stopAnswering()
      #expect(await uses(.remote, test.home))
    }
    let count = test.near.clientCount
    test.near.disconnectClients()
    // The command may have been performed.
    #expect(await test.toggle.value == .unreachable)
    #expect(await eventually { test.near.clientCount > count })
    #expect(test.near.requests.count == 1 && test.far.requests.isEmpty)
    await test.close()
  }
}
