internal import MatterClusters

/// The Swift type of a device type of the Device Library, by its number; named by a type alias such as
/// ``OnOffLightDeviceType``.
public struct KnownDeviceType<let number: Int>: HomeDeviceType {
  public static var deviceTypeID: DeviceTypeID { DeviceTypeID(UInt32(truncatingIfNeeded: number)) }
  public static var deviceType: DeviceType {
    DeviceTypes.named(deviceTypeID)
      ?? DeviceType(deviceTypeID, revision: 1, name: ElementNames.deviceType(deviceTypeID), servers: [])
  }
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// The name of ``OnOffPlugInUnitDeviceType`` in the Google Home APIs.
public typealias OnOffPluginUnitDeviceType = OnOffPlugInUnitDeviceType
/// The name of ``DimmablePlugInUnitDeviceType`` in the Google Home APIs.
public typealias DimmablePluginUnitDeviceType = DimmablePlugInUnitDeviceType
