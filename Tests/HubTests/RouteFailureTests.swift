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
    SilentHub.welcome, .reset, .part(ServedHome.lamp + [online]), .debouncer(DebouncerState()),
    .synchronized(HubPosition(hub: 1, count: 0)),
  ]

  private struct Hubs {
    let near, far: SilentHub
    let home: Home
    /// The state directories of the hubs.
    let directories: [Scratch]

    func close() async {
      await home.close()
      await near.close()
      await far.close()
    }
  }

  /// Opens a home through two hubs that answer no requests.
  private func hubs(_ change: (inout HubClient.Options) -> Void = { _ in }) async throws -> Hubs {
    let directories = [Scratch(), Scratch()]
    for directory in directories { try Files.makeDirectory(directory.state.run) }
    let near = try await SilentHub(directories[0].state.hubSocket, greeting: Self.greeting)
    let far = try await SilentHub(directories[1].state.hubSocket, greeting: Self.greeting)
    var options = options([
      .local(.socket(directories[0].state.hubSocket)), .remote(.socket(directories[1].state.hubSocket)),
    ])
    change(&options)
    let home = try await Home(through: options)
    #expect(await uses(.local, home))
    return Hubs(near: near, far: far, home: home, directories: directories)
  }

  /// Toggles the lamp through the near hub, and returns the error.
  private func toggle(_ hubs: Hubs) async throws -> Task<HomeError.Code?, Never> {
    let lamp = try #require(try await hubs.home.devices().list().first)
    let light = try #require(lamp.types.get(DimmableLightDeviceType.self)?.matterTraits.onOffTrait)
    let toggle = Task { @Sendable in await code { try await light.toggle() } }
    #expect(await eventually { hubs.near.requests.count == 1 && hubs.near.clientCount >= 1 })
    return toggle
  }

  @Test func togglesOnceIfRouteBecomesSilent() async throws {
    let test = try await hubs()
    let toggle = try await toggle(test)
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
    #expect(await eventually { test.near.openCount == 2 })
    test.near.send([.reply(id: id, .success(.invoked(response: nil)))])
    #expect(await toggle.value == nil)
    #expect(await eventually { test.near.openCount == 1 })
    #expect(test.near.requests.count == 1 && test.far.requests.count == 1)
    await test.close()
  }

  /// An outstanding request does not keep its route from being used again.
  @Test func usesNearerRouteAgainBeforeReply() async throws {
    let test = try await hubs()
    let toggle = try await toggle(test)
    test.near.stopAnswering(greets: true)
    #expect(await uses(.remote, test.home))
    test.near.startAnswering()
    #expect(await uses(.local, test.home))
    let id = try #require(test.near.requests.first?.id)
    test.near.send([.reply(id: id, .success(.invoked(response: nil)))])
    #expect(await toggle.value == nil)
    #expect(test.near.requests.count == 1 && test.far.requests.isEmpty)
    await test.close()
  }

  @Test func sendsRequestOverOtherRouteIfHubIsEnding() async throws {
    // The ending hub is not used again.
    let test = try await hubs { ($0.firstPause, $0.longestPause) = (.seconds(3600), .seconds(3600)) }
    let adding = Task { @Sendable in await code { _ = try await test.home.addRoom("Den") } }
    #expect(await eventually { test.near.requests.count == 1 })
    test.near.send([.reply(id: try #require(test.near.requests.first?.id), .failure(HubServer.ending))])
    #expect(await eventually { test.far.requests.count == 1 })
    test.far.send([.reply(id: try #require(test.far.requests.first?.id), .failure(HomeError(.refused, "no")))])
    #expect(await adding.value == .refused)
    await test.close()
  }

  @Test(arguments: [false, true]) func togglesOnceIfConnectionIsLost(isSilent: Bool) async throws {
    let test = try await hubs()
    let toggle = try await toggle(test)
    if isSilent {
      test.near.stopAnswering()
      #expect(await uses(.remote, test.home))
    }
    let count = test.near.clientCount
    test.near.disconnectClients()
    // The command may have been performed.
    #expect(await toggle.value == .unreachable)
    #expect(await eventually { test.near.clientCount > count })
    #expect(test.near.requests.count == 1 && test.far.requests.isEmpty)
    await test.close()
  }
}
