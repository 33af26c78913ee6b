internal import MatterClusters
internal import MatterModel

/// The access control entries of the node, and the check of a subject's privilege. Matter Core § 6.6.
struct AccessControlList: Sendable {
  /// The entries of all fabrics, in the form of the ACL attribute.
  var entries: [AccessControl.AccessControlEntryStruct] = []

  /// Returns whether the subject has the privilege on the cluster. Matter Core § 6.6.6.2.
  /// - Parameter deviceTypes: The device types of the endpoint.
  func grants(_ needed: Privilege, to subject: Subject, _ path: ClusterPath, deviceTypes: [DeviceType]) -> Bool {
    switch subject.kind {
    case .device, .pase: return true
    case .case, .group: break
    }
    guard subject.fabric != .none else { return false }
    return entries.contains { entry in
      entry.fabricIndex == subject.fabric
        && entry.authMode == (subject.isGroup ? .group : .case)
        && (Privilege(rawValue: entry.privilege.rawValue)?.grants(needed) ?? false)
        && Self.matches(entry.subjects.wrapped, subject)
        && Self.matches(entry.targets.wrapped, path, deviceTypes)
    }
  }

  /// An empty list matches every subject of the authentication mode.
  static func matches(_ subjects: [NodeID]?, _ subject: Subject) -> Bool {
    guard let subjects, !subjects.isEmpty else { return true }
    return subjects.contains { wanted in
      // An entry holds the bare group number, the subject its node id form.
      if subject.isGroup { return NodeID(0xFFFF_FFFF_FFFF_0000 | wanted.rawValue) == subject.node }
      guard wanted.isTag else { return wanted == subject.node }
      let tag = CASEAuthenticatedTag(UInt32(truncatingIfNeeded: wanted.rawValue))
      return subject.tags.contains { $0.identifier == tag.identifier && $0.version >= tag.version }
    }
  }

  /// An empty list matches every target on the node.
  private static func matches(
    _ targets: [AccessControl.AccessControlTargetStruct]?, _ path: ClusterPath, _ deviceTypes: [DeviceType]
  ) -> Bool {
    guard let targets, !targets.isEmpty else { return true }
    return targets.contains { target in
      if let cluster = target.cluster.wrapped, cluster != path.cluster { return false }
      if let endpoint = target.endpoint.wrapped, endpoint != path.endpoint { return false }
      if let type = target.deviceType.wrapped, !deviceTypes.contains(where: { $0.id == type }) { return false }
      return true
    }
  }
}

extension ServerContext {
  /// Returns whether the current subject has the privilege on the cluster, which need not exist.
  func isAllowed(_ needed: Privilege, _ path: ClusterPath) -> Bool {
    switch subject.kind {
    case .device, .pase: true
    case .case, .group:
      node.acl.grants(needed, to: subject, path, deviceTypes: node.deviceTypes(of: path.endpoint))
    }
  }
}
