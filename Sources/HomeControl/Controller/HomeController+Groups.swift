internal import HomeModel
internal import Logging
internal import MatterController
internal import MatterProtocol
internal import NIOCore
internal import Runtime

// The groups of the home's fabric.
extension HomeController {
  /// The groups, by number.
  var groups: [GroupRecord] { dispatcher.value.perform { engine, _ in engine.groups } }

  /// Deleted groups that some members have not left yet, by number.
  var deletedGroups: [GroupRecord] { dispatcher.value.perform { engine, _ in engine.deletedGroups } }

  /// Deletes a group and removes its keys, memberships and access entries from its members. A member that can't be
  /// reached leaves the group later.
  /// - Returns: the nodes that have not left the group yet.
  func deleteGroup(_ id: GroupID) async throws(HomeError) -> [NodeID] {
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

  /// Changes the members of a group, and returns the group.
  func changeMembers(_ node: NodeID, _ start: NodeOperation) async throws(HomeError) -> GroupRecord {
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
