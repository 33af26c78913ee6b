internal import MatterClusters

// The table of Matter's device types and clusters and their counterparts in Google's cloud-to-cloud schemas.
//
// Omitted, because they have no counterpart:
// - the utility types, Aggregator, and the types that only command other devices (light switches, controllers, remote
//   controls), which have no state to query; Generic Switch and Doorbell have only events;
// - On/Off Sensor, Light Sensor, Pressure Sensor, Flow Sensor, Soil Sensor, Water Freeze Detector: no trait has
//   their measurement;
// - Chime and closures;
// - Identify, Groups, Scenes Management (a scene is a device in the cloud), Binding and the administrative clusters;
// - the types and clusters of manufacturers.

/// The traits of a cloud device, with their attributes.
struct CloudMapping {
  private(set) var traits: Set<String> = []
  private(set) var attributes: [String: JSONValue] = [:]

  /// Returns the type in the cloud; nil if it has no counterpart.
  static func type(of type: DeviceTypeID, _ traits: TraitCollection) -> String? {
    if type == DeviceTypes.windowCovering.id { return covering(traits) }
    return types[type]
  }

  private static let types: [DeviceTypeID: String] = [
    DeviceTypes.onOffLight.id: "LIGHT", DeviceTypes.dimmableLight.id: "LIGHT",
    DeviceTypes.colorTemperatureLight.id: "LIGHT", DeviceTypes.extendedColorLight.id: "LIGHT",
    DeviceTypes.onOffPlugInUnit.id: "OUTLET", DeviceTypes.dimmablePlugInUnit.id: "OUTLET",
    DeviceTypes.mountedOnOffControl.id: "SWITCH", DeviceTypes.mountedDimmableLoadControl.id: "SWITCH",
    DeviceTypes.pump.id: "SWITCH", DeviceTypes.contactSensor.id: "SENSOR", DeviceTypes.occupancySensor.id: "SENSOR",
    DeviceTypes.temperatureSensor.id: "SENSOR", DeviceTypes.humiditySensor.id: "SENSOR",
    DeviceTypes.waterLeakDetector.id: "SENSOR", DeviceTypes.rainSensor.id: "SENSOR",
    DeviceTypes.airQualitySensor.id: "SENSOR", DeviceTypes.smokeCoAlarm.id: "SMOKE_DETECTOR",
    DeviceTypes.doorLock.id: "LOCK", DeviceTypes.thermostat.id: "THERMOSTAT", DeviceTypes.fan.id: "FAN",
    DeviceTypes.airPurifier.id: "AIRPURIFIER", DeviceTypes.roomAirConditioner.id: "AC_UNIT",
    DeviceTypes.waterHeater.id: "WATERHEATER", DeviceTypes.extractorHood.id: "HOOD",
    DeviceTypes.speaker.id: "SPEAKER", DeviceTypes.basicVideoPlayer.id: "TV",
    DeviceTypes.castingVideoPlayer.id: "TV", DeviceTypes.cooktop.id: "COOKTOP",
  ]

  /// Returns the type of a covering by its EndProductType. Application Clusters § 5.3.5.6.
  private static func covering(_ traits: TraitCollection) -> String {
    switch traits[WindowCoveringTrait.self]?.attributes.endProductType {
    case .rollerShutter, .swingingShutter, .slidingShutter: "SHUTTER"
    case .awningTerracePatio, .awningVerticalScreen: "AWNING"
    case .tiltOnlyPergola: "PERGOLA"
    case .lateralLeftCurtain, .lateralRightCurtain, .centralCurtain, .verticalBlindStripCurtain: "CURTAIN"
    default: "BLINDS"
    }
  }

  /// Creates the traits of an endpoint of a type; none if nothing has a counterpart.
  init(of type: DeviceTypeID, _ traits: MatterTraits) {
    if type == DeviceTypes.speaker.id {
      // On/Off mutes a speaker, and its level is the volume. Device Library § 10.2.
      if traits.levelControlTrait != nil {
        add("Volume", ["volumeMaxLevel": 100, "volumeCanMuteAndUnmute": .bool(traits.onOffTrait != nil)])
      }
      return
    }
    if traits.onOffTrait != nil { add("OnOff", ["commandOnlyOnOff": false]) }
    if traits.levelControlTrait != nil { add("Brightness", ["commandOnlyBrightness": false]) }
    if let color = traits.colorControlTrait { add(color, type) }
    if let covering = traits.windowCoveringTrait { add(covering) }
    if traits.doorLockTrait != nil { add("LockUnlock") }
    if let thermostat = traits.thermostatTrait { add(thermostat) }
    if let fan = traits.fanControlTrait { add(fan) }
    if let occupancy = traits.occupancySensingTrait { add(occupancy) }
    if let temperature = traits.temperatureMeasurementTrait?.attributes {
      add(
        "TemperatureControl",
        [
          "queryOnlyTemperatureControl": true, "temperatureUnitForUX": "C",
          "temperatureRange": Self.range(temperature.minMeasuredValue, temperature.maxMeasuredValue),
        ])
    }
    if traits.relativeHumidityMeasurementTrait != nil { add("HumiditySetting", ["queryOnlyHumiditySetting": true]) }
    if traits.booleanStateTrait != nil { addBooleanState(type) }
    if let alarm = traits.smokeCoAlarmTrait { add(alarm) }
    if traits.airQualityTrait != nil {
      addSensor(
        "AirQuality",
        [
          "healthy", "moderate", "unhealthy", "unhealthy for sensitive groups", "very unhealthy", "hazardous",
          "unknown",
        ])
    }
  }

  /// Adds the battery of any endpoint; the only energy storage of Application Clusters § 2.7.
  mutating func addBattery(of device: HomeDevice) {
    let batteries = device.traits.all(PowerSourceTrait.self).filter { $0.supports(PowerSource.battery) }
    guard !batteries.isEmpty else { return }
    let isRechargeable = batteries.contains { $0.supports(PowerSource.rechargeable) }
    add("EnergyStorage", ["queryOnlyEnergyStorage": true, "isRechargeable": .bool(isRechargeable)])
  }

  /// Adds the traits of another endpoint of the same device.
  mutating func merge(_ other: Self) {
    traits.formUnion(other.traits)
    attributes.merge(other.attributes) { first, _ in first }
  }

  private mutating func add(_ trait: String, _ attributes: [String: JSONValue?] = [:]) {
    traits.insert(trait)
    self.attributes.merge(attributes.compactMapValues { $0 }) { _, new in new }
  }

  private mutating func add(_ trait: ColorControlTrait, _ type: DeviceTypeID) {
    // XY is mandatory for an extended color light, also before it is reported. Device Library § 4.4.
    let hasXY = trait.supports(ColorControl.xy) || type == DeviceTypes.extendedColorLight.id
    let model: JSONValue? = trait.supports(ColorControl.hueAndSaturation) ? "hsv" : hasXY ? "rgb" : nil
    // Mireds are 1,000,000 divided by kelvins: the minimum is the highest temperature.
    var range: JSONValue?
    if let min = trait.attributes.colorTempPhysicalMinMireds, let max = trait.attributes.colorTempPhysicalMaxMireds,
      min > 0, max >= min
    {
      func kelvins(_ mireds: UInt16) -> JSONValue { .int((1_000_000 + Int(mireds) / 2) / Int(mireds)) }
      range = ["temperatureMaxK": kelvins(min), "temperatureMinK": kelvins(max)]
    }
    // The schema requires one of the two.
    guard model != nil || range != nil else { return }
    add("ColorSetting", ["commandOnlyColorSetting": false, "colorModel": model, "colorTemperatureRange": range])
  }

  private mutating func add(_ trait: WindowCoveringTrait) {
    add("OpenClose", ["discreteOnlyOpenClose": .bool(!trait.supports(WindowCovering.positionAwareLift))])
    add("StartStop", ["pausable": false])
    guard trait.supports(WindowCovering.positionAwareTilt) else { return }
    add("Rotation", ["supportsDegrees": false, "supportsPercent": true])
  }

  private mutating func add(_ trait: ThermostatTrait) {
    let heats = trait.supports(Thermostat.heating)
    let cools = trait.supports(Thermostat.cooling)
    let isAuto = trait.supports(Thermostat.autoMode)
    let values = trait.attributes
    let lowest = [
      heats ? values.minHeatSetpointLimit ?? values.absMinHeatSetpointLimit : nil,
      cools ? values.minCoolSetpointLimit ?? values.absMinCoolSetpointLimit : nil,
    ].compactMap { $0 }.min()
    let highest = [
      heats ? values.maxHeatSetpointLimit ?? values.absMaxHeatSetpointLimit : nil,
      cools ? values.maxCoolSetpointLimit ?? values.absMaxCoolSetpointLimit : nil,
    ].compactMap { $0 }.max()
    add(
      "TemperatureSetting",
      [
        "availableThermostatModes": .array(
          ["off"] + (heats ? ["heat"] : []) + (cools ? ["cool"] : []) + (isAuto ? ["heatcool"] : [])),
        "thermostatTemperatureUnit": "C", "thermostatTemperatureRange": Self.range(lowest, highest),
        "bufferRangeCelsius": values.minSetpointDeadBand.map { .decimal(Double($0) / 10) },
      ])
  }

  /// Converts from hundredths of a degree.
  private static func range(_ lowest: Int16?, _ highest: Int16?) -> JSONValue? {
    guard let lowest, let highest, lowest <= highest else { return nil }
    return [
      "maxThresholdCelsius": .decimal(Double(highest) / 100), "minThresholdCelsius": .decimal(Double(lowest) / 100),
    ]
  }

  private mutating func add(_ trait: FanControlTrait) {
    // FanMode includes off; an endpoint may also have On/Off.
    add("OnOff", ["commandOnlyOnOff": false])
    let speeds: [JSONValue] =
      switch trait.attributes.fanModeSequence {
      case .offLowHigh, .offLowHighAuto: ["low", "high"]
      case .offHigh, .offHighAuto: ["high"]
      default: ["low", "medium", "high"]
      }
    add(
      "FanSpeed",
      [
        "commandOnlyFanSpeed": false, "supportsFanSpeedPercent": true,
        "reversible": .bool(trait.supports(FanControl.airflowDirectionFeature)),
        "availableFanSpeeds": [
          "ordered": true,
          "speeds": .array(
            speeds.map { ["speed_name": $0, "speed_values": [["lang": "en", "speed_synonym": [$0]]]] }),
        ],
      ])
  }

  private mutating func add(_ trait: OccupancySensingTrait) {
    var kinds: [JSONValue] = []
    if trait.supports(OccupancySensing.passiveInfrared) { kinds.append("PIR") }
    if trait.supports(OccupancySensing.ultrasonic) { kinds.append("ULTRASONIC") }
    if trait.supports(OccupancySensing.physicalContact) { kinds.append("PHYSICAL_CONTACT") }
    // The cloud has only these three; radar, vision and the others are reported as the most common one.
    if kinds.isEmpty { kinds = ["PIR"] }
    // The three delays are either all present or all absent.
    let hold = trait.attributes.holdTime
    let sensors = kinds.map { kind in
      JSONValue.present([
        "occupancySensorType": kind, "occupiedToUnoccupiedDelaySec": hold.map { .int($0) },
        "unoccupiedToOccupiedDelaySec": hold.map { _ in 0 }, "unoccupiedToOccupiedEventThreshold": hold.map { _ in 1 },
      ])
    }
    add("OccupancySensing", ["occupancySensorConfiguration": .array(sensors)])
  }

  /// Adds the trait of a Boolean state, whose meaning depends on the device type. Application Clusters § 1.7.
  private mutating func addBooleanState(_ type: DeviceTypeID) {
    switch type {
    case DeviceTypes.contactSensor.id: add("OpenClose", ["discreteOnlyOpenClose": true, "queryOnlyOpenClose": true])
    case DeviceTypes.waterLeakDetector.id: addSensor("WaterLeak", ["leak", "no leak", "unknown"])
    case DeviceTypes.rainSensor.id: addSensor("RainDetection", ["rain detected", "no rain detected", "unknown"])
    default: break
    }
  }

  private mutating func add(_ trait: SmokeCoAlarmTrait) {
    if trait.supports(SmokeCoAlarm.smokeAlarmFeature) {
      addSensor("SmokeLevel", ["smoke detected", "no smoke detected", "unknown"])
    }
    if trait.supports(SmokeCoAlarm.coAlarmFeature) {
      addSensor("CarbonMonoxideLevel", ["carbon monoxide detected", "no carbon monoxide detected", "unknown"])
    }
  }

  private mutating func addSensor(_ name: String, _ states: [JSONValue]) {
    let sensor: JSONValue = [
      "descriptiveCapabilities": ["availableStates": .array(states)], "name": .string(name),
    ]
    add("SensorState", ["sensorStatesSupported": .array((attributes["sensorStatesSupported"]?.array ?? []) + [sensor])])
  }
}
