extension HomeDevice {
  /// The device types, in the order of endpoints.
  public var types: DeviceTypeCollection { DeviceTypeCollection(device: self) }

  /// The traits of all endpoints, for a node including the root endpoint. For a bridged device, only those of its own
  /// endpoints.
  public var traits: TraitCollection { TraitCollection(device: self, endpoint: nil) }

  /// Basic Information, or Bridged Device Basic Information for a bridged device. Nil before the device is described.
  public var basicInformation: BasicInformationTrait? {
    source.flatMap { traits[BasicInformationTrait.self, on: $0.mainEndpoint] }
  }

  // MARK: Parts

  /// The endpoints, in order.
  var endpoints: [DeviceEndpoint] { parts.endpoints.sorted { $0.id < $1.id } }

  func endpoint(_ id: EndpointID) -> DeviceEndpoint? { parts.endpoints.first { $0.id == id } }

  /// The lowest endpoint with an application type, else the lowest with a type.
  var primaryEndpoint: DeviceEndpoint? {
    parts.endpoints.lazy.filter(\.hasApplicationType).min { $0.id < $1.id }
      ?? parts.endpoints.lazy.filter { !$0.deviceTypes.isEmpty }.min { $0.id < $1.id }
  }

  /// Returns a trait by its path on the device; nil without a source.
  package func trait(_ endpoint: EndpointID, _ cluster: ClusterID) -> AnyTrait? {
    let place = parts.additions[ClusterPath(endpoint, cluster)]
    guard let source = place.map({ entry.source($0.source) }) ?? source else { return nil }
    let number = place?.endpoint ?? endpoint
    return AnyTrait(
      id: TraitID(device: id, endpoint: endpoint, cluster: cluster),
      metadata: source.metadata(of: number, values(of: source.id.node) ?? NodeValues()),
      values: values[endpoint, cluster] ?? ClusterValues(), home: home, source: source.id, sourceEndpoint: number)
  }
}
