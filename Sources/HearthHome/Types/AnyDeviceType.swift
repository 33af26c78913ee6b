internal import MatterClusters

/// The id of a device type in a home: device, endpoint and type.
public struct HomeDeviceTypeID: Hashable, Sendable, CustomStringConvertible {
  /// The ``HomeDevice/id`` of its device.
  public var device: String
  public var endpoint: EndpointID
  public var type: DeviceTypeID

  /// `5, 1/Dimmable Light`.
  public var description: String { "\(device), \(endpoint)/\(ElementNames.deviceType(type))" }
}

/// The properties of a device type besides its traits: its rank on the device, and its connectivity.
public struct DeviceTypeMetadata: Hashable, Sendable {
  /// Whether this is the primary type of the device; true for exactly one type of a device.
  ///
  /// The primary type is the first listed application type of the lowest endpoint that has one: not Root Node, and not
  /// one of the utility types (Power Source, OTA Requestor, Bridged Node and the like), which describe an additional
  /// aspect of a device. An unknown type can't be distinguished from a utility type, so it is primary only if its
  /// endpoint lists no known application type. If the device has only utility types, it is the first one of the lowest
  /// endpoint.
  public var isPrimaryType: Bool
  /// The aggregate connectivity of all traits of its endpoint.
  public var sourceConnectivity: SourceConnectivity
}

/// A snapshot of any device type of an endpoint; the only representation of types without a Swift type. See
/// <doc:TheHomeModel>, “Objects”.
///
/// Values are equal if their metadata and the attributes of their traits are.
public struct AnyDeviceType: Sendable, Identifiable, Equatable, CustomStringConvertible {
  package let device: HomeDevice
  public let id: HomeDeviceTypeID

  init(_ device: HomeDevice, _ endpoint: EndpointID, _ type: DeviceTypeID) {
    self.device = device
    id = HomeDeviceTypeID(device: device.id, endpoint: endpoint, type: type)
  }

  public var endpoint: EndpointID { id.endpoint }
  /// The declaration in the Device Library; nil for unknown types.
  public var deviceType: DeviceType? { DeviceTypes.named(id.type) }
  /// "Dimmable Light", or the number of an unknown type.
  public var name: String { ElementNames.deviceType(id.type) }
  public var description: String { name }

  /// The traits of its endpoint.
  public var traits: TraitCollection { TraitCollection(device: device, endpoint: id.endpoint) }
  /// The traits of its endpoint, by name.
  public var matterTraits: MatterTraits { MatterTraits(traits: traits) }

  public var metadata: DeviceTypeMetadata {
    let primary = device.primaryEndpoint
    return DeviceTypeMetadata(
      isPrimaryType: primary?.id == endpoint && (primary?.primaryType ?? primary?.deviceTypes.first) == id.type,
      sourceConnectivity: device.connectivity { $0 == endpoint })
  }

  /// Whether this is the primary type of its endpoint, as each outlet of a power strip has one.
  package var isPrimaryOfEndpoint: Bool { device.endpoint(endpoint)?.primaryType == id.type }

  /// Converts to a Swift type; nil for another type: `type.as(DimmableLightDeviceType.self)`.
  public func `as`<T: HomeDeviceType>(_: T.Type) -> T? { id.type == T.deviceTypeID ? T(self) : nil }

  /// Whether two are the same type with the same connectivity and the same set of traits.
  func hasSameMetadata(as other: Self) -> Bool {
    guard id == other.id, metadata == other.metadata else { return false }
    return device.endpoint(endpoint) == other.device.endpoint(endpoint) || traits.ids == other.traits.ids
  }

  public static func == (left: Self, right: Self) -> Bool {
    left.hasSameMetadata(as: right) && left.traits.elementsEqual(right.traits)
  }
}
