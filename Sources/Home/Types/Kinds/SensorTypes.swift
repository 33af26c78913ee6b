internal import MatterClusters
public import MatterModel

// What measures and detects. Device Library § 7.

/// Contact Sensor (0x0015).
public struct ContactSensorDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.contactSensor
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Light Sensor (0x0106).
public struct LightSensorDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.lightSensor
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Occupancy Sensor (0x0107).
public struct OccupancySensorDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.occupancySensor
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Temperature Sensor (0x0302).
public struct TemperatureSensorDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.temperatureSensor
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Pressure Sensor (0x0305).
public struct PressureSensorDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.pressureSensor
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Flow Sensor (0x0306).
public struct FlowSensorDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.flowSensor
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Humidity Sensor (0x0307).
public struct HumiditySensorDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.humiditySensor
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// On/Off Sensor (0x0850).
public struct OnOffSensorDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.onOffSensor
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Smoke CO Alarm (0x0076).
public struct SmokeCoAlarmDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.smokeCoAlarm
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Air Quality Sensor (0x002C).
public struct AirQualitySensorDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.airQualitySensor
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Water Freeze Detector (0x0041).
public struct WaterFreezeDetectorDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.waterFreezeDetector
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Water Leak Detector (0x0043).
public struct WaterLeakDetectorDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.waterLeakDetector
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Rain Sensor (0x0044).
public struct RainSensorDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.rainSensor
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}
