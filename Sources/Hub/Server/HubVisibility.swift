internal import Home
internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// What a role may see: what the standard lets its privilege read, and of what is not declared what takes no more than
/// ``MatterModel/ClusterID/undeclaredPrivilege``: nothing of that for guests.
struct HubVisibility: Sendable {
  private struct Element: Hashable {
    var cluster: ClusterID
    var number: UInt32
    var isEvent: Bool
  }

  private let role: HomeRole
  /// Whether each element that the catalogue declares is seen.
  private let declared: [Element: Bool]

  static func of(_ role: HomeRole) -> HubVisibility {
    switch role {
    case .guest: guest
    case .member: member
    case .owner: owner
    }
  }

  private static let guest = HubVisibility(.guest), member = HubVisibility(.member), owner = HubVisibility(.owner)

  private init(_ role: HomeRole) {
    self.role = role
    var declared: [Element: Bool] = [:]
    for cluster in ClusterCatalogue.all {
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
    role == .owner || declared[element] ?? role.privilege.grants(element.cluster.undeclaredPrivilege)
  }

  func contains(_ path: ConcreteAttributePath) -> Bool {
    // The global attributes are those of every cluster.
    OnOff.globalAttributes.contains { $0.id == path.attribute }
      || contains(Element(cluster: path.cluster, number: path.attribute.rawValue, isEvent: false))
  }

  func contains(_ change: HomeChange) -> Bool {
    switch change {
    case .attribute(_, let path, _): contains(path)
    case .event(_, let data):
      contains(Element(cluster: data.path.cluster, number: data.path.event.rawValue, isEvent: true))
    default: true
    }
  }

  /// Everything of a home that is seen.
  func changes(of state: HomeState) -> [HomeChange] { HomeState().changes(to: state).filter { contains($0) } }
}
