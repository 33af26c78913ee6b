internal import MatterClusters
public import MatterModel

// What people press and turn. Device Library § 6.

/// On/Off Light Switch (0x0103).
public struct OnOffLightSwitchDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.onOffLightSwitch
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Dimmer Switch (0x0104).
public struct DimmerSwitchDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.dimmerSwitch
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Color Dimmer Switch (0x0105).
public struct ColorDimmerSwitchDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.colorDimmerSwitch
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Control Bridge (0x0840).
public struct ControlBridgeDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.controlBridge
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Pump Controller (0x0304).
public struct PumpControllerDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.pumpController
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Generic Switch (0x000F).
public struct GenericSwitchDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.genericSwitch
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}
