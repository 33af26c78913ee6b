package import HomeModel
internal import MatterClusters
package import MatterController
package import MatterModel
internal import MatterProtocol
internal import Runtime

// Adding nodes to the fabric and the home, and removing them.
extension HomeController {
  /// Commissions a device, reads its description, and names it.
  ///
  /// The name and room are stored before the commissioning begins: if the process ends during it, the next process
  /// applies them when it first reaches the device.
  /// - Parameters:
  ///   - name: the name; nil: the name that the device reports.
  ///   - room: the name of the room, or `structure/room` for another structure than the primary one. The room is
  ///     created if it doesn't exist.
  ///   - origin: the calling client; nil: the client that the home is opened for, if any.
  package func pair(
    _ request: CommissioningRequest, name: String?, room: String?, trust: TrustStore?, origin: String?,
    onStep: @escaping @Sendable (CommissioningStep, StepProgress) -> Void
  ) async throws(HomeError) -> HomeReply {
    // An invalid name is rejected before anything happens.
    let name = try name.map { name throws(HomeError) in try HomeNames.checked(name).name }
    var wished = PairingWish(name: name)
    if let room { wished.room = try state.roomToBe(called: room, options.machine.makeRandom()) }
    let wishes = try await keep(wished, for: request)
    attribute(Array(wishes.keys), to: origin)
    defer { attribute(Array(wishes.keys), to: nil) }
    let result: CommissioningResult
    do throws(HomeError) {
      result = try await commission(request, trust: trust, onStep: onStep)
    } catch {
      // The next pairing deletes them if this fails.
      try? await forgetWishes(for: Array(wishes.keys))
      throw error
    }
    let node = result.nodeID
    var wish = wishes[node] ?? wished
    if let room = wish.room {
      wish.room = try await change(origin: origin) { state throws(HomeError) in state.making(room) }
    }
    take(.node(node, wish: wish))
    // A failure of the read is ignored, because the device has joined the fabric.
    _ = try? await read(node, DeviceFacts.paths)
    // If the read failed, the device is added with the information from its commissioning.
    var stored: (device: DeviceEntry, room: String?)?
    if state.source(SourceID(node)) == nil {
      stored = try await change(origin: origin) { [wish] state throws(HomeError) in
        let changes = DeviceFacts.changes(node, result.information, wish, state)
        var after = state
        for change in changes { after.apply(change) }
        return (changes, after.namedDevice(node))
      }
    }
    try await forgetWishes(for: Array(wishes.keys))
    // A device that was in the home before, behind a bridge, keeps its entry.
    guard let (device, room) = state.namedDevice(node) ?? stored else {
      throw HomeError(.internalError, "the device is in the fabric, but not in the home")
    }
    return .paired(device: device, room: room, result: result)
  }

  /// Removes a node from the fabric and the home. The other sources of its device remain.
  /// - Parameters:
  ///   - force: whether to remove the node even if it can't be reached.
  ///   - origin: the calling client.
  package func remove(_ node: NodeID, force: Bool, origin: String?) async throws(HomeError) -> Removal {
    attribute([node], to: origin)
    defer { attribute([node], to: nil) }
    var removal = Removal.unconfirmed
    do throws(HomeError) {
      removal = try await removeFromFabric(node, force: force)
    } catch {
      // With `force`, a node that is only in the home is removed from it.
      guard force && error.code == .notFound else { throw force ? error : error.suggestingForce }
      take(.nodeRemoved(node))
    }
    try await forgetWishes()
    return removal
  }
}

extension HomeState {
  /// The device of a node, and the name of its room.
  fileprivate func namedDevice(_ node: NodeID) -> (device: DeviceEntry, room: String?)? {
    device(of: SourceID(node)).map { ($0, $0.roomID.flatMap { room($0)?.name }) }
  }
}

/// The description and state of a device that are read at its pairing.
enum DeviceFacts {
  static let paths: [AttributePath] = [
    AttributePath(cluster: Descriptor.id), AttributePath(cluster: BridgedDeviceBasicInformation.id),
    AttributePath(endpoint: .root, cluster: BasicInformation.id), AttributePath(cluster: OnOff.id),
    AttributePath(cluster: LevelControl.id), AttributePath(cluster: ColorControl.id),
  ]

  /// Returns the changes that add a device with the information from its commissioning; none if the description of the
  /// device has been read.
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

extension HomeError {
  /// Returns the error of a removal with the hint that --force would succeed.
  fileprivate var suggestingForce: HomeError {
    guard [.refused, .accessDenied, .unreachable, .timedOut].contains(code), !message.contains("--force") else {
      return self
    }
    var copy = self
    copy.message += "; --force removes the device anyway"
    return copy
  }
}
