package import HomeModel
internal import HomeStore
internal import MatterCertificates
internal import MatterClusters
package import MatterController
package import MatterProtocol
internal import NIOCore

// Requests to nodes. Errors of the engine and error statuses of the device are converted to `HomeError`.
extension HomeController {
  /// Reads attributes; the paths may have wildcards. Errors of single paths are in the report's statuses.
  package func read(
    _ node: NodeID, _ paths: [AttributePath], isFabricFiltered: Bool = true, timeout: Duration? = nil
  ) async throws(HomeError) -> ReassembledReport {
    if node.isTemporaryLocal { return try await readCloud(node, paths) }
    let outcome = try await run("a read request", node) { engine, usual, now in
      engine.read(node, paths, isFabricFiltered: isFabricFiltered, timeout: timeout ?? usual, at: now)
    }
    guard case .report(let report) = outcome else { throw Self.unexpected(outcome) }
    return report
  }

  /// Writes attributes and returns the status of each write.
  /// - Parameter isTimed: whether to use a timed interaction.
  package func write(
    _ node: NodeID, _ writes: [AttributeWrite], isTimed: Bool = false
  ) async throws(HomeError) -> [AttributeStatus] {
    if node.isTemporaryLocal { return try await writeCloud(node, writes) }
    let outcome = try await run("a write request", node) { engine, timeout, now in
      engine.write(
        node, writes, timed: isTimed ? ControllerEngine.usualTimedTimeout : nil, timeout: timeout, at: now)
    }
    guard case .written(let statuses) = outcome else { throw Self.unexpected(outcome) }
    return statuses
  }

  /// Invokes a command.
  /// - Returns: the response command, or nil if the response is only a status.
  /// - Throws: `refused` or `accessDenied` if the status is not success.
  package func invoke(
    _ node: NodeID, _ command: CommandData, isTimed: Bool = false
  ) async throws(HomeError) -> CommandData? {
    try await invoke(node, command, timed: isTimed ? ControllerEngine.usualTimedTimeout : nil)
  }

  /// Does the same with other timeouts.
  /// - Parameters:
  ///   - timed: the timeout of the timed interaction; nil: an untimed one.
  ///   - timeout: the timeout of the request; nil: the usual one.
  package func invoke(
    _ node: NodeID, _ command: CommandData, timed: Duration?, timeout: Duration? = nil
  ) async throws(HomeError) -> CommandData? {
    if node.isTemporaryLocal {
      try await invokeCloud(node, command)
      return nil
    }
    let outcome = try await run(
      "\(ElementNames.cluster(command.path.cluster)).\(ElementNames.command(command.path.command, of: command.path.cluster))",
      node
    ) { engine, usual, now in
      engine.invoke(node, [command], timed: timed, timeout: timeout ?? usual, at: now)
    }
    guard case .invoked(let results) = outcome else { throw Self.unexpected(outcome) }
    switch results.first {
    case .command(let data)?: return data
    case .status(let status)?:
      guard status.status.code == .success else { throw HomeError(status.status, of: command.path.cluster) }
      return nil
    case nil: throw HomeError(.refused, "the device did not answer the command")
    }
  }

  /// Commissions a device into this home's fabric, and adds it to the home.
  /// - Parameters:
  ///   - placement: the requested name and room.
  ///   - trust: trusted in addition to the public test roots.
  ///   - origin: the calling client.
  package func commission(
    _ request: CommissioningRequest, _ placement: DevicePlacement, trust: TrustStore?, origin: String?,
    onStep: @escaping @Sendable (CommissioningStep, StepProgress) -> Void
  ) async throws(HomeError) -> CommissioningResult {
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
    ) { [request] (engine: inout HomeEngine, now) in engine.commission(request, placement, origin: origin, at: now) }
    guard case .commissioned(let result) = outcome else { throw Self.unexpected(outcome) }
    return result
  }

  /// Removes a node from this home's fabric.
  /// - Parameter force: whether to remove the node even if it can't be reached.
  /// - Returns: whether the device itself left the fabric.
  func removeFromFabric(_ node: NodeID, force: Bool) async throws(HomeError) -> Removal {
    let outcome = try await run("its removal", node) { engine, timeout, now in
      engine.removeNode(node, force: force, timeout: timeout, at: now)
    }
    guard case .removed(_, let removal) = outcome else { throw Self.unexpected(outcome) }
    return removal
  }

  /// Opens a commissioning window.
  package func openWindow(
    _ node: NodeID, _ request: CommissioningWindowRequest
  ) async throws(HomeError) -> CommissioningWindow {
    let outcome: OperationOutcome
    do throws(HomeError) {
      outcome = try await run("the opening of a commissioning window", node) { engine, timeout, now in
        engine.openCommissioningWindow(node, request, timeout: timeout, at: now)
      }
    } catch {
      guard let status = error.status else { throw error }
      throw HomeError(status, of: AdministratorCommissioning.id)
    }
    guard case .windowOpened(let window) = outcome else { throw Self.unexpected(outcome) }
    return window
  }

  package static func unexpected(_ outcome: OperationOutcome) -> HomeError {
    HomeError(.internalError, "the operation ended with the outcome of a different operation: \(outcome)")
  }
}
