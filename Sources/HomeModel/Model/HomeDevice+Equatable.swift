internal import MatterModel

extension HomeDevice: Equatable {
  /// Compares the metadata, which changes for exactly five reasons: connectivity, name, room, the set of traits, the set of
  /// types. Attributes, the settled connectivity and the time of the last contact are not compared.
  public static func == (left: Self, right: Self) -> Bool {
    left.id == right.id && left.name == right.name && left.roomID == right.roomID
      && left.structureID == right.structureID && left.sourceConnectivity == right.sourceConnectivity
      && left.hasSameParts(as: right)
  }

  /// Whether traits and types are the same, in any order.
  package func hasSameParts(as other: HomeDevice) -> Bool {
    let (left, right) = (parts.endpoints, other.parts.endpoints)
    return left == right
      || (Self.traitSet(left) == Self.traitSet(right) && Self.typeSet(left) == Self.typeSet(right))
  }

  private static func traitSet(_ endpoints: [DeviceEndpoint]) -> Set<ClusterPath> {
    Set(endpoints.lazy.flatMap { endpoint in endpoint.servers.lazy.map { ClusterPath(endpoint.id, $0) } })
  }

  private static func typeSet(_ endpoints: [DeviceEndpoint]) -> [EndpointID: Set<DeviceTypeID>] {
    var types: [EndpointID: Set<DeviceTypeID>] = [:]
    for endpoint in endpoints where !endpoint.deviceTypes.isEmpty {
      types[endpoint.id, default: []].formUnion(endpoint.deviceTypes)
    }
    return types
  }
}
