public import HomeModel
package import MatterModel

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

  /// Returns a trait of the active source; nil without a source.
  package func trait(_ endpoint: EndpointID, _ cluster: ClusterID) -> AnyTrait? {
    guard let source else { return nil }
    return AnyTrait(
      TraitID(device: id, endpoint: endpoint, cluster: cluster), by: source.id,
      source.metadata(of: endpoint, values),
      values[endpoint, cluster] ?? ClusterValues(), home: home)
  }
}

extension Sequence<HomeDevice> {
  /// Returns the devices that have a trait: `devices.devices(having: OnOffTrait.self)`.
  public func devices<T: MatterTrait>(having _: T.Type) -> [HomeDevice] { filter { $0.traits.contains(T.self) } }

  /// Returns the devices that have a type of a family: `devices.devices(in: .light)`.
  public func devices(in family: DeviceFamily) -> [HomeDevice] { filter { $0.types.contains(family) } }
}
