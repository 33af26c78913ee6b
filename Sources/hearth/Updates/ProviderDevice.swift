import HearthHome
import Logging
import MatterController
import MatterDevice
import MatterModel
import MatterProtocol
import NIOCore
import NIOPosix
import Runtime
import VirtualDevices

/// A provider of software that runs in this process, as a device of the home.
struct ProviderDevice {
  private let definition: DeviceDefinition
  private let fleet: Fleet
  private let isOnLoopback: Bool

  /// Runs the body with a provider, which is commissioned into the home first unless it is one of its devices already.
  static func run<R>(
    _ images: [SoftwareImage], fault: String?, _ options: HomeOptions, in session: Home,
    _ body: (DeviceRecord) async throws -> R
  ) async throws -> R {
    var definition = try HomeDefinition.load(
      simulating: [(name: "ota", text: "devices:\n  - { name: Software Provider, type: OTA provider }\n")])
    for index in definition.devices.indices {
      definition.devices[index].images = images.map { ProvidedImage($0) }
      guard let fault else { continue }
      if let expected = FaultReading.set(.update, to: fault, in: &definition.devices[index].faults) {
        throw HomeError(.badArguments, "--fault: found “\(fault)”, expected \(expected)")
      }
    }
    guard let device = definition.devices.first else { throw HomeError(.internalError, "no provider") }
    let known = await session.registry.devices.first { $0.identity.uniqueID == device.uniqueID }
    let state = try options.global.stateDirectory
    var fleetOptions = FleetOptions(devicesDirectory: state.devices, runDirectory: state.run)
    fleetOptions.interfaces = try options.network.interfaces(state)
    fleetOptions.discovery = options.network.mdns.mode
    // A provider that the home does not know may still have the fabric of a home that was removed.
    fleetOptions.isFresh = known == nil
    var logger = options.global.logger
    if !options.global.quiet { logger.logLevel = min(logger.logLevel, .info) }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    defer { group.shutdownGracefully { _ in } }
    let fleet: Fleet
    do { fleet = try await Fleet.start(definition, fleetOptions, on: group, logger: logger) } catch {
      throw HomeError(starting: error)
    }
    let provider = ProviderDevice(
      definition: device, fleet: fleet, isOnLoopback: fleetOptions.interfaces == .loopback)
    do {
      let result = try await body(try await provider.record(known, in: session))
      await fleet.stop()
      return result
    } catch {
      await fleet.stop()
      throw error
    }
  }

  /// Returns the provider as a device of the home.
  private func record(_ known: DeviceRecord?, in session: Home) async throws -> DeviceRecord {
    guard let status = try await fleet.status().devices.first else { throw HomeError(.internalError, "no provider") }
    if let known {
      if !status.fabrics.isEmpty { return known }
      // Its state was erased.
      _ = try await session.remove(known, force: true)
    }
    let loopback = [IPAddress.loopback6, .loopback4].map { MatterProtocol.SocketAddress($0, port: status.port) }
    let request = CommissioningRequest(
      passcode: definition.passcode,
      target: isOnLoopback ? .addresses(loopback) : .discriminator(.long(definition.discriminator)))
    return try await session.pair(request, name: definition.name).device
  }
}
