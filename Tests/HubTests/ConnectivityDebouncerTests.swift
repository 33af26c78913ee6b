import HearthHome
import HomeModel
import Hub
import Logging
import MatterCrypto
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Synchronization
import Testing

/// Debounced connectivity of clients, which agrees with that of the hub's process.
@Suite("Debounced connectivity through a hub", .timeLimit(.minutes(10))) struct ConnectivityDebouncerTests {
  private func lamp(_ home: Home) async throws -> HomeDevice { try #require(try await home.devices().list().first) }

  @Test func clientUsesGraceTimeOfHub() async throws {
    let served = try await ServedHome(grace: .seconds(3600))
    let client = try await served.client()
    try await served.home.controller.process(.lost(5, .timedOut))
    #expect(await eventually { try await lamp(client).offlineReason == .timedOut })
    let online = SourceConnectivity(.online, .local)
    #expect(try await lamp(served.home).settledConnectivity == SourceConnectivity(.online, .peer))
    #expect(try await lamp(client).settledConnectivity == online)
    // A client that connects during the trial agrees.
    let late = try await served.client("late")
    #expect(try await lamp(late).sourceConnectivity.connectivityState == .offline)
    #expect(try await lamp(late).settledConnectivity == online)
    // The loss of the hub is debounced like any other.
    try await served.home.controller.process(.established(5, deadline: .max))
    #expect(await eventually { try await lamp(client).sourceConnectivity == online })
    try await served.hub.hangUp(andThen: [.lost(5, .timedOut)])
    #expect(await eventually { try await lamp(client).offlineReason == .timedOut })
    #expect(try await lamp(client).settledConnectivity == online)
    await served.stopHub()
    #expect(await eventually { try await lamp(late).sourceConnectivity.connectivityState == .offline })
    #expect(try await lamp(client).settledConnectivity == online)
    #expect(try await lamp(late).settledConnectivity == online)
    await client.close()
    await late.close()
    await served.close()
  }

  /// The clock of the client's machine; that of the hub's machine is the clock of the home.
  @Test func clockChangeOfClientSettlesNothing() async throws {
    let served = try await ServedHome(grace: .seconds(3600))
    let machine = ClockMachine()
    var options = ServedHome.clientOptions("test", [.local(served.socket)])
    options.machine = machine
    let client = try await Home(through: options)
    try await served.home.controller.process(.lost(5, .timedOut))
    #expect(await eventually { try await lamp(client).offlineReason == .timedOut })
    machine.offset.withLock { $0 = 86_400_000_000 }
    // An unrelated update, which makes the client read its clock.
    try await served.report(level: 9)
    #expect(await eventually { await client.state.value(5, ServedHome.level) == [0x04, 9] })
    // A timer for the settled state would be due before this one.
    try await client.backend.eventLoop.scheduleTask(in: .milliseconds(10)) {}.futureResult.get()
    #expect(try await lamp(client).settledConnectivity == SourceConnectivity(.online, .local))
    machine.offset.withLock { $0 = -86_400_000_000 }
    try await served.report(level: 10)
    #expect(await eventually { await client.state.value(5, ServedHome.level) == [0x04, 10] })
    #expect(try await lamp(client).settledConnectivity == SourceConnectivity(.online, .local))
    await client.close()
    await served.close()
  }

  @Test func clientSettlesAfterGraceTime() async throws {
    let served = try await ServedHome(grace: nil) { $0.heartbeat = .milliseconds(20) }
    try await served.home.setGraceTime(.seconds(3600))
    let client = try await served.client()
    func states() async throws -> [ConnectivityState] {
      let lamp = try await lamp(client)
      return [lamp.sourceConnectivity.connectivityState, lamp.settledConnectivity.connectivityState]
    }
    #expect(await eventually { try await states() == [.online, .online] })
    // First the device is offline, and then the settled state is.
    try await served.home.controller.process(.lost(5, .subscriptionLost))
    #expect(await eventually { try await states() == [.offline, .online] })
    try await served.home.setGraceTime(.milliseconds(20))
    #expect(await eventually { try await states() == [.offline, .offline] })
    #expect(await eventually { try await lamp(served.home).settledConnectivity.connectivityState == .offline })
    // A client that connects now gets no trial.
    let late = try await served.client("late")
    #expect(try await lamp(late).settledConnectivity == SourceConnectivity(.offline, .local))
    await client.close()
    await late.close()
    await served.close()
  }
}

/// The host machine with an adjustable wall clock.
private final class ClockMachine: Machine {
  /// In microseconds.
  let offset = Mutex<Int64>(0)
  private let host = HostMachine()
  func unixMicroseconds() -> Int64 { host.unixMicroseconds() + offset.withLock { $0 } }
  var sharesFiles: Bool { host.sharesFiles }
  func nextEventLoop() -> any EventLoop { host.nextEventLoop() }
  var taskExecutor: (any TaskExecutor)? { host.taskExecutor }
  func makeWorker() -> any Worker { host.makeWorker() }
  func makeRandom() -> any RandomSource { host.makeRandom() }
  var signatures: any SignatureScheme { host.signatures }
  func openTransport(
    _ interfaces: InterfaceSelection, port: UInt16?, on eventLoop: any EventLoop
  ) throws -> any DatagramTransport { try host.openTransport(interfaces, port: port, on: eventLoop) }
  func openDiscovery(
    _ mode: ServiceDiscovery.Mode, _ interfaces: InterfaceSelection, registry: String?, on eventLoop: any EventLoop,
    logger: Logger
  ) throws -> any NodeDiscovery {
    try host.openDiscovery(mode, interfaces, registry: registry, on: eventLoop, logger: logger)
  }
  func openStore(_ directory: String) throws(StoreError) -> any NodeStore { try host.openStore(directory) }
}
