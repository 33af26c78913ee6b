internal import MatterClusters
public import MatterModel

// Lights, plugs and other loads. Device Library § 4 and § 5.

/// On/Off Light (0x0100).
public struct OnOffLightDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.onOffLight
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Dimmable Light (0x0101).
public struct DimmableLightDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.dimmableLight
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Color Temperature Light (0x010C).
public struct ColorTemperatureLightDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.colorTemperatureLight
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Extended Color Light (0x010D).
public struct ExtendedColorLightDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.extendedColorLight
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// On/Off Plug-in Unit (0x010A).
public struct OnOffPlugInUnitDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.onOffPlugInUnit
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Dimmable Plug-In Unit (0x010B).
public struct DimmablePlugInUnitDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.dimmablePlugInUnit
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Mounted On/Off Control (0x010F).
public struct MountedOnOffControlDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.mountedOnOffControl
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Mounted Dimmable Load Control (0x0110).
public struct MountedDimmableLoadControlDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.mountedDimmableLoadControl
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Pump (0x0303).
public struct PumpDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.pump
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// The name in the Google Home APIs.
public typealias OnOffPluginUnitDeviceType = OnOffPlugInUnitDeviceType
/// The name in the Google Home APIs.
public typealias DimmablePluginUnitDeviceType = DimmablePlugInUnitDeviceType
