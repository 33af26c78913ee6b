package import HomeModel
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

  /// Opens a commissioning window.
  /// - Parameter replacesOpen: whether a window that is already open is closed first, instead of being an error.
  package func openWindow(
    _ node: NodeID, _ request: CommissioningWindowRequest, replacesOpen: Bool = false
  ) async throws(HomeError) -> CommissioningWindow {
    if replacesOpen { try await closeWindow(node) }
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

  /// Closes the commissioning window if one is open.
  private func closeWindow(_ node: NodeID) async throws(HomeError) {
    do throws(HomeError) {
      try await invoke(AdministratorCommissioning.revokeCommissioning, on: .root, of: node)
    } catch {
      let isClosed = error.status?.clusterCode == AdministratorCommissioning.StatusCodeEnum.windowNotOpen.rawValue
      guard isClosed else { throw error }
    }
  }

  package static func unexpected(_ outcome: OperationOutcome) -> HomeError {
    HomeError(.internalError, "the operation ended with the outcome of a different operation: \(outcome)")
  }
}
