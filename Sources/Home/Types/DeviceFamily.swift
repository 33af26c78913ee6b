internal import MatterClusters
public import MatterModel

/// Device types that people call by one name: there is no type "light", it is four. See <doc:TheHomeModel>, “Objects”.
public struct DeviceFamily: Hashable, Sendable {
  /// As `hearth devices --kind` takes it.
  public let name: String
  /// Whatever is of one of these is of the family.
  public let types: Set<DeviceTypeID>

  private init(_ name: String, _ types: [DeviceType]) {
    self.name = name
    self.types = Set(types.map(\.id))
  }

  /// Whether this device type is one of the family's.
  public func contains(_ type: DeviceTypeID) -> Bool { types.contains(type) }

  /// On/off, dimmable, colour temperature, extended colour.
  public static let light = Self(
    "light",
    [
      DeviceTypes.onOffLight, DeviceTypes.dimmableLight, DeviceTypes.colorTemperatureLight,
      DeviceTypes.extendedColorLight,
    ])
  /// What is put between a wall and something else.
  public static let plug = Self("plug", [DeviceTypes.onOffPlugInUnit, DeviceTypes.dimmablePlugInUnit])
  /// What people press or turn.
  public static let `switch` = Self(
    "switch",
    [
      DeviceTypes.onOffLightSwitch, DeviceTypes.dimmerSwitch, DeviceTypes.colorDimmerSwitch, DeviceTypes.genericSwitch,
    ])
  /// What measures or detects and does nothing else. An On/Off Sensor has nothing to read, but is one by its name.
  public static let sensor = Self(
    "sensor",
    [
      DeviceTypes.contactSensor, DeviceTypes.lightSensor, DeviceTypes.occupancySensor, DeviceTypes.temperatureSensor,
      DeviceTypes.pressureSensor, DeviceTypes.flowSensor, DeviceTypes.humiditySensor, DeviceTypes.onOffSensor,
      DeviceTypes.smokeCoAlarm, DeviceTypes.airQualitySensor, DeviceTypes.waterFreezeDetector,
      DeviceTypes.waterLeakDetector, DeviceTypes.rainSensor,
    ])
  public static let lock = Self("lock", [DeviceTypes.doorLock])
  /// Blinds, shades and curtains.
  public static let covering = Self("covering", [DeviceTypes.windowCovering])
  /// What makes air or water warmer, cooler or cleaner.
  public static let climate = Self(
    "climate",
    [
      DeviceTypes.thermostat, DeviceTypes.fan, DeviceTypes.airPurifier, DeviceTypes.roomAirConditioner,
      DeviceTypes.heatPump, DeviceTypes.waterHeater, DeviceTypes.extractorHood,
    ])
  public static let media = Self(
    "media", [DeviceTypes.speaker, DeviceTypes.basicVideoPlayer, DeviceTypes.castingVideoPlayer])
  /// What other devices are behind.
  public static let bridge = Self("bridge", [DeviceTypes.aggregator])

  /// Every family that has a name.
  public static let all: [DeviceFamily] = [light, plug, `switch`, sensor, lock, covering, climate, media, bridge]

  /// The family with this name, in any case and in the plural too; nil if there is none.
  public static func named(_ name: String) -> DeviceFamily? {
    let name = name.lowercased()
    return all.first { name == $0.name || name == $0.name + "s" || name == $0.name + "es" }
  }

  /// The families that a type is in.
  public static func of(_ type: DeviceTypeID) -> [DeviceFamily] { all.filter { $0.contains(type) } }
}

extension HomeDevice {
  /// Whether one of its endpoints is a light of any kind. A light switch is no light.
  public var isLight: Bool { types.contains(.light) }
}
