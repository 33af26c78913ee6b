import Logging
import MatterCrypto
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Synchronization
import Testing

@testable import Home
@testable import Hub

/// Connectivity without its short breaks, as a client sees it: as the hub's own process does.
@Suite("ConnectivityDebouncer through a hub", .timeLimit(.minutes(10))) struct SettlingTests {
  private func lamp(_ home: Home) async throws -> HomeDevice { try #require(try await home.devices().list().first) }

  @Test func aClientWaitsAsLongAsItsHub() async throws {
    let served = try await ServedHome(grace: .seconds(3600))
    let client = try await served.client()
    try await served.home.controller.take(.lost(5, .timedOut))
    #expect(await eventually { try await lamp(client).offlineReason == .timedOut })
    let online = SourceConnectivity(.online, .local)
    #expect(try await lamp(served.home).settledConnectivity == SourceConnectivity(.online, .peer))
    #expect(try await lamp(client).settledConnectivity == online)
    // Who comes while it is on trial says the same.
    let late = try await served.client("late")
    #expect(try await lamp(late).sourceConnectivity.connectivityState == .offline)
    #expect(try await lamp(late).settledConnectivity == online)
    // That the hub goes is a break like any other.
    try await served.home.controller.take(.established(5, deadline: .max))
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

  /// Of the client's machine: that of the hub's is the home's.
  @Test func aClockThatIsSetSettlesNothing() async throws {
    let served = try await ServedHome(grace: .seconds(3600))
    let machine = ClockMachine()
    var options = ServedHome.clientOptions("test", [.local(served.socket)])
    options.machine = machine
    let client = try await Home(through: options)
    try await served.home.controller.take(.lost(5, .timedOut))
    #expect(await eventually { try await lamp(client).offlineReason == .timedOut })
    machine.offset.withLock { $0 = 86_400_000_000 }
    // Something else happens, which the client looks at its clock for.
    try await served.report(level: 9)
    #expect(
      await eventually {
        await client.state.value(5, ServedHome.level) == [0x04, 9]
      })
    try await Task.sleep(for: .milliseconds(300))
    #expect(try await lamp(client).settledConnectivity == SourceConnectivity(.online, .local))
    machine.offset.withLock { $0 = -86_400_000_000 }
    try await served.report(level: 10)
    #expect(await eventually { await client.state.value(5, ServedHome.level) == [0x04, 10] })
    #expect(try await lamp(client).settledConnectivity == SourceConnectivity(.online, .local))
    await client.close()
    await served.close()
  }

  @Test func whenItLastedLongEnoughAClientSaysSoToo() async throws {
    let served = try await ServedHome(grace: .seconds(5))
    let client = try await served.client()
    var batches = client.devices().batched().makeAsyncIterator()
    // One after the other: it is away, and then for good.
    var told: [ConnectivityState] = []
    while let devices = await batches.next() {
      if told.isEmpty { try await served.home.controller.take(.lost(5, .subscriptionLost)) }
      let lamp = try #require(devices.first)
      let both = [lamp.sourceConnectivity.connectivityState, lamp.settledConnectivity.connectivityState]
      told += both
      if both == [.offline, .offline] { break }
    }
    #expect(told == [.online, .online, .offline, .online, .offline, .offline])
    #expect(await eventually { try await lamp(served.home).settledConnectivity.connectivityState == .offline })
    // Who comes now knows nothing of a trial.
    let late = try await served.client("late")
    #expect(try await lamp(late).settledConnectivity == SourceConnectivity(.offline, .local))
    await client.close()
    await late.close()
    await served.close()
  }
}

/// This machine, with a clock of the day that can be set.
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
  func storedState(of directory: String) throws(StoreError) -> StoredState { try host.storedState(of: directory) }
}
