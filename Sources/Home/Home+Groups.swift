internal import HomeControl
public import HomeModel
internal import MatterClusters
public import MatterController
internal import MatterModel

extension Home {
  /// Returns the group with this name or number.
  /// - Throws: `notFound`; `ambiguousTarget` if several groups have the name.
  public func group(_ text: String) async throws(HomeError) -> GroupRecord {
    let groups = try await controller.groups
    if let number = HomeRegistry.number(text), let found = groups.first(where: { $0.id.rawValue == number }) {
      return found
    }
    let named = groups.filter { $0.name.lowercased() == text.lowercased() }
    guard named.count <= 1 else {
      throw HomeError(
        .ambiguousTarget, "several groups are called “\(text)”; use its number",
        candidates: named.map { "\($0.id.rawValue)" })
    }
    guard let found = named.first else {
      throw HomeError(
        .notFound,
        groups.isEmpty
          ? "no groups yet; create one with `hearth group create NAME`" : "there is no group “\(text)”",
        candidates: groups.map(\.name).filter { !$0.isEmpty })
    }
    return found
  }

  /// Adds an endpoint of a device to a group, or removes it.
  public func change(_ group: GroupRecord, _ target: Target, isMember: Bool) async throws(HomeError) -> GroupRecord {
    let endpoint = try target.endpoint(serving: Groups.id, named: "Groups")
    let node = target.device.nodeID
    return try await with(target.device) { () async throws(HomeError) in
      isMember
        ? try await controller.addMember(node, endpoint: endpoint, to: group.id)
        : try await controller.removeMember(node, endpoint: endpoint, from: group.id)
    }
  }
}
