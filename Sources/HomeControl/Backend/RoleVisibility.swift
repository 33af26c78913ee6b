package import HomeModel
internal import MatterClusters
package import MatterProtocol

/// The attributes and events that a role may read, by its privilege in the standard. Undeclared ones require Administer,
/// because some of them contain credentials. Matter Core § 6.6.2.
package struct RoleVisibility: Sendable {
  private let role: HomeRole

  package static func of(_ role: HomeRole) -> RoleVisibility { RoleVisibility(role: role) }

  package func contains(_ path: ConcreteAttributePath) -> Bool {
    role == .owner
      || role.privilege.grants(ElementNames.info(path.attribute, of: path.cluster)?.read ?? .administer)
  }

  package func contains(_ event: EventData) -> Bool {
    role == .owner
      || role.privilege.grants(
        ClusterCatalogue.cluster(event.path.cluster)?.event(event.path.event)?.read ?? .administer)
  }

  package func contains(_ change: HomeChange) -> Bool {
    switch change {
    case .attribute(_, let path, _): contains(path)
    case .event(_, let data): contains(data)
    default: true
    }
  }

  /// Returns the changes that make the visible part of a home of an empty one.
  package func changes(of state: HomeState) -> [HomeChange] { HomeState().changes(to: state).filter { contains($0) } }
}
