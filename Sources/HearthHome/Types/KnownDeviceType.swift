internal import HomeModel
internal import MatterClusters
public import MatterModel

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

// MARK: Utility types and Aggregator. Device Library § 2.

public typealias RootNodeDeviceType = KnownDeviceType<0x0016>
public typealias PowerSourceDeviceType = KnownDeviceType<0x0011>
public typealias OtaRequestorDeviceType = KnownDeviceType<0x0012>
public typealias OtaProviderDeviceType = KnownDeviceType<0x0014>
public typealias AggregatorDeviceType = KnownDeviceType<0x000E>
public typealias BridgedNodeDeviceType = KnownDeviceType<0x0013>
public typealias ElectricalSensorDeviceType = KnownDeviceType<0x0510>
public typealias DeviceEnergyManagementDeviceType = KnownDeviceType<0x050D>
public typealias SecondaryNetworkInterfaceDeviceType = KnownDeviceType<0x0019>

// MARK: Lights, plugs and other loads. Device Library § 4 and § 5.

public typealias OnOffLightDeviceType = KnownDeviceType<0x0100>
public typealias DimmableLightDeviceType = KnownDeviceType<0x0101>
public typealias ColorTemperatureLightDeviceType = KnownDeviceType<0x010C>
public typealias ExtendedColorLightDeviceType = KnownDeviceType<0x010D>
public typealias OnOffPlugInUnitDeviceType = KnownDeviceType<0x010A>
public typealias DimmablePlugInUnitDeviceType = KnownDeviceType<0x010B>
public typealias MountedOnOffControlDeviceType = KnownDeviceType<0x010F>
public typealias MountedDimmableLoadControlDeviceType = KnownDeviceType<0x0110>
public typealias PumpDeviceType = KnownDeviceType<0x0303>

// MARK: Switches and controllers. Device Library § 6.

public typealias OnOffLightSwitchDeviceType = KnownDeviceType<0x0103>
public typealias DimmerSwitchDeviceType = KnownDeviceType<0x0104>
public typealias ColorDimmerSwitchDeviceType = KnownDeviceType<0x0105>
public typealias ControlBridgeDeviceType = KnownDeviceType<0x0840>
public typealias PumpControllerDeviceType = KnownDeviceType<0x0304>
public typealias GenericSwitchDeviceType = KnownDeviceType<0x000F>
public typealias DoorbellDeviceType = KnownDeviceType<0x0148>

// MARK: Sensors. Device Library § 7.

public typealias ContactSensorDeviceType = KnownDeviceType<0x0015>
public typealias LightSensorDeviceType = KnownDeviceType<0x0106>
public typealias OccupancySensorDeviceType = KnownDeviceType<0x0107>
public typealias TemperatureSensorDeviceType = KnownDeviceType<0x0302>
public typealias PressureSensorDeviceType = KnownDeviceType<0x0305>
public typealias FlowSensorDeviceType = KnownDeviceType<0x0306>
public typealias HumiditySensorDeviceType = KnownDeviceType<0x0307>
public typealias OnOffSensorDeviceType = KnownDeviceType<0x0850>
public typealias SmokeCoAlarmDeviceType = KnownDeviceType<0x0076>
public typealias AirQualitySensorDeviceType = KnownDeviceType<0x002C>
public typealias WaterFreezeDetectorDeviceType = KnownDeviceType<0x0041>
public typealias WaterLeakDetectorDeviceType = KnownDeviceType<0x0043>
public typealias RainSensorDeviceType = KnownDeviceType<0x0044>

// MARK: Locks, coverings, climate, appliances, energy and media. Device Library § 8 to § 14.

public typealias DoorLockDeviceType = KnownDeviceType<0x000A>
public typealias DoorLockControllerDeviceType = KnownDeviceType<0x000B>
public typealias SolarPowerDeviceType = KnownDeviceType<0x0017>
public typealias BatteryStorageDeviceType = KnownDeviceType<0x0018>
public typealias SpeakerDeviceType = KnownDeviceType<0x0022>
public typealias CastingVideoPlayerDeviceType = KnownDeviceType<0x0023>
public typealias ContentAppDeviceType = KnownDeviceType<0x0024>
public typealias ModeSelectDeviceType = KnownDeviceType<0x0027>
public typealias BasicVideoPlayerDeviceType = KnownDeviceType<0x0028>
public typealias CastingVideoClientDeviceType = KnownDeviceType<0x0029>
public typealias VideoRemoteControlDeviceType = KnownDeviceType<0x002A>
public typealias FanDeviceType = KnownDeviceType<0x002B>
public typealias AirPurifierDeviceType = KnownDeviceType<0x002D>
public typealias WaterValveDeviceType = KnownDeviceType<0x0042>
public typealias RefrigeratorDeviceType = KnownDeviceType<0x0070>
public typealias TemperatureControlledCabinetDeviceType = KnownDeviceType<0x0071>
public typealias RoomAirConditionerDeviceType = KnownDeviceType<0x0072>
public typealias LaundryWasherDeviceType = KnownDeviceType<0x0073>
public typealias RoboticVacuumCleanerDeviceType = KnownDeviceType<0x0074>
public typealias DishwasherDeviceType = KnownDeviceType<0x0075>
public typealias CookSurfaceDeviceType = KnownDeviceType<0x0077>
public typealias CooktopDeviceType = KnownDeviceType<0x0078>
public typealias MicrowaveOvenDeviceType = KnownDeviceType<0x0079>
public typealias ExtractorHoodDeviceType = KnownDeviceType<0x007A>
public typealias OvenDeviceType = KnownDeviceType<0x007B>
public typealias LaundryDryerDeviceType = KnownDeviceType<0x007C>
public typealias NetworkInfrastructureManagerDeviceType = KnownDeviceType<0x0090>
public typealias JointFabricAdministratorDeviceType = KnownDeviceType<0x0130>
public typealias WindowCoveringDeviceType = KnownDeviceType<0x0202>
public typealias WindowCoveringControllerDeviceType = KnownDeviceType<0x0203>
public typealias ThermostatDeviceType = KnownDeviceType<0x0301>
public typealias HeatPumpDeviceType = KnownDeviceType<0x0309>
public typealias ThermostatControllerDeviceType = KnownDeviceType<0x030A>
public typealias EnergyEvseDeviceType = KnownDeviceType<0x050C>
public typealias WaterHeaterDeviceType = KnownDeviceType<0x050F>

// MARK: Names in the Google Home APIs

public typealias OnOffPluginUnitDeviceType = OnOffPlugInUnitDeviceType
public typealias DimmablePluginUnitDeviceType = DimmablePlugInUnitDeviceType
