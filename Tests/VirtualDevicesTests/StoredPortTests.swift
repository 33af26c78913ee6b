import Foundation
import MatterCrypto
import NIOCore
import Runtime
import Testing

@testable import VirtualDevices

/// The UDP port of a device whose definition has none.
@Suite("Device ports", .serialized) struct StoredPortTests {
  private func definition(_ port: UInt16? = nil) throws -> DeviceDefinition {
    let port = port.map { ", port: \($0)" } ?? ""
    return try #require(
      try HomeDefinition.load(simulating: [("home.yaml", "devices:\n  - { name: Lamp, type: plug\(port) }\n")]).devices
        .first)
  }

  /// Starts the device, returns its port, and stops it.
  private func port(_ directory: String, _ definition: DeviceDefinition, isFresh: Bool = false) async throws -> UInt16 {
    try await running(definition, in: directory, isFresh: isFresh, random: SystemRandomSource()) { $0.status.port }
  }

  @Test("keeps the port across restarts") func restarts() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "ports-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let first = try await port(directory, try definition())
    #expect(first > 0)
    for _ in 0..<3 { #expect(try await port(directory, try definition()) == first) }

    // If the port is in use, another one is chosen and kept.
    let machine = HostMachine()
    let loop = machine.nextEventLoop()
    let taken = try await loop.submit {
      NIOLoopBound(try machine.openTransport(.loopback, port: first, on: loop), eventLoop: loop)
    }.get()
    let second = try await port(directory, try definition())
    #expect(second != first && second > 0)
    try await loop.submit { taken.value.close() }.get()
    #expect(try await port(directory, try definition()) == second)

    // The port of the definition is used without being stored.
    #expect(try await port(directory, try definition(first)) == first)
    #expect(try await port(directory, try definition()) == second)
  }

  @Test("reports a port in use, and releases the state") func taken() async throws {
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
