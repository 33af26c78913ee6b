internal import MatterClusters
public import MatterModel

/// What tells a device type from all others of a home: one for each endpoint and type.
public struct HomeDeviceTypeID: Hashable, Sendable, CustomStringConvertible {
  /// The ``HomeDevice/id`` of its device.
  public var device: String
  public var endpoint: EndpointID
  public var type: DeviceTypeID

  public init(device: String, endpoint: EndpointID, type: DeviceTypeID) {
    (self.device, self.endpoint, self.type) = (device, endpoint, type)
  }

  /// `5, 1/Dimmable Light`.
  public var description: String { "\(device), \(endpoint)/\(ElementNames.deviceType(type))" }
}

/// What is known of a device type besides its traits.
public struct DeviceTypeMetadata: Hashable, Sendable {
  /// Whether this is what its endpoint is in the first place.
  ///
  /// The first type that the endpoint lists and that people would name when asked what it is: not one of the utility types
  /// (Power Source, OTA Requestor, Bridged Node and the like), which say something of a device that is another thing
  /// besides, and not Root Node. A type that the project does not know can't be told from a utility type, so it is primary
  /// only where the endpoint lists no application type that is known.
  public var isPrimaryType: Bool
  /// Of all the traits of its endpoint together.
  public var sourceConnectivity: SourceConnectivity

  public init(isPrimaryType: Bool, sourceConnectivity: SourceConnectivity) {
    (self.isPrimaryType, self.sourceConnectivity) = (isPrimaryType, sourceConnectivity)
  }
}

/// A device type of an endpoint as it was at one moment, whichever type it is: those that the project does not know are only
/// to be had so. See <doc:TheHomeModel>, “Objects”.
public struct AnyDeviceType: Sendable, Identifiable {
  let device: HomeDevice
  public let id: HomeDeviceTypeID

  init(_ device: HomeDevice, _ endpoint: EndpointID, _ type: DeviceTypeID) {
    self.device = device
    id = HomeDeviceTypeID(device: device.id, endpoint: endpoint, type: type)
  }

  public var endpoint: EndpointID { id.endpoint }
  /// What the Device Library says of it; nil: the project does not know it.
  public var deviceType: DeviceType? { DeviceTypes.named(id.type) }
  /// "Dimmable Light", or its number where the project does not know it.
  public var name: String { ElementNames.deviceType(id.type) }

  /// The traits of its endpoint.
  public var traits: TraitCollection { TraitCollection(device: device, endpoint: id.endpoint) }
  /// The traits of its endpoint, by name.
  public var matterTraits: MatterTraits { MatterTraits(traits: traits) }

  public var metadata: DeviceTypeMetadata {
    DeviceTypeMetadata(
      isPrimaryType: device.source?.endpoint(id.endpoint)?.primaryType == id.type,
      sourceConnectivity: device.connectivity { $0 == id.endpoint })
  }

  /// This as a type of its own, nil if it is another: `type.as(DimmableLightDeviceType.self)`.
  public func `as`<T: HomeDeviceType>(_: T.Type) -> T? { id.type == T.deviceType.id ? T(self) : nil }

  /// Whether two are the same type with the same connectivity and the same set of traits.
  func hasSameMetadata(as other: Self) -> Bool {
    guard id == other.id, metadata == other.metadata else { return false }
    let parts = (device.source?.endpoint(id.endpoint), other.device.source?.endpoint(id.endpoint))
    return parts.0 == parts.1 || traits.ids == other.traits.ids
  }

  /// Whether two have the same attributes as well.
  func isSame(as other: Self) -> Bool { hasSameMetadata(as: other) && traits.elementsEqual(other.traits) }
}

extension DeviceEndpoint {
  /// What it is in the first place; see ``DeviceTypeMetadata/isPrimaryType``.
  var primaryType: DeviceTypeID? {
    let candidates = applicationTypes
    return candidates.first { DeviceTypes.named($0) != nil } ?? candidates.first
  }

  /// What people would name when asked what it is, and what the project does not know.
  var applicationTypes: [DeviceTypeID] { deviceTypes.filter { !Self.utilityTypes.contains($0) } }

  /// The types of the classes Utility and Node. Device Library § 2.
  static let utilityTypes: Set<DeviceTypeID> = [
    DeviceTypes.rootNode.id, DeviceTypes.powerSource.id, DeviceTypes.otaRequestor.id, DeviceTypes.otaProvider.id,
    DeviceTypes.bridgedNode.id, DeviceTypes.electricalSensor.id, DeviceTypes.deviceEnergyManagement.id,
    DeviceTypes.secondaryNetworkInterface.id, DeviceTypes.jointFabricAdministrator.id,
  ]
}
