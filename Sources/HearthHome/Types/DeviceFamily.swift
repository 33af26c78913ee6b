internal import MatterClusters

/// A named family of device types, such as lights, which comprise four types. See <doc:TheHomeModel>, “Objects”.
public struct DeviceFamily: Hashable, Sendable {
  /// The name for `hearth devices --kind`.
  public let name: String
  /// The device types of the family.
  public let types: Set<DeviceTypeID>

  private init(_ name: String, _ types: [DeviceType]) {
    self.name = name
    self.types = Set(types.map(\.id))
  }

  /// Whether the family includes a device type.
  public func contains(_ type: DeviceTypeID) -> Bool { types.contains(type) }

  /// Lights: on/off, dimmable, color temperature, extended color.
  public static let light = Self(
    "light",
    [
      DeviceTypes.onOffLight, DeviceTypes.dimmableLight, DeviceTypes.colorTemperatureLight,
      DeviceTypes.extendedColorLight,
    ])
  /// Plug-in units between a socket and an appliance.
  public static let plug = Self("plug", [DeviceTypes.onOffPlugInUnit, DeviceTypes.dimmablePlugInUnit])
  /// Switches and controls operated by users.
  public static let `switch` = Self(
    "switch",
    [
      DeviceTypes.onOffLightSwitch, DeviceTypes.dimmerSwitch, DeviceTypes.colorDimmerSwitch, DeviceTypes.genericSwitch,
      DeviceTypes.doorbell, DeviceTypes.controlBridge, DeviceTypes.modeSelect,
    ])
  /// Sensors. Includes On/Off Sensor because of its name, although it has nothing to read.
  public static let sensor = Self(
    "sensor",
    [
      DeviceTypes.contactSensor, DeviceTypes.lightSensor, DeviceTypes.occupancySensor, DeviceTypes.temperatureSensor,
      DeviceTypes.pressureSensor, DeviceTypes.flowSensor, DeviceTypes.humiditySensor, DeviceTypes.onOffSensor,
      DeviceTypes.smokeCoAlarm, DeviceTypes.airQualitySensor, DeviceTypes.waterFreezeDetector,
      DeviceTypes.waterLeakDetector, DeviceTypes.rainSensor, DeviceTypes.soilSensor,
    ])
  public static let lock = Self("lock", [DeviceTypes.doorLock])
  /// Blinds, shades and curtains, and closures such as garage doors.
  public static let covering = Self("covering", [DeviceTypes.windowCovering, DeviceTypes.closure])
  /// Devices that heat, cool or clean air or water.
  public static let climate = Self(
    "climate",
    [
      DeviceTypes.thermostat, DeviceTypes.fan, DeviceTypes.airPurifier, DeviceTypes.roomAirConditioner,
      DeviceTypes.heatPump, DeviceTypes.waterHeater, DeviceTypes.extractorHood,
    ])
  public static let media = Self(
    "media", [DeviceTypes.speaker, DeviceTypes.basicVideoPlayer, DeviceTypes.castingVideoPlayer])
  /// Bridges.
  public static let bridge = Self("bridge", [DeviceTypes.aggregator])

  /// All families.
  public static let all: [DeviceFamily] = [light, plug, `switch`, sensor, lock, covering, climate, media, bridge]

  /// Returns the family with this name, in any case, singular or plural; nil if there is none.
  public static func named(_ name: String) -> DeviceFamily? {
    let name = name.lowercased()
    return all.first { name == $0.name || name == $0.name + "s" || name == $0.name + "es" }
  }

  /// Returns the families of a device type.
  public static func of(_ type: DeviceTypeID) -> [DeviceFamily] { all.filter { $0.contains(type) } }
}

extension HomeDevice {
  /// Whether an endpoint is a light of any type. A light switch is not a light.
  public var isLight: Bool { types.contains(.light) }
}
