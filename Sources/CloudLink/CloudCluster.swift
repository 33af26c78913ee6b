internal import MatterClusters
package import MatterModel
internal import WebClient

// The clusters of Matter that correspond to the traits of a cloud device, the inverse of the table in CloudMapping.swift.
//
// Without a counterpart, and omitted:
// - devices without one of the traits below: cameras, vacuums, scenes, media; also On/Off of speakers and televisions,
//   which has another meaning there;
// - effects, modes, toggles, timers, programs and other traits with commands only;
// - SensorState except leaks and rain, because the project declares no cluster for the others.

/// A cluster that a device of a cloud account serves.
package struct CloudCluster: Hashable, Sendable {
  package let id: ClusterID
  let revision: UInt16
  let features: UInt32
  package let commands: [CommandID]
  /// The type of a device with this cluster, unless the cloud reports a more specific one.
  let type: DeviceType?

  init<C: Cluster>(_: C.Type, _ features: [Feature] = [], _ commands: [CommandID] = [], type: DeviceType? = nil) {
    (id, revision) = (C.id, C.revision)
    self.features = features.reduce(0) { $0 | $1.mask }
    (self.commands, self.type) = (commands, type)
  }

  func has(_ feature: Feature) -> Bool { features & feature.mask != 0 }
}

extension CloudDevice {
  func makeClusters() -> [CloudCluster] {
    // On/Off and Brightness of these types control the sound.
    guard !["SPEAKER", "TV", "SOUNDBAR", "AUDIO_VIDEO_RECEIVER", "SETTOP"].contains(kind) else { return [] }
    var clusters: [CloudCluster] = []
    func isTrue(_ attribute: String) -> Bool { self.attribute(attribute)?.bool == true }
    let isLight = kind == "LIGHT"
    if has("OnOff") {
      clusters.append(.init(OnOff.self, isLight ? [OnOff.lighting] : [], [OnOff.off.id, OnOff.on.id, OnOff.toggle.id]))
    }
    if has("Brightness") {
      clusters.append(
        .init(
          LevelControl.self, [LevelControl.onOff] + (isLight ? [LevelControl.lighting] : []),
          [LevelControl.moveToLevel.id, LevelControl.moveToLevelWithOnOff.id]))
    }
    if hasColors || temperatures != nil { clusters.append(colorControl) }
    if has("LockUnlock") {
      clusters.append(
        .init(DoorLock.self, [], [DoorLock.lockDoor.id, DoorLock.unlockDoor.id], type: DeviceTypes.doorLock))
    }
    if has("TemperatureSetting") { clusters.append(thermostat) }
    if has("FanSpeed"), isTrue("supportsFanSpeedPercent") {
      clusters.append(.init(FanControl.self, type: DeviceTypes.fan))
    }
    if has("OpenClose") {
      // Without commands it is a contact sensor.
      clusters.append(
        isTrue("queryOnlyOpenClose")
          ? .init(BooleanState.self, type: DeviceTypes.contactSensor)
          : covering(isDiscrete: isTrue("discreteOnlyOpenClose")))
    } else if has("SensorState") {
      let sensors = (attribute("sensorStatesSupported")?.array ?? []).compactMap { $0["name"]?.text }
      let types = [("WaterLeak", DeviceTypes.waterLeakDetector), ("RainDetection", DeviceTypes.rainSensor)]
      if let type = types.first(where: { sensors.contains($0.0) }) {
        clusters.append(.init(BooleanState.self, type: type.1))
      }
    }
    if has("OccupancySensing") {
      clusters.append(
        .init(OccupancySensing.self, [OccupancySensing.passiveInfrared], type: DeviceTypes.occupancySensor))
    }
    // With a set point it is an oven, a kettle or the like, and not a sensor.
    if has("TemperatureControl"), isTrue("queryOnlyTemperatureControl") {
      clusters.append(.init(TemperatureMeasurement.self, type: DeviceTypes.temperatureSensor))
    }
    if has("HumiditySetting"), isTrue("queryOnlyHumiditySetting") {
      clusters.append(.init(RelativeHumidityMeasurement.self, type: DeviceTypes.humiditySensor))
    }
    return clusters
  }

  private var colorControl: CloudCluster {
    var (features, commands): ([Feature], [CommandID]) = ([], [])
    if hasColors {
      features.append(ColorControl.hueAndSaturation)
      commands += [
        ColorControl.moveToHue.id, ColorControl.moveToSaturation.id, ColorControl.moveToHueAndSaturation.id,
        ColorControl.moveToColor.id,
      ]
    }
    if temperatures != nil {
      features.append(ColorControl.colortemperature)
      commands.append(ColorControl.moveToColorTemperature.id)
    }
    return CloudCluster(ColorControl.self, features, commands)
  }

  private var thermostat: CloudCluster {
    let modes = thermostatModes
    let isAuto = modes.contains("heatcool") || modes.contains("auto")
    return CloudCluster(
      Thermostat.self,
      (isAuto || modes.contains("heat") ? [Thermostat.heating] : [])
        + (isAuto || modes.contains("cool") ? [Thermostat.cooling] : []) + (isAuto ? [Thermostat.autoMode] : []),
      type: DeviceTypes.thermostat)
  }

  private func covering(isDiscrete: Bool) -> CloudCluster {
    CloudCluster(
      WindowCovering.self, [WindowCovering.lift] + (isDiscrete ? [] : [WindowCovering.positionAwareLift]),
      [WindowCovering.upOrOpen.id, WindowCovering.downOrClose.id]
        + (has("StartStop") ? [WindowCovering.stopMotion.id] : [])
        + (isDiscrete ? [] : [WindowCovering.goToLiftPercentage.id]), type: DeviceTypes.windowCovering)
  }

  /// The types of its endpoint; empty if no cluster corresponds.
  var types: [DeviceType] {
    guard !clusters.isEmpty else { return [] }
    let isDimmed = has("Brightness")
    switch kind {
    case "LIGHT" where hasColors: return [DeviceTypes.extendedColorLight]
    case "LIGHT" where temperatures != nil: return [DeviceTypes.colorTemperatureLight]
    case "LIGHT": return [isDimmed ? DeviceTypes.dimmableLight : DeviceTypes.onOffLight]
    case "OUTLET": return [isDimmed ? DeviceTypes.dimmablePlugInUnit : DeviceTypes.onOffPlugInUnit]
    case "LOCK": return [DeviceTypes.doorLock]
    case "THERMOSTAT": return [DeviceTypes.thermostat]
    case "FAN": return [DeviceTypes.fan]
    case "AIRPURIFIER": return [DeviceTypes.airPurifier]
    case "AC_UNIT": return [DeviceTypes.roomAirConditioner]
    case "WATERHEATER": return [DeviceTypes.waterHeater]
    case "HOOD": return [DeviceTypes.extractorHood]
    default:
      let types = clusters.compactMap(\.type)
      let control = isDimmed ? DeviceTypes.mountedDimmableLoadControl : DeviceTypes.mountedOnOffControl
      return types.isEmpty ? [control] : types
    }
  }

  /// Sets the attributes with the limits of the clusters.
  func setLimits(_ report: inout CloudReport) {
    for cluster in clusters {
      switch cluster.id {
      case LevelControl.id:
        report.set(LevelControl.minLevel, 1)
        report.set(LevelControl.maxLevel, 254)
      case ColorControl.id:
        report.set(ColorControl.colorCapabilities, .init(rawValue: UInt16(truncatingIfNeeded: cluster.features)))
        report.set(ColorControl.colorTempPhysicalMinMireds, temperatures.map { Self.mireds($0.upperBound) })
        report.set(ColorControl.colorTempPhysicalMaxMireds, temperatures.map { Self.mireds($0.lowerBound) })
      case DoorLock.id: report.set(DoorLock.actuatorEnabled, true)
      case Thermostat.id:
        let range = attribute("thermostatTemperatureRange")
        guard let low = range?["minThresholdCelsius"]?.number, let high = range?["maxThresholdCelsius"]?.number else {
          break
        }
        if cluster.has(Thermostat.heating) {
          report.set(Thermostat.minHeatSetpointLimit, Self.hundredths(low))
          report.set(Thermostat.maxHeatSetpointLimit, Self.hundredths(high))
        }
        if cluster.has(Thermostat.cooling) {
          report.set(Thermostat.minCoolSetpointLimit, Self.hundredths(low))
          report.set(Thermostat.maxCoolSetpointLimit, Self.hundredths(high))
        }
      default: break
      }
    }
  }
}
