import Foundation
import Logging
import MatterCrypto
import NIOCore
import Runtime
import Testing

@testable import VirtualDevices

/// The UDP port of a device that has none of its own by definition.
@Suite("Ports of devices", .serialized) struct StoredPortTests {
  private func definition(_ port: UInt16? = nil) throws -> DeviceDefinition {
    let port = port.map { ", port: \($0)" } ?? ""
    return try #require(
      try HomeDefinition.load(simulating: [("home.yaml", "devices:\n  - { name: Lamp, type: plug\(port) }\n")]).devices
        .first)
  }

  /// Starts the device, gives its port, and stops it.
  private func port(_ directory: String, _ definition: DeviceDefinition, isFresh: Bool = false) async throws -> UInt16 {
    let machine = HostMachine()
    let loop = machine.nextEventLoop()
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    return try await loop.submit {
      let discovery = try machine.openDiscovery(.off, .loopback, registry: nil, on: loop, logger: logger)
      defer { discovery.stop() }
      let surroundings = VirtualDevice.Surroundings(
        machine: machine, discovery: discovery, loop: loop, interfaces: .loopback, directory: directory, logger: logger)
      let device = try VirtualDevice(
        definition, port: definition.port, random: SystemRandomSource(), isFresh: isFresh, in: surroundings)
      defer { device.stop() }
      return device.status.port
    }.get()
  }

  @Test("stay the same over restarts") func restarts() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "ports-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let first = try await port(directory, try definition())
    #expect(first > 0)
    for _ in 0..<3 { #expect(try await port(directory, try definition()) == first) }

    // The port is taken: another one, which is kept from then on.
    let machine = HostMachine()
    let loop = machine.nextEventLoop()
    let taken = try await loop.submit {
      NIOLoopBound(try machine.openTransport(.loopback, port: first, on: loop), eventLoop: loop)
    }.get()
    let second = try await port(directory, try definition())
    #expect(second != first && second > 0)
    try await loop.submit { taken.value.close() }.get()
    #expect(try await port(directory, try definition()) == second)

    // The definition's port is used as it is, and does not count for later.
    #expect(try await port(directory, try definition(first)) == first)
    #expect(try await port(directory, try definition()) == second)
  }

  @Test("a taken port of a definition is an error, and the state can be used again") func taken() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "ports-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let machine = HostMachine()
    let loop = machine.nextEventLoop()
    let taken = try await loop.submit {
      NIOLoopBound(try machine.openTransport(.loopback, port: nil, on: loop), eventLoop: loop)
    }.get()
    let number = try await loop.submit { taken.value.port }.get()
    await #expect(throws: NetworkError.self) { try await port(directory, try definition(number)) }
    try await loop.submit { taken.value.close() }.get()
    #expect(try await port(directory, try definition(number)) == number)
  }
}
