/// A Swift type of a device type, for `device.types.get(DimmableLightDeviceType.self)`. See <doc:TheHomeModel>,
/// “Objects”.
///
/// A manufacturer-specific type is declared as follows:
///
///     struct SpinnerDeviceType: HomeDeviceType {
///       static let deviceType = DeviceType(0xFFF1_0001, revision: 1, name: "Spinner", servers: [Spinner.id])
///       let untyped: AnyDeviceType
///       init(_ untyped: AnyDeviceType) { self.untyped = untyped }
///     }
public protocol HomeDeviceType: Sendable, Identifiable where ID == HomeDeviceTypeID {
  /// The declaration of the type in the Device Library or by the manufacturer.
  static var deviceType: DeviceType { get }
  /// The id of ``deviceType``.
  static var deviceTypeID: DeviceTypeID { get }
  /// The untyped value.
  var untyped: AnyDeviceType { get }
  /// Wraps an untyped value, whose id must be that of ``deviceType``.
  init(_ untyped: AnyDeviceType)
}

extension HomeDeviceType {
  public static var deviceTypeID: DeviceTypeID { deviceType.id }
  public var id: HomeDeviceTypeID { untyped.id }
  public var endpoint: EndpointID { untyped.endpoint }
  /// The traits of its endpoint.
  public var traits: TraitCollection { untyped.traits }
  /// The traits of its endpoint, by name.
  public var matterTraits: MatterTraits { untyped.matterTraits }
  public var metadata: DeviceTypeMetadata { untyped.metadata }
}
