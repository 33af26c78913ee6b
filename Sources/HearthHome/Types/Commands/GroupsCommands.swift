public import HomeModel
public import MatterClusters
public import MatterModel

// The commands of Groups that have fields, with labels. Application Clusters § 1.3.

extension Trait where C == Groups {
  /// Application Clusters § 1.3.7.1.
  @discardableResult
  public func addGroup(
    groupID: GroupID, groupName: String
  ) async throws(HomeError) -> Groups.AddGroupResponse {
    try await invoke(Groups.addGroup, .init(groupID: groupID, groupName: groupName))
  }

  /// Application Clusters § 1.3.7.2.
  @discardableResult
  public func viewGroup(
    groupID: GroupID
  ) async throws(HomeError) -> Groups.ViewGroupResponse {
    try await invoke(Groups.viewGroup, .init(groupID: groupID))
  }

  /// Application Clusters § 1.3.7.3.
  @discardableResult
  public func getGroupMembership(
    groupList: [GroupID]
  ) async throws(HomeError) -> Groups.GetGroupMembershipResponse {
    try await invoke(Groups.getGroupMembership, .init(groupList: groupList))
  }

  /// Application Clusters § 1.3.7.4.
  @discardableResult
  public func removeGroup(
    groupID: GroupID
  ) async throws(HomeError) -> Groups.RemoveGroupResponse {
    try await invoke(Groups.removeGroup, .init(groupID: groupID))
  }

  /// Application Clusters § 1.3.7.6.
  public func addGroupIfIdentifying(
    groupID: GroupID, groupName: String
  ) async throws(HomeError) {
    try await invoke(Groups.addGroupIfIdentifying, .init(groupID: groupID, groupName: groupName))
  }
}
