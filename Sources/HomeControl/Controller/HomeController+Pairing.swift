package import HomeModel
internal import HomeStore
internal import MatterCertificates
internal import MatterClusters
package import MatterController
internal import MatterProtocol
internal import NIOCore
internal import Runtime

// Adding nodes to the fabric and the home, and removing them.
extension HomeController {
  /// Commissions a device, adds it to the home with its name and room in the same transaction, and reads its state.
  /// - Parameters:
  ///   - name: the name; nil: the name that the device reports.
  ///   - room: the name of the room, or `structure/room` for another structure than the primary one. The room is
  ///     created if it doesn't exist.
  ///   - trust: trusted in addition to the public test roots.
  ///   - origin: the calling client; nil: the client that the home is opened for, if any.
  package func pair(
    _ request: CommissioningRequest, name: String?, room: String?, trust: TrustStore?, origin: String?,
    onStep: @escaping @Sendable (CommissioningStep, StepProgress) -> Void
  ) async throws(HomeError) -> HomeReply {
    // An invalid name is rejected before anything happens.
    let name = try name.map { name throws(HomeError) in try HomeNames.checked(name).name }
    var placement = DevicePlacement(name: name)
    if let room { placement.room = try state.roomToBe(called: room, options.machine.makeRandom()) }
    let acceptsTestKeys = try await withDatabase { try $0.settings().trustsTestDevices }
    var verifier = dispatcher.value.perform { engine, _ in engine.configuration.attestation }
    trust?.extend(&verifier)
    verifier.acceptsTestKeys = verifier.acceptsTestKeys && acceptsTestKeys
    var request = request
    request.attestation = verifier
    let outcome = try await run(
      "its commissioning",
      onEvent: {
        if case .commissioningStep(_, let step, let progress) = $0 { onStep(step, progress) }
      }
    ) { [request, placement] (engine: inout HomeEngine, now) in
      engine.commission(request, placement, origin: origin, at: now)
    }
    guard case .commissioned(let result) = outcome else { throw Self.unexpected(outcome) }
    defer { attribute(result.nodeID, to: nil) }
    // The device is in the home already: a failure of the reading does not undo that.
    _ = try? await read(result.nodeID, Self.stateAtPairing)
    // It may have been in the home before, behind a bridge.
    guard let device = state.device(of: SourceID(result.nodeID)) else {
      throw HomeError(.notFound, "the device was removed during its pairing")
    }
    return .paired(device: device, room: device.roomID.flatMap { state.room($0)?.name }, result: result)
  }

  /// The state of a device that is read at its pairing.
  private static let stateAtPairing: [AttributePath] = [
    AttributePath(cluster: OnOff.id), AttributePath(cluster: LevelControl.id), AttributePath(cluster: ColorControl.id),
  ]

  /// Removes a node from the fabric and the home. The other sources of its device remain.
  /// - Parameters:
  ///   - force: whether to remove the node even if it can't be reached.
  ///   - origin: the calling client.
  /// - Returns: whether the device itself left the fabric.
  package func remove(_ node: NodeID, force: Bool, origin: String?) async throws(HomeError) -> Removal {
    attribute(node, to: origin)
    defer { attribute(node, to: nil) }
    do throws(HomeError) {
      let outcome = try await run("its removal", node) { engine, timeout, now in
        engine.removeNode(node, force: force, timeout: timeout, at: now)
      }
      guard case .removed(_, let removal) = outcome else { throw Self.unexpected(outcome) }
      return removal
    } catch {
      // With `force`, a node that is only in the home is removed from it.
      guard force && error.code == .notFound else { throw force ? error : error.suggestingForce }
      let state = dispatcher.value.reducer.state
      guard state.values[node] != nil || !state.sources(of: node).isEmpty else { throw error }
      process(.nodeRemoved(node))
      try await flush()
      return .unconfirmed
    }
  }

  /// Attributes the following changes of a node to a client; nil: to none.
  private func attribute(_ node: NodeID, to origin: String?) {
    dispatcher.value.host.perform { (engine: inout HomeEngine, _) in engine.attribute(node, to: origin) }
  }
}

extension HomeError {
  /// Returns the error of a removal with the hint that --force would succeed.
  fileprivate var suggestingForce: HomeError {
    guard [.refused, .accessDenied, .unreachable, .timedOut].contains(code), hint?.contains("--force") != true else {
      return self
    }
    let force = "--force removes the device anyway"
    return modified(self) { $0.hint = hint.map { "\($0); \(force)" } ?? force }
  }
}
