internal import MatterClusters
internal import MatterModel

/// Looks up declared elements in constant time; `ClusterCatalogue` creates the lists of a cluster for each look-up.
enum DeclaredElements {
  private struct Elements: Sendable {
    var attributes: [AttributeID: AttributeInfo]
    var commands: [NormalizedName: CommandInfo]
    var events: [EventID: EventInfo]
  }

  private static let clusters = Dictionary(
    ClusterCatalogue.all.map { cluster in
      (
        cluster.id,
        Elements(
          attributes: Dictionary(cluster.allAttributes.map { ($0.id, $0) }) { first, _ in first },
          commands: Dictionary(cluster.commands.map { (NormalizedName($0.name), $0) }) { first, _ in first },
          events: Dictionary(cluster.events.map { ($0.id, $0) }) { first, _ in first })
      )
    }, uniquingKeysWith: { first, _ in first })

  static func contains(_ cluster: ClusterID) -> Bool { clusters[cluster] != nil }

  static func attribute(_ path: ConcreteAttributePath) -> AttributeInfo? {
    clusters[path.cluster]?.attributes[path.attribute]
  }

  /// Returns the command with this name in any spelling: `MoveToLevel`, `moveToLevel` or `move_to_level`.
  static func command(_ name: String, of cluster: ClusterID) -> CommandInfo? {
    clusters[cluster]?.commands[NormalizedName(name)]
  }

  static func event(_ id: EventID, of cluster: ClusterID) -> EventInfo? { clusters[cluster]?.events[id] }
}
