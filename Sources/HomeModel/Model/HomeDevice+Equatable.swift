internal import MatterModel

extension HomeDevice: Equatable {
  /// Compares the metadata, which changes for exactly five reasons: connectivity, name, room, the set of traits, the set of
  /// types. Attributes, the settled connectivity and the time of the last contact are not compared.
  public static func == (left: Self, right: Self) -> Bool {
    left.id == right.id && left.name == right.name && left.roomID == right.roomID
      && left.structureID == right.structureID && left.sourceConnectivity == right.sourceConnectivity
      && haveSameParts(left.source?.endpoints ?? [], right.source?.endpoints ?? [])
  }

  /// Whether traits and types are the same, in any order.
  package static func haveSameParts(_ left: [DeviceEndpoint], _ right: [DeviceEndpoint]) -> Bool {
    if left == right { return true }
    return traitSet(left) == traitSet(right) && typeSet(left) == typeSet(right)
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
