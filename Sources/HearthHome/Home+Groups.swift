internal import MatterClusters
package import MatterController

extension Home {
  /// The groups, by number.
  package var groups: [GroupRecord] { get async throws(HomeError) { try await allGroups.groups } }

  /// The groups, and the deleted groups that some members have not left yet, by number.
  package var allGroups: (groups: [GroupRecord], deleted: [GroupRecord]) {
    get async throws(HomeError) {
      try await backend.request(.groups) {
        if case .groups(let groups, let deleted) = $0 { (groups, deleted) } else { nil }
      }
    }
  }

  /// Creates a group without members.
  /// - Parameter id: the group id; nil selects a free one.
  package func createGroup(_ id: GroupID? = nil, name: String) async throws(HomeError) -> GroupRecord {
    try await backend.request(.createGroup(id: id, name: name)) { $0.group }
  }

  /// Deletes a group and removes its keys, memberships and access entries from its members. A member that can't be
  /// reached leaves the group later.
  /// - Returns: the nodes that have not left the group yet.
  package func deleteGroup(_ id: GroupID) async throws(HomeError) -> [NodeID] {
    try await backend.request(.deleteGroup(id: id)) { if case .groupDeleted(let pending) = $0 { pending } else { nil } }
  }

  /// Sends a command to all members of a group. Group commands have no response.
  package func invoke(
    group: GroupID, cluster: ClusterID, command: CommandID, fields: [UInt8]? = [0x15, 0x18]
  ) async throws(HomeError) {
    try await backend.perform(.invokeGroup(group: group, cluster: cluster, command: command, fields: fields))
  }

  /// Adds an endpoint of a device to a group, or removes it.
  package func change(_ group: GroupRecord, _ target: Target, isMember: Bool) async throws(HomeError) -> GroupRecord {
    let endpoint = try target.endpoint(serving: Groups.id)
    let node = target.device.nodeID
    return try await with(target.device) { () async throws(HomeError) in
      let request: HomeRequest =
        isMember
        ? .addMember(group: group.id, node: node, endpoint: endpoint)
        : .removeMember(group: group.id, node: node, endpoint: endpoint)
      return try await backend.request(request) { $0.group }
    }
  }
}

extension HomeReply {
  fileprivate var group: GroupRecord? { if case .group(let group) = self { group } else { nil } }
}
