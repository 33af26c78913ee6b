public import MatterModel

/// A device type to ask a device for: `device.types.get(DimmableLightDeviceType.self)`.
/// See <doc:TheHomeModel>, “Objects”.
///
/// A maker's own is declared in three lines:
///
///     struct SpinnerDeviceType: HomeDeviceType {
///       static let deviceType = DeviceType(0xFFF1_0001, revision: 1, name: "Spinner", servers: [Spinner.id])
///       let untyped: AnyDeviceType
///       init(_ untyped: AnyDeviceType) { self.untyped = untyped }
///     }
public protocol HomeDeviceType: Sendable, Identifiable where ID == HomeDeviceTypeID {
  /// What the Device Library, or its maker, says of it.
  static var deviceType: DeviceType { get }
  /// The same without its name.
  var untyped: AnyDeviceType { get }
  /// Gives a type its name; asked only for one whose id is ``deviceType``'s.
  init(_ untyped: AnyDeviceType)
}

extension HomeDeviceType {
  public var id: HomeDeviceTypeID { untyped.id }
  public var endpoint: EndpointID { untyped.endpoint }
  /// The traits of its endpoint.
  public var traits: TraitCollection { untyped.traits }
  /// The traits of its endpoint, by name.
  public var matterTraits: MatterTraits { untyped.matterTraits }
  public var metadata: DeviceTypeMetadata { untyped.metadata }
}
