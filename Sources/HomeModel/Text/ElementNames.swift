internal import MatterClusters

/// Names and values of cluster elements for users and for JSON; numbers for undeclared elements.
package enum ElementNames {
  /// Whether the names of a cluster and its elements are known.
  package static func isKnown(_ cluster: ClusterID) -> Bool { ClusterCatalogue.cluster(cluster) != nil }

  /// Returns the name of a cluster-specific status, or of the status in a response; nil if unknown. Matter Core
  /// § 10.6.17.
  package static func clusterStatus(_ code: UInt8, of cluster: ClusterID) -> String? {
    let names: [UInt64: String] =
      switch cluster {
      case AdministratorCommissioning.id: AdministratorCommissioning.StatusCodeEnum.names
      case TimeSynchronization.id: TimeSynchronization.StatusCodeEnum.names
      case DoorLock.id: DoorLock.LockStatus.names
      case ValveConfigurationAndControl.id: ValveConfigurationAndControl.StatusCodeEnum.names
      case OperationalState.id: OperationalState.ErrorState.names
      case OvenCavityOperationalState.id: OvenCavityOperationalState.ErrorState.names
      case RvcOperationalState.id: RvcOperationalState.ErrorState.names
      case RvcCleanMode.id: RvcCleanMode.StatusCodeEnum.names
      case RvcRunMode.id: RvcRunMode.StatusCodeEnum.names
      default: [:]
      }
    return names[UInt64(code)] ?? (hasModes(cluster) ? modeStatuses[code] : nil)
  }

  /// The statuses of all clusters that derive from Mode Base. Application Clusters § 1.10.7.2.
  private static let modeStatuses: [UInt8: String] = [1: "UnsupportedMode", 2: "GenericFailure", 3: "InvalidInMode"]

  /// Returns whether a cluster derives from Mode Base.
  private static func hasModes(_ cluster: ClusterID) -> Bool {
    ClusterCatalogue.cluster(cluster)?.commands.contains { $0.name == "ChangeToMode" && $0.response != nil } == true
  }

  /// `levelControl`, or `0xFFF1FC00`.
  package static func cluster(_ id: ClusterID) -> String {
    ClusterCatalogue.cluster(id).map { NormalizedName.camelCase($0.name) } ?? "\(id)"
  }

  /// `currentLevel`, or `0x00000000`.
  package static func attribute(_ id: AttributeID, of cluster: ClusterID) -> String {
    info(id, of: cluster).map { NormalizedName.camelCase($0.name) } ?? "\(id)"
  }

  /// `levelControl.currentLevel`; numbers for undeclared elements.
  package static func attribute(_ path: ConcreteAttributePath) -> String {
    "\(self.cluster(path.cluster)).\(attribute(path.attribute, of: path.cluster))"
  }

  /// `1.levelControl.currentLevel`, with `*` for any.
  package static func text(_ path: AttributePath) -> String {
    let attribute = path.cluster.flatMap { cluster in path.attribute.map { self.attribute($0, of: cluster) } }
    let parts = [path.endpoint.map { "\($0)" }, path.cluster.map { self.cluster($0) }, attribute]
    return parts.map { $0 ?? "*" }.joined(separator: ".")
  }

  /// `moveToLevel`, or the number.
  package static func command(_ id: CommandID, of cluster: ClusterID) -> String {
    ClusterCatalogue.cluster(cluster)?.command(id).map { NormalizedName.camelCase($0.name) } ?? "\(id)"
  }

  /// `switchLatched`, or the number.
  package static func event(_ id: EventID, of cluster: ClusterID) -> String {
    ClusterCatalogue.cluster(cluster)?.event(id).map { NormalizedName.camelCase($0.name) } ?? "\(id)"
  }

  /// Returns the declaration of an attribute, including global ones; nil if it is undeclared.
  package static func info(_ id: AttributeID, of cluster: ClusterID) -> AttributeInfo? {
    ClusterCatalogue.cluster(cluster)?.attribute(id)
      ?? (id.rawValue >= 0xF000 ? OnOff.attribute(id) : nil)
  }

  /// Returns the schema of an attribute's value; `Schema.any` if it is undeclared.
  package static func schema(_ path: ConcreteAttributePath) -> Schema {
    info(path.attribute, of: path.cluster)?.schema ?? .any
  }

  /// Returns the declaration of a command; nil if it is undeclared.
  package static func command(_ path: CommandPath) -> CommandInfo? {
    ClusterCatalogue.cluster(path.cluster)?.command(path.command)
  }

  /// Returns the schema of a response, by the id of the response command.
  package static func response(_ id: CommandID, of cluster: ClusterID) -> Schema {
    ClusterCatalogue.cluster(cluster)?.commands.compactMap(\.response).first { $0.id == id }?.schema ?? .any
  }

  /// Returns the schema of an event's payload; `Schema.any` if it is undeclared.
  package static func event(payloadOf id: EventID, of cluster: ClusterID) -> Schema {
    ClusterCatalogue.cluster(cluster)?.event(id)?.payload ?? .any
  }

  /// "Dimmable Light", or "0x00000101".
  package static func deviceType(_ id: DeviceTypeID) -> String { DeviceTypes.named(id)?.name ?? "\(id)" }
}
