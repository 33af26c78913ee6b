import Foundation
import Logging
import MatterClusters
import MatterController
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Synchronization
import Testing
import VirtualDevices

@testable import HearthHome
@testable import HomeControl
@testable import HomeStore

/// Several processes of one home with a device that keeps three sessions per peer.
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

  @Test("concurrent commands end no subscription") func commands() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "shared-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let device = try await start(directory)
    let loop = device.eventLoop
    var options = HomeController.Options(state: StateDirectory(directory + "/state"), logger: logger)
    options.address = SocketAddress(.loopback4, port: try await loop.submit { device.value.status.port }.get())
    let passcode = try await loop.submit { device.value.definition.passcode }.get()
    let address = try #require(options.address)
    // One home that is followed like `watch`, and one that is used like `subscribe`.
    let watch = try await Home(options)
    let request = CommissioningRequest(passcode: passcode, target: .addresses([address]))
    let node = try await watch.pair(request).result.nodeID
    _ = try await watch.controller.read(node, [AttributePath()])

    /// Returns the IDs of the device's subscriptions.
    func standing() async throws -> Set<UInt32> {
      try await loop.submit {
        Set(device.value.host?.perform { engine, _ in engine.standingSubscriptions } ?? [])
      }.get()
    }
    try await watch.follow()
    let subscriber = try await Home(options)
    let losses = Mutex(0)
    let stream = await subscriber.backend.subscribe(
      node, SubscriptionRequest(paths: [AttributePath(OnOff.onOff.path(on: 1))], events: [EventPath(isUrgent: true)]))
    let listening = Task { [stream] in
      for try await news in stream { if case .lost = news { losses.withLock { $0 += 1 } } }
    }
    #expect(try await eventually { try await standing().count == 1 })
    let before = try await standing()

    for round in 0..<3 {
      try await withThrowingTaskGroup { group in
        for number in 0..<6 {
          group.addTask { [options] in
            let command = try await Home(options)
            for _ in 0...(number % 2) {
              let report = try await command.backend.read(node, [AttributePath(OnOff.onOff.path(on: 1))])
              #expect(report.attributes.count == 1, "command \(number) of round \(round)")
            }
            await command.close()
          }
        }
        try await group.waitForAll()
      }
    }
    #expect(try await standing() == before)
    #expect(losses.withLock(\.self) == 0)
    listening.cancel()
    await subscriber.close()
    await watch.close()
    try await loop.submit { device.value.stop() }.get()
  }
}
