extension HomeDevice: Hashable {
  /// Compares the metadata, which changes for exactly five reasons: connectivity, name, room, the set of traits, the set of
  /// types. Attributes, the settled connectivity and the time of the last contact are not compared.
  public static func == (left: Self, right: Self) -> Bool {
    left.id == right.id && left.name == right.name && left.roomID == right.roomID
      && left.structureID == right.structureID && left.sourceConnectivity == right.sourceConnectivity
      && left.hasSameParts(as: right)
  }

  /// Combines the id only, so that the hash remains the same while the device is in the home.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }

  /// Whether traits and types are the same, in any order.
  package func hasSameParts(as other: HomeDevice) -> Bool {
    parts.endpoints == other.parts.endpoints || sortedParts == other.sortedParts
  }

  /// The traits and types of the endpoints.
  private var sortedParts: [DeviceEndpoint] {
    parts.endpoints.map {
      DeviceEndpoint(id: $0.id, deviceTypes: $0.deviceTypes.sorted(), servers: $0.servers.sorted())
    }
    .sorted { $0.id < $1.id }
  }
}
