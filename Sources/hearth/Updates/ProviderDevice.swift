import HearthHome
import Logging
import MatterClusters
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
  private typealias Requestor = OtaSoftwareUpdateRequestor

  /// Runs the body with a provider, which is a device of the home meanwhile.
  static func run<R>(
    _ images: [SoftwareImage], fault: String?, _ options: some HomeOpening, in session: Home,
    _ body: (DeviceRecord) async throws -> R
  ) async throws -> R {
    var definition = try HomeDefinition.load(
      simulating: [(name: "ota", text: "devices:\n  - { name: Software Provider, type: OTA provider }\n")])
    for index in definition.devices.indices {
      definition.devices[index].images = images.map { ProvidedImage($0) }
      guard let fault else { continue }
      if let expected = FaultReading.set(.update, to: fault, of: .otaProvider, in: &definition.devices[index].faults) {
        throw HomeError(.badArguments, "--fault: found “\(fault)”, expected \(expected)")
      }
    }
    guard let device = definition.devices.first else { throw HomeError(.internalError, "no provider") }
    let known = await session.registry.devices.first { $0.identity.uniqueID == device.uniqueID }
    let state = try options.global.stateDirectory
    var fleetOptions = FleetOptions(devicesDirectory: state.devices, runDirectory: state.run)
    fleetOptions.interfaces = try options.network.interfaces(state)
    fleetOptions.discovery = options.network.mdns
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
    let result = await Result {
      let record = try await provider.record(known, in: session)
      let result = await Result { try await body(record) }
      // Its images are those of this run. The task of an interrupted command can't send requests.
      await Task { _ = try? await session.remove(record, force: true) }.value
      return try result.get()
    }
    await fleet.stop()
    return try result.get()
  }

  /// Updates a device with an image from a provider that runs until the device has the version of the image.
  /// - Throws: `refused` if the update fails, `timedOut` if it does not end.
  static func update(
    _ device: DeviceRecord, with image: SoftwareImage, fault: String? = nil, _ options: some HomeOpening,
    in session: Home
  ) async throws -> SoftwareStatus {
    try await run([image], fault: fault, options, in: session) { provider in
      let earlier = await events(of: device, session)?.map(\.number).max()
      try await session.announce(provider, to: device)
      return try await follow(device, to: image.header.softwareVersion, since: earlier, session, options.output)
    }
  }

  private static let interval = Duration.milliseconds(500)
  /// The numbers of intervals in which an update must begin, and end.
  private static let limits = (start: 20, end: 1200)

  /// Waits until the device has the version.
  /// - Parameter earlier: The number of the last event before the update.
  private static func follow(
    _ device: DeviceRecord, to version: UInt32, since earlier: UInt64?, _ session: Home, _ output: Output
  ) async throws -> SoftwareStatus {
    var (last, hasStarted) = ("", false)
    for count in 0..<limits.end {
      try await Task.sleep(for: interval)
      // The device does not answer while it restarts.
      guard let status = try? await session.softwareStatus(of: device) else { continue }
      if status.version == version { return status }
      let text = status.state + (status.progress.map { " \($0)%" } ?? "")
      if text != last, !status.isIdle { output.progress("  \(text)") }
      last = text
      hasStarted = hasStarted || !status.isIdle
      guard status.isIdle else { continue }
      if hasStarted || count >= limits.start {
        let events = await events(of: device, session)?.filter { $0.number > earlier ?? 0 }
        throw HomeError(
          .refused, events.map { failure($0) } ?? "the update failed, for an unknown reason", device: device.name)
      }
    }
    throw HomeError(.timedOut, "the update did not end", device: device.name)
  }

  /// Returns the events of updates that the device has recorded; nil if they can't be read, for example because the
  /// device permits no further subscription.
  private static func events(of device: DeviceRecord, _ session: Home) async -> [EventData]? {
    let paths = [Requestor.stateTransition.id, Requestor.downloadError.id].map {
      EventPath(endpoint: .root, cluster: Requestor.id, event: $0)
    }
    var found: [EventData] = []
    do {
      for try await update in session.backend.subscribe(device.nodeID, SubscriptionRequest(events: paths)) {
        switch update {
        case .event(let event): found.append(event)
        case .reportEnd, .established: return found
        case .lost: return nil
        case .attribute, .status: break
        }
      }
    } catch { return nil }
    return found
  }

  /// Returns why an update ended without the new version.
  private static func failure(_ events: [EventData]) -> String {
    func payloads<Payload: ModelStruct>(_ event: MatterModel.Event<Requestor, Payload>) -> [Payload] {
      events.filter { $0.path.event == event.id }.compactMap { $0.payload.flatMap { try? Payload(tlv: $0) } }
    }
    let transitions = payloads(Requestor.stateTransition)
    guard let end = transitions.last(where: { $0.newState == .idle }) else { return "the update did not begin" }
    if transitions.contains(where: { $0.newState == .rollingBack }) {
      return "the update failed: the new version does not start, so that the device continues with the old one"
    }
    if end.previousState == .querying, end.reason == .success { return "the provider has no newer image for it" }
    let bytes = payloads(Requestor.downloadError).last.map { ", after \($0.bytesDownloaded) bytes of the image" } ?? ""
    return "the update failed in the state \(end.previousState): \(end.reason)\(bytes)"
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
