import MatterClusters
import MatterModel

/// The Groups server, based on the node's shared group table. Application Clusters § 1.3.
public enum GroupsServer {
  private static let maximumNameLength = 16

  /// Returns the server, with the GroupNames feature.
  public static func make() -> ClusterServer {
    .shared(Groups.self, features: [Groups.groupNames], complete)
  }

  private static func complete(_ server: ClusterServer) -> ClusterServer {
    server
      .initial(Groups.nameSupport, .groupNames)
      .answer(Groups.addGroup) { context, request throws(StatusError) in
        .init(status: add(request.groupID, request.groupName, &context), groupID: request.groupID)
      }
      .on(Groups.addGroupIfIdentifying) { context, request throws(StatusError) in
        guard context[Identify.identifyTime] > 0 else { return }
        let status = add(request.groupID, request.groupName, &context)
        if status != .success { throw StatusError(status) }
      }
      .answer(Groups.viewGroup, view)
      .answer(Groups.getGroupMembership) { context, request throws(StatusError) in
        let mine = context.groupTable.groups(of: context.endpoint, fabric: context.subject.fabric)
        let wanted = request.groupList.isEmpty ? mine : mine.filter(request.groupList.contains)
        // § 1.3.7.9.1 allows a null capacity where endpoints share the table.
        return .init(capacity: .null, groupList: wanted)
      }
      .answer(Groups.removeGroup, remove)
      .on(Groups.removeAllGroups) { context, _ throws(StatusError) in
        for group in context.groupTable.groups(of: context.endpoint, fabric: context.subject.fabric) {
          _ = remove(&context, .init(groupID: group))
        }
      }
  }

  private static func add(_ group: GroupID, _ name: String, _ context: inout ServerContext) -> StatusCode {
    guard group > 0, name.utf8.count <= maximumNameLength else { return .constraintError }
    // A group can only be addressed with keys, so they must exist first (§ 1.3.7.1.3).
    let fabric = context.subject.fabric
    let hasKey = context[GroupKeyManagement.groupKeyMap, on: .root].contains {
      $0.groupId == group && $0.fabricIndex == fabric
    }
    guard hasKey else { return .unsupportedAccess }
    let isMember = context.groupTable.contains(group, fabric: fabric, endpoint: context.endpoint)
    guard isMember || !context.node.isFull(.groups) else { return .resourceExhausted }
    return context.groupTable.add(group, fabric: fabric, endpoint: context.endpoint, name: name)
      ? .success : .resourceExhausted
  }

  private static func view(
    _ context: inout ServerContext, _ request: Groups.ViewGroupRequest
  ) -> Groups.ViewGroupResponse {
    let entry = context.groupTable.entry(request.groupID, fabric: context.subject.fabric)
    if request.groupID == 0 {
      return .init(status: .constraintError, groupID: request.groupID, groupName: "")
    } else if let entry, entry.endpoints.contains(context.endpoint) {
      return .init(status: .success, groupID: request.groupID, groupName: entry.name)
    } else {
      return .init(status: .notFound, groupID: request.groupID, groupName: "")
    }
  }

  /// Removes the endpoint from the group, and the group's scenes.
  private static func remove(
    _ context: inout ServerContext, _ request: Groups.RemoveGroupRequest
  ) -> Groups.RemoveGroupResponse {
    guard request.groupID > 0 else { return .init(status: .constraintError, groupID: request.groupID) }
    let wasMember = context.groupTable.remove(
      request.groupID, fabric: context.subject.fabric, endpoint: context.endpoint)
    if wasMember { context.call(ScenesManagementServer.groupRemoved, request.groupID) }
    return .init(status: wasMember ? .success : .notFound, groupID: request.groupID)
  }
}
