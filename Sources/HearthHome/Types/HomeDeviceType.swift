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
///
/// Values are equal if their metadata and the attributes of their traits are.
public protocol HomeDeviceType: Sendable, Identifiable, Equatable, CustomStringConvertible
where ID == HomeDeviceTypeID {
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
  /// The ``deviceTypeID`` as a text, which is unique and constant: `0x00000100`.
  public static var identifier: String { "\(deviceTypeID)" }
  public static func == (left: Self, right: Self) -> Bool { left.untyped == right.untyped }
  public var id: HomeDeviceTypeID { untyped.id }
  /// The name in the Device Library or of the manufacturer: "On/Off Light".
  public var description: String { Self.deviceType.name }
  public var endpoint: EndpointID { untyped.endpoint }
  /// The traits of its endpoint.
  public var traits: TraitCollection { untyped.traits }
  /// The traits of its endpoint, by name.
  public var matterTraits: MatterTraits { untyped.matterTraits }
  public var metadata: DeviceTypeMetadata { untyped.metadata }
}

/// The name of ``OnOffPlugInUnitDeviceType`` in the Google Home APIs.
public typealias OnOffPluginUnitDeviceType = OnOffPlugInUnitDeviceType
/// The name of ``DimmablePlugInUnitDeviceType`` in the Google Home APIs.
public typealias DimmablePluginUnitDeviceType = DimmablePlugInUnitDeviceType
