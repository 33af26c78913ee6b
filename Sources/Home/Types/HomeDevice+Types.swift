internal import MatterModel

extension HomeDevice {
  /// The device types, in the order of endpoints.
  public var types: DeviceTypeCollection { DeviceTypeCollection(device: self) }

  /// The traits of all endpoints, for a node including the root endpoint. For a bridged device, only those of its own
  /// endpoints.
  public var traits: TraitCollection { TraitCollection(device: self, endpoint: nil) }

  /// The reachability and locality, aggregated over all traits.
  public var sourceConnectivity: SourceConnectivity { connectivity { _ in true } }

  /// Basic Information, or Bridged Device Basic Information for a bridged device. Nil before the device is described.
  public var basicInformation: BasicInformationTrait? {
    source.flatMap { traits[BasicInformationTrait.self, on: $0.mainEndpoint] }
  }

  // MARK: Parts

  /// Nil where no way leads to the device.
  func trait(_ endpoint: EndpointID, _ cluster: ClusterID) -> AnyTrait? {
    guard let source else { return nil }
    return AnyTrait(
      TraitID(device: id, endpoint: endpoint, cluster: cluster), by: source.id,
      source.metadata(of: endpoint, values),
      values[endpoint, cluster] ?? ClusterValues(), home: home)
  }

  /// Of the traits of the endpoints that are asked for, together.
  func connectivity(where isIncluded: (EndpointID) -> Bool) -> SourceConnectivity {
    source?.connectivity(values, where: isIncluded) ?? .unknown
  }
}

extension HomeDevice: Equatable {
  /// Compares the metadata, which changes for exactly five reasons: connectivity (current or settled), name, room, the
  /// set of traits, the set of types. Attributes and the time of the last contact are not compared.
  public static func == (left: Self, right: Self) -> Bool {
    left.id == right.id && left.name == right.name && left.roomID == right.roomID
      && left.structureID == right.structureID && left.settledConnectivity == right.settledConnectivity
      && left.sourceConnectivity == right.sourceConnectivity
      && haveSameParts(left.source?.endpoints ?? [], right.source?.endpoints ?? [])
  }

  /// Whether traits and types are the same, in whatever order.
  static func haveSameParts(_ left: [DeviceEndpoint], _ right: [DeviceEndpoint]) -> Bool {
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

extension Sequence<HomeDevice> {
  /// Returns the devices that have a trait: `devices.devices(having: OnOffTrait.self)`.
  public func devices<T: MatterTrait>(having _: T.Type) -> [HomeDevice] { filter { $0.traits.contains(T.self) } }

  /// Returns the devices that have a type of a family: `devices.devices(in: .light)`.
  public func devices(in family: DeviceFamily) -> [HomeDevice] { filter { $0.types.contains(family) } }
}
