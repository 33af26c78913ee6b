import Logging
import MatterCrypto
import MatterProtocol
import NIOCore
import Runtime

@testable import VirtualDevices

/// Starts a device on an event loop without a network, calls `body` there, and stops the device.
func running<R: Sendable>(
  _ definition: DeviceDefinition, in directory: String, isFresh: Bool = false, rooms: Rooms = Rooms(),
  random: any RandomSource & Sendable = SeededRandomSource(seed: 1),
  _ body: @escaping @Sendable (VirtualDevice) throws -> R
) async throws -> R {
  let machine = HostMachine()
  let loop = machine.nextEventLoop()
  let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  return try await loop.submit {
    let discovery = try machine.openDiscovery(.off, .loopback, registry: nil, on: loop, logger: logger)
    defer { discovery.stop() }
    var environment = VirtualDevice.Environment(
      machine: machine, discovery: discovery, loop: loop, interfaces: .loopback, directory: directory, logger: logger)
    environment.rooms = rooms
    let device = try VirtualDevice(
      definition, port: definition.port, random: random, isFresh: isFresh, in: environment)
    defer { device.stop() }
    return try body(device)
  }.get()
}
