public import MatterController
public import MatterProtocol

/// The result of pairing a device.
public struct PairedDevice: Sendable {
  /// The device in the home, with its name and room.
  package var device: DeviceRecord
  /// The id of the device in the home; see ``Home/device(id:)``.
  public var id: String { device.id }
  public var result: CommissioningResult

  /// Whether a device on the network, and not on loopback, has only a public test certificate, which proves no
  /// manufacturer.
  public var isTestDeviceOnNetwork: Bool { Self.isTestDeviceOnNetwork(result.attestation, at: result.address.ip) }

  package static func isTestDeviceOnNetwork(_ attestation: DeviceAttestation, at address: IPAddress) -> Bool {
    attestation == .test && !address.isLoopback
  }
}

extension Home {
  /// Commissions a device, and adds it to the home.
  /// - Parameters:
  ///   - name: the name; nil: the name that the device reports.
  ///   - room: the name of the room, or `structure/room` for another structure than the primary one. The room is created
  ///     if it doesn't exist.
  ///   - trust: additional attestation roots and declaration signers, besides the public test roots.
  public func pair(
    _ request: CommissioningRequest, name: String? = nil, room: String? = nil, trust: TrustStore? = nil,
    onStep: @escaping @Sendable (CommissioningStep, StepProgress) -> Void = { _, _ in }
  ) async throws(HomeError) -> PairedDevice {
    try await pair(request, name: name, room: room, trust: trust, origin: nil, onStep: onStep)
  }

  /// - Parameter origin: the calling client.
  package func pair(
    _ request: CommissioningRequest, name: String?, room: String?, trust: TrustStore?, origin: String?,
    onStep: @escaping @Sendable (CommissioningStep, StepProgress) -> Void
  ) async throws(HomeError) -> PairedDevice {
    let reply = try await backend.perform(
      .pair(request: request, name: name, room: room, trust: trust), origin: origin
    ) { if case .commissioning(let step, let progress) = $0 { onStep(step, progress) } }
    guard case .paired(let entry, let room, let result) = reply, let device = DeviceRecord(entry, room: room) else {
      throw .unexpectedReply
    }
    // The registry would compute the names of all devices, for each device that is paired.
    var paired = device.with { $0.id == SourceID(result.nodeID) } ?? device
    if await backend.hasOtherDevice(named: paired.name, than: paired.id) { paired.label = paired.fullName }
    return PairedDevice(device: paired, result: result)
  }

  /// Returns the result of the device's attestation at its pairing; nil if unknown.
  package func attestation(of device: DeviceRecord) async -> DeviceAttestation? {
    let reply = try? await backend.perform(.attestation(node: device.nodeID))
    return if case .attestation(let attestation)? = reply { attestation } else { nil }
  }

  /// Removes the device with this id from the fabric and the home.
  /// - Parameter origin: the calling client.
  /// - Returns: the device with the source that was removed.
  @discardableResult
  package func remove(device id: String, force: Bool, origin: String?) async throws(HomeError) -> DeviceRecord {
    guard let device = HomeRegistry(await state).devices.first(where: { $0.id == id }) else {
      throw HomeError(.notFound, "there is no device \(id) in the home")
    }
    return try await remove(device, force: force, origin: origin).device
  }

  /// Removes the node of a device. The other sources of the device remain.
  /// - Returns: the device with the source that was removed.
  package func remove(
    _ device: DeviceRecord, force: Bool, origin: String? = nil
  ) async throws(HomeError) -> (device: DeviceRecord, removal: Removal) {
    let isNode = !device.isBridged && !device.nodeID.isTemporaryLocal
    guard let device = isNode ? device : device.with(source: { !$0.id.isBridged && !$0.id.isCloud }) else {
      if device.entry.sources.allSatisfy(\.id.isCloud) {
        let account = try await cloudAccounts.first { $0.devices.contains(device.id) }?.name ?? ""
        throw HomeError(
          .badArguments,
          "a device of the cloud account “\(account)”; remove it there, or remove the account with "
            + "`hearth home cloud remove \(account)`", device: device.name)
      }
      throw HomeError(
        .badArguments,
        "a bridged device can't be removed alone; remove it from its bridge, or remove the bridge",
        device: device.name)
    }
    let removal = try await with(device) { () async throws(HomeError) in
      try await backend.request(.remove(node: device.nodeID, isForced: force), origin: origin) {
        if case .removed(let removal) = $0 { removal } else { nil }
      }
    }
    return (device, removal)
  }

  // MARK: Discovery

  /// Discovers services for the given time; nil: until the iteration ends.
  public func discover(_ query: DiscoveryQuery, for time: Duration?) -> AsyncThrowingStream<DiscoveryEvent, any Error> {
    backend.discover(query, for: time)
  }
}
