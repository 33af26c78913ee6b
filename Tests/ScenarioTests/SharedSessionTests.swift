import Foundation
import HearthHome
import HomeControl
import HomeStore
import Logging
import MatterClusters
import MatterController
import MatterCrypto
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Synchronization
import Testing
import VirtualDevices

@testable import MatterDevice

/// Several processes of one home with a device that keeps three sessions per peer.
/// The commands of all processes of one home use the sessions of the home's owner, so they evict none.
@Suite("Sessions of several processes", .timeLimit(.minutes(10))) struct SharedSessionTests {
  private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  private func start(_ directory: String) async throws -> NIOLoopBound<VirtualDevice> {
    let definition = try #require(
      try HomeDefinition.load(simulating: [("home.yaml", "devices:\n  - { name: Lamp, type: on/off light }\n")]).devices
        .first)
    let machine = HostMachine()
    let loop = machine.nextEventLoop()
    return try await loop.submit { [logger] in
      var environment = VirtualDevice.Environment(
        machine: machine,
        discovery: try machine.openDiscovery(.off, .loopback, registry: nil, on: loop, logger: logger),
        loop: loop, interfaces: .loopback, directory: directory + "/device", logger: logger)
      environment.configure = { $0.limits.maximumSessions = 3 }
      let device = try VirtualDevice(definition, port: nil, random: SystemRandomSource(), in: environment)
      return NIOLoopBound(device, eventLoop: loop)
    }.get()
  }

  @Test("concurrent commands open no sessions") func commands() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "shared-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let device = try await start(directory)
    let loop = device.eventLoop
    var options = HomeController.Options(state: StateDirectory(directory + "/state"), logger: logger)
    // The machine may be busy with other tests.
    options.timeout = .seconds(120)
    options.address = SocketAddress(.loopback4, port: try await loop.submit { device.value.status.port }.get())
    let passcode = try await loop.submit { device.value.definition.passcode }.get()
    let address = try #require(options.address)
    // One home that is followed like `watch`, and one that is used like `subscribe`.
    let watch = try await Home(options)
    let request = CommissioningRequest(passcode: passcode, target: .addresses([address]))
    let node = try await watch.pair(request).result.nodeID
    _ = try await watch.controller.read(node, [AttributePath()])

    func standingCount() async throws -> Int {
      try await loop.submit { device.value.host?.perform { engine, _ in engine.standingSubscriptions.count } ?? 0 }
        .get()
    }
    /// Returns the addresses from which the device's sessions were last used: each process has a port of its own.
    @Sendable func peers() async throws -> Set<MatterProtocol.SocketAddress> {
      try await loop.submit {
        Set(device.value.host?.perform { engine, _ in engine.core.sessions.map(\.peerAddress) } ?? [])
      }.get()
    }
    try await watch.follow()
    let subscriber = try await Home(options)
    let stream = subscriber.backend.subscribe(
      node, SubscriptionRequest(paths: [AttributePath(OnOff.onOff.path(on: 1))], events: [EventPath(isUrgent: true)]))
    let reports = Mutex(0)
    let listening = Task { [stream] in
      for try await news in stream { if case .attribute = news { reports.withLock { $0 += 1 } } }
    }
    #expect(try await eventually { try await standingCount() == 1 })
    let owner = try await peers()
    #expect(owner.count == 1)

    for round in 0..<3 {
      try await withThrowingTaskGroup { group in
        for number in 0..<6 {
          group.addTask { [options] in
            let command = try await Home(options)
            for _ in 0...(number % 2) {
              let report = try await command.backend.read(node, [AttributePath(OnOff.onOff.path(on: 1))])
              #expect(report.attributes.count == 1, "command \(number) of round \(round)")
              #expect(try await peers() == owner, "command \(number) of round \(round)")
            }
            await command.close()
          }
        }
        try await group.waitForAll()
      }
    }
    // On an overloaded machine the subscription may have been established anew, but it serves both processes.
    #expect(try await eventually { try await standingCount() == 1 })
    let before = reports.withLock(\.self)
    try await loop.submit { try device.value.set(OnOff.id, OnOff.onOff.id, [9], on: [1]) }.get()
    #expect(await eventually { reports.withLock { $0 > before } })
    listening.cancel()
    await subscriber.close()
    await watch.close()
    try await loop.submit { device.value.stop() }.get()
  }

  /// The owner has no service discovery, and knows only the former address of the device.
  @Test("the owner applies the timeout and the addresses of its clients") func clientOptions() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "shared-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let device = try await start(directory)
    let loop = device.eventLoop
    let (port, passcode) = try await loop.submit {
      (device.value.status.port, device.value.definition.passcode)
    }.get()
    var options = HomeController.Options(state: StateDirectory(directory + "/state"), logger: logger)
    options.discovery = .off
    let owner = try await Home(options)
    let node = try await owner.pair(
      CommissioningRequest(passcode: passcode, target: .addresses([SocketAddress(.loopback4, port: port)]))
    ).result.nodeID
    let (former, moved) = try await loop.submit {
      device.value.cutPower()
      let former = try HostMachine().openTransport(.loopback, port: port, on: loop)
      try device.value.restorePower()
      return (NIOLoopBound(former, eventLoop: loop), device.value.status.port)
    }.get()
    #expect(moved != port)

    let path = [AttributePath(OnOff.onOff.path(on: 1))]
    options.timeout = .milliseconds(500)
    let hurried = try await Home(options)
    let error = await #expect(throws: HomeError.self) { try await hurried.backend.read(node, path) }
    #expect(error?.message.contains("hub") == false, "the owner waited longer: \(String(describing: error))")
    await hurried.close()
    options.timeout = .seconds(60)
    options.addresses = [node: SocketAddress(.loopback4, port: moved)]
    let informed = try await Home(options)
    let report = try await informed.backend.read(node, path)
    #expect(report.attributes.count == 1)
    await informed.close()
    await owner.close()
    try await loop.submit {
      device.value.stop()
      former.value.close()
    }.get()
  }
}
