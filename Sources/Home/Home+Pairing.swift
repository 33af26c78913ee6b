internal import CloudLink
public import HomeControl
public import HomeModel
internal import MatterClusters
public import MatterController
internal import MatterModel
package import MatterProtocol
internal import Runtime

/// The result of pairing a device.
public struct PairedDevice: Sendable {
  /// The device in the home, with its name and room.
  public var device: DeviceRecord
  public var result: CommissioningResult

  /// Whether a device on the network, and not on loopback, has only a public test certificate, which proves no
  /// manufacturer.
  public var isTestDeviceOnNetwork: Bool { Self.isTestDeviceOnNetwork(result.attestation, at: result.address.ip) }

  package static func isTestDeviceOnNetwork(_ attestation: DeviceAttestation, at address: IPAddress) -> Bool {
    attestation == .test && !address.isLoopback
  }
}

extension Home {
  /// Commissions a device, reads its description, and names it. Must be called without the home's lock.
  /// - Parameter name: the name; nil: the name that the device reports.
  public static func pair(
    _ request: CommissioningRequest, name: String?, room: String?, _ options: HomeController.Options,
    onStep: @escaping @Sendable (CommissioningStep, StepProgress) -> Void
  ) async throws(HomeError) -> PairedDevice {
    try await owning(options) { home throws(HomeError) in
      try await home.pair(request, name: name, room: room, onStep: onStep)
    }
  }

  /// Commissions a device, reads its description, and names it. Requires exclusive access to the state.
  ///
  /// The name and room are stored before the commissioning begins: if this process ends at any point, the process that
  /// first reaches the device applies them.
  /// - Parameters:
  ///   - name: the name; nil: the name that the device reports.
  ///   - room: is created in the primary structure if there is none of this name; `structure/room` for another
  ///     structure.
  public func pair(
    _ request: CommissioningRequest, name: String? = nil, room: String? = nil,
    onStep: @escaping @Sendable (CommissioningStep, StepProgress) -> Void = { _, _ in }
  ) async throws(HomeError) -> PairedDevice {
    try await pair(request, name: name, room: room, origin: nil, onStep: onStep)
  }

  /// - Parameter origin: the client that asks for it; nil: the one that the home is opened for, if any.
  package func pair(
    _ request: CommissioningRequest, name: String?, room: String?, origin: String?,
    onStep: @escaping @Sendable (CommissioningStep, StepProgress) -> Void
  ) async throws(HomeError) -> PairedDevice {
    let controller = try controller
    // A name that can't be is to be found out before anything happens.
    let name = try name.map { name throws(HomeError) in try HomeNames.checked(name).name }
    var wished = PairingWish(name: name)
    if let room {
      wished.room = try await controller.state.roomToBe(called: room, controller.options.machine.makeRandom())
    }
    let wishes = try await controller.keep(wished, for: request)
    return try await attributing(Array(wishes.keys), to: origin) { [wished] () throws(HomeError) in
      try await pair(request, wished, wishes, origin: origin, onStep: onStep)
    }
  }

  /// - Parameter wishes: what holds for the device, by the ids of which it gets one.
  private func pair(
    _ request: CommissioningRequest, _ wished: PairingWish, _ wishes: [NodeID: PairingWish], origin: String?,
    onStep: @escaping @Sendable (CommissioningStep, StepProgress) -> Void
  ) async throws(HomeError) -> PairedDevice {
    let controller = try controller
    let result: CommissioningResult
    do throws(HomeError) {
      result = try await controller.commission(request, onStep: onStep)
    } catch {
      // Where they can't be forgotten now, the next pairing does it.
      try? await controller.forgetWishes(for: Array(wishes.keys))
      throw error
    }
    let node = result.nodeID
    var wish = wishes[node] ?? wished
    if let room = wish.room {
      wish.room = try await controller.change(origin: origin) { state throws(HomeError) in state.making(room) }
    }
    await controller.take(.node(node, wish: wish))
    // It is in the fabric already: what can't be read now does not undo that.
    _ = try? await controller.read(node, DeviceFacts.paths + DeviceState.paths)
    // Another process may have heard it meanwhile, which is not told here yet.
    var heard: DeviceRecord?
    if await controller.state.source(SourceID(node)) == nil {
      heard = try await controller.change(origin: origin) { [wish] state throws(HomeError) in
        (DeviceFacts.changes(node, result.information, wish, state), HomeRegistry(state).device(node))
      }
    }
    try await controller.forgetWishes(for: Array(wishes.keys))
    // It may have been there already, behind a bridge.
    guard let device = await registry.device(node) ?? heard else {
      throw HomeError(.internalError, "the device is in the fabric, but not in the home")
    }
    return PairedDevice(device: device, result: result)
  }

  /// Returns the result of the device's attestation at its pairing; nil if unknown, for example through a hub.
  public func attestation(of device: DeviceRecord) async -> DeviceAttestation? {
    guard let controller = backend as? HomeController else { return nil }
    return await controller.nodes.first { $0.nodeID == device.nodeID }?.attestation
  }

  /// Removes devices from the fabric and the home, one after the other. Must be called without the home's lock.
  /// - Returns: each device, and whether it left the fabric itself.
  public static func remove(
    _ texts: [String], force: Bool, _ options: HomeController.Options
  ) async throws(HomeError) -> [(device: DeviceRecord, result: Result<Removal, HomeError>)] {
    try await owning(options) { home throws(HomeError) in
      // One that never told what it is can be removed as well.
      let registry = HomeRegistry(await home.awaited().home)
      var devices: [DeviceRecord] = []
      // Device by device: a room or a wildcard is too much to remove by mistake.
      for text in texts {
        let device = try registry.resolve(text).device
        if !devices.contains(where: { $0.id == device.id }) { devices.append(device) }
      }
      var results: [(device: DeviceRecord, result: Result<Removal, HomeError>)] = []
      for device in devices {
        do throws(HomeError) {
          let removed = try await home.remove(device, force: force)
          results.append((removed.device, .success(removed.removal)))
        } catch {
          results.append((device, .failure(error)))
        }
      }
      return results
    }
  }

  /// Takes the device with this id out of the fabric and the home. To be called without the home's lock.
  package static func remove(
    device id: String, force: Bool, _ options: HomeController.Options
  ) async throws(HomeError) -> (device: DeviceRecord, removal: Removal) {
    try await remove(force: force, options) { registry throws(HomeError) in try registry.device(withID: id) }
  }

  /// Takes the device with this id out of the fabric and the home. For a home that has its state for itself.
  /// - Parameter origin: the client that asks for it.
  package func remove(
    device id: String, force: Bool, origin: String
  ) async throws(HomeError) -> (device: DeviceRecord, removal: Removal) {
    let device = try HomeRegistry(await awaited().home).device(withID: id)
    return try await attributing([device.nodeID] + device.ways.map(\.id.node), to: origin) { () throws(HomeError) in
      try await remove(device, force: force)
    }
  }

  private static func remove(
    force: Bool, _ options: HomeController.Options, _ find: (HomeRegistry) throws(HomeError) -> DeviceRecord
  ) async throws(HomeError) -> (device: DeviceRecord, removal: Removal) {
    try await owning(options) { home throws(HomeError) in
      // One that never told what it is can be removed as well.
      try await home.remove(try find(HomeRegistry(await home.awaited().home)), force: force)
    }
  }

  /// What is there by another way, too, stays by that way.
  package func remove(
    _ device: DeviceRecord, force: Bool
  ) async throws(HomeError) -> (device: DeviceRecord, removal: Removal) {
    let isNode = !device.isBridged && !device.nodeID.isTemporaryLocal
    guard let device = isNode ? device : device.by(where: { !$0.id.isBridged && !$0.id.isCloud }) else {
      if device.ways.allSatisfy(\.id.isCloud) {
        let account = try await controller.cloud(of: device.nodeID).account.name
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
    let controller = try controller
    var removal = Removal.unconfirmed
    do throws(HomeError) {
      removal = try await controller.remove(device.nodeID, force: force)
    } catch {
      // What the fabric does not know, the home need not know either.
      guard force && error.code == .notFound else {
        throw (force ? error : error.suggestingForce).about(device)
      }
      await controller.take(.nodeRemoved(device.nodeID))
    }
    // What it was to be called goes with it.
    try await controller.forgetWishes()
    return (device, removal)
  }
}

/// What is asked of a device when it was paired.
enum DeviceFacts {
  static let paths: [AttributePath] = [
    AttributePath(cluster: Descriptor.id), AttributePath(cluster: BridgedDeviceBasicInformation.id),
    AttributePath(endpoint: .root, cluster: BasicInformation.id),
  ]

  /// What commissioning itself learnt, for a device that tells nothing more now; nothing for one that has told by itself.
  static func changes(
    _ node: NodeID, _ information: DeviceInformation, _ wish: PairingWish, _ state: HomeState
  ) -> [HomeChange] {
    let source = SourceID(node)
    guard state.source(source) == nil else { return [] }
    var identity = DeviceIdentity()
    identity.vendorID = information.vendorID
    identity.productID = information.productID
    identity.vendorName = information.vendorName
    identity.productName = information.productName
    identity.serialNumber = information.serialNumber
    let endpoints = information.endpoints.map {
      DeviceEndpoint(id: $0.id, deviceTypes: $0.deviceTypes, parts: $0.parts)
    }
    let room = wish.room.flatMap { state.room($0.id) }
    let structure =
      room.flatMap { state.structure($0.structureID) } ?? state.primaryStructure ?? HomeReducer.firstStructure
    let id = state.availableID(for: source)
    let wanted = wish.name ?? identity.defaultName(by: source)
    return (state.structures.isEmpty ? [.structureAdded(structure)] : []) + [
      .deviceAdded(
        id: id, name: state.availableName(wanted, in: room?.id, of: structure.id, except: id), roomID: room?.id,
        structureID: structure.id),
      .sourceAdded(source, device: id), .topology(source, endpoints, identity),
    ]
  }
}

extension HomeRegistry {
  fileprivate func device(withID id: String) throws(HomeError) -> DeviceRecord {
    guard let device = devices.first(where: { $0.id == id }) else {
      throw HomeError(.notFound, "there is no device \(id) in the home")
    }
    return device
  }
}

extension HomeError {
  /// The same error of a removal that --force would not have failed with.
  fileprivate var suggestingForce: HomeError {
    guard [.refused, .accessDenied, .unreachable, .timedOut].contains(code), !message.contains("--force") else {
      return self
    }
    var copy = self
    copy.message += "; --force removes the device anyway"
    return copy
  }
}
