internal import HomeModel
internal import MatterClusters
package import MatterModel
package import MatterProtocol

// The Matter description of the devices of a cloud account, the inverse of the table in CloudMapping.swift.
//
// Without a counterpart, and omitted:
// - devices without one of the traits below: cameras, vacuums, scenes, media; also On/Off of speakers and televisions,
//   which has another meaning there;
// - effects, modes, toggles, timers, programs and other traits with commands only;
// - SensorState except leaks and rain, because the project declares no cluster for the others.

/// A builder of attributes.
struct CloudAttributeTable {
  private(set) var attributes: [AttributeData] = []

  mutating func set<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, _ value: Value, on endpoint: EndpointID
  ) {
    set(attribute.path(on: endpoint), value)
  }

  fileprivate mutating func set(_ path: ConcreteAttributePath, _ value: some ModelValue) {
    attributes.append(AttributeData(path, dataVersion: 0, value: value.tlv))
  }

  /// Adds the global attributes of a cluster.
  fileprivate mutating func add(_ cluster: CloudCluster, on endpoint: EndpointID) {
    func path(_ id: AttributeID) -> ConcreteAttributePath { .init(endpoint, cluster.id, id) }
    set(path(GlobalAttribute.featureMap), cluster.features)
    set(path(GlobalAttribute.clusterRevision), cluster.revision)
    set(path(GlobalAttribute.acceptedCommandList), cluster.commands)
  }
}

/// A cluster that a device of a cloud account serves.
package struct CloudCluster: Hashable {
  package var id: ClusterID
  package var revision: UInt16
  package var features: UInt32
  package var commands: [CommandID]

  init<C: Cluster>(_: C.Type, _ features: [Feature] = [], _ commands: [CommandID] = []) {
    (id, revision) = (C.id, C.revision)
    self.features = features.reduce(0) { $0 | $1.mask }
    self.commands = commands
  }
}

extension CloudNode {
  /// The endpoints with their types and clusters, and the identity. The states are reported separately.
  package var description: [AttributeData] {
    var table = CloudAttributeTable()
    let endpoints = orderedParts
    let hasBattery = endpoints.contains { $0.part.device.has("EnergyStorage") }
    let root = [CloudCluster(BasicInformation.self)] + (hasBattery ? [Self.battery(endpoints.map(\.part.device))] : [])
    let rootTypes = [DeviceTypes.rootNode] + (hasBattery ? [DeviceTypes.powerSource] : [])
    table.describe(.root, rootTypes, root, parts: endpoints.map(\.endpoint))
    if let first = endpoints.first { table.setBasicInformation(of: first.part.device) }
    for (endpoint, part) in endpoints {
      var (types, clusters) = part.device.matter
      // One of several devices may be offline while the others are not.
      if endpoints.count > 1 { clusters.append(CloudCluster(BridgedDeviceBasicInformation.self)) }
      table.describe(endpoint, types, clusters)
      part.device.setLimits(of: clusters, on: endpoint, in: &table)
    }
    return table.attributes
  }

  private static func battery(_ devices: [CloudDevice]) -> CloudCluster {
    let isRechargeable = devices.contains { $0.attributes.isRechargeable == true }
    return CloudCluster(
      PowerSource.self, isRechargeable ? [PowerSource.battery, PowerSource.rechargeable] : [PowerSource.battery])
  }
}

extension CloudAttributeTable {
  fileprivate mutating func describe(
    _ endpoint: EndpointID, _ types: [DeviceType], _ clusters: [CloudCluster], parts: [EndpointID] = []
  ) {
    set(
      Descriptor.deviceTypeList, types.map { .init(deviceType: $0.id, revision: $0.revision) }, on: endpoint)
    set(Descriptor.serverList, [Descriptor.id] + clusters.map(\.id), on: endpoint)
    set(Descriptor.clientList, [], on: endpoint)
    set(Descriptor.partsList, parts, on: endpoint)
    for cluster in clusters { add(cluster, on: endpoint) }
  }

  /// Sets the attributes of Basic Information, truncated to their maximum lengths. Matter Core § 11.1.5.
  fileprivate mutating func setBasicInformation(of device: CloudDevice) {
    let (info, identity) = (device.deviceInfo, device.identity)
    set(BasicInformation.nodeLabel, Self.cut(device.name.name, 32), on: .root)
    set(BasicInformation.vendorName, Self.cut(info.manufacturer ?? "", 32), on: .root)
    set(BasicInformation.productName, Self.cut(info.model ?? "", 32), on: .root)
    if let id = identity.vendorID { set(BasicInformation.vendorID, id, on: .root) }
    if let id = identity.productID { set(BasicInformation.productID, id, on: .root) }
    if let version = info.hwVersion { set(BasicInformation.hardwareVersionString, Self.cut(version, 64), on: .root) }
    if let version = info.swVersion { set(BasicInformation.softwareVersionString, Self.cut(version, 64), on: .root) }
    // A truncated id would not be unique.
    if let id = device.matterUniqueID, id.utf8.count <= 32 { set(BasicInformation.uniqueID, id, on: .root) }
  }

  /// Truncates a text to a number of bytes.
  private static func cut(_ text: String, _ length: Int) -> String {
    var result = ""
    for character in text {
      guard result.utf8.count + character.utf8.count <= length else { break }
      result.append(character)
    }
    return result
  }
}

// MARK: Types and clusters

extension CloudDevice {
  /// Whether the light has colors.
  package var hasColors: Bool { has("ColorSetting") && attributes.colorModel != nil }
  var hasTemperatures: Bool { has("ColorSetting") && attributes.colorTemperatureRange != nil }

  /// The types and clusters of its endpoint; none if no cluster corresponds.
  package var matter: (types: [DeviceType], clusters: [CloudCluster]) {
    let clusters = matterClusters
    return (clusters.isEmpty ? [] : matterTypes(clusters), clusters)
  }

  private var matterClusters: [CloudCluster] {
    // On/Off and Brightness of these types control the sound.
    guard !["SPEAKER", "TV", "SOUNDBAR", "AUDIO_VIDEO_RECEIVER", "SETTOP"].contains(kind) else { return [] }
    var clusters: [CloudCluster] = []
    let isLight = kind == "LIGHT"
    if has("OnOff") {
      clusters.append(
        CloudCluster(OnOff.self, isLight ? [OnOff.lighting] : [], [OnOff.off.id, OnOff.on.id, OnOff.toggle.id]))
    }
    if has("Brightness") {
      clusters.append(
        CloudCluster(
          LevelControl.self, isLight ? [LevelControl.onOff, LevelControl.lighting] : [LevelControl.onOff],
          [LevelControl.moveToLevel.id, LevelControl.moveToLevelWithOnOff.id]))
    }
    if hasColors || hasTemperatures { clusters.append(colors) }
    if has("LockUnlock") {
      clusters.append(CloudCluster(DoorLock.self, [], [DoorLock.lockDoor.id, DoorLock.unlockDoor.id]))
    }
    if has("TemperatureSetting") { clusters.append(CloudCluster(Thermostat.self, thermostatFeatures)) }
    if has("FanSpeed"), attributes.supportsFanSpeedPercent == true { clusters.append(CloudCluster(FanControl.self)) }
    if has("OpenClose") { clusters.append(opening) } else if let sensed { clusters.append(sensed.cluster) }
    if has("OccupancySensing") {
      clusters.append(CloudCluster(OccupancySensing.self, [OccupancySensing.passiveInfrared]))
    }
    // With a set point it is an oven, a kettle or the like, and not a sensor.
    if has("TemperatureControl"), attributes.queryOnlyTemperatureControl == true {
      clusters.append(CloudCluster(TemperatureMeasurement.self))
    }
    if has("HumiditySetting"), attributes.queryOnlyHumiditySetting == true {
      clusters.append(CloudCluster(RelativeHumidityMeasurement.self))
    }
    return clusters
  }

  private var colors: CloudCluster {
    var (features, commands): ([Feature], [CommandID]) = ([], [])
    if hasColors {
      features.append(ColorControl.hueAndSaturation)
      commands += [
        ColorControl.moveToHue.id, ColorControl.moveToSaturation.id, ColorControl.moveToHueAndSaturation.id,
        ColorControl.moveToColor.id,
      ]
    }
    if hasTemperatures {
      features.append(ColorControl.colortemperature)
      commands.append(ColorControl.moveToColorTemperature.id)
    }
    return CloudCluster(ColorControl.self, features, commands)
  }

  private var thermostatFeatures: [Feature] {
    let modes = Set(attributes.availableThermostatModes ?? [])
    let isAuto = modes.contains("heatcool") || modes.contains("auto")
    return (isAuto || modes.contains("heat") ? [Thermostat.heating] : [])
      + (isAuto || modes.contains("cool") ? [Thermostat.cooling] : []) + (isAuto ? [Thermostat.autoMode] : [])
  }

  /// A covering if it can be controlled, else a contact sensor.
  private var opening: CloudCluster {
    guard attributes.queryOnlyOpenClose != true else { return CloudCluster(BooleanState.self) }
    return CloudCluster(
      WindowCovering.self,
      attributes.discreteOnlyOpenClose == true
        ? [WindowCovering.lift] : [WindowCovering.lift, WindowCovering.positionAwareLift],
      [WindowCovering.upOrOpen.id, WindowCovering.downOrClose.id]
        + (has("StartStop") ? [WindowCovering.stopMotion.id] : [])
        + (attributes.discreteOnlyOpenClose == true ? [] : [WindowCovering.goToLiftPercentage.id]))
  }

  /// The first supported sensor of SensorState, if any.
  var sensed: (cluster: CloudCluster, type: DeviceType)? {
    guard has("SensorState") else { return nil }
    let names = (attributes.sensorStatesSupported ?? []).map(\.name)
    if names.contains("WaterLeak") { return (CloudCluster(BooleanState.self), DeviceTypes.waterLeakDetector) }
    if names.contains("RainDetection") { return (CloudCluster(BooleanState.self), DeviceTypes.rainSensor) }
    return nil
  }

  private static let plainTypes: [String: DeviceType] = [
    "LOCK": DeviceTypes.doorLock, "THERMOSTAT": DeviceTypes.thermostat, "FAN": DeviceTypes.fan,
    "AIRPURIFIER": DeviceTypes.airPurifier, "AC_UNIT": DeviceTypes.roomAirConditioner,
    "WATERHEATER": DeviceTypes.waterHeater, "HOOD": DeviceTypes.extractorHood,
  ]

  private static let typesByCluster: [ClusterID: DeviceType] = [
    WindowCovering.id: DeviceTypes.windowCovering, OccupancySensing.id: DeviceTypes.occupancySensor,
    TemperatureMeasurement.id: DeviceTypes.temperatureSensor, Thermostat.id: DeviceTypes.thermostat,
    RelativeHumidityMeasurement.id: DeviceTypes.humiditySensor, DoorLock.id: DeviceTypes.doorLock,
    FanControl.id: DeviceTypes.fan,
  ]

  private func matterTypes(_ clusters: [CloudCluster]) -> [DeviceType] {
    let isDimmed = has("Brightness")
    switch kind {
    case "LIGHT":
      if hasColors { return [DeviceTypes.extendedColorLight] }
      if hasTemperatures { return [DeviceTypes.colorTemperatureLight] }
      return [isDimmed ? DeviceTypes.dimmableLight : DeviceTypes.onOffLight]
    case "OUTLET": return [isDimmed ? DeviceTypes.dimmablePlugInUnit : DeviceTypes.onOffPlugInUnit]
    default: break
    }
    if let type = Self.plainTypes[kind] { return [type] }
    let types = clusters.compactMap {
      $0.id == BooleanState.id ? sensed?.type ?? DeviceTypes.contactSensor : Self.typesByCluster[$0.id]
    }
    // Other devices with a switch.
    return types.isEmpty
      ? [isDimmed ? DeviceTypes.mountedDimmableLoadControl : DeviceTypes.mountedOnOffControl] : types
  }

  /// Sets the attributes with the limits of the clusters.
  fileprivate func setLimits(
    of clusters: [CloudCluster], on endpoint: EndpointID, in table: inout CloudAttributeTable
  ) {
    for cluster in clusters {
      switch cluster.id {
      case LevelControl.id:
        table.set(LevelControl.minLevel, 1, on: endpoint)
        table.set(LevelControl.maxLevel, 254, on: endpoint)
      case ColorControl.id:
        table.set(
          ColorControl.colorCapabilities, .init(rawValue: UInt16(truncatingIfNeeded: cluster.features)), on: endpoint)
        guard let range = attributes.colorTemperatureRange, range.temperatureMinK <= range.temperatureMaxK else {
          break
        }
        table.set(
          ColorControl.colorTempPhysicalMinMireds, CloudUnits.mireds(Double(range.temperatureMaxK)), on: endpoint)
        table.set(
          ColorControl.colorTempPhysicalMaxMireds, CloudUnits.mireds(Double(range.temperatureMinK)), on: endpoint)
      case DoorLock.id: table.set(DoorLock.actuatorEnabled, true, on: endpoint)
      case Thermostat.id:
        guard let range = attributes.thermostatTemperatureRange else { break }
        let least = CloudUnits.hundredths(range.minThresholdCelsius)
        let most = CloudUnits.hundredths(range.maxThresholdCelsius)
        if cluster.features & Thermostat.heating.mask != 0 {
          table.set(Thermostat.minHeatSetpointLimit, least, on: endpoint)
          table.set(Thermostat.maxHeatSetpointLimit, most, on: endpoint)
        }
        if cluster.features & Thermostat.cooling.mask != 0 {
          table.set(Thermostat.minCoolSetpointLimit, least, on: endpoint)
          table.set(Thermostat.maxCoolSetpointLimit, most, on: endpoint)
        }
      default: break
      }
    }
  }
}
