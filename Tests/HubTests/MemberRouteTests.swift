import HearthHome
import HomeModel
import HomeStore
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import HomeControl
@testable import Hub

/// The routes of invited clients with own sessions, whose hub is slow, silent, or not the right one.
@Suite("Routes of members", .timeLimit(.minutes(10))) struct MemberRouteTests {
  /// Returns the membership of an owner in a home with one lamp, which no device belongs to.
  private func membership() async throws -> ClientMembership {
    let served = try await ServedHome()
    let controller = try served.home.controller
    var membership = try await ClientMembership.requested(HostMachine(), of: ServedHome.identity, interfaces: []) {
      request throws(HomeError) in
      let reply = try await controller.perform(.certify(request: request), as: .owner, origin: nil) { _ in }
      guard case .certified(let credentials) = reply else { throw .unexpectedReply }
      return credentials
    }
    _ = membership.note(await served.home.state)
    await served.close()
    return membership
  }

  /// The stable time has no effect on the return from the own sessions to the hub.
  private func options(_ route: HubRoute, _ scratch: Scratch, token: String? = nil) async throws -> HubClient.Options {
    var options = ServedHome.clientOptions("Ada", token: token, [route])
    (options.silence, options.routeTimeout, options.stableTime) = (.seconds(3600), .seconds(2), .seconds(3600))
    options.direct = HubClient.DirectAccess(
      membership: try await membership(), role: .owner, controller: ServedHome.options(scratch)
    ) { _ in }
    return options
  }

  private static let online = HomeChange.connectivity(SourceID(5), SourceStatus(.init(.online, .peer)))
  private static let greeting: [HubNews] = [
    SilentHub.welcome, .reset, .part(ServedHome.lamp + [online]), .debouncer(DebouncerState()),
    .synchronized(HubPosition(hub: 1, count: 0)),
  ]

  private func uses(_ state: ConnectivityState, _ home: Home) async -> Bool {
    await eventually { try await home.devices().list().map(\.sourceConnectivity.connectivityState) == [state] }
  }

  /// Requests that require the hub wait until the result of its connection is known.
  @Test(arguments: [true, false]) func waitsForHub(isSlow: Bool) async throws {
    let (scratch, own) = (Scratch(), Scratch())
    try Files.makeDirectory(scratch.state.run)
    let hub = try await SilentHub(scratch.state.hubSocket, greeting: Self.greeting)
    if isSlow { hub.stopAnswering() }
    let client = try await Home(through: try await options(.local(.socket(scratch.state.hubSocket)), own))
    if !isSlow {
      #expect(await uses(.online, client))
      hub.stopAnswering()
    }
    // The own sessions are used, and the hub accepts a connection without an answer.
    #expect(await eventually { hub.clientCount == (isSlow ? 1 : 2) })
    #expect(await uses(.unknown, client))
    let adding = Task { @Sendable in await code { _ = try await client.addRoom("Den") } }
    try await Task.sleep(for: .milliseconds(200))
    #expect(hub.requests.isEmpty)
    hub.startAnswering()
    hub.send(Self.greeting)
    #expect(await eventually { hub.requests.count == 1 })
    hub.send([.reply(id: try #require(hub.requests.first?.id), .failure(HomeError(.refused, "no")))])
    #expect(await adding.value == .refused)
    await client.close()
    await hub.close()
  }

  /// The client may be killed before it closes.
  @Test func storesHomeWhenHubIsLost() async throws {
    let (scratch, own) = (Scratch(), Scratch())
    try Files.makeDirectory(scratch.state.run)
    let renamed = HomeChange.deviceRenamed(id: "5", name: "Ceiling")
    let hub = try await SilentHub(
      scratch.state.hubSocket,
      greeting: [
        SilentHub.welcome, .reset, .part(ServedHome.lamp + [Self.online, renamed]), .debouncer(DebouncerState()),
        .synchronized(HubPosition(hub: 1, count: 0)),
      ])
    let saved = MemberTests.Mutexed<ClientMembership?>(nil)
    var options = try await options(.local(.socket(scratch.state.hubSocket)), own)
    options.direct?.save = { saved.value = $0 }
    let client = try await Home(through: options)
    #expect(await uses(.online, client))
    await hub.close()
    #expect(await eventually { saved.value?.state.orderedDevices.map(\.name) == ["Ceiling"] })
    await client.close()
  }

  @Test func failsAtOnceWithoutHub() async throws {
    let (scratch, own) = (Scratch(), Scratch())
    let client = try await Home(through: try await options(.local(.socket(scratch.state.hubSocket)), own))
    let begin = HostClock.now()
    #expect(await code { _ = try await client.addRoom("Den") } == .unreachable)
    #expect(HostClock.now() - begin < .seconds(60))
    await client.close()
  }

  /// Another process on the network may answer with another certificate; only the hub can refuse the client.
  @Test func usesOwnSessionsUnlessHubRefuses() async throws {
    let (own, other) = (Scratch(), Scratch())
    let served = try await ServedHome { $0.addresses = [.host("127.0.0.1", port: 0)] }
    let address = try #require(try await served.hub.status.addresses.last)
    let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
    let token = try await served.invite("Ada", .owner)
    var options = try await options(.remote(.host("127.0.0.1", port: port)), own, token: token)
    options.trust.fingerprint = try HubIdentity(other.state).fingerprint
    let client = try await Home(through: options)
    #expect(await uses(.unknown, client))
    await client.close()
    (options.trust.fingerprint, options.token) = (
      try await served.hub.identity?.fingerprint, String(repeating: "0", count: 32)
    )
    // Beside other tests, the hub may take longer than two seconds to answer.
    options.routeTimeout = .seconds(60)
    #expect(await code { _ = try await Home(through: options) } == .accessDenied)
    await served.close()
  }
}
