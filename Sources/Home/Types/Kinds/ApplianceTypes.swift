internal import MatterClusters
public import MatterModel

// Locks, coverings, climate, appliances, energy and media. Device Library § 8 to § 14.

/// Door Lock (0x000A).
public struct DoorLockDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.doorLock
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Door Lock Controller (0x000B).
public struct DoorLockControllerDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.doorLockController
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Solar Power (0x0017).
public struct SolarPowerDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.solarPower
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Battery Storage (0x0018).
public struct BatteryStorageDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.batteryStorage
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Speaker (0x0022).
public struct SpeakerDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.speaker
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Casting Video Player (0x0023).
public struct CastingVideoPlayerDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.castingVideoPlayer
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Content App (0x0024).
public struct ContentAppDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.contentApp
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Mode Select (0x0027).
public struct ModeSelectDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.modeSelect
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Basic Video Player (0x0028).
public struct BasicVideoPlayerDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.basicVideoPlayer
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Casting Video Client (0x0029).
public struct CastingVideoClientDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.castingVideoClient
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Video Remote Control (0x002A).
public struct VideoRemoteControlDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.videoRemoteControl
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Fan (0x002B).
public struct FanDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.fan
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Air Purifier (0x002D).
public struct AirPurifierDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.airPurifier
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Water Valve (0x0042).
public struct WaterValveDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.waterValve
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Refrigerator (0x0070).
public struct RefrigeratorDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.refrigerator
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Temperature Controlled Cabinet (0x0071).
public struct TemperatureControlledCabinetDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.temperatureControlledCabinet
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Room Air Conditioner (0x0072).
public struct RoomAirConditionerDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.roomAirConditioner
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Laundry Washer (0x0073).
public struct LaundryWasherDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.laundryWasher
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Robotic Vacuum Cleaner (0x0074).
public struct RoboticVacuumCleanerDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.roboticVacuumCleaner
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Dishwasher (0x0075).
public struct DishwasherDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.dishwasher
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Cook Surface (0x0077).
public struct CookSurfaceDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.cookSurface
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Cooktop (0x0078).
public struct CooktopDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.cooktop
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Microwave Oven (0x0079).
public struct MicrowaveOvenDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.microwaveOven
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Extractor Hood (0x007A).
public struct ExtractorHoodDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.extractorHood
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Oven (0x007B).
public struct OvenDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.oven
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Laundry Dryer (0x007C).
public struct LaundryDryerDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.laundryDryer
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Network Infrastructure Manager (0x0090).
public struct NetworkInfrastructureManagerDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.networkInfrastructureManager
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Joint Fabric Administrator (0x0130).
public struct JointFabricAdministratorDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.jointFabricAdministrator
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Window Covering (0x0202).
public struct WindowCoveringDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.windowCovering
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Window Covering Controller (0x0203).
public struct WindowCoveringControllerDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.windowCoveringController
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Thermostat (0x0301).
public struct ThermostatDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.thermostat
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Heat Pump (0x0309).
public struct HeatPumpDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.heatPump
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Thermostat Controller (0x030A).
public struct ThermostatControllerDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.thermostatController
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// EVSE (0x050C).
public struct EnergyEvseDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.energyEvse
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Water Heater (0x050F).
public struct WaterHeaterDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.waterHeater
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}
