internal import CloudLink
internal import HomeModel
internal import MatterClusters
internal import MatterModel

// The table of Matter's device types and clusters and their counterparts in Google's cloud-to-cloud schemas.
//
// Omitted, because they have no counterpart:
// - the utility types, Aggregator, and the types that only command other devices (light switches, controllers, remote
//   controls), which have no state to query; Generic Switch and Doorbell have only events;
// - On/Off Sensor, Light Sensor, Pressure Sensor, Flow Sensor, Water Freeze Detector: no trait has their measurement;
// - Identify, Groups, Scenes Management (a scene is a device in the cloud), Binding and the administrative clusters;
// - the types and clusters of manufacturers.

enum CloudMapping {
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

  /// Returns the traits of an endpoint of a type, with their attributes; empty if none has a counterpart.
  static func traits(of type: DeviceTypeID, _ traits: MatterTraits) -> (names: Set<String>, attributes: CloudAttributes)
  {
    var result = Mapped()
    if type == DeviceTypes.speaker.id {
      // On/Off mutes a speaker, and its level is the volume. Device Library § 10.2.
      if traits.levelControlTrait != nil {
        result.names.insert("Volume")
        result.attributes.volumeMaxLevel = 100
        result.attributes.volumeCanMuteAndUnmute = traits.onOffTrait != nil
      }
      return (result.names, result.attributes)
    }
    if traits.onOffTrait != nil { result.onOff() }
    if traits.levelControlTrait != nil {
      result.names.insert("Brightness")
      result.attributes.commandOnlyBrightness = false
    }
    if let color = traits.colorControlTrait { result.color(color, type) }
    if let covering = traits.windowCoveringTrait { result.covering(covering) }
    if traits.doorLockTrait != nil { result.names.insert("LockUnlock") }
    if let thermostat = traits.thermostatTrait { result.thermostat(thermostat) }
    if let fan = traits.fanControlTrait { result.fan(fan) }
    if let occupancy = traits.occupancySensingTrait { result.occupancy(occupancy) }
    if let temperature = traits.temperatureMeasurementTrait { result.temperature(temperature) }
    if traits.relativeHumidityMeasurementTrait != nil {
      result.names.insert("HumiditySetting")
      result.attributes.queryOnlyHumiditySetting = true
    }
    if traits.booleanStateTrait != nil { result.booleanState(type) }
    if let alarm = traits.traits.first(where: { $0.id.cluster == smokeCoAlarm }) { result.alarm(alarm) }
    if traits.traits.contains(airQuality) {
      result.sensor(
        "AirQuality",
        [
          "healthy", "moderate", "unhealthy", "unhealthy for sensitive groups", "very unhealthy", "hazardous",
          "unknown",
        ])
    }
    return (result.names, result.attributes)
  }

  /// Returns the battery of any endpoint; the only energy storage of Application Clusters § 2.7.
  static func battery(_ device: HomeDevice) -> (name: String, isRechargeable: Bool)? {
    let batteries = device.traits.all(PowerSourceTrait.self).filter { $0.supports(PowerSource.battery) }
    guard !batteries.isEmpty else { return nil }
    return ("EnergyStorage", batteries.contains { $0.supports(PowerSource.rechargeable) })
  }

  // Clusters that are not declared in this project. Application Clusters § 2.11 and § 2.9.
  private static let smokeCoAlarm: ClusterID = 0x005C, airQuality: ClusterID = 0x005B
}

/// Collects traits and their attributes.
private struct Mapped {
  var names: Set<String> = []
  var attributes = CloudAttributes()

  mutating func onOff() {
    names.insert("OnOff")
    attributes.commandOnlyOnOff = false
  }

  mutating func color(_ trait: ColorControlTrait, _ type: DeviceTypeID) {
    if trait.supports(ColorControl.hueAndSaturation) {
      attributes.colorModel = "hsv"
    } else if trait.supports(ColorControl.xy) || type == DeviceTypes.extendedColorLight.id {
      // XY is mandatory for an extended color light, also before it is reported. Device Library § 4.4.
      attributes.colorModel = "rgb"
    }
    // Mireds are 1,000,000 divided by kelvins: the minimum is the highest temperature.
    if let min = trait.attributes.colorTempPhysicalMinMireds, let max = trait.attributes.colorTempPhysicalMaxMireds,
      min > 0, max >= min
    {
      attributes.colorTemperatureRange = .init(
        temperatureMinK: Self.kelvins(max), temperatureMaxK: Self.kelvins(min))
    }
    // The schema requires one of the two.
    guard attributes.colorModel != nil || attributes.colorTemperatureRange != nil else { return }
    names.insert("ColorSetting")
    attributes.commandOnlyColorSetting = false
  }

  private static func kelvins(_ mireds: UInt16) -> Int { (1_000_000 + Int(mireds) / 2) / Int(mireds) }

  mutating func covering(_ trait: WindowCoveringTrait) {
    names.insert("OpenClose")
    attributes.discreteOnlyOpenClose = !trait.supports(WindowCovering.positionAwareLift)
    names.insert("StartStop")
    attributes.pausable = false
    guard trait.supports(WindowCovering.positionAwareTilt) else { return }
    names.insert("Rotation")
    attributes.supportsDegrees = false
    attributes.supportsPercent = true
  }

  mutating func thermostat(_ trait: ThermostatTrait) {
    names.insert("TemperatureSetting")
    let heats = trait.supports(Thermostat.heating)
    let cools = trait.supports(Thermostat.cooling)
    attributes.availableThermostatModes =
      ["off"] + (heats ? ["heat"] : []) + (cools ? ["cool"] : [])
      + (trait.supports(Thermostat.autoMode) ? ["heatcool"] : [])
    attributes.thermostatTemperatureUnit = "C"
    let values = trait.attributes
    let lowest = [
      heats ? values.minHeatSetpointLimit ?? values.absMinHeatSetpointLimit : nil,
      cools ? values.minCoolSetpointLimit ?? values.absMinCoolSetpointLimit : nil,
    ].compactMap { $0 }.min()
    let highest = [
      heats ? values.maxHeatSetpointLimit ?? values.absMaxHeatSetpointLimit : nil,
      cools ? values.maxCoolSetpointLimit ?? values.absMaxCoolSetpointLimit : nil,
    ].compactMap { $0 }.max()
    attributes.thermostatTemperatureRange = Self.range(lowest, highest)
    attributes.bufferRangeCelsius = values.minSetpointDeadBand.map { Double($0) / 10 }
  }

  /// Converts from hundredths of a degree.
  private static func range(_ lowest: Int16?, _ highest: Int16?) -> CloudAttributes.TemperatureRange? {
    guard let lowest, let highest, lowest <= highest else { return nil }
    return .init(minThresholdCelsius: Double(lowest) / 100, maxThresholdCelsius: Double(highest) / 100)
  }

  mutating func fan(_ trait: FanControlTrait) {
    // FanMode includes off; an endpoint may also have On/Off.
    onOff()
    names.insert("FanSpeed")
    attributes.commandOnlyFanSpeed = false
    attributes.supportsFanSpeedPercent = true
    attributes.reversible = trait.supports(FanControl.airflowDirectionFeature)
    let speeds: [String] =
      switch trait.attributes.fanModeSequence {
      case .offLowHigh, .offLowHighAuto: ["low", "high"]
      case .offHigh, .offHighAuto: ["high"]
      default: ["low", "medium", "high"]
      }
    attributes.availableFanSpeeds = .init(
      speeds: speeds.map { .init(name: $0, values: [.init(synonyms: [$0], language: "en")]) }, ordered: true)
  }

  mutating func occupancy(_ trait: OccupancySensingTrait) {
    names.insert("OccupancySensing")
    var kinds: [String] = []
    if trait.supports(OccupancySensing.passiveInfrared) { kinds.append("PIR") }
    if trait.supports(OccupancySensing.ultrasonic) { kinds.append("ULTRASONIC") }
    if trait.supports(OccupancySensing.physicalContact) { kinds.append("PHYSICAL_CONTACT") }
    // The cloud has only these three; radar, vision and the others are reported as the most common one.
    if kinds.isEmpty { kinds = ["PIR"] }
    let hold = trait.attributes.holdTime.map { Int($0) }
    attributes.occupancySensorConfiguration = kinds.map {
      .init(
        occupancySensorType: $0, occupiedToUnoccupiedDelaySec: hold, unoccupiedToOccupiedDelaySec: hold.map { _ in 0 },
        unoccupiedToOccupiedEventThreshold: hold.map { _ in 1 })
    }
  }

  mutating func temperature(_ trait: TemperatureMeasurementTrait) {
    names.insert("TemperatureControl")
    attributes.queryOnlyTemperatureControl = true
    attributes.temperatureUnitForUX = "C"
    attributes.temperatureRange = Self.range(trait.attributes.minMeasuredValue, trait.attributes.maxMeasuredValue)
  }

  /// Adds the trait of a Boolean state, whose meaning depends on the device type. Application Clusters § 1.7.
  mutating func booleanState(_ type: DeviceTypeID) {
    switch type {
    case DeviceTypes.contactSensor.id:
      names.insert("OpenClose")
      attributes.discreteOnlyOpenClose = true
      attributes.queryOnlyOpenClose = true
    case DeviceTypes.waterLeakDetector.id: sensor("WaterLeak", ["leak", "no leak", "unknown"])
    case DeviceTypes.rainSensor.id: sensor("RainDetection", ["rain detected", "no rain detected", "unknown"])
    default: break
    }
  }

  /// Feature bit 0 is smoke, bit 1 carbon monoxide. Application Clusters § 2.11.4.
  mutating func alarm(_ trait: AnyTrait) {
    if trait.supports(Feature(0, "SMOKE", "SmokeAlarm")) {
      sensor("SmokeLevel", ["smoke detected", "no smoke detected", "unknown"])
    }
    if trait.supports(Feature(1, "CO", "COAlarm")) {
      sensor("CarbonMonoxideLevel", ["carbon monoxide detected", "no carbon monoxide detected", "unknown"])
    }
  }

  mutating func sensor(_ name: String, _ states: [String]) {
    names.insert("SensorState")
    attributes.sensorStatesSupported = (attributes.sensorStatesSupported ?? []) + [.init(name, states)]
  }
}
