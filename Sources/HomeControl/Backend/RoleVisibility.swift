package import HomeModel
internal import MatterClusters
package import MatterProtocol

/// The attributes and events that a role may read, by its privilege in the standard. Undeclared ones require Administer,
/// because some of them contain credentials. Matter Core § 6.6.2.
package struct RoleVisibility: Sendable {
  private struct Element: Hashable {
    var cluster: ClusterID
    var number: UInt32
    var isEvent: Bool

    /// The privilege to read an element of a manufacturer's cluster; nil if it is undeclared.
    var makersPrivilege: Privilege? {
      guard let cluster = ClusterCatalogue.cluster(cluster) else { return nil }
      return isEvent ? cluster.event(EventID(number))?.read : cluster.attribute(AttributeID(number))?.read
    }
  }

  private let role: HomeRole
  /// Whether the role may read each declared element.
  private let declared: [Element: Bool]

  package static func of(_ role: HomeRole) -> RoleVisibility {
    switch role {
    case .guest: guest
    case .member: member
    case .owner: owner
    }
  }

  private static let guest = RoleVisibility(.guest), member = RoleVisibility(.member), owner = RoleVisibility(.owner)

  private init(_ role: HomeRole) {
    self.role = role
    var declared: [Element: Bool] = [:]
    for cluster in ClusterCatalogue.standard {
      for attribute in cluster.attributes {
        declared[Element(cluster: cluster.id, number: attribute.id.rawValue, isEvent: false)] =
          role.privilege.grants(attribute.read)
      }
      for event in cluster.events {
        declared[Element(cluster: cluster.id, number: event.id.rawValue, isEvent: true)] =
          role.privilege.grants(event.read)
      }
    }
    self.declared = declared
  }

  private func contains(_ element: Element) -> Bool {
    role == .owner || declared[element] ?? role.privilege.grants(element.makersPrivilege ?? .administer)
  }

  package func contains(_ path: ConcreteAttributePath) -> Bool {
    // Global attributes are declared for all clusters.
    OnOff.globalAttributes.contains { $0.id == path.attribute }
      || contains(Element(cluster: path.cluster, number: path.attribute.rawValue, isEvent: false))
  }

  package func contains(_ event: EventData) -> Bool {
    contains(Element(cluster: event.path.cluster, number: event.path.event.rawValue, isEvent: true))
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
