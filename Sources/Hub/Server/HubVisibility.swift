internal import Home
internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// What a role may see: what the standard lets its privilege read. What is not declared is seen by all.
struct HubVisibility: Sendable {
  private struct Element: Hashable {
    var cluster: ClusterID
    var number: UInt32
    var isEvent: Bool
  }

  private let hidden: Set<Element>

  static func of(_ role: HomeRole) -> HubVisibility {
    switch role {
    case .guest: guest
    case .member: member
    case .owner: owner
    }
  }

  private static let guest = HubVisibility(.guest), member = HubVisibility(.member), owner = HubVisibility(.owner)

  private init(_ role: HomeRole) {
    var hidden: Set<Element> = []
    for cluster in ClusterCatalogue.all {
      for attribute in cluster.attributes where !role.privilege.grants(attribute.read) {
        hidden.insert(Element(cluster: cluster.id, number: attribute.id.rawValue, isEvent: false))
      }
      for event in cluster.events where !role.privilege.grants(event.read) {
        hidden.insert(Element(cluster: cluster.id, number: event.id.rawValue, isEvent: true))
      }
    }
    self.hidden = hidden
  }

  func contains(_ path: ConcreteAttributePath) -> Bool {
    hidden.isEmpty
      || !hidden.contains(Element(cluster: path.cluster, number: path.attribute.rawValue, isEvent: false))
  }

  func contains(_ change: HomeChange) -> Bool {
    switch change {
    case .attribute(_, let path, _): contains(path)
    case .event(_, let data):
      hidden.isEmpty
        || !hidden.contains(Element(cluster: data.path.cluster, number: data.path.event.rawValue, isEvent: true))
    default: true
    }
  }

  /// Everything of a home that is seen.
  func changes(of state: HomeState) -> [HomeChange] { HomeState().changes(to: state).filter { contains($0) } }
}
