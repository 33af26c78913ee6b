internal import MatterClusters

/// Looks up declared elements, those of the standard in constant time. `ClusterCatalogue` creates the lists of a cluster for
/// each look-up.
package enum DeclaredElements {
  private struct Elements: Sendable {
    var attributes: [AttributeID: AttributeInfo]
    var commands: [NormalizedName: CommandInfo]
    var events: [EventID: EventInfo]

    init(_ cluster: any Cluster.Type) {
      attributes = Dictionary(cluster.allAttributes.map { ($0.id, $0) }) { first, _ in first }
      commands = Dictionary(cluster.commands.map { (NormalizedName($0.name), $0) }) { first, _ in first }
      events = Dictionary(cluster.events.map { ($0.id, $0) }) { first, _ in first }
    }
  }

  private static let standard = Dictionary(
    ClusterCatalogue.standard.map { ($0.id, Elements($0)) }, uniquingKeysWith: { first, _ in first })

  private static func elements(_ id: ClusterID) -> Elements? {
    standard[id] ?? ClusterCatalogue.cluster(id).map { Elements($0) }
  }

  package static func attribute(_ path: ConcreteAttributePath) -> AttributeInfo? {
    elements(path.cluster)?.attributes[path.attribute]
  }

  /// Returns the command with this name in any spelling: `MoveToLevel`, `moveToLevel` or `move_to_level`.
  package static func command(_ name: String, of cluster: ClusterID) -> CommandInfo? {
    elements(cluster)?.commands[NormalizedName(name)]
  }

  package static func event(_ id: EventID, of cluster: ClusterID) -> EventInfo? { elements(cluster)?.events[id] }
}
