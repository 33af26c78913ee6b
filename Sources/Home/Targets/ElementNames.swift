internal import MatterClusters
public import MatterModel

/// Names and values of clusters' elements for people and for JSON; numbers for what isn't declared.
public enum ElementNames {
  /// Whether the names of a cluster and its elements are known.
  public static func isKnown(_ cluster: ClusterID) -> Bool { ClusterCatalogue.cluster(cluster) != nil }

  /// The name of a status that a cluster defines itself; nil: it is not known. Matter Core § 10.6.17.
  public static func clusterStatus(_ code: UInt8, of cluster: ClusterID) -> String? {
    let names: [UInt64: String]? =
      switch cluster {
      case AdministratorCommissioning.id: AdministratorCommissioning.StatusCodeEnum.names
      case TimeSynchronization.id: TimeSynchronization.StatusCodeEnum.names
      case DoorLock.id: DoorLock.LockStatus.names
      default: nil
      }
    return names?[UInt64(code)]
  }

  /// `levelControl`, or `0xFFF1FC00`.
  public static func cluster(_ id: ClusterID) -> String {
    ClusterCatalogue.cluster(id).map { camelCase($0.name) } ?? "\(id)"
  }

  /// `currentLevel`, or `0x00000000`.
  public static func attribute(_ id: AttributeID, of cluster: ClusterID) -> String {
    info(id, of: cluster).map { camelCase($0.name) } ?? "\(id)"
  }

  /// `levelControl.currentLevel`; numbers where nobody declares them.
  public static func attribute(_ path: ConcreteAttributePath) -> String {
    "\(self.cluster(path.cluster)).\(attribute(path.attribute, of: path.cluster))"
  }

  /// `1.levelControl.currentLevel`, with `*` for any.
  public static func text(_ path: AttributePath) -> String {
    let attribute = path.cluster.flatMap { cluster in path.attribute.map { self.attribute($0, of: cluster) } }
    let parts = [path.endpoint.map { "\($0)" }, path.cluster.map { self.cluster($0) }, attribute]
    return parts.map { $0 ?? "*" }.joined(separator: ".")
  }

  /// `moveToLevel`, or the number.
  public static func command(_ id: CommandID, of cluster: ClusterID) -> String {
    ClusterCatalogue.cluster(cluster)?.command(id).map { camelCase($0.name) } ?? "\(id)"
  }

  /// `switchLatched`, or the number.
  public static func event(_ id: EventID, of cluster: ClusterID) -> String {
    ClusterCatalogue.cluster(cluster)?.event(id).map { camelCase($0.name) } ?? "\(id)"
  }

  /// How the attribute is declared; nil: nobody does. The global attributes are those of every cluster.
  public static func info(_ id: AttributeID, of cluster: ClusterID) -> AttributeInfo? {
    ClusterCatalogue.cluster(cluster)?.attribute(id)
      ?? (id.rawValue >= 0xF000 ? OnOff.globalAttributes.first { $0.id == id } : nil)
  }

  /// The shape of an attribute's value; `Schema.any` where nobody declares it.
  public static func schema(_ path: ConcreteAttributePath) -> Schema {
    info(path.attribute, of: path.cluster)?.schema ?? .any
  }

  /// How the command is declared; nil: nobody does.
  public static func command(_ path: CommandPath) -> CommandInfo? {
    ClusterCatalogue.cluster(path.cluster)?.command(path.command)
  }

  /// The shape of an answer, by the id of the response command.
  public static func response(_ id: CommandID, of cluster: ClusterID) -> Schema {
    ClusterCatalogue.cluster(cluster)?.commands.compactMap(\.response).first { $0.id == id }?.schema ?? .any
  }

  /// The shape of what an event carries; `Schema.any` where nobody declares it.
  public static func event(payloadOf id: EventID, of cluster: ClusterID) -> Schema {
    ClusterCatalogue.cluster(cluster)?.event(id)?.payload ?? .any
  }

  /// "Dimmable Light", or "0x00000101".
  public static func deviceType(_ id: DeviceTypeID) -> String { DeviceTypes.named(id)?.name ?? "\(id)" }
}
