package import HomeModel
internal import Logging
package import MatterController
internal import MatterProtocol
internal import NIOCore
internal import Runtime

// The groups of the home's fabric.
extension HomeController {
  /// The groups, by number.
  package var groups: [GroupRecord] { dispatcher.value.perform { engine, _ in engine.groups } }

  /// Creates a group without members.
  /// - Parameter id: the group id; nil selects a free one.
  package func createGroup(_ id: GroupID? = nil, name: String) throws(HomeError) -> GroupRecord {
    try change { engine, _ throws(ControllerError) in try engine.createGroup(id, name: name) }
  }

  /// Deleted groups that some members have not left yet, by number.
  package var deletedGroups: [GroupRecord] { dispatcher.value.perform { engine, _ in engine.deletedGroups } }

  /// Deletes a group and removes its keys, memberships and access entries from its members. A member that can't be
  /// reached leaves the group later.
  /// - Returns: the nodes that have not left the group yet.
  package func deleteGroup(_ id: GroupID) async throws(HomeError) -> [NodeID] {
    let deleted = try change { engine, _ throws(ControllerError) in try engine.deleteGroup(id) }
    await leaveDeletedGroups(deleted.holders)
    return deletedGroups.first { $0.id == id }?.holders ?? []
  }

  /// Removes the remaining keys, memberships and access entries of deleted groups from nodes.
  func leaveDeletedGroups(_ nodes: [NodeID]) async {
    let known = Set(self.nodes.map(\.nodeID))
    await withTaskGroup(of: Void.self) { tasks in
      for node in nodes where known.contains(node) { tasks.addTask { await self.leaveDeletedGroups(node) } }
    }
  }

  private func leaveDeletedGroups(_ node: NodeID) async {
    for group in deletedGroups where group.holders.contains(node) {
      do throws(HomeError) {
        _ = try await run("a group change", node) { engine, timeout, now in
          engine.leaveGroup(node, group.id, timeout: timeout, at: now)
        }
      } catch {
        options.logger.info(
          "a node has not left a deleted group yet",
          metadata: ["node": "\(node)", "group": "\(group.id)", "error": "\(error)"])
        if error.code == .unreachable || error.code == .timedOut { return }
      }
    }
  }

  /// Removes nodes with a new session from the groups that were deleted while they were unreachable. For a controller
  /// that is being closed.
  func leaveMissedGroups() async {
    let nodes = Set(deletedGroups.flatMap(\.holders)).intersection(newSessions).sorted()
    if !nodes.isEmpty { await leaveDeletedGroups(nodes) }
  }

  package func addMember(
    _ node: NodeID, endpoint: EndpointID, to group: GroupID
  ) async throws(HomeError) -> GroupRecord {
    try await record(node) { engine, timeout, now in
      engine.addMember(node, endpoint: endpoint, to: group, timeout: timeout, at: now)
    }
  }

  package func removeMember(
    _ node: NodeID, endpoint: EndpointID, from group: GroupID
  ) async throws(HomeError) -> GroupRecord {
    try await record(node) { engine, timeout, now in
      engine.removeMember(node, endpoint: endpoint, from: group, timeout: timeout, at: now)
    }
  }

  /// Sends a command to all members of a group. Group commands have no response.
  package func invoke(
    group: GroupID, cluster: ClusterID, command: CommandID, fields: [UInt8]? = [0x15, 0x18]
  ) throws(HomeError) {
    try change { engine, now throws(ControllerError) in
      try engine.invoke(group: group, cluster: cluster, command: command, fields: fields, at: now)
    }
  }

  /// Changes the members of a group, and returns the group.
  private func record(_ node: NodeID, _ start: NodeOperation) async throws(HomeError) -> GroupRecord {
    let outcome = try await run("a group change", node, start)
    guard case .groupChanged(let record) = outcome else { throw Self.unexpected(outcome) }
    return record
  }

  func change<R>(
    _ body: (inout ControllerEngine, Instant) throws(ControllerError) -> R
  ) throws(HomeError) -> R {
    let result: R
    do throws(ControllerError) { result = try dispatcher.value.perform(body) } catch { throw HomeError(error) }
    // The engine sends nothing if its state can't be stored.
    if let failure = dispatcher.value.storeFailure { throw HomeError(.internalError, "\(failure)", cause: failure) }
    return result
  }
}
