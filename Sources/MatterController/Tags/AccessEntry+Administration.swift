package import MatterClusters
package import MatterModel

extension AccessControl.AccessControlEntryStruct {
  /// Whether the entry permits a node to change the access control list. Matter Core § 6.6.6.
  package func allowsAdministration(by node: NodeID) -> Bool {
    guard privilege == .administer, authMode == .case else { return false }
    let subjects = subjects.wrapped ?? []
    guard subjects.isEmpty || subjects.contains(node) else { return false }
    let targets = targets.wrapped ?? []
    return targets.isEmpty
      || targets.contains { target in
        target.deviceType.wrapped == nil && (target.cluster.wrapped ?? AccessControl.id) == AccessControl.id
          && (target.endpoint.wrapped ?? .root) == .root
      }
  }
}
