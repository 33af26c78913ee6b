public import MatterController
public import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// Groups of our fabric. Making, changing and using them changes what is stored: that takes ``Access/exclusive``.
extension HomeController {
  /// The groups, by number.
  public var groups: [GroupRecord] { edge.value.perform { engine, _ in engine.groups } }

  /// Makes a group without members.
  /// - Parameter id: nil for one that is free.
  public func createGroup(_ id: GroupID? = nil, name: String) throws(HomeError) -> GroupRecord {
    try change { engine, _ throws(ControllerError) in try engine.createGroup(id, name: name) }
  }

  /// Forgets a group. Members that are left in it are not told.
  public func deleteGroup(_ id: GroupID) throws(HomeError) {
    try change { engine, _ throws(ControllerError) in try engine.deleteGroup(id) }
  }

  /// Makes an endpoint a member.
  public func addMember(
    _ node: NodeID, endpoint: EndpointID, to group: GroupID
  ) async throws(HomeError) -> GroupRecord {
    try checkAccess()
    let timeout = options.timeout
    let outcome = try await run("a change of its groups", node) { engine, now in
      engine.addMember(node, endpoint: endpoint, to: group, timeout: timeout, at: now)
    }
    return try record(outcome)
  }

  /// Takes an endpoint out of a group.
  public func removeMember(
    _ node: NodeID, endpoint: EndpointID, from group: GroupID
  ) async throws(HomeError) -> GroupRecord {
    try checkAccess()
    let timeout = options.timeout
    let outcome = try await run("a change of its groups", node) { engine, now in
      engine.removeMember(node, endpoint: endpoint, from: group, timeout: timeout, at: now)
    }
    return try record(outcome)
  }

  /// Has all members of a group carry out a command. Nobody answers.
  public func invoke(
    group: GroupID, cluster: ClusterID, command: CommandID, fields: [UInt8]? = [0x15, 0x18]
  ) throws(HomeError) {
    try change { engine, now throws(ControllerError) in
      try engine.invoke(group: group, cluster: cluster, command: command, fields: fields, at: now)
    }
  }

  private func record(_ outcome: OperationOutcome) throws(HomeError) -> GroupRecord {
    guard case .groupChanged(let record) = outcome else { throw Self.surprise(outcome) }
    return record
  }

  private func checkAccess() throws(HomeError) {
    guard options.access == .exclusive else {
      throw HomeError(.internalError, "groups take a controller that may store")
    }
  }

  private func change<R>(
    _ body: (inout ControllerEngine, Instant) throws(ControllerError) -> R
  ) throws(HomeError) -> R {
    try checkAccess()
    let result: R
    do throws(ControllerError) { result = try edge.value.perform(body) } catch { throw HomeError(error) }
    // What could not be stored was not sent either.
    if let failure = edge.value.storeFailure { throw HomeError(.internalError, "\(failure)", cause: failure) }
    return result
  }
}
